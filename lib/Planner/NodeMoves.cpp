//===- NodeMoves.cpp - Moving what is executed, keeping what is read --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides where a node may run, and edits the schedule accordingly.
//
//===----------------------------------------------------------------------===//

#include "NodeMoves.h"
#include "Detail.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;

/// For each operation, the last one that must run before it although no instance
/// says so.
static std::vector<OpIndex> getFixedSources(const Problem &problem, const StorageGraph &graph) {
  std::vector<OpIndex> last(problem.operations.size(), kBoundary);
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    for (ValueIndex value : operation.reads) {
      OpIndex producer = problem.values[value].producer;
      if (producer == kBoundary)
        continue;
      if (graph.isFoldedView[producer])
        last[index] = std::max(last[index], last[producer]);
      else if (graph.rootOf[value] == kNone || graph.isFixed[value])
        last[index] = std::max(last[index], producer);
    }
    for (ValueIndex value : operation.dependences)
      last[index] = std::max(last[index], problem.values[value].producer);
  }
  return last;
}

NodeMoves::NodeMoves(const Problem &problem, const StorageGraph &graph, Schedule &schedule,
                     bool reorder)
    : graph(graph), schedule(schedule), reorder(reorder),
      numPinnedBefore(detail::pinnedBefore(problem)),
      lastFixedSource(graph.units.size(), kBoundary) {
  std::vector<OpIndex> sources = getFixedSources(problem, graph);
  for (auto [unit, source] : llvm::zip(graph.unitOf, sources))
    if (unit != kNone)
      lastFixedSource[unit] = std::max(lastFixedSource[unit], source);
}

bool NodeMoves::isMovable(NodeIndex node) const {
  const Schedule::Node &info = schedule.getNode(node);
  if (info.slot == kNone)
    return false;
  const Unit &unit = graph.units[info.unit];
  if (info.isClone)
    return true;
  return reorder && unit.isMovable && (info.operation == kNone || unit.operations.size() == 1);
}

NodeIndex NodeMoves::getLastSource(NodeIndex node) const {
  NodeIndex last = kNone;
  for (InstanceIndex instance : schedule.getNode(node).reads) {
    NodeIndex source = schedule.getReady(instance);
    if (last == kNone || schedule.isBefore(last, source))
      last = source;
  }
  return last;
}

NodeIndex NodeMoves::getFirstReader(NodeIndex node) const {
  NodeIndex first = kNone;
  for (InstanceIndex output : schedule.getNode(node).outputs) {
    const auto &uses = schedule.getInstance(output).uses;
    if (!uses.empty() && (first == kNone || schedule.isBefore(uses.front(), first)))
      first = uses.front();
  }
  return first;
}

NodeIndex NodeMoves::getFirst(int64_t slot) const {
  for (int64_t e = schedule.getNumSlots(); slot < e; ++slot)
    if (!schedule.getNodes(slot).empty())
      return schedule.getNodes(slot).front();
  return kNone;
}

NodeIndex NodeMoves::getNext(NodeIndex node) const {
  const Schedule::Node &info = schedule.getNode(node);
  llvm::ArrayRef<NodeIndex> nodes = schedule.getNodes(info.slot);
  if (info.position + 1 < static_cast<int32_t>(nodes.size()))
    return nodes[info.position + 1];
  return getFirst(info.slot + 1);
}

/// Whether everything that `node` needs is there directly before `before`.
bool NodeMoves::isReadyBefore(NodeIndex node, NodeIndex before) const {
  const Schedule::Node &info = schedule.getNode(node);
  if (lastFixedSource[info.unit] >= schedule.getPlace(before))
    return false;
  if (graph.turn != kNone && info.unit == graph.unitOf[graph.turn] &&
      !schedule.isBefore(graph.turn, before))
    return false;
  return llvm::all_of(info.reads, [&](InstanceIndex instance) {
    return schedule.isBefore(schedule.getReady(instance), before);
  });
}

bool NodeMoves::relocate(NodeIndex node, NodeIndex before) {
  if (node == before || before == kNone || !isMovable(node) || getNext(node) == before)
    return false;
  const Schedule::Node &info = schedule.getNode(node);
  if (!info.isClone && numPinnedBefore[schedule.getPlace(before)] !=
                           numPinnedBefore[graph.units[info.unit].operations.front()])
    return false;
  NodeIndex reader = getFirstReader(node);
  if (reader == kNone || schedule.isBefore(reader, before) || !isReadyBefore(node, before))
    return false;
  schedule.move(node, before);
  return true;
}

bool NodeMoves::serveEarlier(NodeIndex clone) {
  const Schedule::Node &info = schedule.getNode(clone);
  if (info.slot == kNone || !info.isClone)
    return false;
  // The last reader of any of the instances that the clone repeats.
  NodeIndex reader = kNone;
  for (InstanceIndex output : info.outputs) {
    RootIndex root = schedule.getInstance(output).root;
    InstanceIndex previous = schedule.findBefore(root, clone);
    if (previous == kNone)
      continue;
    // What has passed a fixed view stays.
    if (graph.roots[root].firstFixedView < schedule.getPlace(clone))
      return false;
    const auto &uses = schedule.getInstance(previous).uses;
    auto use =
        llvm::partition_point(uses, [&](NodeIndex use) { return schedule.isBefore(use, clone); });
    if (use != uses.begin() && (reader == kNone || schedule.isBefore(reader, *std::prev(use))))
      reader = *std::prev(use);
  }
  if (reader == kNone || !isReadyBefore(clone, reader))
    return false;
  // A member of a chain reads what its own unit began.
  if (schedule.getNode(reader).unit == info.unit)
    return false;
  schedule.move(clone, reader);
  for (InstanceIndex output : schedule.getNode(clone).outputs) {
    InstanceIndex previous = schedule.findBefore(schedule.getInstance(output).root, clone);
    if (previous != kNone && schedule.getEnd(previous) != schedule.getInstance(previous).definition)
      schedule.redirect(previous, reader, output);
    if (previous != kNone)
      schedule.removeUnused(schedule.getInstance(previous).definition);
  }
  return true;
}

bool NodeMoves::serveLater(NodeIndex clone) {
  const Schedule::Node &info = schedule.getNode(clone);
  if (info.slot == kNone || !info.isClone || info.outputs.size() != 1)
    return false;
  InstanceIndex output = info.outputs.front();
  RootIndex root = schedule.getInstance(output).root;
  InstanceIndex previous = schedule.findBefore(root, clone);
  if (previous == kNone || schedule.getInstance(output).uses.size() < 2 ||
      graph.roots[root].firstFixedView < schedule.getNumOriginals())
    return false;
  NodeIndex second = schedule.getInstance(output).uses[1];
  schedule.redirectOne(output, schedule.getInstance(output).uses.front(), previous);
  schedule.move(clone, second);
  return true;
}
