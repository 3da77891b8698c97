//===- Greedy.cpp - One greedy run towards the smallest peak ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps every gap in a segment tree over slots whose nodes are heaps ordered by
// score, so that the best gap around the peak is at the top of one of O(log n)
// heaps. Scores are lower bounds when a gap enters and are made exact when it
// reaches the top.
//
//===----------------------------------------------------------------------===//

#include "Greedy.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;

namespace {
struct Candidate {
  Score score;
  Gap gap;
  /// Number of moves made when the score was worked out; -1 for a lower bound.
  int64_t move;
};

/// Whether `a` is to be tried after `b`: the order of the heaps. Ties go to the
/// older instance, then the earlier reader, both numbered deterministically.
bool isWorse(const Candidate &a, const Candidate &b) {
  if (b.score < a.score)
    return true;
  if (a.score < b.score)
    return false;
  return std::make_pair(a.gap.instance, a.gap.next) > std::make_pair(b.gap.instance, b.gap.next);
}

/// Intervals of slots with a heap per node of a segment tree: the candidates
/// whose interval contains a slot are in the heaps on the slot's path.
class StabbingHeaps {
public:
  explicit StabbingHeaps(int64_t numSlots) {
    while (width < numSlots)
      width *= 2;
    heaps.resize(2 * width);
  }

  void insert(int64_t firstSlot, int64_t lastSlot, const Candidate &candidate) {
    for (int64_t left = firstSlot + width, right = lastSlot + width + 1; left < right;
         left /= 2, right /= 2) {
      if (left & 1)
        push(left++, candidate);
      if (right & 1)
        push(--right, candidate);
    }
  }

  void push(int64_t node, const Candidate &candidate) {
    heaps[node].push_back(candidate);
    std::push_heap(heaps[node].begin(), heaps[node].end(), isWorse);
  }

  /// The node on the path of `slot` with the best candidate; 0 when all are empty.
  int64_t findBest(int64_t slot) const {
    int64_t best = 0;
    for (int64_t node = slot + width; node >= 1; node /= 2)
      if (!heaps[node].empty() && (best == 0 || isWorse(heaps[best].front(), heaps[node].front())))
        best = node;
    return best;
  }

  Candidate pop(int64_t node) {
    std::pop_heap(heaps[node].begin(), heaps[node].end(), isWorse);
    return heaps[node].pop_back_val();
  }

private:
  int64_t width = 1;
  std::vector<llvm::SmallVector<Candidate, 0>> heaps;
};

class GreedyRun {
public:
  GreedyRun(const Problem &problem, const StorageGraph &graph, Schedule &schedule, bool reorder)
      : graph(graph), schedule(schedule), moves(problem, graph, schedule, reorder),
        heaps(problem.operations.size()), maxNodes(16 * problem.operations.size() + 1024),
        maxWork(512 * problem.operations.size() + (1 << 25)) {
    for (InstanceIndex instance = 0, e = schedule.getNumInstances(); instance < e; ++instance)
      addGaps(instance);
  }

  std::vector<GreedyState> run() {
    std::vector<GreedyState> states{{schedule.getState(), schedule.getPeak(), schedule.getCost()}};
    while (schedule.getNumNodes() < maxNodes &&
           schedule.getNumExecuted() + moves.getNumVisited() < maxWork && makeMove()) {
      int64_t peak = schedule.getPeak();
      if (peak < states.back().peak)
        states.push_back({schedule.getState(), peak, schedule.getCost()});
    }
    return states;
  }

private:
  void addGaps(InstanceIndex instance) {
    const Root &root = graph.roots[schedule.getInstance(instance).root];
    if (!root.isDroppable)
      return;
    moves.forEachGap(instance, [&](const Gap &gap) {
      // The definition and the first reader of a value are often neighbours:
      // nothing lies between them.
      int64_t first = schedule.getNode(gap.previous).slot;
      int64_t last = schedule.getNode(gap.next).slot;
      if (last - first < 2 && first + 1 == last && schedule.getNodes(last).front() == gap.next &&
          schedule.getNodes(first).back() == gap.previous)
        return;
      if (!known.insert({instance, {gap.previous, gap.next}}).second)
        return;
      bool isFree = gap.previous == schedule.getInstance(instance).definition;
      heaps.insert(first, last,
                   {{isFree ? 0 : graph.units[root.unit].cost, root.bytes, 1}, gap, -1});
    });
  }

  /// Makes the best move at the peak. False when none lowers it.
  bool makeMove() {
    Schedule::PeakPlace place = schedule.getPeakPlace();
    if (place.node == kNone)
      return false; // Nothing is ever live.
    int64_t peak = schedule.getPeak();
    // Candidates that are passed over for this peak only.
    llvm::SmallVector<std::pair<int64_t, Candidate>, 8> postponed;
    bool isDone = false;
    while (int64_t node = heaps.findBest(place.slot)) {
      Candidate candidate = heaps.pop(node);
      const Gap &gap = candidate.gap;
      if (!moves.isValid(gap)) {
        known.erase({gap.instance, {gap.previous, gap.next}});
        continue;
      }
      if (candidate.move != numMoves) {
        std::optional<Closure> closure = moves.findClosure(gap, place.node);
        if (!closure) {
          postponed.push_back({node, candidate});
          continue;
        }
        candidate.score = closure->score;
        candidate.move = numMoves;
        heaps.push(node, candidate);
        continue;
      }
      if (tryMove(gap, place, peak)) {
        isDone = true;
        break;
      }
      postponed.push_back({node, candidate});
    }
    for (auto &[node, candidate] : postponed) {
      candidate.move = -1;
      heaps.push(node, candidate);
    }
    return isDone;
  }

  /// Closes a gap, and takes it back unless that is progress: the peak is lower,
  /// or as high but further back, or in fewer nodes of its slot. The order of
  /// these three has no cycles, so the run ends.
  bool tryMove(const Gap &gap, const Schedule::PeakPlace &place, int64_t peak) {
    std::optional<Closure> closure = moves.findClosure(gap, place.node);
    int64_t state = schedule.getState();
    moves.apply(gap, *closure);
    int64_t newPeak = schedule.getPeak();
    bool isAllowed = schedule.getNumForbidden() == 0;
    bool isBetter = isAllowed && newPeak < peak;
    if (isAllowed && newPeak == peak) {
      Schedule::PeakPlace newPlace = schedule.getPeakPlace();
      isBetter = newPlace.slot > place.slot ||
                 (newPlace.slot == place.slot && newPlace.numNodes < place.numNodes);
    }
    if (!isBetter) {
      schedule.restore(state);
      schedule.forgetUndone();
      return false;
    }
    ++numMoves;
    llvm::SmallVector<InstanceIndex, 16> changed;
    schedule.forEachChangedInstance(state,
                                    [&](InstanceIndex instance) { changed.push_back(instance); });
    llvm::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (InstanceIndex instance : changed)
      addGaps(instance);
    return true;
  }

  const StorageGraph &graph;
  Schedule &schedule;
  GapMoves moves;
  StabbingHeaps heaps;
  llvm::DenseSet<std::pair<InstanceIndex, std::pair<NodeIndex, NodeIndex>>> known;
  /// Of the schedule; and edits and units looked at, which keep the run linear where
  /// chains of clones grow with the problem.
  int64_t maxNodes, maxWork;
  int64_t numMoves = 0;
};
} // namespace

std::vector<GreedyState> mlir::remat::planner::runGreedy(const Problem &problem,
                                                         const StorageGraph &graph,
                                                         Schedule &schedule, bool reorder) {
  return GreedyRun(problem, graph, schedule, reorder).run();
}
