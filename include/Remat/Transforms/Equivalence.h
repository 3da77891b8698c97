//===- Equivalence.h - Proof that a rewrite kept the meaning ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Value numbering over two versions of a function: barriers count as identity,
// operations without effects are the same when name, attributes, operands and
// regions are; operations with effects must come in the same order with the
// same operands, the terminator last. Knows nothing of plans or clones.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_EQUIVALENCE_H
#define REMAT_TRANSFORMS_EQUIVALENCE_H

#include "Remat/Analysis/FunctionProblem.h"

namespace mlir::remat {

class ModelTable;

/// One version of a function's body. The operations may be those of a copy.
struct FunctionVersion {
  Block *block;
  /// By position in the block: whether the operation has no effects.
  std::vector<bool> isPure;
};

/// The version of the function that `problem` describes, as it stands in
/// `block`: the block of the problem's operations or a copy of it.
FunctionVersion getVersion(const FunctionProblem &problem, Block *block);

/// Succeeds when `rewritten` computes what `original` does. Otherwise emits one
/// error at the first operation that has no counterpart, with a note that shows
/// what was expected, and fails.
LogicalResult verifyEquivalence(const FunctionVersion &original, const FunctionVersion &rewritten,
                                const ModelTable &models);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_EQUIVALENCE_H
