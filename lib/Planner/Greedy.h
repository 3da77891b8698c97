//===- Greedy.h - One greedy run towards the smallest peak ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers the highest peak step by step. A move closes one gap between two
// consecutive readers of a storage that is live at the peak: the storage is
// dropped after the first and computed again directly before the second, with
// whatever that needs. Moves are scored by added cost per byte freed at the
// peak; sinking an original to its first reader costs nothing.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_GREEDY_H
#define REMAT_LIB_PLANNER_GREEDY_H

#include "Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::remat::planner {

/// Two consecutive places where an instance must be there: `previous` (its
/// definition or a reader) and `next` (a reader).
struct Gap {
  InstanceIndex instance;
  NodeIndex previous;
  NodeIndex next;
};

/// Added cost per byte freed at the peak; of equal ones the larger gain, then the
/// fewer units: what is moved along makes the next moves harder.
struct Score {
  int64_t cost;
  int64_t gain;
  int64_t numUnits;
};
bool operator<(const Score &a, const Score &b);

/// What closing a gap takes: units to execute before the gap's end, in
/// dependence order, the gap's own unit last.
struct Closure {
  llvm::SmallVector<UnitIndex, 4> units;
  /// Of each unit: whether it replaces a later execution of the same unit.
  llvm::SmallVector<bool, 4> replacesLater;
  Score score;
};

/// How a closure is to be made.
struct ClosureChoice {
  /// Asked for every storage that is needed and not at hand whether to keep it for
  /// longer, and not to compute it again.
  llvm::function_ref<bool()> keeps;
  /// Whether a later execution of a needed unit may be brought forward.
  bool allowReplacing;
  /// A closure with more units is none.
  size_t maxUnits;
};

class GapMoves {
public:
  GapMoves(const Problem &problem, const StorageGraph &graph, Schedule &schedule, bool reorder);

  /// Whether the gap still exists.
  bool isValid(const Gap &gap) const;
  /// Works out how to close `gap` so that its storage is not live at the node
  /// `peakNode`; nothing when that is impossible or frees nothing there.
  std::optional<Closure> findClosure(const Gap &gap, NodeIndex peakNode);
  /// As above with the choice left to the caller.
  std::optional<Closure> findClosure(const Gap &gap, NodeIndex node, const ClosureChoice &choice);
  /// Closes the gap. The schedule's log allows to take it back.
  void apply(const Gap &gap, const Closure &closure);
  /// Lets the readers of a clone read what was computed before it, and removes it.
  /// False, with nothing changed, where there is no clone or nothing before it.
  bool takeBack(NodeIndex clone);
  /// Number of units and reads that closures were worked out for: the work done.
  int64_t getNumVisited() const { return numVisited; }

  /// Calls `visit` for each gap of an instance.
  template <typename Fn>
  void forEachGap(InstanceIndex instance, Fn visit) const {
    const Schedule::Instance &info = schedule.getInstance(instance);
    if (schedule.getNode(info.definition).slot == kNone)
      return;
    NodeIndex previous = info.definition;
    for (NodeIndex use : info.uses) {
      visit(Gap{instance, previous, use});
      previous = use;
    }
  }

private:
  /// Collects what closing `gap` takes. `decide` says of a storage that is needed
  /// and not at hand whether its last instance is kept for longer, and not computed
  /// again, and may lower the gain for it.
  template <typename DecideFn>
  std::optional<Closure> collect(const Gap &gap, NodeIndex peakNode, size_t maxUnits,
                                 bool allowReplacing, DecideFn decide);
  /// Needed storages are kept across the peak rather than computed again when that is
  /// cheaper than the rate `keepBelow`.
  std::optional<Closure> findClosure(const Gap &gap, NodeIndex peakNode,
                                     const std::optional<Score> &keepBelow);
  /// Whether the gap's unit is moved, not repeated, when the gap is closed.
  bool isMove(const Gap &gap) const;
  bool isMember(InstanceIndex instance, NodeIndex node) const;
  /// The node in front of which the unit of `gap` is executed.
  NodeIndex getTarget(const Gap &gap) const;
  /// The first instance of `root` that a whole unit behind `node` computes.
  InstanceIndex findLater(RootIndex root, NodeIndex node) const;

  const StorageGraph &graph;
  Schedule &schedule;
  bool reorder;
  /// Number of pinned operations before each operation.
  std::vector<int64_t> numPinnedBefore;
  /// Closure that last contained a unit.
  std::vector<int64_t> visitedBy;
  int64_t numVisits = 0, numVisited = 0;
  /// Instances computed by the closure being applied, by root.
  std::vector<InstanceIndex> computedNow;
};

/// A state of the run that set a new lowest peak.
struct GreedyState {
  /// For Schedule::restore.
  int64_t state;
  /// Aligned live bytes without the boundary values.
  int64_t peak;
  int64_t cost;
};

/// Runs until no move lowers the peak. Afterwards `schedule` is in its last
/// state; the returned states begin with the one it was in, their peaks fall
/// strictly.
std::vector<GreedyState> runGreedy(const Problem &problem, const StorageGraph &graph,
                                   Schedule &schedule, bool reorder);

/// Takes back clones, the most expensive first, as long as the peak (aligned live
/// bytes without the boundary values) is at most `peak`, which it must be already.
void prune(const Problem &problem, const StorageGraph &graph, Schedule &schedule, bool reorder,
           int64_t peak);

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_GREEDY_H
