//===- ReplaceWindow.cpp - A plan with another solution of a window ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the steps before a window, those of its solution, with the steps that stay in
// between, and those behind it; what read a value of the window's problem reads the
// instance that the solution says.
//
//===----------------------------------------------------------------------===//

#include "WindowProblem.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {
class Replacer {
public:
  Replacer(const PlanFacts &facts, const WindowProblem &window, const Plan &solution)
      : problem(facts.problem), plan(facts.plan), window(window), solution(solution),
        newIndex(plan.steps.size(), kBoundary), subIndex(solution.steps.size(), kBoundary),
        lastStep(problem.operations.size(), kBoundary),
        hasOriginal(problem.operations.size(), false), numPinnedBefore(pinnedBefore(problem)) {}

  Plan run() {
    const std::vector<Step> &steps = plan.steps;
    auto isFreeStep = [&](StepIndex step) {
      return window.isFree[steps[step].op] && window.begin <= step && step < window.end;
    };
    for (StepIndex step = 0, e = steps.size(); step < e; ++step)
      if (!steps[step].isClone && !isFreeStep(step))
        hasOriginal[steps[step].op] = true;
    for (StepIndex step = 0; step < window.begin; ++step)
      keep(step, nullptr);
    for (StepIndex index = 0, e = solution.steps.size(); index < e; ++index) {
      const Step &step = solution.steps[index];
      const WindowProblem::Origin &origin = window.origins[step.op];
      if (origin.op != kBoundary) {
        execute(index, origin.op);
        continue;
      }
      for (StepIndex old = origin.begin; old < origin.end; ++old)
        if (!isFreeStep(old))
          keep(old, &step);
      if (origin.position < window.end)
        subIndex[index] = newIndex[origin.position];
    }
    const Step &terminator = solution.steps.back();
    for (StepIndex step = window.end, e = steps.size(); step < e; ++step)
      keep(step, &terminator);
    dropUnreadClones(newPlan);
    hoistClones(problem, newPlan);
    assignRegions(problem, newPlan);
    return std::move(newPlan);
  }

private:
  /// The new step from which `reader` of the solution reads a value of its problem.
  StepIndex resolve(const Step &reader, ValueIndex value) const {
    const Operation &op = window.problem.operations[reader.op];
    auto it = llvm::find(op.reads, value);
    assert(it != op.reads.end() && "all reads are known");
    StepIndex from = reader.reads[it - op.reads.begin()];
    return from != kBoundary ? subIndex[from] : newIndex[window.stepsBefore[value]];
  }

  /// Writes a step that stays; `reader` stands for it in the solution.
  void keep(StepIndex old, const Step *reader) {
    Step step = plan.steps[old];
    const Operation &op = problem.operations[step.op];
    for (auto [value, from] : llvm::zip_equal(op.reads, step.reads)) {
      if (from == kBoundary)
        continue;
      ValueIndex index = reader ? window.indexOf[value] : kNoValue;
      bool isFromWindow = index != kNoValue && from < window.end;
      from = isFromWindow ? resolve(*reader, index) : newIndex[from];
    }
    append(std::move(step));
    newIndex[old] = newPlan.steps.size() - 1;
  }

  void execute(StepIndex index, OpIndex origin) {
    const Step &from = solution.steps[index];
    Step step;
    step.op = origin;
    const Operation &op = problem.operations[origin];
    for (ValueIndex value : op.reads)
      step.reads.push_back(problem.values[value].producer == kBoundary
                               ? kBoundary
                               : resolve(from, window.indexOf[value]));
    step.isClone = hasOriginal[origin] || numPinned != numPinnedBefore[origin];
    hasOriginal[origin] = hasOriginal[origin] || !step.isClone;
    append(std::move(step));
    subIndex[index] = newPlan.steps.size() - 1;
  }

  void append(Step step) {
    const Operation &op = problem.operations[step.op];
    step.dependences.clear();
    for (ValueIndex value : op.dependences) {
      OpIndex producer = problem.values[value].producer;
      step.dependences.push_back(producer == kBoundary ? kBoundary : lastStep[producer]);
    }
    lastStep[step.op] = newPlan.steps.size();
    numPinned += op.effect == Effect::Pinned;
    newPlan.steps.push_back(std::move(step));
  }

  const Problem &problem;
  const Plan &plan;
  const WindowProblem &window;
  const Plan &solution;
  Plan newPlan;
  /// By old step, and by step of the solution.
  std::vector<StepIndex> newIndex, subIndex;
  /// By operation.
  std::vector<StepIndex> lastStep;
  std::vector<bool> hasOriginal;
  std::vector<int64_t> numPinnedBefore;
  int64_t numPinned = 0;
};
} // namespace

Plan mlir::remat::planner::replaceWindow(const PlanFacts &facts, const WindowProblem &window,
                                         const Plan &solution) {
  return Replacer(facts, window, solution).run();
}
