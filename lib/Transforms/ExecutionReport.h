//===- ExecutionReport.h - Memory over time and places of buffers -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_TRANSFORMS_EXECUTIONREPORT_H
#define REMAT_LIB_TRANSFORMS_EXECUTIONREPORT_H

#include "Remat/Analysis/Categories.h"
#include "Remat/Planner/Solve.h"
#include "Remat/Transforms/Report.h"

namespace mlir::remat {

/// Describes what happens in memory when a function is executed as `solution` says. Time has
/// at most 1,000 points, and there are at most 2,000 storages, none of fewer than
/// `leastBytes`; `getReason` says of a storage that is live at the peak why it is.
ExecutionReport describeExecution(const FunctionProblem &problem, const planner::Solution &solution,
                                  const std::vector<Category> &categories, int64_t leastBytes,
                                  llvm::function_ref<std::string(planner::StorageIndex)> getReason);

/// The smallest storages that are described, where the live peak of the unchanged function is
/// this: those of a thousandth of it.
inline int64_t getLeastDescribedBytes(int64_t baselinePeakBytes) {
  return std::max<int64_t>(1, (baselinePeakBytes + 999) / 1000);
}

} // namespace mlir::remat

#endif // REMAT_LIB_TRANSFORMS_EXECUTIONREPORT_H
