//===- ExportProblem.cpp - A function's planning problem as a file ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/ExternalModels/Register.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "Remat/Transforms/Rematerialize.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATEXPORTPROBLEMPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct ExportProblemPass : public remat::impl::RematExportProblemPassBase<ExportProblemPass> {
  using RematExportProblemPassBase::RematExportProblemPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    RematExportProblemPassBase::getDependentDialects(registry);
    // A plugin has no other place to register them.
    registerAllExternalModels(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    FailureOr<ModelTable> table = loadModels(models, module.getLoc());
    FailureOr<Target> rates = loadTarget(target, module.getLoc());
    FailureOr<int64_t> bytes = checkAlignment(alignment.getValue(), getArgument(), module.getLoc());
    FailureOr<std::optional<CostProfile>> times = loadProfile(profile, module);
    if (failed(table) || failed(rates) || failed(bytes) || failed(times))
      return signalPassFailure();
    FailureOr<OwningOpRef<ModuleOp>> copy = getCopyToPlan(module, Fusion::None, *table);
    if (failed(copy))
      return signalPassFailure();
    FailureOr<FunctionOpInterface> selected = selectFunction(*copy ? **copy : module);
    if (failed(selected))
      return signalPassFailure();
    SymbolTableCollection symbols;
    SummaryAnalysis summaries(*table, *rates, symbols, resolveFusion(fusion, module));
    if (*times && failed(summaries.useProfile(**times, *selected)))
      return signalPassFailure();
    FailureOr<FunctionProblem> problem = buildProblem(*selected, summaries, {scope, *bytes});
    if (failed(problem))
      return signalPassFailure();
    warnAboutUncounted(*selected, *problem);
    if (failed(writeOutput(output, module.getLoc(), [&](raw_ostream &os) {
          os << planner::toJSON(problem->problem) << '\n';
        })))
      return signalPassFailure();
  }

private:
  FailureOr<FunctionOpInterface> selectFunction(ModuleOp module) const {
    SmallVector<FunctionOpInterface> candidates;
    module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface candidate) {
      bool isSelected = function.empty()
                            ? !getSkipReason(candidate, module)
                            : candidate.getName() == function && !candidate.isExternal();
      if (isSelected)
        candidates.push_back(candidate);
      return WalkResult::skip();
    });
    if (candidates.size() == 1)
      return candidates.front();
    if (!function.empty())
      return emitError(module.getLoc(),
                       candidates.empty() ? "no function" : "more than one function")
             << " with a body is named '" << function << "'";
    return emitError(module.getLoc(), "expected one function with a budget of its own, but got ")
           << candidates.size() << ": name one with 'function='";
  }
};
} // namespace
