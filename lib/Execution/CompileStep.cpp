//===- CompileStep.cpp - From a training step to machine code ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/CompileStep.h"

#include "PassRunner.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Execution/ObjectFile.h"
#include "Remat/Runtime/DeviceCalls.h"
#include "Remat/Support/Error.h"
#include "TensorTypes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;

int64_t CompiledStep::getNumLaunches() const {
  int64_t sum = 0;
  for (const KernelInfo &kernel : kernels)
    sum += kernel.numLaunches;
  return sum;
}

/// Rewrites tensors to buffers in an arena.
static Expected<FittedFunction> planMemory(const TrainingStep &step, const CompileOptions &options,
                                           ModuleOp module) {
  FitOptions fit;
  fit.rematerialize.budget = options.budget;
  bool isPlanned = options.budget.kind != Budget::Kind::None;
  fit.rematerialize.search.effort = isPlanned ? options.effort : 0;
  fit.rematerialize.target = step.target;
  fit.rematerialize.profile = options.costs;
  if (options.device != Device::CPU)
    fit.rematerialize.alignment = kDeviceAlignment;
  fit.libraries = step.libraries;
  fit.fusion = step.fusion;
  FailureOr<std::vector<FittedFunction>> fitted = fitArenas(module, fit);
  if (succeeded(fitted))
    for (const FittedFunction &function : *fitted)
      if (function.name == step.function)
        return function;
  return makeError("'{0}' cannot be compiled", step.function);
}

/// Fills in what the function says about its memory, and what its operations are.
static void describe(func::FuncOp function, CompiledStep &compiled) {
  auto getCount = [&](StringRef attribute) {
    return function->getAttrOfType<IntegerAttr>(attribute).getInt();
  };
  StepDescription &description = compiled.description;
  description.arenaBytes = getCount(RematDialect::getArenaBytesAttrName());
  description.alignment = getCount(RematDialect::getArenaAlignmentAttrName());
  compiled.argumentBytes = getCount(RematDialect::getArgumentBytesAttrName());
  compiled.resultBytes = getCount(RematDialect::getResultBytesAttrName());
  DataLayout layout = DataLayout::closest(function);
  for (auto place : function->getAttrOfType<ArrayAttr>(RematDialect::getResultsAttrName())
                        .getAsRange<DictionaryAttr>()) {
    ResultInfo result{
        llvm::cantFail(getTensorInfo(place.getAs<TypeAttr>("type").getValue(), layout)),
        std::nullopt, place.getAs<IntegerAttr>("offset").getInt()};
    if (auto argument = place.getAs<IntegerAttr>("argument"))
      result.argument = argument.getInt();
    description.results.push_back(std::move(result));
  }
  if (auto timed =
          function->getAttrOfType<DenseI64ArrayAttr>(RematDialect::getTimedOperationsAttrName()))
    description.timedOperations = timed.asArrayRef().vec();
}

/// Counts kernels, launches and calls of libraries.
static void describeKernels(ModuleOp module, CompiledStep &compiled) {
  llvm::MapVector<StringAttr, KernelInfo> kernels;
  module.walk([&](gpu::GPUFuncOp kernel) {
    KernelInfo &info = kernels[kernel.getNameAttr()];
    info.name = kernel.getName().str();
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(RematDialect::getMinimumBytesAttrName()))
      info.minimumBytes = bytes.getInt();
  });
  module.walk([&](Operation *op) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      ++kernels[launch.getKernelName()].numLaunches;
    else if (auto call = dyn_cast<func::CallOp>(op))
      compiled.numLibraryCalls += isLibraryFunction(call.getCallee());
  });
  for (auto &[name, info] : kernels)
    compiled.kernels.push_back(std::move(info));
}

/// Emits an error at an operation that no pass of the pipeline has lowered, if there is one.
static LogicalResult checkLowered(ModuleOp module, Device device) {
  WalkResult result = module.walk([&](Operation *op) {
    if (isa<ModuleOp, UnrealizedConversionCastOp>(op) ||
        isa_and_nonnull<LLVM::LLVMDialect, omp::OpenMPDialect, gpu::GPUDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("is not known to the pipeline for ")
        << (device == Device::CPU ? "the CPU" : "a GPU");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// From buffers to the LLVM dialect.
static LogicalResult lower(ModuleOp module, const CompileOptions &options, CompiledStep &compiled) {
  if (options.device == Device::CPU)
    return runPasses(module, buildLowerToCPU);
  if (failed(runPasses(module, buildConvertToGPU)))
    return failure();
  describeKernels(module, compiled);
  GPUOptions gpu = options.gpu;
  if (options.device == Device::Emulator)
    gpu.format = "llvm";
  if (failed(runPasses(module, [&](OpPassManager &passes) { buildLowerGPU(passes, gpu); })))
    return failure();
  module.walk([&](gpu::BinaryOp binary) {
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
      compiled.deviceCode = object.getObject().str();
  });
  return success();
}

Expected<CompiledStep> mlir::remat::compileStep(const TrainingStep &step,
                                                const CompileOptions &options) {
  CompiledStep compiled;
  compiled.description.function = step.function;
  compiled.description.device = options.device;
  compiled.description.arguments = step.arguments;
  auto begin = [&](StringRef stage) {
    if (options.onStage)
      options.onStage(stage);
  };
  OwningOpRef<ModuleOp> module(cast<ModuleOp>(step.module.get()->clone()));
  begin("planning memory");
  if (options.recordsTimes)
    (void)runPasses(
        *module, [](OpPassManager &passes) { passes.addPass(createRematNumberOperationsPass()); });
  Expected<FittedFunction> memory = planMemory(step, options, *module);
  if (!memory)
    return memory.takeError();
  compiled.memory = std::move(*memory);
  begin("lowering");
  if (options.recordsTimes)
    (void)runPasses(*module,
                    [](OpPassManager &passes) { passes.addPass(createRematTimeOperationsPass()); });
  describe(module->lookupSymbol<func::FuncOp>(step.function), compiled);
  if (failed(lower(*module, options, compiled)) || failed(checkLowered(*module, options.device)))
    return makeError("'{0}' cannot be lowered", step.function);
  begin("compiling");
  Expected<std::unique_ptr<llvm::MemoryBuffer>> object = compileToObject(*module, step.function);
  if (!object)
    return object.takeError();
  compiled.object = std::move(*object);
  return compiled;
}
