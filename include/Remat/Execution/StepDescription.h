//===- StepDescription.h - What a compiled training step takes --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has to be known of an object file to execute it, as a structure and as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXECUTION_STEPDESCRIPTION_H
#define REMAT_EXECUTION_STEPDESCRIPTION_H

#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::remat {

/// Where a step is executed.
enum class Device {
  CPU,
  /// As code for a GPU, which the processor executes.
  Emulator,
  /// NVIDIA's, the first one that CUDA_VISIBLE_DEVICES leaves.
  GPU,
};

/// `cpu`, `emulator` or `gpu`.
llvm::StringRef getName(Device device);
/// The file name of the shared library that executes code for a device; empty for the CPU.
llvm::StringRef getLibraryName(Device device);

/// A tensor: `element` is a builtin type as MLIR writes it, of `count` elements, which are
/// without gaps in row order. A truth value takes a byte.
struct TensorInfo {
  std::string element;
  int64_t count = 0, bytes = 0;
  std::vector<int64_t> shape;
};

struct ArgumentInfo : TensorInfo {
  /// Whether it looks like second moments of an optimizer, of which roots are taken.
  bool isNonNegative = false;
  /// The step may overwrite it.
  bool isDonated = false;
};

/// `offset` bytes behind the beginning of an argument or of the arena.
struct ResultInfo : TensorInfo {
  std::optional<int64_t> argument;
  int64_t offset = 0;
};

struct StepDescription {
  std::string function;
  Device device = Device::CPU;
  /// Of the arena, in bytes; arguments are aligned like it.
  int64_t arenaBytes = 0, alignment = 64;
  std::vector<ArgumentInfo> arguments;
  std::vector<ResultInfo> results;
  /// `remat.timed_operations`, where the function records times.
  std::optional<std::vector<int64_t>> timedOperations;
};

llvm::json::Value toJSON(const StepDescription &step);
bool fromJSON(const llvm::json::Value &value, StepDescription &step, llvm::json::Path path);

} // namespace mlir::remat

#endif // REMAT_EXECUTION_STEPDESCRIPTION_H
