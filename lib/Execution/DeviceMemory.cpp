//===- DeviceMemory.cpp - Memory of a GPU -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Runtime/DeviceRuntime.h"
#include "Remat/Support/Error.h"
#include "StepMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir::remat;

namespace {
/// Functions of the library, with the signatures of MLIR's runtime for CUDA.
struct DeviceLibrary {
  decltype(&rematDeviceTakeError) takeError;
  decltype(&rematDeviceWait) wait;
  decltype(&rematDeviceGetUsedBytes) getUsedBytes;
  decltype(&rematDeviceGetMilliseconds) getMilliseconds;
  void *(*allocate)(uint64_t bytes, void *stream, bool isHostShared);
  void (*free)(void *memory, void *stream);
  void (*copy)(void *target, const void *source, size_t bytes, void *stream);
  void (*fill)(void *target, uint32_t value, size_t count, void *stream);
  void *(*createStream)();
  void *(*createEvent)();
  void (*destroyEvent)(void *event);
  void (*recordEvent)(void *event, void *stream);
};
} // namespace

static Expected<DeviceLibrary> findFunctions(const StepProgram &program) {
  StringRef missing;
  auto find = [&](StringRef name, auto &function) {
    void *address = program.find(name);
    if (!address)
      missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  DeviceLibrary library;
  find("rematDeviceTakeError", library.takeError);
  find("rematDeviceWait", library.wait);
  find("rematDeviceGetUsedBytes", library.getUsedBytes);
  find("rematDeviceGetMilliseconds", library.getMilliseconds);
  find("mgpuMemAlloc", library.allocate);
  find("mgpuMemFree", library.free);
  find("mgpuMemcpy", library.copy);
  find("mgpuMemset32", library.fill);
  find("mgpuStreamCreate", library.createStream);
  find("mgpuEventCreate", library.createEvent);
  find("mgpuEventDestroy", library.destroyEvent);
  find("mgpuEventRecord", library.recordEvent);
  if (!missing.empty())
    return makeError("the library for the device has no function '{0}'", missing);
  return library;
}

namespace {
class DeviceMemory : public StepMemory {
public:
  explicit DeviceMemory(const DeviceLibrary &library)
      : library(library), stream(library.createStream()), begin(library.createEvent()),
        end(library.createEvent()), bytesBefore(library.getUsedBytes()) {}

  ~DeviceMemory() override {
    for (void *memory : buffers)
      library.free(memory, stream);
    library.destroyEvent(begin);
    library.destroyEvent(end);
    // Behind another error all of that may fail.
    library.takeError();
  }

  Expected<void *> allocate(int64_t bytes, bool) override {
    // As `fill` writes it.
    void *memory = library.allocate(alignTo(bytes, sizeof(uint32_t)), stream, false);
    if (Error error = check())
      return error;
    buffers.push_back(memory);
    return memory;
  }

  Error fill(void *memory, int64_t bytes) override {
    library.fill(memory, UINT32_MAX, divideCeil(bytes, sizeof(uint32_t)), stream);
    return wait();
  }

  Error write(void *memory, int64_t bytes, function_ref<Error(char *)> fill) override {
    std::vector<char> staged(bytes);
    if (Error error = fill(staged.data()))
      return error;
    library.copy(memory, staged.data(), bytes, stream);
    return wait();
  }

  Error read(const void *memory, int64_t bytes, function_ref<void(const char *)> read) override {
    std::vector<char> staged(bytes);
    library.copy(staged.data(), memory, bytes, stream);
    if (Error error = wait())
      return error;
    read(staged.data());
    return Error::success();
  }

  Expected<double> measure(function_ref<void()> execute) override {
    library.recordEvent(begin, stream);
    execute();
    library.recordEvent(end, stream);
    double milliseconds = library.getMilliseconds(begin, end);
    if (Error error = check())
      return error;
    return milliseconds;
  }

  int64_t getDeviceBytes() const override { return library.getUsedBytes() - bytesBefore; }

private:
  Error check() const {
    const char *message = library.takeError();
    return message ? makeError("{0}", message) : Error::success();
  }
  Error wait() const {
    library.wait();
    return check();
  }

  DeviceLibrary library;
  void *stream, *begin, *end;
  int64_t bytesBefore;
  std::vector<void *> buffers;
};
} // namespace

Expected<std::unique_ptr<StepMemory>> mlir::remat::createDeviceMemory(const StepProgram &program) {
  Expected<DeviceLibrary> library = findFunctions(program);
  if (!library)
    return library.takeError();
  return std::make_unique<DeviceMemory>(*library);
}
