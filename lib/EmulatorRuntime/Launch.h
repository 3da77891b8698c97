//===- Launch.h - Runs kernels --------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel at a time, one block after the other.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_LAUNCH_H
#define REMAT_LIB_EMULATORRUNTIME_LAUNCH_H

#include "DeviceModule.h"

#include <array>
#include <string>

namespace mlir::remat::emulator {

struct LaunchSize {
  std::array<int64_t, 3> grid, block;
  int64_t dynamicSharedBytes;
};

/// Runs all blocks. Fails if CUDA could not launch this, or if the kernel fails.
void launch(Kernel &kernel, const LaunchSize &size, void **arguments, uint64_t numArguments);

/// See rematEmulatorSetReverseOrder.
void setReverseOrder(bool reverse);

//===----------------------------------------------------------------------===//
// While a kernel runs
//===----------------------------------------------------------------------===//

/// Of the thread that runs.
extern ThreadRegisters threadRegisters;

Kernel &getRunningKernel();

/// Where the stack of the thread that runs ends: its variables have smaller addresses.
uint64_t getStackEnd();

/// Waits for other threads; see CollectiveCall.
uint64_t callCollective(const CollectiveCall &call);

/// For errors: `in <operation>: `, or nothing if the host has not said what it is.
std::string describeOperation();
/// `kernel 'x', block (0, 0, 0)`, and `, thread (0, 0, 0)`.
std::string describeBlock();
std::string describeThread();
/// `(x, y, z)` of the thread with that number in its block.
std::string describeIndex(uint32_t thread);

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_LAUNCH_H
