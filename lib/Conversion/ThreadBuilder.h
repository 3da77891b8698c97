//===- ThreadBuilder.h - Structured operations as code of threads -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function replaces structured operations, whose loops are arranged, in a kernel by
// what each thread does. An element is computed by the same operations wherever it is.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_THREADBUILDER_H
#define REMAT_LIB_CONVERSION_THREADBUILDER_H

#include "SharedTiles.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

/// Of a launch, in one dimension.
struct KernelGeometry {
  int64_t blocks, threads;
};

/// Distributes results and terms over all threads of the kernel, as chosen for the operation.
/// Results for which there is one in `starts` begin with that scalar, not with what is in
/// their place.
KernelGeometry distribute(RewriterBase &rewriter, gpu::GPUFuncOp kernel, linalg::GenericOp op,
                          ArrayRef<Value> starts);

/// Distributes tiles of results over the blocks of the kernel.
KernelGeometry distributeTiles(RewriterBase &rewriter, gpu::GPUFuncOp kernel, linalg::GenericOp op,
                               const SharedTile &tile);

/// Lets the threads from number `thread` on, every `numThreads`-th, compute results in turn,
/// each all of its terms.
void distributeInTurn(RewriterBase &rewriter, linalg::GenericOp op, Value thread,
                      int64_t numThreads);

/// Distributes the operations in a kernel that is a loop or branch over the threads of one
/// block, or of several where each changes rows of its own.
KernelGeometry distributeLoop(RewriterBase &rewriter, gpu::GPUFuncOp kernel);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_THREADBUILDER_H
