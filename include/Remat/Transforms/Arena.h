//===- Arena.h - All buffers of a function in one ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans offsets for the allocations of a bufferized function, makes them views of one
// buffer that the caller passes in, and checks that nothing else touches memory.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_ARENA_H
#define REMAT_TRANSFORMS_ARENA_H

#include "Remat/Analysis/BufferLifetimes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>

namespace mlir::remat {

enum class ArenaResults {
  /// Results are in the arena, or in the argument that is returned.
  Arena,
  /// Every result is in a buffer that the caller passes in: one more argument each,
  /// before the arena.
  Caller,
};

struct ArenaOptions {
  /// Every buffer begins at a multiple of this; a power of two, in bytes.
  int64_t alignment = 64;
  /// Arena of a function that should not be exceeded, in bytes: with more, packing searches
  /// longer. 0 is no limit, and so is no function.
  std::function<int64_t(func::FuncOp)> getCapacity;
  ArenaResults results = ArenaResults::Arena;
};

struct ArenaPlan {
  std::vector<AllocatedBuffer> buffers;
  /// Parallel to `buffers`.
  planner::Packing packing;
};

/// Bytes of the constants that a bufferized function reads itself, each once.
int64_t getConstantBytes(func::FuncOp function);

/// Lets every function of `module` with a body take an arena, callees before their
/// callers; an arena of a callee is part of its callers'. Emits an error and fails for
/// functions that call themselves, compute with tensors or have an arena, and where
/// `computeBufferLifetimes` fails or a result has no fixed place.
LogicalResult planArenas(ModuleOp module, const ArenaOptions &options,
                         llvm::function_ref<LogicalResult(func::FuncOp, const ArenaPlan &)> visit);

/// Writes the buffers of a plan: as a picture of addresses over time where `path` ends in
/// `.svg`, as JSON where it ends in `.json`, and otherwise as CSV with the columns
/// `id,lower,upper,size,offset,operation,location`, the first five as MiniMalloc has them.
void printArena(func::FuncOp function, const ArenaPlan &plan, StringRef path, raw_ostream &os);

/// Checks that the function allocates nothing, that every memref in it is a planned view,
/// an argument or a constant, that views are inside of the arena and aligned, that memory is
/// touched by operations that say so only, and that nothing is written to but the arena and
/// arguments that may be. Functions without a body are called with no buffers, or are of the
/// runtime library (`remat...`). Emits an error otherwise.
LogicalResult verifyArena(func::FuncOp function);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_ARENA_H
