//===- OperationTimer.h - Times of a step's operations ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_OPERATIONTIMER_H
#define REMAT_TOOLS_REMAT_RUN_OPERATIONTIMER_H

#include <cstdint>
#include <map>
#include <vector>

namespace mlir::remat {

/// Takes the times that a function of `remat-time-operations` records, execution by execution.
class OperationTimer {
public:
  /// `operations` is `remat.timed_operations` of the function.
  explicit OperationTimer(std::vector<int64_t> operations);

  /// What the function's last argument points to.
  void *getBuffer() { return nanoseconds.data(); }

  /// Adds the last execution.
  void addExecution();

  /// For each operation the median of what its executions took, in picoseconds: without what
  /// reading the clock takes.
  std::map<int64_t, int64_t> getMedians() const;

private:
  std::vector<int64_t> operations;
  /// One more than `operations`.
  std::vector<int64_t> nanoseconds;
  /// By operation: one for each execution, in nanoseconds.
  std::map<int64_t, std::vector<int64_t>> times;
  int64_t clockNanoseconds;
};

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_OPERATIONTIMER_H
