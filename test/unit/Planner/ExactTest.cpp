//===- ExactTest.cpp - The cheapest plan, and the proof ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Exact.h"
#include "RandomProblem.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Simulator.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

constexpr int64_t kInfeasible = std::numeric_limits<int64_t>::max();

/// Whether the originals of a plan are in the order of the problem.
bool isInOrder(const Plan &plan) {
  OpIndex previous = -1;
  for (const Step &step : plan.steps) {
    if (step.isClone)
      continue;
    if (step.op < previous)
      return false;
    previous = step.op;
  }
  return true;
}

/// Solves, and checks all that the result says about itself.
ExactResult solve(const Problem &problem, int64_t budget, const ExactOptions &options) {
  ExactResult result = solveExact(problem, budget, options);
  if (!result.plan)
    return result;
  EXPECT_EQ(llvm::toString(verify(problem, *result.plan)), "");
  EXPECT_LE(simulate(problem, *result.plan).livePeak, budget);
  EXPECT_LE(result.lowerBound, addedCost(problem, *result.plan));
  if (result.isComplete) {
    EXPECT_EQ(result.lowerBound, addedCost(problem, *result.plan));
  }
  if (options.upperBound) {
    EXPECT_LT(addedCost(problem, *result.plan), *options.upperBound);
  }
  if (!options.reorder) {
    EXPECT_TRUE(isInOrder(*result.plan));
  }
  return result;
}

TEST(ExactTest, NothingToDo) {
  Problem problem;
  EXPECT_TRUE(solve(problem, 0, {}).plan.has_value());
  problem.values.resize(1);
  problem.values[0].bytes = 3;
  EXPECT_TRUE(solve(problem, 3, {}).plan.has_value());
  ExactResult result = solve(problem, 2, {});
  EXPECT_FALSE(result.plan.has_value());
  EXPECT_TRUE(result.isComplete);
  EXPECT_EQ(result.lowerBound, kInfeasible);
}

/// a is read at the end; b, which reads a, is large.
Problem oneGap() {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 10, 7);
  ValueIndex b = builder.value({a}, 10, 1);
  ValueIndex c = builder.value({b}, 100, 1);
  ValueIndex d = builder.value({c}, 1, 1);
  builder.terminator({builder.value({d, a}, 1, 1)});
  return builder.problem;
}

TEST(ExactTest, UpperBound) {
  Problem problem = oneGap();
  ExactOptions options;
  ExactResult result = solve(problem, 110, options);
  ASSERT_TRUE(result.plan.has_value());
  EXPECT_EQ(addedCost(problem, *result.plan), 7);
  // Nothing is cheaper than what is known.
  options.upperBound = 7;
  result = solve(problem, 110, options);
  EXPECT_FALSE(result.plan.has_value());
  EXPECT_TRUE(result.isComplete);
  EXPECT_EQ(result.lowerBound, 7);
  options.upperBound = 8;
  EXPECT_TRUE(solve(problem, 110, options).plan.has_value());
}

TEST(ExactTest, GivesUp) {
  int64_t numGivenUp = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    RandomProblemOptions kind;
    kind.shape = Shape::Training;
    kind.numOperations = 14;
    Problem problem = randomProblem(random, kind);
    int64_t floor = workingSetBytes(problem);
    int64_t budget = floor + (simulate(problem, identityPlan(problem)).livePeak - floor) / 3;
    ExactOptions options;
    ExactResult proven = solve(problem, budget, options);
    EXPECT_TRUE(proven.isComplete) << "seed " << seed;
    options.maxStates = 20;
    ExactResult result = solve(problem, budget, options);
    numGivenUp += !result.isComplete;
    EXPECT_LE(result.lowerBound, proven.lowerBound) << "seed " << seed;
  }
  EXPECT_GT(numGivenUp, 2);
}

// Every kind of problem, against the search that looks at everything.
TEST(ExactTest, AgreesWithExhaustive) {
  int64_t numSolved = 0, numImpossible = 0, numPositive = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    RandomProblemOptions kind = RandomProblemOptions::any(random);
    if (seed % 4 == 0) {
      kind = RandomProblemOptions();
      kind.shape = Shape::Training;
    }
    kind.numOperations = random.between(3, 6);
    if (random.chance(40))
      kind.reuse = 40;
    if (random.chance(30))
      kind.views = 30;
    Problem problem = randomProblem(random, kind);
    int64_t peak = simulate(problem, identityPlan(problem)).livePeak;
    problem.alignment = 1;
    int64_t floor = workingSetBytes(problem);
    for (int64_t part = 0; part <= 2; ++part) {
      for (bool reorder : {false, true}) {
        int64_t budget = std::max<int64_t>(0, floor - 1 + (peak - floor + 1) * part / 3);
        std::string place = "seed " + std::to_string(seed) + " budget " + std::to_string(budget) +
                            (reorder ? " reorder" : "");
        bool isComplete = false;
        std::optional<Plan> expected = solveExhaustive(
            problem,
            {budget, reorder, /*maxSteps=*/24, /*maxStates=*/20'000, /*originalsFirst=*/!reorder},
            &isComplete);
        ExactOptions options;
        options.reorder = reorder;
        ExactResult result = solve(problem, budget, options);
        if (!isComplete || !result.isComplete)
          continue;
        ASSERT_EQ(result.plan.has_value(), expected.has_value()) << place;
        if (!expected) {
          EXPECT_EQ(result.lowerBound, kInfeasible) << place;
          ++numImpossible;
          continue;
        }
        EXPECT_EQ(simulate(problem, *result.plan).cost, simulate(problem, *expected).cost) << place;
        ++numSolved;
        numPositive += addedCost(problem, *expected) > 0;
      }
    }
  }
  // The test means something.
  EXPECT_GT(numSolved, 200);
  EXPECT_GT(numPositive, 100);
  EXPECT_GT(numImpossible, 300);
}

} // namespace
