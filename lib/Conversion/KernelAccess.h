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

/// Where an operand is read or written at each point of the loops: at `offset` plus `strides`
/// times the indices, in elements from where its buffer begins.
struct LinearAccess {
  int64_t offset = 0;
  SmallVector<int64_t> strides;
};

/// Nothing where the place is no such sum, its numbers are not known, or the operand is no
/// memref.
std::optional<LinearAccess> getLinearAccess(linalg::GenericOp op, OpOperand &operand);

/// A power of two that the address divides at which the buffer of a memref begins; 1 if
/// nothing is known. Arguments of public functions begin where the driver allocates, at
/// multiples of 256 bytes; those of private ones where buffers of their callers are planned,
/// and those of kernels where their attribute `llvm.align` says.
int64_t getBufferAlignment(Value memref);

/// For each loop: how far apart, in elements, the first two places in an operand are; 0 for
/// scalars, and a large number where the stride is not known.
SmallVector<int64_t> getStrides(linalg::GenericOp op, OpOperand &operand);

/// Whether a loop runs over an operand from its end to its beginning.
bool hasReversedLoops(linalg::GenericOp op);

/// Of all operands.
SmallVector<SmallVector<int64_t>> getAllStrides(linalg::GenericOp op);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_KERNELACCESS_H
