//===- StepInstance.h - A training step with its memory ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXECUTION_STEPINSTANCE_H
#define REMAT_EXECUTION_STEPINSTANCE_H

#include "Remat/Execution/StepDescription.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace mlir::remat {

class StepMemory;
class StepProgram;

/// A compiled step in this process, with memory for its arguments and its arena: on the CPU, or
/// on its device. One thread at a time uses it.
class StepInstance {
public:
  /// Links the object file, and allocates the memory: the arena with one allocation, all of
  /// whose bits are set. `library` is the path of the shared library for the device, empty for
  /// the CPU; `numThreads` as in `rematSetNumThreads`. An error where something is missing, the
  /// device cannot be opened, or there is not enough memory.
  static llvm::Expected<StepInstance> create(StepDescription description,
                                             std::unique_ptr<llvm::MemoryBuffer> object,
                                             llvm::StringRef library = {}, int64_t numThreads = 0);
  StepInstance(StepInstance &&) noexcept;
  ~StepInstance();

  const StepDescription &getDescription() const { return description; }

  /// Lets `fill` write an argument: `bytes` bytes as its description says.
  llvm::Error fillArgument(size_t index, llvm::function_ref<llvm::Error(char *)> fill);

  /// Executes the step once: results are there when it returns. `times` is the last argument of
  /// a function that records times, or null.
  llvm::Error run(void *times = nullptr);

  /// Lets `read` read a result, after an execution and before arguments change.
  llvm::Error readResult(size_t index, llvm::function_ref<void(const char *)> read);

  /// Of the last execution; on a GPU, between events before and after it.
  double getMilliseconds() const { return milliseconds; }

  /// Bytes that are in use on a GPU more than before the memory was allocated, as its driver
  /// reports: arguments, arena, and what libraries keep. 0 on other devices.
  int64_t getDeviceBytes() const;

private:
  StepInstance(StepDescription description, StepProgram program);

  StepDescription description;
  std::unique_ptr<StepProgram> program;
  std::unique_ptr<StepMemory> memory;
  /// Of the arguments, and of the arena.
  std::vector<void *> addresses;
  double milliseconds = 0;
};

} // namespace mlir::remat

#endif // REMAT_EXECUTION_STEPINSTANCE_H
