//===- Arrays.cpp - The planner's data as flat arrays -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include <cstring>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::capi;
using llvm::Error;
using llvm::Expected;

static_assert(REMAT_BOUNDARY == kBoundary && REMAT_NO_VALUE == kNoValue &&
              REMAT_NO_STORAGE == kNoStorage);
static_assert(REMAT_MAX_ALIGNMENT == kMaxAlignment && REMAT_MAX_PROBLEM_SUM == kMaxProblemSum);
static_assert(RematEffectPure == int(Effect::Pure) && RematEffectOrdered == int(Effect::Ordered) &&
              RematEffectPinned == int(Effect::Pinned));
static_assert(RematPolicyNone == int(Policy::None) &&
              RematPolicyMustSave == int(Policy::MustSave) &&
              RematPolicyMustRecompute == int(Policy::MustRecompute));
static_assert(RematPlacementOwn == int(Placement::Own) &&
              RematPlacementView == int(Placement::View) &&
              RematPlacementReuse == int(Placement::Reuse) &&
              RematPlacementNone == int(Placement::None));

//===----------------------------------------------------------------------===//
// Arrays that come in
//===----------------------------------------------------------------------===//

Error capi::checkArray(const void *array, const char *name, int64_t count, const char *countName) {
  if (count < 0 || count > REMAT_MAX_COUNT)
    return makeError("expected '{0}' from 0 to {1}, but got {2}", countName, REMAT_MAX_COUNT,
                     count);
  if (count > 0 && !array)
    return makeError("'{0}' is null, but '{1}' is {2}", name, countName, count);
  return Error::success();
}

namespace {

/// Lists of indices that came in, checked.
class ListsReader {
public:
  /// `what` is the name of the lists in messages.
  ListsReader(const char *what, const int64_t *listBegins, const int64_t *listEntries)
      : name(what), begins(listBegins), entries(listEntries) {}

  Error check(int64_t numLists, int64_t numEntries, const char *countName) const {
    if (Error error = checkArray(entries, name, numEntries, countName))
      return error;
    if (!begins) {
      if (numEntries > 0)
        return makeError("'{0}' is not null, but where its lists begin is", name);
      return Error::success();
    }
    int64_t last = 0;
    for (int64_t list = 0; list <= numLists; ++list) {
      if (begins[list] < last || begins[list] > numEntries || (list == 0 && begins[0] != 0))
        return makeError(
            "list {0} of '{1}' begins at {2}, but expected {3}", list, name, begins[list],
            list == 0 ? "0" : llvm::formatv("{0} to {1}", last, numEntries).str().c_str());
      last = begins[list];
    }
    if (last != numEntries)
      return makeError("the lists of '{0}' end at {1}, but '{2}' is {3}", name, last, countName,
                       numEntries);
    return Error::success();
  }

  llvm::ArrayRef<int64_t> operator[](int64_t list) const {
    if (!begins)
      return {};
    return llvm::ArrayRef(entries + begins[list], begins[list + 1] - begins[list]);
  }

private:
  const char *name;
  const int64_t *begins, *entries;
};

} // namespace

/// Whether all of `array`, if there is one, are at most `last`.
static Error checkCodes(const uint8_t *array, const char *name, int64_t count, int last) {
  if (!array)
    return Error::success();
  for (int64_t index = 0; index < count; ++index)
    if (array[index] > last)
      return makeError("expected '{0}[{1}]' from 0 to {2}, but got {3}", name, index, last,
                       int(array[index]));
  return Error::success();
}

/// An element of an optional array.
template <typename Result, typename T>
static Result getOr(const T *array, int64_t index, Result byDefault) {
  return array ? Result(array[index]) : byDefault;
}

static std::string getName(const char *const *names, int64_t index) {
  return names && names[index] ? names[index] : "";
}

/// The first operation that writes a value is its producer; `check` complains about
/// another one.
static void deriveProducers(Problem &problem) {
  for (auto [index, op] : llvm::enumerate(problem.operations))
    for (ValueIndex value : op.writes)
      if (0 <= value && value < int64_t(problem.values.size()) &&
          problem.values[value].producer == kBoundary)
        problem.values[value].producer = index;
}

Expected<Problem> capi::toProblem(const RematProblemArrays &arrays) {
  int64_t numOperations = arrays.numOperations, numValues = arrays.numValues;
  if (Error error = checkArray(arrays.costs, "costs", numOperations, "numOperations"))
    return error;
  if (Error error = checkArray(arrays.bytes, "bytes", numValues, "numValues"))
    return error;
  if (Error error = checkCodes(arrays.effects, "effects", numOperations, RematEffectPinned))
    return error;
  if (Error error = checkCodes(arrays.recomputable, "recomputable", numOperations, 1))
    return error;
  if (Error error =
          checkCodes(arrays.policies, "policies", numOperations, RematPolicyMustRecompute))
    return error;
  if (Error error = checkCodes(arrays.placements, "placements", numValues, RematPlacementNone))
    return error;
  if (Error error = checkCodes(arrays.awaitable, "awaitable", numValues, 1))
    return error;
  ListsReader reads("reads", arrays.readBegins, arrays.reads);
  if (Error error = reads.check(numOperations, arrays.numReads, "numReads"))
    return error;
  ListsReader dependences("dependences", arrays.dependenceBegins, arrays.dependences);
  if (Error error = dependences.check(numOperations, arrays.numDependences, "numDependences"))
    return error;
  ListsReader writes("writes", arrays.writeBegins, arrays.writes);
  if (Error error = writes.check(numOperations, arrays.numWrites, "numWrites"))
    return error;
  ListsReader variantCosts("variantCosts", arrays.variantBegins, arrays.variantCosts);
  if (Error error = variantCosts.check(numOperations, arrays.numVariants, "numVariants"))
    return error;
  ListsReader variantWorkspaces("variantWorkspaces", arrays.variantBegins,
                                arrays.variantWorkspaces);
  if (Error error = variantWorkspaces.check(numOperations, arrays.numVariants, "numVariants"))
    return error;

  Problem problem;
  problem.alignment = arrays.alignment ? arrays.alignment : 1;
  problem.values.resize(numValues);
  for (auto [index, value] : llvm::enumerate(problem.values)) {
    value.name = getName(arrays.valueNames, index);
    value.bytes = arrays.bytes[index];
    value.placement = getOr(arrays.placements, index, Placement::Own);
    value.source = getOr(arrays.sources, index, kNoValue);
    value.producer = getOr(arrays.producers, index, kBoundary);
    value.isAwaitable = getOr(arrays.awaitable, index, true);
  }
  problem.operations.resize(numOperations);
  for (auto [index, op] : llvm::enumerate(problem.operations)) {
    op.name = getName(arrays.operationNames, index);
    llvm::append_range(op.reads, reads[index]);
    llvm::append_range(op.dependences, dependences[index]);
    llvm::append_range(op.writes, writes[index]);
    op.cost = arrays.costs[index];
    op.workspace = getOr<int64_t>(arrays.workspaces, index, 0);
    op.effect = getOr(arrays.effects, index, Effect::Pure);
    op.recomputable = getOr(arrays.recomputable, index, op.effect == Effect::Pure);
    op.policy = getOr(arrays.policies, index, Policy::None);
    for (auto [cost, workspace] : llvm::zip_equal(variantCosts[index], variantWorkspaces[index]))
      op.variants.push_back({cost, workspace});
  }
  if (!arrays.producers)
    deriveProducers(problem);
  if (Error error = check(problem))
    return error;
  return problem;
}

bool capi::hasRegions(const RematPlanArrays &arrays) {
  return arrays.regionBegins || arrays.regionEnds || arrays.regionAfterValues ||
         arrays.regionAfterSteps;
}

/// Each run of clones is a region that waits for nothing.
static void addArbitraryRegions(Plan &plan) {
  for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index) {
    if (!plan.steps[index].isClone)
      continue;
    StepIndex begin = index;
    while (index < e && plan.steps[index].isClone)
      ++index;
    plan.regions.push_back({begin, index, {}});
  }
}

Expected<Plan> capi::toPlan(const RematPlanArrays &arrays) {
  int64_t numSteps = arrays.numSteps;
  if (Error error = checkArray(arrays.operations, "operations", numSteps, "numSteps"))
    return error;
  if (Error error = checkArray(arrays.isClone, "isClone", numSteps, "numSteps"))
    return error;
  if (Error error = checkCodes(arrays.isClone, "isClone", numSteps, 1))
    return error;
  ListsReader reads("reads", arrays.readBegins, arrays.reads);
  if (Error error = reads.check(numSteps, arrays.numReads, "numReads"))
    return error;
  ListsReader dependences("dependences", arrays.dependenceBegins, arrays.dependences);
  if (Error error = dependences.check(numSteps, arrays.numDependences, "numDependences"))
    return error;
  for (auto [array, name] :
       {std::pair(arrays.regionBegins, "regionBegins"), std::pair(arrays.regionEnds, "regionEnds"),
        std::pair(arrays.regionAfterValues, "regionAfterValues"),
        std::pair(arrays.regionAfterSteps, "regionAfterSteps")})
    if (Error error = checkArray(array, name, arrays.numRegions, "numRegions"))
      return error;

  Plan plan;
  plan.steps.resize(numSteps);
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    step.op = arrays.operations[index];
    step.isClone = arrays.isClone[index];
    llvm::append_range(step.reads, reads[index]);
    llvm::append_range(step.dependences, dependences[index]);
    step.variant = getOr<int64_t>(arrays.variants, index, 0);
  }
  for (int64_t index = 0; index < arrays.numRegions; ++index)
    plan.regions.push_back({arrays.regionBegins[index],
                            arrays.regionEnds[index],
                            {arrays.regionAfterValues[index], arrays.regionAfterSteps[index]}});
  if (!hasRegions(arrays))
    addArbitraryRegions(plan);
  return plan;
}

//===----------------------------------------------------------------------===//
// Arrays that go out
//===----------------------------------------------------------------------===//

FlatProblem::FlatProblem(const Problem &problem) : alignment(problem.alignment) {
  for (const Operation &op : problem.operations) {
    operationNames.push_back(op.name.c_str());
    costs.push_back(op.cost);
    workspaces.push_back(op.workspace);
    effects.push_back(uint8_t(op.effect));
    recomputable.push_back(op.recomputable);
    policies.push_back(uint8_t(op.policy));
    reads.append(op.reads);
    dependences.append(op.dependences);
    writes.append(op.writes);
    for (const Variant &variant : op.variants) {
      variantCosts.push_back(variant.cost);
      variantWorkspaces.push_back(variant.workspace);
    }
    variantBegins.push_back(variantCosts.size());
  }
  for (const Value &value : problem.values) {
    valueNames.push_back(value.name.c_str());
    bytes.push_back(value.bytes);
    placements.push_back(uint8_t(value.placement));
    sources.push_back(value.source);
    producers.push_back(value.producer);
    awaitable.push_back(value.isAwaitable);
  }
}

RematProblemArrays FlatProblem::view() const {
  RematProblemArrays arrays = {};
  arrays.numOperations = costs.size();
  arrays.costs = costs.data();
  arrays.workspaces = workspaces.data();
  arrays.effects = effects.data();
  arrays.recomputable = recomputable.data();
  arrays.policies = policies.data();
  arrays.operationNames = operationNames.data();
  arrays.numReads = reads.entries.size();
  arrays.readBegins = reads.begins.data();
  arrays.reads = reads.entries.data();
  arrays.numDependences = dependences.entries.size();
  arrays.dependenceBegins = dependences.begins.data();
  arrays.dependences = dependences.entries.data();
  arrays.numWrites = writes.entries.size();
  arrays.writeBegins = writes.begins.data();
  arrays.writes = writes.entries.data();
  arrays.numValues = bytes.size();
  arrays.bytes = bytes.data();
  arrays.placements = placements.data();
  arrays.sources = sources.data();
  arrays.producers = producers.data();
  arrays.awaitable = awaitable.data();
  arrays.valueNames = valueNames.data();
  arrays.alignment = alignment;
  arrays.numVariants = variantCosts.size();
  arrays.variantBegins = variantBegins.data();
  arrays.variantCosts = variantCosts.data();
  arrays.variantWorkspaces = variantWorkspaces.data();
  return arrays;
}

FlatPlan::FlatPlan(const Plan &plan) {
  for (const Step &step : plan.steps) {
    operations.push_back(step.op);
    isClone.push_back(step.isClone);
    reads.append(step.reads);
    dependences.append(step.dependences);
    variants.push_back(step.variant);
  }
  for (const Region &region : plan.regions) {
    regionBegins.push_back(region.begin);
    regionEnds.push_back(region.end);
    regionAfterValues.push_back(region.after.value);
    regionAfterSteps.push_back(region.after.step);
  }
}

RematPlanArrays FlatPlan::view() const {
  RematPlanArrays arrays = {};
  arrays.numSteps = operations.size();
  arrays.operations = operations.data();
  arrays.isClone = isClone.data();
  arrays.numReads = reads.entries.size();
  arrays.readBegins = reads.begins.data();
  arrays.reads = reads.entries.data();
  arrays.numDependences = dependences.entries.size();
  arrays.dependenceBegins = dependences.begins.data();
  arrays.dependences = dependences.entries.data();
  arrays.numRegions = regionBegins.size();
  arrays.regionBegins = regionBegins.data();
  arrays.regionEnds = regionEnds.data();
  arrays.regionAfterValues = regionAfterValues.data();
  arrays.regionAfterSteps = regionAfterSteps.data();
  arrays.variants = variants.data();
  return arrays;
}

FlatSimulation::FlatSimulation(Simulation simulationOfPlan, PackedPlan packingOfPlan,
                               int64_t addedCostOfPlan)
    : simulation(std::move(simulationOfPlan)), packing(std::move(packingOfPlan)),
      addedCost(addedCostOfPlan) {
  for (const Storage &storage : simulation.storages) {
    storageBytes.push_back(storage.bytes);
    storageBegins.push_back(storage.begin);
    storageEnds.push_back(storage.end);
    storageIsBoundary.push_back(storage.isBoundary);
    storageValues.push_back(storage.first.value);
    storageSteps.push_back(storage.first.step);
  }
}

RematSimulationArrays FlatSimulation::view() const {
  RematSimulationArrays arrays = {};
  arrays.numSteps = simulation.liveBytes.size();
  arrays.liveBytes = simulation.liveBytes.data();
  arrays.livePeakBytes = simulation.livePeak;
  arrays.peakStep = simulation.peakStep;
  arrays.boundaryBytes = simulation.boundaryBytes;
  arrays.arenaBytes = packing.arenaBytes;
  arrays.packedPeakBytes = packing.packedBytes;
  arrays.cost = simulation.cost;
  arrays.addedCost = addedCost;
  arrays.numStorages = storageBytes.size();
  arrays.storageBytes = storageBytes.data();
  arrays.storageBegins = storageBegins.data();
  arrays.storageEnds = storageEnds.data();
  arrays.storageOffsets = packing.offsets.data();
  arrays.storageIsBoundary = storageIsBoundary.data();
  arrays.storageValues = storageValues.data();
  arrays.storageSteps = storageSteps.data();
  arrays.numWrites = simulation.storageOf.size();
  arrays.writeBegins = simulation.firstWrite.data();
  arrays.writeStorages = simulation.storageOf.data();
  arrays.numValues = simulation.boundaryStorage.size();
  arrays.boundaryStorages = simulation.boundaryStorage.data();
  arrays.workspaceOffsets = packing.workspaceOffsets.data();
  return arrays;
}
