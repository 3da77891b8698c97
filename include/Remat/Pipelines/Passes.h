//===- Passes.h - Passes made of passes, and pipelines ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PIPELINES_PASSES_H
#define REMAT_PIPELINES_PASSES_H

#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::remat {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Remat/Pipelines/Passes.h.inc"

/// What comes before a plan: calls of private functions become their bodies, so that what
/// they compute is planned with the rest, nothing is computed twice, and library calls say
/// how much workspace they need.
void buildPrepareStep(OpPassManager &pipeline);

/// From buffers in arenas to the LLVM dialect: library calls by the runtime library, all
/// else as loops. Functions take bare pointers.
void buildLowerToCPU(OpPassManager &pipeline);

/// The folder of a CUDA toolkit with libdevice: what CUDA_HOME, CUDA_PATH or CUDA_ROOT says,
/// or /usr/local/cuda where none of them is set. Empty if there is none.
std::string findCUDAToolkit();

/// Whether kernels can become this: `llvm` (bitcode), `isa` (PTX), `bin` (cubin) or `fatbin`.
bool isGPUFormat(StringRef format);

struct GPUOptions {
  /// Such as sm_90, and features of its PTX, such as +ptx80.
  std::string chip = "sm_90", features;
  /// Folder of the CUDA toolkit, for libdevice and ptxas. Empty: `findCUDAToolkit()`.
  std::string toolkit;
  /// What becomes of the kernels.
  std::string format = "fatbin";
};

/// From buffers in arenas to kernels of a GPU, and host code that launches them and calls
/// libraries, on one stream.
void buildConvertToGPU(OpPassManager &pipeline);

/// From there to the LLVM dialect, with the kernels' code. Functions take bare pointers.
void buildLowerGPU(OpPassManager &pipeline, const GPUOptions &options);

/// Registers `remat-cpu-pipeline`: buildPrepareStep, remat-fit-arena with its options, and
/// buildLowerToCPU.
void registerCPUPipeline();

/// The same for a GPU: `remat-gpu-pipeline`.
void registerGPUPipeline();

} // namespace mlir::remat

#endif // REMAT_PIPELINES_PASSES_H
