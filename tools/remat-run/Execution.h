//===- Execution.h - One variant of a training step in its own process ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parent process asks of a child, and what it gets back: JSON, in one place.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_EXECUTION_H
#define REMAT_TOOLS_REMAT_RUN_EXECUTION_H

#include "Tensor.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>

namespace mlir::remat {

/// One variant, ready to run.
struct ExecutionSpec {
  std::string variant;
  StepDescription step;
  /// Path of the object file, and of the shared library of the device, or empty.
  std::string object, deviceLibrary;
  int64_t seed = 0, iterations = 1;
  /// Of the loops and products, or 0: what the environment says, or one for each core.
  int64_t threads = 0;
  /// Steps of training behind the timed iterations: after each of them, results become the
  /// arguments that they are the new values of. `updates` has the number of the argument
  /// for each result, or -1; `loss` is the result whose first element is recorded, or -1.
  int64_t steps = 0, loss = -1;
  std::vector<int64_t> updates;
  /// Folder or archive with arguments, or empty; and the file that results are written to.
  std::string inputs, resultsFile;
};

struct ExecutionResult {
  int64_t highWaterBytes = 0;
  /// Of a GPU, as its driver reports; 0 elsewhere.
  int64_t deviceBytes = 0;
  /// Median of the iterations behind the first.
  double milliseconds = 0;
  /// One for each step.
  std::vector<double> losses;
  /// Picoseconds by operation, where the function records times.
  std::map<int64_t, int64_t> operationTimes;
};

llvm::json::Value toJSON(const ExecutionSpec &spec);
bool fromJSON(const llvm::json::Value &value, ExecutionSpec &spec, llvm::json::Path path);
llvm::json::Value toJSON(const ExecutionResult &result);
bool fromJSON(const llvm::json::Value &value, ExecutionResult &result, llvm::json::Path path);

/// Executes in this process. Memory that nothing has written to reads as NaN.
llvm::Expected<ExecutionResult> execute(const ExecutionSpec &spec);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_EXECUTION_H
