//===- UnitClassesTest.cpp - Units with the same role in repeated blocks ----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnitClasses.h"

#include "RandomProblem.h"
#include "Remat/Planner/Generate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

/// What is seen from a unit within some edges, written out: the slow twin.
std::string describe(const StorageGraph &graph, UnitIndex index, int numEdges) {
  const Unit &unit = graph.units[index];
  std::string text = "(" + std::to_string(unit.operations.size()) + " " +
                     std::to_string(unit.workspace) + (unit.isCloneable ? "c" : "") +
                     (unit.isMovable ? "m" : "");
  for (RootIndex root : unit.outputs)
    text +=
        " " + std::to_string(graph.roots[root].bytes) + (graph.roots[root].isDroppable ? "d" : "");
  if (numEdges == 0)
    return text + ")";
  for (const RootRead &read : unit.reads)
    text += " < " + describe(graph, graph.roots[read.root].unit, numEdges - 1);
  for (RootIndex root : unit.outputs) {
    std::vector<std::string> readers;
    for (UnitIndex reader : graph.readersOf[root])
      readers.push_back(describe(graph, reader, numEdges - 1));
    llvm::sort(readers);
    text += " |";
    for (const std::string &reader : readers)
      text += " > " + reader;
  }
  return text + ")";
}

TEST(UnitClassesTest, AsWhatIsSeenWithinThreeEdges) {
  int64_t numShared = 0, numApart = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = 12;
    // Few different sizes, so that some units look alike.
    options.maxBytes = 2;
    Problem problem = randomProblem(random, options);
    StorageGraph graph(problem, /*minBytes=*/0);
    UnitClasses classes(graph);
    std::map<std::string, std::vector<UnitIndex>> expected;
    for (UnitIndex unit = 0, e = graph.units.size(); unit < e; ++unit)
      expected[describe(graph, unit, 3)].push_back(unit);
    for (const auto &[description, units] : expected) {
      (units.size() > 1 ? numShared : numApart) += 1;
      for (UnitIndex unit : units)
        EXPECT_EQ(classes.getMembers(unit).vec(), units) << "seed " << seed << ", " << description;
    }
  }
  EXPECT_GT(numShared, 100);
  EXPECT_GT(numApart, 100);
}

/// The operation of a name without the number of its layer.
std::string getRole(llvm::StringRef name) {
  std::string role;
  for (size_t i = 0; i < name.size(); ++i) {
    role += name[i];
    bool isLayer = name[i] == 'l' && (i == 0 || name[i - 1] == '_');
    while (isLayer && i + 1 < name.size() && llvm::isDigit(name[i + 1]))
      ++i;
  }
  return role;
}

TEST(UnitClassesTest, LayersOfATransformer) {
  TransformerShape shape;
  shape.numLayers = 20;
  llvm::Expected<Problem> problem = generate(shape);
  ASSERT_TRUE(bool(problem));
  StorageGraph graph(*problem, /*minBytes=*/0);
  UnitClasses classes(graph);
  EXPECT_TRUE(classes.hasBlocks());
  // The layers at both ends have other surroundings.
  std::map<std::string, std::vector<UnitIndex>> inner;
  std::map<std::string, int64_t> numOfName;
  for (auto [index, operation] : llvm::enumerate(problem->operations)) {
    std::string name = operation.name;
    // Some names stand for two operations of a layer.
    std::string role = getRole(name) + std::to_string(numOfName[name]++);
    for (int64_t layer = 2; layer < 18; ++layer)
      if (("_" + name + "_").find("_l" + std::to_string(layer) + "_") != std::string::npos)
        inner[role].push_back(graph.unitOf[index]);
  }
  EXPECT_GT(inner.size(), 30u);
  for (const auto &[role, units] : inner) {
    EXPECT_EQ(units.size(), 16u) << role;
    llvm::ArrayRef<UnitIndex> members = classes.getMembers(units.front());
    for (UnitIndex unit : units)
      EXPECT_TRUE(llvm::is_contained(members, unit)) << role;
  }
}

TEST(UnitClassesTest, NoBlocksInARandomGraph) {
  RandomLayeredShape shape;
  shape.numNodes = 500;
  llvm::Expected<Problem> problem = generate(shape);
  ASSERT_TRUE(bool(problem));
  EXPECT_FALSE(UnitClasses(StorageGraph(*problem, /*minBytes=*/0)).hasBlocks());
}

} // namespace
