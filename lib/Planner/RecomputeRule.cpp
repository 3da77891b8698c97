//===- RecomputeRule.cpp - What must not be kept where memory is highest ----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each unit is executed at most once more, so that the first schedule is as large
// as the problem: whoever reads a result behind the turn reads the same instance.
//
//===----------------------------------------------------------------------===//

#include "RecomputeRule.h"
#include "Detail.h"
#include "Remat/Planner/Simulator.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

static bool mustRecompute(const Operation &operation) {
  return operation.policy == Policy::MustRecompute;
}

/// Whether the operation computes something in a storage of its own that a region of
/// clones can wait for.
static bool hasAwaitableStorage(const Problem &problem, const Operation &operation) {
  return llvm::any_of(operation.writes, [&](ValueIndex index) {
    const Value &value = problem.values[index];
    return value.isAwaitable && value.placement != Placement::View &&
           value.placement != Placement::None;
  });
}

OpIndex mlir::remat::planner::findTurn(const Problem &problem) {
  if (llvm::none_of(problem.operations, mustRecompute))
    return kBoundary;
  std::vector<bool> needed = neededOperations(problem);
  std::vector<int64_t> live = simulate(problem, identityPlan(problem)).liveBytes;
  OpIndex turn = kBoundary;
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    if (needed[index] && hasAwaitableStorage(problem, operation) &&
        (turn == kBoundary || live[index] > live[turn]))
      turn = index;
  return turn;
}

RecomputeRule::RecomputeRule(const Problem &problem)
    : turn(findTurn(problem)), appliesTo(problem.values.size(), false) {
  if (turn == kBoundary)
    return;
  std::vector<ValueIndex> roots = viewRoots(problem);
  std::vector<bool> isResult(problem.values.size(), false);
  if (problem.operations.back().effect == Effect::Pinned)
    for (ValueIndex value : problem.operations.back().reads)
      isResult[roots[value]] = true;
  std::vector<int64_t> numReaders(problem.values.size(), 0);
  std::vector<bool> isDestination(problem.values.size(), false);
  for (const Operation &operation : problem.operations) {
    for (ValueIndex value : operation.reads)
      ++numReaders[value];
    for (ValueIndex value : operation.writes)
      if (problem.values[value].placement == Placement::Reuse)
        isDestination[problem.values[value].source] = true;
  }
  bool isAny = false;
  for (auto [index, value] : llvm::enumerate(problem.values)) {
    if (value.producer == kBoundary || !mustRecompute(problem.operations[value.producer]) ||
        value.placement == Placement::View || value.placement == Placement::None ||
        value.bytes == 0 || isResult[index] || (isDestination[index] && numReaders[index] == 1))
      continue;
    appliesTo[index] = true;
    isAny = true;
  }
  if (!isAny)
    turn = kBoundary;
}

namespace {
class Recomputation {
public:
  Recomputation(const Problem &problem, const StorageGraph &graph, Schedule &schedule)
      : problem(problem), graph(graph), schedule(schedule), turn(graph.turn),
        computed(graph.roots.size(), kNone) {}

  llvm::Error run() {
    std::vector<NodeIndex> behind;
    for (int64_t slot = schedule.getNode(turn).slot, e = schedule.getNumSlots(); slot < e; ++slot)
      for (NodeIndex node : schedule.getNodes(slot))
        if (schedule.isBefore(turn, node))
          behind.push_back(node);
    for (NodeIndex node : behind)
      if (llvm::Error error = serve(node))
        return error;
    for (RootIndex root = 0, e = computed.size(); root < e; ++root)
      if (computed[root] != kNone)
        schedule.removeUnused(graph.roots[root].begin);
    return llvm::Error::success();
  }

private:
  /// Whether the first instance of `root` must not be read behind the turn.
  bool isForbidden(RootIndex root) const {
    return graph.roots[root].mustRecompute && graph.roots[root].ready < turn;
  }

  llvm::Error serve(NodeIndex node) {
    llvm::SmallVector<InstanceIndex, 4> reads = schedule.getNode(node).reads;
    for (auto [index, instance] : llvm::enumerate(reads)) {
      RootIndex root = schedule.getInstance(instance).root;
      if (!isForbidden(root))
        continue;
      OpIndex reader = schedule.getNode(node).operation;
      if (graph.readsOf[reader][index].isFixed && graph.roots[root].firstFixedView < turn)
        return fail(root, reader, graph.roots[root].firstFixedView);
      if (computed[root] == kNone)
        if (llvm::Error error = compute(graph.roots[root].unit, node))
          return error;
      schedule.redirectOne(instance, node, computed[root]);
    }
    return llvm::Error::success();
  }

  /// Executes `unit` before `node`, and before it what it needs: depth first, with an
  /// explicit stack of units and their next reads.
  llvm::Error compute(UnitIndex unit, NodeIndex node) {
    llvm::SmallVector<std::pair<UnitIndex, size_t>, 16> stack{{unit, 0}};
    while (!stack.empty()) {
      auto &[current, nextRead] = stack.back();
      const Unit &info = graph.units[current];
      OpIndex reader = info.operations.back();
      if (!info.isCloneable)
        return fail(info.outputs.front(), schedule.getNode(node).operation, firstKept(info));
      if (nextRead == info.reads.size()) {
        insert(current, node);
        stack.pop_back();
        continue;
      }
      RootRead read = info.reads[nextRead++];
      if (!isForbidden(read.root) || computed[read.root] != kNone)
        continue;
      if (read.isFixed)
        return fail(read.root, reader, graph.roots[read.root].firstFixedView);
      stack.push_back({graph.roots[read.root].unit, 0});
    }
    return llvm::Error::success();
  }

  void insert(UnitIndex unit, NodeIndex node) {
    llvm::SmallVector<InstanceIndex, 8> reads;
    for (RootRead read : graph.units[unit].reads)
      // The first instance of a root has its number.
      reads.push_back(isForbidden(read.root) ? computed[read.root] : read.root);
    NodeIndex clone = schedule.insert(unit, node, /*isClone=*/true, reads);
    for (auto [root, output] :
         llvm::zip(graph.units[unit].outputs, schedule.getNode(clone).outputs))
      computed[root] = output;
  }

  /// The operation that keeps a unit from being executed again.
  OpIndex firstKept(const Unit &unit) const {
    for (OpIndex index : unit.operations)
      if (!problem.operations[index].recomputable ||
          problem.operations[index].policy == Policy::MustSave)
        return index;
    return unit.operations.front();
  }

  llvm::Error fail(RootIndex root, OpIndex reader, OpIndex obstacle) const {
    auto name = [&](OpIndex index) {
      return llvm::formatv("operation {0} ('{1}')", index, problem.operations[index].name).str();
    };
    return makeError("{0} must be recomputed for {1}, but {2} cannot be executed again",
                     name(graph.roots[root].ready), name(reader), name(obstacle));
  }

  const Problem &problem;
  const StorageGraph &graph;
  Schedule &schedule;
  NodeIndex turn;
  /// By root: the instance behind the turn.
  std::vector<InstanceIndex> computed;
};
} // namespace

llvm::Error mlir::remat::planner::recomputeBehindTurn(const Problem &problem,
                                                      const StorageGraph &graph,
                                                      Schedule &schedule) {
  if (graph.turn == kNone)
    return llvm::Error::success();
  return Recomputation(problem, graph, schedule).run();
}
