//===- DeviceMemory.h - The memory of the device --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which part of the memory of the host is memory of the device, and the check of accesses.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_DEVICEMEMORY_H
#define REMAT_LIB_EMULATORRUNTIME_DEVICEMEMORY_H

#include "Memory.h"

namespace mlir::remat::emulator {

/// See EmulatorRuntime.h.
void registerMemory(MemoryRange range, bool writable);
void unregisterMemory(uint64_t begin);

void *allocateMemory(uint64_t bytes);
void freeMemory(void *memory);
/// Of what is not yet freed, with the alignment of each.
int64_t getAllocatedBytes();

/// Another number each time that memory changes.
int64_t getMemoryEpoch();

/// Fails if the kernel that runs may not access the memory, or else sets `range` to memory that
/// it may access in the same way. For `kind` see DeviceInterface.h.
void checkAccess(uint64_t address, uint64_t bytes, uint32_t kind, uint64_t alignment,
                 MemoryRange *range);

/// Fails if the host, or a function that it calls, may not access the memory. `user` says in
/// the error who that is.
void checkHostAccess(const char *user, uint64_t address, uint64_t bytes, bool isWrite);

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_DEVICEMEMORY_H
