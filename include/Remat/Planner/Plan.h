//===- Plan.h - An order of execution with recomputations -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answer of a solver: which operation runs when, which instance of a value
// each read refers to, and where each region of recomputed operations is tied.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_PLAN_H
#define REMAT_PLANNER_PLAN_H

#include "Remat/Planner/Problem.h"

namespace mlir::remat::planner {

/// Index into Plan::steps.
using StepIndex = int64_t;

/// One execution of an operation.
struct Step {
  OpIndex op;
  /// False for the original, true for an additional execution.
  bool isClone = false;
  /// For each entry of the operation's `reads`, the step that computed the
  /// value that is read; kBoundary for boundary values.
  llvm::SmallVector<StepIndex, 4> reads;
  /// The same for `dependences`.
  llvm::SmallVector<StepIndex, 0> dependences;
  /// How it is executed, see `getVariant`.
  int64_t variant = 0;
};

/// A value as computed by one step.
struct ValueInstance {
  ValueIndex value = kNoValue;
  StepIndex step = kBoundary;
};

/// A run of clones at one place: steps [begin, end). They wait for `after`,
/// which is read directly before the first of them starts; it is kNoValue when
/// there is nothing before them that they could wait for.
struct Region {
  StepIndex begin;
  StepIndex end;
  ValueInstance after;
};

struct Plan {
  std::vector<Step> steps;
  /// Disjoint, in order; every clone is in exactly one.
  std::vector<Region> regions;
};

/// Picoseconds of all steps, minus the cost of each operation that is executed: all
/// executions but the first of each operation, and what variants cost more.
int64_t addedCost(const Problem &problem, const Plan &plan);

/// The plan that executes `problem` as it is.
Plan identityPlan(const Problem &problem);

/// Removes the clones whose results nobody needs. Clears `plan.regions`.
void dropUnreadClones(Plan &plan);

/// Moves clones up over the originals that compute nothing a region could wait for
/// and that the clones don't need: nothing but the order of the text would keep them
/// behind. Clears `plan.regions`.
void hoistClones(const Problem &problem, Plan &plan);

/// Groups consecutive clones into regions, the longest that clone no operation twice
/// (the same operation on the same values would be merged), and lets each wait for
/// the value that was computed last before it (of several results one that is live
/// there, if there is any; views of boundary values, values that are never in memory
/// and those that are not awaitable order nothing). Everything that is live when the
/// wait is over was live together with that value, so waiting does not raise the
/// peak, and nothing can move the region up over what computed it. Replaces
/// `plan.regions`.
void assignRegions(const Problem &problem, Plan &plan);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_PLAN_H
