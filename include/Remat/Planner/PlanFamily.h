//===- PlanFamily.h - Candidate plans that do not depend on the budget ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One ordered family of plans: the problem as it is (or, where something must be
// recomputed, the plan that does no more than that), every plan that closes a
// single gap, every state of one greedy run towards the smallest peak, and states
// of it that were pruned up to some fixed peaks; the same with the smallest workspaces
// and several choices of variants, where operations have variants. The answer to a budget is the
// cheapest member that fits (ties: smaller peak, then order), so costs fall and
// peaks rise monotonically with the budget.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_PLANFAMILY_H
#define REMAT_PLANNER_PLANFAMILY_H

#include "Remat/Planner/Packing.h"
#include "Remat/Planner/Plan.h"
#include "Remat/Planner/Simulator.h"
#include <limits>
#include <memory>
#include <optional>

namespace mlir::remat::planner {

struct FamilyOptions {
  /// Whether originals may leave their place.
  bool reorder = true;
  /// Storages of fewer bytes are never dropped.
  int64_t minBytes = 0;
  /// Whether a budget is one for the packed peak, or else for the live peak.
  bool isPacked = true;
};

/// A plan with what follows from it.
struct Solution {
  Plan plan;
  Simulation simulation;
  PackedPlan packing;
  /// The smallest budget for which a family gives this answer: the packed or live
  /// bytes, or more where its search counted more carefully than the simulation.
  int64_t requiredBytes = 0;
};

/// Replays and packs a plan.
Solution evaluate(const Problem &problem, Plan plan);

class PlanFamily {
public:
  /// `problem` must outlive the family and have passed `check`.
  PlanFamily(const Problem &problem, const FamilyOptions &options);
  ~PlanFamily();

  /// An error naming an operation that must be recomputed, but cannot be. No member
  /// fits any budget then.
  llvm::Error checkPolicies() const;

  /// The problem as it is; with what must be recomputed computed again.
  const Solution &getIdentity() const;

  /// The cheapest member whose peak is at most `budget` bytes; nothing
  /// when no member fits.
  std::optional<Solution> findCheapest(int64_t budget);

  /// The member with the smallest required bytes among those that add at most
  /// `maxAddedCost`; the cheapest of equal ones.
  Solution findSmallest(int64_t maxAddedCost = std::numeric_limits<int64_t>::max());

  /// For the solvers that start from members.
  struct Impl;
  Impl &getImpl() { return *impl; }

private:
  std::unique_ptr<Impl> impl;
};

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_PLANFAMILY_H
