//===- WindowProblem.cpp - A part of a plan as a problem of its own ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the free operations read and write is modelled as it is. All that others hold
// beside it is a number of bytes at each time, since steps that stay keep their order.
//
//===----------------------------------------------------------------------===//

#include "WindowProblem.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

PlanFacts::PlanFacts(const Problem &problem, Plan input, int64_t alignment)
    : problem(problem), plan(std::move(input)), alignment(alignment), groups(problem, plan),
      boundaryBytes(detail::boundaryBytes(problem, alignment)), roots(viewRoots(problem)),
      simulation(simulate(problem, plan)), writePosition(writePositions(problem)),
      stepsOf(problem.operations.size()), lastRead(groups.group.size(), -1),
      lastDependence(groups.group.size(), -1), viewsOf(problem.values.size()) {
  for (auto [value, root] : llvm::enumerate(roots))
    if (root != static_cast<ValueIndex>(value))
      viewsOf[root].push_back(value);
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    const Operation &op = problem.operations[step.op];
    stepsOf[step.op].push_back(index);
    for (auto [value, from] : llvm::zip_equal(op.reads, step.reads))
      if (from != kBoundary)
        lastRead[writeOf(value, from)] = index;
    for (auto [value, from] : llvm::zip_equal(op.dependences, step.dependences))
      if (from != kBoundary)
        lastDependence[writeOf(value, from)] = index;
  }
  livePeak = boundaryBytes;
  for (auto [step, bytes] :
       llvm::zip_equal(plan.steps, liveBytesOfStorages(problem, plan, alignment)))
    livePeak = std::max(
        livePeak,
        bytes + align(getVariant(problem.operations[step.op], step.variant).workspace, alignment));
}

namespace {
class Builder {
public:
  Builder(const PlanFacts &facts, const Window &window, int64_t budget, bool keepsOrder,
          int64_t maxSize)
      : facts(facts), problem(facts.problem), plan(facts.plan), groups(facts.groups),
        window(window), budget(budget), keepsOrder(keepsOrder), maxSize(maxSize) {}

  std::optional<WindowProblem> run() {
    result.begin = window.begin;
    result.end = window.end;
    if (!chooseValues())
      return std::nullopt;
    chooseInstances();
    findHeldBytes();
    addOperations();
    if (isImpossible || int64_t(result.problem.operations.size()) > maxSize)
      return std::nullopt;
    // Bytes of others stand at many operations, and so may be too many in sum.
    if (llvm::Error error = check(result.problem)) {
      llvm::consumeError(std::move(error));
      return std::nullopt;
    }
    subtractNeeded();
    result.isFree = std::move(isFree);
    return std::move(result);
  }

private:
  bool isBoundary(ValueIndex value) const { return problem.values[value].producer == kBoundary; }
  bool isIn(StepIndex step) const { return window.begin <= step && step < window.end; }
  bool isTouched(ValueIndex value) const { return isChosen[value] && !isBoundary(value); }
  bool isExecutedBefore(OpIndex op) const {
    return !facts.stepsOf[op].empty() && facts.stepsOf[op].front() < window.begin;
  }

  /// Chooses the values that the problem is about: all that the free operations read
  /// or write. Each is computed by one operation of the problem, so what is computed
  /// there more than once is computed by free operations.
  bool chooseValues() {
    isFree.assign(problem.operations.size(), false);
    isChosen.assign(problem.values.size(), false);
    std::vector<OpIndex> worklist = window.free;
    while (true) {
      while (!worklist.empty()) {
        OpIndex index = worklist.back();
        worklist.pop_back();
        const Operation &op = problem.operations[index];
        if (isFree[index] || op.effect != Effect::Pure || facts.stepsOf[index].empty() ||
            facts.stepsOf[index].front() >= window.end)
          continue;
        isFree[index] = true;
        llvm::for_each(op.reads, [&](ValueIndex value) { choose(value); });
        llvm::for_each(op.writes, [&](ValueIndex value) { choose(value); });
      }
      // What shows a storage keeps it.
      for (size_t index = 0; index < chosen.size(); ++index)
        if (!isBoundary(chosen[index]))
          for (ValueIndex view : facts.viewsOf[chosen[index]])
            if (isReadInWindow(view))
              choose(view);
      if (int64_t(chosen.size()) > maxSize)
        return false;
      for (ValueIndex value : chosen) {
        OpIndex op = problem.values[value].producer;
        if (op == kBoundary || isFree[op] || !hasSeveralInstances(value))
          continue;
        if (problem.operations[op].effect != Effect::Pure)
          return false;
        worklist.push_back(op);
      }
      if (worklist.empty())
        break;
    }
    llvm::sort(chosen);
    return true;
  }

  void choose(ValueIndex value) {
    for (; !isChosen[value]; value = problem.values[value].source) {
      isChosen[value] = true;
      chosen.push_back(value);
      if (problem.values[value].placement != Placement::View)
        return;
    }
  }

  /// Whether a value is read in the window or behind it.
  bool isReadInWindow(ValueIndex value) const {
    return llvm::any_of(facts.stepsOf[problem.values[value].producer], [&](StepIndex step) {
      return step < window.end && facts.lastRead[facts.writeOf(value, step)] >= window.begin;
    });
  }

  /// Whether steps that stay compute a value again that the window reads.
  bool hasSeveralInstances(ValueIndex value) const {
    int64_t count = 0;
    bool isRead = false;
    for (StepIndex step : facts.stepsOf[problem.values[value].producer]) {
      count += isIn(step);
      isRead |= step < window.begin && facts.lastRead[facts.writeOf(value, step)] >= window.begin;
    }
    return count > 1 || (count == 1 && isRead);
  }
  /// Whether the window's problem executes an operation anew or not at all.
  bool isFreeOrAbsent(OpIndex op) const {
    return isFree[op] || llvm::none_of(facts.stepsOf[op], [&](StepIndex s) { return isIn(s); });
  }

  /// Chooses, for each root, the storage that holds it when the window begins: one of
  /// several is enough.
  void chooseInstances() {
    std::vector<int64_t> groupOf(problem.values.size(), -1);
    std::vector<StepIndex> lastRead(problem.values.size(), -1);
    for (ValueIndex value : chosen) {
      if (isBoundary(value))
        continue;
      ValueIndex root = facts.roots[value];
      for (StepIndex step : facts.stepsOf[problem.values[value].producer]) {
        if (step >= window.begin)
          break;
        int64_t group = groups.of({value, step});
        if (groups.lastRead[group] < window.begin || groups.lastRead[group] <= lastRead[root])
          continue;
        lastRead[root] = groups.lastRead[group];
        groupOf[root] = group;
      }
    }
    result.indexOf.assign(problem.values.size(), kNoValue);
    for (ValueIndex value : chosen) {
      StepIndex before = kBoundary;
      OpIndex producer = problem.values[value].producer;
      if (producer != kBoundary && isFreeOrAbsent(producer))
        for (StepIndex step : facts.stepsOf[producer])
          if (step < window.begin && groups.of({value, step}) == groupOf[facts.roots[value]])
            before = step;
      result.indexOf[value] = result.values.size();
      result.values.push_back(value);
      result.stepsBefore.push_back(before);
      Value copy = problem.values[value];
      copy.bytes = isBoundary(value) ? 0 : facts.bytesOf(value);
      copy.producer = kBoundary;
      result.problem.values.push_back(std::move(copy));
    }
    for (Value &value : result.problem.values)
      if (value.source != kNoValue)
        value.source = result.indexOf[value.source];
    result.surroundings.isReadable.assign(result.values.size(), false);
    for (auto [index, step] : llvm::enumerate(result.stepsBefore))
      result.surroundings.isReadable[index] = step != kBoundary;
  }

  /// Finds the bytes of all that the problem is not about: during each step of the
  /// window, and between it and the step before.
  void findHeldBytes() {
    int64_t length = window.end - window.begin;
    during.assign(length + 1, 0);
    across.assign(length + 1, 0);
    auto add = [&](std::vector<int64_t> &bytes, StepIndex first, StepIndex end, int64_t amount) {
      first = std::max(first, window.begin) - window.begin;
      end = std::min(end, window.end + 1) - window.begin;
      if (first >= end)
        return;
      bytes[first] += amount;
      if (end <= length)
        bytes[end] -= amount;
    };
    add(during, window.begin, window.end, facts.boundaryBytes);
    add(across, window.begin, window.end + 1, facts.boundaryBytes);
    for (auto [index, step] : llvm::enumerate(plan.steps)) {
      const Operation &op = problem.operations[step.op];
      StepIndex at = index;
      if (at >= window.end)
        break;
      if (isIn(at) && !isFree[step.op])
        add(during, at, at + 1, align(op.workspace, facts.alignment));
      for (ValueIndex value : op.writes) {
        if (problem.values[value].placement == Placement::View ||
            problem.values[value].placement == Placement::None || isChosen[value])
          continue;
        int64_t write = facts.writeOf(value, at);
        StepIndex last = std::max(at, groups.lastRead[groups.group[write]]);
        // What takes over another storage is counted with that one at first.
        const Storage &storage = facts.simulation.storages[facts.simulation.storageOf[write]];
        bool isTaken = storage.begin < at && !isChosen[facts.roots[problem.values[value].source]];
        add(during, at + isTaken, last + 1, facts.bytesOf(value));
        add(across, at + 1, last + 1, facts.bytesOf(value));
      }
    }
    for (int64_t i = 1; i <= length; ++i) {
      during[i] += during[i - 1];
      across[i] += across[i - 1];
    }
  }

  OpIndex addOperation(OpIndex origin) {
    OpIndex index = result.problem.operations.size();
    result.problem.operations.emplace_back();
    result.origins.push_back({origin});
    return index;
  }

  void addOperations() {
    // In the order of the problem, each behind what it reads.
    std::vector<OpIndex> before;
    for (ValueIndex value : chosen)
      if (OpIndex op = problem.values[value].producer;
          op != kBoundary && isExecutedBefore(op) && isFreeOrAbsent(op))
        before.push_back(op);
    llvm::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    isAdded.assign(problem.operations.size(), false);
    for (OpIndex op : before)
      addPure(op);
    result.surroundings.isExecuted.assign(before.size(), true);

    findSegments();
    mergeSegments();
    size_t next = 0;
    for (StepIndex step = window.begin; step < window.end; ++step) {
      for (; next < segments.size() && segments[next].position <= step; ++next)
        addFrozen(segments[next]);
      OpIndex op = plan.steps[step].op;
      if (!isFree[op])
        continue;
      result.addedCost += problem.operations[op].cost;
      if (!isAdded[op])
        addPure(op);
    }
    for (; next < segments.size(); ++next)
      addFrozen(segments[next]);
    result.surroundings.heldBytes.push_back(across.back());
    result.surroundings.isExecuted.resize(result.problem.operations.size(), false);
  }

  /// What the window adds to one execution of what has to be executed in it.
  void subtractNeeded() {
    std::vector<bool> isNeeded = neededOperations(result.problem);
    for (auto [index, op] : llvm::enumerate(result.problem.operations))
      if (isNeeded[index] && !result.surroundings.isExecuted[index])
        result.addedCost -= op.cost;
  }

  /// Steps that stay, in [begin, end) beside free ones.
  struct Segment {
    StepIndex begin, end;
    /// One of its steps, before which the free ones before it run.
    StepIndex position;
    /// Whether it reads or computes something that the problem is about.
    bool isEvent;
    bool isPinned;
    /// The most bytes that others hold during the steps, and before the first.
    int64_t during, before;
  };

  bool isEvent(StepIndex step) const {
    const Operation &op = problem.operations[plan.steps[step].op];
    return llvm::any_of(op.reads, [&](ValueIndex value) { return isTouched(value); }) ||
           llvm::any_of(op.writes, [&](ValueIndex value) { return isTouched(value); }) ||
           llvm::any_of(op.dependences, [&](ValueIndex value) {
             return !isBoundary(value) && isFree[problem.values[value].producer];
           });
  }

  /// Puts steps that stay together where nothing is between them.
  void findSegments() {
    bool isOpen = false;
    for (StepIndex step = window.begin; step < window.end; ++step) {
      const Operation &op = problem.operations[plan.steps[step].op];
      if (isFree[plan.steps[step].op]) {
        isOpen = false;
        continue;
      }
      bool isOwn = isEvent(step) || op.effect == Effect::Pinned;
      if (isOwn || !isOpen)
        segments.push_back(
            {step, step, step, isOwn, op.effect == Effect::Pinned, 0, across[step - window.begin]});
      isOpen = !isOwn;
      Segment &segment = segments.back();
      segment.end = step + 1;
      segment.during = std::max(segment.during, during[step - window.begin]);
    }
    // What comes behind the window.
    segments.push_back({window.end, window.end, window.end, /*isEvent=*/true, /*isPinned=*/true,
                        across.back(), across.back()});
  }

  /// Leaves out what bounds the memory no more than what is beside it.
  void mergeSegments() {
    int64_t allBytes = 0;
    for (const Value &value : result.problem.values)
      if (value.placement != Placement::View && value.placement != Placement::None)
        allBytes += value.bytes;
    std::vector<Segment> merged;
    for (size_t index = 0; index < segments.size(); ++index) {
      const Segment &segment = segments[index];
      if (segment.isEvent) {
        merged.push_back(segment);
        continue;
      }
      Segment &next = segments[index + 1];
      bool isLoose = segment.during <= budget - allBytes;
      // Directly before the next one, so that free steps in between come before both.
      if (segment.before <= next.before && (isLoose || segment.during <= next.during) &&
          mayPass(segment, segment.end, next.position)) {
        next.begin = segment.begin;
        next.before = segment.before;
        continue;
      }
      // Or directly behind the previous one.
      if (segment.before >= next.before && !merged.empty() &&
          (isLoose || segment.during <= merged.back().during) &&
          mayPass(segment, merged.back().position, segment.begin)) {
        merged.back().end = segment.end;
        continue;
      }
      merged.push_back(segment);
    }
    segments = std::move(merged);
  }

  bool isFirst(StepIndex step) const { return facts.stepsOf[plan.steps[step].op].front() == step; }
  /// Whether free steps in [begin, end) and those of `segment` may change places.
  bool mayPass(const Segment &segment, StepIndex begin, StepIndex end) const {
    if (!keepsOrder)
      return true;
    auto hasFirst = [&](StepIndex from, StepIndex to, bool areFree) {
      for (StepIndex step = from; step < to; ++step)
        if (isFree[plan.steps[step].op] == areFree && isFirst(step))
          return true;
      return false;
    };
    return !hasFirst(segment.begin, segment.end, /*areFree=*/false) ||
           !hasFirst(begin, end, /*areFree=*/true);
  }

  /// Adds a free operation, or one that was executed before the window.
  void addPure(OpIndex origin) {
    isAdded[origin] = true;
    OpIndex index = addOperation(origin);
    const Operation &op = problem.operations[origin];
    Operation &copy = result.problem.operations.back();
    copy.name = op.name;
    copy.cost = op.cost;
    copy.workspace = align(op.workspace, facts.alignment);
    // What takes memory there has to be part of the problem.
    copy.recomputable = op.recomputable && op.policy != Policy::MustSave &&
                        llvm::all_of(op.writes, [&](ValueIndex value) { return isChosen[value]; });
    for (ValueIndex value : op.reads) {
      ValueIndex read = result.indexOf[value];
      if (read != kNoValue && (isBoundary(value) || isAdded[problem.values[value].producer]))
        copy.reads.push_back(read);
      else
        copy.recomputable = false; // Not at hand in the window.
    }
    isImpossible |= copy.reads.size() != op.reads.size() && !isExecutedBefore(origin);
    for (ValueIndex value : op.dependences)
      addDependence(copy, value);
    for (ValueIndex value : op.writes)
      if (isTouched(value))
        define(index, result.indexOf[value]);
  }

  /// Lets an operation compute a value; in the place of its source if it reads that, and
  /// both have the same bytes before they are rounded up.
  void define(OpIndex index, ValueIndex write) {
    Operation &op = result.problem.operations[index];
    Value &value = result.problem.values[write];
    value.producer = index;
    op.writes.push_back(write);
    if (value.placement == Placement::Own || value.placement == Placement::None)
      return;
    bool isRead = llvm::is_contained(op.reads, value.source);
    const Value &original = problem.values[result.values[write]];
    isImpossible |= value.placement == Placement::View && !isRead;
    if (value.placement == Placement::View ||
        (isRead && problem.values[facts.roots[original.source]].bytes == original.bytes))
      return;
    value.placement = Placement::Own;
    value.source = kNoValue;
  }

  /// What was executed before needs no waiting for.
  void addDependence(Operation &op, ValueIndex value) {
    OpIndex producer = problem.values[value].producer;
    if (producer == kBoundary || isExecutedBefore(producer))
      return;
    if (!isFree[producer]) {
      // Steps that stay are in order, but for the others that is not known.
      isImpossible |= op.effect == Effect::Pure;
      return;
    }
    ValueIndex index = result.indexOf[value];
    if (!llvm::is_contained(op.dependences, index))
      op.dependences.push_back(index);
  }

  /// Adds an operation that stands for steps that stay.
  void addFrozen(const Segment &segment) {
    OpIndex index = addOperation(kBoundary);
    result.origins.back().begin = segment.begin;
    result.origins.back().end = segment.end;
    result.origins.back().position = segment.position;
    result.surroundings.heldBytes.push_back(segment.before);
    Operation &copy = result.problem.operations.back();
    copy.effect = segment.isPinned ? Effect::Pinned : Effect::Ordered;
    copy.recomputable = false;
    copy.workspace = segment.during;
    if (segment.position == window.end)
      return addTerminator(copy);
    if (!segment.isEvent)
      return;
    const Operation &op = problem.operations[plan.steps[segment.position].op];
    copy.name = op.name;
    for (ValueIndex value : op.reads)
      if (isTouched(value))
        copy.reads.push_back(result.indexOf[value]);
    for (ValueIndex value : op.dependences)
      addDependence(copy, value);
    isAdded[plan.steps[segment.position].op] = true;
    for (ValueIndex value : op.writes)
      if (isTouched(value))
        define(index, result.indexOf[value]);
  }

  /// Keeps what is read behind the window.
  void addTerminator(Operation &terminator) {
    for (ValueIndex value : chosen) {
      if (isBoundary(value))
        continue;
      bool isRead = false;
      for (StepIndex step : facts.stepsOf[problem.values[value].producer]) {
        if (step >= window.end)
          break;
        isRead |= facts.lastRead[facts.writeOf(value, step)] >= window.end;
        if (facts.lastDependence[facts.writeOf(value, step)] >= window.end)
          addDependence(terminator, value);
      }
      if (isRead)
        terminator.reads.push_back(result.indexOf[value]);
    }
  }

  const PlanFacts &facts;
  const Problem &problem;
  const Plan &plan;
  const ViewGroups &groups;
  const Window &window;
  int64_t budget;
  bool keepsOrder;
  int64_t maxSize;
  WindowProblem result;
  /// By operation and by value; by operation: whether the problem has it.
  std::vector<bool> isFree, isChosen, isAdded;
  std::vector<ValueIndex> chosen;
  /// Bytes that others hold: by step from the window's first on, and before each.
  std::vector<int64_t> during, across;
  std::vector<Segment> segments;
  bool isImpossible = false;
};

} // namespace

std::optional<WindowProblem>
mlir::remat::planner::makeWindowProblem(const PlanFacts &facts, const Window &window,
                                        int64_t budget, bool keepsOrder, int64_t maxSize) {
  return Builder(facts, window, budget, keepsOrder, maxSize).run();
}
