//===- PlanFamilyTest.cpp - Greedy plans against all plans ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/PlanFamily.h"

#include "Detail.h"
#include "RandomProblem.h"
#include "Remat/Planner/Exhaustive.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

/// A random problem of any kind; every other one has the shape of a training step.
Problem makeProblem(uint64_t seed, int64_t numOperations) {
  Random random(seed);
  RandomProblemOptions options = RandomProblemOptions::any(random);
  options.shape = seed % 2 ? Shape::Training : Shape::Mixed;
  options.numOperations = numOperations;
  return randomProblem(random, options);
}

/// A chain of `length` operations and its backward pass: operation i of the
/// backward reads the result of forward operation length - 1 - i.
Problem makeLadder(int64_t length, int64_t bytes) {
  ProblemBuilder builder;
  std::vector<ValueIndex> saved;
  for (int64_t i = 0; i < length; ++i)
    saved.push_back(i == 0 ? builder.value({}, bytes, 10)
                           : builder.value({saved.back()}, bytes, 10));
  ValueIndex gradient = builder.value({saved.back()}, bytes, 10);
  for (int64_t i = length - 1; i >= 0; --i)
    gradient = builder.value({gradient, saved[i]}, bytes, 10);
  builder.terminator({gradient});
  return builder.problem;
}

TEST(PlanFamilyTest, EnoughBudgetIsTheIdentity) {
  Problem problem = makeLadder(8, 64);
  PlanFamily family(problem, {});
  int64_t peak = family.getIdentity().packing.packedBytes;
  std::optional<Solution> solution = family.findCheapest(peak);
  ASSERT_TRUE(solution);
  EXPECT_EQ(solution->plan.steps.size(), problem.operations.size());
  EXPECT_EQ(addedCost(problem, solution->plan), 0);
}

TEST(PlanFamilyTest, OneCloneJustBelowThePeak) {
  Problem problem = makeLadder(8, 64);
  PlanFamily family(problem, {});
  ASSERT_EQ(family.getIdentity().packing.packedBytes, 10 * 64);
  std::optional<Solution> solution = family.findCheapest(10 * 64 - 1);
  ASSERT_TRUE(solution);
  EXPECT_EQ(addedCost(problem, solution->plan), 10);
}

TEST(PlanFamilyTest, NothingBelowTheSmallest) {
  Problem problem = makeLadder(16, 64);
  PlanFamily family(problem, {});
  int64_t smallest = family.findSmallest().requiredBytes;
  EXPECT_GE(smallest, workingSetBytes(problem));
  EXPECT_TRUE(family.findCheapest(smallest));
  EXPECT_FALSE(family.findCheapest(smallest - 1));
}

TEST(PlanFamilyTest, SmallStoragesAreNeverDropped) {
  Problem problem = makeLadder(8, 64);
  PlanFamily family(problem, {/*reorder=*/true, /*minBytes=*/65});
  EXPECT_EQ(family.findSmallest().requiredBytes, 10 * 64);
}

TEST(PlanFamilyTest, WithoutReorderingFirstExecutionsKeepTheirOrder) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Problem problem = makeProblem(seed, 30);
    PlanFamily family(problem, {/*reorder=*/false, 0});
    int64_t peak = family.getIdentity().requiredBytes;
    int64_t smallest = family.findSmallest().requiredBytes;
    for (int64_t part = 0; part <= 6; ++part) {
      int64_t budget = smallest + (peak - smallest) * part / 6;
      std::optional<Solution> solution = family.findCheapest(budget);
      ASSERT_TRUE(solution) << "seed " << seed;
      EXPECT_TRUE(detail::keepsOrder(problem, solution->plan)) << "seed " << seed;
    }
  }
}

/// Every promise on random problems of many kinds: plans verify, fit, cost no
/// less with a smaller budget, and never beat the optimum.
TEST(PlanFamilyTest, RandomProblemsKeepThePromises) {
  int64_t numMet = 0, numWithClones = 0, numCompared = 0, numOptimal = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    bool isTiny = seed % 4 == 1;
    Problem problem = makeProblem(seed, isTiny ? 6 : 40);
    ASSERT_FALSE(llvm::errorToBool(check(problem))) << "seed " << seed;
    PlanFamily family(problem, {});
    int64_t peak = family.getIdentity().packing.packedBytes;
    int64_t smallest = family.findSmallest().requiredBytes;
    EXPECT_LE(smallest, peak) << "seed " << seed;
    int64_t lastCost = -1, lastPacked = std::numeric_limits<int64_t>::max();
    for (int64_t part = 8; part >= 0; --part) {
      int64_t budget = smallest + (peak - smallest) * part / 8;
      std::optional<Solution> solution = family.findCheapest(budget);
      ASSERT_TRUE(solution) << "seed " << seed << " budget " << budget;
      std::string error = llvm::toString(verify(problem, solution->plan));
      ASSERT_EQ(error, "") << "seed " << seed << " budget " << budget;
      EXPECT_LE(solution->packing.packedBytes, budget) << "seed " << seed;
      int64_t cost = addedCost(problem, solution->plan);
      EXPECT_GE(cost, lastCost) << "seed " << seed << " budget " << budget;
      EXPECT_LE(solution->packing.packedBytes, lastPacked) << "seed " << seed;
      lastCost = cost;
      lastPacked = solution->packing.packedBytes;
      ++numMet;
      numWithClones += solution->plan.steps.size() > problem.operations.size();
      if (!isTiny || problem.operations.size() > 8)
        continue;
      // The twin works with live bytes; packing only makes it harder for us.
      std::optional<Plan> best = solveExhaustive(problem, {budget, true, 12});
      if (!best)
        continue;
      ++numCompared;
      int64_t bestCost = addedCost(problem, *best);
      EXPECT_GE(cost, bestCost) << "seed " << seed << " budget " << budget;
      numOptimal += cost == bestCost;
    }
  }
  // Not vacuous: clones are made, and tiny problems are mostly solved.
  EXPECT_GE(numWithClones * 4, numMet);
  EXPECT_GE(numCompared, 50);
  EXPECT_GE(numOptimal * 10, numCompared * 7);
}

TEST(PlanFamilyTest, EqualAnswersEveryTime) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Problem problem = makeProblem(seed, 40);
    PlanFamily first(problem, {}), second(problem, {});
    Solution a = first.findSmallest(), b = second.findSmallest();
    ASSERT_EQ(a.plan.steps.size(), b.plan.steps.size());
    for (auto [left, right] : llvm::zip(a.plan.steps, b.plan.steps)) {
      EXPECT_EQ(left.op, right.op);
      EXPECT_EQ(left.reads, right.reads);
    }
    EXPECT_EQ(a.packing.offsets, b.packing.offsets);
  }
}

} // namespace
