//===- Anneal.h - Local search from a plan that is known --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulated annealing over schedules: clones are added where memory is short, taken
// back where it is not, and nodes move. Bytes above the limit are allowed for a
// price that rises while the search stays above it.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_ANNEAL_H
#define REMAT_LIB_PLANNER_ANNEAL_H

#include "Schedule.h"
#include "UnitClasses.h"
#include <functional>

namespace mlir::remat::planner {

struct AnnealOptions {
  /// Aligned live bytes without the boundary values that must not be exceeded.
  int64_t limit;
  bool reorder;
  /// Whether to begin at a high temperature, far away from the start.
  bool isHot;
  uint64_t seed;
  int64_t numIterations;
  /// Times that the temperature falls, each from the best schedule so far on.
  int64_t numCycles;
  /// Edits after which the search ends too.
  int64_t maxEdits;
  /// A cost that no schedule within the limit undercuts: the search ends there.
  int64_t leastCost;
  /// Told how many of the iterations are done and the cost of the best schedule
  /// within the limit (-1 if there is none); the search ends once it says false.
  std::function<bool(int64_t, int64_t)> onProgress;
};

/// Looks for a cheaper schedule within the limit, from `schedule` on, which may be
/// above it. Returns the cheapest one found; nothing when none is within the limit.
/// The result costs at most what `schedule` costs if that is within the limit.
std::optional<Schedule> anneal(const Problem &problem, const StorageGraph &graph,
                               const UnitClasses &classes, Schedule schedule,
                               const AnnealOptions &options);

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_ANNEAL_H
