//===- FitArena.cpp - From a budget to an arena that is within it -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offsets are planned twice: on tensors, to know that a plan fits, and on the buffers that
// are left in the end. The second may be worse by some gaps between buffers, which the
// first did not have; a smaller budget makes room for them.
//
//===----------------------------------------------------------------------===//

#include "Remat/Pipelines/FitArena.h"

#include "Remat/Conversion/LibraryCalls.h"
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
class ArenaFitter {
public:
  ArenaFitter(ModuleOp module, const FitOptions &options) : module(module), options(options) {}

  FailureOr<std::vector<FittedFunction>> run() {
    // What does not depend on budgets is done once.
    OwningOpRef<ModuleOp> start(module.clone());
    if (isFusing() && failed(fuse(*start, getModels())))
      return failure();
    setWorkspace(*start);
    for (int round = 0; round < kNumRounds; ++round) {
      OwningOpRef<ModuleOp> candidate(start->clone());
      std::vector<FittedFunction> functions;
      if (round == 0 && failed(attempt(*candidate, functions)))
        return failure();
      // That a smaller budget cannot be met is no news.
      if (round > 0 && failed(attemptQuietly(*candidate, functions)))
        break;
      last = std::move(functions);
      if (!lowerTargets()) {
        module.getBodyRegion().takeBody(candidate->getBodyRegion());
        return last;
      }
    }
    return diagnose();
  }

private:
  bool isFusing() const { return options.fusion != Fusion::None; }
  const ModelTable &getModels() const {
    return options.rematerialize.models ? *options.rematerialize.models : ModelTable::getBuiltin();
  }

  /// Bytes above the budget of a function.
  static int64_t getExcess(const FittedFunction &function) {
    return function.budgetBytes ? std::max<int64_t>(0, function.takenBytes - *function.budgetBytes)
                                : 0;
  }

  /// Aims lower where the last round has missed a budget; false if it has met all.
  bool lowerTargets() {
    targets.resize(last.size());
    bool isAny = false;
    for (auto [target, function] : llvm::zip_equal(targets, last)) {
      if (!function.budgetBytes)
        continue;
      int64_t excess = getExcess(function);
      target = std::max<int64_t>(target.value_or(*function.budgetBytes) - excess, 1);
      isAny |= excess > 0;
    }
    return isAny;
  }

  /// Once, with the targets of this round.
  LogicalResult attempt(ModuleOp candidate, std::vector<FittedFunction> &functions) {
    SmallVector<func::FuncOp> planned;
    for (auto function : candidate.getOps<func::FuncOp>())
      if (!getSkipReason(function, candidate))
        planned.push_back(function);
    for (auto [index, function] : llvm::enumerate(planned)) {
      RematerializeOptions how = options.rematerialize;
      if (index < targets.size() && targets[index])
        how.budget = {Budget::Kind::Bytes, *targets[index]};
      FailureOr<FunctionReport> report = rematerialize(function, how);
      if (failed(report))
        return failure();
      functions.push_back({function.getSymName().str(),
                           last.empty() ? report->budgetBytes : last[index].budgetBytes,
                           report->baselinePackedBytes, report->packedBytes, 0, report->cost,
                           report->addedCost});
    }
    ArenaOptions arena;
    arena.alignment = options.rematerialize.alignment;
    arena.results = options.results;
    // As small as predicted, which is within the budget.
    arena.getCapacity = [&](func::FuncOp function) -> int64_t {
      for (const FittedFunction &fitted : functions)
        if (fitted.name == function.getSymName())
          return fitted.predictedBytes - getFixedBytes(function, arena.alignment);
      return 0;
    };
    if (isFusing() && failed(fuseClones(candidate, getModels())))
      return failure();
    SymbolTableCollection symbols;
    for (auto [function, fitted] : llvm::zip_equal(planned, functions)) {
      FailureOr<Peaks> peaks = measurePeaks(function, options.rematerialize, symbols);
      if (failed(peaks))
        return failure();
      fitted.predictedBytes = peaks->packedBytes;
    }
    if (failed(bufferize(candidate, getModels())))
      return failure();
    convertToLibraryCalls(candidate);
    if (failed(planArenas(candidate, arena,
                          [](func::FuncOp, const ArenaPlan &) { return success(); })))
      return failure();
    for (auto [function, fitted] : llvm::zip_equal(planned, functions))
      fitted.takenBytes = getFixedBytes(function, arena.alignment) +
                          getAttribute(function, RematDialect::getArenaBytesAttrName());
    for (auto function : candidate.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(verifyArena(function)))
        return failure();
    return success();
  }

  LogicalResult attemptQuietly(ModuleOp candidate, std::vector<FittedFunction> &functions) {
    ScopedDiagnosticHandler handler(module.getContext(), [](Diagnostic &) { return success(); });
    return attempt(candidate, functions);
  }

  LogicalResult diagnose() {
    for (const FittedFunction &function : last)
      if (getExcess(function) > 0)
        return module.emitError("the arena, arguments and constants of '")
               << function.name << "' take " << function.takenBytes
               << " bytes, which is above the budget of " << *function.budgetBytes
               << " bytes, although " << function.predictedBytes << " bytes were predicted";
    return failure();
  }

  ModuleOp module;
  const FitOptions &options;
  /// Of the round before.
  std::vector<FittedFunction> last;
  /// What to aim at instead of the budget of each function.
  std::vector<std::optional<int64_t>> targets;
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
    if (failed(fitArenas(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace
