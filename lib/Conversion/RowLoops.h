//===- RowLoops.h - Loops that change one row at a time ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What adds rows to the rows of a table, or sets them, one after the other: gradients of
// embeddings, scatters, updates of slices. Iterations that change one row come in their
// order; others may come at once. So each row of the table has a block that owns it, which
// looks for iterations that change its rows, and executes those alone.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_ROWLOOPS_H
#define REMAT_LIB_CONVERSION_ROWLOOPS_H

#include "ThreadBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::remat {

struct RowLoop {
  scf::ForOp loop;
  /// Its bounds and step.
  int64_t first, end, step;
  /// The indices of the row of an iteration, and how many values each may have.
  SmallVector<std::pair<OpFoldResult, int64_t>> row;
  /// What computes the indices in an iteration, in order.
  SmallVector<Operation *> slice;
  /// Buffers that each iteration writes before it reads them.
  SmallVector<memref::ViewOp> temporaries;
  KernelGeometry geometry;
};

/// The only loop of a kernel, where its iterations are known to access nothing of what is
/// written but their row of one argument, and temporaries that fit into shared memory.
std::optional<RowLoop> matchRowLoop(gpu::GPUFuncOp kernel);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_ROWLOOPS_H
