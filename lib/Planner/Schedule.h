//===- Schedule.h - A schedule that a search edits --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a search: which units run when, which instance of a root each
// read refers to, and the live bytes that follow. Time is divided into slots,
// one per original operation; a slot holds the original (unless it has moved)
// and, before it, the units that were put there to serve it.
//
// All changes go through five primitive edits that are logged, so that a search
// can take a trial back and later return to any state it passed through.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_SCHEDULE_H
#define REMAT_LIB_PLANNER_SCHEDULE_H

#include "PeakTree.h"
#include "Remat/Planner/Plan.h"
#include "StorageGraph.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::remat::planner {

/// A step of the search: an original operation, or a whole unit executed at
/// another place.
using NodeIndex = int32_t;
using InstanceIndex = int32_t;

class Schedule {
public:
  struct Node {
    UnitIndex unit;
    /// Of an original; kNone when the node executes its unit as a whole.
    int32_t operation;
    bool isClone;
    /// Place; slot is kNone while the node is not in the schedule.
    int32_t slot = kNone;
    int32_t position = 0;
    /// What is read: parallel to StorageGraph::readsOf of the operation or
    /// Unit::reads, then the instances that an original continues.
    llvm::SmallVector<InstanceIndex, 4> reads;
    /// Instances that begin here.
    llvm::SmallVector<InstanceIndex, 1> outputs;
  };

  struct Instance {
    RootIndex root;
    /// Where it begins.
    NodeIndex definition;
    /// Its readers in order.
    llvm::SmallVector<NodeIndex, 4> uses;
  };

  /// Without `reorder` originals keep their place, and are never removed.
  Schedule(const Problem &problem, const StorageGraph &graph, bool reorder);

  const Node &getNode(NodeIndex node) const { return nodes[node]; }
  const Instance &getInstance(InstanceIndex instance) const { return instances[instance]; }
  int64_t getNumInstances() const { return instances.size(); }
  /// Of nodes that are or were in the schedule.
  int64_t getNumKnownNodes() const { return nodes.size(); }
  /// The instances of a root that are in the schedule, in order.
  llvm::ArrayRef<InstanceIndex> getInstances(RootIndex root) const { return instancesOf[root]; }
  /// The last instance of `root` that is complete before `node`; kNone if none.
  InstanceIndex findBefore(RootIndex root, NodeIndex node) const;
  /// The instance that `node` reads if it is to execute a unit with this read: the last
  /// one before it, or the one that passed the fixed view.
  InstanceIndex findRead(RootRead read, NodeIndex node) const;
  llvm::ArrayRef<NodeIndex> getNodes(int64_t slot) const { return slots[slot]; }

  /// Whether `a` runs before `b`.
  bool isBefore(NodeIndex a, NodeIndex b) const {
    return std::make_pair(nodes[a].slot, nodes[a].position) <
           std::make_pair(nodes[b].slot, nodes[b].position);
  }
  int64_t getNumSlots() const { return slots.size(); }
  int64_t getNumOriginals() const { return problem->operations.size(); }
  /// The original operation whose place in the problem a node or a slot is at.
  OpIndex getPlace(NodeIndex node) const { return places[nodes[node].slot]; }
  /// The first slot at a later place than `place`.
  int64_t findSlotBehind(OpIndex place) const {
    return llvm::upper_bound(places, place) - places.begin();
  }
  OpIndex getPlaceOfSlot(int64_t slot) const { return places[slot]; }
  /// The node that completes an instance.
  NodeIndex getReady(InstanceIndex instance) const {
    const Instance &info = instances[instance];
    return nodes[info.definition].operation == kNone ? info.definition
                                                     : graph->roots[info.root].ready;
  }
  /// The last reader, or the definition when there is none.
  NodeIndex getEnd(InstanceIndex instance) const {
    const Instance &info = instances[instance];
    return info.uses.empty() ? info.definition : info.uses.back();
  }

  /// Number of instances that are kept across the turn although they must not be.
  int64_t getNumForbidden() const { return numForbidden; }
  /// Whether an instance must not be read at `node`.
  bool isForbidden(InstanceIndex instance, NodeIndex node) const {
    return graph->roots[instances[instance].root].mustRecompute &&
           isBefore(getReady(instance), graph->turn) && isBefore(graph->turn, node);
  }

  /// Highest live bytes, aligned, without the boundary values.
  int64_t getPeak();
  /// Where live bytes are highest.
  struct PeakPlace {
    /// The first slot.
    int64_t slot = 0;
    /// The first node in it, and how many nodes of the slot peak as high.
    NodeIndex node = kNone;
    int64_t numNodes = 0;
  };
  PeakPlace getPeakPlace();
  int64_t getBytes(int64_t slot);
  /// Highest live bytes of the closed range of slots.
  int64_t getMaximum(int64_t firstSlot, int64_t lastSlot);
  /// The sum over all slots of the live bytes above `threshold`.
  __int128 getExcess(int64_t threshold);
  /// A slot above `threshold`, where there is one: `chooseRight` is asked which way to
  /// go where both lead to one.
  template <typename Fn>
  int64_t findSlotAbove(int64_t threshold, Fn chooseRight) {
    flush();
    return tree.findAbove(threshold, chooseRight);
  }
  /// Replays one slot: its first node with the highest bytes.
  PeakPlace getPeakPlace(int64_t slot) const;
  /// Picoseconds of all nodes in the schedule.
  int64_t getCost() const { return cost; }
  int64_t getNumNodes() const { return numNodes; }
  /// Whether the costs or the bytes of all nodes add up to so much that no clones may be
  /// added: a plan has limits, and sums must not overflow.
  bool isFull() const;

  /// Executes `unit` directly before `before`; its reads refer to `reads`. A
  /// node that is no clone takes the place of the originals, which the caller
  /// removes. Returns the new node.
  NodeIndex insert(UnitIndex unit, NodeIndex before, bool isClone,
                   llvm::ArrayRef<InstanceIndex> reads);
  /// Lets `node` run directly before `before`: behind all that it reads, and before
  /// all readers of its results.
  void move(NodeIndex node, NodeIndex before);
  /// Lets all readers of `from` that do not run before `first` read `to`.
  void redirect(InstanceIndex from, NodeIndex first, InstanceIndex to);
  /// Lets one reader of `from` read `to`.
  void redirectOne(InstanceIndex from, NodeIndex user, InstanceIndex to);
  /// Removes nodes whose results nobody reads: `node`, if it may be removed,
  /// and then what only it kept.
  void removeUnused(NodeIndex node);
  /// Removes everything that nobody reads, as far as it may be removed.
  void removeUnread();

  /// Number of edits so far that are in effect; a state to return to.
  int64_t getState() const { return numApplied; }
  /// Number of edits ever made or taken back: the work done.
  int64_t getNumExecuted() const { return numExecuted; }
  /// Takes edits back, or applies them again, until `state` is reached.
  void restore(int64_t state);
  /// Forgets the edits that were taken back, and the nodes that only they made.
  void forgetUndone();

  /// A copy that cannot go back.
  Schedule snapshot();
  /// Forgets all edits, renumbers the clones that are in the schedule, and gives each
  /// node a slot of its own: memory and time of an edit don't grow with the edits
  /// made before.
  void compact();

  /// Calls `visit` for every instance whose readers changed since `state`.
  template <typename Fn>
  void forEachChangedInstance(int64_t state, Fn visit) const {
    for (int64_t i = state; i < numApplied; ++i)
      if (edits[i].kind == EditKind::AddUse || edits[i].kind == EditKind::RemoveUse)
        visit(edits[i].a);
  }

  /// Writes the schedule as a plan, views placed and regions assigned.
  Plan toPlan() const;

private:
  enum class EditKind : uint8_t { InsertNode, RemoveNode, MoveNode, AddUse, RemoveUse, SetRead };
  struct Edit {
    EditKind kind;
    NodeIndex node;
    /// Slot of an inserted or removed node, old one of a moved node; instance of a
    /// use; index of a read.
    int32_t a;
    /// Position of a node, old one of a moved node; old instance of a read.
    int32_t b;
    /// New instance of a read; new slot and position of a moved node.
    int32_t c;
    int32_t d = 0;
  };

  void apply(Edit edit);
  void execute(const Edit &edit, bool isForward);
  void insertNode(NodeIndex node, int32_t slot, int32_t position);
  void removeNode(NodeIndex node);
  void moveNode(NodeIndex node, int32_t slot, int32_t position);
  /// Counts what a node costs and computes, `sign` times.
  void count(const Node &node, int sign);
  void renumber();
  void spread();
  void addUse(InstanceIndex instance, NodeIndex node);
  void removeUse(InstanceIndex instance, NodeIndex node);
  void setRead(NodeIndex node, unsigned index, InstanceIndex instance);
  bool isUnused(NodeIndex node) const;
  /// Adds `sign` times whether an instance is kept across the turn although it must not
  /// be.
  void countForbidden(InstanceIndex instance, int sign) {
    numForbidden += isForbidden(instance, getEnd(instance)) ? sign : 0;
  }

  /// Adds `sign` times the bytes of an instance to the slots strictly between
  /// its definition and its end.
  void addSpan(InstanceIndex instance, int sign);
  /// The last reader of an instance, or its definition if there is none, is in slot
  /// `to` and no longer in `from`.
  void moveEnd(InstanceIndex instance, int32_t from, int32_t to);
  void markDirty(int32_t slot);
  void flush();
  int64_t computeOwn(int64_t slot, PeakPlace *place) const;

  const Problem *problem;
  const StorageGraph *graph;
  bool reorder;
  std::vector<Node> nodes;
  std::vector<Instance> instances;
  std::vector<llvm::SmallVector<InstanceIndex, 1>> instancesOf;
  std::vector<llvm::SmallVector<NodeIndex, 1>> slots;
  /// By slot.
  std::vector<OpIndex> places;
  PeakTree tree;
  std::vector<bool> isDirty;
  std::vector<int32_t> dirtySlots;
  int64_t cost = 0;
  /// Aligned bytes that all nodes compute, and use as workspace.
  int64_t computedBytes = 0;
  int64_t numNodes = 0;
  int64_t numForbidden = 0;
  std::vector<Edit> edits;
  int64_t numApplied = 0;
  int64_t numExecuted = 0;
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_SCHEDULE_H
