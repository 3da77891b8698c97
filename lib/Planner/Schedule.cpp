//===- Schedule.cpp - A schedule that a search edits ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The primitive edits with their inverses, and the bookkeeping of live bytes: an
// instance that begins in slot a and ends in slot b adds its bytes to the slots
// strictly between; slots a and b are replayed node by node.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "Detail.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir::remat::planner;

Schedule::Schedule(const Problem &problem, const StorageGraph &graph, bool reorder)
    : problem(&problem), graph(&graph), reorder(reorder), nodes(problem.operations.size()),
      instances(graph.roots.size()), instancesOf(graph.roots.size()),
      slots(problem.operations.size()), places(problem.operations.size()),
      tree(problem.operations.size()), isDirty(problem.operations.size()) {
  std::iota(places.begin(), places.end(), 0);
  // Originals come first: the node of operation i is i, the instance of root r is r.
  for (auto [index, root] : llvm::enumerate(graph.roots)) {
    instances[index] =
        Instance{static_cast<RootIndex>(index), static_cast<NodeIndex>(root.begin), {}};
    nodes[root.begin].outputs.push_back(index);
  }
  for (int32_t operation = 0, e = nodes.size(); operation < e; ++operation) {
    Node &node = nodes[operation];
    node.unit = graph.unitOf[operation];
    node.operation = operation;
    node.isClone = false;
    if (graph.isFoldedView[operation])
      continue;
    insertNode(operation, operation, 0);
    for (RootRead read : graph.readsOf[operation])
      node.reads.push_back(read.root);
    llvm::append_range(node.reads, graph.continues[operation]);
    // In order, so that every use goes to the end of its list.
    for (InstanceIndex instance : node.reads)
      instances[instance].uses.push_back(operation);
  }
  for (InstanceIndex instance = 0, e = instances.size(); instance < e; ++instance) {
    addSpan(instance, 1);
    countForbidden(instance, 1);
  }
}

InstanceIndex Schedule::findBefore(RootIndex root, NodeIndex node) const {
  for (InstanceIndex instance : llvm::reverse(instancesOf[root]))
    if (isBefore(getReady(instance), node))
      return instance;
  return kNone;
}

InstanceIndex Schedule::findRead(RootRead read, NodeIndex node) const {
  if (read.isFixed)
    for (InstanceIndex instance : nodes[graph->roots[read.root].firstFixedView].reads)
      if (instances[instance].root == read.root)
        return instance;
  return findBefore(read.root, node);
}

//===----------------------------------------------------------------------===//
// Live bytes
//===----------------------------------------------------------------------===//

void Schedule::addSpan(InstanceIndex instance, int sign) {
  int32_t first = nodes[instances[instance].definition].slot;
  int32_t last = nodes[getEnd(instance)].slot;
  tree.add(first + 1, last - 1, sign * graph->roots[instances[instance].root].bytes);
}

void Schedule::moveEnd(InstanceIndex instance, int32_t from, int32_t to) {
  int32_t first = nodes[instances[instance].definition].slot + 1;
  int64_t bytes = graph->roots[instances[instance].root].bytes;
  if (from < to)
    tree.add(std::max(first, from), to - 1, bytes);
  else
    tree.add(std::max(first, to), from - 1, -bytes);
  markDirty(from);
  markDirty(to);
}

void Schedule::markDirty(int32_t slot) {
  if (isDirty[slot])
    return;
  isDirty[slot] = true;
  dirtySlots.push_back(slot);
}

void Schedule::flush() {
  for (int32_t slot : dirtySlots) {
    tree.setOwn(slot, computeOwn(slot, nullptr));
    isDirty[slot] = false;
  }
  dirtySlots.clear();
}

/// The highest bytes of the instances that begin or end in `slot`, and of the
/// workspaces, replayed node by node.
int64_t Schedule::computeOwn(int64_t slot, PeakPlace *place) const {
  auto bytesOf = [&](InstanceIndex instance) {
    return graph->roots[instances[instance].root].bytes;
  };
  auto endsAt = [&](InstanceIndex instance, NodeIndex node) {
    return instances[instance].uses.back() == node;
  };
  int64_t live = 0, highest = 0;
  for (NodeIndex node : slots[slot])
    for (InstanceIndex instance : nodes[node].reads)
      if (endsAt(instance, node) && nodes[instances[instance].definition].slot < slot)
        live += bytesOf(instance);
  for (NodeIndex node : slots[slot]) {
    const Node &info = nodes[node];
    int64_t taken = 0;
    for (InstanceIndex instance : info.outputs) {
      live += bytesOf(instance);
      RootIndex destination = graph->roots[instances[instance].root].destination;
      if (destination != kNone && llvm::any_of(info.reads, [&](InstanceIndex read) {
            return instances[read].root == destination && endsAt(read, node);
          }))
        taken += bytesOf(instance);
    }
    // A result in the place of its destination.
    live -= taken;
    int64_t workspace =
        info.operation == kNone
            ? graph->units[info.unit].workspace
            : align(problem->operations[info.operation].workspace, problem->alignment);
    if (place && live + workspace >= highest) {
      bool isHigher = live + workspace > highest || place->node == kNone;
      *place = {slot, isHigher ? node : place->node, isHigher ? 1 : place->numNodes + 1};
    }
    highest = std::max(highest, live + workspace);
    live += taken;
    for (InstanceIndex instance : info.reads)
      if (endsAt(instance, node))
        live -= bytesOf(instance);
    for (InstanceIndex instance : info.outputs)
      if (instances[instance].uses.empty())
        live -= bytesOf(instance);
  }
  return highest;
}

int64_t Schedule::getPeak() {
  flush();
  return tree.getMaximum();
}

Schedule::PeakPlace Schedule::getPeakPlace() {
  if (slots.empty())
    return {};
  flush();
  return getPeakPlace(tree.getPeakSlot());
}

Schedule::PeakPlace Schedule::getPeakPlace(int64_t slot) const {
  PeakPlace place;
  place.slot = slot;
  computeOwn(slot, &place);
  return place;
}

__int128 Schedule::getExcess(int64_t threshold) {
  flush();
  return tree.getExcess(threshold);
}

int64_t Schedule::getBytes(int64_t slot) {
  flush();
  return tree.get(slot);
}

int64_t Schedule::getMaximum(int64_t firstSlot, int64_t lastSlot) {
  flush();
  return tree.getMaximum(firstSlot, lastSlot);
}

//===----------------------------------------------------------------------===//
// Primitive edits
//===----------------------------------------------------------------------===//

void Schedule::insertNode(NodeIndex node, int32_t slot, int32_t position) {
  auto &list = slots[slot];
  list.insert(list.begin() + position, node);
  nodes[node].slot = slot;
  for (int32_t i = position, e = list.size(); i < e; ++i)
    nodes[list[i]].position = i;
  markDirty(slot);
  for (InstanceIndex instance : nodes[node].outputs) {
    auto &siblings = instancesOf[instances[instance].root];
    auto place = llvm::find_if(
        siblings, [&](InstanceIndex other) { return isBefore(node, instances[other].definition); });
    siblings.insert(place, instance);
  }
  count(nodes[node], 1);
}

void Schedule::removeNode(NodeIndex node) {
  Node &info = nodes[node];
  auto &list = slots[info.slot];
  list.erase(list.begin() + info.position);
  for (int32_t i = info.position, e = list.size(); i < e; ++i)
    nodes[list[i]].position = i;
  markDirty(info.slot);
  for (InstanceIndex instance : info.outputs)
    llvm::erase(instancesOf[instances[instance].root], instance);
  info.slot = kNone;
  count(info, -1);
}

void Schedule::count(const Node &node, int sign) {
  numNodes += sign;
  llvm::ArrayRef<OpIndex> operations = graph->units[node.unit].operations;
  OpIndex own = node.operation;
  for (OpIndex index : node.operation == kNone ? operations : llvm::ArrayRef(own)) {
    const Operation &operation = problem->operations[index];
    int64_t bytes = align(operation.workspace, problem->alignment);
    for (ValueIndex value : operation.writes)
      bytes += align(problem->values[value].bytes, problem->alignment);
    cost += sign * operation.cost;
    computedBytes += sign * bytes;
  }
}

bool Schedule::isFull() const {
  // One closure executes no unit twice, so it adds at most what the problem has.
  return std::max(cost, computedBytes) > detail::kMaxPlanSum - 2 * kMaxProblemSum;
}

void Schedule::moveNode(NodeIndex node, int32_t slot, int32_t position) {
  const Node &info = nodes[node];
  for (InstanceIndex instance : info.reads)
    removeUse(instance, node);
  for (InstanceIndex instance : info.outputs) {
    addSpan(instance, -1);
    countForbidden(instance, -1);
  }
  removeNode(node);
  insertNode(node, slot, position);
  for (InstanceIndex instance : info.outputs) {
    addSpan(instance, 1);
    countForbidden(instance, 1);
  }
  for (InstanceIndex instance : info.reads)
    addUse(instance, node);
}

void Schedule::addUse(InstanceIndex instance, NodeIndex node) {
  auto &uses = instances[instance].uses;
  if (!uses.empty() && isBefore(node, uses.back())) {
    uses.insert(llvm::partition_point(uses, [&](NodeIndex use) { return isBefore(use, node); }),
                node);
    return; // The last reader alone decides.
  }
  int32_t end = nodes[getEnd(instance)].slot;
  countForbidden(instance, -1);
  uses.push_back(node);
  countForbidden(instance, 1);
  moveEnd(instance, end, nodes[node].slot);
}

void Schedule::removeUse(InstanceIndex instance, NodeIndex node) {
  auto &uses = instances[instance].uses;
  if (uses.back() != node) {
    uses.erase(llvm::partition_point(uses, [&](NodeIndex use) { return isBefore(use, node); }));
    return;
  }
  countForbidden(instance, -1);
  uses.pop_back();
  countForbidden(instance, 1);
  moveEnd(instance, nodes[node].slot, nodes[getEnd(instance)].slot);
}

void Schedule::execute(const Edit &edit, bool isForward) {
  ++numExecuted;
  switch (edit.kind) {
  case EditKind::InsertNode:
    return isForward ? insertNode(edit.node, edit.a, edit.b) : removeNode(edit.node);
  case EditKind::RemoveNode:
    return isForward ? removeNode(edit.node) : insertNode(edit.node, edit.a, edit.b);
  case EditKind::MoveNode:
    return isForward ? moveNode(edit.node, edit.c, edit.d) : moveNode(edit.node, edit.a, edit.b);
  case EditKind::AddUse:
    return isForward ? addUse(edit.a, edit.node) : removeUse(edit.a, edit.node);
  case EditKind::RemoveUse:
    return isForward ? removeUse(edit.a, edit.node) : addUse(edit.a, edit.node);
  case EditKind::SetRead:
    nodes[edit.node].reads[edit.a] = isForward ? edit.c : edit.b;
    return;
  }
}

void Schedule::apply(Edit edit) {
  execute(edit, /*isForward=*/true);
  edits.push_back(edit);
  ++numApplied;
}

void Schedule::restore(int64_t state) {
  while (numApplied > state)
    execute(edits[--numApplied], /*isForward=*/false);
  while (numApplied < state)
    execute(edits[numApplied++], /*isForward=*/true);
}

void Schedule::forgetUndone() {
  // A node is made by the first edit that inserts it, and the later the higher its
  // number.
  while (static_cast<int64_t>(edits.size()) > numApplied) {
    const Edit &edit = edits.back();
    if (edit.kind == EditKind::InsertNode &&
        edit.node + 1 == static_cast<NodeIndex>(nodes.size())) {
      instances.resize(instances.size() - nodes.back().outputs.size());
      nodes.pop_back();
    }
    edits.pop_back();
  }
}

Schedule Schedule::snapshot() {
  std::vector<Edit> kept;
  std::swap(kept, edits);
  Schedule copy = *this;
  std::swap(kept, edits);
  copy.numApplied = 0;
  return copy;
}

void Schedule::compact() {
  edits.clear();
  numApplied = 0;
  renumber();
  spread();
}

void Schedule::renumber() {
  int32_t numOriginals = problem->operations.size(), numRoots = graph->roots.size();
  std::vector<NodeIndex> nodeMap(nodes.size(), kNone);
  std::vector<InstanceIndex> instanceMap(instances.size(), kNone);
  std::vector<Node> newNodes;
  std::vector<Instance> newInstances;
  for (NodeIndex node = 0, e = nodes.size(); node < e; ++node) {
    if (node >= numOriginals && nodes[node].slot == kNone)
      continue;
    nodeMap[node] = newNodes.size();
    newNodes.push_back(std::move(nodes[node]));
  }
  for (InstanceIndex instance = 0, e = instances.size(); instance < e; ++instance) {
    if (instance >= numRoots && nodeMap[instances[instance].definition] == kNone)
      continue;
    instanceMap[instance] = newInstances.size();
    newInstances.push_back(std::move(instances[instance]));
  }
  nodes = std::move(newNodes);
  instances = std::move(newInstances);
  for (Node &node : nodes) {
    // What a removed original has read may be gone.
    if (node.slot == kNone)
      node.reads.clear();
    for (InstanceIndex &instance : node.reads)
      instance = instanceMap[instance];
    for (InstanceIndex &instance : node.outputs)
      instance = instanceMap[instance];
  }
  for (Instance &instance : instances) {
    instance.definition = nodeMap[instance.definition];
    for (NodeIndex &use : instance.uses)
      use = nodeMap[use];
  }
  for (auto &list : slots)
    for (NodeIndex &node : list)
      node = nodeMap[node];
  for (auto &list : instancesOf)
    for (InstanceIndex &instance : list)
      instance = instanceMap[instance];
}

void Schedule::spread() {
  std::vector<llvm::SmallVector<NodeIndex, 1>> newSlots;
  std::vector<OpIndex> newPlaces;
  newSlots.reserve(numNodes);
  newPlaces.reserve(numNodes);
  for (auto [list, place] : llvm::zip(slots, places)) {
    for (NodeIndex node : list) {
      nodes[node].slot = newSlots.size();
      nodes[node].position = 0;
      newSlots.emplace_back(1, node);
      newPlaces.push_back(place);
    }
  }
  slots = std::move(newSlots);
  places = std::move(newPlaces);
  tree = PeakTree(slots.size());
  isDirty.assign(slots.size(), false);
  dirtySlots.clear();
  for (InstanceIndex instance = 0, e = instances.size(); instance < e; ++instance)
    if (nodes[instances[instance].definition].slot != kNone)
      addSpan(instance, 1);
  for (int32_t slot = 0, e = slots.size(); slot < e; ++slot)
    markDirty(slot);
}

//===----------------------------------------------------------------------===//
// Compound edits
//===----------------------------------------------------------------------===//

void Schedule::move(NodeIndex node, NodeIndex before) {
  const Node &from = nodes[node], &to = nodes[before];
  // Positions count without the node itself.
  bool isShifted = from.slot == to.slot && from.position < to.position;
  apply({EditKind::MoveNode, node, from.slot, from.position, to.slot, to.position - isShifted});
}

NodeIndex Schedule::insert(UnitIndex unit, NodeIndex before, bool isClone,
                           llvm::ArrayRef<InstanceIndex> reads) {
  NodeIndex node = nodes.size();
  nodes.emplace_back();
  nodes[node].unit = unit;
  nodes[node].operation = kNone;
  nodes[node].isClone = isClone;
  nodes[node].reads.assign(reads.begin(), reads.end());
  for (RootIndex root : graph->units[unit].outputs) {
    nodes[node].outputs.push_back(instances.size());
    instances.push_back(Instance{root, node, {}});
  }
  apply({EditKind::InsertNode, node, nodes[before].slot, nodes[before].position, 0});
  for (InstanceIndex instance : reads)
    apply({EditKind::AddUse, node, instance, 0, 0});
  return node;
}

void Schedule::redirect(InstanceIndex from, NodeIndex first, InstanceIndex to) {
  while (!instances[from].uses.empty()) {
    NodeIndex user = instances[from].uses.back();
    if (isBefore(user, first))
      return;
    redirectOne(from, user, to);
  }
}

void Schedule::redirectOne(InstanceIndex from, NodeIndex user, InstanceIndex to) {
  int32_t index = llvm::find(nodes[user].reads, from) - nodes[user].reads.begin();
  apply({EditKind::SetRead, user, index, from, to});
  apply({EditKind::RemoveUse, user, from, 0, 0});
  apply({EditKind::AddUse, user, to, 0, 0});
}

/// Whether nobody reads what the unit of `node` computes there.
bool Schedule::isUnused(NodeIndex node) const {
  const Node &info = nodes[node];
  if (info.slot == kNone)
    return false;
  if (info.operation == kNone)
    return llvm::all_of(info.outputs,
                        [&](InstanceIndex output) { return instances[output].uses.empty(); });
  // An original is removed with its whole unit, whose instances are the roots.
  const Unit &unit = graph->units[info.unit];
  return reorder && unit.isMovable && llvm::all_of(unit.outputs, [&](RootIndex root) {
           return llvm::all_of(instances[root].uses, [&](NodeIndex user) {
             return nodes[user].unit == info.unit && nodes[user].operation != kNone;
           });
         });
}

void Schedule::removeUnused(NodeIndex node) {
  llvm::SmallVector<NodeIndex, 8> worklist{node};
  while (!worklist.empty()) {
    NodeIndex next = worklist.pop_back_val();
    if (!isUnused(next))
      continue;
    llvm::SmallVector<NodeIndex, 4> members{next};
    if (nodes[next].operation != kNone)
      members.assign(graph->units[nodes[next].unit].operations.begin(),
                     graph->units[nodes[next].unit].operations.end());
    llvm::SmallVector<InstanceIndex, 8> released;
    for (NodeIndex member : llvm::reverse(members)) {
      for (InstanceIndex instance : llvm::reverse(nodes[member].reads)) {
        apply({EditKind::RemoveUse, member, instance, 0, 0});
        released.push_back(instance);
      }
    }
    for (NodeIndex member : llvm::reverse(members))
      apply({EditKind::RemoveNode, member, nodes[member].slot, nodes[member].position, 0});
    for (InstanceIndex instance : released)
      worklist.push_back(instances[instance].definition);
  }
}

void Schedule::removeUnread() {
  for (InstanceIndex instance = instances.size() - 1; instance >= 0; --instance)
    if (instances[instance].uses.empty())
      removeUnused(instances[instance].definition);
}
