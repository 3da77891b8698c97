//===- Prune.cpp - Taking back recomputations that a peak does not need -----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A greedy run closes gaps on its way that later ones make superfluous, and
// jumps over peaks that lie between two of its states. Both leave clones whose
// readers might as well read what was there before.
//
//===----------------------------------------------------------------------===//

#include "Greedy.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;

/// Passes over all clones: taking one back may free the room that another needs.
static constexpr int kMaxPasses = 3;

void mlir::remat::planner::prune(const Problem &problem, const StorageGraph &graph,
                                 Schedule &schedule, bool reorder, int64_t peak) {
  GapMoves moves(problem, graph, schedule, reorder);
  std::vector<NodeIndex> clones;
  for (NodeIndex node = 0, e = schedule.getNumKnownNodes(); node < e; ++node)
    if (schedule.getNode(node).isClone && schedule.getNode(node).slot != kNone)
      clones.push_back(node);
  llvm::stable_sort(clones, [&](NodeIndex a, NodeIndex b) {
    return graph.units[schedule.getNode(a).unit].cost > graph.units[schedule.getNode(b).unit].cost;
  });
  bool hasChanged = true;
  for (int pass = 0; pass < kMaxPasses && hasChanged; ++pass) {
    hasChanged = false;
    for (NodeIndex clone : clones) {
      int64_t state = schedule.getState(), cost = schedule.getCost();
      if (!moves.takeBack(clone))
        continue;
      if (schedule.getNumForbidden() == 0 && schedule.getPeak() <= peak &&
          schedule.getCost() <= cost) {
        hasChanged = true;
        continue;
      }
      schedule.restore(state);
      schedule.forgetUndone();
    }
  }
}
