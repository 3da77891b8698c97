//===- BufferLifetimes.h - When each allocation is needed -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The allocations of a bufferized function with their sizes and live ranges. Time is
// the number of an operation in the order of the text; regions with allocations are
// included, behind the operation that they belong to.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_BUFFERLIFETIMES_H
#define REMAT_ANALYSIS_BUFFERLIFETIMES_H

#include "Remat/Planner/Packing.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::remat {

/// A `memref.alloc`, and from the first operation that uses it or one of its views to
/// the last, both included: the half-open range of its lifetime. What an operation with
/// regions uses inside is needed while all of it runs, if it is from outside of it. A
/// `memref.dealloc` is no use. Bytes before alignment.
struct AllocatedBuffer {
  memref::AllocOp allocation;
  planner::Buffer lifetime;
};

/// All of them in the order of the text, without those that nothing uses. Emits an error
/// and fails where memory is allocated in another way, or the size is not known.
FailureOr<std::vector<AllocatedBuffer>> computeBufferLifetimes(FunctionOpInterface function);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_BUFFERLIFETIMES_H
