//===- VariantsTest.cpp - Choosing how steps are executed -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Variants.h"

#include "RandomProblem.h"
#include "Remat/Planner/Bounds.h"
#include "Remat/Planner/Exact.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Planner/Solve.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

/// Reads 100 bytes that are read again at the end, with 50 bytes of scratch or less.
Problem makeProblem() {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 100, 10);
  ValueIndex b = builder.value({a}, 10, 20);
  builder.last().workspace = 50;
  builder.last().variants = {{23, 20}, {40, 0}};
  ValueIndex c = builder.value({a, b}, 10, 20);
  builder.terminator({c});
  return builder.problem;
}

Problem makeRandom(uint64_t seed, int64_t numOperations) {
  Random random(seed);
  RandomProblemOptions options = RandomProblemOptions::any(random);
  options.shape = seed % 2 ? Shape::Training : Shape::Mixed;
  options.numOperations = numOperations;
  options.workspace = 50;
  options.variants = 70;
  return randomProblem(random, options);
}

std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

TEST(VariantsTest, Check) {
  Problem problem = makeProblem();
  EXPECT_EQ(messageOf(check(problem)), "");
  problem.operations[1].variants[0] = {19, 20};
  EXPECT_EQ(messageOf(check(problem)), "operation 1 ('op1') has a cost of 20 picoseconds, but "
                                       "variant 1 costs only 19");
  problem.operations[1].variants[0] = {20, 50};
  EXPECT_EQ(messageOf(check(problem)), "operation 1 ('op1') has a workspace of 50 bytes, and "
                                       "variant 1 takes no fewer: 50");
  problem.operations[1].variants[0] = {20, -1};
  EXPECT_EQ(messageOf(check(problem)),
            "operation 1 ('op1') has a negative workspace of -1 bytes in variant 1");
  problem.operations[1].variants[0] = {kMaxProblemSum, 1};
  EXPECT_NE(messageOf(check(problem)), "");
}

TEST(VariantsTest, CostsAndBytesOfAPlan) {
  Problem problem = makeProblem();
  Plan plan = identityPlan(problem);
  EXPECT_EQ(simulate(problem, plan).livePeak, 160);
  plan.steps[1].variant = 1;
  EXPECT_EQ(messageOf(verify(problem, plan)), "");
  Simulation simulation = simulate(problem, plan);
  EXPECT_EQ(simulation.livePeak, 130);
  EXPECT_EQ(simulation.cost, 53);
  EXPECT_EQ(addedCost(problem, plan), 3);
  EXPECT_EQ(pack(problem, plan, simulation).packedBytes, 130);
  EXPECT_EQ(workingSetBytes(problem), 120);
  plan.steps[1].variant = 3;
  EXPECT_EQ(messageOf(verify(problem, plan)),
            "step 1 ('op1') is executed as variant 3, but operation 1 has 2");
  plan.steps[1].variant = -1;
  EXPECT_NE(messageOf(verify(problem, plan)), "");
}

TEST(VariantsTest, TextAndBack) {
  Problem problem = makeProblem();
  Plan plan = identityPlan(problem);
  plan.steps[1].variant = 2;
  std::string text;
  llvm::raw_string_ostream(text) << toJSON(problem);
  llvm::Expected<Problem> parsed = parseProblem(text);
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  ASSERT_EQ(parsed->operations[1].variants.size(), 2u);
  EXPECT_EQ(parsed->operations[1].variants[0].cost, 23);
  EXPECT_EQ(parsed->operations[1].variants[0].workspace, 20);
  std::string planText;
  llvm::raw_string_ostream(planText) << toJSON(plan);
  llvm::Expected<Plan> parsedPlan = parsePlan(planText, *parsed);
  ASSERT_TRUE(bool(parsedPlan)) << llvm::toString(parsedPlan.takeError());
  EXPECT_EQ(parsedPlan->steps[1].variant, 2);
  EXPECT_EQ(parsedPlan->steps[0].variant, 0);
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  print(problem, plan, stream);
  EXPECT_NE(printed.find("1: variant 2 of op1(v0@0) -> v1, live 110 bytes"), std::string::npos);
}

TEST(VariantsTest, CheaperThanRecomputing) {
  Problem problem = makeProblem();
  for (auto [budget, cost] : {std::pair(160, 0), {159, 3}, {130, 3}, {129, 20}, {120, 20}}) {
    PlanFamily family(problem, {});
    std::optional<Solution> solution = family.findCheapest(budget);
    ASSERT_TRUE(solution);
    EXPECT_EQ(addedCost(problem, solution->plan), cost) << budget;
    llvm::Expected<Answer> answer = solve(problem, budget);
    ASSERT_TRUE(bool(answer));
    EXPECT_EQ(answer->addedCost, cost) << budget;
    EXPECT_EQ(answer->status, Status::Optimal) << budget;
    EXPECT_LE(answer->solution.packing.packedBytes, budget);
  }
}

/// All choices of variants of a plan, one after the other.
bool nextChoice(const Problem &problem, Plan &plan) {
  for (Step &step : plan.steps) {
    if (++step.variant <= int64_t(problem.operations[step.op].variants.size()))
      return true;
    step.variant = 0;
  }
  return false;
}

TEST(VariantsTest, NoChoiceIsCheaper) {
  int64_t numMet = 0, numMissed = 0, numDear = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Problem problem = makeRandom(seed, 6);
    Random random(seed);
    Plan plan = randomPlan(random, problem);
    int64_t numChoices = 1;
    for (const Step &step : plan.steps)
      numChoices *= problem.operations[step.op].variants.size() + 1;
    if (numChoices > 3000)
      continue;
    int64_t peak = simulate(problem, plan).livePeak;
    int64_t limit = random.between(std::max<int64_t>(peak - 25, 0), peak);
    int64_t least = std::numeric_limits<int64_t>::max();
    Plan choice = plan;
    do
      if (simulate(problem, choice).livePeak <= limit)
        least = std::min(least, addedCost(problem, choice));
    while (nextChoice(problem, choice));
    chooseVariants(problem, plan, limit, /*alignment=*/1);
    ASSERT_EQ(messageOf(verify(problem, plan)), "") << "seed " << seed;
    bool fits = simulate(problem, plan).livePeak <= limit;
    EXPECT_EQ(fits, least != std::numeric_limits<int64_t>::max()) << "seed " << seed;
    if (fits) {
      EXPECT_EQ(addedCost(problem, plan), least) << "seed " << seed;
    }
    (fits ? numMet : numMissed) += 1;
    numDear += fits && llvm::any_of(plan.steps, [](const Step &step) { return step.variant != 0; });
  }
  EXPECT_GT(numMet, 80);
  EXPECT_GT(numMissed, 50);
  EXPECT_GT(numDear, 50);
}

/// Members verify and fit, their costs fall with the budget; neither they nor the lower
/// bound contradict the optimum.
TEST(VariantsTest, FamilyAgainstAllPlans) {
  int64_t numWithVariants = 0, numCompared = 0, numOptimal = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    bool isTiny = seed % 4 != 0;
    Problem problem = makeRandom(seed, isTiny ? 5 : 30);
    ASSERT_EQ(messageOf(check(problem)), "") << "seed " << seed;
    FamilyOptions options;
    options.isPacked = seed % 3 == 0;
    PlanFamily family(problem, options);
    int64_t largest = family.getIdentity().requiredBytes;
    int64_t smallest = family.findSmallest().requiredBytes;
    int64_t lastCost = -1;
    for (int64_t part = 4; part >= 0; --part) {
      int64_t budget = smallest + (largest - smallest) * part / 4;
      std::optional<Solution> solution = family.findCheapest(budget);
      ASSERT_TRUE(solution) << "seed " << seed << ' ' << smallest << ' ' << largest << ' ' << part;
      ASSERT_EQ(messageOf(verify(problem, solution->plan)), "") << "seed " << seed;
      EXPECT_LE(options.isPacked ? solution->packing.packedBytes : solution->simulation.livePeak,
                budget)
          << "seed " << seed;
      int64_t cost = addedCost(problem, solution->plan);
      EXPECT_GE(cost, lastCost) << "seed " << seed << " budget " << budget;
      lastCost = cost;
      numWithVariants +=
          llvm::any_of(solution->plan.steps, [](const Step &step) { return step.variant != 0; });
      if (!isTiny || part % 2)
        continue;
      bool isComplete;
      std::optional<Plan> best = solveExhaustive(problem, {budget, true, 12, 4'000}, &isComplete);
      if (!isComplete || !best)
        continue;
      ++numCompared;
      int64_t optimum = addedCost(problem, *best);
      EXPECT_EQ(messageOf(verify(problem, *best)), "") << "seed " << seed;
      EXPECT_GE(cost, optimum) << "seed " << seed << " budget " << budget;
      EXPECT_LE(addedCostLowerBound(problem, budget), optimum) << "seed " << seed;
      numOptimal += cost == optimum;

      ExactResult exact = solveExact(problem, budget);
      EXPECT_LE(exact.lowerBound, optimum) << "seed " << seed;
      if (exact.plan) {
        EXPECT_EQ(messageOf(verify(problem, *exact.plan)), "") << "seed " << seed;
        EXPECT_LE(simulate(problem, *exact.plan).livePeak, budget) << "seed " << seed;
        EXPECT_GE(addedCost(problem, *exact.plan), optimum) << "seed " << seed;
      }
      if (exact.isComplete) {
        ASSERT_TRUE(exact.plan) << "seed " << seed;
        EXPECT_EQ(addedCost(problem, *exact.plan), optimum) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(numWithVariants, 100);
  EXPECT_GT(numCompared, 150);
  EXPECT_GT(numOptimal * 10, numCompared * 7);
  RecordProperty("compared", numCompared);
  RecordProperty("optimal", numOptimal);
}

TEST(VariantsTest, SmallerBudgetsCostNoLess) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Problem problem = makeRandom(seed, 20);
    SolveOptions options;
    options.effort = 1;
    options.numIterations = 500;
    int64_t smallest = PlanFamily(problem, options).findSmallest().requiredBytes;
    llvm::SmallVector<int64_t> budgets;
    for (int64_t k = 0; k < 6; ++k)
      budgets.push_back(smallest + 4 * k);
    llvm::Expected<std::vector<Answer>> answers = solveAll(problem, budgets, options);
    ASSERT_TRUE(bool(answers));
    for (size_t k = 1; k < answers->size(); ++k)
      EXPECT_LE((*answers)[k].addedCost, (*answers)[k - 1].addedCost) << "seed " << seed;
  }
}

TEST(VariantsTest, SearchesKeepTheirPromises) {
  int64_t numBetter = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Problem problem = makeRandom(seed, 30);
    SolveOptions options;
    options.effort = 1;
    options.numIterations = 2000;
    PlanFamily family(problem, options);
    int64_t smallest = family.findSmallest().requiredBytes;
    int64_t largest = family.getIdentity().requiredBytes;
    for (int64_t budget : {(smallest + largest) / 2, smallest}) {
      llvm::Expected<Answer> answer = solve(problem, budget, options);
      ASSERT_TRUE(bool(answer)) << "seed " << seed;
      EXPECT_EQ(messageOf(verify(problem, answer->solution.plan)), "") << "seed " << seed;
      EXPECT_LE(answer->solution.packing.packedBytes, budget) << "seed " << seed;
      int64_t cost = addedCost(problem, family.findCheapest(budget)->plan);
      EXPECT_LE(answer->addedCost, cost) << "seed " << seed;
      EXPECT_GE(answer->addedCost, answer->addedCostLowerBound) << "seed " << seed;
      numBetter += answer->addedCost < cost;
    }
  }
  EXPECT_GT(numBetter, 5);
}

} // namespace
