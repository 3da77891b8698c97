//===- Driver.cpp - A libcuda.so.1 without a GPU ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work is done when a function returns, but a fault of a kernel is known only to who waits, and
// to everybody from then on. Modules are bitcode.
//
//===----------------------------------------------------------------------===//

#include "DriverMemory.h"
#include "EmulatedModules.h"
#include "FakeDriver.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <map>
#include <set>
#include <string>
#include <string_view>

using namespace mlir::remat::fake;

namespace {
struct Module {
  const char *bitcode;
  uint64_t bytes;
};
struct Event {
  bool isRecorded = false;
  std::chrono::steady_clock::time_point time;
};
struct State {
  bool isInitialized = false;
  /// A launch has faulted; whether somebody knows.
  bool hasFault = false, isBroken = false;
  CUcontext context = nullptr;
  std::set<CUstream> streams;
  std::map<CUevent, Event> events;
  std::map<CUmodule, Module> modules;
  std::map<CUfunction, CUmodule> kernels;
  std::map<void *, size_t> hostRanges;
  std::map<std::string, int> numCalls;
  /// What handles are numbers of.
  uintptr_t numHandles = 0;
};
} // namespace
/// Never destroyed: modules are unloaded at exit.
static State &state = *new State;
static thread_local CUcontext current = nullptr;

template <typename Handle>
static Handle makeHandle() {
  return static_cast<Handle>(asPointer(0x1000 + 16 * state.numHandles++));
}

bool fakeCudaReject(const char *library, const char *reason) {
  std::fprintf(stderr, "fake cuda: %s: %s\n", library, reason);
  return false;
}

static CUresult reject(const char *reason, CUresult result = CUDA_ERROR_INVALID_VALUE) {
  fakeCudaReject("libcuda", reason);
  return result;
}

bool fakeCudaFails(const char *function) {
  int count = ++state.numCalls[function];
  const char *value = std::getenv("FAKE_CUDA_FAIL");
  std::string_view chosen = value ? value : "";
  size_t colon = chosen.find(':');
  return chosen.substr(0, colon) == function &&
         std::strtoll(value + colon + 1, nullptr, 10) == count;
}

int fakeCudaCountCalls(const char *function) { return state.numCalls[function]; }

bool fakeCudaHasContext() { return state.context && current == state.context && !state.isBroken; }

bool fakeCudaIsStream(const void *stream) {
  return state.streams.count(static_cast<CUstream>(const_cast<void *>(stream))) != 0;
}

/// What a function returns that the environment has fail.
static CUresult getFailure() {
  std::string_view chosen = std::getenv("FAKE_CUDA_FAIL");
  size_t equals = chosen.find('=');
  return equals == std::string_view::npos
             ? CUDA_ERROR_UNKNOWN
             : static_cast<CUresult>(std::strtol(chosen.data() + equals + 1, nullptr, 10));
}

/// What every function begins with, but for those about errors.
static CUresult begin(const char *function, bool needsContext = true) {
  if (fakeCudaFails(function))
    return getFailure();
  if (!state.isInitialized && std::string_view(function) != "cuInit")
    return CUDA_ERROR_NOT_INITIALIZED;
  if (state.isBroken)
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  if (needsContext && !fakeCudaHasContext())
    return reject("no current context", CUDA_ERROR_INVALID_CONTEXT);
  return CUDA_SUCCESS;
}

static CUresult begin(const char *function, CUstream stream) {
  CUresult result = begin(function);
  if (result == CUDA_SUCCESS && !fakeCudaIsStream(stream))
    return reject("unknown stream", CUDA_ERROR_INVALID_HANDLE);
  return result;
}

/// What functions that wait return.
static CUresult wait() {
  state.isBroken |= state.hasFault;
  return state.isBroken ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

#define BEGIN(...)                                                                                 \
  if (CUresult result = begin(__VA_ARGS__); result != CUDA_SUCCESS)                                \
    return result;

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

static int64_t getNumDevices() {
  const char *value = std::getenv("FAKE_CUDA_DEVICES");
  return value ? std::strtoll(value, nullptr, 10) : 1;
}

FAKE_EXPORT CUresult cuInit(unsigned flags) {
  BEGIN("cuInit", /*needsContext=*/false)
  if (flags != 0)
    return reject("flags of cuInit are 0");
  if (getNumDevices() == 0)
    return CUDA_ERROR_NO_DEVICE;
  state.isInitialized = true;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetCount(int *count) {
  BEGIN("cuDeviceGetCount", /*needsContext=*/false)
  *count = static_cast<int>(std::max<int64_t>(getNumDevices(), 0));
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  BEGIN("cuDeviceGet", /*needsContext=*/false)
  *device = ordinal;
  return ordinal < getNumDevices() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  BEGIN("cuDevicePrimaryCtxRetain", /*needsContext=*/false)
  if (!state.context)
    state.context = makeHandle<CUcontext>();
  *context = state.context;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  BEGIN("cuCtxSetCurrent", /*needsContext=*/false)
  if (context && context != state.context)
    return reject("unknown context", CUDA_ERROR_INVALID_CONTEXT);
  current = context;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

FAKE_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  BEGIN("cuStreamCreate")
  if (flags != CU_STREAM_NON_BLOCKING)
    return reject("expected a stream that does not wait for the default one");
  *stream = makeHandle<CUstream>();
  state.streams.insert(*stream);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN("cuStreamSynchronize", stream)
  return wait();
}

FAKE_EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  BEGIN("cuStreamWaitEvent", stream)
  return state.events.count(event) != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

FAKE_EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
  BEGIN("cuEventCreate")
  if ((flags & CU_EVENT_DISABLE_TIMING) != 0)
    return reject("events of this library have times");
  *event = makeHandle<CUevent>();
  state.events[*event] = {};
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventDestroy(CUevent event) {
  BEGIN("cuEventDestroy_v2")
  return state.events.erase(event) != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

FAKE_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  BEGIN("cuEventRecord", stream)
  auto found = state.events.find(event);
  if (found == state.events.end())
    return CUDA_ERROR_INVALID_HANDLE;
  found->second = {true, std::chrono::steady_clock::now()};
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventSynchronize(CUevent event) {
  BEGIN("cuEventSynchronize")
  return state.events.count(event) != 0 ? wait() : CUDA_ERROR_INVALID_HANDLE;
}

FAKE_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  BEGIN("cuEventElapsedTime_v2")
  auto first = state.events.find(from), last = state.events.find(to);
  if (first == state.events.end() || last == state.events.end() || !first->second.isRecorded ||
      !last->second.isRecorded)
    return CUDA_ERROR_INVALID_HANDLE;
  std::chrono::duration<float, std::milli> time = last->second.time - first->second.time;
  *milliseconds = time.count();
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FAKE_EXPORT CUresult cuMemGetInfo(size_t *freeBytes, size_t *totalBytes) {
  BEGIN("cuMemGetInfo_v2")
  *freeBytes = getFreeBytes();
  *totalBytes = getTotalBytes();
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes) {
  BEGIN("cuMemAlloc_v2")
  if (bytes == 0)
    return reject("allocation of no bytes");
  *memory = allocate(bytes);
  return *memory != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

FAKE_EXPORT CUresult cuMemFree(CUdeviceptr memory) {
  BEGIN("cuMemFree_v2")
  return release(memory) ? CUDA_SUCCESS : reject("free of what is not allocated");
}

FAKE_EXPORT CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                   CUstream stream) {
  BEGIN("cuMemcpyAsync", stream)
  if (!canCopy(target, bytes) || !canCopy(source, bytes))
    return reject("copy beyond an allocation, or of freed memory");
  MemoryAccess access;
  std::memmove(asPointer(target), asPointer(source), bytes);
  return CUDA_SUCCESS;
}

template <typename T>
static CUresult fill(CUdeviceptr target, T value, size_t count) {
  auto *first = static_cast<T *>(asPointer(target));
  if (target % sizeof(T) != 0 || !fakeCudaIsDeviceMemory(first, count * sizeof(T)))
    return reject("fill of what is not allocated, or not aligned");
  MemoryAccess access;
  std::fill_n(first, count, value);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count,
                                      CUstream stream) {
  BEGIN("cuMemsetD16Async", stream)
  return fill(target, value, count);
}

FAKE_EXPORT CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count,
                                      CUstream stream) {
  BEGIN("cuMemsetD32Async", stream)
  return fill(target, value, count);
}

FAKE_EXPORT CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned) {
  BEGIN("cuMemHostRegister_v2")
  if (bytes == 0)
    return reject("registration of no bytes");
  bool isNew = state.hostRanges.emplace(memory, bytes).second;
  return isNew ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

FAKE_EXPORT CUresult cuMemHostUnregister(void *memory) {
  BEGIN("cuMemHostUnregister")
  return state.hostRanges.erase(memory) != 0 ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Says it where the caller wants to have the errors of the compiler.
static CUresult rejectText(unsigned numOptions, const CUjit_option *options, void **values) {
  char *log = nullptr;
  size_t logBytes = 0;
  for (unsigned index = 0; index < numOptions; ++index) {
    if (options[index] == CU_JIT_ERROR_LOG_BUFFER)
      log = static_cast<char *>(values[index]);
    if (options[index] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      logBytes = reinterpret_cast<size_t>(values[index]);
  }
  if (log)
    std::snprintf(log, logBytes, "ptxas fatal: no PTX here");
  return CUDA_ERROR_INVALID_PTX;
}

FAKE_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned numOptions,
                                        CUjit_option *options, void **values) {
  BEGIN("cuModuleLoadDataEx")
  const auto *bitcode = static_cast<const char *>(image);
  if (std::strncmp(bitcode, "//", 2) == 0)
    return rejectText(numOptions, options, values);
  uint64_t bytes = getBitcodeBytes(image);
  if (bytes == 0)
    return CUDA_ERROR_INVALID_IMAGE;
  *module = static_cast<CUmodule>(loadModule(image, bytes));
  state.modules[*module] = {bitcode, bytes};
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule module) {
  BEGIN("cuModuleUnload")
  if (state.modules.erase(module) == 0)
    return reject("unknown module", CUDA_ERROR_INVALID_HANDLE);
  for (auto kernel = state.kernels.begin(); kernel != state.kernels.end();)
    kernel = kernel->second == module ? state.kernels.erase(kernel) : std::next(kernel);
  unloadModule(module);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  BEGIN("cuModuleGetFunction")
  auto found = state.modules.find(module);
  if (found == state.modules.end())
    return reject("unknown module", CUDA_ERROR_INVALID_HANDLE);
  // Names are next to each other at the end of the bitcode.
  std::string_view bitcode(found->second.bitcode, found->second.bytes);
  if (bitcode.find(name) == std::string_view::npos)
    return CUDA_ERROR_NOT_FOUND;
  *function = static_cast<CUfunction>(getKernel(module, name));
  state.kernels[*function] = module;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                                    unsigned gridZ, unsigned blockX, unsigned blockY,
                                    unsigned blockZ, unsigned dynamicSharedBytes, CUstream stream,
                                    void **arguments, void **extra) {
  BEGIN("cuLaunchKernel", stream)
  if (state.kernels.count(function) == 0)
    return reject("launch of an unknown function", CUDA_ERROR_INVALID_HANDLE);
  constexpr uint64_t kMaxThreads = 1024;
  uint64_t numThreads = uint64_t(blockX) * blockY * blockZ;
  if (extra || gridX == 0 || gridY == 0 || gridZ == 0 || numThreads == 0 ||
      numThreads > kMaxThreads)
    return reject("size of a launch");
  if (fakeCudaFails("launch"))
    state.hasFault = true;
  if (state.hasFault)
    return CUDA_SUCCESS;
  MemoryAccess access;
  launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicSharedBytes},
         arguments);
  return CUDA_SUCCESS;
}
