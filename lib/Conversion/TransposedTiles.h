//===- TransposedTiles.h - Transposition of tiles in registers --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that reads along one loop what it writes along another one would fetch a cache
// line for every element. Square tiles of such operands are loaded row by row, transposed
// in registers, and stored where the innermost loop finds neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_TRANSPOSEDTILES_H
#define REMAT_LIB_CONVERSION_TRANSPOSEDTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

/// Sizes of the tiles of a kernel that has transposed operands: 1 but for two loops. Nothing
/// for other kernels.
SmallVector<int64_t> getTransposedTile(linalg::GenericOp op);

/// Splits off what does not fill tiles, and returns it. `op` becomes the rest.
SmallVector<linalg::GenericOp> splitAtTiles(RewriterBase &rewriter, linalg::GenericOp &op,
                                            ArrayRef<int64_t> tile);

/// Lets `op`, which computes one tile, read transposed copies of its transposed operands.
void transposeInRegisters(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_TRANSPOSEDTILES_H
