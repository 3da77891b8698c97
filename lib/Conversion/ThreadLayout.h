//===- ThreadLayout.h - Which thread of a kernel computes what --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has `points` times `terms` threads: so many neighbouring results, each the sum of
// what so many threads have added. Terms that are one after the other in memory go to
// threads that are one after the other, and so do results where the terms are not.
//
//     rows                      columns                    elements
//     results:  1, 8            results:  32               results:  256
//     terms:    256, 32         terms:    32, 8            terms:    1
//
// Thread t of a result adds terms t, t + terms, ... in their order; the partial results are
// added in a tree. Where neighbours in the innermost loop are neighbours in memory, a thread
// takes `width` of them at a time in place of one: of results, or of terms, which it adds in
// their order.
//
// All of that follows from shapes and layouts alone.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_THREADLAYOUT_H
#define REMAT_LIB_CONVERSION_THREADLAYOUT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

/// Threads of a block where nothing else is said, and threads that execute together and read
/// neighbours at once.
constexpr int64_t kBlockThreads = 256, kWarp = 32;

struct ThreadLayout {
  int64_t points = kBlockThreads, terms = 1;
  /// Neighbours in the innermost loop that a thread takes at a time: a power of two that
  /// divides the range of the loop.
  int64_t width = 1;
  /// Whether neighbouring threads add terms of one result.
  bool isRows = false;

  int64_t getNumThreads() const { return points * terms; }
};

/// The layout for an operation whose loops are arranged. One thread adds all terms of a
/// result where there is no way to add partial results.
ThreadLayout chooseThreadLayout(linalg::GenericOp op);

/// Whether `width` neighbours of an operand in the innermost loop can be loaded or stored at
/// once, as far as its layout says: they are one after the other from a multiple of `width`
/// on.
bool isVector(linalg::GenericOp op, OpOperand &operand, int64_t width);

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_THREADLAYOUT_H
