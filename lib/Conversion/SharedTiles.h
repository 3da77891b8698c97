//===- SharedTiles.h - Tiles that a block transposes ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where neighbouring results are made of elements that are far apart, while others read
// their neighbours, a block computes a square tile of results: its threads load the elements
// of the tile in their order in memory, and read them transposed from shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_SHAREDTILES_H
#define REMAT_LIB_CONVERSION_SHAREDTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

struct SharedTile {
  /// Rows and columns; an element more in each row lets threads read a column at once.
  static constexpr int64_t kSize = 32, kRowSize = kSize + 1;

  /// The loop over neighbours in the transposed operands, and the one over neighbours in
  /// the results.
  unsigned readLoop, writeLoop;
  /// Those that are transposed; there is one at least.
  SmallVector<OpOperand *> operands;
};

/// The tile of an operation without reductions; nothing if none of its operands is
/// transposed, or a loop is too short.
std::optional<SharedTile> matchSharedTile(linalg::GenericOp op);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_SHAREDTILES_H
