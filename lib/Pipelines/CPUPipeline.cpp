//===- CPUPipeline.cpp - From tensors to code for the CPU -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvertToLLVM.h"
#include "FitPipelineOptions.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Pipelines/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::remat;

void mlir::remat::buildPrepareStep(OpPassManager &pipeline) {
  pipeline.addPass(createRematInlinePass());
  pipeline.addPass(createCanonicalizerPass());
  pipeline.addPass(createCSEPass());
}

void mlir::remat::buildLowerToCPU(OpPassManager &pipeline) {
  pipeline.addPass(createRematFlattenEmptyArgumentsPass());
  pipeline.addPass(createRematLibraryCallsToRuntimePass());
  pipeline.addPass(createRematOutlineKernelsPass());
  // Loops of the input that are said to be parallel may reduce, in no certain order.
  pipeline.addNestedPass<func::FuncOp>(createParallelForToNestedForsPass());
  pipeline.addPass(createRematScheduleKernelsPass());
  pipeline.addNestedPass<func::FuncOp>(createRematKernelsToLoopsPass());
  pipeline.addNestedPass<func::FuncOp>(createRematApproximateMathPass());
  pipeline.addPass(createCanonicalizerPass());
  pipeline.addPass(createCSEPass());
  pipeline.addPass(memref::createExpandStridedMetadataPass());
  pipeline.addPass(createLowerAffinePass());
  pipeline.addPass(createConvertSCFToOpenMPPass());
  pipeline.addPass(createSCFToControlFlowPass());
  pipeline.addPass(createConvertVectorToLLVMPass());
  pipeline.addPass(createConvertComplexToStandardPass());
  pipeline.addPass(createConvertMathToFuncs());
  math::MathExpandOpsPassOptions expanded;
  expanded.opMnemonics = {"clampf"};
  pipeline.addNestedPass<func::FuncOp>(math::createMathExpandOpsPass(expanded));
  pipeline.addPass(createConvertMathToLLVMPass());
  pipeline.addPass(createConvertMathToLibmPass());
  pipeline.addPass(createConvertComplexToLLVMPass());
  addConversionToLLVM(pipeline);
}

void mlir::remat::registerCPUPipeline() {
  PassPipelineRegistration<FitPipelineOptions>(
      "remat-cpu-pipeline", "From tensors to code for the CPU within a budget of memory",
      [](OpPassManager &pipeline, const FitPipelineOptions &options) {
        buildPrepareStep(pipeline);
        pipeline.addPass(createRematFitArenaPass(options.get(Libraries::CPU)));
        buildLowerToCPU(pipeline);
      });
}
