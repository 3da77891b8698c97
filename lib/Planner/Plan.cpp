//===- Plan.cpp - An order of execution with recomputations -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan that changes nothing, the groups of values that share bytes in a
// plan, and where regions of clones stand and what they wait for. Linear in the
// plan.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Plan.h"
#include "Detail.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

int64_t mlir::remat::planner::addedCost(const Problem &problem, const Plan &plan) {
  int64_t cost = 0;
  std::vector<bool> isExecuted(problem.operations.size());
  for (const Step &step : plan.steps) {
    const Operation &op = problem.operations[step.op];
    cost += getVariant(op, step.variant).cost - (isExecuted[step.op] ? 0 : op.cost);
    isExecuted[step.op] = true;
  }
  return cost;
}

bool detail::keepsOrder(const Problem &problem, const Plan &plan) {
  std::vector<bool> isExecuted(problem.operations.size(), false);
  OpIndex last = -1;
  for (const Step &step : plan.steps) {
    if (isExecuted[step.op])
      continue;
    if (step.op < last)
      return false;
    isExecuted[step.op] = true;
    last = step.op;
  }
  return true;
}

Plan mlir::remat::planner::identityPlan(const Problem &problem) {
  Plan plan;
  plan.steps.resize(problem.operations.size());
  for (OpIndex index = 0, e = problem.operations.size(); index < e; ++index) {
    const Operation &op = problem.operations[index];
    Step &step = plan.steps[index];
    step.op = index;
    for (ValueIndex value : op.reads)
      step.reads.push_back(problem.values[value].producer);
    for (ValueIndex value : op.dependences)
      step.dependences.push_back(problem.values[value].producer);
  }
  return plan;
}

ViewGroups::ViewGroups(const Problem &problem, const Plan &plan)
    : position(writePositions(problem)), sourcePosition(sourcePositions(problem)) {
  int64_t numValues = problem.values.size(), numSteps = plan.steps.size();
  firstWrite.resize(numSteps + 1);
  int64_t numWrites = 0;
  for (StepIndex index = 0; index < numSteps; ++index) {
    firstWrite[index] = numWrites;
    numWrites += problem.operations[plan.steps[index].op].writes.size();
  }
  firstWrite[numSteps] = numWrites;

  group.resize(numWrites);
  root.reserve(numValues + numWrites);
  for (ValueIndex value = 0; value < numValues; ++value)
    root.push_back(value);
  lastRead.assign(numValues, -1);
  lastRead.reserve(numValues + numWrites);

  for (StepIndex index = 0; index < numSteps; ++index) {
    const Step &step = plan.steps[index];
    const Operation &op = problem.operations[step.op];
    for (int64_t k = 0, e = op.reads.size(); k < e; ++k)
      read({op.reads[k], step.reads[k]}, index);
    for (int64_t k = 0, e = op.writes.size(); k < e; ++k) {
      const Value &value = problem.values[op.writes[k]];
      int64_t &result = group[firstWrite[index] + k];
      if (value.placement == Placement::View) {
        result = ofSource(step, value, op.writes[k]);
        continue;
      }
      result = root.size();
      root.push_back(op.writes[k]);
      lastRead.push_back(-1);
    }
  }
}

/// The value that orders what comes behind a step: of several results the
/// first that is still live, else the first. None of those that are never in
/// memory or that no barrier takes; to wait for a view of an argument orders
/// nothing.
static ValueIndex findAwaitable(const Problem &problem, const Plan &plan, const ViewGroups &groups,
                                StepIndex index) {
  ValueIndex found = kNoValue;
  for (ValueIndex value : problem.operations[plan.steps[index].op].writes) {
    int64_t group = groups.of({value, index});
    const Value &root = problem.values[groups.root[group]];
    if (!problem.values[value].isAwaitable || problem.values[value].placement == Placement::None ||
        root.placement == Placement::None || root.producer == kBoundary)
      continue;
    if (groups.lastRead[group] > index)
      return value;
    if (found == kNoValue)
      found = value;
  }
  return found;
}

namespace {
/// Moves clones up to the original whose value their region waits for, over
/// originals that have none and that they don't need: nothing but the order of
/// the text would keep them behind.
class CloneHoister {
public:
  CloneHoister(const Problem &problem, Plan &plan)
      : problem(problem), plan(plan), groups(problem, plan), placeOf(plan.steps.size(), kUnplaced) {
  }

  void run() {
    order.reserve(plan.steps.size());
    for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index) {
      const Step &step = plan.steps[index];
      if (step.isClone) {
        for (llvm::ArrayRef<StepIndex> used :
             {llvm::ArrayRef(step.reads), llvm::ArrayRef(step.dependences)})
          for (StepIndex from : used)
            while (from != kBoundary && placeOf[from] == kUnplaced)
              placeWaiting();
        place(index);
      } else {
        waiting.push_back(index);
        if (findAwaitable(problem, plan, groups, index) != kNoValue)
          placeAllWaiting();
      }
    }
    placeAllWaiting();
    rewrite();
  }

private:
  static constexpr StepIndex kUnplaced = -1;

  void place(StepIndex index) {
    placeOf[index] = order.size();
    order.push_back(index);
  }
  void placeWaiting() { place(waiting[numPlaced++]); }
  void placeAllWaiting() {
    while (numPlaced < waiting.size())
      placeWaiting();
    waiting.clear();
    numPlaced = 0;
  }
  void rewrite() {
    std::vector<Step> steps;
    steps.reserve(order.size());
    for (StepIndex index : order) {
      Step &step = steps.emplace_back(std::move(plan.steps[index]));
      for (llvm::MutableArrayRef<StepIndex> used :
           {llvm::MutableArrayRef(step.reads), llvm::MutableArrayRef(step.dependences)})
        for (StepIndex &from : used)
          if (from != kBoundary)
            from = placeOf[from];
    }
    plan.steps = std::move(steps);
  }

  const Problem &problem;
  Plan &plan;
  ViewGroups groups;
  /// Old index of each step, and the other way round.
  std::vector<StepIndex> order, placeOf;
  /// Originals behind the last awaitable value, the first ones placed.
  std::vector<StepIndex> waiting;
  size_t numPlaced = 0;
};
} // namespace

void mlir::remat::planner::dropUnreadClones(Plan &plan) {
  auto forEachUsed = [](Step &step, llvm::function_ref<void(StepIndex &)> visit) {
    for (llvm::MutableArrayRef<StepIndex> used :
         {llvm::MutableArrayRef(step.reads), llvm::MutableArrayRef(step.dependences)})
      for (StepIndex &from : used)
        if (from != kBoundary)
          visit(from);
  };
  std::vector<bool> isNeeded(plan.steps.size());
  for (StepIndex index = static_cast<StepIndex>(plan.steps.size()) - 1; index >= 0; --index) {
    if (plan.steps[index].isClone && !isNeeded[index])
      continue;
    isNeeded[index] = true;
    forEachUsed(plan.steps[index], [&](StepIndex &from) { isNeeded[from] = true; });
  }
  std::vector<StepIndex> newIndex(plan.steps.size());
  StepIndex numKept = 0;
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    if (!isNeeded[index])
      continue;
    newIndex[index] = numKept;
    forEachUsed(step, [&](StepIndex &from) { from = newIndex[from]; });
    if (numKept != static_cast<StepIndex>(index))
      plan.steps[numKept] = std::move(step);
    ++numKept;
  }
  plan.steps.resize(numKept);
  plan.regions.clear();
}

void mlir::remat::planner::hoistClones(const Problem &problem, Plan &plan) {
  CloneHoister(problem, plan).run();
  plan.regions.clear();
}

void mlir::remat::planner::assignRegions(const Problem &problem, Plan &plan) {
  plan.regions.clear();
  ViewGroups groups(problem, plan);
  ValueInstance latest;
  // By operation: the first step of the region that has last cloned it.
  std::vector<StepIndex> clonedIn(problem.operations.size(), kBoundary);
  for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index) {
    const Step &step = plan.steps[index];
    if (step.isClone) {
      bool isBehind = !plan.regions.empty() && plan.regions.back().end == index;
      if (!isBehind || clonedIn[step.op] == plan.regions.back().begin)
        plan.regions.push_back({index, index, latest});
      plan.regions.back().end = index + 1;
      clonedIn[step.op] = plan.regions.back().begin;
    }
    if (ValueIndex value = findAwaitable(problem, plan, groups, index); value != kNoValue)
      latest = {value, index};
  }
}
