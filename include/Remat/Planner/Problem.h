//===- Problem.h - A training step as a planner sees it ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain data: operations in order, values with bytes, who reads and writes what.
// No MLIR here; operations and values are indices. `check` says whether the data
// make sense; every solver may assume that they do.
//
// Time is the position of an operation in the order. While an operation runs,
// its operands, its results and its workspace are all live.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_PROBLEM_H
#define REMAT_PLANNER_PROBLEM_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::remat::planner {

/// Index into Problem::operations.
using OpIndex = int64_t;
/// Index into Problem::values.
using ValueIndex = int64_t;

/// Producer of arguments and program constants.
constexpr OpIndex kBoundary = -1;
/// No value.
constexpr ValueIndex kNoValue = -1;

enum class Effect : uint8_t {
  /// Deterministic, without effects: may be moved, and erased when unused.
  Pure,
  /// Executed exactly once, in the given order among the operations that are
  /// not pure.
  Ordered,
  /// As Ordered, and no original is moved from one side of it to the other.
  Pinned,
};

enum class Policy : uint8_t {
  None,
  /// Its results are computed once, and kept as long as they are read.
  MustSave,
  /// Its results are not kept where memory is highest: no plan computes one before the
  /// problem's turn (see `findTurn` in Simulator.h) and reads it behind it, itself or
  /// through views; what is read there is computed there. This does not concern values
  /// that take no memory of their own, results of the problem (read by a pinned
  /// operation at the end), and destinations that only the operation reads that may
  /// write in their place.
  MustRecompute,
};

/// Another way to execute an operation, with the same results: an algorithm of a
/// library that is slower, but takes less scratch memory.
struct Variant {
  /// Picoseconds of one execution, at least those of the operation.
  int64_t cost;
  /// Scratch bytes while it runs, fewer than those of the operation.
  int64_t workspace;
};

struct Operation {
  /// For messages and files; need not be unique.
  std::string name;
  /// Values whose contents the operation reads, each once.
  llvm::SmallVector<ValueIndex, 4> reads;
  /// Values that must have been computed before, but whose contents are not
  /// read (a query of a shape): a dependence that keeps nothing live.
  llvm::SmallVector<ValueIndex, 0> dependences;
  /// Values that the operation defines; each value has one definition.
  llvm::SmallVector<ValueIndex, 1> writes;
  /// Picoseconds of one execution.
  int64_t cost = 0;
  /// Scratch bytes while it runs.
  int64_t workspace = 0;
  Effect effect = Effect::Pure;
  /// Whether it may be executed more than once; only pure operations may.
  bool recomputable = true;
  Policy policy = Policy::None;
  /// What a step may choose instead of `cost` and `workspace`.
  llvm::SmallVector<Variant, 0> variants;
};

/// What a step takes that chose `variant`: 0 for the operation's own cost and workspace,
/// k for the k-th of its variants, from 1 on.
inline Variant getVariant(const Operation &operation, int64_t variant) {
  return variant == 0 ? Variant{operation.cost, operation.workspace}
                      : operation.variants[variant - 1];
}

/// How a value gets its bytes.
enum class Placement : uint8_t {
  /// A storage of its own, from its definition to the last read of a value in it.
  Own,
  /// The storage of `source`, which its definition reads.
  View,
  /// Destination passing: the storage of `source`, which its definition reads,
  /// when nothing else reads that storage then or later, it is not a boundary
  /// value's, and it has the same bytes; otherwise a storage of its own.
  Reuse,
  /// Never in memory.
  None,
};

/// The largest alignment, in bytes.
constexpr int64_t kMaxAlignment = int64_t(1) << 30;

/// `check` accepts a problem whose aligned bytes (all values and all
/// workspaces, live together or not) and whose costs each sum up to at most
/// this: 64 PiB, or 20 hours in picoseconds.
constexpr int64_t kMaxProblemSum = int64_t(1) << 56;

struct Value {
  /// For messages and files.
  std::string name;
  /// Bytes of the storage, at least 0, before alignment. For a view the bytes
  /// of the part that it shows; they never count.
  int64_t bytes = 0;
  Placement placement = Placement::Own;
  ValueIndex source = kNoValue;
  OpIndex producer = kBoundary;
  /// Whether a region of clones may wait for it: barriers don't take references
  /// to memory.
  bool isAwaitable = true;
};

/// A boundary value (argument or program constant) is live throughout. Values
/// that must survive the last operation (results) are read by that operation,
/// the terminator, which is Pinned.
struct Problem {
  std::vector<Operation> operations;
  std::vector<Value> values;
  /// Every storage begins at a multiple of this; a power of two, in bytes.
  int64_t alignment = 1;
};

/// Returns an error naming the first operation or value that is malformed:
/// indices out of range, a read before its definition in the given order, a
/// value with two producers or a producer that does not write it, a view or
/// reuse whose definition does not read its source, negative numbers, a
/// recomputable operation with effects, a variant that is cheaper than its operation
/// or takes as much workspace, sums of bytes or costs that exceed
/// `int64_t`, an alignment that is not a power of two.
llvm::Error check(const Problem &problem);

/// Rounds `bytes` up to a multiple of the problem's alignment.
inline int64_t align(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_PROBLEM_H
