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
#include "Remat/Support/CSV.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "Remat/Transforms/Rematerialize.h"
#include "Remat/Transforms/SymbolReferences.h"
#include "llvm/Support/FormatVariadic.h"
#include <thread>

namespace mlir::remat {
#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// Erases private functions whose calls have been erased, so that they don't turn
/// into functions with a budget of their own.
static void eraseUncalled(MutableArrayRef<FunctionOpInterface> called, ModuleOp module) {
  llvm::StringSet<> hidden = listHiddenReferences(module);
  for (bool changed = true; changed;) {
    changed = false;
    for (FunctionOpInterface &function : called) {
      if (!function || hidden.contains(function.getName()) ||
          !SymbolTable::symbolKnownUseEmpty(function, module))
        continue;
      function->erase();
      function = nullptr;
      changed = true;
    }
  }
}

static double getPercent(const PlannedFunction &planned, const FrontPoint &point) {
  return 100 * getOverhead(point.addedCost, planned.report.cost);
}

/// A field of CSV, in quotes where it needs them.
static std::string quoteForCSV(StringRef text) {
  return text.find_first_of(",\"\r\n") == StringRef::npos ? text.str() : quoteCSV(text);
}

static void printFronts(ArrayRef<PlannedFunction> plans, raw_ostream &os) {
  os << "function,packed_bytes,added_cost_ps,overhead_percent\n";
  for (const PlannedFunction &planned : plans)
    for (const FrontPoint &point : planned.front)
      os << llvm::formatv("{0},{1},{2},{3:f4}\n", quoteForCSV(planned.report.name),
                          point.packedBytes, point.addedCost, getPercent(planned, point));
}

static llvm::json::Value frontsToJSON(ArrayRef<PlannedFunction> plans) {
  llvm::json::Array functions;
  for (const PlannedFunction &planned : plans) {
    llvm::json::Array points;
    for (const FrontPoint &point : planned.front)
      points.push_back(llvm::json::Object{{"packed_bytes", point.packedBytes},
                                          {"added_cost_ps", point.addedCost},
                                          {"overhead_percent", getPercent(planned, point)}});
    functions.push_back(
        llvm::json::Object{{"name", planned.report.name}, {"points", std::move(points)}});
  }
  return llvm::json::Object{{"version", 1}, {"functions", std::move(functions)}};
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
    bool hasBudget = budget.getValue().kind != Budget::Kind::None;
    bool hasLimit = maxOverhead.getValue().amount.has_value();
    if (hasBudget && hasLimit) {
      emitError(module.getLoc(), "rematerialize: 'budget' and 'max-overhead' are two questions: "
                                 "give one");
      return signalPassFailure();
    }
    if (!plan.empty() && !pareto.empty()) {
      emitError(module.getLoc(), "rematerialize: 'plan' is applied without a search, and 'pareto' "
                                 "asks for one: give one");
      return signalPassFailure();
    }
    if (effort < 0 || effort > planner::kMaxEffort) {
      emitError(module.getLoc(), "rematerialize: expected 'effort' to be from 0 to ")
          << planner::kMaxEffort << ", but got " << effort.getValue();
      return signalPassFailure();
    }
    if (!hasBudget && !hasLimit && plan.empty() && pareto.empty())
      emitWarning(module.getLoc(), "rematerialize: no budget given, nothing is changed");
    std::optional<PlanFile> given;
    if (!plan.empty()) {
      llvm::Expected<PlanFile> file = PlanFile::read(plan);
      if (!file) {
        emitError(module.getLoc(), "rematerialize: ") << llvm::toString(file.takeError());
        return signalPassFailure();
      }
      given = std::move(*file);
    }
    FailureOr<ModelTable> table = loadModels(models, module.getLoc());
    FailureOr<Target> rates = loadTarget(target, module.getLoc());
    FailureOr<std::optional<CostProfile>> times = loadProfile(profile, module);
    FailureOr<int64_t> checkedAlignment =
        checkAlignment(alignment.getValue(), getArgument(), module.getLoc());
    if (failed(table) || failed(rates) || failed(times) || failed(checkedAlignment))
      return signalPassFailure();
    RematerializeOptions options = getOptions(*rates, *table);
    options.fusion = resolveFusion(fusion, module);
    options.profile = *times ? &**times : nullptr;
    options.alignment = *checkedAlignment;
    options.plans = given ? &*given : nullptr;

    // What has been put together stays so only if something is recomputed.
    FailureOr<OwningOpRef<ModuleOp>> copy = getCopyToPlan(module, options.fusion, *table);
    if (failed(copy))
      return signalPassFailure();
    if (*copy)
      module = **copy;
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
    bool isApplied = !isRefused && succeeded(applyAll(module, plans, options, symbols));
    for (auto [position, planned] : llvm::zip_equal(positions, plans))
      result.functions[position] = planned.report;
    if (failed(writeReport(result, module.getLoc())) ||
        failed(writeFronts(plans, module.getLoc())) || !isApplied ||
        failed(writePlans(plans, module.getLoc())))
      return signalPassFailure();
    for (const PlannedFunction &planned : plans) {
      emitRemarks(planned);
      warnAboutCSE(planned, options, symbols);
    }
    eraseUncalled(called, module);
    if (*copy && llvm::any_of(plans, [](const PlannedFunction &planned) {
          return planned.solution.has_value();
        }))
      getOperation().getBodyRegion().takeBody(module.getBodyRegion());
  }

private:
  LogicalResult applyAll(ModuleOp module, MutableArrayRef<PlannedFunction> plans,
                         const RematerializeOptions &options, SymbolTableCollection &symbols) {
    bool hasNewCallee = false;
    for (PlannedFunction &planned : plans) {
      if (failed(applyPlannedFunction(planned, options, symbols)))
        return failure();
      hasNewCallee |=
          planned.solution && !SymbolTable::symbolKnownUseEmpty(planned.function, module);
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

  /// Writes what smaller peaks cost, function by function.
  LogicalResult writeFronts(ArrayRef<PlannedFunction> plans, Location loc) const {
    if (pareto.empty())
      return success();
    return writeOutput(pareto, loc, [&](raw_ostream &os) {
      if (StringRef(pareto).ends_with(".json"))
        os << llvm::formatv("{0:2}", frontsToJSON(plans)) << '\n';
      else
        printFronts(plans, os);
    });
  }

  LogicalResult writePlans(ArrayRef<PlannedFunction> plans, Location loc) const {
    if (planOutput.empty())
      return success();
    PlanFile file;
    for (const PlannedFunction &planned : plans)
      file.add(planned.report.name, planned.problem.problem,
               planned.solution ? planned.solution->plan
                                : planner::identityPlan(planned.problem.problem));
    return writeOutput(planOutput, loc, [&](raw_ostream &os) { file.print(os); });
  }

  RematerializeOptions getOptions(const Target &rates, const ModelTable &table) {
    RematerializeOptions options;
    options.budget = budget;
    options.scope = scope;
    options.onInfeasible = onInfeasible;
    options.reorder = reorder;
    options.target = rates;
    options.models = &table;
    options.minBytes = minBytes.getValue().bytes;
    options.search.solver = solver;
    options.search.effort = effort;
    if (getContext().isMultithreadingEnabled())
      options.search.numThreads = std::max(1u, std::thread::hardware_concurrency());
    options.maxOverhead = maxOverhead;
    options.wantsFront = !pareto.empty();
    options.wantsDetails = reportDetails;
    return options;
  }
};
} // namespace
