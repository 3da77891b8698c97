//===- Passes.h - Passes made of passes, and pipelines ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PIPELINES_PASSES_H
#define REMAT_PIPELINES_PASSES_H

#include "Remat/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::remat {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Remat/Pipelines/Passes.h.inc"

/// From buffers in arenas to the LLVM dialect: library calls by the runtime library, all
/// else as loops. Functions take bare pointers.
void buildLowerToCPU(OpPassManager &pipeline);

/// Registers `remat-cpu-pipeline`: canonicalize, cse, remat-set-workspace, remat-fit-arena
/// with its options but for `results`, and the above.
void registerCPUPipeline();

} // namespace mlir::remat

#endif // REMAT_PIPELINES_PASSES_H
