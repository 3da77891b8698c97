//===- GapMoves.cpp - Closing one gap in a live range -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds what has to be executed again when a storage is dropped between two of
// its readers, and edits the schedule accordingly.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"
#include "Greedy.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;

/// Units that one closure may execute.
static constexpr size_t kMaxClosureUnits = 512;

bool mlir::remat::planner::operator<(const Score &a, const Score &b) {
  auto left = static_cast<__int128>(a.cost) * b.gain;
  auto right = static_cast<__int128>(b.cost) * a.gain;
  if (left != right)
    return left < right;
  return a.gain != b.gain ? a.gain > b.gain : a.numUnits < b.numUnits;
}

GapMoves::GapMoves(const Problem &problem, const StorageGraph &graph, Schedule &schedule,
                   bool reorder)
    : graph(graph), schedule(schedule), reorder(reorder),
      numPinnedBefore(detail::pinnedBefore(problem)), visitedBy(graph.units.size(), -1),
      computedNow(graph.roots.size(), kNone) {}

bool GapMoves::isMember(InstanceIndex instance, NodeIndex node) const {
  const Schedule::Node &info = schedule.getNode(node);
  const Schedule::Node &definition = schedule.getNode(schedule.getInstance(instance).definition);
  return info.operation != kNone && definition.operation != kNone && info.unit == definition.unit;
}

bool GapMoves::isValid(const Gap &gap) const {
  const Schedule::Instance &info = schedule.getInstance(gap.instance);
  if (schedule.getNode(info.definition).slot == kNone ||
      schedule.getNode(gap.previous).slot == kNone || schedule.getNode(gap.next).slot == kNone)
    return false;
  auto next = llvm::partition_point(
      info.uses, [&](NodeIndex use) { return schedule.isBefore(use, gap.next); });
  if (next == info.uses.end() || *next != gap.next)
    return false;
  return gap.previous == (next == info.uses.begin() ? info.definition : *std::prev(next));
}

NodeIndex GapMoves::getTarget(const Gap &gap) const {
  return isMember(gap.instance, gap.next) ? schedule.getReady(gap.instance) : gap.next;
}

/// Whether nothing reads the unit's results before the end of the gap, so that
/// the unit can move there.
bool GapMoves::isMove(const Gap &gap) const {
  const Schedule::Node &definition =
      schedule.getNode(schedule.getInstance(gap.instance).definition);
  const Unit &unit = graph.units[definition.unit];
  if (!unit.isMovable || definition.isClone)
    return definition.isClone && llvm::all_of(definition.outputs, [&](InstanceIndex output) {
             const auto &uses = schedule.getInstance(output).uses;
             return uses.empty() || !schedule.isBefore(uses.front(), gap.next);
           });
  if (!reorder)
    return false;
  NodeIndex target = getTarget(gap);
  if (numPinnedBefore[schedule.getPlace(target)] != numPinnedBefore[unit.operations.front()])
    return false;
  llvm::ArrayRef<InstanceIndex> outputs = definition.outputs;
  if (definition.operation != kNone)
    outputs = unit.outputs; // The instance of root r is r.
  return llvm::all_of(outputs, [&](InstanceIndex output) {
    return llvm::all_of(schedule.getInstance(output).uses, [&](NodeIndex use) {
      return isMember(output, use) || !schedule.isBefore(use, target);
    });
  });
}

InstanceIndex GapMoves::findLater(RootIndex root, NodeIndex node) const {
  for (InstanceIndex instance : schedule.getInstances(root)) {
    NodeIndex definition = schedule.getInstance(instance).definition;
    if (!schedule.isBefore(definition, node) && definition != node &&
        schedule.getNode(definition).operation == kNone)
      return instance;
  }
  return kNone;
}

std::optional<Closure> GapMoves::findClosure(const Gap &gap, NodeIndex peakNode) {
  std::optional<Closure> best = findClosure(gap, peakNode, std::nullopt);
  // Perhaps one of the needed storages is better kept instead.
  if (best && best->units.size() > 1 && best->score.cost > 0) {
    std::optional<Closure> other = findClosure(gap, peakNode, best->score);
    if (other && other->score < best->score)
      return other;
  }
  return best;
}

template <typename DecideFn>
std::optional<Closure> GapMoves::collect(const Gap &gap, NodeIndex peakNode, size_t maxUnits,
                                         bool allowReplacing, DecideFn decide) {
  const Schedule::Instance &dropped = schedule.getInstance(gap.instance);
  const Root &droppedRoot = graph.roots[dropped.root];
  NodeIndex target = getTarget(gap);
  int64_t targetSlot = schedule.getNode(target).slot;
  OpIndex targetPlace = schedule.getPlace(target);
  bool move = isMove(gap);
  if (schedule.isFull() || !droppedRoot.isDroppable || targetPlace > droppedRoot.firstFixedView ||
      !schedule.isBefore(gap.previous, peakNode) || !schedule.isBefore(peakNode, gap.next))
    return std::nullopt;
  if (!move && (!graph.units[droppedRoot.unit].isCloneable || droppedRoot.isResult ||
                isMember(gap.instance, gap.next)))
    return std::nullopt;

  Closure closure;
  closure.score = {move ? 0 : graph.units[droppedRoot.unit].cost, droppedRoot.bytes, 1};
  int64_t visit = ++numVisits;

  // Depth first over what is not at hand at the target, with an explicit stack
  // of (unit, next read).
  struct Frame {
    UnitIndex unit;
    unsigned nextRead;
    bool replacesLater;
  };
  llvm::SmallVector<Frame, 16> stack{{droppedRoot.unit, 0, false}};
  visitedBy[droppedRoot.unit] = visit;
  while (!stack.empty()) {
    Frame &frame = stack.back();
    const Unit &unit = graph.units[frame.unit];
    ++numVisited;
    if (frame.nextRead == unit.reads.size()) {
      closure.units.push_back(frame.unit);
      closure.replacesLater.push_back(frame.replacesLater);
      stack.pop_back();
      continue;
    }
    RootRead read = unit.reads[frame.nextRead++];
    const Root &root = graph.roots[read.root];
    if (visitedBy[root.unit] == visit && !read.isFixed)
      continue;
    InstanceIndex before = schedule.findRead(read, target);
    if (before != kNone && schedule.isForbidden(before, target))
      before = kNone;
    NodeIndex end = before == kNone ? kNone : schedule.getEnd(before);
    if (before != kNone && !schedule.isBefore(end, target))
      continue; // Live there.

    bool canCompute = !read.isFixed && root.isDroppable && graph.units[root.unit].isCloneable &&
                      targetPlace <= root.firstFixedView;
    InstanceIndex later = canCompute && allowReplacing ? findLater(read.root, target) : kNone;
    if (later == kNone && before != kNone &&
        decide(closure.score, root, end, targetSlot, canCompute)) {
      if (closure.score.gain <= 0)
        return std::nullopt;
      continue;
    }
    if (!canCompute || closure.units.size() + stack.size() > maxUnits)
      return std::nullopt;
    if (later == kNone)
      closure.score.cost += graph.units[root.unit].cost;
    visitedBy[root.unit] = visit;
    ++closure.score.numUnits;
    stack.push_back({root.unit, 0, later != kNone});
  }
  return closure;
}

std::optional<Closure> GapMoves::findClosure(const Gap &gap, NodeIndex peakNode,
                                             const std::optional<Score> &keepBelow) {
  int64_t peak = schedule.getPeak();
  // Keeping a storage longer is free where there is room, and costs room at the
  // peak where its life would now span it.
  return collect(
      gap, peakNode, kMaxClosureUnits, /*allowReplacing=*/true,
      [&](Score &score, const Root &root, NodeIndex end, int64_t targetSlot, bool canCompute) {
        bool spansPeak = schedule.isBefore(end, peakNode);
        int64_t endSlot = schedule.getNode(end).slot;
        bool fits = spansPeak || schedule.getMaximum(endSlot, targetSlot - 1) + root.bytes < peak;
        bool isCheaper =
            !spansPeak ||
            (keepBelow && static_cast<__int128>(root.bytes) * keepBelow->cost <
                              static_cast<__int128>(graph.units[root.unit].cost) * keepBelow->gain);
        if (canCompute && !(fits && isCheaper))
          return false;
        if (spansPeak)
          score.gain -= root.bytes;
        return true;
      });
}

std::optional<Closure> GapMoves::findClosure(const Gap &gap, NodeIndex node,
                                             const ClosureChoice &choice) {
  return collect(gap, node, choice.maxUnits, choice.allowReplacing,
                 [&](Score &, const Root &, NodeIndex, int64_t, bool canCompute) {
                   return !canCompute || choice.keeps();
                 });
}

void GapMoves::apply(const Gap &gap, const Closure &closure) {
  NodeIndex target = getTarget(gap);
  InstanceIndex dropped = gap.instance;
  RootIndex droppedRoot = schedule.getInstance(dropped).root;
  bool move = isMove(gap);
  NodeIndex oldDefinition = schedule.getInstance(dropped).definition;

  llvm::SmallVector<RootIndex, 8> computed;
  llvm::SmallVector<NodeIndex, 8> replaced;
  for (auto [unitIndex, replacesLater] : llvm::zip(closure.units, closure.replacesLater)) {
    const Unit &unit = graph.units[unitIndex];
    llvm::SmallVector<InstanceIndex, 8> reads;
    for (RootRead read : unit.reads)
      reads.push_back(computedNow[read.root] != kNone && !read.isFixed
                          ? computedNow[read.root]
                          : schedule.findRead(read, target));
    bool isDropped = unitIndex == graph.roots[droppedRoot].unit;
    NodeIndex old = kNone;
    if (isDropped && move)
      old = oldDefinition;
    else if (replacesLater)
      for (RootIndex root : unit.outputs)
        if (InstanceIndex later = findLater(root, target); later != kNone && old == kNone)
          old = schedule.getInstance(later).definition;
    bool isClone = old == kNone || schedule.getNode(old).isClone;
    NodeIndex node = schedule.insert(unitIndex, target, isClone, reads);
    for (auto [root, output] : llvm::zip(unit.outputs, schedule.getNode(node).outputs)) {
      computedNow[root] = output;
      computed.push_back(root);
    }
    if (old == kNone)
      continue;
    replaced.push_back(old);
    // All results of the execution that goes away are read from the new one.
    const Schedule::Node &oldNode = schedule.getNode(old);
    for (auto [index, root] : llvm::enumerate(unit.outputs)) {
      InstanceIndex from = oldNode.operation == kNone ? oldNode.outputs[index] : root;
      const auto &uses = schedule.getInstance(from).uses;
      auto first = llvm::find_if(uses, [&](NodeIndex use) { return !isMember(from, use); });
      if (first != uses.end())
        schedule.redirect(from, *first, computedNow[root]);
    }
  }
  if (!move) {
    schedule.redirect(dropped, gap.next, computedNow[droppedRoot]);
    replaced.push_back(oldDefinition);
  }
  for (RootIndex root : computed)
    computedNow[root] = kNone;
  for (NodeIndex node : replaced)
    schedule.removeUnused(node);
}

bool GapMoves::takeBack(NodeIndex clone) {
  if (!schedule.getNode(clone).isClone || schedule.getNode(clone).slot == kNone)
    return false;
  llvm::SmallVector<std::pair<InstanceIndex, InstanceIndex>, 2> replacements;
  for (InstanceIndex output : schedule.getNode(clone).outputs) {
    const Schedule::Instance &info = schedule.getInstance(output);
    if (info.uses.empty())
      continue;
    InstanceIndex before = schedule.findBefore(info.root, clone);
    if (before == kNone)
      return false;
    replacements.push_back({output, before});
  }
  for (auto [output, before] : replacements)
    schedule.redirect(output, schedule.getInstance(output).uses.front(), before);
  schedule.removeUnused(clone);
  return true;
}
