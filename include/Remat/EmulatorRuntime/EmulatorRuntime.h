//===- EmulatorRuntime.h - GPU code on the processor ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library has the functions that host code calls which MLIR's `gpu-to-llvm` wrote
// (mgpuModuleLoad, mgpuLaunchKernel, ...), and executes the kernels on the processor. Device
// memory is host memory. Modules are the bitcode that `gpu-module-to-binary{format=llvm}`
// makes for NVVM targets.
//
// Kernels run when they are launched, one block after the other. What goes wrong is said on
// stderr, with the name of the kernel, and ends the process with exit code 1.
//
// Each function may be called from any thread; launches wait for each other.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EMULATORRUNTIME_EMULATORRUNTIME_H
#define REMAT_EMULATORRUNTIME_EMULATORRUNTIME_H

#include <cstdint>

extern "C" {

/// Registers `bytes` bytes that kernels may read, and write unless `writable` is 0. While at
/// least one range is registered, each load and store of a kernel has to be within one range,
/// within memory of mgpuMemAlloc, or within variables of the kernel. Ranges do not overlap;
/// a range that is registered again has the new `writable` from then on. Ranges without bytes
/// are not registered.
void rematEmulatorRegisterMemory(void *begin, int64_t bytes, int32_t writable);

/// Forgets the range that begins there.
void rematEmulatorUnregisterMemory(void *begin);

/// Whether blocks, and the threads of a block, run from the last to the first. A kernel whose
/// results depend on it has a race. The default is what the environment variable
/// REMAT_EMULATOR_ORDER says, `forward` or `reverse`; without it, 0.
void rematEmulatorSetReverseOrder(int32_t reverse);
}

#endif // REMAT_EMULATORRUNTIME_EMULATORRUNTIME_H
