//===- SplitReductions.h - Long sums in two steps ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_CONVERSION_SPLITREDUCTIONS_H
#define REMAT_CONVERSION_SPLITREDUCTIONS_H

#include "Remat/Conversion/LibraryCalls.h"

namespace mlir::remat {

/// Makes two of each generic operation on tensors under `root` that adds very many terms to
/// few results: one that adds the terms of each of some parts, and one that adds what those
/// are. How many parts there are follows from shapes alone. What `libraries` compute and what
/// has attributes of this project is left as it is. `onSplit` is told each operation that is
/// about to be erased, and the one that adds its terms.
void splitReductions(
    Operation *root, Libraries libraries,
    llvm::function_ref<void(Operation *whole, Operation *parts)> onSplit = [](Operation *,
                                                                              Operation *) {});

} // namespace mlir::remat

#endif // REMAT_CONVERSION_SPLITREDUCTIONS_H
