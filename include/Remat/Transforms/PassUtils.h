//===- PassUtils.h - What several passes do with their options --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_PASSUTILS_H
#define REMAT_TRANSFORMS_PASSUTILS_H

#include "Remat/Analysis/CostProfile.h"
#include "Remat/Analysis/FunctionProblem.h"
#include "Remat/Analysis/FusionModel.h"
#include "Remat/Analysis/Target.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Transforms/OptionTypes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::remat {

/// The built-in models, with those of the file at `path` on top if it is not
/// empty. Emits an error at `loc` when the file cannot be used.
FailureOr<ModelTable> loadModels(StringRef path, Location loc);

/// The preset or target file, as Target::get; errors are emitted at `loc`.
FailureOr<Target> loadTarget(StringRef nameOrPath, Location loc);

/// The profile at `path`, or nothing if that is empty. Emits an error when it cannot be read,
/// or is of a function that `module` has not.
FailureOr<std::optional<CostProfile>> loadProfile(StringRef path, ModuleOp module);

/// A copy of `module` that is planned in its place: `fusion` has happened and, where there are
/// operations of a dialect that is not linked in and has a barrier (StableHLO), calls of
/// private functions are inlined. Null if neither changes anything.
FailureOr<OwningOpRef<ModuleOp>> getCopyToPlan(ModuleOp module, Fusion fusion,
                                               const ModelTable &models);

/// Emits a warning each if sizes of values of `function` are not known, and if it
/// calls functions that call themselves.
void warnAboutUncounted(FunctionOpInterface function, const FunctionProblem &problem);

/// The bytes of an `alignment` option of the pass `pass`, 64 where it is left
/// open. Emits an error at `loc` when it is not a power of two.
FailureOr<int64_t> checkAlignment(const ByteCount &alignment, StringRef pass, Location loc);

/// Lets `write` print to the file at `path`, or to standard output for `-`.
/// The file appears only when it is complete. Errors are emitted at `loc`.
LogicalResult writeOutput(StringRef path, Location loc,
                          llvm::function_ref<void(raw_ostream &)> write);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_PASSUTILS_H
