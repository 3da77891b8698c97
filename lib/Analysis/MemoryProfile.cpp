//===- MemoryProfile.cpp - What fills the memory of a function, and when ----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects a profile from a simulation. The simulation decides what is live and
// how much; here it only gets names. Printing is in MemoryProfilePrinter.cpp.
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/MemoryProfile.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;
using planner::kBoundary;
using planner::kNoStorage;
using planner::kNoValue;
using planner::OpIndex;
using planner::Placement;
using planner::StepIndex;
using planner::StorageIndex;
using planner::ValueIndex;

std::string mlir::remat::formatLocation(Location location) {
  std::string name;
  std::string place;
  LocationAttr next = location;
  while (next) {
    LocationAttr current = std::exchange(next, LocationAttr());
    if (auto file = dyn_cast<FileLineColLoc>(current))
      place = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
               Twine(file.getColumn()))
                  .str();
    else if (auto named = dyn_cast<NameLoc>(current)) {
      if (name.empty())
        name = named.getName().str();
      next = named.getChildLoc();
    } else if (auto call = dyn_cast<CallSiteLoc>(current))
      next = call.getCallee();
    else if (auto opaque = dyn_cast<OpaqueLoc>(current))
      next = opaque.getFallbackLocation();
    else if (auto fused = dyn_cast<FusedLoc>(current)) {
      const auto *known =
          llvm::find_if(fused.getLocations(), [](Location part) { return !isa<UnknownLoc>(part); });
      if (known != fused.getLocations().end())
        next = *known;
    }
  }
  if (name.empty() || place.empty())
    return name + place;
  return name + " (" + place + ")";
}

namespace {
class ProfileBuilder {
public:
  ProfileBuilder(FunctionOpInterface irFunction, const FunctionProblem &function,
                 const ValueRoles &roles, const planner::Solution &solution)
      : irFunction(irFunction), function(function), problem(function.problem), roles(roles),
        plan(solution.plan), simulation(solution.simulation), packing(solution.packing),
        names(irFunction, OpPrintingFlags().useLocalScope().assumeVerified()) {}

  MemoryProfile run(Scope scope, int64_t numColumns);

private:
  void findContents();
  void addLive();
  void addTotals();
  void addTimeline(int64_t numColumns);
  void addLoss();
  void addWorkingSet();
  void addNewState();

  ProfileOperation describe(OpIndex op) const {
    return {problem.operations[op].name, function.positions[op],
            formatLocation(function.operations[op]->getLoc())};
  }

  std::string getName(ValueIndex value) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (Value irValue = function.getShownValue(value))
      irValue.printAsOperand(os, names);
    return text;
  }

  StorageIndex getStorage(ValueIndex value, StepIndex step) const {
    if (step == kBoundary)
      return simulation.boundaryStorage[value];
    return simulation.storageOf[simulation.firstWrite[step] + writePosition[value]];
  }

  int64_t pad(int64_t bytes) const { return planner::align(bytes, problem.alignment); }

  FunctionOpInterface irFunction;
  const FunctionProblem &function;
  const planner::Problem &problem;
  const ValueRoles &roles;
  const planner::Plan &plan;
  const planner::Simulation &simulation;
  const planner::PackedPlan &packing;
  AsmState names;

  /// By value: its place among the results of its operation.
  std::vector<int64_t> writePosition;
  /// By storage: the value that it holds at the peak, and the last step that
  /// reads it at any time.
  std::vector<ValueIndex> contents;
  std::vector<StepIndex> lastReader;
  MemoryProfile profile;
};
} // namespace

void ProfileBuilder::findContents() {
  writePosition.resize(problem.values.size());
  for (const planner::Operation &operation : problem.operations)
    for (auto [position, value] : llvm::enumerate(operation.writes))
      writePosition[value] = position;

  for (const planner::Storage &storage : simulation.storages)
    contents.push_back(storage.first.value);
  lastReader.assign(simulation.storages.size(), kBoundary);
  for (auto [number, step] : llvm::enumerate(plan.steps)) {
    StepIndex index = number;
    const planner::Operation &operation = problem.operations[step.op];
    for (auto [value, from] : llvm::zip_equal(operation.reads, step.reads))
      if (StorageIndex storage = getStorage(value, from); storage != kNoStorage)
        lastReader[storage] = index;
    if (index > simulation.peakStep)
      continue;
    for (ValueIndex value : operation.writes)
      if (problem.values[value].placement != Placement::View)
        if (StorageIndex storage = getStorage(value, index); storage != kNoStorage)
          contents[storage] = value;
  }
  // Program data has no value of its own: the first operation that shows it.
  for (auto [index, value] : llvm::enumerate(problem.values)) {
    if (value.placement != Placement::View || function.values[value.source])
      continue;
    StorageIndex storage = simulation.boundaryStorage[value.source];
    if (storage != kNoStorage && contents[storage] == value.source)
      contents[storage] = index;
  }
}

void ProfileBuilder::addLive() {
  StepIndex peak = simulation.peakStep;
  int64_t liveBytes = 0, paddedBytes = 0;
  for (auto [index, storage] : llvm::enumerate(simulation.storages)) {
    if (!storage.isBoundary && (storage.begin > peak || storage.end <= peak))
      continue;
    liveBytes += storage.bytes;
    paddedBytes += pad(storage.bytes);
    if (storage.isBoundary)
      profile.boundaryBytes += storage.bytes;
    if (storage.bytes == 0)
      continue;
    ValueIndex value = contents[index];
    LiveStorage row;
    row.value = getName(value);
    row.bytes = storage.bytes;
    row.category = roles.categories[value];
    if (!storage.isBoundary)
      row.producer = problem.operations[problem.values[value].producer].name;
    else
      row.producer = function.getBoundaryKind(storage.first.value);
    if (Value irValue = function.getShownValue(value))
      row.location = formatLocation(irValue.getLoc());
    if (StepIndex reader = lastReader[index]; reader != kBoundary)
      row.lastReader = describe(plan.steps[reader].op);
    profile.live.push_back(std::move(row));
  }
  llvm::stable_sort(profile.live,
                    [](const LiveStorage &a, const LiveStorage &b) { return a.bytes > b.bytes; });

  profile.workspaceBytes = problem.operations[plan.steps[peak].op].workspace;
  liveBytes += profile.workspaceBytes;
  paddedBytes += pad(profile.workspaceBytes);
  assert(liveBytes == simulation.livePeak && "the rows must add up");
  profile.alignmentBytes = paddedBytes - liveBytes;
  profile.fragmentationBytes = packing.packedBytes - paddedBytes;
  assert(profile.fragmentationBytes >= 0 && "buffers that are live together are disjoint");
}

void ProfileBuilder::addTotals() {
  profile.categoryBytes.assign(getAllCategories().size(), 0);
  llvm::StringMap<ProducerTotal> totals;
  for (const LiveStorage &row : profile.live) {
    profile.categoryBytes[static_cast<size_t>(row.category)] += row.bytes;
    ProducerTotal &total = totals[row.producer];
    total.producer = row.producer;
    total.bytes += row.bytes;
    ++total.numStorages;
  }
  for (auto &entry : totals)
    profile.producers.push_back(std::move(entry.second));
  llvm::sort(profile.producers, [](const ProducerTotal &a, const ProducerTotal &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.producer < b.producer;
  });
}

void ProfileBuilder::addTimeline(int64_t numColumns) {
  int64_t numSteps = plan.steps.size();
  numColumns = std::clamp<int64_t>(numColumns, 1, numSteps);
  for (int64_t column = 0; column < numColumns; ++column) {
    ProfileColumn entry{column * numSteps / numColumns, (column + 1) * numSteps / numColumns, 0};
    for (int64_t step = entry.begin; step < entry.end; ++step)
      entry.bytes = std::max(entry.bytes, simulation.liveBytes[step]);
    profile.timeline.push_back(entry);
  }
}

void ProfileBuilder::addLoss() {
  if (!roles.lossOperation)
    return;
  profile.lossResult = roles.lossResult;
  profile.loss = describe(*roles.lossOperation);
  for (auto [index, step] : llvm::enumerate(plan.steps))
    if (!step.isClone && step.op == *roles.lossOperation)
      profile.lossStep = index;
}

void ProfileBuilder::addWorkingSet() {
  profile.workingSetBytes = planner::workingSetBytes(problem);
  StepIndex last = plan.steps.size() - 1;
  SmallVector<StorageIndex> storages;
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    const planner::Operation &operation = problem.operations[step.op];
    storages.clear();
    for (auto [value, from] : llvm::zip_equal(operation.reads, step.reads))
      storages.push_back(getStorage(value, from));
    for (ValueIndex value : operation.writes)
      storages.push_back(getStorage(value, index));
    llvm::sort(storages);
    storages.erase(llvm::unique(storages), storages.end());
    llvm::erase_if(storages, [&](StorageIndex storage) {
      return storage == kNoStorage || simulation.storages[storage].isBoundary;
    });
    int64_t bytes = pad(operation.workspace);
    for (StorageIndex storage : storages)
      bytes += pad(simulation.storages[storage].bytes);
    if (index == 0 || bytes > profile.largestBytes) {
      profile.largest = describe(step.op);
      profile.largestBytes = bytes;
      profile.largestWorkspaceBytes = operation.workspace;
      profile.largestHasRegions = function.operations[step.op]->getNumRegions() != 0;
      profile.largestIsTerminator = StepIndex(index) == last;
    }
  }
}

void ProfileBuilder::addNewState() {
  const planner::Step &step = plan.steps.back();
  llvm::SmallDenseSet<StorageIndex> seen;
  for (auto [value, from] : llvm::zip_equal(problem.operations[step.op].reads, step.reads)) {
    StorageIndex storage = getStorage(value, from);
    if (storage != kNoStorage && !simulation.storages[storage].isBoundary &&
        isState(roles.categories[value]) && seen.insert(storage).second)
      profile.newStateBytes += simulation.storages[storage].bytes;
  }
}

MemoryProfile ProfileBuilder::run(Scope scope, int64_t numColumns) {
  profile.function = irFunction.getName().str();
  profile.numSteps = plan.steps.size();
  profile.scope = scope;
  profile.alignment = problem.alignment;
  profile.livePeakBytes = simulation.livePeak;
  profile.packedPeakBytes = packing.packedBytes;
  profile.argumentBytes = function.argumentBytes;
  profile.resultBytes = function.resultBytes;
  profile.constantBytes = function.constantBytes;
  profile.peak = describe(plan.steps[simulation.peakStep].op);
  profile.peakStep = simulation.peakStep;
  for (BlockArgument argument : irFunction.getFunctionBody().getArguments())
    profile.argumentCategories.push_back(roles.categories[function.valueIndex.lookup(argument)]);
  profile.numUnknownSizes = function.unknownSizes.size() + function.innerUnknownSizes.size();
  if (!function.unknownSizes.empty())
    profile.firstUnknownSize = getName(function.unknownSizes.front());
  else if (!function.innerUnknownSizes.empty())
    profile.firstUnknownSize =
        "inside of '" + function.innerUnknownSizes.front().first->getName().getStringRef().str() +
        "'";

  findContents();
  addLive();
  addTotals();
  addTimeline(numColumns);
  addLoss();
  addWorkingSet();
  addNewState();
  return std::move(profile);
}

MemoryProfile mlir::remat::computeMemoryProfile(FunctionOpInterface function,
                                                const FunctionProblem &problem,
                                                const ValueRoles &roles,
                                                const planner::Solution &solution, Scope scope,
                                                int64_t numColumns) {
  return ProfileBuilder(function, problem, roles, solution).run(scope, numColumns);
}
