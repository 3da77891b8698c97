//===- Bounds.h - What no plan can undercut ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lower bounds that hold for every plan, however it orders and clones.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_BOUNDS_H
#define REMAT_PLANNER_BOUNDS_H

#include "Remat/Planner/LinearProgram.h"
#include "Remat/Planner/Problem.h"

namespace mlir::remat::planner {

struct BoundOptions {
  /// Whether first executions may leave the order of the problem: the bound then holds
  /// for every plan, otherwise for those in which they keep it.
  bool reorder = true;
  /// Work of the search for better prices, in steps of ten nanoseconds or so.
  int64_t maxWork = 20'000'000;
  /// Asked for the best prices of a relaxation with fewer times, if there is one.
  LinearProgramSolver solveLinearProgram = nullptr;
};

/// A lower bound on what any plan within `budget` (live or packed bytes) adds, as
/// `addedCost` counts it, in picoseconds; the largest of three.
///
/// At one time: for an operation t, a value whose definition t depends on, and that
/// some operation which depends on t reads, is in memory while t runs or computed
/// again after t, in every order of execution. What does not fit beside t's
/// own working set and the boundary values must be computed again; the cheapest set of
/// operations that brings back enough bytes (a knapsack) bounds the cost from below.
/// Evaluated at the operations with the highest live bytes in input order.
///
/// Over all times: what is dropped several times, and what has to be there to compute
/// something again, is priced (a Lagrangian relaxation, see StageRelaxation.h).
///
/// By policies: what must be recomputed, and is read on both sides of the turn.
///
/// Operations that nothing needs do not count: a plan that leaves them out adds no less.
/// The result is the largest int64_t when the bound shows that no plan is within the budget.
int64_t addedCostLowerBound(const Problem &problem, int64_t budget,
                            const BoundOptions &options = {});

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_BOUNDS_H
