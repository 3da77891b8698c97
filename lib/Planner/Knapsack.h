//===- Knapsack.h - The cheapest items that free enough bytes ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_KNAPSACK_H
#define REMAT_LIB_PLANNER_KNAPSACK_H

#include <cstdint>
#include <vector>

namespace mlir::remat::planner {

struct KnapsackItem {
  int64_t cost, bytes;
};

/// The least cost of items with at least `excess` bytes in sum, or a lower bound of it
/// once `maxSets` partial sets of items have been looked at. The items have as many
/// bytes together, each at least one. Branch and bound, best first, where a fraction of
/// an item bounds (Martello, Toth: Knapsack Problems, 1990).
int64_t solveKnapsack(std::vector<KnapsackItem> items, int64_t excess, int64_t maxSets);

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_KNAPSACK_H
