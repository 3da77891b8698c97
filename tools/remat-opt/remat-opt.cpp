//===- remat-opt.cpp - Optimizer driver -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the remat dialect, its passes and its models. Dialects that are
// not linked in are read without a flag where a models file describes them.
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/DescribedDialects.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

#ifdef REMAT_INCLUDE_TESTS
namespace mlir::remat::test {
void registerTestPasses();
} // namespace mlir::remat::test
#endif

/// The option of remat-require-models that names the models files which the passes
/// of a pipeline name. Values with blanks and lists are printed in braces.
static std::string getModelsOption(StringRef pipeline) {
  SmallVector<StringRef> files, groups;
  llvm::Regex pattern("[{ ]models=(\\{([^}]*)\\}|[^ }]+)");
  while (pattern.match(pipeline, &groups)) {
    SmallVector<StringRef> named;
    StringRef(groups[1].starts_with("{") ? groups[2] : groups[1])
        .split(named, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef file : named)
      if (!llvm::is_contained(files, file))
        files.push_back(file);
    pipeline = StringRef(groups[1].end(), pipeline.end() - groups[1].end());
  }
  return files.empty() ? "" : "models={" + llvm::join(files, ",") + "}";
}

/// Sets up a module pipeline as `config` says, behind a remat-require-models that
/// knows the models files of the others.
static LogicalResult setUpWithModels(const MlirOptMainConfig &config, PassManager &pipeline) {
  if (pipeline.getOpAnchorName() != ModuleOp::getOperationName())
    return config.setupPassPipeline(pipeline);
  pipeline.addPass(remat::createRematRequireModelsPass());
  if (failed(config.setupPassPipeline(pipeline)))
    return failure();
  std::string text;
  llvm::raw_string_ostream os(text);
  pipeline.printAsTextualPipeline(os);
  std::string options = getModelsOption(text);
  StringRef passes = text;
  if (!passes.consume_front("builtin.module(") || !passes.consume_back(")"))
    return success(); // Not a pipeline of module passes.
  if (passes.starts_with("remat-require-models"))
    return pipeline.begin()->initializeOptions(options, [](const Twine &message) {
      llvm::errs() << message << '\n';
      return failure();
    });
  // --pass-pipeline has replaced everything. Its passes cannot be moved behind
  // another, so the pipeline is written as text and read again.
  FailureOr<OpPassManager> parsed =
      parsePassPipeline("builtin.module(remat-require-models{" + options + "}" +
                        (passes.empty() ? "" : ",") + passes.str() + ")");
  if (failed(parsed))
    return failure();
  static_cast<OpPassManager &>(pipeline) = std::move(*parsed);
  return success();
}

/// Whether `text` has operations of a described dialect in their pretty form,
/// which only their own dialect could read.
static bool hasForeignPrettyForm(StringRef text) {
  llvm::Regex pattern("(^|\n)[ \t]*(%[^=\n]*= )?([a-z]+)\\.[a-z_]+[ \t(<{%]");
  SmallVector<StringRef> groups;
  while (pattern.match(text, &groups)) {
    if (remat::ModelTable::getBuiltin().describesDialect(groups[3]))
      return true;
    text = StringRef(groups[0].end() - 1, text.end() - groups[0].end() + 1);
  }
  return false;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAllPasses();
  remat::registerRematPasses();
  remat::registerRematConversionPasses();
  remat::registerRematPipelinesPasses();
  remat::registerCPUPipeline();
  remat::registerGPUPipeline();
#ifdef REMAT_INCLUDE_TESTS
  remat::test::registerTestPasses();
#endif

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllGPUToLLVMIRTranslations(registry);
  registry.insert<remat::RematDialect>();
  remat::registerBufferizableOpInterfaceExternalModels(registry);
  remat::registerAllExternalModels(registry);

  auto [inputPath, outputPath] =
      registerAndParseCLIOptions(argc, argv, "Rematerialization optimizer driver\n", registry);
  // Plugins come first.
  remat::registerDescribedDialects(registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (!config.shouldAllowUnregisteredDialects()) {
    config.allowUnregisteredDialects(true);
    config.setPassPipelineSetupFn(
        [inner = config](PassManager &pipeline) { return setUpWithModels(inner, pipeline); });
  }
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, inputPath, outputPath, registry));

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputPath, &error);
  std::unique_ptr<llvm::ToolOutputFile> output =
      input ? openOutputFile(outputPath, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << '\n';
    return EXIT_FAILURE;
  }
  // The buffer goes to the driver; the text is looked at again only on failure.
  std::string text = input->getBuffer().str();
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config))) {
    if (hasForeignPrettyForm(text))
      llvm::errs() << "note: operations of dialects that are not linked in are read in "
                      "generic form only; print it with 'stablehlo-opt "
                      "--mlir-print-op-generic', or from Python with "
                      "'module.operation.get_asm(print_generic_op_form=True)'\n";
    return EXIT_FAILURE;
  }
  output->keep();
  return EXIT_SUCCESS;
}
