//===- WindowProblem.h - A part of a plan as a problem of its own -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window is a range of the steps of a plan, and some operations that may be
// executed anew there: when they run, and how often, is what its problem asks for.
// All other steps of the range stay as they are, and become operations with effects:
//
//     steps     a  f  b  c  f  g  d      free: f, g; d reads f, the others none of them
//  -> problem   f  g      [b c]  [d]     in the order of first executions, where [b c] is
//                                        one operation with the most bytes that the others
//                                        take during b and c as its workspace
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_WINDOWPROBLEM_H
#define REMAT_LIB_PLANNER_WINDOWPROBLEM_H

#include "Detail.h"
#include "Remat/Planner/Exact.h"
#include "Remat/Planner/Simulator.h"

namespace mlir::remat::planner {

/// What the windows of a plan ask again and again.
struct PlanFacts {
  /// Sizes are rounded up to multiples of `alignment`.
  PlanFacts(const Problem &problem, Plan plan, int64_t alignment);

  const Problem &problem;
  Plan plan;
  int64_t alignment;
  detail::ViewGroups groups;
  int64_t boundaryBytes;
  /// By value: the value whose storage it shows.
  std::vector<ValueIndex> roots;
  Simulation simulation;
  int64_t livePeak = 0;
  std::vector<int64_t> writePosition;
  /// By operation.
  std::vector<llvm::SmallVector<StepIndex, 2>> stepsOf;
  /// By write: the last step that reads it itself, not through views, and the last one
  /// that depends on it; -1 if there is none.
  std::vector<StepIndex> lastRead, lastDependence;
  /// By value that is no view.
  std::vector<llvm::SmallVector<ValueIndex, 2>> viewsOf;

  int64_t writeOf(ValueIndex value, StepIndex step) const {
    return groups.firstWrite[step] + writePosition[value];
  }
  int64_t bytesOf(ValueIndex value) const { return align(problem.values[value].bytes, alignment); }
};

/// The steps [begin, end), where `free` may be executed anew.
struct Window {
  StepIndex begin, end;
  std::vector<OpIndex> free;
};

struct WindowProblem {
  Problem problem;
  Surroundings surroundings;
  /// Picoseconds that the free steps of the window take beyond one execution of each
  /// operation that has to be executed in it: what another solution has to undercut.
  int64_t addedCost = 0;
  StepIndex begin, end;
  /// By operation of `problem`: the operation of the plan's problem; or none, for those
  /// of a range of the plan's steps that stay.
  struct Origin {
    OpIndex op = kBoundary;
    StepIndex begin = 0, end = 0;
    /// The one of them that reads and computes the problem's values.
    StepIndex position = 0;
  };
  std::vector<Origin> origins;
  /// By operation of the plan's problem.
  std::vector<bool> isFree;
  /// By value of `problem`: the value of the plan's problem, and the step before the
  /// window that computed it.
  std::vector<ValueIndex> values;
  std::vector<StepIndex> stepsBefore;
  /// By value of the plan's problem.
  std::vector<ValueIndex> indexOf;
};

/// The problem of a window, for plans of which the live bytes stay within `budget`.
/// Operations that compute what free ones read, and are executed more than once there,
/// are free as well. With `keepsOrder` first executions keep their order. Nothing if the
/// problem would have more than `maxSize` operations or values, or cannot be put into
/// one.
std::optional<WindowProblem> makeWindowProblem(const PlanFacts &facts, const Window &window,
                                               int64_t budget, bool keepsOrder, int64_t maxSize);

/// The plan with another solution of a window, regions assigned.
Plan replaceWindow(const PlanFacts &facts, const WindowProblem &window, const Plan &solution);

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_WINDOWPROBLEM_H
