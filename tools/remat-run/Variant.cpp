//===- Variant.cpp - A training step, compiled and executed -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variant.h"

#include "Inputs.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Execution/ObjectFile.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/OutputFile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;

/// Of buffers on a GPU, in bytes.
static constexpr int64_t kDeviceAlignment = 256;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Fills in what the function says about its memory, and what its operations are.
static void describe(func::FuncOp function, Variant &variant) {
  auto getCount = [&](StringRef attribute) {
    return function->getAttrOfType<IntegerAttr>(attribute).getInt();
  };
  ExecutionSpec &spec = variant.spec;
  spec.arenaBytes = getCount(RematDialect::getArenaBytesAttrName());
  spec.alignment = getCount(RematDialect::getArenaAlignmentAttrName());
  variant.argumentBytes = getCount(RematDialect::getArgumentBytesAttrName());
  variant.resultBytes = getCount(RematDialect::getResultBytesAttrName());
  DataLayout layout = DataLayout::closest(function);
  for (auto place : function->getAttrOfType<ArrayAttr>(RematDialect::getResultsAttrName())
                        .getAsRange<DictionaryAttr>()) {
    ResultInfo result{
        llvm::cantFail(getTensorInfo(place.getAs<TypeAttr>("type").getValue(), layout)),
        std::nullopt, place.getAs<IntegerAttr>("offset").getInt()};
    if (auto argument = place.getAs<IntegerAttr>("argument"))
      result.argument = argument.getInt();
    spec.results.push_back(std::move(result));
  }
  if (auto timed =
          function->getAttrOfType<DenseI64ArrayAttr>(RematDialect::getTimedOperationsAttrName()))
    spec.timedOperations = timed.asArrayRef().vec();
}

/// Rewrites tensors to buffers in an arena.
static Error planMemory(const Step &step, const VariantOptions &options, ModuleOp module,
                        Variant &variant) {
  FitOptions fit;
  fit.rematerialize.budget = options.budget;
  bool isPlanned = options.budget.kind != Budget::Kind::None;
  fit.rematerialize.search.effort = isPlanned ? options.effort : 0;
  fit.rematerialize.target = step.target;
  fit.rematerialize.profile = options.costs;
  if (options.device != Device::CPU) {
    fit.rematerialize.alignment = kDeviceAlignment;
    fit.splitsReductions = true;
  }
  fit.fusion = options.fusion;
  FailureOr<std::vector<FittedFunction>> fitted = fitArenas(module, fit);
  if (failed(fitted))
    return makeError("'{0}' cannot be compiled", step.function);
  for (const FittedFunction &function : *fitted)
    if (function.name == step.function)
      variant.memory = function;
  return Error::success();
}

/// What the process that executes it is told.
static void fillSpec(const Step &step, const VariantOptions &options, StringRef folder,
                     ExecutionSpec &spec) {
  spec.variant = options.name;
  spec.function = step.function;
  spec.arguments = step.arguments;
  spec.object = (folder + "/" + options.name + ".o").str();
  spec.resultsFile = (folder + "/" + options.name + ".results").str();
  spec.seed = options.seed;
  spec.iterations = options.iterations;
  spec.steps = options.steps;
  spec.threads = options.threads;
  spec.loss = step.roles.lossResult ? int64_t(*step.roles.lossResult) : -1;
  for (const std::optional<unsigned> &argument : step.roles.updatedArguments)
    spec.updates.push_back(argument ? int64_t(*argument) : -1);
  spec.inputs = options.inputs;
  spec.deviceLibrary = options.deviceLibrary;
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

Expected<Variant> mlir::remat::compile(const Step &step, const VariantOptions &options,
                                       StringRef folder, Progress &progress) {
  Variant variant;
  variant.name = options.name;
  auto show = [&](StringRef stage) { progress.show((options.name + ": " + stage).str()); };
  OwningOpRef<ModuleOp> module(cast<ModuleOp>(step.module.get()->clone()));
  show("planning memory");
  if (options.recordsTimes)
    (void)runPasses(
        *module, [](OpPassManager &passes) { passes.addPass(createRematNumberOperationsPass()); });
  if (Error error = planMemory(step, options, *module, variant))
    return error;
  show("lowering");
  if (options.recordsTimes)
    (void)runPasses(*module,
                    [](OpPassManager &passes) { passes.addPass(createRematTimeOperationsPass()); });
  describe(module->lookupSymbol<func::FuncOp>(step.function), variant);
  fillSpec(step, options, folder, variant.spec);
  auto lower = [&](OpPassManager &passes) {
    if (options.device == Device::CPU)
      return buildLowerToCPU(passes);
    GPUOptions gpu;
    gpu.format = "llvm";
    buildLowerToGPU(passes, gpu);
  };
  if (failed(runPasses(*module, lower)) || failed(checkLowered(*module, options.device)))
    return makeError("'{0}' cannot be lowered", step.function);
  show("compiling");
  Expected<std::unique_ptr<llvm::MemoryBuffer>> object = compileToObject(*module, step.function);
  if (!object)
    return object.takeError();
  auto write = [&](raw_ostream &os) { os << (*object)->getBuffer(); };
  if (Error error = writeOutputFile(variant.spec.object, write))
    return error;
  if (!options.objectPath.empty())
    if (Error error = writeOutputFile(options.objectPath, write))
      return error;
  return variant;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Error mlir::remat::executeApart(const char *program, Variant &variant, StringRef folder) {
  std::string spec = (folder + "/" + variant.name + ".json").str();
  std::string output = (folder + "/" + variant.name + ".out").str();
  if (Error error =
          writeOutputFile(spec, [&](raw_ostream &os) { os << toJSON(variant.spec) << '\n'; }))
    return error;
  std::string option = "--execute=" + spec, message;
  std::string executable = llvm::sys::fs::getMainExecutable(
      program, reinterpret_cast<void *>(reinterpret_cast<intptr_t>(&executeApart)));
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(output), std::nullopt};
  int code = llvm::sys::ExecuteAndWait(executable, {executable, option}, std::nullopt, redirects, 0,
                                       0, &message);
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readFile(output);
  if (!text)
    return text.takeError();
  // It says itself what is wrong with its input.
  if (code == EXIT_FAILURE)
    return makeError("{0}", (*text)->getBuffer());
  if (code != EXIT_SUCCESS)
    return makeError("the variant '{0}' failed with code {1}{2}{3}", variant.name, code,
                     message.empty() ? "" : ": ", message);
  Expected<ExecutionResult> result = llvm::json::parse<ExecutionResult>((*text)->getBuffer());
  if (!result)
    return result.takeError();
  variant.result = *result;
  return Error::success();
}

static Expected<ExecutionResult> executeFile(StringRef path) {
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readFile(path);
  if (!text)
    return text.takeError();
  Expected<ExecutionSpec> spec = llvm::json::parse<ExecutionSpec>((*text)->getBuffer());
  if (!spec)
    return spec.takeError();
  return execute(*spec);
}

int mlir::remat::executeSpec(StringRef path) {
  // What crashes is the step: the parent says so, and nobody needs the stack of this program.
  llvm::sys::unregisterHandlers();
  Expected<ExecutionResult> result = executeFile(path);
  if (!result) {
    llvm::outs() << toString(result.takeError());
    return EXIT_FAILURE;
  }
  llvm::outs() << toJSON(*result) << '\n';
  return EXIT_SUCCESS;
}
