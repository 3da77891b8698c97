//===- ChainTest.cpp - Plans of chains --------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Chain.h"

#include "RandomProblem.h"
#include "Remat/Planner/Bounds.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Simulator.h"
#include "llvm/Support/thread.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

//===----------------------------------------------------------------------===//
// Unit chains
//===----------------------------------------------------------------------===//

/// `length` forward operations, one that turns, and `length` backward ones.
ProblemBuilder unitChain(int64_t length, int64_t bytes = 1, int64_t cost = 1,
                         bool hasBoundary = false) {
  ProblemBuilder builder;
  int64_t first = 0;
  if (hasBoundary) {
    builder.boundary(5 * bytes);
    first = 1;
  }
  for (int64_t k = 0; k <= 2 * length; ++k) {
    llvm::SmallVector<ValueIndex> reads;
    if (k > 0)
      reads.push_back(first + k - 1);
    if (k > length)
      reads.push_back(first + 2 * length - k);
    if (hasBoundary && k % 3 == 0)
      reads.push_back(0);
    builder.value(reads, bytes, cost);
  }
  builder.terminator({first + 2 * length});
  return builder;
}

/// Forward steps that it takes to reverse `numSteps` steps, by trying every place of
/// the first checkpoint behind the initial state.
int64_t plainCost(int64_t numSteps, int64_t numCheckpoints) {
  if (numSteps == 1)
    return 0;
  if (numCheckpoints == 0)
    return kNever;
  int64_t best = kNever;
  for (int64_t split = 1; split < numSteps; ++split)
    best = std::min(best, split + plainCost(split, numCheckpoints) +
                              plainCost(numSteps - split, numCheckpoints - 1));
  return best;
}

TEST(ChainTest, RevolveIsTheBestOfAllSplits) {
  for (int64_t numSteps = 1; numSteps <= 12; ++numSteps)
    for (int64_t numCheckpoints = 1; numCheckpoints <= 5; ++numCheckpoints)
      EXPECT_EQ(revolveCost(numSteps, numCheckpoints), plainCost(numSteps, numCheckpoints))
          << numSteps << " steps, " << numCheckpoints << " checkpoints";
}

/// All chains of up to 1024 forward operations, with every budget that is too small to
/// keep everything: the split that is used attains the closed form, and no other one is
/// below it.
TEST(ChainTest, RevolveOfEveryLengthAndBudget) {
  constexpr int64_t kMaxSteps = 1025;
  auto previous = std::vector<int64_t>(kMaxSteps + 1, kNever), costs = previous;
  previous[1] = 0;
  for (int64_t numCheckpoints = 1; numCheckpoints <= kMaxSteps; ++numCheckpoints) {
    costs[1] = 0;
    for (int64_t numSteps = 2; numSteps <= kMaxSteps; ++numSteps) {
      int64_t best = kNever;
      for (int64_t split = 1; split < numSteps; ++split)
        best = std::min(best, split + costs[split] + previous[numSteps - split]);
      costs[numSteps] = best;
      ASSERT_EQ(revolveCost(numSteps, numCheckpoints), best)
          << numSteps << " steps, " << numCheckpoints << " checkpoints";
      int64_t split = revolveSplit(numSteps, numCheckpoints);
      ASSERT_TRUE(1 <= split && split < numSteps);
      ASSERT_EQ(split + costs[split] + previous[numSteps - split], best)
          << numSteps << " steps, " << numCheckpoints << " checkpoints";
    }
    std::swap(previous, costs);
    // From here on, every state has a checkpoint.
    if (previous[kMaxSteps] == kMaxSteps - 1)
      break;
  }
  EXPECT_EQ(previous[kMaxSteps], kMaxSteps - 1);
}

/// Solves, and checks the plan; returns its added cost, or -1.
int64_t solve(const Problem &problem, const ChainOptions &options, ChainResult &result) {
  std::optional<Plan> plan = solveChain(problem, options, &result);
  EXPECT_EQ(plan.has_value(), result.reason.empty());
  EXPECT_FALSE(plan && result.isInfeasible);
  if (!plan) {
    EXPECT_FALSE(result.isOptimal);
    return -1;
  }
  EXPECT_EQ(llvm::toString(verify(problem, *plan)), "");
  EXPECT_LE(simulate(problem, *plan).livePeak, options.budget);
  if (!options.reorder) {
    OpIndex previous = -1;
    for (const Step &step : plan->steps) {
      if (step.isClone)
        continue;
      EXPECT_GT(step.op, previous);
      previous = step.op;
    }
  }
  int64_t cost = addedCost(problem, *plan);
  EXPECT_GE(cost, addedCostLowerBound(problem, options.budget));
  return cost;
}

TEST(ChainTest, UnitChains) {
  // Total costs of published plans.
  const std::tuple<int64_t, int64_t, int64_t> known[] = {
      {16, 3, 153}, {16, 4, 67}, {16, 8, 43}, {1024, 16, 4309}};
  for (auto [length, budget, cost] : known) {
    ChainResult result;
    EXPECT_EQ(2 * length + 1 + solve(unitChain(length).problem, {budget}, result), cost);
    EXPECT_TRUE(result.isOptimal);
  }
  for (int64_t length : {1, 2, 3, 4, 5, 7, 10, 16, 17, 33, 64, 100, 257, 511, 1024}) {
    for (int64_t budget : {3, 4, 5, 6, 7, 8, 11, 16, 32, 63, 200, 1025, 1026, 1027}) {
      // Not all of the long ones.
      if (length >= 257 && budget == 3 && length != 257)
        continue;
      for (bool reorder : {false, true}) {
        Problem problem = unitChain(length, 24, 7, /*hasBoundary=*/true).problem;
        problem.alignment = 8;
        ChainResult result;
        int64_t expected = 7 * (revolveCost(length + 1, budget - 2) - length);
        EXPECT_EQ(solve(problem, {24 * (budget + 5) + 23, reorder}, result), expected)
            << "length " << length << " budget " << budget;
        EXPECT_TRUE(result.isOptimal);
        EXPECT_EQ(result.numStages, length + 1);
        EXPECT_EQ(expected == 0, budget >= length + 2);
      }
    }
  }
}

TEST(ChainTest, UnitChainsThatDontFit) {
  for (int64_t length : {1, 2, 5, 1000}) {
    ChainResult result;
    EXPECT_EQ(solve(unitChain(length).problem, {/*budget=*/2}, result), -1);
    EXPECT_TRUE(result.isInfeasible && result.isChain);
  }
}

TEST(ChainTest, AlignedSizesCount) {
  Problem problem = unitChain(8, /*bytes=*/10).problem;
  problem.alignment = 16;
  ChainResult result;
  EXPECT_EQ(solve(problem, {47}, result), -1);
  EXPECT_TRUE(result.isInfeasible);
  EXPECT_EQ(solve(problem, {48}, result), revolveCost(9, 1) - 8);
  EXPECT_EQ(solve(problem, {63}, result), revolveCost(9, 1) - 8);
  EXPECT_EQ(solve(problem, {64}, result), revolveCost(9, 2) - 8);
}

/// Constants and scalars between the operations are in nobody's way, nor is an
/// operation with effects at the end.
TEST(ChainTest, UnitChainsWithConstants) {
  for (Effect effect : {Effect::Pure, Effect::Ordered, Effect::Pinned}) {
    ProblemBuilder builder;
    llvm::SmallVector<ValueIndex> values;
    constexpr int64_t kLength = 20;
    for (int64_t k = 0; k <= 2 * kLength; ++k) {
      ValueIndex constant = builder.value({}, 0);
      ValueIndex scalar = builder.result(builder.operation({constant}), 8, Placement::None);
      llvm::SmallVector<ValueIndex> reads{constant, scalar};
      if (k > 0)
        reads.push_back(values[k - 1]);
      if (k > kLength)
        reads.push_back(values[2 * kLength - k]);
      values.push_back(builder.value(reads, 4));
    }
    if (effect == Effect::Pure)
      builder.terminator({values.back()});
    else
      builder.setEffect(builder.problem.operations.size() - 1, effect);
    ChainResult result;
    EXPECT_EQ(solve(builder.problem, {4 * 5}, result), revolveCost(kLength + 1, 3) - kLength);
    EXPECT_TRUE(result.isOptimal);
  }
}

TEST(ChainTest, NearlyUnitChainsAreNotProven) {
  using Change = void (*)(Problem &);
  const Change changes[] = {
      [](Problem &problem) { problem.operations[3].cost = 2; },
      [](Problem &problem) { problem.operations[3].workspace = 1; },
      [](Problem &problem) { problem.operations[3].recomputable = false; },
      [](Problem &problem) { problem.operations[3].policy = Policy::MustSave; },
      [](Problem &problem) { problem.values[3].bytes = 2; },
      [](Problem &problem) { problem.values[12].bytes = 2; },
      [](Problem &problem) { problem.operations[12].reads.push_back(3); },
      [](Problem &problem) { problem.operations[12].dependences.push_back(3); },
      [](Problem &problem) { problem.operations[16].reads.pop_back(); },
      [](Problem &problem) { problem.operations.back().reads.push_back(12); },
      // Of no use, so that the plan without steps is the best one.
      [](Problem &problem) { problem.operations.pop_back(); },
  };
  for (auto [number, change] : llvm::enumerate(changes)) {
    Problem problem = unitChain(8).problem;
    change(problem);
    ASSERT_FALSE(llvm::errorToBool(check(problem)));
    ChainResult result;
    EXPECT_NE(solve(problem, {/*budget=*/5}, result), 0) << "change " << number;
    EXPECT_FALSE(result.isOptimal) << "change " << number;
  }
}

TEST(ChainTest, AnyBudgetIsAllowed) {
  for (bool isUnit : {false, true}) {
    Problem problem = unitChain(8).problem;
    problem.operations[3].cost = isUnit ? 1 : 2;
    ChainResult result;
    EXPECT_EQ(solve(problem, {std::numeric_limits<int64_t>::max()}, result), 0);
    EXPECT_TRUE(result.isOptimal);
    for (int64_t budget : {int64_t(0), int64_t(-1), std::numeric_limits<int64_t>::min()}) {
      EXPECT_EQ(solve(problem, {budget}, result), -1);
      EXPECT_TRUE(result.isInfeasible);
    }
  }
  EXPECT_EQ(revolveCost(100, std::numeric_limits<int64_t>::max()), 99);
  EXPECT_EQ(revolveSplit(100, std::numeric_limits<int64_t>::max()), 1);
}

TEST(ChainTest, LongUnitChains) {
  constexpr int64_t kLength = 50'000;
  Problem problem = unitChain(kLength).problem;
  auto run = [&] {
    ChainResult result;
    EXPECT_EQ(solve(problem, {/*budget=*/18}, result), revolveCost(kLength + 1, 16) - kLength);
    EXPECT_TRUE(result.isOptimal);
    // More than a billion steps.
    EXPECT_EQ(solve(problem, {/*budget=*/3}, result), -1);
    EXPECT_FALSE(result.isInfeasible);
    // Stages are merged.
    problem.operations[5].cost = 2;
    EXPECT_GE(solve(problem, {/*budget=*/2000}, result), 0);
    EXPECT_EQ(result.numStages, kMaxChainStages);
  };
  llvm::thread thread(std::optional<unsigned>(1 << 20), run);
  thread.join();
}

TEST(ChainTest, UnitChainsAgainstAllPlans) {
  for (int64_t length : {1, 2, 3})
    for (int64_t budget = 2; budget <= length + 2; ++budget)
      for (bool reorder : {false, true}) {
        Problem problem = unitChain(length).problem;
        ChainResult result;
        std::optional<Plan> best = solveExhaustive(problem, {budget, reorder, /*maxSteps=*/24});
        EXPECT_EQ(solve(problem, {budget, reorder}, result), best ? addedCost(problem, *best) : -1)
            << "length " << length << " budget " << budget;
        EXPECT_EQ(result.isInfeasible, !best);
      }
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

using Sequence = std::vector<OpIndex>;

/// A chain whose stages are known, with everything that the solver may do.
struct StagedChain {
  Problem problem;
  /// By stage.
  struct Stage {
    Sequence advance, record, replay, replayWithOutput, backward;
    bool isOutputRead = false;
  };
  std::vector<Stage> stages;

  /// All orders of execution of a range of stages.
  std::vector<Sequence> enumerate(int64_t first, int64_t last, bool isHeld) const {
    const Stage &stage = stages[first];
    auto join = [](Sequence a, const Sequence &b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    std::vector<Sequence> result;
    if (first == last) {
      result.push_back(join(isHeld ? stage.replayWithOutput : stage.replay, stage.backward));
      return result;
    }
    for (const Sequence &rest : enumerate(first + 1, last, isHeld))
      result.push_back(join(join(stage.record, rest), stage.backward));
    Sequence start;
    for (int64_t split = first + 1; split <= last; ++split) {
      start = join(start, stages[split - 1].advance);
      for (const Sequence &upper : enumerate(split, last, isHeld))
        for (bool isOutputHeld : {false, true}) {
          if (isOutputHeld && !stages[split - 1].isOutputRead)
            continue;
          for (const Sequence &lower : enumerate(first, split - 1, isOutputHeld))
            result.push_back(join(join(start, upper), lower));
        }
    }
    return result;
  }

  /// The plan that executes operations in this order, each on the latest operands.
  Plan planOf(const Sequence &sequence) const {
    Plan plan;
    std::vector<StepIndex> latest(problem.operations.size(), kBoundary);
    for (OpIndex op : sequence) {
      Step step;
      step.op = op;
      step.isClone = latest[op] != kBoundary;
      for (ValueIndex value : problem.operations[op].reads)
        step.reads.push_back(problem.values[value].producer == kBoundary
                                 ? kBoundary
                                 : latest[problem.values[value].producer]);
      latest[op] = plan.steps.size();
      plan.steps.push_back(step);
    }
    assignRegions(problem, plan);
    return plan;
  }
};

/// Stage k of 0..length has an operation that reads the one before it; some have
/// another one, whose result only the backward part reads, or the stage's output too.
/// The backward operation of a stage reads its input, that result, and sometimes the
/// output.
StagedChain makeStagedChain(Random &random, int64_t length, bool isRich) {
  StagedChain chain;
  ProblemBuilder builder;
  auto bytes = [&] { return random.between(1, 9); };
  auto cost = [&] { return random.between(0, 9); };
  ValueIndex parameter = builder.boundary(3);
  chain.stages.resize(length + 1);
  std::vector<ValueIndex> outputs;
  std::vector<llvm::SmallVector<ValueIndex>> saved(length + 1);
  for (int64_t k = 0; k <= length; ++k) {
    auto &stage = chain.stages[k];
    llvm::SmallVector<ValueIndex> reads;
    if (k > 0)
      reads.push_back(outputs.back());
    reads.push_back(parameter);
    int64_t kind = isRich && k > 0 && k < length ? random.below(3) : 0;
    OpIndex inner = builder.problem.operations.size();
    if (kind > 0) {
      ValueIndex value = builder.value(reads, bytes(), cost());
      saved[k].push_back(value);
      if (kind == 1)
        reads.push_back(value);
      if (kind == 1)
        stage.advance.push_back(inner);
      stage.record.push_back(inner);
    }
    OpIndex main = builder.problem.operations.size();
    outputs.push_back(builder.value(reads, bytes(), cost()));
    if (random.chance(20))
      builder.last().workspace = bytes();
    stage.advance.push_back(main);
    stage.record.push_back(main);
    stage.isOutputRead = k == length || (isRich && k > 0 && random.chance(50));
    if (kind > 0)
      stage.replay = stage.replayWithOutput = {inner};
    if (stage.isOutputRead) {
      stage.replay.push_back(main);
      if (k < length)
        saved[k].push_back(outputs.back());
    }
  }
  ValueIndex gradient = outputs.back();
  for (int64_t k = length; k > 0; --k) {
    llvm::SmallVector<ValueIndex> reads = saved[k];
    reads.push_back(gradient);
    reads.push_back(outputs[k - 1]);
    chain.stages[k].backward = {OpIndex(builder.problem.operations.size())};
    gradient = builder.value(reads, bytes(), cost());
    if (random.chance(20))
      builder.last().workspace = bytes();
  }
  chain.stages[1].backward.push_back(builder.terminator({gradient}));
  chain.problem = builder.problem;
  return chain;
}

/// The best of all plans of the form that the solver looks for, at several budgets.
TEST(ChainTest, StagesAgainstAllPlansOfTheForm) {
  int64_t numCompared = 0, numWithClones = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    StagedChain chain = makeStagedChain(random, random.between(1, 4), seed % 2);
    ASSERT_FALSE(llvm::errorToBool(check(chain.problem))) << "seed " << seed;
    std::vector<std::pair<int64_t, int64_t>> plans;
    for (const Sequence &sequence : chain.enumerate(0, chain.stages.size() - 1, false)) {
      Plan plan = chain.planOf(sequence);
      ASSERT_EQ(llvm::toString(verify(chain.problem, plan)), "") << "seed " << seed;
      plans.push_back({simulate(chain.problem, plan).livePeak, addedCost(chain.problem, plan)});
    }
    int64_t peak = simulate(chain.problem, identityPlan(chain.problem)).livePeak;
    for (int64_t budget = workingSetBytes(chain.problem) - 1; budget <= peak; ++budget) {
      int64_t best = kNever;
      for (auto [needed, cost] : plans)
        if (needed <= budget)
          best = std::min(best, cost);
      ChainResult result;
      int64_t cost = solve(chain.problem, {budget}, result);
      EXPECT_EQ(cost, best == kNever ? -1 : best) << "seed " << seed << " budget " << budget;
      EXPECT_EQ(result.numStages, int64_t(chain.stages.size())) << "seed " << seed;
      ++numCompared;
      numWithClones += cost > 0;
    }
  }
  EXPECT_GE(numCompared, 1000);
  EXPECT_GE(numWithClones, 300);
}

/// Never better than the best plan of any form, whose form it mostly is.
TEST(ChainTest, StagesAgainstAllPlans) {
  int64_t numCompared = 0, numEqual = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    StagedChain chain = makeStagedChain(random, random.between(2, 3), false);
    int64_t peak = simulate(chain.problem, identityPlan(chain.problem)).livePeak;
    for (int64_t budget = workingSetBytes(chain.problem); budget < peak; ++budget) {
      for (bool reorder : {false, true}) {
        bool isComplete;
        std::optional<Plan> best =
            solveExhaustive(chain.problem, {budget, reorder, /*maxSteps=*/16}, &isComplete);
        ASSERT_TRUE(isComplete);
        ChainResult result;
        int64_t cost = solve(chain.problem, {budget, reorder}, result);
        EXPECT_FALSE(result.isInfeasible && best);
        if (!best)
          continue;
        int64_t bestCost = addedCost(chain.problem, *best);
        EXPECT_TRUE(cost == -1 || cost >= bestCost) << "seed " << seed << " budget " << budget;
        EXPECT_TRUE(!result.isOptimal || cost == bestCost)
            << "seed " << seed << " budget " << budget;
        ++numCompared;
        numEqual += cost == bestCost;
      }
    }
  }
  EXPECT_GE(numCompared, 200);
  EXPECT_GE(numEqual * 20, numCompared * 19);
}

//===----------------------------------------------------------------------===//
// Anything
//===----------------------------------------------------------------------===//

TEST(ChainTest, WhatIsNoChain) {
  ChainResult result;
  EXPECT_EQ(solve(Problem(), {/*budget=*/0}, result), -1);
  EXPECT_FALSE(result.isChain);

  // No backward part.
  ProblemBuilder path;
  ValueIndex value = path.value({}, 1);
  for (int64_t k = 0; k < 10; ++k)
    value = path.value({value}, 1);
  path.terminator({value});
  EXPECT_EQ(solve(path.problem, {/*budget=*/100}, result), -1);
  EXPECT_FALSE(result.isChain);

  // The backward part reads from front to back.
  ProblemBuilder parallel;
  OpIndex first = parallel.operation({});
  parallel.result(first, 1);
  parallel.result(first, 1);
  value = parallel.value({0, 1}, 1);
  for (int64_t k = 0; k < 10; ++k)
    value = parallel.value({value}, 1);
  for (int64_t k = 0; k < 13; ++k)
    value = parallel.value({value, k}, 1);
  parallel.terminator({value});
  EXPECT_EQ(solve(parallel.problem, {/*budget=*/100}, result), -1);
  EXPECT_FALSE(result.isChain);
}

/// What the forward part computes for the caller, and what cannot be computed twice, is
/// kept; the rest of the stages is a chain all the same.
TEST(ChainTest, ResultsOfTheForwardPart) {
  ProblemBuilder builder;
  constexpr int64_t kLength = 12;
  llvm::SmallVector<ValueIndex> outputs, results;
  llvm::SmallVector<OpIndex> once;
  for (int64_t k = 0; k < kLength; ++k) {
    llvm::SmallVector<ValueIndex> reads;
    if (k > 0)
      reads.push_back(outputs.back());
    once.push_back(builder.problem.operations.size());
    ValueIndex statistics = builder.value(reads, 1, /*cost=*/100);
    if (k % 2)
      results.push_back(statistics);
    else
      builder.last().recomputable = false;
    reads.push_back(statistics);
    outputs.push_back(builder.value(reads, 50, /*cost=*/1));
  }
  ValueIndex gradient = builder.value({outputs.back()}, 50);
  for (ValueIndex output : llvm::reverse(outputs))
    gradient = builder.value({gradient, output}, 50);
  results.push_back(gradient);
  builder.terminator(results);

  for (bool reorder : {false, true}) {
    // Three outputs, two gradients and all statistics.
    ChainResult result;
    std::optional<Plan> plan = solveChain(builder.problem, {5 * 50 + kLength, reorder}, &result);
    ASSERT_TRUE(plan) << result.reason;
    EXPECT_EQ(llvm::toString(verify(builder.problem, *plan)), "");
    EXPECT_LE(simulate(builder.problem, *plan).livePeak, 5 * 50 + kLength);
    EXPECT_EQ(addedCost(builder.problem, *plan), revolveCost(kLength + 1, 3) - kLength);
    for (const Step &step : plan->steps)
      EXPECT_FALSE(step.isClone && llvm::is_contained(once, step.op));
  }
}

/// Problems of every kind are refused or get a plan that verifies and fits.
TEST(ChainTest, RandomProblems) {
  int64_t numChains = 0, numPlans = 0, numWithClones = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.shape = seed % 8 ? Shape::Training : Shape::Mixed;
    options.numOperations = random.between(3, 60);
    if (seed % 3)
      options.effects = options.notRecomputable = 0;
    Problem problem = randomProblem(random, options);
    int64_t peak = simulate(problem, identityPlan(problem)).livePeak;
    int64_t smallest = workingSetBytes(problem);
    for (int64_t part = 0; part <= 4; ++part) {
      int64_t budget = smallest + (peak - smallest) * part / 4;
      ChainResult result;
      int64_t cost = solve(problem, {budget, /*reorder=*/part % 2 == 0}, result);
      numChains += result.isChain;
      numPlans += cost >= 0;
      numWithClones += cost > 0;
      if (::testing::Test::HasFailure())
        FAIL() << "seed " << seed << " budget " << budget;
    }
  }
  EXPECT_GE(numChains, 1000);
  EXPECT_GE(numPlans, 400);
  EXPECT_GE(numWithClones, 200);
}

TEST(ChainTest, SameAnswerEveryTime) {
  Random random(1);
  StagedChain chain = makeStagedChain(random, 40, true);
  int64_t peak = simulate(chain.problem, identityPlan(chain.problem)).livePeak;
  std::optional<Plan> first = solveChain(chain.problem, {peak / 2}),
                      second = solveChain(chain.problem, {peak / 2});
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->steps.size(), second->steps.size());
  for (auto [a, b] : llvm::zip(first->steps, second->steps)) {
    EXPECT_EQ(a.op, b.op);
    EXPECT_EQ(a.reads, b.reads);
  }
}

} // namespace
