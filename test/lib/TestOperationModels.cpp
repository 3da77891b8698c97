//===- TestOperationModels.cpp - Prints the models of operations ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One remark for each operation that has something to say, from the interface or
// from a models file:
//
//     model: pure, flops = 64 (f32), bytes = 768, result 0: reuse of operand 2
//
// Modules, functions, operations without results, effects and cost (terminators),
// and what is inside of regions for single elements are left out. Kinds of a model that are the
// rule are not printed: results with a storage of their own, one trip, no workspace.
//
//===----------------------------------------------------------------------===//

#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;

static StringRef getName(EffectKind effects) {
  switch (effects) {
  case EffectKind::Pure:
    return "pure";
  case EffectKind::Reads:
    return "reads";
  case EffectKind::Ordered:
    return "ordered";
  }
  llvm_unreachable("all kinds are handled");
}

static std::string describe(const ResultStorage &storage) {
  std::string text = ", result " + std::to_string(storage.result) + ": ";
  switch (storage.kind) {
  case ResultStorage::Kind::View:
    return text + "view of operand " + std::to_string(storage.operand);
  case ResultStorage::Kind::Reuse:
    return text + "reuse of operand " + std::to_string(storage.operand);
  case ResultStorage::Kind::None:
    return text + "none";
  case ResultStorage::Kind::Constant:
    return text + "constant";
  }
  llvm_unreachable("all kinds are handled");
}

static std::string describe(const OperationModel &model) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "model: " << getName(model.effects);
  if (model.recursive)
    stream << ", recursive";
  if (model.perElementRegions)
    stream << ", per element";
  if (model.overridable)
    stream << ", overridable";
  if (model.costIsKnown) {
    stream << ", flops = " << model.flops;
    if (model.flopsType)
      stream << " (" << model.flopsType << ")";
    stream << ", bytes = " << model.bytesMoved;
  } else {
    stream << ", cost unknown";
  }
  if (!model.tripCount)
    stream << ", trips unknown";
  else if (*model.tripCount != 1)
    stream << ", trips = " << *model.tripCount;
  if (model.workspaceBytes != 0)
    stream << ", workspace = " << model.workspaceBytes;
  for (const ResultStorage &storage : model.storage)
    stream << describe(storage);
  if (!model.unreadOperands.empty()) {
    stream << ", unread ";
    llvm::interleave(model.unreadOperands, stream, " ");
  }
  if (!model.whyNot.empty())
    stream << ", it " << model.whyNot;
  return text;
}

/// Whether nothing about the operation is of interest.
static bool isSilent(Operation *op, const OperationModel &model) {
  return op->getNumResults() == 0 && model.isPure() && !model.recursive && model.costIsKnown &&
         model.flops == 0 && model.bytesMoved == 0;
}

namespace {
struct TestOperationModelsPass
    : public PassWrapper<TestOperationModelsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestOperationModelsPass)

  TestOperationModelsPass() = default;
  TestOperationModelsPass(const TestOperationModelsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-remat-operation-models"; }
  StringRef getDescription() const final { return "Print the model of each operation"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registerAllExternalModels(registry);
  }

  void runOnOperation() final {
    ModelTable table = ModelTable::createBuiltin();
    if (!models.empty()) {
      if (llvm::Error error = table.parseFile(models)) {
        emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
        return signalPassFailure();
      }
    }
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ModuleOp, FunctionOpInterface>(op))
        return WalkResult::advance();
      // At the location, not the operation: the latter prints it, numbers and all.
      std::optional<OperationModel> model = lookupModel(op, table);
      if (!model)
        emitRemark(op->getLoc()) << "no model";
      else if (!isSilent(op, *model))
        emitRemark(op->getLoc()) << describe(*model);
      return model && model->perElementRegions ? WalkResult::skip() : WalkResult::advance();
    });
    markAllAnalysesPreserved();
  }

  Option<std::string> models{*this, "models", llvm::cl::desc("A models file to read")};
};
} // namespace

namespace mlir::remat::test {
void registerTestOperationModelsPass() { PassRegistration<TestOperationModelsPass>(); }
} // namespace mlir::remat::test
