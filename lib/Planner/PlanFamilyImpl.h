//===- PlanFamilyImpl.h - The members of a family ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a family holds, for the solvers that start from its members.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_PLANFAMILYIMPL_H
#define REMAT_LIB_PLANNER_PLANFAMILYIMPL_H

#include "Detail.h"
#include "Greedy.h"
#include "Remat/Planner/PlanFamily.h"

namespace mlir::remat::planner {

/// A member before it is written as a plan.
struct Member {
  int64_t cost;
  /// Aligned live bytes with the boundary values: the packed peak is at least
  /// this, and a member is taken for no smaller budget.
  int64_t peak;
  /// A single gap, or else a state of the greedy run, perhaps pruned up to a peak; or a
  /// member of the family with the smallest workspaces.
  std::optional<Gap> gap;
  int64_t state = 0;
  std::optional<int64_t> level = std::nullopt;
  std::optional<int64_t> least = std::nullopt;
  /// Aligned live bytes up to which the steps of the latter choose their variants.
  int64_t limit = 0;
  /// Once known.
  std::optional<int64_t> requiredBytes = std::nullopt;
};

struct PlanFamily::Impl {
  Impl(const Problem &problem, const FamilyOptions &options);

  /// What a budget is compared with.
  int64_t getPeak(const Solution &solution) const {
    return options.isPacked ? solution.packing.packedBytes : solution.simulation.livePeak;
  }

  /// Whether first executions keep the order of the problem, if they have to. A view
  /// that is placed as late as its first reader may be out of it.
  bool isAllowed(const Plan &plan) const {
    return options.reorder || detail::keepsOrder(problem, plan);
  }

  /// Removes what nobody reads, and computes again what must be. An error when that
  /// is impossible.
  llvm::Error prepare();
  /// Lists the members. Only the identity is needed for a problem that fits, so
  /// this waits until somebody asks for more.
  void build();
  /// Of a member that is none of the family with the smallest workspaces.
  Schedule toSchedule(const Member &member);
  Plan toPlan(const Member &member);
  Solution materialize(Member &member);

  /// The cheapest member whose live bytes are at most `budget`, or else the one with
  /// the fewest, as a schedule from which a search can go on.
  Schedule findStart(int64_t budget);

  const Problem &problem;
  FamilyOptions options;
  StorageGraph graph;
  Schedule singleSchedule;
  Schedule greedySchedule;
  GapMoves singleMoves;
  /// Of singleSchedule: without what nobody reads.
  int64_t startState = 0;
  Solution identity;
  std::vector<Member> members;
  /// Picoseconds of the problem as it is, without what nobody reads.
  int64_t unchangedCost = 0;
  bool isPrepared = false, isBuilt = false;
  /// Why some policies cannot be met; empty if they can.
  std::string conflict;
  /// With the smallest workspaces; for problems with variants.
  std::optional<Problem> leastProblem;
  std::unique_ptr<Impl> least;

private:
  void addSingles();
  void addPruned(llvm::ArrayRef<GreedyState> states);
  void addVariants();
  void addVariants(int64_t index);
  Schedule prunedSchedule(int64_t state, int64_t peak);
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_PLANFAMILYIMPL_H
