//===- VerifyBudget.cpp - Check that functions fit a budget -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/ExternalModels/Register.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "Remat/Transforms/Rematerialize.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATVERIFYPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct VerifyBudgetPass : public remat::impl::RematVerifyPassBase<VerifyBudgetPass> {
  using RematVerifyPassBase::RematVerifyPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    RematVerifyPassBase::getDependentDialects(registry);
    registerAllExternalModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (budget.getValue().kind != Budget::Kind::Bytes) {
      emitError(module.getLoc(), "remat-verify: expected a budget in bytes, but got '")
          << toString(budget.getValue()) << "'";
      return signalPassFailure();
    }
    FailureOr<ModelTable> table = loadModels(models, module.getLoc());
    FailureOr<int64_t> checkedAlignment =
        checkAlignment(alignment.getValue(), getArgument(), module.getLoc());
    if (failed(table) || failed(checkedAlignment))
      return signalPassFailure();
    RematerializeOptions options;
    options.fusion = resolveFusion(fusion, module);
    FailureOr<OwningOpRef<ModuleOp>> copy = getCopyToPlan(module, options.fusion, *table);
    if (failed(copy))
      return signalPassFailure();
    if (*copy)
      module = **copy;
    options.scope = scope;
    options.target = llvm::cantFail(Target::get("h100"));
    options.models = &*table;
    options.alignment = *checkedAlignment;

    SymbolTableCollection symbols;
    bool allFit = true;
    module.walk([&](FunctionOpInterface function) {
      if (getSkipReason(function, module))
        return WalkResult::skip();
      FailureOr<Peaks> peaks = measurePeaks(function, options, symbols, /*warn=*/true);
      if (succeeded(peaks) && peaks->packedBytes <= budget.getValue().amount)
        return WalkResult::skip();
      allFit = false;
      if (succeeded(peaks))
        emitError(function.getLoc(), "function '")
            << function.getName() << "' exceeds the budget of " << budget.getValue().amount
            << " bytes: its packed peak is " << peaks->packedBytes << " bytes, its live peak "
            << peaks->liveBytes << " bytes";
      return WalkResult::skip();
    });
    if (!allFit)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
