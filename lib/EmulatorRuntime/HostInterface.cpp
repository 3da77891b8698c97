//===- HostInterface.cpp - Functions that host code calls -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those of MLIR's runtime for CUDA, with its signatures. Work is done when a function returns:
// streams and events have nothing to wait for.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Errors.h"
#include "Event.h"
#include "Launch.h"

#include "Remat/EmulatorRuntime/EmulatorRuntime.h"

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace llvm;
using namespace mlir::remat::emulator;

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

/// One host thread at a time. Never destroyed: modules are unloaded at exit.
static std::mutex &mutex = *new std::mutex;
using Guard = std::lock_guard<std::mutex>;

static char stream;

REMAT_EXPORT DeviceModule *mgpuModuleLoad(void *data, size_t bytes) {
  Guard guard(mutex);
  return DeviceModule::load(StringRef(static_cast<char *>(data), bytes)).release();
}

REMAT_EXPORT DeviceModule *mgpuModuleLoadJIT(void *, int32_t) {
  fail("PTX is not emulated: expected gpu-module-to-binary{format=llvm}");
}

REMAT_EXPORT void mgpuModuleUnload(DeviceModule *module) {
  Guard guard(mutex);
  delete module;
}

REMAT_EXPORT Kernel *mgpuModuleGetFunction(DeviceModule *module, const char *name) {
  Guard guard(mutex);
  Kernel *kernel = module->find(name);
  if (!kernel)
    fail("the module has no kernel '" + Twine(name) + "'");
  return kernel;
}

REMAT_EXPORT void mgpuLaunchKernel(Kernel *kernel, intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                                   intptr_t blockX, intptr_t blockY, intptr_t blockZ,
                                   int32_t dynamicSharedBytes, void *, void **arguments, void **,
                                   size_t numArguments) {
  Guard guard(mutex);
  launch(*kernel, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicSharedBytes}, arguments,
         numArguments);
}

REMAT_EXPORT void mgpuLaunchClusterKernel(Kernel *kernel, intptr_t, intptr_t, intptr_t, intptr_t,
                                          intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, int32_t,
                                          void *, void **, void **, size_t) {
  fail("kernel '" + Twine(kernel->name) + "': clusters of blocks are not emulated");
}

REMAT_EXPORT void *mgpuStreamCreate() { return &stream; }
REMAT_EXPORT void mgpuStreamDestroy(void *) {}
REMAT_EXPORT void mgpuStreamSynchronize(void *) {}
REMAT_EXPORT void mgpuStreamWaitEvent(void *, void *) {}
REMAT_EXPORT Event *mgpuEventCreate() { return new Event; }
REMAT_EXPORT void mgpuEventDestroy(Event *event) { delete event; }
REMAT_EXPORT void mgpuEventSynchronize(Event *) {}
REMAT_EXPORT void mgpuEventRecord(Event *event, void *) {
  event->time = std::chrono::steady_clock::now();
}

REMAT_EXPORT void *mgpuMemAlloc(uint64_t bytes, void *, bool) {
  Guard guard(mutex);
  return allocateMemory(bytes);
}

REMAT_EXPORT void mgpuMemFree(void *memory, void *) {
  Guard guard(mutex);
  freeMemory(memory);
}

REMAT_EXPORT void mgpuMemcpy(void *target, void *source, size_t bytes, void *) {
  std::memmove(target, source, bytes);
}

REMAT_EXPORT void mgpuMemset32(void *target, uint32_t value, size_t count, void *) {
  std::fill_n(static_cast<uint32_t *>(target), count, value);
}

REMAT_EXPORT void mgpuMemset16(void *target, uint16_t value, size_t count, void *) {
  std::fill_n(static_cast<uint16_t *>(target), count, value);
}

// All memory of the host is memory of the device.
REMAT_EXPORT void mgpuMemHostRegister(void *, uint64_t) {}
REMAT_EXPORT void mgpuMemHostUnregister(void *) {}
REMAT_EXPORT void mgpuMemHostRegisterMemRef(int64_t, void *, int64_t) {}
REMAT_EXPORT void mgpuMemHostUnregisterMemRef(int64_t, void *, int64_t) {}
REMAT_EXPORT void mgpuSetDefaultDevice(int32_t) {}

REMAT_EXPORT void rematEmulatorRegisterMemory(void *begin, int64_t bytes, int32_t writable) {
  Guard guard(mutex);
  if (bytes > 0)
    registerMemory({reinterpret_cast<uint64_t>(begin), static_cast<uint64_t>(bytes)},
                   writable != 0);
}

REMAT_EXPORT void rematEmulatorUnregisterMemory(void *begin) {
  Guard guard(mutex);
  unregisterMemory(reinterpret_cast<uint64_t>(begin));
}

REMAT_EXPORT void rematEmulatorSetReverseOrder(int32_t reverse) {
  Guard guard(mutex);
  setReverseOrder(reverse != 0);
}
