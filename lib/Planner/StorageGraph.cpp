//===- StorageGraph.cpp - A problem folded to what a search needs -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StorageGraph.h"
#include "RecomputeRule.h"

using namespace mlir::remat::planner;

namespace mlir::remat::planner {
/// Who reads and needs each value, over the whole problem.
struct Users {
  explicit Users(const Problem &problem)
      : numReaders(problem.values.size()), hasDependents(problem.values.size()) {
    for (const Operation &operation : problem.operations) {
      for (ValueIndex value : operation.reads)
        ++numReaders[value];
      for (ValueIndex value : operation.dependences)
        hasDependents[value] = true;
    }
  }
  std::vector<int64_t> numReaders;
  std::vector<bool> hasDependents;
};
} // namespace mlir::remat::planner

namespace {
bool isCloneable(const Operation &operation) {
  return operation.effect == Effect::Pure && operation.recomputable &&
         operation.policy != Policy::MustSave;
}

/// Whether the destination of `result` is nobody else's, so that every
/// execution of the chain has a storage of its own.
bool isPrivateChain(const Problem &problem, const Users &users, const Value &result) {
  // Values without bytes are not tracked.
  if (result.placement != Placement::Reuse || result.bytes == 0)
    return false;
  const Value &source = problem.values[result.source];
  if (source.producer == kBoundary || source.placement == Placement::None ||
      source.placement == Placement::View || source.bytes != result.bytes)
    return false;
  const Operation &producer = problem.operations[source.producer];
  const Operation &user = problem.operations[result.producer];
  // A view next to the result keeps the destination as it is.
  if (llvm::any_of(user.writes, [&](ValueIndex value) {
        return problem.values[value].placement == Placement::View &&
               problem.values[value].source == result.source;
      }))
    return false;
  return producer.writes.size() == 1 && users.numReaders[result.source] == 1 &&
         !users.hasDependents[result.source] && producer.effect == Effect::Pure &&
         user.effect == Effect::Pure;
}

void addRead(llvm::SmallVectorImpl<RootRead> &reads, RootRead read) {
  for (RootRead &other : reads) {
    if (other.root == read.root) {
      other.isFixed |= read.isFixed;
      return;
    }
  }
  reads.push_back(read);
}
} // namespace

bool StorageGraph::isFoldableView(const Problem &problem, const Users &users,
                                  const Operation &operation) const {
  if (!isCloneable(operation) || operation.writes.size() != 1 || operation.cost != 0)
    return false;
  ValueIndex value = operation.writes[0];
  const Value &view = problem.values[value];
  return view.placement == Placement::View && users.numReaders[value] > 0 &&
         !users.hasDependents[value] && rootOf[view.source] != kNone &&
         llvm::all_of(operation.reads, [&](ValueIndex read) {
           return read == view.source || rootOf[read] == kNone;
         });
}

/// The root that `result` of `operation` may take the storage of: its destination,
/// if that has as many bytes, shows up in one operand and is not taken already.
RootIndex StorageGraph::getDestination(const Problem &problem, const Operation &operation,
                                       const Value &result) const {
  if (result.placement != Placement::Reuse || rootOf[result.source] == kNone)
    return kNone;
  RootIndex root = rootOf[result.source];
  ValueIndex shown = result.source;
  while (problem.values[shown].placement == Placement::View)
    shown = problem.values[shown].source;
  auto isSameRoot = [&](ValueIndex value) { return rootOf[value] == root; };
  auto isTaken = [&](ValueIndex value) {
    return rootOf[value] != kNone &&
           (rootOf[value] == root || roots[rootOf[value]].destination == root);
  };
  // Equal after alignment is not enough.
  if (problem.values[shown].bytes != result.bytes ||
      llvm::count_if(operation.reads, isSameRoot) != 1 || llvm::any_of(operation.writes, isTaken))
    return kNone;
  return root;
}

/// Makes the operations of `from` part of `into`: two chains that end in one
/// operation with two destinations.
void StorageGraph::merge(UnitIndex into, UnitIndex from) {
  Unit &target = units[into], &source = units[from];
  for (OpIndex operation : source.operations)
    unitOf[operation] = into;
  for (RootIndex root : source.outputs)
    roots[root].unit = into;
  llvm::append_range(target.operations, source.operations);
  llvm::sort(target.operations);
  llvm::append_range(target.outputs, source.outputs);
  for (RootRead read : source.reads)
    addRead(target.reads, read);
  target.cost += source.cost;
  target.workspace = std::max(target.workspace, source.workspace);
  target.isCloneable &= source.isCloneable;
  target.isMovable &= source.isMovable;
  source = Unit();
}

StorageGraph::StorageGraph(const Problem &problem, int64_t minBytes)
    : rootOf(problem.values.size(), kNone), isFixed(problem.values.size()),
      unitOf(problem.operations.size(), kNone), isFoldedView(problem.operations.size()),
      readsOf(problem.operations.size()), continues(problem.operations.size()) {
  Users users(problem);
  for (const Value &value : problem.values)
    if (value.producer == kBoundary && value.placement == Placement::Own)
      boundaryBytes += align(value.bytes, problem.alignment);

  // Operations whose results are all views, each of them read by somebody, fold
  // into what they show. A view nobody reads is an ordinary reader.
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    isFoldedView[index] = isFoldableView(problem, users, operation);
    UnitIndex unit = kNone;
    if (!isFoldedView[index]) {
      for (ValueIndex value : operation.writes) {
        if (!isPrivateChain(problem, users, problem.values[value]))
          continue;
        UnitIndex chain = unitOf[problem.values[problem.values[value].source].producer];
        if (unit == kNone)
          unit = chain;
        else if (unit != chain)
          merge(unit, chain);
      }
      if (unit == kNone) {
        unit = units.size();
        units.emplace_back();
      }
      unitOf[index] = unit;
    }

    for (ValueIndex value : operation.reads) {
      RootIndex root = rootOf[value];
      if (root == kNone || isFoldedView[index])
        continue;
      if (roots[root].unit == unit)
        continues[index].push_back(root);
      else
        addRead(readsOf[index], {root, isFixed[value]});
    }

    for (ValueIndex value : operation.writes) {
      const Value &info = problem.values[value];
      if (info.placement == Placement::View) {
        rootOf[value] = rootOf[info.source];
        isFixed[value] = isFixed[info.source] || !isFoldedView[index];
        if (rootOf[value] != kNone && !isFoldedView[index])
          roots[rootOf[value]].firstFixedView =
              std::min<OpIndex>(roots[rootOf[value]].firstFixedView, index);
        continue;
      }
      if (info.placement == Placement::None || info.bytes == 0)
        continue;
      // Of several results one continues the chain.
      if (isPrivateChain(problem, users, info) && rootOf[info.source] != kNone &&
          roots[rootOf[info.source]].unit == unit &&
          roots[rootOf[info.source]].ready != OpIndex(index)) {
        rootOf[value] = rootOf[info.source];
        roots[rootOf[value]].ready = index;
        continue;
      }
      rootOf[value] = roots.size();
      roots.push_back(Root{align(info.bytes, problem.alignment), unit, static_cast<OpIndex>(index),
                           static_cast<OpIndex>(index),
                           static_cast<OpIndex>(problem.operations.size()),
                           info.bytes >= minBytes});
      roots.back().destination = getDestination(problem, operation, info);
      units[unit].outputs.push_back(rootOf[value]);
    }
    if (isFoldedView[index])
      continue;

    Unit &own = units[unit];
    own.operations.push_back(index);
    for (RootRead read : readsOf[index])
      addRead(own.reads, read);
    own.cost += operation.cost;
    own.workspace = std::max(own.workspace, align(operation.workspace, problem.alignment));
    own.isCloneable &= isCloneable(operation);
    own.isMovable &= operation.effect == Effect::Pure && operation.policy != Policy::MustSave &&
                     !operation.writes.empty();
    for (ValueIndex value : operation.writes) {
      bool isTracked = rootOf[value] != kNone;
      own.isMovable &= !users.hasDependents[value] &&
                       (isTracked ? !isFixed[value] : users.numReaders[value] == 0);
    }
  }

  if (!problem.operations.empty() && problem.operations.back().effect == Effect::Pinned)
    for (RootRead read : readsOf.back())
      roots[read.root].isResult = true;
  RecomputeRule rule(problem);
  if (rule.turn != kBoundary) {
    turn = rule.turn;
    units[unitOf[turn]].isMovable = false;
    for (auto [value, root] : llvm::enumerate(rootOf))
      if (rule.appliesTo[value])
        roots[root].mustRecompute = roots[root].isDroppable = true;
  }
  for (Unit &unit : units) {
    unit.isMovable &= !unit.outputs.empty();
    llvm::erase_if(unit.reads,
                   [&](RootRead read) { return llvm::is_contained(unit.outputs, read.root); });
  }
  readersOf.resize(roots.size());
  for (auto [index, unit] : llvm::enumerate(units))
    for (RootRead read : unit.reads)
      readersOf[read.root].push_back(index);
}
