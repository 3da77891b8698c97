//===- CPUPipeline.cpp - From tensors to code for the CPU -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
  pipeline.addPass(createInlinerPass());
  pipeline.addPass(createSymbolDCEPass());
  pipeline.addPass(createCanonicalizerPass());
  pipeline.addPass(createCSEPass());
}

void mlir::remat::buildLowerToCPU(OpPassManager &pipeline) {
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
  pipeline.addPass(createArithToLLVMConversionPass());
  pipeline.addPass(createConvertIndexToLLVMPass());
  pipeline.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  pipeline.addPass(createConvertFuncToLLVMPass(functions));
  pipeline.addPass(createConvertOpenMPToLLVMPass());
  pipeline.addPass(createConvertControlFlowToLLVMPass());
  pipeline.addPass(createUBToLLVMConversionPass());
  pipeline.addPass(createReconcileUnrealizedCastsPass());
  pipeline.addPass(createCanonicalizerPass());
  pipeline.addPass(createCSEPass());
}

void mlir::remat::registerCPUPipeline() {
  struct Options : public PassPipelineOptions<Options> {
    Option<Budget> budget{*this, "budget", llvm::cl::desc("Highest memory allowed"),
                          llvm::cl::init(Budget())};
    Option<std::string> target{*this, "target", llvm::cl::desc("Cost model"),
                               llvm::cl::init("cpu")};
    Option<std::string> profile{*this, "profile", llvm::cl::desc("Measured costs"),
                                llvm::cl::init("")};
    Option<std::string> models{*this, "models", llvm::cl::desc("Models file"), llvm::cl::init("")};
    Option<ByteCount> alignment{*this, "alignment", llvm::cl::desc("Of every buffer"),
                                llvm::cl::init(ByteCount(64))};
    Option<int64_t> effort{*this, "effort", llvm::cl::desc("Work of the search, 0 to 10"),
                           llvm::cl::init(1)};
    Option<ArenaResults> results{
        *this, "results", llvm::cl::desc("Where results are"), llvm::cl::init(ArenaResults::Arena),
        llvm::cl::values(
            clEnumValN(ArenaResults::Arena, "arena", "in the arena"),
            clEnumValN(ArenaResults::Caller, "caller", "in buffers that the caller passes in"))};
  };
  PassPipelineRegistration<Options>("remat-cpu-pipeline",
                                    "From tensors to code for the CPU within a budget of memory",
                                    [](OpPassManager &pipeline, const Options &options) {
                                      RematFitArenaPassOptions fit;
                                      fit.budget = options.budget;
                                      fit.target = options.target;
                                      fit.profile = options.profile;
                                      fit.models = options.models;
                                      fit.alignment = options.alignment;
                                      fit.effort = options.effort;
                                      fit.results = options.results;
                                      buildPrepareStep(pipeline);
                                      pipeline.addPass(createRematFitArenaPass(fit));
                                      buildLowerToCPU(pipeline);
                                    });
}
