//===- PlainAnnealer.cpp - A slow, obvious local search ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainAnnealer.h"

#include "RandomProblem.h"
#include "Remat/Planner/PlanFamily.h"
#include <chrono>
#include <cmath>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

/// Reached at the end, as a part of the first temperature.
constexpr double kLastTemperature = 1e-4;

/// An execution of a sequence.
struct Execution {
  OpIndex op;
  bool isClone;
};
using Sequence = std::vector<Execution>;

struct Judged {
  Plan plan;
  int64_t addedCost;
  /// Bytes above the budget.
  int64_t excess;
};

class PlainAnnealer {
public:
  PlainAnnealer(const Problem &input, const PlainAnnealerOptions &limits)
      : problem(input), options(limits), random(limits.seed) {}

  std::optional<Plan> run() {
    Sequence current;
    for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op)
      current.push_back({op, false});
    std::optional<Judged> judged = judge(current);
    int64_t cost = std::max<int64_t>(simulate(problem, judged->plan).cost, 1);
    // To be above the budget by as much as at the beginning costs as much as twice
    // everything.
    double price = 2.0 * cost / std::max<int64_t>(judged->excess, 1);
    double energy = judged->addedCost + price * judged->excess;
    double first = 0.1 * cost;
    std::optional<Judged> best;
    auto note = [&] {
      if (judged->excess == 0 && (!best || judged->addedCost < best->addedCost))
        best = judged;
    };
    note();
    for (double part = 0; (part = getPart()) < 1; ++iteration) {
      Sequence changed = change(current);
      std::optional<Judged> other = judge(changed);
      if (!other)
        continue;
      double otherEnergy = other->addedCost + price * other->excess;
      double temperature = first * std::pow(kLastTemperature, part);
      double chance = random.below(1'000'000) / 1e6;
      if (otherEnergy > energy && chance >= std::exp((energy - otherEnergy) / temperature))
        continue;
      current = std::move(changed);
      judged = std::move(other);
      energy = otherEnergy;
      note();
    }
    if (!best)
      return std::nullopt;
    return std::move(best->plan);
  }

private:
  /// How much of the search is over, from 0 to 1.
  double getPart() const {
    if (options.seconds <= 0)
      return double(iteration) / options.numIterations;
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    return elapsed.count() / options.seconds;
  }

  /// The plan of a sequence, if it is one.
  std::optional<Judged> judge(const Sequence &sequence) const {
    std::vector<StepIndex> latest(problem.operations.size(), kBoundary);
    Plan plan;
    for (const Execution &execution : sequence) {
      const Operation &operation = problem.operations[execution.op];
      Step step{execution.op, execution.isClone, {}, {}};
      auto find = [&](llvm::ArrayRef<ValueIndex> values, auto &steps) {
        for (ValueIndex value : values) {
          OpIndex producer = problem.values[value].producer;
          steps.push_back(producer == kBoundary ? kBoundary : latest[producer]);
          if (producer != kBoundary && latest[producer] == kBoundary)
            return false;
        }
        return true;
      };
      if (!find(operation.reads, step.reads) || !find(operation.dependences, step.dependences))
        return std::nullopt;
      latest[execution.op] = plan.steps.size();
      plan.steps.push_back(std::move(step));
    }
    hoistClones(problem, plan);
    assignRegions(problem, plan);
    if (llvm::errorToBool(verify(problem, plan)))
      return std::nullopt;
    Judged judged{std::move(plan), 0, 0};
    judged.addedCost = addedCost(problem, judged.plan);
    judged.excess = std::max<int64_t>(getPeak(judged.plan) - options.budget, 0);
    return judged;
  }

  int64_t getPeak(const Plan &plan) const {
    Simulation simulation = simulate(problem, plan);
    return options.isPacked ? pack(problem, plan, simulation).packedBytes : simulation.livePeak;
  }

  bool isCloneable(OpIndex op) const {
    const Operation &operation = problem.operations[op];
    return operation.recomputable && operation.policy != Policy::MustSave;
  }

  Sequence change(Sequence sequence) {
    int64_t size = sequence.size(), kind = random.below(100);
    int64_t place = random.below(size);
    if (kind < 45) {
      cloneOperands(sequence, place);
    } else if (kind < 70) {
      if (sequence[place].isClone)
        sequence.erase(sequence.begin() + place);
    } else if (sequence[place].isClone || options.reorder) {
      Execution execution = sequence[place];
      sequence.erase(sequence.begin() + place);
      int64_t target = random.chance(50)
                           ? std::min<int64_t>(place + random.between(-3, 3), size - 1)
                           : random.below(size);
      sequence.insert(sequence.begin() + std::max<int64_t>(target, 0), execution);
    }
    return sequence;
  }

  /// Computes something again directly before a reader, and perhaps what that reads.
  void cloneOperands(Sequence &sequence, int64_t place) {
    OpIndex op = sequence[place].op;
    do {
      const auto &reads = problem.operations[op].reads;
      if (reads.empty())
        return;
      op = problem.values[reads[random.below(reads.size())]].producer;
      if (op == kBoundary || !isCloneable(op))
        return;
      sequence.insert(sequence.begin() + place, {op, true});
    } while (random.chance(40));
  }

  const Problem &problem;
  const PlainAnnealerOptions &options;
  Random random;
  int64_t iteration = 0;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
};
} // namespace

std::optional<Plan> test::annealPlainly(const Problem &problem,
                                        const PlainAnnealerOptions &options) {
  if (problem.operations.empty())
    return identityPlan(problem);
  return PlainAnnealer(problem, options).run();
}
