//===- Event.h - Points of time -------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_EVENT_H
#define REMAT_LIB_EMULATORRUNTIME_EVENT_H

#include <chrono>

namespace mlir::remat::emulator {

/// When it was recorded last.
struct Event {
  std::chrono::steady_clock::time_point time;
};

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_EVENT_H
