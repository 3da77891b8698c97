//===- Plan.cpp - An order of execution with recomputations -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan that changes nothing, the groups of values that share bytes in a
// plan, and what each region of clones waits for. Linear in the plan.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Plan.h"
#include "Detail.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

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

void mlir::remat::planner::assignRegions(const Problem &problem, Plan &plan) {
  plan.regions.clear();
  ViewGroups groups(problem, plan);
  ValueInstance latest;
  for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index) {
    const Step &step = plan.steps[index];
    if (step.isClone) {
      if (!plan.regions.empty() && plan.regions.back().end == index)
        ++plan.regions.back().end;
      else
        plan.regions.push_back({index, index + 1, latest});
      continue;
    }
    // Of several results the first that is still live, else the first.
    bool isFirst = true;
    for (ValueIndex value : problem.operations[step.op].writes) {
      ValueInstance instance{value, index};
      int64_t group = groups.of(instance);
      const Value &root = problem.values[groups.root[group]];
      // To wait for a view of an argument orders nothing.
      if (problem.values[value].placement == Placement::None || root.placement == Placement::None ||
          root.producer == kBoundary)
        continue;
      bool isLive = groups.lastRead[group] > index;
      if (isFirst || isLive)
        latest = instance;
      isFirst = false;
      if (isLive)
        break;
    }
  }
}
