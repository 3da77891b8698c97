//===- TrainingStep.cpp - The training step that is compiled ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/TrainingStep.h"

#include "PassRunner.h"
#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Support/Error.h"
#include "Remat/Transforms/Fuse.h"
#include "Remat/Transforms/PassUtils.h"
#include "TensorTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;

/// The function of this name, or the only one that is public where it is empty.
static Expected<func::FuncOp> findFunction(ModuleOp module, StringRef name) {
  func::FuncOp function;
  int64_t numFound = 0;
  for (auto candidate : module.getOps<func::FuncOp>()) {
    if (candidate.isExternal())
      continue;
    if (name.empty() ? candidate.isPublic() : candidate.getSymName() == name) {
      function = candidate;
      ++numFound;
    }
  }
  if (!name.empty() && !function)
    return makeError("there is no function '{0}'", name);
  if (numFound != 1)
    return makeError("expected one public function, but there are {0}: name one with '--function'",
                     numFound);
  return function;
}

/// Fills in what follows from the function.
static Error describe(TrainingStep &step, func::FuncOp function, bool donate) {
  step.function = function.getSymName().str();
  SymbolTableCollection symbols;
  SummaryAnalysis summaries(ModelTable::getBuiltin(), step.target, symbols);
  FailureOr<FunctionProblem> problem = buildProblem(function, summaries, {});
  if (failed(problem))
    return makeError("'{0}' cannot be analyzed", step.function);
  for (auto [op, operation] : llvm::zip_equal(problem->operations, problem->problem.operations))
    step.operations.push_back({operation.name, formatLocation(op->getLoc()), operation.cost});
  step.roles = inferRoles(*problem, {});
  if (donate)
    for (const std::optional<unsigned> &argument : step.roles.updatedArguments)
      if (argument)
        function.setArgAttr(*argument, RematDialect::getDonatedAttrName(),
                            UnitAttr::get(function.getContext()));
  DataLayout layout = DataLayout::closest(function);
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    Expected<TensorInfo> tensor = getTensorInfo(type, layout);
    if (!tensor)
      return tensor.takeError();
    // It may hold second moments, whose roots are taken.
    bool isState = step.roles.categories[index] == Category::OptimizerState;
    bool isDonated = !!function.getArgAttr(index, RematDialect::getDonatedAttrName());
    step.arguments.push_back({*tensor, isState, isDonated});
  }
  for (Type type : function.getResultTypes())
    if (Expected<TensorInfo> tensor = getTensorInfo(type, layout); !tensor)
      return tensor.takeError();
  return Error::success();
}

void mlir::remat::loadStepDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllGPUToLLVMIRTranslations(registry);
  registry.insert<RematDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerAllExternalModels(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

Libraries mlir::remat::getLibraries(Device device, bool allowsTF32) {
  if (device == Device::CPU)
    return Libraries::CPU;
  return allowsTF32 ? Libraries::GPUWithTF32 : Libraries::GPU;
}

StringRef mlir::remat::getDefaultTarget(Device device) {
  return device == Device::CPU ? "cpu" : "h100";
}

Expected<TrainingStep> mlir::remat::prepareStep(OwningOpRef<ModuleOp> module,
                                                const StepOptions &options) {
  TrainingStep step;
  step.module = std::move(module);
  step.fusion = options.fusion;
  step.libraries = options.libraries;
  if (failed(runPasses(*step.module, buildPrepareStep)) ||
      (options.fusion == Fusion::Kernels && failed(fuse(*step.module, ModelTable::getBuiltin()))))
    return makeError("the module cannot be simplified");
  setWorkspace(*step.module, options.libraries);
  Expected<Target> costs = Target::get(options.target);
  if (!costs)
    return costs.takeError();
  step.target = *costs;
  Expected<func::FuncOp> function = findFunction(*step.module, options.function);
  if (!function)
    return function.takeError();
  if (Error error = describe(step, *function, options.donate))
    return error;
  return step;
}
