//===- PlainAnnealer.h - A slow, obvious local search -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The twin of the planner's local search: a sequence of executions in which each
// read refers to the latest instance before it. Every change makes a whole new
// plan, which is verified and replayed from nothing.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_UNIT_PLANNER_PLAINANNEALER_H
#define REMAT_TEST_UNIT_PLANNER_PLAINANNEALER_H

#include "Remat/Planner/Plan.h"
#include <optional>

namespace mlir::remat::planner::test {

struct PlainAnnealerOptions {
  /// Bytes of the packed or live peak.
  int64_t budget = 0;
  bool isPacked = false;
  /// Whether originals may leave their place.
  bool reorder = true;
  uint64_t seed = 1;
  /// What ends the search: changes that were tried, or seconds if above 0.
  int64_t numIterations = 10'000;
  double seconds = 0;
};

/// Anneals (Kirkpatrick, Gelatt, Vecchi: Optimization by simulated annealing, 1983) from
/// the problem as it is. The cheapest plan within the budget that it came across, if any.
std::optional<Plan> annealPlainly(const Problem &problem, const PlainAnnealerOptions &options);

} // namespace mlir::remat::planner::test

#endif // REMAT_TEST_UNIT_PLANNER_PLAINANNEALER_H
