//===- XLAStorage.cpp - Which values share a buffer in XLA ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "XLAStorage.h"

#include "Remat/Analysis/FusionModel.h"
#include "Remat/Interfaces/ModelCosts.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::remat;
using planner::kBoundary;
using planner::kNoValue;
using planner::OpIndex;
using planner::Placement;
using planner::ValueIndex;

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

namespace {
class BufferSharing {
public:
  BufferSharing(FunctionProblem &function, SummaryAnalysis &summaries, bool isLoopBody)
      : function(function), problem(function.problem), summaries(summaries), isLoopBody(isLoopBody),
        lastReader(problem.values.size(), kBoundary) {
    for (auto [index, operation] : llvm::enumerate(problem.operations))
      for (ValueIndex read : operation.reads)
        lastReader[getRoot(problem, read)] = index;
  }

  void run() {
    if (isLoopBody)
      writeCarriedInPlace();
    for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op) {
      FusionRole role = getRole(function.operations[op]);
      if (role == FusionRole::Loop)
        shareWithLoop(op);
      else if (problem.operations[op].writes.size() == 1)
        writeOverOperand(op);
    }
  }

private:
  FusionRole getRole(Operation *op) { return summaries.summarize(op).model.fusionRole; }

  /// The values in memory of which `op` reads each element only to compute the element in
  /// the same place.
  SmallVector<ValueIndex> getSamePlaceReads(OpIndex op);
  void writeOverOperand(OpIndex op);
  void shareWithLoop(OpIndex op);
  void writeCarriedInPlace();

  /// Whether the buffer of a value has another shape than the value: products are made of
  /// matrices.
  bool hasOtherShape(ValueIndex value) {
    OpIndex producer = problem.values[value].producer;
    auto type = dyn_cast<RankedTensorType>(function.values[value].getType());
    return producer != kBoundary && type && type.getRank() > 2 &&
           getRole(function.operations[producer]) == FusionRole::Product;
  }

  bool hasOwnBuffer(ValueIndex value) const {
    return problem.values[value].placement == Placement::Own && problem.values[value].bytes != 0;
  }

  FunctionProblem &function;
  planner::Problem &problem;
  SummaryAnalysis &summaries;
  bool isLoopBody;
  /// By root: the last operation that reads it or a view of it.
  std::vector<OpIndex> lastReader;
};
} // namespace

SmallVector<ValueIndex> BufferSharing::getSamePlaceReads(OpIndex index) {
  Operation *op = function.operations[index];
  SmallVector<ValueIndex> found;
  if (Value updated = getUpdatedValue(op, summaries)) {
    if (auto it = function.valueIndex.find(updated); it != function.valueIndex.end())
      found.push_back(it->second);
    return found;
  }
  llvm::SmallPtrSet<Operation *, 8> inlined(function.inlined[index].begin(),
                                            function.inlined[index].end());
  Count numElements = getNumElements(op->getResult(0).getType());
  auto keepsPlaces = [&](Operation *member) {
    FusionRole role = getRole(member);
    return role == FusionRole::Elementwise || role == FusionRole::CostlyElementwise ||
           // Views among what is inlined are reshapes.
           (member != op && role == FusionRole::None);
  };
  SmallVector<Operation *> pending{op};
  while (!pending.empty()) {
    Operation *member = pending.pop_back_val();
    if (!keepsPlaces(member))
      continue;
    for (Value operand : member->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && inlined.erase(producer))
        pending.push_back(producer);
      else if (Count count = getNumElements(operand.getType());
               count.isKnown() && numElements.isKnown() && count.get() == numElements.get())
        if (auto it = function.valueIndex.find(operand); it != function.valueIndex.end())
          found.push_back(it->second);
    }
  }
  return found;
}

void BufferSharing::writeOverOperand(OpIndex op) {
  ValueIndex result = problem.operations[op].writes.front();
  if (!hasOwnBuffer(result) || problem.operations[op].effect != planner::Effect::Pure)
    return;
  // One that dies here; of several the one that was computed last.
  ValueIndex best = kNoValue;
  auto isBetter = [&](ValueIndex value) {
    auto rank = [&](ValueIndex candidate) {
      ValueIndex root = getRoot(problem, candidate);
      return std::make_pair(lastReader[root] == op, root);
    };
    return best == kNoValue || rank(best) < rank(value);
  };
  for (ValueIndex value : getSamePlaceReads(op)) {
    ValueIndex root = getRoot(problem, value);
    const planner::Value &info = problem.values[root];
    if (info.producer == kBoundary) {
      auto carried = dyn_cast_if_present<BlockArgument>(function.values[root]);
      bool isOverwritten = isLoopBody && lastReader[root] == op && carried &&
                           carried.getOwner() == function.operations[op]->getBlock() &&
                           carried.getType() == function.operations[op]->getResult(0).getType();
      if (isOverwritten) {
        problem.values[result].placement = Placement::View;
        problem.values[result].source = value;
        return;
      }
    } else if (info.placement != Placement::None && info.bytes == problem.values[result].bytes &&
               !hasOtherShape(root) && isBetter(value)) {
      best = value;
    }
  }
  if (best == kNoValue)
    return;
  problem.values[result].placement = Placement::Reuse;
  problem.values[result].source = best;
}

/// What a loop returns as it came in is the operand; everything else begins in its buffer.
void BufferSharing::shareWithLoop(OpIndex index) {
  Operation *op = function.operations[index];
  if (op->getNumRegions() == 0 || op->getNumOperands() != op->getNumResults())
    return;
  Region &body = op->getRegions().back();
  if (!body.hasOneBlock() || body.getNumArguments() != op->getNumResults() ||
      body.front().empty() || body.front().back().getNumOperands() != op->getNumResults())
    return;
  llvm::SmallDenseSet<ValueIndex> taken;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    ValueIndex result = problem.operations[index].writes[number];
    ValueIndex value = function.valueIndex.lookup(operand);
    const planner::Value &source = problem.values[getRoot(problem, value)];
    if (!hasOwnBuffer(result) || source.placement == Placement::None ||
        source.bytes < problem.values[result].bytes)
      continue;
    bool isUnchanged = body.front().back().getOperand(number) == body.getArgument(number);
    if (!isUnchanged && !taken.insert(getRoot(problem, value)).second)
      continue;
    problem.values[result].placement = isUnchanged ? Placement::View : Placement::Reuse;
    problem.values[result].source = value;
  }
}

/// What is carried to the next iteration is written where it was if nothing reads that any
/// more.
void BufferSharing::writeCarriedInPlace() {
  Operation *terminator = function.operations.back();
  Block *block = terminator->getBlock();
  if (block->getNumArguments() != terminator->getNumOperands())
    return;
  for (auto [number, operand] : llvm::enumerate(terminator->getOperands())) {
    ValueIndex value = function.valueIndex.lookup(operand);
    ValueIndex argument = function.valueIndex.lookup(block->getArgument(number));
    planner::Value &info = problem.values[value];
    bool isFree = info.producer != kBoundary && info.placement == Placement::Own &&
                  lastReader[getRoot(problem, argument)] < info.producer;
    if (isFree && operand.getType() == block->getArgument(number).getType())
      info.bytes = 0;
  }
}

void mlir::remat::shareBuffers(FunctionProblem &function, SummaryAnalysis &summaries,
                               bool isLoopBody) {
  BufferSharing(function, summaries, isLoopBody).run();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Which results are in the memory of arguments.
static llvm::SmallBitVector findDonatedResults(FunctionOpInterface function, ValueRange results) {
  llvm::SmallBitVector isDonated(results.size());
  SmallVector<Type> donors;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    if (auto number = function.getArgAttrOfType<IntegerAttr>(argument, "tf.aliasing_output")) {
      if (number.getValue().ult(results.size()))
        isDonated.set(number.getValue().getZExtValue());
    } else if (auto flag = function.getArgAttrOfType<BoolAttr>(argument, "jax.buffer_donor");
               flag && flag.getValue()) {
      donors.push_back(function.getArgument(argument).getType());
    }
  }
  for (Type donor : donors)
    for (auto [number, result] : llvm::enumerate(results))
      if (!isDonated[number] && result.getType() == donor) {
        isDonated.set(number);
        break;
      }
  return isDonated;
}

void mlir::remat::addResultBuffers(FunctionOpInterface source, FunctionProblem &function) {
  planner::Problem &problem = function.problem;
  Operation *terminator = function.operations.back();
  llvm::SmallBitVector isDonated = findDonatedResults(source, terminator->getOperands());
  llvm::SmallDenseSet<ValueIndex> placed;
  // A result may be returned twice.
  SmallVector<int64_t> resultBytes;
  for (Value operand : terminator->getOperands())
    resultBytes.push_back(problem.values[function.valueIndex.lookup(operand)].bytes);
  for (auto [number, operand] : llvm::enumerate(terminator->getOperands())) {
    ValueIndex value = function.valueIndex.lookup(operand);
    ValueIndex root = getRoot(problem, value);
    int64_t bytes = resultBytes[number];
    planner::Value &info = problem.values[root];
    // Written where it is returned, unless it is returned twice, or only a part of it.
    OpIndex producer = info.producer;
    if (producer != kBoundary && info.placement != Placement::None && info.bytes == bytes &&
        placed.insert(root).second) {
      info.bytes = 0;
      info.placement = Placement::Own;
      info.source = kNoValue;
      planner::Operation &operation = problem.operations[producer];
      if (operation.policy == planner::Policy::MustRecompute)
        operation.policy = planner::Policy::None;
      operation.recomputable = false;
      function.whyNot[producer] = "computes a result, which is kept in any case";
    }
    if (isDonated[number])
      continue;
    ValueIndex buffer = problem.values.size();
    problem.values.push_back({"result", bytes, Placement::Own, kNoValue, kBoundary});
    function.values.push_back(Value());
    function.resultBuffers[buffer] = operand;
  }
  problem.operations.back().workspace = 0;
}
