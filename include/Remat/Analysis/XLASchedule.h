//===- XLASchedule.h - The order in which XLA executes operations -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA does not keep the order of a program: its memory schedulers make three orders, of
// which it takes the one with the lowest peak. Only operations whose result is read are
// tied to their place.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_XLASCHEDULE_H
#define REMAT_ANALYSIS_XLASCHEDULE_H

#include "Remat/Planner/Problem.h"

namespace mlir::remat {

/// Orders of all operations.
using OperationOrder = std::vector<planner::OpIndex>;

/// The orders that XLA tries, the preferred ones first: 1. always the operation that frees
/// most bytes more than it takes, 2. results first whose operands have many other readers,
/// depth first, 3. operands as they are written, depth first. In all of them operations
/// with effects keep their order, and the last operation is last.
llvm::SmallVector<OperationOrder, 3> listXLAOrders(const planner::Problem &problem);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_XLASCHEDULE_H
