//===- NodeLink.h - Graphs in networkx's node-link form ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computation graphs as the planners of Checkmate (Jain et al., MLSys 2020) and
// MOCCASIN (Bartan et al., ICML 2023) exchange them: a node is an operation with
// one output, a link is a read.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_NODELINK_H
#define REMAT_PLANNER_NODELINK_H

#include "Remat/Planner/Plan.h"

namespace mlir::remat::planner {

struct NodeLinkGraph {
  /// One operation and one value per node, in the input order; then an operation
  /// without a cost that depends on every node that nobody reads, so that each is
  /// computed.
  Problem problem;
  /// Of the nodes, as text.
  std::vector<std::string> ids;
};

/// Whether a text is an object with the key "nodes".
bool isNodeLink(llvm::StringRef text);

/// Reads a graph. A node has an `id` (or only a `name`), the bytes of its output as
/// `cost_ram` or `out_cost`, and a cost as `cost_cpu` or `duration`; a link has the
/// ids of its ends as `source` and `target`, or as `"0"` and `"1"`. The input order is
/// `graph.order`, or that of the nodes. Other keys are ignored. The error names the
/// node or link that is wrong.
llvm::Expected<NodeLinkGraph> parseNodeLink(llvm::StringRef text);

/// The ids of the nodes in the order of execution; repeats are recomputations.
std::vector<std::string> getSchedule(const NodeLinkGraph &graph, const Plan &plan);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_NODELINK_H
