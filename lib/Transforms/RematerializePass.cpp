//===- RematerializePass.cpp - Recompute values to fit a budget -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the options, plans every function, and applies the plans when all
// budgets are met.
//
//===----------------------------------------------------------------------===//

#include "Remat/ExternalModels/Register.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "Remat/Transforms/Rematerialize.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct RematerializePass : public remat::impl::RematerializePassBase<RematerializePass> {
  using RematerializePassBase::RematerializePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    RematerializePassBase::getDependentDialects(registry);
    // A plugin has no other place to register them.
    registerAllExternalModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (budget.getValue().kind == Budget::Kind::None)
      emitWarning(module.getLoc(), "rematerialize: no budget given, nothing is changed");
    FailureOr<ModelTable> table = loadModels(models, module.getLoc());
    FailureOr<Target> rates = loadTarget(target, module.getLoc());
    FailureOr<int64_t> checkedAlignment =
        checkAlignment(alignment.getValue(), getArgument(), module.getLoc());
    if (failed(table) || failed(rates) || failed(checkedAlignment))
      return signalPassFailure();
    RematerializeOptions options = getOptions(*rates, *table);
    options.alignment = *checkedAlignment;

    SymbolTableCollection symbols;
    std::vector<PlannedFunction> plans;
    Report result;
    bool isInfeasible = false;
    WalkResult walk = module.walk([&](FunctionOpInterface function) {
      if (std::optional<std::string> reason = getSkipReason(function, module)) {
        FunctionReport skipped;
        skipped.name = function.getName().str();
        skipped.reason = *reason;
        result.functions.push_back(std::move(skipped));
        return WalkResult::skip();
      }
      FailureOr<PlannedFunction> planned = planFunction(function, options, symbols);
      if (failed(planned))
        return WalkResult::interrupt();
      if (planned->report.status == PlanStatus::Infeasible) {
        isInfeasible = true;
        diagnoseInfeasible(*planned, options);
      }
      result.functions.push_back(planned->report);
      plans.push_back(std::move(*planned));
      return WalkResult::skip();
    });
    if (walk.wasInterrupted() || failed(writeReport(result, module.getLoc())))
      return signalPassFailure();
    if (isInfeasible && onInfeasible == OnInfeasible::Error)
      return signalPassFailure();
    for (PlannedFunction &planned : plans)
      if (failed(applyPlannedFunction(planned, options, symbols)))
        return signalPassFailure();
  }

private:
  LogicalResult writeReport(const Report &result, Location loc) const {
    if (report.empty())
      return success();
    if (report == "-") {
      print(result, llvm::errs());
      return success();
    }
    return writeOutput(report, loc, [&](raw_ostream &os) {
      os << llvm::formatv("{0:2}", toJSON(result)) << '\n';
    });
  }

  RematerializeOptions getOptions(const Target &rates, const ModelTable &table) const {
    RematerializeOptions options;
    options.budget = budget;
    options.scope = scope;
    options.onInfeasible = onInfeasible;
    options.reorder = reorder;
    options.target = rates;
    options.models = &table;
    options.minBytes = minBytes.getValue().bytes;
    return options;
  }
};
} // namespace
