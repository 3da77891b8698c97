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
#include "mlir/Analysis/CallGraph.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// Calls `visit` with the functions of `module` that are not inside of others.
template <typename Fn>
static void forEachFunction(ModuleOp module, Fn visit) {
  module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    visit(function);
    return WalkResult::skip();
  });
}

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

/// The same functions, with callees in front of their callers where they don't call
/// each other.
static SmallVector<FunctionOpInterface> getCalleesFirst(ModuleOp module) {
  llvm::SetVector<Operation *> functions, ordered;
  forEachFunction(module, [&](FunctionOpInterface function) { functions.insert(function); });
  const CallGraph calls(module);
  for (auto component = llvm::scc_begin(&calls); !component.isAtEnd(); ++component)
    for (CallGraphNode *node : *component)
      if (!node->isExternal() && functions.contains(node->getCallableRegion()->getParentOp()))
        ordered.insert(node->getCallableRegion()->getParentOp());
  // Declarations, and what nobody may call.
  ordered.insert(functions.begin(), functions.end());
  return llvm::map_to_vector(ordered, [](Operation *op) { return cast<FunctionOpInterface>(op); });
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
    llvm::DenseMap<Operation *, PlannedFunction> plans;
    // Bodies of functions that were rewritten before all others were planned.
    llvm::MapVector<Operation *, OwningOpRef<Operation *>> originals;
    auto fail = [&] {
      for (auto &[function, original] : originals)
        cast<FunctionOpInterface>(function).getFunctionBody().takeBody(
            cast<FunctionOpInterface>(*original).getFunctionBody());
      signalPassFailure();
    };
    bool isInfeasible = false;
    SmallVector<FunctionOpInterface> functions = getCalleesFirst(module);
    llvm::erase_if(functions, [&](FunctionOpInterface function) {
      return getSkipReason(function, module).has_value();
    });
    // What the others need as long as nothing is rewritten.
    llvm::DenseMap<Operation *, Peaks> unchanged;
    for (FunctionOpInterface function : functions) {
      auto known = unchanged.find(function);
      FailureOr<PlannedFunction> planned =
          planFunction(function, options, symbols,
                       known == unchanged.end() ? std::nullopt : std::optional(known->second));
      if (failed(planned))
        return fail();
      if (planned->report.status == PlanStatus::Infeasible) {
        isInfeasible = true;
        diagnoseInfeasible(*planned, options, symbols);
      }
      // What a caller needs is what its callee needs in the end.
      if (planned->solution && !SymbolTable::symbolKnownUseEmpty(function, module)) {
        if (unchanged.empty())
          for (FunctionOpInterface other : functions)
            if (FailureOr<Peaks> peaks = measurePeaks(other, options, symbols); succeeded(peaks))
              unchanged[other] = *peaks;
        originals[function] = function->clone();
        if (failed(applyPlannedFunction(*planned, options, symbols)))
          return fail();
      }
      plans.try_emplace(function, std::move(*planned));
    }

    Report result;
    SmallVector<PlannedFunction *> inOrder;
    SmallVector<FunctionOpInterface> called;
    forEachFunction(module, [&](FunctionOpInterface function) {
      if (auto it = plans.find(function); it != plans.end()) {
        inOrder.push_back(&it->second);
        result.functions.push_back(it->second.report);
        return;
      }
      if (!function.isExternal())
        called.push_back(function);
      FunctionReport skipped;
      skipped.name = function.getName().str();
      skipped.reason = *getSkipReason(function, module);
      result.functions.push_back(std::move(skipped));
    });
    if (failed(writeReport(result, module.getLoc())) ||
        (isInfeasible && onInfeasible == OnInfeasible::Error))
      return fail();
    for (PlannedFunction *planned : inOrder) {
      if (!originals.contains(planned->function) &&
          failed(applyPlannedFunction(*planned, options, symbols)))
        return fail();
      emitRemarks(*planned);
      warnAboutCSE(*planned, options, symbols);
    }
    eraseUncalled(called, module);
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
