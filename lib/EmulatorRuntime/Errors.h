//===- Errors.h - Errors of emulated code ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels have no way to report an error, and host code checks none: the process ends.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_ERRORS_H
#define REMAT_LIB_EMULATORRUNTIME_ERRORS_H

#include "llvm/ADT/Twine.h"

#include <cstdio>
#include <cstdlib>

namespace mlir::remat::emulator {

/// Prints the message and ends the process with exit code 1, without running destructors: the
/// stack may be that of a thread of a kernel.
[[noreturn]] inline void fail(const llvm::Twine &message) {
  std::fflush(stdout);
  std::fprintf(stderr, "remat emulator: %s\n", message.str().c_str());
  std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);
}

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_ERRORS_H
