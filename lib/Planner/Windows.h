//===- Windows.h - Exact search on parts of a plan --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A large neighbourhood search (Shaw, "Using constraint programming and local search
// methods to solve vehicle routing problems", CP 1998): one part of a plan after the
// other is replaced by the cheapest one, which the exact search finds.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_WINDOWS_H
#define REMAT_LIB_PLANNER_WINDOWS_H

#include "Remat/Planner/Plan.h"
#include <functional>

namespace mlir::remat::planner {

struct WindowOptions {
  /// Live bytes that must not be exceeded, every storage rounded up to a multiple of
  /// `alignment`.
  int64_t budget;
  int64_t alignment = 1;
  /// Whether first executions may leave the order of the problem, if the plan keeps it.
  bool reorder = true;
  /// Ends after so much work, in looks at a value: ten million take about a tenth of a
  /// second.
  int64_t maxWork = 20'000'000;
  /// States of the exact search on each window.
  int64_t maxStates = 1000;
  /// By how many bytes a plan within the budget is too large all the same; not above 0
  /// if it is not. May be empty.
  std::function<int64_t(const Plan &)> getOvershoot;
  /// Asked now and then; the plan so far is the answer once it says true.
  std::function<bool()> shouldStop;
};

/// Replaces windows of `plan` by the cheapest ones that leave the rest as it is. Never
/// returns a dearer plan, nor one above the budget if `plan` is within; nothing but `plan`
/// where operations have variants or must be recomputed.
Plan improveWindows(const Problem &problem, Plan plan, const WindowOptions &options);

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_WINDOWS_H
