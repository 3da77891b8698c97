//===- Simulator.cpp - Memory and cost of a plan ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether a plan is valid, which values share a storage, and when each
// storage is live. Two passes: the first finds the last reader of every value
// with its views, the second hands out storages in the order of execution.
// Linear in the plan.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Simulator.h"
#include "Detail.h"
#include "RecomputeRule.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

/// Walks over a plan once and reports the first thing that is wrong.
class Verifier {
public:
  Verifier(const Problem &input, const Plan &candidate)
      : problem(input), plan(candidate), numOperations(input.operations.size()),
        numSteps(candidate.steps.size()), numPinnedBefore(pinnedBefore(input)),
        hasOriginal(numOperations, false), sumOfBytes(boundaryBytes(input, input.alignment)) {}

  llvm::Error run() {
    for (StepIndex index = 0; index < numSteps; ++index)
      if (llvm::Error error = verifyStep(index))
        return error;
    if (OpIndex op = nextEffect(); op < numOperations)
      return makeError("operation {0} ('{1}') has effects, but is not executed", op,
                       problem.operations[op].name);
    if (numOperations > 0 && problem.operations.back().effect == Effect::Pinned &&
        plan.steps.back().op != numOperations - 1)
      return stepError(numSteps - 1, "follows the terminator");
    if (llvm::Error error = verifyRecomputed())
      return error;
    return verifyRegions();
  }

private:
  template <typename... Ts>
  llvm::Error stepError(StepIndex index, const char *format, Ts &&...values) const {
    return makeError("step {0} ('{1}') {2}", index, problem.operations[plan.steps[index].op].name,
                     llvm::formatv(format, std::forward<Ts>(values)...).str());
  }

  /// The next operation in input order that is not pure and not yet executed.
  OpIndex nextEffect() {
    while (next < numOperations && problem.operations[next].effect == Effect::Pure)
      ++next;
    return next;
  }

  /// Whether `step` writes `value`, both in range.
  bool writes(StepIndex step, ValueIndex value) const {
    return problem.values[value].producer == plan.steps[step].op;
  }

  llvm::Error verifyUses(StepIndex index, const char *verb, llvm::ArrayRef<ValueIndex> values,
                         llvm::ArrayRef<StepIndex> steps) const {
    if (values.size() != steps.size())
      return stepError(index, "{0} {1} values, but the operation {0} {2}", verb, steps.size(),
                       values.size());
    for (auto [value, step] : llvm::zip_equal(values, steps)) {
      const std::string &name = problem.values[value].name;
      if (problem.values[value].producer == kBoundary) {
        if (step != kBoundary)
          return stepError(index, "{0} the boundary value {1} ('{2}') from step {3}", verb, value,
                           name, step);
        continue;
      }
      if (step < 0 || step >= numSteps)
        return stepError(index, "{0} value {1} ('{2}') from step {3}, which does not exist", verb,
                         value, name, step);
      if (step >= index)
        return stepError(index, "{0} value {1} ('{2}') from step {3}, which is not earlier", verb,
                         value, name, step);
      if (!writes(step, value))
        return stepError(index, "{0} value {1} ('{2}') from step {3}, which does not write it",
                         verb, value, name, step);
    }
    return llvm::Error::success();
  }

  llvm::Error verifyStep(StepIndex index) {
    const Step &step = plan.steps[index];
    if (step.op < 0 || step.op >= numOperations)
      return makeError("step {0} executes operation {1}, which does not exist", index, step.op);
    const Operation &op = problem.operations[step.op];
    if (llvm::Error error = verifyUses(index, "reads", op.reads, step.reads))
      return error;
    if (llvm::Error error = verifyUses(index, "depends on", op.dependences, step.dependences))
      return error;

    if (step.variant < 0 || step.variant > int64_t(op.variants.size()))
      return stepError(index, "is executed as variant {0}, but operation {1} has {2}", step.variant,
                       step.op, op.variants.size());

    if (step.isClone) {
      if (!op.recomputable)
        return stepError(index, "is a clone, but operation {0} is not recomputable", step.op);
      if (op.policy == Policy::MustSave)
        return stepError(index, "is a clone, but operation {0} must be saved", step.op);
    } else {
      if (hasOriginal[step.op])
        return stepError(index, "is the second original of operation {0}", step.op);
      hasOriginal[step.op] = true;
      if (op.effect != Effect::Pure) {
        if (OpIndex expected = nextEffect(); expected != step.op)
          return stepError(index, "has effects and comes before operation {0} ('{1}')", expected,
                           problem.operations[expected].name);
        ++next;
      }
      if (numPinnedBefore[step.op] != numPinned)
        return stepError(index, "was moved past a pinned operation");
      numPinned += op.effect == Effect::Pinned;
    }

    Variant variant = getVariant(op, step.variant);
    sumOfCosts += variant.cost;
    sumOfBytes += align(variant.workspace, problem.alignment);
    for (ValueIndex value : op.writes)
      sumOfBytes += align(problem.values[value].bytes, problem.alignment);
    if (sumOfCosts > kMaxPlanSum)
      return stepError(index, "brings the sum of all costs above {0} picoseconds", kMaxPlanSum);
    if (sumOfBytes > kMaxPlanSum)
      return stepError(index, "brings the sum of all aligned bytes above {0}", kMaxPlanSum);
    return llvm::Error::success();
  }

  /// Nothing that must be recomputed is kept across the turn.
  llvm::Error verifyRecomputed() const {
    RecomputeRule rule(problem);
    if (rule.turn == kBoundary)
      return llvm::Error::success();
    auto isTurn = [&](const Step &step) { return step.op == rule.turn; };
    StepIndex turn = llvm::find_if(plan.steps, isTurn) - plan.steps.begin();
    if (turn == numSteps || plan.steps[turn].isClone)
      return makeError("operation {0} ('{1}') is the turn of the problem, but is not first "
                       "executed as the original",
                       rule.turn, problem.operations[rule.turn].name);
    ViewGroups groups(problem, plan);
    for (StepIndex index = 0; index < turn; ++index)
      for (ValueIndex value : problem.operations[plan.steps[index].op].writes)
        if (StepIndex last = groups.lastRead[groups.of({value, index})];
            rule.appliesTo[value] && last > turn)
          return stepError(index,
                           "must be recomputed, but its value {0} ('{1}') is kept across step {2} "
                           "('{3}') for step {4}",
                           value, problem.values[value].name, turn,
                           problem.operations[rule.turn].name, last);
    return llvm::Error::success();
  }

  llvm::Error verifyRegions() const {
    StepIndex previousEnd = 0;
    int64_t numCovered = 0;
    for (auto [number, region] : llvm::enumerate(plan.regions)) {
      auto regionError = [&, number = number](const char *format, auto &&...values) {
        return makeError("region {0} {1}", number, llvm::formatv(format, values...).str());
      };
      if (region.begin < 0 || region.begin >= region.end || region.end > numSteps)
        return regionError("covers steps {0} to {1}, which is not a range of steps", region.begin,
                           region.end);
      if (region.begin < previousEnd)
        return regionError("begins at step {0}, before the previous one ends", region.begin);
      previousEnd = region.end;
      for (StepIndex index = region.begin; index < region.end; ++index)
        if (!plan.steps[index].isClone)
          return regionError("holds step {0} ('{1}'), which is not a clone", index,
                             problem.operations[plan.steps[index].op].name);
      numCovered += region.end - region.begin;

      const ValueInstance &after = region.after;
      if (after.value == kNoValue) {
        if (after.step != kBoundary)
          return regionError("waits for step {0} without a value", after.step);
        continue;
      }
      if (after.value < 0 || after.value >= int64_t(problem.values.size()))
        return regionError("waits for value {0}, which does not exist", after.value);
      if (problem.values[after.value].producer == kBoundary)
        return regionError("waits for the boundary value {0} ('{1}')", after.value,
                           problem.values[after.value].name);
      if (after.step < 0 || after.step >= region.begin)
        return regionError("waits for step {0}, which is not before it", after.step);
      if (!writes(after.step, after.value))
        return regionError("waits for value {0} ('{1}') of step {2}, which does not write it",
                           after.value, problem.values[after.value].name, after.step);
    }
    int64_t numClones = llvm::count_if(plan.steps, [](const Step &step) { return step.isClone; });
    if (numCovered == numClones)
      return llvm::Error::success();
    size_t number = 0;
    for (StepIndex index = 0; index < numSteps; ++index) {
      if (!plan.steps[index].isClone)
        continue;
      while (number < plan.regions.size() && plan.regions[number].end <= index)
        ++number;
      if (number == plan.regions.size() || plan.regions[number].begin > index)
        return stepError(index, "is a clone outside of all regions");
    }
    llvm_unreachable("some clone is not covered");
  }

  const Problem &problem;
  const Plan &plan;
  int64_t numOperations, numSteps;
  /// By operation: pinned operations before it in the problem.
  std::vector<int64_t> numPinnedBefore;
  std::vector<bool> hasOriginal;
  OpIndex next = 0;
  int64_t numPinned = 0, sumOfCosts = 0, sumOfBytes;
};

} // namespace

llvm::Error mlir::remat::planner::verify(const Problem &problem, const Plan &plan) {
  return Verifier(problem, plan).run();
}

Simulation mlir::remat::planner::simulate(const Problem &problem, const Plan &plan) {
  int64_t numValues = problem.values.size(), numSteps = plan.steps.size();
  ViewGroups groups(problem, plan);
  // A region waits between its first step and the step before: what it waits for
  // lives up to there, and is not taken over before.
  std::vector<StepIndex> lastWait(groups.root.size(), -1);
  for (const Region &region : plan.regions) {
    if (region.after.value == kNoValue)
      continue;
    groups.read(region.after, region.begin - 1);
    StepIndex &last = lastWait[groups.of(region.after)];
    last = std::max(last, region.begin);
  }

  Simulation result;
  result.firstWrite = groups.firstWrite;
  result.storageOf.assign(groups.group.size(), kNoStorage);
  result.boundaryStorage.assign(numValues, kNoStorage);
  int64_t liveBoundaryBytes = 0;
  // By group.
  std::vector<StorageIndex> storageOf(groups.root.size(), kNoStorage);
  // By storage: the last step that let a result take it, the last step that
  // read it, and whether that step read it as one operand only. A destination
  // that the operation also reads under another name, a view of it say, cannot
  // be overwritten.
  std::vector<StepIndex> takenAt, readAt;
  std::vector<bool> isReadOnce;
  auto addStorage = [&](const Storage &storage) {
    result.storages.push_back(storage);
    takenAt.push_back(-1);
    readAt.push_back(-1);
    isReadOnce.push_back(false);
    return StorageIndex(result.storages.size()) - 1;
  };
  for (ValueIndex value = 0; value < numValues; ++value) {
    if (problem.values[value].producer != kBoundary ||
        problem.values[value].placement == Placement::None)
      continue;
    int64_t bytes = problem.values[value].bytes;
    storageOf[value] = result.boundaryStorage[value] =
        addStorage({bytes, 0, numSteps, true, {value, kBoundary}});
    liveBoundaryBytes += bytes;
    result.boundaryBytes += align(bytes, problem.alignment);
  }

  // Differences between consecutive steps; added up below.
  result.liveBytes.assign(numSteps + 1, 0);
  for (StepIndex index = 0; index < numSteps; ++index) {
    const Step &step = plan.steps[index];
    const Operation &op = problem.operations[step.op];
    Variant variant = getVariant(op, step.variant);
    result.cost += variant.cost;
    result.liveBytes[index] += variant.workspace;
    result.liveBytes[index + 1] -= variant.workspace;

    for (auto [value, from] : llvm::zip_equal(op.reads, step.reads)) {
      StorageIndex storage = storageOf[groups.of({value, from})];
      if (storage == kNoStorage)
        continue;
      isReadOnce[storage] = readAt[storage] != index;
      readAt[storage] = index;
    }
    for (int64_t k = 0, e = op.writes.size(); k < e; ++k) {
      const Value &value = problem.values[op.writes[k]];
      int64_t group = groups.group[groups.firstWrite[index] + k];
      StorageIndex &storage = result.storageOf[groups.firstWrite[index] + k];
      if (value.placement == Placement::View) {
        storage = storageOf[group];
        continue;
      }
      if (value.placement == Placement::None)
        continue;

      StepIndex end = std::max(index, groups.lastRead[group]) + 1;
      if (value.placement == Placement::Reuse) {
        int64_t source = groups.ofSource(step, value, op.writes[k]);
        storage = storageOf[source];
        if (storage != kNoStorage && !result.storages[storage].isBoundary &&
            result.storages[storage].bytes == value.bytes && groups.lastRead[source] == index &&
            lastWait[source] <= index && takenAt[storage] != index && isReadOnce[storage]) {
          takenAt[storage] = index;
          storageOf[group] = storage;
          result.storages[storage].end = end;
          continue;
        }
      }
      storage = storageOf[group] =
          addStorage({value.bytes, index, end, false, {op.writes[k], index}});
    }
  }

  for (const Storage &storage : result.storages) {
    if (storage.isBoundary)
      continue;
    result.liveBytes[storage.begin] += storage.bytes;
    result.liveBytes[storage.end] -= storage.bytes;
  }
  result.liveBytes.pop_back();
  int64_t live = liveBoundaryBytes;
  result.livePeak = liveBoundaryBytes;
  for (StepIndex index = 0; index < numSteps; ++index) {
    live += result.liveBytes[index];
    result.liveBytes[index] = live;
    if (index == 0 || live > result.livePeak) {
      result.livePeak = live;
      result.peakStep = index;
    }
  }
  return result;
}

int64_t mlir::remat::planner::workingSetBytes(const Problem &problem) {
  return workingSetBytes(problem, problem.alignment);
}

int64_t mlir::remat::planner::workingSetBytes(const Problem &problem, int64_t alignment) {
  std::vector<bool> needed = neededOperations(problem);
  WorkingSets sets(problem, alignment);
  int64_t largest = 0;
  for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op)
    if (needed[op])
      largest = std::max(largest, sets.bytes(op));
  return boundaryBytes(problem, alignment) + largest;
}
