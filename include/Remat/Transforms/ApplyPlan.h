//===- ApplyPlan.h - Rewriting a function as a plan says --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place that changes IR: clones operations, ties each recomputed region
// to its place with one barrier, moves and erases originals.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_APPLYPLAN_H
#define REMAT_TRANSFORMS_APPLYPLAN_H

#include "Remat/Analysis/FunctionProblem.h"
#include "Remat/Planner/Plan.h"

namespace mlir::remat {

class ModelTable;

/// Rewrites the function that `problem` was built from. Afterwards `problem`
/// refers to operations that may be gone.
///
///     %1 = exp %0                        %1 = exp %0
///     use %1                             use %1
///     %2 = backward %g           ->      %2 = backward %g
///     %3 = use %1, %2                    %b = remat.barrier %0 after %2
///                                        %c = exp %b {remat.clone_of = 0}
///                                        %3 = use %c, %2
///
/// The barrier is that of the dialect of the recomputed operations where
/// `models` names one (`stablehlo.optimization_barrier`).
void applyPlan(const FunctionProblem &problem, const planner::Plan &plan, const ModelTable &models);

/// Whether `applyPlan` made the operation: its location says so.
bool isRematerialized(Operation *op);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_APPLYPLAN_H
