//===- KernelForm.h - The form of operations that can be fused --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites of single operations, before and after several are put together.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_TRANSFORMS_KERNELFORM_H
#define REMAT_LIB_TRANSFORMS_KERNELFORM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::remat {

/// Applies given patterns and nothing else: nothing is folded, moved or merged.
GreedyRewriteConfig getPatternsOnlyConfig();

/// The value of all elements of a tensor that is a constant; null if there is none.
TypedAttr getSplat(Value value);

/// Replaces reads of splat constants by `linalg.generic` by the scalar.
LogicalResult foldSplats(FunctionOpInterface function);

/// Gives a structured operation its general form where it has one, and keeps its
/// attributes; returns what there is then.
linalg::LinalgOp generalize(RewriterBase &rewriter, linalg::LinalgOp op);

/// Gives everything in `function` that can be fused its general form; no operation
/// overwrites an operand afterwards.
LogicalResult bringToKernelForm(FunctionOpInterface function);

/// Makes what elementwise kernels of `function` overwrite one more input of them.
void readOverwritten(FunctionOpInterface function);

/// A copy of `kernel`, in front of it, that reads its input operand number `operand` as what
/// result number `result` overwrites. The input must not be read elsewhere in the kernel.
linalg::GenericOp writeOverOperand(RewriterBase &rewriter, linalg::GenericOp kernel,
                                   unsigned operand, unsigned result);

} // namespace mlir::remat

#endif // REMAT_LIB_TRANSFORMS_KERNELFORM_H
