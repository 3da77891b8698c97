//===- Variants.h - How each step of a plan is executed ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps don't share their workspaces: which variant a step uses matters to no other
// step. So the best choice for a plan is the cheapest variant that fits, step by
// step. Searches plan with workspaces as they are, or as small as they can be, and
// leave the choice to the functions here.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_VARIANTS_H
#define REMAT_PLANNER_VARIANTS_H

#include "Remat/Planner/Plan.h"

namespace mlir::remat::planner {

bool hasVariants(const Problem &problem);

/// Lets each step use the cheapest variant with which at most `limit` bytes are live,
/// every storage and workspace rounded up to a multiple of `alignment` (of equally cheap
/// ones the one with the smallest workspace), or the smallest one where none fits. If the
/// result is within the limit, no choice of variants that is costs less; otherwise none
/// is within the limit. Linear in the plan.
void chooseVariants(const Problem &problem, Plan &plan, int64_t limit, int64_t alignment);

/// The problem with every operation at its own cost, but with the smallest workspace
/// that any variant takes; nothing in it must be recomputed. A plan takes at most as
/// many bytes there, and adds at most as much cost, as it does with any variants here.
Problem withLeastWorkspaces(const Problem &problem);

/// Raises the costs in `least`, which is `problem` with the smallest workspaces, to that
/// of the cheapest variant that fits into `budget` beside the boundary values and the
/// operation's own operands and results. Returns what every plan within the budget pays
/// for that: its added cost is at least this and its added cost in `least`.
int64_t raiseCosts(const Problem &problem, int64_t budget, Problem &least);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_VARIANTS_H
