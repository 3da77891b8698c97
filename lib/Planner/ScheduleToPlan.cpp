//===- ScheduleToPlan.cpp - A search state written as a plan ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands units into operations and puts the folded views back: a view stays
// where it was when the instance it shows is there, and otherwise goes directly
// before its first reader.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"
#include "Schedule.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;

namespace {
class PlanWriter {
public:
  PlanWriter(const Problem &problem, const StorageGraph &graph, const Schedule &schedule,
             bool reorder)
      : problem(problem), graph(graph), schedule(schedule), reorder(reorder),
        numPinnedBefore(detail::pinnedBefore(problem)),
        originalStep(problem.operations.size(), kBoundary), viewsNeeded(problem.operations.size()),
        isPlaced(problem.operations.size()) {}

  Plan run() {
    findNeededViews();
    int64_t slot = 0, numSlots = schedule.getNumSlots();
    for (OpIndex place = 0, e = problem.operations.size(); place < e; ++place) {
      for (; slot < numSlots && schedule.getPlaceOfSlot(slot) == place; ++slot)
        for (NodeIndex node : schedule.getNodes(slot))
          writeNode(node);
      if (graph.isFoldedView[place])
        writeViewInPlace(place);
    }
    if (reorder)
      promoteClones();
    dropUnreadClones(plan);
    hoistClones(problem, plan);
    assignRegions(problem, plan);
    return std::move(plan);
  }

private:
  using ViewKey = std::pair<ValueIndex, InstanceIndex>;

  bool isPinned(OpIndex operation) const {
    return problem.operations[operation].effect == Effect::Pinned;
  }
  bool isFoldedViewValue(ValueIndex value) const {
    OpIndex producer = problem.values[value].producer;
    return producer != kBoundary && graph.isFoldedView[producer];
  }

  /// The operations that a node executes.
  llvm::ArrayRef<OpIndex> getOperations(const Schedule::Node &node, OpIndex &storage) const {
    if (node.operation == kNone)
      return graph.units[node.unit].operations;
    storage = node.operation;
    return storage;
  }

  /// The instance of `root` that `operation`, executed by `node`, reads; kNone
  /// for a root of its own unit.
  InstanceIndex findInstance(const Schedule::Node &node, OpIndex operation, RootIndex root) const {
    llvm::ArrayRef<RootRead> reads = node.operation == kNone
                                         ? llvm::ArrayRef(graph.units[node.unit].reads)
                                         : llvm::ArrayRef(graph.readsOf[operation]);
    for (auto [read, instance] : llvm::zip(reads, node.reads))
      if (read.root == root)
        return instance;
    return kNone;
  }

  /// Collects, for every folded view, the instances that somebody reads
  /// through it.
  void findNeededViews() {
    for (int64_t slot = 0, e = schedule.getNumSlots(); slot < e; ++slot) {
      for (NodeIndex index : schedule.getNodes(slot)) {
        const Schedule::Node &node = schedule.getNode(index);
        OpIndex storage;
        for (OpIndex operation : getOperations(node, storage)) {
          for (ValueIndex value : problem.operations[operation].reads) {
            if (!isFoldedViewValue(value))
              continue;
            InstanceIndex instance = findInstance(node, operation, graph.rootOf[value]);
            for (; isFoldedViewValue(value); value = problem.values[value].source) {
              auto &needed = viewsNeeded[problem.values[value].producer];
              if (llvm::is_contained(needed, instance))
                break;
              needed.push_back(instance);
            }
          }
        }
      }
    }
  }

  /// The place at which an instance is complete.
  OpIndex getReadyPlace(InstanceIndex instance) const {
    return schedule.getPlace(schedule.getReady(instance));
  }

  /// Where nobody reads an original any more, the first clone is the original,
  /// moved. Not across a pinned operation, which originals must not pass.
  void promoteClones() {
    int64_t numPinned = 0;
    for (auto [index, step] : llvm::enumerate(plan.steps)) {
      numPinned += isPinned(step.op);
      if (!step.isClone || originalStep[step.op] != kBoundary ||
          numPinned != numPinnedBefore[step.op])
        continue;
      step.isClone = false;
      originalStep[step.op] = index;
    }
  }

  void writeViewInPlace(OpIndex operation) {
    isPlaced[operation] = true;
    ValueIndex value = problem.operations[operation].writes[0];
    for (InstanceIndex instance : viewsNeeded[operation]) {
      if (getReadyPlace(instance) >= operation || viewStep.contains({value, instance}))
        continue;
      writeView(value, instance, /*isClone=*/false);
      return;
    }
    isPlaced[operation] = false;
  }

  /// Writes the view `value` of `instance`, and the views it is taken from.
  StepIndex writeView(ValueIndex value, InstanceIndex instance, bool isClone) {
    llvm::SmallVector<ValueIndex, 4> chain;
    for (ValueIndex v = value; isFoldedViewValue(v) && !viewStep.contains({v, instance});
         v = problem.values[v].source)
      chain.push_back(v);
    for (ValueIndex v : llvm::reverse(chain)) {
      OpIndex operation = problem.values[v].producer;
      bool isOriginal = v == value ? !isClone : canMove(operation);
      Step step{operation, !isOriginal, {}, {}};
      for (ValueIndex read : problem.operations[operation].reads)
        step.reads.push_back(read == problem.values[v].source ? resolveTracked(read, instance)
                                                              : resolveUntracked(read));
      addDependences(step);
      viewStep[{v, instance}] = append(std::move(step));
    }
    return viewStep.lookup({value, instance});
  }

  /// Whether the original of a view has lost its place and may stand elsewhere.
  bool canMove(OpIndex view) {
    if (!reorder || isPlaced[view] || currentPlace < view ||
        numPinnedWritten != numPinnedBefore[view])
      return false;
    isPlaced[view] = true;
    return true;
  }

  StepIndex resolveUntracked(ValueIndex value) const {
    OpIndex producer = problem.values[value].producer;
    return producer == kBoundary ? kBoundary : originalStep[producer];
  }

  StepIndex resolveTracked(ValueIndex value, InstanceIndex instance) {
    if (isFoldedViewValue(value)) {
      auto it = viewStep.find({value, instance});
      if (it != viewStep.end())
        return it->second;
      return writeView(value, instance, !canMove(problem.values[value].producer));
    }
    if (graph.isFixed[value])
      return originalStep[problem.values[value].producer];
    return instanceStep.lookup(instance);
  }

  void addDependences(Step &step) const {
    for (ValueIndex value : problem.operations[step.op].dependences)
      step.dependences.push_back(resolveUntracked(value));
  }

  StepIndex append(Step step) {
    StepIndex index = plan.steps.size();
    if (!step.isClone)
      originalStep[step.op] = index;
    numPinnedWritten += isPinned(step.op);
    plan.steps.push_back(std::move(step));
    return index;
  }

  void writeNode(NodeIndex index) {
    const Schedule::Node &node = schedule.getNode(index);
    currentPlace = schedule.getPlace(index);
    OpIndex storage;
    llvm::DenseMap<OpIndex, StepIndex> own;
    for (OpIndex operation : getOperations(node, storage)) {
      Step step{operation, node.isClone, {}, {}};
      for (ValueIndex value : problem.operations[operation].reads) {
        RootIndex root = graph.rootOf[value];
        OpIndex producer = problem.values[value].producer;
        if (root == kNone)
          step.reads.push_back(resolveUntracked(value));
        else if (InstanceIndex instance = findInstance(node, operation, root); instance != kNone)
          step.reads.push_back(resolveTracked(value, instance));
        else
          step.reads.push_back(own.contains(producer) ? own.lookup(producer)
                                                      : originalStep[producer]);
      }
      addDependences(step);
      StepIndex written = append(std::move(step));
      own[operation] = written;
      for (ValueIndex value : problem.operations[operation].writes) {
        RootIndex root = graph.rootOf[value];
        if (root == kNone || graph.isFixed[value] || graph.roots[root].ready != operation)
          continue;
        InstanceIndex instance = root;
        if (node.operation == kNone)
          instance = node.outputs[llvm::find(graph.units[node.unit].outputs, root) -
                                  graph.units[node.unit].outputs.begin()];
        instanceStep[instance] = written;
      }
    }
  }

  const Problem &problem;
  const StorageGraph &graph;
  const Schedule &schedule;
  bool reorder;
  Plan plan;
  OpIndex currentPlace = 0;
  /// By operation: pinned operations before it in the problem; and those in the plan
  /// so far.
  std::vector<int64_t> numPinnedBefore;
  int64_t numPinnedWritten = 0;
  /// Step of the original of an operation.
  std::vector<StepIndex> originalStep;
  /// Of a folded view: the instances that are read through it.
  std::vector<llvm::SmallVector<InstanceIndex, 1>> viewsNeeded;
  /// Of a folded view: whether its original has been written.
  std::vector<bool> isPlaced;
  llvm::DenseMap<ViewKey, StepIndex> viewStep;
  /// Step that completed an instance.
  llvm::DenseMap<InstanceIndex, StepIndex> instanceStep;
};
} // namespace

Plan Schedule::toPlan() const { return PlanWriter(*problem, *graph, *this, reorder).run(); }
