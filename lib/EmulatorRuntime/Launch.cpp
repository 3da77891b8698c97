//===- Launch.cpp - Runs kernels ------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads that do not wait for each other are calls in a loop.
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "Block.h"
#include "DeviceMemory.h"
#include "Errors.h"
#include "Traffic.h"

#include <cfenv>
#include <cstring>
#include <string_view>

using namespace llvm;
using namespace mlir::remat::emulator;

ThreadRegisters mlir::remat::emulator::threadRegisters;

namespace {
/// The one launch that runs.
struct Running {
  Kernel *kernel = nullptr;
  void **arguments = nullptr;
  /// Of threads without a stack of their own.
  uint64_t stackEnd = 0;
};
} // namespace
static Running running;
/// Never destroyed: code that runs at exit may launch kernels.
static Block &block = *new Block;

static bool readOrder() {
  const char *value = std::getenv("REMAT_EMULATOR_ORDER");
  std::string_view order = value ? value : "forward";
  if (order != "forward" && order != "reverse")
    fail("expected REMAT_EMULATOR_ORDER to be forward or reverse, but got '" + Twine(value) + "'");
  return order == "reverse";
}

/// What was set, or else what the environment says.
static std::optional<bool> chosenOrder;

void mlir::remat::emulator::setReverseOrder(bool reverse) { chosenOrder = reverse; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

template <typename T>
static std::string toText(const std::array<T, 3> &index) {
  return "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " +
         std::to_string(index[2]) + ")";
}

static Extent getIndex(uint32_t thread) {
  const Extent &size = threadRegisters.blockSize;
  return {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
}

std::string mlir::remat::emulator::describeBlock() {
  return "kernel '" + running.kernel->name + "', block " + toText(threadRegisters.block);
}

std::string mlir::remat::emulator::describeThread() {
  return describeBlock() + ", thread " + toText(threadRegisters.thread);
}

std::string mlir::remat::emulator::describeIndex(uint32_t thread) {
  return toText(getIndex(thread));
}

/// The limits of CUDA, and of what the kernel was compiled for.
static void check(const Kernel &kernel, const LaunchSize &size, uint64_t numArguments) {
  constexpr std::array<int64_t, 3> kMaxBlock = {1024, 1024, 64};
  constexpr std::array<int64_t, 3> kMaxGrid = {0x7fffffff, 0xffff, 0xffff};
  constexpr int64_t kMaxThreads = 1024;
  auto failWith = [&](const Twine &reason) {
    fail(describeOperation() + "kernel '" + Twine(kernel.name) + "', grid " + toText(size.grid) +
         ", block " + toText(size.block) + ": " + reason);
  };
  auto isWithin = [](const std::array<int64_t, 3> &value, const std::array<int64_t, 3> &limit) {
    return all_of(zip_equal(value, limit), [](auto pair) {
      return std::get<0>(pair) >= 1 && std::get<0>(pair) <= std::get<1>(pair);
    });
  };
  if (!isWithin(size.grid, kMaxGrid))
    failWith("the grid is not between (1, 1, 1) and " + Twine(toText(kMaxGrid)));
  if (!isWithin(size.block, kMaxBlock))
    failWith("the block is not between (1, 1, 1) and " + Twine(toText(kMaxBlock)));
  int64_t numThreads = size.block[0] * size.block[1] * size.block[2];
  if (numThreads > kMaxThreads)
    failWith("the block has " + Twine(numThreads) + " threads, more than " + Twine(kMaxThreads));
  if (kernel.blockSize &&
      !std::equal(size.block.begin(), size.block.end(), kernel.blockSize->begin()))
    failWith("the kernel is for blocks of " + toText(*kernel.blockSize));
  if (kernel.maxBlockSize) {
    const Extent &limit = *kernel.maxBlockSize;
    int64_t maxThreads = int64_t(limit[0]) * limit[1] * limit[2];
    if (numThreads > maxThreads)
      failWith("the kernel is for blocks of at most " + Twine(maxThreads) + " threads");
  }
  if (size.dynamicSharedBytes != 0)
    failWith("dynamic shared memory, " + Twine(size.dynamicSharedBytes) +
             " bytes, is not emulated");
  if (numArguments != kernel.numArguments)
    failWith("the kernel has " + Twine(kernel.numArguments) + " arguments, but got " +
             Twine(numArguments));
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Kernel &mlir::remat::emulator::getRunningKernel() { return *running.kernel; }

uint64_t mlir::remat::emulator::getStackEnd() {
  return running.kernel->isCollective ? block.getStackEnd() : running.stackEnd;
}

uint64_t mlir::remat::emulator::callCollective(const CollectiveCall &call) {
  return block.call(call);
}

static void enterThread(uint32_t thread) {
  threadRegisters.thread = getIndex(thread);
  threadRegisters.lane = thread % kWarpSize;
  threadRegisters.warp = thread / kWarpSize;
}

/// Calls with each index below the extent, x first.
template <typename Function>
static void forEach(const Extent &extent, bool isReverse, Function function) {
  auto at = [&](int axis, uint32_t step) { return isReverse ? extent[axis] - 1 - step : step; };
  for (uint32_t z = 0; z < extent[2]; ++z)
    for (uint32_t y = 0; y < extent[1]; ++y)
      for (uint32_t x = 0; x < extent[0]; ++x)
        function(Extent{at(0, x), at(1, y), at(2, z)});
}

/// Arithmetic of kernels does not depend on the modes that the program has set.
class DefaultArithmetic {
public:
  DefaultArithmetic() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&saved); }
  DefaultArithmetic(const DefaultArithmetic &) = delete;
  DefaultArithmetic &operator=(const DefaultArithmetic &) = delete;

private:
  std::fenv_t saved;
};

/// Numbers that programs notice: NaNs, and indices that are out of range.
static void fillShared(const Kernel &kernel) {
  constexpr int kPattern = 0xff;
  for (MutableArrayRef<char> variable : kernel.shared)
    std::memset(variable.data(), kPattern, variable.size());
}

static void runBlock(Kernel &kernel, bool isReverse) {
  const Extent &size = threadRegisters.blockSize;
  uint32_t numThreads = size[0] * size[1] * size[2];
  if (kernel.isCollective) {
    auto body = [](void *) { running.kernel->entry(running.arguments); };
    block.run(numThreads, isReverse, enterThread, body, nullptr);
    return;
  }
  uint32_t thread = isReverse ? numThreads - 1 : 0;
  forEach(size, isReverse, [&](const Extent &index) {
    threadRegisters.thread = index;
    threadRegisters.lane = thread % kWarpSize;
    threadRegisters.warp = thread / kWarpSize;
    thread += isReverse ? -1 : 1;
    kernel.entry(running.arguments);
  });
}

void mlir::remat::emulator::launch(Kernel &kernel, const LaunchSize &size, void **arguments,
                                   uint64_t numArguments) {
  static const bool environmentOrder = readOrder();
  check(kernel, size, numArguments);
  DefaultArithmetic arithmetic;
  running = {&kernel, arguments, reinterpret_cast<uint64_t>(&arithmetic)};
  kernel.module->forgetRanges(getMemoryEpoch());
  for (size_t axis : {0, 1, 2}) {
    threadRegisters.gridSize[axis] = static_cast<uint32_t>(size.grid[axis]);
    threadRegisters.blockSize[axis] = static_cast<uint32_t>(size.block[axis]);
  }
  bool isReverse = chosenOrder.value_or(environmentOrder);
  forEach(threadRegisters.gridSize, isReverse, [&](const Extent &index) {
    threadRegisters.block = index;
    fillShared(kernel);
    runBlock(kernel, isReverse);
  });
  endTraffic(kernel.name);
}
