//===- RecomputeRule.h - What must not be kept where memory is highest ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The policy MustRecompute as a property of values: which of them no plan keeps
// across the problem's turn (see `findTurn`), and the first schedule that obeys.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_RECOMPUTERULE_H
#define REMAT_LIB_PLANNER_RECOMPUTERULE_H

#include "Schedule.h"

namespace mlir::remat::planner {

struct RecomputeRule {
  explicit RecomputeRule(const Problem &problem);

  /// kBoundary when the rule asks for nothing.
  OpIndex turn;
  /// By value: whether no instance of it may be computed before the turn and read
  /// behind it, itself or through views.
  std::vector<bool> appliesTo;
};

/// Computes everything that a rule does not allow to be kept once more, directly before
/// its first reader behind the turn, with whatever that needs and may not be kept
/// either. `schedule` is the problem as it is. The error names what cannot be computed
/// again, and who reads it.
llvm::Error recomputeBehindTurn(const Problem &problem, const StorageGraph &graph,
                                Schedule &schedule);

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_RECOMPUTERULE_H
