//===- FitArena.cpp - From a budget to an arena that is within it -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offsets are planned twice: on tensors, to know that a plan fits, and on the buffers that
// are left in the end. The second may be worse by some gaps between buffers, which the
// first did not have; a smaller budget makes room for them. It may be better, where clones
// are computed inside of their readers: the smallest plan may fit although the planner,
// which counts them, says that it does not.
//
//===----------------------------------------------------------------------===//

#include "Remat/Pipelines/FitArena.h"

#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Conversion/SplitReductions.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/TypeSize.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Transforms/Bufferize.h"
#include "Remat/Transforms/Fuse.h"
#include "Remat/Transforms/PassUtils.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATFITARENAPASS
#include "Remat/Pipelines/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// How often everything is done, each time with smaller budgets.
static constexpr int kNumRounds = 4;
/// How often more is recomputed in a function that does not fit.
static constexpr int kNumPasses = 4;

static int64_t getAttribute(func::FuncOp function, StringRef name) {
  return function->getAttrOfType<IntegerAttr>(name).getInt();
}

/// Bytes of the arguments but for an arena, and of the constants, each aligned.
static int64_t getFixedBytes(func::FuncOp function, int64_t alignment) {
  DataLayout layout = DataLayout::closest(function);
  int64_t sum = 0;
  for (BlockArgument argument : function.getArguments())
    if (!function.getArgAttr(argument.getArgNumber(), RematDialect::getArenaAttrName()))
      sum += planner::align(getStorageBytes(argument.getType(), layout).value_or(0), alignment);
  return sum + planner::align(getConstantBytes(function), alignment);
}

namespace {
/// A module in which everything is rewritten, and what its functions take.
struct Attempt {
  OwningOpRef<ModuleOp> module;
  std::vector<FittedFunction> functions;
  /// By function: the packed peak of its plan, before what is recomputed inside of readers
  /// is taken out.
  std::vector<int64_t> plannedBytes;
};

class ArenaFitter {
public:
  ArenaFitter(ModuleOp module, const FitOptions &options) : module(module), options(options) {}

  FailureOr<std::vector<FittedFunction>> run() {
    // What does not depend on budgets is done once.
    OwningOpRef<ModuleOp> start(module.clone());
    if (isFusing() && failed(fuse(*start, getModels())))
      return failure();
    profile = options.rematerialize.profile;
    if (options.libraries != Libraries::CPU)
      split(*start);
    setWorkspace(*start, options.libraries);
    FailureOr<Attempt> attempt = makeAttempt(*start);
    if (failed(attempt))
      return failure();
    for (int round = 1; succeeded(attempt); ++round) {
      last = attempt->functions;
      bool isAboveBudget = llvm::any_of(
          last, [](const FittedFunction &function) { return getExcess(function) > 0; });
      if (!isAboveBudget) {
        module.getBodyRegion().takeBody(attempt->module->getBodyRegion());
        return last;
      }
      if (round == kNumRounds || !lowerTargets(*attempt))
        break;
      // That a smaller budget cannot be met is no news.
      ScopedDiagnosticHandler handler(module.getContext(), [](Diagnostic &) { return success(); });
      attempt = makeAttempt(*start);
    }
    return diagnose();
  }

private:
  bool isFusing() const { return options.fusion != Fusion::None; }
  const ModelTable &getModels() const {
    return options.rematerialize.models ? *options.rematerialize.models : ModelTable::getBuiltin();
  }

  /// Splits reductions; a profile is then of the split functions, where it was of the whole.
  void split(ModuleOp start) {
    auto function = profile ? start.lookupSymbol<func::FuncOp>(profile->function) : func::FuncOp();
    llvm::DenseMap<Operation *, OperationTime> times;
    bool isMeasured = function && !function.isExternal() &&
                      function.front().getOperations().size() == profile->operations.size();
    if (isMeasured)
      for (auto [op, time] : llvm::zip_equal(function.front(), profile->operations))
        times[&op] = time;
    splitReductions(start, options.libraries, [&](Operation *whole, Operation *parts) {
      if (auto it = times.find(whole); it != times.end()) {
        OperationTime time = it->second;
        times.erase(it);
        times[parts] = time;
      }
    });
    if (!isMeasured)
      return;
    CostProfile &changed = splitProfile.emplace();
    changed.function = profile->function;
    for (Operation &op : function.front()) {
      auto it = times.find(&op);
      changed.operations.push_back(
          it == times.end() ? OperationTime{op.getName().getStringRef().str()} : it->second);
    }
    profile = &changed;
  }

  /// Bytes above the budget of a function.
  static int64_t getExcess(const FittedFunction &function) {
    return function.budgetBytes ? std::max<int64_t>(0, function.takenBytes - *function.budgetBytes)
                                : 0;
  }

  /// Aims lower where a budget is missed; false if nothing smaller is known there.
  bool lowerTargets(const Attempt &attempt) {
    targets.resize(attempt.functions.size());
    for (auto [target, function, planned] :
         llvm::zip_equal(targets, attempt.functions, attempt.plannedBytes)) {
      int64_t excess = getExcess(function);
      if (excess == 0)
        continue;
      int64_t current = target.value_or(*function.budgetBytes);
      if (planned > current)
        return false;
      target = std::max<int64_t>(current - excess, 1);
    }
    return true;
  }

  /// Plans a function: with the cheapest plan for the smallest budget known to be feasible
  /// where that is above the one that is asked for. What is said then is kept for later.
  FailureOr<PlannedFunction> plan(func::FuncOp function, RematerializeOptions how,
                                  bool keepsRefusal) {
    SymbolTableCollection symbols;
    how.onInfeasible = OnInfeasible::Error;
    FailureOr<PlannedFunction> planned = planFunction(function, how, symbols);
    if (failed(planned) || planned->report.status != PlanStatus::Infeasible)
      return planned;
    if (keepsRefusal) {
      ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
        refusals.emplace_back(function.getSymName().str(), std::move(diagnostic));
        return success();
      });
      diagnoseInfeasible(*planned, how, symbols);
    }
    std::optional<int64_t> budget = planned->report.budgetBytes;
    how.onInfeasible = OnInfeasible::Warn;
    how.budget = {Budget::Kind::Bytes, planned->report.minimumKnownBytes};
    planned = planFunction(function, how, symbols);
    if (succeeded(planned))
      planned->report.budgetBytes = budget;
    return planned;
  }

  /// Rewrites a function for a budget, or the one of the options. Where it does not fit, but
  /// clones that went into their readers have left room, more is recomputed in what it has
  /// become.
  LogicalResult rewrite(func::FuncOp function, std::optional<int64_t> target, Attempt &attempt) {
    FittedFunction &fitted = attempt.functions.emplace_back();
    int64_t &plannedBytes = attempt.plannedBytes.emplace_back();
    RematerializeOptions how = options.rematerialize;
    how.profile = profile;
    if (target)
      how.budget = {Budget::Kind::Bytes, *target};
    for (int pass = 0; pass < kNumPasses; ++pass) {
      FailureOr<PlannedFunction> chosen = plan(function, how, targets.empty() && pass == 0);
      SymbolTableCollection symbols;
      if (failed(chosen) || failed(applyPlannedFunction(*chosen, how, symbols)))
        return failure();
      emitRemarks(*chosen);
      const FunctionReport &report = chosen->report;
      int64_t before = pass == 0 ? report.baselinePackedBytes : fitted.predictedBytes;
      if (pass == 0)
        fitted = {report.name, report.budgetBytes, before, 0, 0, report.cost, 0};
      fitted.addedCost += report.addedCost;
      plannedBytes = report.packedBytes;
      if (isFusing() && failed(fuseClones(function, getModels())))
        return failure();
      FailureOr<Peaks> peaks = measurePeaks(function, how, symbols);
      if (failed(peaks))
        return failure();
      fitted.predictedBytes = peaks->packedBytes;
      bool leftRoom = fitted.predictedBytes < plannedBytes && fitted.predictedBytes < before;
      if (!leftRoom || fitted.predictedBytes <= report.budgetBytes.value_or(before))
        break;
      how.budget = {Budget::Kind::Bytes, *report.budgetBytes};
      // It is of the function as it was.
      how.profile = nullptr;
    }
    return success();
  }

  /// Everything once, with the targets of this round.
  FailureOr<Attempt> makeAttempt(ModuleOp start) {
    Attempt attempt;
    attempt.module = start.clone();
    ModuleOp candidate = *attempt.module;
    SmallVector<func::FuncOp> planned;
    for (auto function : candidate.getOps<func::FuncOp>())
      if (!getSkipReason(function, candidate))
        planned.push_back(function);
    for (auto [index, function] : llvm::enumerate(planned)) {
      bool hasTarget = index < targets.size();
      if (failed(rewrite(function, hasTarget ? targets[index] : std::nullopt, attempt)))
        return failure();
      if (!last.empty())
        attempt.functions.back().budgetBytes = last[index].budgetBytes;
    }
    ArenaOptions arena;
    arena.alignment = options.rematerialize.alignment;
    arena.results = options.results;
    // As small as predicted, which is within the budget.
    arena.getCapacity = [&](func::FuncOp function) -> int64_t {
      for (const FittedFunction &fitted : attempt.functions)
        if (fitted.name == function.getSymName())
          return fitted.predictedBytes - getFixedBytes(function, arena.alignment);
      return 0;
    };
    if (failed(bufferize(candidate, getModels())))
      return failure();
    convertToLibraryCalls(candidate, options.libraries);
    if (failed(planArenas(candidate, arena,
                          [](func::FuncOp, const ArenaPlan &) { return success(); })))
      return failure();
    for (auto [function, fitted] : llvm::zip_equal(planned, attempt.functions))
      fitted.takenBytes = getFixedBytes(function, arena.alignment) +
                          getAttribute(function, RematDialect::getArenaBytesAttrName());
    for (auto function : candidate.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(verifyArena(function)))
        return failure();
    return attempt;
  }

  LogicalResult diagnose() {
    for (const FittedFunction &function : last) {
      if (getExcess(function) == 0)
        continue;
      bool isRefused = false;
      for (auto &[name, diagnostic] : refusals)
        if (name == function.name) {
          diagnostic.attachNote() << "with what is recomputed inside of its readers, the arena, "
                                     "arguments and constants of the smallest plan take "
                                  << function.takenBytes << " bytes";
          module.getContext()->getDiagEngine().emit(std::move(diagnostic));
          isRefused = true;
        }
      if (!isRefused)
        module.emitError("the arena, arguments and constants of '")
            << function.name << "' take " << function.takenBytes
            << " bytes, which is above the budget of " << *function.budgetBytes
            << " bytes, although " << function.predictedBytes << " bytes were predicted";
      return failure();
    }
    return failure();
  }

  ModuleOp module;
  const FitOptions &options;
  /// The costs that were measured, or null; and what they are where reductions are split.
  const CostProfile *profile = nullptr;
  std::optional<CostProfile> splitProfile;
  /// Of the round before.
  std::vector<FittedFunction> last;
  /// What to aim at instead of the budget of each function.
  std::vector<std::optional<int64_t>> targets;
  /// By function that the planner refuses: what is said if nothing helps.
  std::vector<std::pair<std::string, Diagnostic>> refusals;
};
} // namespace

FailureOr<std::vector<FittedFunction>> mlir::remat::fitArenas(ModuleOp module,
                                                              const FitOptions &options) {
  return ArenaFitter(module, options).run();
}

namespace {
struct FitArenaPass : public remat::impl::RematFitArenaPassBase<FitArenaPass> {
  using RematFitArenaPassBase::RematFitArenaPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    RematFitArenaPassBase::getDependentDialects(registry);
    registerAllExternalModels(registry);
  }

  void runOnOperation() override {
    Location loc = getOperation().getLoc();
    FailureOr<ModelTable> table = loadModels(models, loc);
    FailureOr<Target> costs = loadTarget(target, loc);
    FailureOr<std::optional<CostProfile>> times = loadProfile(profile, getOperation());
    FailureOr<int64_t> checkedAlignment = checkAlignment(alignment.getValue(), getArgument(), loc);
    if (failed(table) || failed(costs) || failed(times) || failed(checkedAlignment))
      return signalPassFailure();
    FitOptions options;
    options.rematerialize.budget = budget;
    options.rematerialize.target = *costs;
    options.rematerialize.profile = *times ? &**times : nullptr;
    options.rematerialize.models = &*table;
    options.rematerialize.alignment = *checkedAlignment;
    options.rematerialize.search.effort = effort;
    options.results = results;
    options.fusion = fusion;
    options.libraries = libraries;
    if (failed(fitArenas(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace
