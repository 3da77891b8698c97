//===- Traffic.h - Memory that kernels move -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With REMAT_EMULATOR_TRAFFIC=FILE in the environment, what each launch reads and writes is
// counted: each sector of 32 bytes once, as if caches kept everything as long as a launch
// takes. Shared memory and variables of threads are not counted. The file is written when the
// process ends: CSV with a row for each kernel, summed over its launches.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_TRAFFIC_H
#define REMAT_LIB_EMULATORRUNTIME_TRAFFIC_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mlir::remat::emulator {

/// Whether modules have to call `countAccess`.
bool isTrafficCounted();

/// For `kind` see DeviceInterface.h.
void countAccess(uint64_t address, uint64_t bytes, uint32_t kind);

/// Ends what `countAccess` takes for one launch.
void endTraffic(llvm::StringRef kernel);

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_TRAFFIC_H
