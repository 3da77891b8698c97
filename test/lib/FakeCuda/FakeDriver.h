//===- FakeDriver.h - What the fake libraries share -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exported by the fake libcuda, besides functions of the driver. What is wrong with a call is
// said on stderr, in one line that begins with "fake cuda: ".
//
// Environment:
//   FAKE_CUDA_DEVICES=N      devices that the driver shows; 1
//   FAKE_CUDA_MEMORY=BYTES   of the device; 1 GiB
//   FAKE_CUDA_FAIL=NAME:N    the N-th call of function NAME, from 1, fails; `launch:N`: the N-th
//                            launch faults, which the next function says that waits;
//                            `none:N`: there is no algorithm for the N-th product;
//                            NAME:N=ERROR: a function of the driver returns that number
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_LIB_FAKECUDA_FAKEDRIVER_H
#define REMAT_TEST_LIB_FAKECUDA_FAKEDRIVER_H

#include <cstdint>

#define FAKE_EXPORT __attribute__((visibility("default")))

extern "C" {

/// Says it, and returns false.
FAKE_EXPORT bool fakeCudaReject(const char *library, const char *reason);

/// Counts a call of a function. Whether the environment has it fail.
FAKE_EXPORT bool fakeCudaFails(const char *function);

/// How often a function was called.
FAKE_EXPORT int fakeCudaCountCalls(const char *function);

/// Whether this thread has a context that works.
FAKE_EXPORT bool fakeCudaHasContext();
FAKE_EXPORT bool fakeCudaIsStream(const void *stream);

/// Whether all of these bytes are within one allocation.
FAKE_EXPORT bool fakeCudaIsDeviceMemory(const void *begin, uint64_t bytes);

/// Between these two, device memory can be accessed. They nest.
FAKE_EXPORT void fakeCudaOpenMemory();
FAKE_EXPORT void fakeCudaCloseMemory();
}

namespace mlir::remat::fake {

class MemoryAccess {
public:
  MemoryAccess() { fakeCudaOpenMemory(); }
  ~MemoryAccess() { fakeCudaCloseMemory(); }
  MemoryAccess(const MemoryAccess &) = delete;
  MemoryAccess &operator=(const MemoryAccess &) = delete;
};

} // namespace mlir::remat::fake

#endif // REMAT_TEST_LIB_FAKECUDA_FAKEDRIVER_H
