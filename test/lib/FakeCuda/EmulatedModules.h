//===- EmulatedModules.h - Kernels on the emulator --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_LIB_FAKECUDA_EMULATEDMODULES_H
#define REMAT_TEST_LIB_FAKECUDA_EMULATEDMODULES_H

#include <cstdint>

namespace mlir::remat::fake {

/// Bytes of the bitcode that begins there, as gpu-module-to-binary{format=llvm} writes it: up
/// to the table of its strings. 0 if it is none.
uint64_t getBitcodeBytes(const void *bitcode);

/// A handle; ends the process if the emulator does not take the bitcode.
void *loadModule(const void *bitcode, uint64_t bytes);
void unloadModule(void *module);
/// The kernel has to exist.
void *getKernel(void *module, const char *name);

struct LaunchSize {
  unsigned grid[3], block[3], dynamicSharedBytes;
};
/// With the number of arguments that the kernel has.
void launch(void *kernel, const LaunchSize &size, void **arguments);

void registerMemory(uint64_t begin, uint64_t bytes);
void unregisterMemory(uint64_t begin);

} // namespace mlir::remat::fake

#endif // REMAT_TEST_LIB_FAKECUDA_EMULATEDMODULES_H
