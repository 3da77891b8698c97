//===- UnitClasses.h - Units with the same role in repeated blocks ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks repeat a block (a layer) many times. What pays in one of them mostly
// pays in the others, so a search finds the units that have the same role in each
// once, and then moves them together.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_UNITCLASSES_H
#define REMAT_LIB_PLANNER_UNITCLASSES_H

#include "StorageGraph.h"

namespace mlir::remat::planner {

class UnitClasses {
public:
  explicit UnitClasses(const StorageGraph &graph);

  /// All units with the role of `unit`, itself included, in input order.
  llvm::ArrayRef<UnitIndex> getMembers(UnitIndex unit) const { return members[classOf[unit]]; }
  /// Whether half of the units are in at least kMinBlocks repeated blocks.
  bool hasBlocks() const { return 2 * numRepeated >= int64_t(classOf.size()); }

  static constexpr int64_t kMinBlocks = 3;

private:
  std::vector<int32_t> classOf;
  std::vector<std::vector<UnitIndex>> members;
  int64_t numRepeated = 0;
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_UNITCLASSES_H
