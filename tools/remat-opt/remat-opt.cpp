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

#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
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

/// The models files that the passes of a pipeline name.
static SmallVector<std::string> getModelsFiles(const PassManager &pipeline) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pipeline.printAsTextualPipeline(os);
  SmallVector<std::string> files;
  StringRef rest = text;
  llvm::Regex pattern("[{ ]models=([^ }]+)");
  for (SmallVector<StringRef> groups; pattern.match(rest, &groups);) {
    if (!llvm::is_contained(files, groups[1]))
      files.push_back(groups[1].str());
    rest = StringRef(groups[1].end(), rest.end() - groups[1].end());
  }
  return files;
}

/// Reads unregistered dialects, and makes the first pass of a module pipeline
/// reject what no model describes.
static void requireModels(MlirOptMainConfig &config) {
  config.allowUnregisteredDialects(true);
  auto setup = [inner = config](PassManager &pipeline) -> LogicalResult {
    if (pipeline.getOpAnchorName() != ModuleOp::getOperationName())
      return inner.setupPassPipeline(pipeline);
    std::unique_ptr<Pass> pass = remat::createRematRequireModelsPass();
    Pass *check = pass.get();
    pipeline.addPass(std::move(pass));
    if (failed(inner.setupPassPipeline(pipeline)))
      return failure();
    SmallVector<std::string> files = getModelsFiles(pipeline);
    return check->initializeOptions(
        files.empty() ? "" : "models=" + llvm::join(files, ","),
        [](const Twine &message) -> LogicalResult {
          llvm::errs() << message << '\n';
          return failure();
        });
  };
  config.setPassPipelineSetupFn(setup);
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
#ifdef REMAT_INCLUDE_TESTS
  remat::test::registerTestPasses();
#endif

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<remat::RematDialect>();
  remat::registerBufferizableOpInterfaceExternalModels(registry);
  remat::registerAllExternalModels(registry);

  auto [inputPath, outputPath] = registerAndParseCLIOptions(
      argc, argv, "Rematerialization optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (!config.shouldAllowUnregisteredDialects())
    requireModels(config);
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
