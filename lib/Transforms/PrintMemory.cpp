//===- PrintMemory.cpp - Print what fills the memory of functions -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the options, computes a profile of each function as it stands, and
// writes them once.
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::remat {
#define GEN_PASS_DEF_PRINTMEMORYPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// Reads one role per argument; emits an error at `loc` for anything else.
static FailureOr<SmallVector<Category>> parseRoles(ArrayRef<std::string> names, Location loc) {
  SmallVector<Category> roles;
  for (StringRef name : names) {
    auto role = llvm::StringSwitch<std::optional<Category>>(name)
                    .Case("parameter", Category::Parameter)
                    .Case("optimizer_state", Category::OptimizerState)
                    .Case("input", Category::Input)
                    .Default(std::nullopt);
    if (!role)
      return emitError(loc) << "unknown role '" << name
                            << "': expected parameter, optimizer_state or input";
    roles.push_back(*role);
  }
  return roles;
}

/// Whether `number` is at least `smallest` and no larger than numbers of results and
/// rows can be; emits an error if not.
static LogicalResult checkNumber(StringRef option, int64_t number, int64_t smallest, Location loc) {
  if (number < smallest)
    return emitError(loc) << "expected '" << option << "' to be at least " << smallest
                          << ", but got " << number;
  if (number > std::numeric_limits<int32_t>::max())
    return emitError(loc) << "expected '" << option << "' to be at most "
                          << std::numeric_limits<int32_t>::max() << ", but got " << number;
  return success();
}

/// Whether what the user said about arguments and results can be true of
/// `function`; emits an error if not.
static LogicalResult checkRoles(FunctionOpInterface function, const RoleOptions &roles) {
  if (!roles.arguments.empty() && roles.arguments.size() != function.getNumArguments())
    return emitError(function.getLoc(), "function '")
           << function.getName() << "' has " << function.getNumArguments()
           << " arguments, but 'roles' names " << roles.arguments.size();
  if (roles.lossResult && *roles.lossResult >= function.getNumResults())
    return emitError(function.getLoc(), "function '")
           << function.getName() << "' has " << function.getNumResults()
           << " results, but the loss is to be result " << *roles.lossResult;
  return success();
}

namespace {
struct PrintMemoryPass : public remat::impl::PrintMemoryPassBase<PrintMemoryPass> {
  using PrintMemoryPassBase::PrintMemoryPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PrintMemoryPassBase::getDependentDialects(registry);
    // A plugin has no other place to register them.
    registerAllExternalModels(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    FailureOr<ModelTable> table = loadModels(models, module.getLoc());
    FailureOr<Target> rates = loadTarget(target, module.getLoc());
    FailureOr<int64_t> bytes = checkAlignment(alignment.getValue(), getArgument(), module.getLoc());
    FailureOr<SmallVector<Category>> arguments = parseRoles(*roles, module.getLoc());
    if (failed(checkNumber("limit", limit, 0, module.getLoc())) ||
        failed(checkNumber("loss", loss, -1, module.getLoc())) || failed(table) || failed(rates) ||
        failed(bytes) || failed(arguments))
      return signalPassFailure();
    Fusion resolved = resolveFusion(fusion, module);
    FailureOr<OwningOpRef<ModuleOp>> copy = getCopyToPlan(module, resolved, *table);
    if (failed(copy))
      return signalPassFailure();
    FailureOr<SmallVector<FunctionOpInterface>> selected = selectFunctions(*copy ? **copy : module);
    if (failed(selected))
      return signalPassFailure();
    RoleOptions roleOptions;
    roleOptions.arguments = *arguments;
    if (loss >= 0)
      roleOptions.lossResult = loss;

    SymbolTableCollection symbols;
    SummaryAnalysis summaries(*table, *rates, symbols, resolved);
    std::vector<MemoryProfile> profiles;
    for (FunctionOpInterface function : *selected) {
      FailureOr<MemoryProfile> profile = computeProfile(
          function, summaries, {scope, *bytes, {}, ExecutionOrder::Scheduled}, roleOptions);
      if (succeeded(profile))
        profiles.push_back(std::move(*profile));
      else
        signalPassFailure();
    }
    if (failed(write(profiles, module.getLoc())))
      signalPassFailure();
  }

private:
  FailureOr<SmallVector<FunctionOpInterface>> selectFunctions(ModuleOp module) const;
  FailureOr<MemoryProfile> computeProfile(FunctionOpInterface function, SummaryAnalysis &summaries,
                                          const ProblemOptions &problemOptions,
                                          const RoleOptions &roleOptions) const;
  LogicalResult write(ArrayRef<MemoryProfile> profiles, Location loc) const;
};
} // namespace

FailureOr<SmallVector<FunctionOpInterface>>
PrintMemoryPass::selectFunctions(ModuleOp module) const {
  llvm::SetVector<StringRef> missing;
  for (StringRef name : functions)
    missing.insert(name);
  bool isAll = missing.empty();
  llvm::DenseSet<StringRef> wanted(missing.begin(), missing.end());
  SmallVector<FunctionOpInterface> selected;
  module.walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (!function.isExternal() && (isAll || wanted.contains(function.getName()))) {
      selected.push_back(function);
      missing.remove(function.getName());
    }
    return WalkResult::skip();
  });
  if (!missing.empty())
    return emitError(module.getLoc(), "no function with a body is named '")
           << missing.front() << "'";
  return selected;
}

FailureOr<MemoryProfile> PrintMemoryPass::computeProfile(FunctionOpInterface function,
                                                         SummaryAnalysis &summaries,
                                                         const ProblemOptions &problemOptions,
                                                         const RoleOptions &roleOptions) const {
  if (failed(checkRoles(function, roleOptions)))
    return failure();
  FailureOr<FunctionProblem> problem = buildProblem(function, summaries, problemOptions);
  if (failed(problem))
    return failure();
  warnAboutUncounted(function, *problem);
  ValueRoles valueRoles = inferRoles(*problem, roleOptions);
  if (roleOptions.lossResult && !valueRoles.lossOperation)
    return emitError(function.getLoc(), "result ")
           << *roleOptions.lossResult << " of function '" << function.getName()
           << "' cannot be the loss: it is an argument or a constant";
  planner::Solution solution =
      planner::evaluate(problem->problem, planner::identityPlan(problem->problem));
  return computeMemoryProfile(function, *problem, valueRoles, solution, problemOptions.scope);
}

LogicalResult PrintMemoryPass::write(ArrayRef<MemoryProfile> profiles, Location loc) const {
  auto writeTo = [&](raw_ostream &os) {
    if (format == ProfileFormat::JSON) {
      llvm::json::Array array;
      for (const MemoryProfile &profile : profiles)
        array.push_back(toJSON(profile));
      os << llvm::formatv("{0:2}", llvm::json::Value(std::move(array))) << '\n';
      return;
    }
    llvm::interleave(
        profiles, os, [&](const MemoryProfile &profile) { print(profile, os, {limit}); }, "\n");
  };
  if (!output.empty())
    return writeOutput(output, loc, writeTo);
  writeTo(llvm::errs());
  return success();
}
