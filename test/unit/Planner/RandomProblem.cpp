//===- RandomProblem.cpp - Problems and plans for tests ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "Remat/Planner/Serialization.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

ValueIndex ProblemBuilder::boundary(int64_t bytes, Placement placement) {
  ValueIndex index = problem.values.size();
  Value &value = problem.values.emplace_back();
  value.name = "v" + std::to_string(index);
  value.bytes = bytes;
  value.placement = placement;
  return index;
}

OpIndex ProblemBuilder::operation(llvm::ArrayRef<ValueIndex> reads, int64_t cost) {
  OpIndex index = problem.operations.size();
  Operation &op = problem.operations.emplace_back();
  op.name = "op" + std::to_string(index);
  op.reads.assign(reads.begin(), reads.end());
  op.cost = cost;
  return index;
}

ValueIndex ProblemBuilder::result(OpIndex op, int64_t bytes, Placement placement,
                                  ValueIndex source) {
  ValueIndex index = boundary(bytes, placement);
  problem.values[index].source = source;
  problem.values[index].producer = op;
  problem.operations[op].writes.push_back(index);
  return index;
}

ValueIndex ProblemBuilder::value(llvm::ArrayRef<ValueIndex> reads, int64_t bytes, int64_t cost) {
  return result(operation(reads, cost), bytes);
}

ValueIndex ProblemBuilder::view(ValueIndex source, int64_t bytes, int64_t cost) {
  return result(operation(source, cost), bytes, Placement::View, source);
}

ValueIndex ProblemBuilder::reuse(ValueIndex source, llvm::ArrayRef<ValueIndex> otherReads,
                                 int64_t bytes, int64_t cost) {
  OpIndex op = operation(otherReads, cost);
  problem.operations[op].reads.push_back(source);
  return result(op, bytes, Placement::Reuse, source);
}

void ProblemBuilder::setEffect(OpIndex op, Effect effect) {
  problem.operations[op].effect = effect;
  problem.operations[op].recomputable = false;
}

OpIndex ProblemBuilder::terminator(llvm::ArrayRef<ValueIndex> reads) {
  OpIndex op = operation(reads, 0);
  setEffect(op, Effect::Pinned);
  return op;
}

//===----------------------------------------------------------------------===//
// At random
//===----------------------------------------------------------------------===//

RandomProblemOptions RandomProblemOptions::any(Random &random) {
  RandomProblemOptions options;
  options.shape = random.chance(50) ? Shape::Mixed : Shape::Training;
  options.numBoundary = random.below(4);
  options.alignment = int64_t(1) << random.below(4);
  for (int64_t *percentage :
       {&options.effects, &options.notRecomputable, &options.policies, &options.views,
        &options.reuse, &options.severalResults, &options.notInMemory, &options.workspace,
        &options.dependences, &options.empty})
    *percentage = random.chance(50) ? random.between(5, 40) : 0;
  options.deadOperations = random.chance(20);
  return options;
}

namespace {

class Generator {
public:
  Generator(Random &source, const RandomProblemOptions &limits) : random(source), options(limits) {}

  Problem run() {
    builder.problem.alignment = options.alignment;
    for (int64_t k = 0; k < options.numBoundary; ++k)
      note(builder.boundary(bytes(),
                            random.chance(options.notInMemory) ? Placement::None : Placement::Own));
    if (options.shape == Shape::Training)
      training();
    else
      mixed();

    // What nobody reads is a result, unless it may be dead.
    llvm::SmallVector<ValueIndex> results;
    for (ValueIndex value = 0, e = builder.problem.values.size(); value < e; ++value)
      if (builder.problem.values[value].producer != kBoundary && !isRead[value] &&
          !(options.deadOperations && random.chance(50)))
        results.push_back(value);
    builder.terminator(results);
    return std::move(builder.problem);
  }

private:
  int64_t numOperations() const { return builder.problem.operations.size(); }
  bool isFull() const { return numOperations() >= options.numOperations; }
  int64_t bytes() { return random.chance(options.empty) ? 0 : random.between(1, options.maxBytes); }
  int64_t cost() { return random.between(0, options.maxCost); }
  ValueIndex note(ValueIndex value) {
    isRead.resize(value + 1, false);
    return value;
  }

  /// A value to read: one that nobody reads yet, a recent one, or any.
  ValueIndex pick() {
    int64_t numValues = builder.problem.values.size();
    if (random.chance(60))
      for (int64_t attempt = 0; attempt < 4; ++attempt)
        if (ValueIndex value = random.below(numValues); !isRead[value])
          return value;
    return random.chance(50) ? random.between(std::max<int64_t>(numValues - 4, 0), numValues - 1)
                             : random.below(numValues);
  }

  /// Adds an operation that reads `reads` (and perhaps more) with one result
  /// or several, and returns the first. What is special about it is random.
  ValueIndex operation(llvm::SmallVector<ValueIndex> reads) {
    ValueIndex source = kNoValue;
    Placement placement = random.chance(options.notInMemory) ? Placement::None : Placement::Own;
    int64_t size = bytes();
    if (!reads.empty() && random.chance(options.views)) {
      placement = Placement::View;
      source = reads[random.below(reads.size())];
      size = random.between(0, builder.problem.values[source].bytes);
    } else if (random.chance(options.reuse)) {
      placement = Placement::Reuse;
      if (reads.empty() || (random.chance(50) && numOperations() + 1 < options.numOperations))
        reads.push_back(note(builder.value({}, size, random.below(2))));
      source = reads[random.below(reads.size())];
      if (random.chance(80))
        size = builder.problem.values[source].bytes;
    }
    llvm::sort(reads);
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());

    OpIndex index = builder.operation(reads, cost());
    for (ValueIndex value : reads)
      isRead[value] = true;
    ValueIndex first = note(builder.result(index, size, placement, source));
    while (random.chance(options.severalResults))
      note(random.chance(options.reuse) && !reads.empty()
               ? builder.result(index, builder.problem.values[reads[0]].bytes, Placement::Reuse,
                                reads[0])
               : builder.result(index, bytes()));

    Operation &op = builder.problem.operations[index];
    if (random.chance(options.workspace))
      op.workspace = bytes();
    for (int64_t k = 0; k < 2 && op.workspace > 0 && options.variants > 0; ++k)
      if (random.chance(options.variants))
        op.variants.push_back(
            {op.cost + random.between(0, options.maxCost / 2), random.below(op.workspace)});
    if (random.chance(options.dependences) && first > 0)
      op.dependences.push_back(random.below(first));
    if (random.chance(options.effects))
      builder.setEffect(index, Effect::Ordered);
    else if (random.chance(options.effects / 2))
      builder.setEffect(index, Effect::Pinned);
    if (random.chance(options.notRecomputable))
      op.recomputable = false;
    if (random.chance(options.policies))
      op.policy = Policy::MustSave;
    else if (op.recomputable && random.chance(options.policies) && options.mustRecompute)
      op.policy = Policy::MustRecompute;
    return first;
  }

  void mixed() {
    while (!isFull()) {
      llvm::SmallVector<ValueIndex> reads;
      if (!builder.problem.values.empty())
        for (int64_t k = random.below(4); k > 0; --k)
          reads.push_back(pick());
      operation(reads);
    }
  }

  void training() {
    // A third of the operations goes forwards, a third backwards, and a third
    // computes gradients.
    auto parameter = [&](llvm::SmallVector<ValueIndex> &reads) {
      if (options.numBoundary > 0)
        reads.push_back(random.below(options.numBoundary));
    };
    llvm::SmallVector<ValueIndex> activations;
    int64_t numLayers = std::max<int64_t>(options.numOperations / 3, 1);
    while (int64_t(activations.size()) < numLayers && !isFull()) {
      llvm::SmallVector<ValueIndex> reads;
      if (!activations.empty())
        reads.push_back(activations.back());
      parameter(reads);
      activations.push_back(operation(reads));
    }
    ValueIndex gradient = activations.back();
    for (ValueIndex activation : llvm::reverse(activations)) {
      if (isFull())
        return;
      llvm::SmallVector<ValueIndex> reads{gradient, activation};
      parameter(reads);
      ValueIndex next = operation(reads);
      if (!isFull())
        operation({gradient, activation});
      gradient = next;
    }
  }

  Random &random;
  const RandomProblemOptions &options;
  ProblemBuilder builder;
  std::vector<bool> isRead;
};

class PlanGenerator {
public:
  PlanGenerator(Random &source, const Problem &input, int64_t percentage)
      : random(source), problem(input), clones(percentage), stepsOf(input.operations.size()) {}

  Plan run() {
    bool reorder = random.chance(60);
    std::vector<bool> isDone(problem.operations.size(), false);
    for (size_t k = 0; k < isDone.size(); ++k) {
      llvm::SmallVector<OpIndex> ready;
      bool isEffectOpen = false;
      for (OpIndex op = 0, e = isDone.size(); op < e; ++op) {
        if (isDone[op])
          continue;
        Effect effect = problem.operations[op].effect;
        // Of the operations that are not pure the first one is next, and
        // nothing passes a pinned one.
        bool isBlocked = (effect != Effect::Pure && isEffectOpen) ||
                         (effect == Effect::Pinned && !ready.empty());
        isEffectOpen |= effect != Effect::Pure;
        if (!isBlocked && isReady(op))
          ready.push_back(op);
        if (effect == Effect::Pinned)
          break;
      }
      OpIndex op = reorder ? ready[random.below(ready.size())] : ready.front();
      execute(op, /*isClone=*/false);
      isDone[op] = true;
    }
    assignRegions(problem, plan);
    return std::move(plan);
  }

private:
  bool isAvailable(ValueIndex value) const {
    OpIndex producer = problem.values[value].producer;
    return producer == kBoundary || !stepsOf[producer].empty();
  }
  bool isReady(OpIndex op) const {
    auto available = [&](ValueIndex value) { return isAvailable(value); };
    return llvm::all_of(problem.operations[op].reads, available) &&
           llvm::all_of(problem.operations[op].dependences, available);
  }
  StepIndex instance(ValueIndex value) {
    OpIndex producer = problem.values[value].producer;
    if (producer == kBoundary)
      return kBoundary;
    const auto &steps = stepsOf[producer];
    return random.chance(80) ? steps.back() : steps[random.below(steps.size())];
  }

  void execute(OpIndex index, bool isClone) {
    const Operation &op = problem.operations[index];
    // Clones of operands, and sometimes clones of their operands before them.
    int64_t depth = isClone ? 0 : random.below(3);
    llvm::SmallVector<OpIndex> chain;
    for (ValueIndex value : op.reads) {
      OpIndex producer = problem.values[value].producer;
      for (int64_t level = 0; level <= depth && !isClone; ++level) {
        if (producer == kBoundary || !random.chance(clones) ||
            !problem.operations[producer].recomputable ||
            problem.operations[producer].policy == Policy::MustSave)
          break;
        chain.push_back(producer);
        if (problem.operations[producer].reads.empty())
          break;
        producer = problem.values[problem.operations[producer].reads[0]].producer;
      }
    }
    for (OpIndex producer : llvm::reverse(chain))
      execute(producer, /*isClone=*/true);

    Step step;
    step.op = index;
    step.isClone = isClone;
    for (ValueIndex value : op.reads)
      step.reads.push_back(instance(value));
    for (ValueIndex value : op.dependences)
      step.dependences.push_back(instance(value));
    stepsOf[index].push_back(plan.steps.size());
    plan.steps.push_back(std::move(step));
  }

  Random &random;
  const Problem &problem;
  int64_t clones;
  std::vector<llvm::SmallVector<StepIndex, 2>> stepsOf;
  Plan plan;
};

} // namespace

Problem test::randomProblem(Random &random, const RandomProblemOptions &options) {
  Problem problem = Generator(random, options).run();
  if (options.notInMemory != 0)
    for (Value &value : problem.values)
      value.isAwaitable = !random.chance(options.notInMemory);
  return problem;
}

Plan test::randomPlan(Random &random, const Problem &problem, int64_t clones) {
  return PlanGenerator(random, problem, clones).run();
}

bool test::canWaitForAnything(const Problem &problem) {
  return llvm::all_of(problem.operations, [&](const Operation &operation) {
    return operation.effect == Effect::Pinned ||
           llvm::any_of(operation.writes, [&](ValueIndex index) {
             const Value &value = problem.values[index];
             return value.isAwaitable && value.placement != Placement::None &&
                    value.placement != Placement::View;
           });
  });
}

std::string test::toText(const Plan &plan) { return llvm::formatv("{0}", toJSON(plan)).str(); }
