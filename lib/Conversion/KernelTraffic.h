//===- KernelTraffic.h - Bytes that a kernel has to move --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_KERNELTRAFFIC_H
#define REMAT_LIB_CONVERSION_KERNELTRAFFIC_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

/// Bytes that a structured operation on buffers of static sizes reads and writes at least: each
/// element that it depends on once, and each result once. What its body loads at places that
/// depend on data counts as if all of them were different. Nothing where sizes are not known.
std::optional<int64_t> getMinimumBytes(linalg::LinalgOp op);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_KERNELTRAFFIC_H
