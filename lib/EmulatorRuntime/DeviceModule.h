//===- DeviceModule.h - A module of kernels that can be launched ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code of the processor for all kernels of a module, and what a launch has to know of them.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_DEVICEMODULE_H
#define REMAT_LIB_EMULATORRUNTIME_DEVICEMODULE_H

#include "DeviceInterface.h"
#include "Memory.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::remat::emulator {

class DeviceModule;

struct Kernel {
  std::string name;
  DeviceModule *module;
  /// Runs one thread; takes the addresses of the arguments.
  void (*entry)(void **) = nullptr;
  uint64_t numArguments;
  /// Whether threads wait for each other.
  bool isCollective;
  /// The number of threads of a block, or the largest one, if the code says so.
  std::optional<Extent> blockSize, maxBlockSize;
  /// The variables in shared memory that it uses.
  std::vector<llvm::MutableArrayRef<char>> shared;
};

class DeviceModule {
public:
  /// Fails if the bitcode is not one of NVPTX, or calls what the emulator does not know.
  static std::unique_ptr<DeviceModule> load(llvm::StringRef bitcode);

  /// Null if there is no such kernel.
  Kernel *find(llvm::StringRef name);

  /// Variables of the module: shared memory, and those in global and constant memory.
  MemoryRanges shared, variables;

  /// Has each access look for its range again if memory is not what it was at `epoch`.
  void forgetRanges(int64_t epoch);

private:
  llvm::StringMap<std::unique_ptr<Kernel>> kernels;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  MemoryRange *lastRanges = nullptr;
  int64_t numLastRanges = 0;
  int64_t lastEpoch = -1;
};

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_DEVICEMODULE_H
