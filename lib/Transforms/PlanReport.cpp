//===- PlanReport.cpp - Filling in the report of a planned function ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanReport.h"

#include "ExecutionReport.h"
#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/Transforms/ApplyPlan.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;
using planner::kBoundary;
using planner::kNoStorage;
using planner::OpIndex;
using planner::PackedPlan;
using planner::Placement;
using planner::Plan;
using planner::Problem;
using planner::Simulation;
using planner::Solution;
using planner::Step;
using planner::StepIndex;
using planner::Storage;
using planner::StorageIndex;
using planner::ValueIndex;

namespace {
class PlanDescriber {
public:
  PlanDescriber(const FunctionProblem &function, const Solution &solution,
                const std::vector<Category> &categories, int64_t minBytes, FunctionReport &report)
      : function(function), problem(function.problem), solution(solution), plan(solution.plan),
        simulation(solution.simulation), packing(solution.packing), categories(categories),
        minBytes(minBytes), report(report), asmState(function.operations.front()->getParentOp()) {}

  void run() {
    report.peakBytes = simulation.livePeak;
    report.packedBytes = packing.packedBytes;
    const Step &peakStep = plan.steps[simulation.peakStep];
    Operation *peakOp = function.operations[peakStep.op];
    report.peakOperation = {peakOp->getName().getStringRef().str(), function.positions[peakStep.op],
                            formatLocation(peakOp->getLoc()), peakOp->getLoc()};
    report.liveAtPeak.clear();
    report.recomputed.clear();
    report.moved.clear();
    report.categoriesAtPeak.clear();
    describeReaders();
    describePeak();
    describeClones();
    describeMoves();
    if (report.before)
      report.after = describeExecution(function, solution, categories,
                                       getLeastDescribedBytes(report.baselinePeakBytes),
                                       [&](StorageIndex storage) { return getReason(storage); });
  }

private:
  /// For every storage: the steps that read it around the peak.
  void describeReaders();
  void describePeak();
  void describeClones();
  void describeMoves();
  std::string getReason(StorageIndex storage) const;

  std::string getName(ValueIndex value) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (Value irValue = function.getShownValue(value))
      irValue.printAsOperand(os, asmState);
    return text;
  }

  StorageIndex getStorage(ValueIndex value, StepIndex step) const {
    if (step == kBoundary)
      return simulation.boundaryStorage[value];
    const auto &writes = problem.operations[plan.steps[step].op].writes;
    return simulation
        .storageOf[simulation.firstWrite[step] + (llvm::find(writes, value) - writes.begin())];
  }

  const FunctionProblem &function;
  const Problem &problem;
  const Solution &solution;
  const Plan &plan;
  const Simulation &simulation;
  const PackedPlan &packing;
  const std::vector<Category> &categories;
  int64_t minBytes;
  FunctionReport &report;
  AsmState asmState;
  /// By storage: whether the peak's step reads or writes it; the first step
  /// behind the peak that reads it; whether the terminator does.
  std::vector<bool> isNeeded;
  std::vector<bool> isPassedThroughBarrier;
  /// By storage: the value that it holds at the peak.
  std::vector<ValueIndex> held;
  std::vector<StepIndex> nextReader;
  std::vector<bool> isResult;
};
} // namespace

void PlanDescriber::describeReaders() {
  size_t numStorages = simulation.storages.size();
  isNeeded.assign(numStorages, false);
  isResult.assign(numStorages, false);
  nextReader.assign(numStorages, kBoundary);
  isPassedThroughBarrier.assign(numStorages, false);
  held.clear();
  for (const Storage &storage : simulation.storages)
    held.push_back(storage.first.value);
  for (StepIndex index = 0; index <= simulation.peakStep; ++index) {
    const auto &operation = problem.operations[plan.steps[index].op];
    for (ValueIndex value : operation.writes) {
      StorageIndex storage = getStorage(value, index);
      if (storage == kNoStorage)
        continue;
      if (problem.values[value].placement != Placement::View)
        held[storage] = value;
      else if (operation.effect != planner::Effect::Pure &&
               !isRematerialized(function.operations[plan.steps[index].op]))
        isPassedThroughBarrier[storage] = true;
    }
  }
  StepIndex numSteps = plan.steps.size();
  for (StepIndex index = simulation.peakStep; index < numSteps; ++index) {
    const Step &step = plan.steps[index];
    const auto &operation = problem.operations[step.op];
    for (auto [value, from] : llvm::zip_equal(operation.reads, step.reads)) {
      StorageIndex storage = getStorage(value, from);
      if (storage == kNoStorage)
        continue;
      if (index == simulation.peakStep)
        isNeeded[storage] = true;
      else if (nextReader[storage] == kBoundary)
        nextReader[storage] = index;
      if (index + 1 == numSteps)
        isResult[storage] = true;
    }
    if (index == simulation.peakStep)
      for (ValueIndex value : operation.writes)
        if (StorageIndex storage = getStorage(value, index); storage != kNoStorage)
          isNeeded[storage] = true;
  }
}

std::string PlanDescriber::getReason(StorageIndex index) const {
  const Storage &storage = simulation.storages[index];
  if (storage.isBoundary) {
    StringRef kind = function.getBoundaryKind(storage.first.value);
    return kind == "constant" ? "program constant" : kind.str();
  }
  if (isNeeded[index])
    return "needed by this operation";
  OpIndex producer = problem.values[held[index]].producer;
  const auto &operation = problem.operations[producer];
  std::string reader;
  if (StepIndex next = nextReader[index]; next != kBoundary) {
    OpIndex op = plan.steps[next].op;
    reader = "; read next by '" + problem.operations[op].name + "' (operation " +
             std::to_string(function.positions[op]) + ")";
  }
  if (isResult[index])
    return "result" + reader;
  if (!operation.recomputable)
    return "not recomputable: its operation " +
           (function.whyNot[producer].empty() ? "keeps its place" : function.whyNot[producer]) +
           reader;
  if (storage.bytes < minBytes)
    return "smaller than min-bytes" + reader;
  if (isPassedThroughBarrier[index])
    return "read through a barrier, which is not repeated" + reader;
  int64_t operandBytes = 0;
  for (auto [value, from] : llvm::zip(problem.operations[plan.steps[storage.first.step].op].reads,
                                      plan.steps[storage.first.step].reads)) {
    StorageIndex operand = getStorage(value, from);
    if (operand != kNoStorage && !simulation.storages[operand].isBoundary &&
        simulation.storages[operand].end <= simulation.peakStep)
      operandBytes += simulation.storages[operand].bytes;
  }
  if (operandBytes >= storage.bytes)
    return "recomputing it would keep operands of " + std::to_string(operandBytes) +
           " bytes alive" + reader;
  if (report.status == PlanStatus::Infeasible)
    return "computing it again does not lower the peak" + reader;
  return "kept" + reader;
}

void PlanDescriber::describePeak() {
  StepIndex peak = simulation.peakStep;
  int64_t live = 0, padding = 0;
  for (auto [index, storage] : llvm::enumerate(simulation.storages)) {
    if (!storage.isBoundary && (storage.begin > peak || storage.end <= peak))
      continue;
    live += storage.bytes;
    padding += planner::align(storage.bytes, problem.alignment) - storage.bytes;
    if (storage.bytes == 0)
      continue;
    ValueIndex value = held[index];
    LiveValueReport row;
    row.value = getName(value);
    row.bytes = storage.bytes;
    row.category = getCategoryName(categories[value]).str();
    row.reason = getReason(index);
    Value irValue = function.getShownValue(value);
    if (Operation *op = irValue ? irValue.getDefiningOp() : nullptr)
      row.producer = op->getName().getStringRef().str();
    else
      row.producer = function.getBoundaryKind(value).str();
    row.loc = irValue ? irValue.getLoc() : function.constantLocs.at(value);
    row.location = formatLocation(*row.loc);
    report.categoriesAtPeak[row.category] += row.bytes;
    report.liveAtPeak.push_back(std::move(row));
  }
  llvm::stable_sort(report.liveAtPeak, [](const LiveValueReport &a, const LiveValueReport &b) {
    return a.bytes > b.bytes;
  });
  auto addRow = [&](StringRef name, int64_t bytes, StringRef reason) {
    if (bytes == 0)
      return;
    LiveValueReport row;
    row.producer = name.str();
    row.bytes = bytes;
    row.reason = reason.str();
    report.liveAtPeak.push_back(std::move(row));
  };
  int64_t workspace = problem.operations[plan.steps[peak].op].workspace;
  padding += planner::align(workspace, problem.alignment) - workspace;
  addRow("workspace", workspace, "needed by this operation");
  addRow("alignment", padding, "buffers begin at multiples of the alignment");
  addRow("fragmentation", packing.packedBytes - live - workspace - padding,
         "gaps between buffers with fixed offsets");
}

void PlanDescriber::describeClones() {
  struct Count {
    int64_t clones = 0, executions = 0;
  };
  llvm::MapVector<OpIndex, Count> counts;
  for (const Step &step : plan.steps) {
    Count &count = counts[step.op];
    count.clones += step.isClone;
    ++count.executions;
  }
  for (auto [op, count] : counts) {
    if (count.clones == 0)
      continue;
    // A clone whose original is gone costs nothing.
    Location loc = function.operations[op]->getLoc();
    RecomputedReport row{problem.operations[op].name,
                         count.clones,
                         /*bytes=*/0,
                         (count.executions - 1) * problem.operations[op].cost,
                         formatLocation(loc),
                         loc};
    for (ValueIndex value : problem.operations[op].writes)
      if (problem.values[value].placement == Placement::Own ||
          problem.values[value].placement == Placement::Reuse)
        row.bytes += problem.values[value].bytes;
    report.recomputed.push_back(std::move(row));
  }
}

/// Reports the originals that run behind an original of a larger index: they
/// were moved to the next original that has kept its place.
void PlanDescriber::describeMoves() {
  OpIndex largest = -1;
  size_t numPlaced = 0;
  for (const Step &step : plan.steps) {
    if (step.isClone)
      continue;
    if (step.op < largest) {
      int64_t from = function.positions[step.op];
      report.moved.push_back({problem.operations[step.op].name, from, from,
                              formatLocation(function.operations[step.op]->getLoc())});
      continue;
    }
    largest = step.op;
    for (; numPlaced < report.moved.size(); ++numPlaced)
      report.moved[numPlaced].before = function.positions[largest];
  }
}

void mlir::remat::describePlan(const FunctionProblem &problem, const Solution &solution,
                               const std::vector<Category> &categories, int64_t minBytes,
                               FunctionReport &report) {
  PlanDescriber(problem, solution, categories, minBytes, report).run();
}
