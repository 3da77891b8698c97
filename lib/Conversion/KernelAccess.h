//===- KernelAccess.h - Where the loops of a kernel read and write ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_KERNELACCESS_H
#define REMAT_LIB_CONVERSION_KERNELACCESS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

inline bool isParallel(linalg::GenericOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
}

/// The operation that adds a term to each result; nothing where there is no single one, or
/// no number that it leaves as it is.
SmallVector<Operation *> matchCombiners(linalg::GenericOp op);

/// For each loop: how far apart, in elements, the first two places in an operand are; 0 for
/// scalars, and a large number where the stride is not known.
SmallVector<int64_t> getStrides(linalg::GenericOp op, OpOperand &operand);

/// Of all operands.
SmallVector<SmallVector<int64_t>> getAllStrides(linalg::GenericOp op);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_KERNELACCESS_H
