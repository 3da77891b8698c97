//===- CompileStep.h - From a training step to machine code -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXECUTION_COMPILESTEP_H
#define REMAT_EXECUTION_COMPILESTEP_H

#include "Remat/Execution/TrainingStep.h"
#include "Remat/Pipelines/FitArena.h"
#include "Remat/Pipelines/Passes.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <functional>

namespace mlir::remat {

struct CompileOptions {
  Device device = Device::CPU;
  Budget budget;
  /// Of the planner, 0 to 10; without a budget there is nothing to plan.
  int64_t effort = 1;
  /// Measured costs for the plan, or null.
  const CostProfile *costs = nullptr;
  /// Whether the time of each operation is recorded; on the CPU alone.
  bool recordsTimes = false;
  /// Of code for a GPU; the format is that of a GPU, the emulator has its own.
  GPUOptions gpu;
  /// Called when a stage of the compilation begins, with its name.
  std::function<void(llvm::StringRef)> onStage;
};

/// A kernel of a GPU.
struct KernelInfo {
  std::string name;
  /// In the code of the host.
  int64_t numLaunches = 0;
  /// Bytes that any kernel with these results reads and writes at least, where that is known:
  /// each element once.
  std::optional<int64_t> minimumBytes;
};

struct CompiledStep {
  StepDescription description;
  FittedFunction memory;
  /// All arguments, and all results, in bytes.
  int64_t argumentBytes = 0, resultBytes = 0;
  /// Of a GPU: the kernels, calls of libraries in the code of the host, and the kernels' code in
  /// the format of the options.
  std::vector<KernelInfo> kernels;
  int64_t numLibraryCalls = 0;
  std::string deviceCode;
  /// For this processor: see `StepInstance`.
  std::unique_ptr<llvm::MemoryBuffer> object;

  /// Of all kernels, in the code of the host.
  int64_t getNumLaunches() const;
};

/// Plans the memory of a step and compiles it; `step` stays as it is, and was prepared with the
/// libraries of this device. What MLIR has found is
/// told by its diagnostics.
llvm::Expected<CompiledStep> compileStep(const TrainingStep &step, const CompileOptions &options);

} // namespace mlir::remat

#endif // REMAT_EXECUTION_COMPILESTEP_H
