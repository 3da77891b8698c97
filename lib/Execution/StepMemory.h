//===- StepMemory.h - Memory of the host or of a device ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EXECUTION_STEPMEMORY_H
#define REMAT_LIB_EXECUTION_STEPMEMORY_H

#include "Remat/Execution/StepProgram.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::remat {

/// Memory that a step reads and writes, and the clock of where it is executed.
class StepMemory {
public:
  virtual ~StepMemory() = default;

  /// The address of `bytes` bytes; they are freed with this object. `isWritten`: whether the
  /// step may write there.
  virtual llvm::Expected<void *> allocate(int64_t bytes, bool isWritten) = 0;
  /// Sets all bits.
  virtual llvm::Error fill(void *memory, int64_t bytes) = 0;
  virtual llvm::Error write(void *memory, int64_t bytes,
                            llvm::function_ref<llvm::Error(char *)> fill) = 0;
  virtual llvm::Error read(const void *memory, int64_t bytes,
                           llvm::function_ref<void(const char *)> read) = 0;
  /// Milliseconds that an execution takes.
  virtual llvm::Expected<double> measure(llvm::function_ref<void()> execute) = 0;
  /// See StepInstance::getDeviceBytes.
  virtual int64_t getDeviceBytes() const = 0;
};

/// Memory of the host, of which an emulator, if there is one, is told what kernels may access.
std::unique_ptr<StepMemory> createHostMemory(const StepProgram &program, int64_t alignment);

/// Memory of a device whose library is in the program. An error where a function is missing.
llvm::Expected<std::unique_ptr<StepMemory>> createDeviceMemory(const StepProgram &program);

} // namespace mlir::remat

#endif // REMAT_LIB_EXECUTION_STEPMEMORY_H
