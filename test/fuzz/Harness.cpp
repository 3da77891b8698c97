//===- Harness.cpp - Runs the passes on modules -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "Generator.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::fuzz;

//===----------------------------------------------------------------------===//
// Options and outcomes
//===----------------------------------------------------------------------===//

fuzz::PassOptions fuzz::PassOptions::any(Random &random, StringRef fusion) {
  PassOptions options;
  options.fusion = fusion.str();
  if (random.chance(15))
    options.scope = "temporaries";
  options.reorder = random.chance(70);
  options.alignment = random.pick<int64_t>({64, 64, 64, 1, 16, 256});
  options.minBytes = random.pick<StringRef>({"auto", "auto", "0B", "0B", "64B", "1KiB"}).str();
  options.effort = random.pick<int64_t>({0, 0, 0, 0, 0, 0, 0, 1});
  options.target = random.pick<StringRef>({"h100", "h100", "a100", "cpu"}).str();
  return options;
}

std::string fuzz::PassOptions::text() const {
  return llvm::formatv(
             "fusion={0} scope={1} reorder={2} alignment={3}B min-bytes={4} target={5} effort={6}",
             fusion, scope, reorder ? "true" : "false", alignment, minBytes, target, effort)
      .str();
}

int64_t Outcome::countErrors() const {
  return llvm::count_if(messages, [](const Message &message) { return message.isError; });
}

const llvm::json::Object *Outcome::find(StringRef function) const {
  const llvm::json::Object *object = report.getAsObject();
  const llvm::json::Array *functions = object ? object->getArray("functions") : nullptr;
  if (!functions)
    return nullptr;
  for (const llvm::json::Value &value : *functions)
    if (const llvm::json::Object *entry = value.getAsObject())
      if (entry->getString("name") == function)
        return entry;
  return nullptr;
}

std::string fuzz::print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  return text;
}

//===----------------------------------------------------------------------===//
// Harness
//===----------------------------------------------------------------------===//

Harness::Harness(bool liesAboutViews) : models(ModelTable::createBuiltin()) {
  static const bool once = [] {
    registerRematPasses();
    registerTransformsPasses();
    return true;
  }();
  (void)once;
  std::string text = getModelsText(liesAboutViews);
  llvm::cantFail(models.parse(text, "fuzz"));
  modelsPath = makeFile(text);
  reportPath = makeFile("");
  renewContexts();
}

Harness::~Harness() {
  for (const std::string &file : files)
    llvm::sys::fs::remove(file);
}

void Harness::renewContexts() {
  for (std::unique_ptr<MLIRContext> &context : contexts) {
    DialectRegistry registry;
    registry
        .insert<arith::ArithDialect, bufferization::BufferizationDialect, complex::ComplexDialect,
                DLTIDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                memref::MemRefDialect, RematDialect, scf::SCFDialect, tensor::TensorDialect>();
    registerAllExternalModels(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->allowUnregisteredDialects();
    context->loadAllAvailableDialects();
  }
}

std::string Harness::makeFile(StringRef contents) {
  llvm::SmallString<128> path;
  int descriptor = -1;
  if (llvm::sys::fs::createTemporaryFile("remat-fuzz", "json", descriptor, path))
    llvm::report_fatal_error("cannot create a temporary file");
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << contents;
  files.push_back(path.str().str());
  return files.back();
}

OwningOpRef<ModuleOp> Harness::parse(StringRef text, unsigned context) {
  return parseSourceString<ModuleOp>(text, ParserConfig(contexts[context].get()));
}

namespace {
/// Collects the diagnostics of a context.
class Collector {
public:
  Collector(MLIRContext *context, std::vector<Message> &messages)
      : handler(context, [&messages](Diagnostic &diagnostic) {
          Message message{
              diagnostic.getSeverity() == DiagnosticSeverity::Error, diagnostic.str(), {}};
          for (Diagnostic &note : diagnostic.getNotes())
            message.notes.push_back(note.str());
          messages.push_back(std::move(message));
          return success();
        }) {}

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

bool Harness::run(ModuleOp module, StringRef pipeline, std::string *errors) {
  std::vector<Message> messages;
  Collector collector(module.getContext(), messages);
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  bool succeeded =
      mlir::succeeded(parsePassPipeline(pipeline, manager)) && mlir::succeeded(manager.run(module));
  if (errors)
    for (const Message &message : messages)
      *errors += message.text + "\n";
  return succeeded;
}

Outcome Harness::rematerialize(ModuleOp module, const PassOptions &options, StringRef budget,
                               StringRef onInfeasible) {
  Outcome outcome;
  outcome.module = module.clone();
  // A report that is not written must not look like the previous one.
  llvm::sys::fs::remove(reportPath);
  {
    Collector collector(module.getContext(), outcome.messages);
    PassManager manager(module.getContext(), ModuleOp::getOperationName());
    std::string pipeline =
        llvm::formatv("rematerialize{{budget={0} {1} models={2} report={3} on-infeasible={4}}",
                      budget, options.text(), modelsPath, reportPath, onInfeasible)
            .str();
    outcome.succeeded = mlir::succeeded(parsePassPipeline(pipeline, manager)) &&
                        mlir::succeeded(manager.run(*outcome.module));
  }
  outcome.text = print(*outcome.module);
  if (auto buffer = llvm::MemoryBuffer::getFile(reportPath)) {
    outcome.reportText = (*buffer)->getBuffer().str();
    if (llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(outcome.reportText))
      outcome.report = std::move(*parsed);
    else
      llvm::consumeError(parsed.takeError());
  }
  return outcome;
}

RematerializeOptions Harness::getLibraryOptions(const PassOptions &options) const {
  RematerializeOptions result;
  result.scope = options.scope == "total" ? Scope::Total : Scope::Temporaries;
  result.reorder = options.reorder;
  result.target = llvm::cantFail(Target::get(options.target));
  result.models = &models;
  result.alignment = options.alignment;
  result.fusion = options.isForXLA() ? Fusion::XLA : Fusion::None;
  return result;
}
