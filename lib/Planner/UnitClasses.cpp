//===- UnitClasses.cpp - Units with the same role in repeated blocks --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Color refinement (Weisfeiler and Lehman, 1968), cut off after a few rounds: units
// have the same role when what they compute, and their surroundings, look the same.
// Costs are not compared, since those that were measured differ between blocks.
//
//===----------------------------------------------------------------------===//

#include "UnitClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir::remat::planner;

/// Edges between a unit and what its role depends on: a part of a block, since the
/// first and the last ones have other neighbors.
static constexpr int kNumRounds = 3;

using Color = std::vector<int64_t>;

/// Numbers distinct colors in the order of their first occurrence.
static std::vector<int32_t> number(llvm::ArrayRef<Color> colors) {
  std::map<Color, int32_t> known;
  std::vector<int32_t> numbers;
  for (const Color &color : colors)
    numbers.push_back(known.insert({color, int32_t(known.size())}).first->second);
  return numbers;
}

UnitClasses::UnitClasses(const StorageGraph &graph) {
  std::vector<Color> colors;
  for (const Unit &unit : graph.units) {
    Color color{int64_t(unit.operations.size()), unit.workspace, unit.isCloneable, unit.isMovable};
    for (RootIndex root : unit.outputs) {
      color.push_back(graph.roots[root].bytes);
      color.push_back(graph.roots[root].isDroppable);
    }
    colors.push_back(std::move(color));
  }
  classOf = number(colors);
  for (int round = 0; round < kNumRounds; ++round) {
    for (auto [index, unit] : llvm::enumerate(graph.units)) {
      Color color{classOf[index], int64_t(unit.reads.size())};
      for (const RootRead &read : unit.reads)
        color.push_back(classOf[graph.roots[read.root].unit]);
      for (RootIndex root : unit.outputs) {
        Color readers;
        for (UnitIndex reader : graph.readersOf[root])
          readers.push_back(classOf[reader]);
        llvm::sort(readers);
        color.push_back(readers.size());
        llvm::append_range(color, readers);
      }
      colors[index] = std::move(color);
    }
    classOf = number(colors);
  }
  for (auto [unit, number] : llvm::enumerate(classOf)) {
    if (number == int32_t(members.size()))
      members.emplace_back();
    members[number].push_back(unit);
  }
  for (const std::vector<UnitIndex> &units : members)
    if (int64_t(units.size()) >= kMinBlocks)
      numRepeated += units.size();
}
