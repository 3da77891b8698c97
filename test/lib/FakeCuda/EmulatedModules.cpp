//===- EmulatedModules.cpp - Kernels on the emulator ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator is opened by hand: its functions have the names of those of the library under
// test, which the linker would find first.
//
//===----------------------------------------------------------------------===//

#include "EmulatedModules.h"

#include "DriverMemory.h"
#include "EmulatorRuntime/DeviceModule.h"

#include "llvm/Bitcode/LLVMBitCodes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace mlir::remat::fake;
using mlir::remat::emulator::Kernel;

template <typename Function>
static Function *find(const char *name) {
  static void *emulator = dlopen("libRematEmulatorRuntime.so", RTLD_NOW | RTLD_LOCAL);
  void *function = emulator ? dlsym(emulator, name) : nullptr;
  if (!function) {
    std::fprintf(stderr, "fake cuda: %s\n", dlerror());
    std::abort();
  }
  return reinterpret_cast<Function *>(function);
}

uint64_t mlir::remat::fake::getBitcodeBytes(const void *bitcode) {
  constexpr uint32_t kMagic = 0xdec04342, kEnterBlock = llvm::bitc::ENTER_SUBBLOCK;
  auto getWord = [&](uint64_t index) {
    uint32_t word;
    std::memcpy(&word, static_cast<const char *>(bitcode) + index * sizeof(word), sizeof(word));
    return word;
  };
  if (getWord(0) != kMagic)
    return 0;
  // Each block begins with its abbreviation in two bits, its number in eight, and, in the next
  // word, how many words follow.
  for (uint64_t index = 1;;) {
    uint32_t begin = getWord(index), block = begin >> 2 & 0xff;
    if ((begin & 3) != kEnterBlock)
      return 0;
    index += 2 + uint64_t(getWord(index + 1));
    if (block == llvm::bitc::STRTAB_BLOCK_ID)
      return index * sizeof(uint32_t);
  }
}

void *mlir::remat::fake::loadModule(const void *bitcode, uint64_t bytes) {
  return find<void *(const void *, size_t)>("mgpuModuleLoad")(bitcode, bytes);
}

void mlir::remat::fake::unloadModule(void *module) {
  find<void(void *)>("mgpuModuleUnload")(module);
}

void *mlir::remat::fake::getKernel(void *module, const char *name) {
  return find<void *(void *, const char *)>("mgpuModuleGetFunction")(module, name);
}

void mlir::remat::fake::launch(void *kernel, const LaunchSize &size, void **arguments) {
  using Launch = void(void *, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, int32_t,
                      void *, void **, void **, size_t);
  const auto &[grid, block, dynamicSharedBytes] = size;
  find<Launch>("mgpuLaunchKernel")(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                   static_cast<int32_t>(dynamicSharedBytes), nullptr, arguments,
                                   nullptr, static_cast<Kernel *>(kernel)->numArguments);
}

void mlir::remat::fake::registerMemory(uint64_t begin, uint64_t bytes) {
  find<void(void *, int64_t, int32_t)>("rematEmulatorRegisterMemory")(
      asPointer(begin), static_cast<int64_t>(bytes), /*writable=*/1);
}

void mlir::remat::fake::unregisterMemory(uint64_t begin) {
  find<void(void *)>("rematEmulatorUnregisterMemory")(asPointer(begin));
}
