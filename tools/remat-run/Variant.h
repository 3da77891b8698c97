//===- Variant.h - A training step, compiled and executed -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_VARIANT_H
#define REMAT_TOOLS_REMAT_RUN_VARIANT_H

#include "Execution.h"
#include "Progress.h"
#include "Remat/Pipelines/FitArena.h"
#include "Step.h"

namespace mlir::remat {

/// Where a variant is executed.
enum class Device {
  CPU,
  /// As code for a GPU, which the emulator executes.
  Emulator,
};

struct VariantOptions {
  /// Names what it is, in tables and of files.
  std::string name;
  Budget budget;
  /// Measured costs for the plan, or null.
  const CostProfile *costs = nullptr;
  /// Whether the time of each operation is recorded.
  bool recordsTimes = false;
  Device device = Device::CPU;
  /// Of what is recomputed, as of the step.
  Fusion fusion = Fusion::Kernels;
  int64_t effort = 1, seed = 0, iterations = 5;
  /// Of training.
  int64_t steps = 0;
  /// See ExecutionSpec.
  int64_t threads = 0;
  /// Folder or archive with arguments, or empty.
  std::string inputs;
  /// See ExecutionSpec.
  std::string deviceLibrary;
  /// Where to write the object file as well, or empty.
  std::string objectPath;
};

/// A variant that is compiled.
struct Variant {
  std::string name;
  FittedFunction memory;
  ExecutionSpec spec;
  int64_t argumentBytes = 0, resultBytes = 0;
  /// Of `executeApart`.
  ExecutionResult result;
};

/// Compiles the step; files are in `folder`. What MLIR has found is told by
/// its diagnostics.
llvm::Expected<Variant> compile(const Step &step, const VariantOptions &options,
                                llvm::StringRef folder, Progress &progress);

/// Executes a variant in a process of its own, with files in `folder`. `program` is the name
/// that this program was called by.
llvm::Error executeApart(const char *program, Variant &variant, llvm::StringRef folder);

/// In that process: executes what the file at `path` says, and prints the result or the error
/// for the parent. Returns the exit code.
int executeSpec(llvm::StringRef path);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_VARIANT_H
