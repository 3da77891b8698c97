//===- Exact.h - The cheapest plan, and the proof ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search through all plans of a small problem that a lower bound leaves.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_EXACT_H
#define REMAT_PLANNER_EXACT_H

#include "Remat/Planner/Plan.h"
#include <functional>
#include <optional>

namespace mlir::remat::planner {

/// Operations, and values, that `solveExact` searches; on larger problems it only
/// bounds.
constexpr int64_t kMaxExactSize = 128;

/// What is around a plan that is a part of another.
struct Surroundings {
  /// By operation: whether it was executed before the plan begins. These come first in
  /// the problem.
  std::vector<bool> isExecuted;
  /// By value: whether one of them has left it in memory.
  std::vector<bool> isReadable;
  /// By the number of operations executed so far that are not pure, from 0 up to all of
  /// them: the bytes that others hold meanwhile. Beside an operation that is not pure
  /// itself they are part of its workspace instead.
  std::vector<int64_t> heldBytes;
};

struct ExactOptions {
  /// Whether first executions may leave the order of the problem.
  bool reorder = true;
  /// States that the search may make before it gives up; a million take a few
  /// seconds and about 300 MB.
  int64_t maxStates = 1'000'000;
  /// Added cost of a plan that is known: only cheaper ones are looked for.
  std::optional<int64_t> upperBound;
  /// Asked now and then; the search gives up once it says true.
  std::function<bool()> shouldStop;
  /// Given for a part of another plan. The result reads what was in memory before from
  /// kBoundary, has no regions, and is not replayed.
  std::optional<Surroundings> surroundings;
  /// Steps that improve the lower bound before the search.
  int64_t numBoundSteps = 1000;
};

struct ExactResult {
  /// The cheapest plan with a live peak within the budget, if one is found that is
  /// cheaper than the upper bound.
  std::optional<Plan> plan;
  /// Whether no plan within the budget is cheaper than `plan`, or than the upper bound
  /// if there is no plan; without either, no plan is within the budget.
  bool isComplete = false;
  /// What every plan within the budget adds at least, in picoseconds; the largest
  /// int64_t if there is none.
  int64_t lowerBound = 0;
  /// What took time, in looks at a value: some nanoseconds each.
  int64_t work = 0;
};

/// The cheapest plan, by best-first search over what has been executed and what is in
/// memory (A*: Hart, Nilsson, Raphael, 1968), guided by a Lagrangian bound and by the
/// operations that have to run again in any case. `problem` must have passed `check`.
ExactResult solveExact(const Problem &problem, int64_t budget, const ExactOptions &options = {});

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_EXACT_H
