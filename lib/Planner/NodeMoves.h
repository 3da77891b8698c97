//===- NodeMoves.h - Moving what is executed, keeping what is read ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The moves of a local search that close no gap: a node runs at another place, or a
// clone serves one reader more or less of the instance before it.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_NODEMOVES_H
#define REMAT_LIB_PLANNER_NODEMOVES_H

#include "Greedy.h"

namespace mlir::remat::planner {

class NodeMoves {
public:
  NodeMoves(const Problem &problem, const StorageGraph &graph, Schedule &schedule, bool reorder);

  /// Whether the node may stand elsewhere.
  bool isMovable(NodeIndex node) const;
  /// The last of the nodes that compute what `node` reads; kNone if it reads nothing
  /// that is computed.
  NodeIndex getLastSource(NodeIndex node) const;
  /// The first reader of what `node` computes; kNone if there is none.
  NodeIndex getFirstReader(NodeIndex node) const;
  /// The node directly behind; kNone at the end.
  NodeIndex getNext(NodeIndex node) const;
  /// The first node in `slot` or behind it; kNone at the end.
  NodeIndex getFirst(int64_t slot) const;

  /// Lets `node` run directly before `before`; false, with nothing changed, where it
  /// must not.
  bool relocate(NodeIndex node, NodeIndex before);
  /// Lets a clone run before the last reader of the instance that it repeats, and
  /// serve that reader too; false, with nothing changed, where that is impossible.
  bool serveEarlier(NodeIndex clone);
  /// Lets the first reader of a clone read the instance before it, and the clone run
  /// before its next reader; false, with nothing changed, where that is impossible.
  bool serveLater(NodeIndex clone);

private:
  bool isReadyBefore(NodeIndex node, NodeIndex before) const;

  const StorageGraph &graph;
  Schedule &schedule;
  bool reorder;
  /// Number of pinned operations before each operation.
  std::vector<int64_t> numPinnedBefore;
  /// Of a unit: the last operation that it needs without reading an instance of it
  /// (a scalar, a view that cannot be repeated, a dependence), which never moves.
  std::vector<OpIndex> lastFixedSource;
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_NODEMOVES_H
