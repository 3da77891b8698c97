//===- FitArena.h - From a budget to an arena that is within it -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PIPELINES_FITARENA_H
#define REMAT_PIPELINES_FITARENA_H

#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Transforms/Arena.h"
#include "Remat/Transforms/Rematerialize.h"

namespace mlir::remat {

struct FitOptions {
  /// With its budget, in bytes or as a part of each function's unchanged packed peak. None:
  /// nothing is recomputed. Its alignment is that of the arena.
  RematerializeOptions rematerialize;
  ArenaResults results = ArenaResults::Arena;
  /// What happens before, and again with what was recomputed.
  Fusion fusion = Fusion::Kernels;
  /// Whose workspace is planned. With those of a GPU, very many terms are added to few
  /// results in two steps.
  Libraries libraries = Libraries::CPU;
};

/// What became of a function with a budget.
struct FittedFunction {
  std::string name;
  /// All in bytes: the budget, or nothing without one; the packed peak of the unchanged
  /// function, and of the rewritten one, as counted on tensors; and what it takes now:
  /// aligned arguments and constants, and the arena.
  std::optional<int64_t> budgetBytes;
  int64_t unchangedBytes = 0, predictedBytes = 0, takenBytes = 0;
  /// Picoseconds of the unchanged function, and what was added, by the cost model.
  int64_t cost = 0, addedCost = 0;
};

/// Rewrites `module` from tensors to buffers in arenas. Where an arena with the arguments
/// and constants of its function is larger than the budget, all is done again with a
/// smaller one, a few times. Emits an error and fails, with the module unchanged, where
/// that does not help, or a step fails.
FailureOr<std::vector<FittedFunction>> fitArenas(ModuleOp module, const FitOptions &options);

} // namespace mlir::remat

#endif // REMAT_PIPELINES_FITARENA_H
