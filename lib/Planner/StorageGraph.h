//===- StorageGraph.h - A problem folded to what a search needs -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Views are folded into the storage they show, and destination-passing chains
// into units that are executed as a whole, so that a search sees storages with
// bytes and units that compute them:
//
//     %e = empty; %z = fill %e; %m = matmul(%a, %b) outs(%z); %v = reshape %m
//  -> unit {fill, matmul} reads {a, b}, computes the root {z, m, v}
//
// Values without bytes (scalars, constants) are not tracked: they are always at
// hand once computed.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_STORAGEGRAPH_H
#define REMAT_LIB_PLANNER_STORAGEGRAPH_H

#include "Remat/Planner/Problem.h"

namespace mlir::remat::planner {

using RootIndex = int32_t;
using UnitIndex = int32_t;
constexpr int32_t kNone = -1;

/// A read of a root. A fixed read goes through a view that cannot be repeated
/// (a barrier), and so is bound to the instance that passed it.
struct RootRead {
  RootIndex root;
  bool isFixed;
};

struct Root {
  /// Aligned.
  int64_t bytes;
  UnitIndex unit;
  /// The operation that begins the storage, and the one that completes it.
  OpIndex begin;
  OpIndex ready;
  /// First operation that shows the root through a view that cannot be
  /// repeated; readers behind it are bound to what it passed.
  OpIndex firstFixedView;
  /// Whether a value of the root may be dropped while it is still needed.
  bool isDroppable;
  /// Read by the terminator: may move to where it is needed first, but is not
  /// computed twice.
  bool isResult = false;
  /// Whether no instance that is complete before the turn is read behind it.
  bool mustRecompute = false;
  /// The root whose storage it takes where the operation that begins it is the
  /// last reader; kNone if there is none.
  RootIndex destination = kNone;
};

struct Unit {
  /// In input order; the last one completes the results.
  llvm::SmallVector<OpIndex, 2> operations;
  llvm::SmallVector<RootIndex, 1> outputs;
  /// Distinct, without the unit's own roots.
  llvm::SmallVector<RootRead, 4> reads;
  int64_t cost = 0;
  int64_t workspace = 0;
  bool isCloneable = true;
  /// Whether it may leave its place and be erased when its roots are unused.
  bool isMovable = true;
};

struct Users;

class StorageGraph {
public:
  /// Storages of fewer than `minBytes` bytes are never dropped.
  StorageGraph(const Problem &problem, int64_t minBytes);

  /// Of a value; kNone when it is not tracked.
  std::vector<RootIndex> rootOf;
  /// Whether a value is seen through a view that cannot be repeated.
  std::vector<bool> isFixed;
  std::vector<UnitIndex> unitOf;
  /// Operations that only show a root and can be repeated at no cost: they are placed
  /// when a plan is written, and are no steps of a search.
  std::vector<bool> isFoldedView;
  /// Of an operation: what it reads, its own chain excluded.
  std::vector<llvm::SmallVector<RootRead, 4>> readsOf;
  /// Of an operation: the roots of its own unit that it continues.
  std::vector<llvm::SmallVector<RootIndex, 1>> continues;
  std::vector<Root> roots;
  std::vector<Unit> units;
  /// The units that read a root.
  std::vector<llvm::SmallVector<UnitIndex, 4>> readersOf;
  /// Aligned bytes of the boundary values.
  int64_t boundaryBytes = 0;
  /// The operation across which some roots are not kept; it stays in its place. kNone
  /// if all may be kept.
  OpIndex turn = kNone;

private:
  bool isFoldableView(const Problem &problem, const Users &users, const Operation &operation) const;
  RootIndex getDestination(const Problem &problem, const Operation &operation,
                           const Value &result) const;
  void merge(UnitIndex into, UnitIndex from);
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_STORAGEGRAPH_H
