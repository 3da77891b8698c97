//===- HostInterface.cpp - Functions that host code calls -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those of MLIR's runtime for CUDA, with its signatures, and those of `DeviceRuntime.h`. While
// there is an error that was not taken, they do nothing, and return null or 0.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Errors.h"

#include "Remat/Runtime/DeviceRuntime.h"

#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

using namespace mlir::remat::cuda;

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

static CUdeviceptr getAddress(void *memory) { return reinterpret_cast<CUdeviceptr>(memory); }

/// What the driver, or its caller, has as a number.
static void *asPointer(uint64_t value) {
  return reinterpret_cast<void *>(value); // NOLINT(performance-no-int-to-ptr)
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Of functions that were looked up. Never destroyed, like modules.
static std::map<CUfunction, std::string> &kernelNames = *new std::map<CUfunction, std::string>;

static std::string describeKernel(CUfunction kernel) {
  auto found = kernelNames.find(kernel);
  return "kernel '" + (found == kernelNames.end() ? "?" : found->second) + "'";
}

/// What the driver's compiler or linker says is a part of the error.
static CUmodule load(const void *code, std::vector<std::pair<CUjit_option, void *>> settings) {
  const Device *device = enterDevice();
  if (!device)
    return nullptr;
  std::array<char, 8192> log{};
  settings.push_back({CU_JIT_ERROR_LOG_BUFFER, log.data()});
  settings.push_back({CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, asPointer(log.size())});
  std::vector<CUjit_option> options;
  std::vector<void *> values;
  for (auto [option, value] : settings) {
    options.push_back(option);
    values.push_back(value);
  }
  CUmodule module = nullptr;
  CUresult result = device->driver.cuModuleLoadDataEx(
      &module, code, static_cast<unsigned>(options.size()), options.data(), values.data());
  if (result == CUDA_SUCCESS)
    return module;
  log.back() = 0;
  std::string text = log.data();
  fail("cannot load a module: " + device->describe(result) + (text.empty() ? "" : ": " + text));
  return nullptr;
}

REMAT_EXPORT CUmodule mgpuModuleLoad(void *data, size_t) { return load(data, {}); }

REMAT_EXPORT CUmodule mgpuModuleLoadJIT(void *data, int32_t optimizationLevel) {
  auto level = static_cast<uint64_t>(optimizationLevel);
  return load(data, {{CU_JIT_OPTIMIZATION_LEVEL, asPointer(level)}});
}

REMAT_EXPORT void mgpuModuleUnload(CUmodule module) {
  const Device *device = module ? enterDevice() : nullptr;
  if (!device)
    return;
  // At exit the driver may have unloaded it.
  CUresult result = device->driver.cuModuleUnload(module);
  if (result != CUDA_ERROR_DEINITIALIZED)
    device->check(result, "cuModuleUnload");
}

REMAT_EXPORT CUfunction mgpuModuleGetFunction(CUmodule module, const char *name) {
  const Device *device = enterDevice();
  CUfunction function = nullptr;
  if (!device || !device->check(device->driver.cuModuleGetFunction(&function, module, name),
                                "kernel '" + std::string(name) + "'"))
    return nullptr;
  kernelNames[function] = name;
  return function;
}

REMAT_EXPORT void mgpuLaunchKernel(CUfunction kernel, intptr_t gridX, intptr_t gridY,
                                   intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                                   intptr_t blockZ, int32_t dynamicSharedBytes, void *,
                                   void **arguments, void **extra, size_t) {
  const Device *device = enterDevice();
  if (!device)
    return;
  auto size = [](intptr_t value) { return static_cast<unsigned>(value); };
  CUresult result = device->driver.cuLaunchKernel(
      kernel, size(gridX), size(gridY), size(gridZ), size(blockX), size(blockY), size(blockZ),
      static_cast<unsigned>(dynamicSharedBytes), device->stream, arguments, extra);
  if (result != CUDA_SUCCESS || device->synchronizes) {
    std::string name = describeKernel(kernel);
    if (device->check(result, name))
      device->finish(name);
  }
}

REMAT_EXPORT void mgpuLaunchClusterKernel(CUfunction kernel, intptr_t, intptr_t, intptr_t, intptr_t,
                                          intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, int32_t,
                                          void *, void **, void **, size_t) {
  fail(describeKernel(kernel) + ": clusters of blocks are not supported");
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

REMAT_EXPORT CUstream mgpuStreamCreate() {
  const Device *device = enterDevice();
  return device ? device->stream : nullptr;
}

REMAT_EXPORT void mgpuStreamDestroy(CUstream) {}

/// Errors of what was launched or called before are known after waiting.
static void check(const Device &device, CUresult result, const char *what) {
  if (result != CUDA_SUCCESS)
    fail(std::string(what) + ": " + device.describe(result) +
         (device.synchronizes ? "" : "; REMAT_DEVICE_SYNCHRONIZE=1 tells where it comes from"));
}

REMAT_EXPORT void mgpuStreamSynchronize(CUstream) {
  if (const Device *device = enterDevice())
    check(*device, device->driver.cuStreamSynchronize(device->stream), "waiting for the GPU");
}

REMAT_EXPORT void mgpuStreamWaitEvent(CUstream, CUevent event) {
  if (const Device *device = enterDevice())
    device->check(device->driver.cuStreamWaitEvent(device->stream, event, CU_EVENT_WAIT_DEFAULT),
                  "cuStreamWaitEvent");
}

REMAT_EXPORT CUevent mgpuEventCreate() {
  const Device *device = enterDevice();
  CUevent event = nullptr;
  if (device)
    device->check(device->driver.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
  return event;
}

REMAT_EXPORT void mgpuEventDestroy(CUevent event) {
  if (const Device *device = event ? enterDevice() : nullptr)
    device->check(device->driver.cuEventDestroy_v2(event), "cuEventDestroy");
}

REMAT_EXPORT void mgpuEventSynchronize(CUevent event) {
  if (const Device *device = enterDevice())
    check(*device, device->driver.cuEventSynchronize(event), "waiting for an event");
}

REMAT_EXPORT void mgpuEventRecord(CUevent event, CUstream) {
  if (const Device *device = enterDevice())
    device->check(device->driver.cuEventRecord(event, device->stream), "cuEventRecord");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

REMAT_EXPORT void *mgpuMemAlloc(uint64_t bytes, CUstream, bool) {
  const Device *device = bytes != 0 ? enterDevice() : nullptr;
  if (!device)
    return nullptr;
  CUdeviceptr memory = 0;
  CUresult result = device->driver.cuMemAlloc_v2(&memory, bytes);
  if (result == CUDA_SUCCESS)
    return asPointer(memory);
  size_t freeBytes = 0, totalBytes = 0;
  std::string available;
  if (device->driver.cuMemGetInfo_v2(&freeBytes, &totalBytes) == CUDA_SUCCESS)
    available = ", of which " + std::to_string(freeBytes) + " of " + std::to_string(totalBytes) +
                " are free";
  fail("cannot allocate " + std::to_string(bytes) + " bytes on the GPU" + available + ": " +
       device->describe(result));
  return nullptr;
}

REMAT_EXPORT void mgpuMemFree(void *memory, CUstream) {
  if (const Device *device = memory ? enterDevice() : nullptr)
    device->check(device->driver.cuMemFree_v2(getAddress(memory)), "cuMemFree");
}

REMAT_EXPORT void mgpuMemcpy(void *target, void *source, size_t bytes, CUstream) {
  const Device *device = bytes != 0 ? enterDevice() : nullptr;
  if (!device)
    return;
  std::string what = "copy of " + std::to_string(bytes) + " bytes";
  if (device->check(device->driver.cuMemcpyAsync(getAddress(target), getAddress(source), bytes,
                                                 device->stream),
                    what))
    device->finish(what);
}

REMAT_EXPORT void mgpuMemset32(void *target, uint32_t value, size_t count, CUstream) {
  const Device *device = count != 0 ? enterDevice() : nullptr;
  if (device && device->check(device->driver.cuMemsetD32Async(getAddress(target), value, count,
                                                              device->stream),
                              "cuMemsetD32Async"))
    device->finish("cuMemsetD32Async");
}

REMAT_EXPORT void mgpuMemset16(void *target, uint16_t value, size_t count, CUstream) {
  const Device *device = count != 0 ? enterDevice() : nullptr;
  if (device && device->check(device->driver.cuMemsetD16Async(getAddress(target), value, count,
                                                              device->stream),
                              "cuMemsetD16Async"))
    device->finish("cuMemsetD16Async");
}

REMAT_EXPORT void mgpuMemHostRegister(void *memory, uint64_t bytes) {
  if (const Device *device = bytes != 0 ? enterDevice() : nullptr)
    device->check(device->driver.cuMemHostRegister_v2(memory, bytes, 0), "cuMemHostRegister");
}

REMAT_EXPORT void mgpuMemHostUnregister(void *memory) {
  if (const Device *device = enterDevice())
    device->check(device->driver.cuMemHostUnregister(memory), "cuMemHostUnregister");
}

namespace {
/// Of a memref; sizes, and strides that are those of a packed one, follow.
struct Descriptor {
  char *allocated, *aligned;
  int64_t offset;
  int64_t sizes[1];
};
} // namespace

static char *getBegin(const Descriptor &memref, int64_t elementBytes) {
  return memref.aligned + memref.offset * elementBytes;
}

REMAT_EXPORT void mgpuMemHostRegisterMemRef(int64_t rank, Descriptor *memref,
                                            int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t dim = 0; dim < rank; ++dim)
    bytes *= memref->sizes[dim];
  mgpuMemHostRegister(getBegin(*memref, elementBytes), static_cast<uint64_t>(bytes));
}

REMAT_EXPORT void mgpuMemHostUnregisterMemRef(int64_t, Descriptor *memref, int64_t elementBytes) {
  mgpuMemHostUnregister(getBegin(*memref, elementBytes));
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

REMAT_EXPORT void mgpuSetDefaultDevice(int32_t device) {
  if (device != 0)
    fail("expected device 0, but got " + std::to_string(device) +
         "; CUDA_VISIBLE_DEVICES says which one that is");
}

REMAT_EXPORT const char *rematDeviceOpen() {
  const std::string &wrong = openDevice();
  return wrong.empty() ? nullptr : wrong.c_str();
}

REMAT_EXPORT const char *rematDeviceTakeError() { return takeError(); }

REMAT_EXPORT void rematDeviceBeginOperation(const char *name) { setOperation(name); }

REMAT_EXPORT void rematDeviceWait() { mgpuStreamSynchronize(nullptr); }

REMAT_EXPORT int64_t rematDeviceLoad(const void *address, int64_t bytes) {
  int64_t bits = 0;
  mgpuMemcpy(&bits, const_cast<void *>(address), static_cast<size_t>(bytes), nullptr);
  rematDeviceWait();
  return bits;
}

REMAT_EXPORT void rematDeviceStore(void *address, int64_t bytes, int64_t value) {
  mgpuMemcpy(address, &value, static_cast<size_t>(bytes), nullptr);
  // The value is on the stack.
  rematDeviceWait();
}

REMAT_EXPORT int64_t rematDeviceGetUsedBytes() {
  const Device *device = enterDevice();
  size_t freeBytes = 0, totalBytes = 0;
  if (!device ||
      !device->check(device->driver.cuMemGetInfo_v2(&freeBytes, &totalBytes), "cuMemGetInfo"))
    return 0;
  return static_cast<int64_t>(totalBytes - freeBytes);
}

REMAT_EXPORT double rematDeviceGetMilliseconds(void *begin, void *end) {
  const Device *device = enterDevice();
  if (!device)
    return 0;
  auto *first = static_cast<CUevent>(begin), *last = static_cast<CUevent>(end);
  float milliseconds = 0;
  CUresult result = device->driver.cuEventSynchronize(first);
  if (result == CUDA_SUCCESS)
    result = device->driver.cuEventSynchronize(last);
  if (result == CUDA_SUCCESS)
    result = device->driver.cuEventElapsedTime_v2(&milliseconds, first, last);
  check(*device, result, "waiting for events");
  return milliseconds;
}
