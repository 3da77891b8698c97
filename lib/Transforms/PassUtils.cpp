//===- PassUtils.cpp - What several passes do with their options ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/PassUtils.h"

#include "Remat/Support/OutputFile.h"
#include "Remat/Transforms/Fuse.h"
#include "Remat/Transforms/Inline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::remat;

FailureOr<ModelTable> mlir::remat::loadModels(StringRef path, Location loc) {
  ModelTable table = ModelTable::createBuiltin();
  if (path.empty())
    return table;
  if (llvm::Error error = table.parseFile(path))
    return emitError(loc) << llvm::toString(std::move(error));
  return table;
}

FailureOr<Target> mlir::remat::loadTarget(StringRef nameOrPath, Location loc) {
  llvm::Expected<Target> target = Target::get(nameOrPath);
  if (!target)
    return emitError(loc) << llvm::toString(target.takeError());
  return *target;
}

FailureOr<std::optional<CostProfile>> mlir::remat::loadProfile(StringRef path, ModuleOp module) {
  if (path.empty())
    return std::optional<CostProfile>();
  llvm::Expected<CostProfile> profile = CostProfile::read(path);
  if (!profile)
    return emitError(module.getLoc()) << llvm::toString(profile.takeError());
  if (!module.lookupSymbol<FunctionOpInterface>(profile->function))
    return emitError(module.getLoc(), "the profile '")
           << path << "' is of function '" << profile->function << "', which is not here";
  return std::optional(std::move(*profile));
}

/// Whether calls are not to be seen by a plan.
static bool isInlinedFirst(ModuleOp module, const ModelTable &models) {
  if (llvm::none_of(module.getOps<func::FuncOp>(),
                    [](func::FuncOp function) { return function.isPrivate(); }))
    return false;
  WalkResult foreign = module.walk([&](Operation *op) {
    bool hasBarrier =
        !op->isRegistered() && !models.getBarrierName(op->getName().getDialectNamespace()).empty();
    return hasBarrier ? WalkResult::interrupt() : WalkResult::advance();
  });
  return foreign.wasInterrupted();
}

FailureOr<OwningOpRef<ModuleOp>> mlir::remat::getCopyToPlan(ModuleOp module, Fusion fusion,
                                                            const ModelTable &models) {
  OwningOpRef<ModuleOp> copy;
  if (isInlinedFirst(module, models)) {
    copy = module.clone();
    if (!inlineCalls(*copy))
      copy = nullptr;
  }
  if (fusion != Fusion::Kernels)
    return copy;
  if (!copy)
    copy = module.clone();
  if (failed(fuse(*copy, models)))
    return failure();
  return copy;
}

void mlir::remat::warnAboutUncounted(FunctionOpInterface function, const FunctionProblem &problem) {
  size_t numUnknown = problem.unknownSizes.size() + problem.innerUnknownSizes.size();
  if (numUnknown != 0) {
    Value first = problem.unknownSizes.empty() ? problem.innerUnknownSizes.front().second
                                               : problem.values[problem.unknownSizes.front()];
    InFlightDiagnostic warning = emitWarning(first.getLoc())
                                 << "the size of " << first.getType() << " is not known; "
                                 << numUnknown
                                 << " such values count as 0 bytes and are not recomputed";
    warning.attachNote(function.getLoc()) << "in function '" << function.getName() << "'";
  }
  if (!problem.recursiveCalls.empty())
    emitWarning(problem.recursiveCalls.front()->getLoc())
        << "in function '" << function.getName()
        << "', a call of a function that calls itself counts one level only";
}

FailureOr<int64_t> mlir::remat::checkAlignment(const ByteCount &alignment, StringRef pass,
                                               Location loc) {
  int64_t bytes = alignment.bytes.value_or(64);
  if (bytes <= 0 || !llvm::isPowerOf2_64(bytes))
    return emitError(loc) << pass << ": expected 'alignment' to be a power of two, but got '"
                          << bytes << "B'";
  if (bytes > planner::kMaxAlignment)
    return emitError(loc) << pass << ": expected 'alignment' to be at most 1GiB, but got '" << bytes
                          << "B'";
  return bytes;
}

LogicalResult mlir::remat::writeOutput(StringRef path, Location loc,
                                       llvm::function_ref<void(raw_ostream &)> write) {
  if (llvm::Error error = writeOutputFile(path, write))
    return emitError(loc) << llvm::toString(std::move(error));
  return success();
}
