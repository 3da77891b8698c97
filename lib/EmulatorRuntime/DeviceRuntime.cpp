//===- DeviceRuntime.cpp - What all libraries for devices have ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors end the process, so none is left to be taken, and everything is done when the host
// goes on.
//
//===----------------------------------------------------------------------===//

#include "Remat/Runtime/DeviceRuntime.h"

#include "DeviceMemory.h"
#include "Errors.h"
#include "Event.h"
#include "Launch.h"

#include <cstring>

using namespace llvm;
using namespace mlir::remat::emulator;

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

static const char *operation = nullptr;

std::string mlir::remat::emulator::describeOperation() {
  return operation ? std::string("in ") + operation + ": " : "";
}

REMAT_EXPORT const char *rematDeviceOpen() { return nullptr; }
REMAT_EXPORT const char *rematDeviceTakeError() { return nullptr; }
REMAT_EXPORT void rematDeviceBeginOperation(const char *name) { operation = name; }
REMAT_EXPORT void rematDeviceWait() {}
REMAT_EXPORT int64_t rematDeviceGetUsedBytes() { return getAllocatedBytes(); }

REMAT_EXPORT double rematDeviceGetMilliseconds(void *begin, void *end) {
  return std::chrono::duration<double, std::milli>(static_cast<Event *>(end)->time -
                                                   static_cast<Event *>(begin)->time)
      .count();
}

REMAT_EXPORT int64_t rematDeviceLoad(const void *address, int64_t bytes) {
  checkHostAccess("the host", reinterpret_cast<uint64_t>(address), bytes, /*isWrite=*/false);
  int64_t bits = 0;
  std::memcpy(&bits, address, bytes);
  return bits;
}

REMAT_EXPORT void rematDeviceStore(void *address, int64_t bytes, int64_t value) {
  checkHostAccess("the host", reinterpret_cast<uint64_t>(address), bytes, /*isWrite=*/true);
  std::memcpy(address, &value, bytes);
}
