//===- DriverMemory.h - Memory that the host cannot access ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_LIB_FAKECUDA_DRIVERMEMORY_H
#define REMAT_TEST_LIB_FAKECUDA_DRIVERMEMORY_H

#include <cstdint>

namespace mlir::remat::fake {

/// Addresses and handles of the driver are numbers.
inline void *asPointer(uint64_t value) {
  return reinterpret_cast<void *>(value); // NOLINT(performance-no-int-to-ptr)
}

uint64_t getTotalBytes();
uint64_t getFreeBytes();

/// Begins at a page. 0 if not that many bytes are free.
uint64_t allocate(uint64_t bytes);
/// Whether an allocation began there. Its addresses are never used again.
bool release(uint64_t begin);

/// Whether a copy may read or write these bytes: they are within one allocation, or no part of
/// them has ever been of the device.
bool canCopy(uint64_t begin, uint64_t bytes);

} // namespace mlir::remat::fake

#endif // REMAT_TEST_LIB_FAKECUDA_DRIVERMEMORY_H
