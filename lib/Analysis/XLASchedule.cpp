//===- XLASchedule.cpp - The order in which XLA executes operations ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/XLASchedule.h"

#include "Remat/Analysis/FunctionProblem.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::remat;
using planner::kBoundary;
using planner::OpIndex;
using planner::Placement;
using planner::ValueIndex;

namespace {
/// What operations wait for.
class DependenceGraph {
public:
  explicit DependenceGraph(const planner::Problem &problem);

  OpIndex size() const { return operands.size(); }
  int64_t getNumUsers(OpIndex op) const { return users[op].size(); }

  /// Producers of what an operation reads, each once.
  std::vector<SmallVector<OpIndex, 4>> operands;
  std::vector<SmallVector<OpIndex, 4>> users;
  /// The operation with effects in front of one with effects.
  std::vector<OpIndex> previous;
  /// Bytes of the buffers that an operation makes.
  std::vector<int64_t> madeBytes;
  /// By operation: the values whose buffers it reads, each once. By value: the operations
  /// that read its buffer.
  std::vector<SmallVector<ValueIndex, 4>> buffers;
  std::vector<SmallVector<OpIndex, 4>> readers;
};
} // namespace

static bool isBuffer(const planner::Value &value) {
  return value.producer != kBoundary &&
         (value.placement == Placement::Own || value.placement == Placement::Reuse);
}

DependenceGraph::DependenceGraph(const planner::Problem &problem)
    : operands(problem.operations.size()), users(problem.operations.size()),
      previous(problem.operations.size(), kBoundary), madeBytes(problem.operations.size()),
      buffers(problem.operations.size()), readers(problem.values.size()) {
  std::vector<ValueIndex> root = listRoots(problem);
  OpIndex lastWithEffects = kBoundary;
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    OpIndex op = index;
    auto addOperand = [&](ValueIndex value) {
      OpIndex producer = problem.values[value].producer;
      if (producer == kBoundary || (!users[producer].empty() && users[producer].back() == op))
        return;
      operands[op].push_back(producer);
      users[producer].push_back(op);
    };
    llvm::for_each(operation.reads, addOperand);
    llvm::for_each(operation.dependences, addOperand);
    for (ValueIndex read : operation.reads) {
      ValueIndex buffer = root[read];
      if (!isBuffer(problem.values[buffer]) ||
          (!readers[buffer].empty() && readers[buffer].back() == op))
        continue;
      buffers[op].push_back(buffer);
      readers[buffer].push_back(op);
    }
    for (ValueIndex value : operation.writes)
      if (isBuffer(problem.values[value]))
        madeBytes[op] += problem.values[value].bytes;
    if (operation.effect != planner::Effect::Pure) {
      previous[op] = lastWithEffects;
      lastWithEffects = op;
    }
  }
}

//===----------------------------------------------------------------------===//
// Depth first
//===----------------------------------------------------------------------===//

/// Operands before their readers, in the order of `operands`.
static OperationOrder orderDepthFirst(const DependenceGraph &graph,
                                      ArrayRef<SmallVector<OpIndex, 4>> operands) {
  OperationOrder order;
  std::vector<bool> isVisited(graph.size());
  SmallVector<std::pair<OpIndex, size_t>> stack;
  for (OpIndex root = 0; root < graph.size(); ++root) {
    if (graph.getNumUsers(root) != 0)
      continue;
    isVisited[root] = true;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[op, next] = stack.back();
      OpIndex operand = kBoundary;
      if (next < operands[op].size())
        operand = operands[op][next];
      else if (next == operands[op].size())
        operand = graph.previous[op];
      if (next++ > operands[op].size()) {
        order.push_back(op);
        stack.pop_back();
      } else if (operand != kBoundary && !isVisited[operand]) {
        isVisited[operand] = true;
        stack.push_back({operand, 0});
      }
    }
  }
  return order;
}

/// For each operation its operands, first those that many others read, or whose operands
/// many others read; then those that need most bytes.
static std::vector<SmallVector<OpIndex, 4>> sortOperands(const DependenceGraph &graph) {
  /// Of an operation and all that it is computed from, with repetitions.
  struct Weight {
    int64_t otherUsers, bytes;
  };
  std::vector<Weight> weights(graph.size());
  int64_t bytesSoFar = 0;
  for (OpIndex op = 0; op < graph.size(); ++op) {
    int64_t otherUsers = std::max<int64_t>(graph.getNumUsers(op) - 1, 0);
    int64_t bytes = graph.madeBytes[op];
    bytesSoFar += bytes;
    for (OpIndex operand : graph.operands[op]) {
      otherUsers = std::min(otherUsers + weights[operand].otherUsers, graph.size());
      bytes = std::min(bytes + weights[operand].bytes, bytesSoFar);
    }
    weights[op] = {otherUsers, bytes};
  }
  std::vector<SmallVector<OpIndex, 4>> sorted = graph.operands;
  for (SmallVector<OpIndex, 4> &operands : sorted)
    llvm::stable_sort(operands, [&](OpIndex a, OpIndex b) {
      return std::make_pair(-weights[a].otherUsers, -weights[a].bytes) <
             std::make_pair(-weights[b].otherUsers, -weights[b].bytes);
    });
  return sorted;
}

//===----------------------------------------------------------------------===//
// By freed bytes
//===----------------------------------------------------------------------===//

namespace {
/// Always takes the operation that frees most bytes more than it takes; of several the one
/// with most users, and of these the one that has become ready last.
class FreeingScheduler {
public:
  FreeingScheduler(const planner::Problem &problem, const DependenceGraph &graph)
      : problem(problem), graph(graph), numWaiting(graph.size()), places(graph.size()),
        isPlaced(graph.size()) {
    for (const auto &readers : graph.readers)
      numReaders.push_back(readers.size());
  }

  OperationOrder run() {
    std::vector<OpIndex> next(graph.size(), kBoundary);
    for (OpIndex op = 0; op < graph.size(); ++op) {
      numWaiting[op] = graph.operands[op].size() + (graph.previous[op] != kBoundary);
      if (graph.previous[op] != kBoundary)
        next[graph.previous[op]] = op;
    }
    for (OpIndex op = 0; op < graph.size(); ++op)
      if (numWaiting[op] == 0)
        insert(op);
    OperationOrder order;
    while (!ready.empty()) {
      OpIndex op = ready.rbegin()->op;
      ready.erase(std::prev(ready.end()));
      isPlaced[op] = true;
      order.push_back(op);
      SmallVector<ValueIndex, 4> almostFree;
      for (ValueIndex buffer : graph.buffers[op])
        if (--numReaders[buffer] == 1)
          almostFree.push_back(buffer);
      for (OpIndex user : graph.users[op])
        becomeReady(user);
      if (next[op] != kBoundary)
        becomeReady(next[op]);
      for (ValueIndex buffer : almostFree)
        for (OpIndex reader : graph.readers[buffer])
          if (!isPlaced[reader] && numWaiting[reader] == 0)
            insert(reader);
    }
    return order;
  }

private:
  /// Larger is better.
  struct Entry {
    int64_t freedBytes, numUsers, time;
    OpIndex op;
    bool operator<(const Entry &other) const {
      return std::tie(freedBytes, numUsers, time) <
             std::tie(other.freedBytes, other.numUsers, other.time);
    }
  };

  void becomeReady(OpIndex op) {
    if (--numWaiting[op] == 0)
      insert(op);
  }

  /// Adds a ready operation, or moves it to where it belongs now.
  void insert(OpIndex op) {
    int64_t freed = -graph.madeBytes[op];
    for (ValueIndex buffer : graph.buffers[op])
      if (numReaders[buffer] == 1)
        freed += problem.values[buffer].bytes;
    if (places[op]) {
      if (places[op]->freedBytes == freed)
        return;
      ready.erase(*places[op]);
    }
    places[op] = Entry{freed, graph.getNumUsers(op), ++now, op};
    ready.insert(*places[op]);
  }

  const planner::Problem &problem;
  const DependenceGraph &graph;
  /// By buffer: how many operations that are not placed read it.
  std::vector<int64_t> numReaders;
  /// By operation: how many it waits for.
  std::vector<int64_t> numWaiting;
  std::set<Entry> ready;
  std::vector<std::optional<Entry>> places;
  std::vector<bool> isPlaced;
  int64_t now = 0;
};
} // namespace

SmallVector<OperationOrder, 3> mlir::remat::listXLAOrders(const planner::Problem &problem) {
  DependenceGraph graph(problem);
  SmallVector<OperationOrder, 3> orders{FreeingScheduler(problem, graph).run(),
                                        orderDepthFirst(graph, sortOperands(graph)),
                                        orderDepthFirst(graph, graph.operands)};
  // Behind what nobody reads, too.
  for (OperationOrder &order : orders) {
    order.erase(llvm::find(order, graph.size() - 1));
    order.push_back(graph.size() - 1);
  }
  return orders;
}
