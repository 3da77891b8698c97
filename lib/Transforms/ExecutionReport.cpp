//===- ExecutionReport.cpp - Memory over time and places of buffers ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What charts are made of. Bytes by category are followed from step to step, since a
// storage may change its category when something else is written into it.
//
//===----------------------------------------------------------------------===//

#include "ExecutionReport.h"

#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/Transforms/ApplyPlan.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;
using namespace mlir::remat;
using planner::kBoundary;
using planner::kNoStorage;
using planner::StepIndex;
using planner::Storage;
using planner::StorageIndex;
using planner::ValueIndex;

static constexpr int64_t kMaxPoints = 1000;
static constexpr size_t kMaxStorages = 2000;

namespace {
class ExecutionDescriber {
public:
  ExecutionDescriber(const FunctionProblem &function, const planner::Solution &solution,
                     const std::vector<Category> &categories)
      : function(function), problem(function.problem), plan(solution.plan),
        simulation(solution.simulation), packing(solution.packing), categories(categories),
        numSteps(plan.steps.size()) {}

  void addTimeline(ExecutionReport &report);
  void addStorages(int64_t leastBytes, llvm::function_ref<std::string(StorageIndex)> getReason,
                   ExecutionReport &report);

private:
  /// Bytes of each category, and of workspaces at the end.
  using Bytes = std::vector<int64_t>;

  std::vector<Bytes> followBytes() const;
  std::vector<StepIndex> choosePoints(ArrayRef<Bytes> bytes) const;
  StorageReport describe(const Storage &storage, AsmState &names) const;
  StorageReport describeWorkspace(StepIndex step, int64_t bytes) const;

  const FunctionProblem &function;
  const planner::Problem &problem;
  const planner::Plan &plan;
  const planner::Simulation &simulation;
  const planner::PackedPlan &packing;
  const std::vector<Category> &categories;
  StepIndex numSteps;
};
} // namespace

/// By step: what is live during it.
std::vector<ExecutionDescriber::Bytes> ExecutionDescriber::followBytes() const {
  std::vector<std::vector<StorageIndex>> begins(numSteps), ends(numSteps + 1);
  std::vector<ValueIndex> held;
  for (auto [index, storage] : llvm::enumerate(simulation.storages)) {
    held.push_back(storage.first.value);
    begins[storage.begin].push_back(index);
    ends[storage.end].push_back(index);
  }
  std::vector<Bytes> result;
  Bytes now(getAllCategories().size() + 1);
  auto add = [&](StorageIndex storage, int64_t bytes) {
    now[static_cast<size_t>(categories[held[storage]])] += bytes;
  };
  for (StepIndex index = 0; index < numSteps; ++index) {
    const planner::Step &step = plan.steps[index];
    const planner::Operation &operation = problem.operations[step.op];
    for (StorageIndex storage : ends[index])
      add(storage, -simulation.storages[storage].bytes);
    for (StorageIndex storage : begins[index])
      add(storage, simulation.storages[storage].bytes);
    for (auto [position, value] : llvm::enumerate(operation.writes)) {
      StorageIndex storage = simulation.storageOf[simulation.firstWrite[index] + position];
      if (storage == kNoStorage || problem.values[value].placement == planner::Placement::View)
        continue;
      add(storage, -simulation.storages[storage].bytes);
      held[storage] = value;
      add(storage, simulation.storages[storage].bytes);
    }
    now.back() = planner::getVariant(operation, step.variant).workspace;
    assert(std::accumulate(now.begin(), now.end(), int64_t(0)) == simulation.liveBytes[index] &&
           "the categories must add up");
    result.push_back(now);
  }
  return result;
}

/// The steps where something changes; of too many, the first highest one of each of equally
/// long ranges of all steps.
std::vector<StepIndex> ExecutionDescriber::choosePoints(ArrayRef<Bytes> bytes) const {
  std::vector<StepIndex> points;
  for (StepIndex index = 0; index < numSteps; ++index)
    if (index == 0 || bytes[index] != bytes[index - 1])
      points.push_back(index);
  if (int64_t(points.size()) <= kMaxPoints)
    return points;
  points.clear();
  for (int64_t range = 0; range < kMaxPoints; ++range) {
    auto begin = simulation.liveBytes.begin() + range * numSteps / kMaxPoints;
    auto end = simulation.liveBytes.begin() + (range + 1) * numSteps / kMaxPoints;
    points.push_back(std::max_element(begin, end) - simulation.liveBytes.begin());
  }
  return points;
}

void ExecutionDescriber::addTimeline(ExecutionReport &report) {
  std::vector<Bytes> bytes = followBytes();
  report.numSteps = numSteps;
  report.peakStep = simulation.peakStep;
  report.points = choosePoints(bytes);
  auto addCategory = [&](StringRef name, size_t category) {
    std::vector<int64_t> curve;
    for (StepIndex point : report.points)
      curve.push_back(bytes[point][category]);
    if (llvm::any_of(curve, [](int64_t value) { return value != 0; }))
      report.bytes[name.str()] = std::move(curve);
  };
  for (Category category : getAllCategories())
    addCategory(getCategoryName(category), static_cast<size_t>(category));
  addCategory("workspace", getAllCategories().size());
}

void ExecutionDescriber::addStorages(int64_t leastBytes,
                                     llvm::function_ref<std::string(StorageIndex)> getReason,
                                     ExecutionReport &report) {
  report.boundaryBytes = simulation.boundaryBytes;
  report.arenaBytes = packing.arenaBytes;
  AsmState names(function.operations.front()->getParentOp());
  for (auto [index, storage] : llvm::enumerate(simulation.storages))
    if (storage.bytes >= leastBytes) {
      StorageReport row = describe(storage, names);
      if (!storage.isBoundary)
        row.offset = packing.offsets[index];
      if (storage.begin <= simulation.peakStep && simulation.peakStep < storage.end)
        row.reason = getReason(index);
      report.storages.push_back(std::move(row));
    }
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    int64_t bytes = planner::getVariant(problem.operations[step.op], step.variant).workspace;
    if (bytes >= leastBytes)
      report.storages.push_back(describeWorkspace(index, bytes));
  }
  auto sortBy = [&](auto getKey) {
    llvm::stable_sort(report.storages, [&](const StorageReport &a, const StorageReport &b) {
      return getKey(a) < getKey(b);
    });
  };
  sortBy([](const StorageReport &row) { return -row.bytes; });
  if (report.storages.size() > kMaxStorages)
    report.storages.erase(report.storages.begin() + kMaxStorages, report.storages.end());
  sortBy([](const StorageReport &row) { return row.begin; });
}

StorageReport ExecutionDescriber::describe(const Storage &storage, AsmState &names) const {
  StorageReport row;
  Value value = function.getShownValue(storage.first.value);
  if (value) {
    llvm::raw_string_ostream os(row.value);
    value.printAsOperand(os, names);
  }
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (op)
    row.producer = op->getName().getStringRef().str();
  else
    row.producer = value ? "argument" : "constant";
  row.category = getCategoryName(categories[storage.first.value]).str();
  row.location =
      formatLocation(value ? value.getLoc() : function.constantLocs.at(storage.first.value));
  row.bytes = storage.bytes;
  row.begin = storage.begin;
  row.end = storage.end;
  StepIndex first = storage.first.step;
  row.isRecomputed =
      (first != kBoundary && plan.steps[first].isClone) || (op && isRematerialized(op));
  return row;
}

StorageReport ExecutionDescriber::describeWorkspace(StepIndex step, int64_t bytes) const {
  StorageReport row;
  Operation *op = function.operations[plan.steps[step].op];
  row.producer = op->getName().getStringRef().str();
  row.category = "workspace";
  row.location = formatLocation(op->getLoc());
  row.bytes = bytes;
  row.begin = step;
  row.end = step + 1;
  row.offset = packing.workspaceOffsets[step];
  row.isRecomputed = plan.steps[step].isClone || isRematerialized(op);
  if (step == simulation.peakStep)
    row.reason = "needed by this operation";
  return row;
}

ExecutionReport
mlir::remat::describeExecution(const FunctionProblem &problem, const planner::Solution &solution,
                               const std::vector<Category> &categories, int64_t leastBytes,
                               llvm::function_ref<std::string(StorageIndex)> getReason) {
  ExecutionReport report;
  ExecutionDescriber describer(problem, solution, categories);
  describer.addTimeline(report);
  describer.addStorages(leastBytes, getReason, report);
  return report;
}
