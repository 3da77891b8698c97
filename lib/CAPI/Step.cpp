//===- Step.cpp - C API to compile and run training steps -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks what comes in, and calls the compiler and the runner. Nothing is decided here.
//
//===----------------------------------------------------------------------===//

#include "Remat-c/Step.h"
#include "Calls.h"
#include "Remat/Execution/CompileStep.h"
#include "Remat/Execution/StepInstance.h"
#include "Remat/Runtime/Runtime.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::capi;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct RematStep {
  CompiledStep compiled;
  std::string report;
  /// Of the options.
  int64_t numThreads;
};

struct RematStepRun {
  StepInstance instance;
  /// By argument.
  std::vector<bool> isSet;
  bool isExecuted = false;
};

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static std::string makeReport(const CompiledStep &compiled) {
  llvm::json::Value value = toJSON(compiled.description);
  llvm::json::Object &report = *value.getAsObject();
  const FittedFunction &memory = compiled.memory;
  report["memory"] = llvm::json::Object{{"budget_bytes", memory.budgetBytes},
                                        {"unchanged_bytes", memory.unchangedBytes},
                                        {"predicted_bytes", memory.predictedBytes},
                                        {"taken_bytes", memory.takenBytes},
                                        {"cost", memory.cost},
                                        {"added_cost", memory.addedCost}};
  if (compiled.description.device != Device::CPU) {
    report["kernels"] = int64_t(compiled.kernels.size());
    report["launches"] = compiled.getNumLaunches();
    report["library_calls"] = compiled.numLibraryCalls;
  }
  return llvm::formatv("{0}", value).str();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static_assert(RematDeviceCPU == int(Device::CPU) && RematDeviceEmulator == int(Device::Emulator) &&
              RematDeviceGPU == int(Device::GPU));

static Error readOptions(const RematStepOptions *input, RematStepOptions &options) {
  if (Error error = readStruct(&options, sizeof(options),
                               REMAT_FIRST_SIZE(RematStepOptions, numThreads), input, "options"))
    return error;
  constexpr int64_t kMaxThreads = 1024;
  if (options.device > RematDeviceGPU)
    return makeError("expected 'device' from 0 to 2, but got {0}", int(options.device));
  if (options.donate > 1 || options.tf32 > 1)
    return makeError("expected 'donate' and 'tf32' to be 0 or 1, but got {0} and {1}",
                     int(options.donate), int(options.tf32));
  if (options.effort < 0 || options.effort > planner::kMaxEffort)
    return makeError("expected 'effort' from 0 to {0}, but got {1}", planner::kMaxEffort,
                     options.effort);
  if (options.numThreads < 0 || options.numThreads > kMaxThreads)
    return makeError("expected 'numThreads' from 0 to {0}, but got {1}", kMaxThreads,
                     options.numThreads);
  if (options.device == RematDeviceEmulator && options.format &&
      llvm::StringRef(options.format) != "llvm")
    return makeError("expected 'format' to be llvm for the emulator, but got '{0}'",
                     options.format);
  return Error::success();
}

static std::string getText(const char *text, llvm::StringRef otherwise) {
  return text ? std::string(text) : otherwise.str();
}

static StepOptions getStepOptions(const RematStepOptions &options) {
  StepOptions result;
  auto device = Device(options.device);
  result.function = getText(options.function, "");
  result.target = getText(options.target, getDefaultTarget(device));
  result.donate = options.donate;
  result.libraries = getLibraries(device, options.tf32);
  return result;
}

static Expected<CompileOptions> getCompileOptions(const RematStepOptions &options) {
  CompileOptions result;
  Expected<Budget> budget = parseBudget(getText(options.budget, "none"));
  if (!budget)
    return budget.takeError();
  result.budget = *budget;
  result.device = Device(options.device);
  result.effort = options.effort > 0 ? options.effort : 1;
  result.gpu.chip = getText(options.chip, result.gpu.chip);
  result.gpu.toolkit = getText(options.toolkit, "");
  result.gpu.format = getText(options.format, result.gpu.format);
  if (options.device != RematDeviceCPU && result.gpu.toolkit.empty() && findCUDAToolkit().empty())
    return makeError("code for a GPU needs the CUDA toolkit, which was not found: set 'toolkit' or "
                     "CUDA_HOME to its folder");
  return result;
}

static Expected<RematStep> compile(llvm::StringRef text, const RematStepOptions &options) {
  Expected<CompileOptions> how = getCompileOptions(options);
  if (!how)
    return how.takeError();
  // Libraries say here what workspace they will need where the step is executed.
  rematSetNumThreads(options.numThreads);
  MLIRContext context;
  loadStepDialects(context);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler printer(sources, &context, os);
  // Warnings and remarks are no errors.
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  auto fail = [&](Error error) -> Error {
    return makeError("{0}{1}", diagnostics, toString(std::move(error)));
  };
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "step"), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return fail(makeError("the module cannot be read"));
  Expected<TrainingStep> step = prepareStep(std::move(module), getStepOptions(options));
  if (!step)
    return fail(step.takeError());
  Expected<CompiledStep> compiled = compileStep(*step, *how);
  if (!compiled)
    return fail(compiled.takeError());
  std::string report = makeReport(*compiled);
  return RematStep{std::move(*compiled), std::move(report), options.numThreads};
}

const char *rematStepGetVersion(void) { return REMAT_VERSION; }

RematStep *rematStepCompile(const char *text, size_t length, const RematStepOptions *options,
                            char **error) {
  std::unique_ptr<RematStep> result;
  attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(text, "text"))
      return failure;
    RematStepOptions input = {};
    if (Error failure = readOptions(options, input))
      return failure;
    Expected<RematStep> step = compile(llvm::StringRef(text, length), input);
    if (!step)
      return step.takeError();
    result = std::make_unique<RematStep>(std::move(*step));
    return Error::success();
  });
  return result.release();
}

void rematStepDestroy(RematStep *step) { delete step; }

const char *rematStepGetReport(const RematStep *step) {
  return step ? step->report.c_str() : nullptr;
}

const void *rematStepGetDeviceCode(const RematStep *step, size_t *bytes) {
  const std::string *code = step ? &step->compiled.deviceCode : nullptr;
  bool isEmpty = !code || code->empty();
  if (bytes)
    *bytes = isEmpty ? 0 : code->size();
  return isEmpty ? nullptr : code->data();
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

int64_t rematStepGetNumArguments(const RematStep *step) {
  return step ? int64_t(step->compiled.description.arguments.size()) : 0;
}

int64_t rematStepGetNumResults(const RematStep *step) {
  return step ? int64_t(step->compiled.description.results.size()) : 0;
}

static Error checkIndex(llvm::StringRef kind, int64_t index, size_t count) {
  if (index < 0 || index >= int64_t(count))
    return makeError("there are {0} {1}s, but got the index {2}", count, kind, index);
  return Error::success();
}

template <typename List>
static bool getInfo(const RematStep *step, List StepDescription::*list, llvm::StringRef kind,
                    int64_t index, RematTensorInfo *info, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(step, "step"))
      return failure;
    const List &tensors = step->compiled.description.*list;
    if (Error failure = checkIndex(kind, index, tensors.size()))
      return failure;
    const TensorInfo &tensor = tensors[index];
    RematTensorInfo result = {};
    result.element = tensor.element.c_str();
    result.rank = int64_t(tensor.shape.size());
    result.sizes = tensor.shape.data();
    result.bytes = tensor.bytes;
    return writeStruct(&result, sizeof(result), REMAT_FIRST_SIZE(RematTensorInfo, bytes), info,
                       "info");
  });
}

bool rematStepGetArgument(const RematStep *step, int64_t index, RematTensorInfo *info,
                          char **error) {
  return getInfo(step, &StepDescription::arguments, "argument", index, info, error);
}

bool rematStepGetResult(const RematStep *step, int64_t index, RematTensorInfo *info, char **error) {
  return getInfo(step, &StepDescription::results, "result", index, info, error);
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// The library for a device beside this one; empty for the CPU.
static Expected<std::string> findLibrary(Device device) {
  llvm::StringRef name = getLibraryName(device);
  if (name.empty())
    return std::string();
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&rematStepRunCreate), &info) || !info.dli_fname)
    return makeError("cannot find the folder of '{0}'", name);
  llvm::SmallString<256> path(llvm::sys::path::parent_path(info.dli_fname));
  llvm::sys::path::append(path, name);
  return std::string(path);
}

RematStepRun *rematStepRunCreate(const RematStep *step, const char *library, char **error) {
  std::unique_ptr<RematStepRun> result;
  attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(step, "step"))
      return failure;
    const CompiledStep &compiled = step->compiled;
    Expected<std::string> path = library ? Expected<std::string>(std::string(library))
                                         : findLibrary(compiled.description.device);
    if (!path)
      return path.takeError();
    auto object = llvm::MemoryBuffer::getMemBufferCopy(compiled.object->getBuffer());
    Expected<StepInstance> instance =
        StepInstance::create(compiled.description, std::move(object), *path, step->numThreads);
    if (!instance)
      return instance.takeError();
    size_t numArguments = compiled.description.arguments.size();
    result.reset(new RematStepRun{std::move(*instance), std::vector<bool>(numArguments)});
    return Error::success();
  });
  return result.release();
}

void rematStepRunDestroy(RematStepRun *run) { delete run; }

/// Whether a tensor may be copied from or to so many bytes.
static Error checkBytes(const void *data, size_t bytes, const TensorInfo &tensor) {
  if (bytes != size_t(tensor.bytes))
    return makeError("expected {0} bytes, but got {1}", tensor.bytes, bytes);
  return bytes > 0 ? requirePointer(data, "data") : Error::success();
}

bool rematStepRunSetArgument(RematStepRun *run, int64_t index, const void *data, size_t bytes,
                             char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(run, "run"))
      return failure;
    const std::vector<ArgumentInfo> &arguments = run->instance.getDescription().arguments;
    if (Error failure = checkIndex("argument", index, arguments.size()))
      return failure;
    if (Error failure = checkBytes(data, bytes, arguments[index]))
      return failure;
    Error failure = run->instance.fillArgument(index, [&](char *memory) {
      std::copy_n(static_cast<const char *>(data), bytes, memory);
      return Error::success();
    });
    if (failure)
      return failure;
    run->isSet[index] = true;
    // A result may be there.
    run->isExecuted = false;
    return Error::success();
  });
}

bool rematStepRunExecute(RematStepRun *run, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(run, "run"))
      return failure;
    for (auto [index, isSet] : llvm::enumerate(run->isSet))
      if (!isSet)
        return makeError("argument {0} is not set", index);
    run->isExecuted = false;
    if (Error failure = run->instance.run())
      return failure;
    run->isExecuted = true;
    for (auto [index, argument] : llvm::enumerate(run->instance.getDescription().arguments))
      if (argument.isDonated)
        run->isSet[index] = false;
    return Error::success();
  });
}

bool rematStepRunGetResult(RematStepRun *run, int64_t index, void *data, size_t bytes,
                           char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(run, "run"))
      return failure;
    const std::vector<ResultInfo> &results = run->instance.getDescription().results;
    if (Error failure = checkIndex("result", index, results.size()))
      return failure;
    if (Error failure = checkBytes(data, bytes, results[index]))
      return failure;
    if (!run->isExecuted)
      return makeError("there are no results: the step was not executed since an argument was set");
    return run->instance.readResult(
        index, [&](const char *memory) { std::copy_n(memory, bytes, static_cast<char *>(data)); });
  });
}

double rematStepRunGetMilliseconds(const RematStepRun *run) {
  return run ? run->instance.getMilliseconds() : 0;
}

int64_t rematStepRunGetDeviceBytes(const RematStepRun *run) {
  return run ? run->instance.getDeviceBytes() : 0;
}
