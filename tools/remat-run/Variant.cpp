//===- Variant.cpp - A training step, compiled and executed -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Variant.h"

#include "Inputs.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// What the process that executes it is told.
static ExecutionSpec makeSpec(const TrainingStep &step, const VariantOptions &options,
                              const StepDescription &description, StringRef folder) {
  ExecutionSpec spec;
  spec.variant = options.name;
  spec.step = description;
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
  return spec;
}

Expected<Variant> mlir::remat::compile(const TrainingStep &step, VariantOptions options,
                                       StringRef folder, Progress &progress) {
  options.compile.onStage = [&](StringRef stage) {
    progress.show((options.name + ": " + stage).str());
  };
  Expected<CompiledStep> compiled = compileStep(step, options.compile);
  if (!compiled)
    return compiled.takeError();
  Variant variant{options.name, std::move(*compiled), {}, {}};
  variant.spec = makeSpec(step, options, variant.compiled.description, folder);
  auto write = [](StringRef path, StringRef contents) {
    return path.empty() ? Error::success()
                        : writeOutputFile(path, [&](raw_ostream &os) { os << contents; });
  };
  StringRef object = variant.compiled.object->getBuffer();
  if (Error error = write(variant.spec.object, object))
    return error;
  if (Error error = write(options.objectPath, object))
    return error;
  if (Error error = write(options.kernelsPath, variant.compiled.deviceCode))
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
  std::string executable =
      llvm::sys::fs::getMainExecutable(program, reinterpret_cast<void *>(&executeApart));
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(output), std::nullopt};
  int code = llvm::sys::ExecuteAndWait(executable, {executable, option}, std::nullopt, redirects, 0,
                                       0, &message);
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readFile(output);
  if (!text)
    return text.takeError();
  // It says itself what is wrong with its input. An emulator says what is wrong with the code,
  // and ends the process.
  StringRef said = (*text)->getBuffer();
  if (code == EXIT_FAILURE && !said.empty() && !said.starts_with("{"))
    return makeError("{0}", said);
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
