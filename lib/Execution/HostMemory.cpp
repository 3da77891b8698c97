//===- HostMemory.cpp - Memory of the processor -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/Error.h"
#include "StepMemory.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cstring>

using namespace llvm;
using namespace mlir::remat;

/// Alignments below this are of no use to the C library.
static constexpr int64_t kMinAlignment = 64;

namespace {
class HostMemory : public StepMemory {
public:
  HostMemory(const StepProgram &program, int64_t alignment)
      : alignment(std::max(alignment, kMinAlignment)),
        registerMemory(reinterpret_cast<decltype(registerMemory)>(
            program.find("rematEmulatorRegisterMemory"))),
        unregisterMemory(reinterpret_cast<decltype(unregisterMemory)>(
            program.find("rematEmulatorUnregisterMemory"))) {}

  ~HostMemory() override {
    for (auto &[memory, bytes] : buffers) {
      if (unregisterMemory && bytes > 0)
        unregisterMemory(memory);
      std::free(memory);
    }
  }

  Expected<void *> allocate(int64_t bytes, bool isWritten) override {
    void *memory = std::aligned_alloc(alignment, alignTo(std::max<int64_t>(bytes, 1), alignment));
    if (!memory)
      return makeError("{0} bytes are not available", bytes);
    buffers.emplace_back(memory, bytes);
    if (registerMemory)
      registerMemory(memory, bytes, isWritten);
    return memory;
  }

  Error fill(void *memory, int64_t bytes) override {
    std::memset(memory, 0xff, bytes);
    return Error::success();
  }

  Error write(void *memory, int64_t, function_ref<Error(char *)> fill) override {
    return fill(static_cast<char *>(memory));
  }

  Error read(const void *memory, int64_t, function_ref<void(const char *)> read) override {
    read(static_cast<const char *>(memory));
    return Error::success();
  }

  Expected<double> measure(function_ref<void()> execute) override {
    auto started = std::chrono::steady_clock::now();
    execute();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started)
        .count();
  }

  int64_t getDeviceBytes() const override { return 0; }

private:
  int64_t alignment;
  void (*registerMemory)(void *, int64_t, int32_t);
  void (*unregisterMemory)(void *);
  std::vector<std::pair<void *, int64_t>> buffers;
};
} // namespace

std::unique_ptr<StepMemory> mlir::remat::createHostMemory(const StepProgram &program,
                                                          int64_t alignment) {
  return std::make_unique<HostMemory>(program, alignment);
}
