//===- BoundsTest.cpp - What no plan can undercut ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Bounds.h"
#include "RandomProblem.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Simulator.h"
#include "gtest/gtest.h"
#include <cmath>
#include <set>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

constexpr int64_t kInfeasible = std::numeric_limits<int64_t>::max();

/// Forwards a(30, cost 6), b(20, cost 2), c(10, cost 9); then m(40), which reads
/// c and is read by n; then n reads b, and o reads a. While m runs, everything
/// is live: 100 bytes.
ProblemBuilder threeSaved() {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 30, 6);
  ValueIndex b = builder.value({a}, 20, 2);
  ValueIndex c = builder.value({b}, 10, 9);
  ValueIndex m = builder.value({c}, 40, 1);
  ValueIndex n = builder.value({m, b}, 1, 1);
  ValueIndex o = builder.value({n, a}, 1, 1);
  builder.terminator({o});
  return builder;
}

TEST(BoundsTest, CheapestBytesFirst) {
  Problem problem = threeSaved().problem;
  EXPECT_EQ(addedCostLowerBound(problem, 100), 0);
  // b is the cheapest, but while n runs, only a can be gone.
  EXPECT_EQ(addedCostLowerBound(problem, 91), 2);
  EXPECT_EQ(addedCostLowerBound(problem, 90), 6);
  EXPECT_EQ(addedCostLowerBound(problem, 70), 6);
  // a and b; to compute b again, a is needed once more.
  EXPECT_EQ(addedCostLowerBound(problem, 69), 14);
  EXPECT_EQ(addedCostLowerBound(problem, 61), 14);
  EXPECT_EQ(addedCostLowerBound(problem, 60), kInfeasible);
}

TEST(BoundsTest, WhatCannotBeRecomputed) {
  Problem problem = threeSaved().problem;
  problem.operations[1].policy = Policy::MustSave;
  EXPECT_EQ(addedCostLowerBound(problem, 90), 6);
  EXPECT_EQ(addedCostLowerBound(problem, 70), 6);
  EXPECT_EQ(addedCostLowerBound(problem, 69), kInfeasible);
  problem.operations[1].policy = Policy::None;
  problem.operations[0].recomputable = false;
  EXPECT_EQ(addedCostLowerBound(problem, 91), 2);
  EXPECT_EQ(addedCostLowerBound(problem, 90), kInfeasible);
}

// Views share; what is not in memory takes nothing; several results of one
// operation come back together.
TEST(BoundsTest, Storages) {
  ProblemBuilder builder;
  OpIndex op = builder.operation({}, 4);
  ValueIndex a = builder.result(op, 10), b = builder.result(op, 10);
  ValueIndex v = builder.view(a, 10);
  ValueIndex u = builder.result(builder.operation({a, b}, 1), 100, Placement::None);
  ValueIndex m = builder.value({v}, 50, 1);
  ValueIndex n = builder.value({m}, 50, 1);
  ValueIndex o = builder.value({n, a, b, v, u}, 1, 1);
  builder.terminator({o});
  EXPECT_EQ(addedCostLowerBound(builder.problem, 120), 0);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 119), 4);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 110), 4);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 101), 4);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 99), kInfeasible);
  // With a view that is computed once its storage stays.
  builder.problem.operations[1].recomputable = false;
  EXPECT_EQ(addedCostLowerBound(builder.problem, 110), 4);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 109), kInfeasible);
}

// Operations that are not pure follow each other even without values.
TEST(BoundsTest, Effects) {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 10, 4);
  builder.setEffect(builder.operation({a}, 1), Effect::Ordered);
  ValueIndex m = builder.value({}, 50, 1);
  builder.setEffect(2, Effect::Ordered);
  builder.setEffect(builder.operation({m}, 1), Effect::Ordered);
  builder.setEffect(builder.operation({a}, 1), Effect::Ordered);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 60), 0);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 59), 4);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 50), 4);
}

// A plan may leave out what nothing needs, but is no substitute for what must be
// computed again.
TEST(BoundsTest, DeadOperations) {
  ProblemBuilder builder = threeSaved();
  Problem problem = builder.problem;
  Operation terminator = problem.operations.back();
  problem.operations.pop_back();
  builder.problem = problem;
  builder.value({}, 1000, 3);
  builder.problem.operations.push_back(terminator);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 100), 0);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 80), 6);
}

TEST(BoundsTest, Boundary) {
  Problem problem;
  EXPECT_EQ(addedCostLowerBound(problem, 0), 0);
  problem.values.resize(1);
  problem.values[0].bytes = 5;
  EXPECT_EQ(addedCostLowerBound(problem, 5), 0);
  EXPECT_EQ(addedCostLowerBound(problem, 4), kInfeasible);
}

// A value that is needed again and again: each of its gaps is paid for.
TEST(BoundsTest, SeveralTimes) {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 10, 5), last = a;
  for (int64_t round = 0; round < 4; ++round) {
    ValueIndex large = builder.value({last}, 50, 1);
    ValueIndex next = builder.value({large}, 50, 1);
    last = builder.value({next, a}, 1, 1);
  }
  builder.terminator({last});
  EXPECT_EQ(addedCostLowerBound(builder.problem, 110), 0);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 109), 20);
  EXPECT_EQ(addedCostLowerBound(builder.problem, 109, {/*reorder=*/false}), 20);
  EXPECT_LE(addedCostLowerBound(builder.problem, 109, {/*reorder=*/false, /*maxWork=*/0}), 20);
}

/// Prices that are of no use, or wrong in every way.
std::vector<double> drawPrices(Random &random, const LinearProgram &program) {
  int64_t kind = random.below(8);
  int64_t numPrices = kind == 0 ? random.below(program.getNumRows() + 1) : program.getNumRows();
  std::vector<double> prices;
  for (int64_t row = 0; row < numPrices; ++row) {
    double price = -double(random.below(1000)) / 100;
    if (kind == 1)
      price = -price;
    if (kind == 2 && random.chance(5))
      price = random.chance(50) ? std::nan("") : -std::numeric_limits<double>::infinity();
    if (kind == 3)
      price *= 1e300;
    if (kind > 5 && random.chance(80))
      price = 0;
    prices.push_back(price);
  }
  return prices;
}

/// Every column has entries in distinct rows that exist, and every row limits.
void expectWellFormed(const LinearProgram &program) {
  int64_t numRows = program.getNumRows(), numEntries = program.rows.size();
  ASSERT_EQ(program.rowUpper.size(), program.rowLower.size());
  ASSERT_EQ(int64_t(program.starts.size()), program.getNumColumns() + 1);
  ASSERT_EQ(program.starts.back(), numEntries);
  ASSERT_EQ(int64_t(program.coefficients.size()), numEntries);
  for (int64_t column = 0; column < program.getNumColumns(); ++column) {
    std::set<int64_t> rows(program.rows.begin() + program.starts[column],
                           program.rows.begin() + program.starts[column + 1]);
    EXPECT_EQ(int64_t(rows.size()), program.starts[column + 1] - program.starts[column]);
    EXPECT_TRUE(rows.empty() || (*rows.begin() >= 0 && *rows.rbegin() < numRows));
  }
  for (int64_t row = 0; row < numRows; ++row)
    EXPECT_LE(program.rowLower[row], program.rowUpper[row]);
}

TEST(BoundsTest, NeverAboveTheOptimum) {
  int64_t numSolved = 0, numPositive = 0, numBounded = 0, numHalf = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    if (seed % 4 == 0) {
      options = RandomProblemOptions();
      options.shape = Shape::Training;
    }
    options.numOperations = random.between(3, 6);
    if (random.chance(50))
      options.reuse = 40;
    Problem problem = randomProblem(random, options);
    Simulation identity = simulate(problem, identityPlan(problem));
    problem.alignment = 1;
    int64_t floor = workingSetBytes(problem);
    for (int64_t part = 0; part <= 3; ++part) {
      for (bool reorder : {false, true}) {
        int64_t budget = floor + (identity.livePeak - floor) * part / 3;
        int64_t bound = addedCostLowerBound(problem, budget, {reorder, /*maxWork=*/100'000});
        std::optional<Plan> plan =
            solveExhaustive(problem, {budget, reorder, /*maxSteps=*/11, /*maxStates=*/20'000,
                                      /*originalsFirst=*/!reorder});
        if (!plan)
          continue;
        int64_t added = addedCost(problem, *plan);
        EXPECT_LE(bound, added) << "seed " << seed << " budget " << budget << " reorder "
                                << reorder;
        BoundOptions withPrices{reorder, /*maxWork=*/100'000};
        withPrices.solveLinearProgram = [&](const LinearProgram &program) {
          expectWellFormed(program);
          return drawPrices(random, program);
        };
        int64_t other = addedCostLowerBound(problem, budget, withPrices);
        EXPECT_LE(other, added) << "seed " << seed << " budget " << budget;
        EXPECT_GE(other, bound) << "seed " << seed << " budget " << budget;
        ++numSolved;
        numPositive += added > 0;
        numBounded += bound > 0;
        numHalf += added > 0 && 2 * bound >= added;
      }
    }
    EXPECT_LE(addedCostLowerBound(problem, identity.livePeak), 0) << "seed " << seed;
  }
  // The test means something, and so does the bound.
  EXPECT_GT(numSolved, 2000);
  EXPECT_GT(numPositive, 150);
  EXPECT_GT(numBounded, 100);
  EXPECT_GT(numHalf, 60);
}

} // namespace
