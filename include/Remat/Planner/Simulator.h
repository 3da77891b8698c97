//===- Simulator.h - Memory and cost of a plan ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays a plan and works out storages, live ranges, peak and cost from
// nothing but the problem and the plan. The only judge of a plan: solvers keep
// their own books while they search, but what is reported comes from here.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_SIMULATOR_H
#define REMAT_PLANNER_SIMULATOR_H

#include "Remat/Planner/Plan.h"

namespace mlir::remat::planner {

/// Index into Simulation::storages.
using StorageIndex = int64_t;
constexpr StorageIndex kNoStorage = -1;

/// One buffer of an executed plan.
struct Storage {
  /// Bytes before alignment.
  int64_t bytes;
  /// Live during steps [begin, end); 0 and the number of steps for the storage
  /// of a boundary value.
  StepIndex begin;
  StepIndex end;
  bool isBoundary;
  /// The value instance that began it.
  ValueInstance first;
};

struct Simulation {
  std::vector<Storage> storages;
  /// Storage of the k-th write of step s: storageOf[firstWrite[s] + k];
  /// kNoStorage for values that are never in memory.
  std::vector<StorageIndex> storageOf;
  std::vector<int64_t> firstWrite;
  /// Storage of boundary values by ValueIndex; kNoStorage for all others.
  std::vector<StorageIndex> boundaryStorage;
  /// Live bytes during each step, workspace included, without alignment.
  std::vector<int64_t> liveBytes;
  /// Maximum of liveBytes (the bytes of boundary values if there are no steps)
  /// and the first step where it occurs.
  int64_t livePeak = 0;
  StepIndex peakStep = 0;
  /// Aligned bytes of the boundary values.
  int64_t boundaryBytes = 0;
  /// Picoseconds of all steps.
  int64_t cost = 0;
};

/// Checks `plan` against `problem`: every read refers to an earlier step that
/// writes the value; it has the variant; each operation that is not pure is executed exactly once,
/// in the given order; clones are of recomputable operations and lie in
/// regions; at most one step per operation is the original; pinned operations
/// separate originals as in the problem; no clone of a value that must be
/// saved; nothing that must be recomputed is kept across the turn, whose first
/// execution is the original; regions are disjoint, ordered, hold only clones and wait for a value
/// that is computed before them. The error names the step.
llvm::Error verify(const Problem &problem, const Plan &plan);

/// Replays a plan that verifies.
Simulation simulate(const Problem &problem, const Plan &plan);

/// The operation across which nothing is kept that must be recomputed: the one during
/// which most bytes are live when the problem is executed as it is, the first of equal
/// ones, of all that every plan executes and that compute an awaitable value in a
/// storage of its own. kBoundary if there is none, or nothing must be recomputed.
OpIndex findTurn(const Problem &problem);

/// The largest bytes that one operation needs at once: boundary values, operands, results
/// and workspace, each storage aligned. No plan is packed into less.
int64_t workingSetBytes(const Problem &problem);
/// The same with another alignment: no plan's live peak is below what it is with 1.
int64_t workingSetBytes(const Problem &problem, int64_t alignment);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_SIMULATOR_H
