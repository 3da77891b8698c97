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
#include "Remat/Execution/CompileStep.h"

namespace mlir::remat {

struct VariantOptions {
  /// Names what it is, in tables and of files.
  std::string name;
  CompileOptions compile;
  int64_t seed = 0, iterations = 5;
  /// Of training.
  int64_t steps = 0;
  /// See ExecutionSpec.
  int64_t threads = 0;
  /// Folder or archive with arguments, or empty.
  std::string inputs;
  /// See ExecutionSpec.
  std::string deviceLibrary;
  /// Where to write the object file, and the code of a GPU, as well, or empty.
  std::string objectPath, kernelsPath;
};

/// A variant that is compiled; its object file is in a file.
struct Variant {
  std::string name;
  CompiledStep compiled;
  ExecutionSpec spec;
  /// Of `executeApart`.
  ExecutionResult result;
};

/// Compiles the step; files are in `folder`. What MLIR has found is told by its diagnostics.
llvm::Expected<Variant> compile(const TrainingStep &step, VariantOptions options,
                                llvm::StringRef folder, Progress &progress);

/// Executes a variant in a process of its own, with files in `folder`. `program` is the name
/// that this program was called by.
llvm::Error executeApart(const char *program, Variant &variant, llvm::StringRef folder);

/// In that process: executes what the file at `path` says, and prints the result or the error
/// for the parent. Returns the exit code.
int executeSpec(llvm::StringRef path);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_VARIANT_H
