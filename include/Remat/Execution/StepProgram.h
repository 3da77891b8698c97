//===- StepProgram.h - A compiled training step in this process -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXECUTION_STEPPROGRAM_H
#define REMAT_EXECUTION_STEPPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace mlir::remat {

/// Machine code that was linked into this process.
class StepProgram {
public:
  /// Links an object file of `compileToObject`, opens the device and loads the kernels. What it
  /// calls is found in this process, the runtime libraries and the C library, and in the shared
  /// library `deviceLibrary`, if that is not empty. An error when something is missing. The number
  /// of threads is that of the process, as in `rematSetNumThreads`.
  static llvm::Expected<StepProgram> load(std::unique_ptr<llvm::MemoryBuffer> object,
                                          llvm::StringRef function, int64_t numThreads = 0,
                                          llvm::StringRef deviceLibrary = {});
  StepProgram(StepProgram &&) noexcept;
  ~StepProgram();

  /// The address of a function of the device library, or of this process; null if there is
  /// none.
  void *find(llvm::StringRef name) const;

  /// Calls the function: one pointer for each of its arguments.
  void run(llvm::MutableArrayRef<void *> arguments) const { entry(arguments.data()); }

private:
  StepProgram(std::unique_ptr<llvm::orc::LLJIT> jit, void (*entry)(void **), void (*unload)());

  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*entry)(void **);
  /// Of the kernels, or null.
  void (*unload)();
};

} // namespace mlir::remat

#endif // REMAT_EXECUTION_STEPPROGRAM_H
