//===- KernelLoops.h - Order and number of a kernel's loops -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything follows from shapes and layouts. Each function replaces `op` where it changes
// it.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_KERNELLOOPS_H
#define REMAT_LIB_CONVERSION_KERNELLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

/// Drops loops of one iteration, by views of lower rank.
void dropUnitLoops(RewriterBase &rewriter, linalg::GenericOp &op);

/// Parallel loops, reductions, and innermost the loop that is over neighbours in most
/// operands; those of the first two kinds by falling distance, first in what is written.
void orderLoops(RewriterBase &rewriter, linalg::GenericOp &op);

/// Makes one of neighbouring loops that are as good as one: in every operand, the end of a
/// row of the inner one is followed by the beginning of the next.
void collapseLoops(RewriterBase &rewriter, linalg::GenericOp &op);

/// The general form of an operation on buffers with its loops as the functions above leave
/// them; it replaces `op`. Fails, with nothing changed, where there is no such form.
FailureOr<linalg::GenericOp> arrangeLoops(RewriterBase &rewriter, linalg::LinalgOp op);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_KERNELLOOPS_H
