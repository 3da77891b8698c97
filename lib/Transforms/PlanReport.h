//===- PlanReport.h - Filling in the report of a planned function -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_TRANSFORMS_PLANREPORT_H
#define REMAT_LIB_TRANSFORMS_PLANREPORT_H

#include "Remat/Transforms/Rematerialize.h"

namespace mlir::remat {

/// Fills in what follows from the plan that is in effect (or the smallest known
/// one): peaks, cost, the peak with everything that is live there, and what is
/// recomputed and moved; and what happens in memory, if `report` has that of the unchanged
/// function. `minBytes` is the size below which nothing is dropped.
void describePlan(const FunctionProblem &problem, const planner::Solution &solution,
                  const std::vector<Category> &categories, int64_t minBytes,
                  FunctionReport &report);

} // namespace mlir::remat

#endif // REMAT_LIB_TRANSFORMS_PLANREPORT_H
