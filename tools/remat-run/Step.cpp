//===- Step.cpp - The training step that is executed ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step.h"

#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/TypeSize.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Support/Error.h"
#include "Remat/Transforms/Fuse.h"
#include "Remat/Transforms/PassUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;

Expected<TensorInfo> mlir::remat::getTensorInfo(Type type, const DataLayout &layout) {
  auto shaped = dyn_cast<ShapedType>(type);
  std::optional<int64_t> bytes =
      shaped && shaped.hasStaticShape() ? getStorageBytes(type, layout) : std::nullopt;
  TensorInfo info;
  if (bytes)
    llvm::raw_string_ostream(info.element) << shaped.getElementType();
  if (!bytes || !isKnownElement(info.element)) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return makeError("values of type {0} cannot be passed: expected static tensors of integers "
                     "or floats",
                     text);
  }
  info.shape = shaped.getShape().vec();
  info.count = shaped.getNumElements();
  info.bytes = *bytes;
  return info;
}

LogicalResult mlir::remat::runPasses(ModuleOp module,
                                     llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  return passes.run(module);
}

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
static Error describe(Step &step, func::FuncOp function, bool donate) {
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

Expected<Step> mlir::remat::readStep(MLIRContext &context, llvm::SourceMgr &sources, StringRef path,
                                     const StepOptions &options) {
  Step step;
  step.module = parseSourceFile<ModuleOp>(path, sources, ParserConfig(&context));
  if (!step.module)
    return makeError("cannot read '{0}'", path);
  if (failed(runPasses(*step.module, buildPrepareStep)) ||
      (options.fusion == Fusion::Kernels && failed(fuse(*step.module, ModelTable::getBuiltin()))))
    return makeError("cannot simplify '{0}'", path);
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
