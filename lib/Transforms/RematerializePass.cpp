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

/// Erases private functions whose calls have been erased, so that they don't turn
/// into functions with a budget of their own.
static void eraseUncalled(MutableArrayRef<FunctionOpInterface> called, ModuleOp module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (FunctionOpInterface &function : called) {
      if (!function || !SymbolTable::symbolKnownUseEmpty(function, module))
        continue;
      function->erase();
      function = nullptr;
      changed = true;
    }
  }
}

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
    Report result;
    std::vector<PlannedFunction> plans;
    // Positions in the report.
    std::vector<size_t> positions;
    SmallVector<FunctionOpInterface> called;
    bool isRefused = false;
    module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
      FunctionReport &entry = result.functions.emplace_back();
      entry.name = function.getName().str();
      if (std::optional<std::string> reason = getSkipReason(function, module)) {
        entry.reason = *reason;
        if (!function.isExternal())
          called.push_back(function);
        return WalkResult::skip();
      }
      FailureOr<PlannedFunction> planned = planFunction(function, options, symbols);
      if (failed(planned)) {
        entry.reason = "it cannot be planned, see the error";
        isRefused = true;
        return WalkResult::skip();
      }
      if (planned->report.status == PlanStatus::Infeasible) {
        diagnoseInfeasible(*planned, options, symbols);
        isRefused |= onInfeasible == OnInfeasible::Error;
      }
      entry = planned->report;
      positions.push_back(result.functions.size() - 1);
      plans.push_back(std::move(*planned));
      return WalkResult::skip();
    });
    bool isApplied = !isRefused && succeeded(applyAll(plans, options, symbols));
    for (auto [position, planned] : llvm::zip_equal(positions, plans))
      result.functions[position] = planned.report;
    if (failed(writeReport(result, module.getLoc())) || !isApplied)
      return signalPassFailure();
    for (const PlannedFunction &planned : plans) {
      emitRemarks(planned);
      warnAboutCSE(planned, options, symbols);
    }
    eraseUncalled(called, module);
  }

private:
  LogicalResult applyAll(MutableArrayRef<PlannedFunction> plans,
                         const RematerializeOptions &options, SymbolTableCollection &symbols) {
    bool hasNewCallee = false;
    for (PlannedFunction &planned : plans) {
      if (failed(applyPlannedFunction(planned, options, symbols)))
        return failure();
      hasNewCallee |=
          planned.solution && !SymbolTable::symbolKnownUseEmpty(planned.function, getOperation());
    }
    // What a caller needs in the end is what its callee needs in the end, no more
    // than was planned with.
    if (hasNewCallee)
      for (PlannedFunction &planned : plans)
        describeAgain(planned, options, symbols);
    return success();
  }

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
