//===- Passes.td - Passes made of passes ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PIPELINES_PASSES_TD
#define REMAT_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def RematFitArenaPass : Pass<"remat-fit-arena", "::mlir::ModuleOp"> {
  let summary = "Rematerialize, bufferize and plan arenas until they are within the budget";
  let description = [{
    `remat-fuse`, `remat-split-reductions` with the libraries of a GPU, and `remat-set-workspace`;
    then `rematerialize`, the fusion of what is recomputed with elementwise readers,
    `remat-bufferize`, `remat-linalg-to-library-calls`, `remat-plan-arena` and
    `remat-verify-arena` in a row. Where no plan fits, the cheapest one for the smallest budget
    known to be feasible is applied; and where what went into its readers has left room, more
    is recomputed, up to three times. Where the arena with the arguments and constants of a
    function is larger than the budget all the same, everything is done again from the start
    with a smaller one, in up to four rounds. Fails with the numbers, and the module as it was,
    if that does not help.
  }];
  let options = [
    Option<"budget", "budget", "::mlir::remat::Budget", "::mlir::remat::Budget()",
           "Highest memory allowed: bytes with a unit (4GB, 4.5GiB) or a percentage of the "
           "unchanged packed peak (80%)">,
    Option<"target", "target", "std::string", "\"cpu\"",
           "Cost model: h100, a100, cpu, or a JSON file with rates">,
    Option<"profile", "profile", "std::string", "\"\"",
           "Measured costs of a function's operations, from remat-run --profile; what it "
           "does not have costs what the target's model says">,
    Option<"models", "models", "std::string", "\"\"",
           "Models file that describes operations of further dialects">,
    Option<"alignment", "alignment", "::mlir::remat::ByteCount", "::mlir::remat::ByteCount(64)",
           "Every buffer begins at a multiple of this, a power of two">,
    Option<"effort", "effort", "int64_t", "1",
           "Work of the search for each function, 0 to 10">,
    Option<"fusion", "fusion", "::mlir::remat::Fusion", "::mlir::remat::Fusion::Kernels",
           "Which operations are put together before",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Fusion::None, "none", "every value is a buffer"),
               clEnumValN(::mlir::remat::Fusion::Kernels, "kernels", "those of remat-fuse"))}]>,
    Option<"libraries", "libraries", "::mlir::remat::Libraries", "::mlir::remat::Libraries::CPU",
           "Whose libraries are called",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::Libraries::CPU, "cpu", "OpenBLAS and oneDNN"),
               clEnumValN(::mlir::remat::Libraries::GPU, "gpu", "cuBLASLt and cuDNN"),
               clEnumValN(::mlir::remat::Libraries::GPUWithTF32, "gpu-tf32",
                          "the same, f32 may be rounded to TF32"))}]>,
    Option<"results", "results", "::mlir::remat::ArenaResults",
           "::mlir::remat::ArenaResults::Arena", "Where results are",
           [{::llvm::cl::values(
               clEnumValN(::mlir::remat::ArenaResults::Arena, "arena", "in the arena"),
               clEnumValN(::mlir::remat::ArenaResults::Caller, "caller",
                          "in buffers that the caller passes in"))}]>,
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::remat::RematDialect", "::mlir::tensor::TensorDialect"];
}

#endif // REMAT_PIPELINES_PASSES_TD
