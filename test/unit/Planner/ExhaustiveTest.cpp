//===- ExhaustiveTest.cpp - The best plan of small problems -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Exhaustive.h"
#include "RandomProblem.h"
#include "Remat/Planner/Simulator.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

/// The cost of the best plan, or -1; checks the plan.
int64_t solve(const Problem &problem, const ExhaustiveOptions &options) {
  std::optional<Plan> plan = solveExhaustive(problem, options);
  if (!plan)
    return -1;
  EXPECT_EQ(llvm::toString(verify(problem, *plan)), "");
  Simulation simulation = simulate(problem, *plan);
  EXPECT_LE(simulation.livePeak, options.budget);
  EXPECT_LE(int64_t(plan->steps.size()), options.maxSteps);
  if (!options.reorder) {
    OpIndex previous = -1;
    for (const Step &step : plan->steps) {
      if (step.isClone)
        continue;
      EXPECT_GT(step.op, previous);
      previous = step.op;
    }
  }
  return simulation.cost;
}

TEST(ExhaustiveTest, NothingToDo) {
  Problem problem;
  EXPECT_EQ(solve(problem, {/*budget=*/0}), 0);
  problem.values.resize(1);
  problem.values[0].bytes = 3;
  EXPECT_EQ(solve(problem, {/*budget=*/3}), 0);
  EXPECT_EQ(solve(problem, {/*budget=*/2}), -1);
}

/// A chain of L forward and L+1 backward operations of cost 1 with one byte
/// each, of which the last must be executed.
Problem unitChain(int64_t length) {
  ProblemBuilder builder;
  for (int64_t index = 0; index <= 2 * length; ++index) {
    llvm::SmallVector<ValueIndex> reads;
    if (index > 0)
      reads.push_back(index - 1);
    if (index > length)
      reads.push_back(2 * length - index);
    builder.value(reads, 1);
  }
  builder.setEffect(2 * length, Effect::Pinned);
  return builder.problem;
}

/// Griewank, Walther: Algorithm 799: Revolve, 2000, in terms of steps of such a
/// chain.
int64_t revolveCost(int64_t length, int64_t budget) {
  auto binomial = [](int64_t n, int64_t k) {
    int64_t result = 1;
    for (int64_t i = 1; i <= k; ++i)
      result = result * (n - k + i) / i;
    return result;
  };
  int64_t slots = budget - 2, steps = length + 1, repetitions = 0;
  while (binomial(slots + repetitions, slots) < steps)
    ++repetitions;
  int64_t forward = repetitions * steps - binomial(slots + repetitions, slots + 1);
  return 2 * length + 1 + forward - length;
}

TEST(ExhaustiveTest, UnitChains) {
  for (int64_t length : {2, 3, 4})
    for (int64_t budget = 3; budget <= length + 2; ++budget)
      EXPECT_EQ(solve(unitChain(length), {budget, /*reorder=*/false, /*maxSteps=*/32}),
                revolveCost(length, budget))
          << "length " << length << " budget " << budget;
  EXPECT_EQ(solve(unitChain(3), {/*budget=*/2}), -1);
}

TEST(ExhaustiveTest, MovesOriginals) {
  // a is large and read late: it is better computed late.
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 10);
  ValueIndex b = builder.value({}, 10);
  ValueIndex c = builder.value({b}, 1);
  ValueIndex d = builder.value({a, c}, 1);
  builder.terminator({d});
  EXPECT_EQ(solve(builder.problem, {/*budget=*/21}), 4);
  EXPECT_EQ(solve(builder.problem, {/*budget=*/12}), 4);
  EXPECT_EQ(solve(builder.problem, {/*budget=*/11}), -1);
  // A pinned operation keeps both originals on its side, but not clones. The
  // original of a is erased.
  builder.setEffect(2, Effect::Pinned);
  EXPECT_EQ(solve(builder.problem, {/*budget=*/12}), 4);
  builder.problem.operations[0].recomputable = false;
  EXPECT_EQ(solve(builder.problem, {/*budget=*/12}), -1);
}

TEST(ExhaustiveTest, KeepsWhatMustBeSaved) {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 10);
  ValueIndex b = builder.value({a}, 1);
  ValueIndex c = builder.value({b}, 15);
  ValueIndex d = builder.value({c, b}, 1);
  ValueIndex e = builder.value({a, d}, 1);
  builder.terminator({e});
  EXPECT_EQ(solve(builder.problem, {/*budget=*/27}), 5);
  EXPECT_EQ(solve(builder.problem, {/*budget=*/17}), 6);
  builder.problem.operations[0].policy = Policy::MustSave;
  EXPECT_EQ(solve(builder.problem, {/*budget=*/17}), -1);
}

// The region has to wait for something that an original computed: for b, which
// is gone in the step before, unless it is kept.
TEST(ExhaustiveTest, RegionsCount) {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 4);
  builder.setEffect(builder.operation({a}), Effect::Ordered);
  ValueIndex b = builder.value({}, 2);
  builder.setEffect(2, Effect::Ordered);
  builder.setEffect(builder.operation({b}), Effect::Ordered);
  builder.setEffect(builder.operation({}), Effect::Ordered);
  builder.last().workspace = 10;
  builder.terminator({a});
  EXPECT_EQ(solve(builder.problem, {/*budget=*/14}), 5);
  EXPECT_EQ(solve(builder.problem, {/*budget=*/13}), 6);
  EXPECT_EQ(solve(builder.problem, {/*budget=*/12}), 6);
  EXPECT_EQ(solve(builder.problem, {/*budget=*/11}), -1);
}

//===----------------------------------------------------------------------===//
// Against trying everything
//===----------------------------------------------------------------------===//

/// Tries all sequences of at most `maxSteps` steps, all instances that they
/// read and all values that the regions wait for, and judges each by `verify`
/// and `simulate`.
class BruteForce {
public:
  BruteForce(const Problem &input, const ExhaustiveOptions &limits)
      : problem(input), options(limits) {}

  int64_t run() {
    extend(0, -1);
    return best;
  }

private:
  void extend(int64_t cost, OpIndex lastOriginal) {
    if (best >= 0 && cost >= best)
      return;
    if (!judge(cost) || int64_t(plan.steps.size()) == options.maxSteps)
      return;
    for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op) {
      // The original comes first.
      bool isExecuted = llvm::any_of(plan.steps, [&](const Step &step) { return step.op == op; });
      if (!isExecuted && (options.reorder || op > lastOriginal))
        append(op, /*isClone=*/false, cost, op);
      if (problem.operations[op].recomputable)
        append(op, /*isClone=*/true, cost, lastOriginal);
    }
  }

  void append(OpIndex op, bool isClone, int64_t cost, OpIndex lastOriginal) {
    plan.steps.push_back({op, isClone, {}, {}});
    chooseReads(cost + problem.operations[op].cost, lastOriginal);
    plan.steps.pop_back();
  }

  void chooseReads(int64_t cost, OpIndex lastOriginal) {
    size_t index = plan.steps.size() - 1;
    const Operation &op = problem.operations[plan.steps[index].op];
    size_t numReads = plan.steps[index].reads.size(),
           numDependences = plan.steps[index].dependences.size();
    bool isRead = numReads < op.reads.size();
    if (!isRead && numDependences == op.dependences.size())
      return extend(cost, lastOriginal);
    ValueIndex value = isRead ? op.reads[numReads] : op.dependences[numDependences];
    OpIndex producer = problem.values[value].producer;
    auto choose = [&](StepIndex step) {
      if (isRead)
        plan.steps[index].reads.push_back(step);
      else
        plan.steps[index].dependences.push_back(step);
      chooseReads(cost, lastOriginal);
      if (isRead)
        plan.steps[index].reads.pop_back();
      else
        plan.steps[index].dependences.pop_back();
    };
    if (producer == kBoundary)
      return choose(kBoundary);
    for (StepIndex step = 0; step < StepIndex(index); ++step)
      if (plan.steps[step].op == producer)
        choose(step);
  }

  /// Returns false when the steps alone are above the budget: more of them need
  /// no less.
  bool judge(int64_t cost) {
    plan.regions.clear();
    if (simulate(problem, plan).livePeak > options.budget)
      return false;
    assignRegions(problem, plan);
    if (llvm::Error error = verify(problem, plan))
      llvm::consumeError(std::move(error));
    else if (chooseAnchors(0))
      best = cost;
    return true;
  }

  bool chooseAnchors(size_t number) {
    if (simulate(problem, plan).livePeak <= options.budget)
      return true;
    if (number == plan.regions.size())
      return false;
    Region &region = plan.regions[number];
    ValueInstance usual = region.after;
    if (chooseAnchors(number + 1))
      return true;
    for (StepIndex step = 0; step < region.begin; ++step) {
      if (plan.steps[step].isClone)
        continue;
      for (ValueIndex value : problem.operations[plan.steps[step].op].writes) {
        if (problem.values[value].placement == Placement::None)
          continue;
        region.after = {value, step};
        if (chooseAnchors(number + 1))
          return true;
      }
    }
    region.after = usual;
    return false;
  }

  const Problem &problem;
  const ExhaustiveOptions &options;
  Plan plan;
  int64_t best = -1;
};

TEST(ExhaustiveTest, AgreesWithBruteForce) {
  int64_t numInfeasible = 0, numRecomputed = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    if (seed % 4 == 0) {
      options = RandomProblemOptions();
      options.shape = Shape::Training;
    }
    options.numOperations = random.between(2, 4);
    options.numBoundary = random.below(2);
    options.maxBytes = 6;
    options.severalResults /= 2;
    Problem problem = randomProblem(random, options);
    int64_t peak = simulate(problem, identityPlan(problem)).livePeak;
    problem.alignment = 1;
    int64_t floor = workingSetBytes(problem), cost = 0;
    for (const Operation &op : problem.operations)
      cost += op.cost;
    for (bool reorder : {false, true}) {
      ExhaustiveOptions limits{random.between(floor, peak), reorder,
                               int64_t(problem.operations.size()) + 2};
      int64_t expected = BruteForce(problem, limits).run();
      EXPECT_EQ(solve(problem, limits), expected)
          << "seed " << seed << " budget " << limits.budget << " reorder " << reorder;
      numInfeasible += expected < 0;
      numRecomputed += expected > cost;
    }
  }
  EXPECT_GT(numInfeasible, 20);
  EXPECT_GT(numRecomputed, 2);
}

TEST(ExhaustiveTest, RandomOnesAreValid) {
  int64_t numRecomputed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    if (seed % 2 == 0) {
      options = RandomProblemOptions();
      options.shape = Shape::Training;
    }
    options.numOperations = 6;
    Problem problem = randomProblem(random, options);
    Simulation identity = simulate(problem, identityPlan(problem));
    problem.alignment = 1;
    int64_t floor = workingSetBytes(problem);
    int64_t previous = -1;
    // More memory never costs more, and moving originals neither.
    for (int64_t part = 0; part <= 3; ++part) {
      int64_t budget = floor + (identity.livePeak - floor) * part / 3;
      int64_t fixed = solve(problem, {budget, /*reorder=*/false, /*maxSteps=*/11});
      int64_t free = solve(problem, {budget, /*reorder=*/true, /*maxSteps=*/11});
      if (previous >= 0) {
        EXPECT_GE(free, 0) << "seed " << seed;
        EXPECT_LE(free, previous) << "seed " << seed;
      }
      if (fixed >= 0) {
        EXPECT_GE(free, 0) << "seed " << seed;
        EXPECT_LE(free, fixed) << "seed " << seed;
      }
      if (part == 3) {
        EXPECT_LE(fixed, identity.cost) << "seed " << seed;
      }
      numRecomputed += fixed > identity.cost;
      previous = free;
    }
    EXPECT_EQ(solve(problem, {floor - 1}), -1) << "seed " << seed;
  }
  EXPECT_GT(numRecomputed, 5);
}

} // namespace
