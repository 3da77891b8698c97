//===- PoliciesTest.cpp - What must be recomputed is not kept ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "Remat/Planner/Bounds.h"
#include "Remat/Planner/Chain.h"
#include "Remat/Planner/Exact.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Solve.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

/// A chain of `length` operations and its backward pass: operation i of the backward
/// reads the result of forward operation length - 1 - i.
Problem makeLadder(int64_t length) {
  ProblemBuilder builder;
  std::vector<ValueIndex> saved;
  for (int64_t i = 0; i < length; ++i)
    saved.push_back(i == 0 ? builder.value({}, 64, 10) : builder.value({saved.back()}, 64, 10));
  ValueIndex gradient = builder.value({saved.back()}, 64, 10);
  for (int64_t i = length - 1; i >= 0; --i)
    gradient = builder.value({gradient, saved[i]}, 64, 10);
  builder.terminator({gradient});
  return builder.problem;
}

void mustRecompute(Problem &problem, OpIndex op) {
  problem.operations[op].policy = Policy::MustRecompute;
}

Problem makeProblem(uint64_t seed, int64_t numOperations) {
  Random random(seed);
  RandomProblemOptions options = RandomProblemOptions::any(random);
  options.shape = seed % 2 ? Shape::Training : Shape::Mixed;
  options.numOperations = numOperations;
  options.policies = random.between(10, 60);
  options.mustRecompute = true;
  return randomProblem(random, options);
}

std::string verifyError(const Problem &problem, const Plan &plan) {
  return llvm::toString(verify(problem, plan));
}

/// The rule, from its words: no value of such an operation is computed before the turn
/// and read behind it. Follows every view of every instance.
bool obeysRule(const Problem &problem, const Plan &plan) {
  OpIndex turn = findTurn(problem);
  if (turn == kBoundary)
    return true;
  StepIndex turnStep = 0;
  while (plan.steps[turnStep].op != turn)
    ++turnStep;
  if (plan.steps[turnStep].isClone)
    return false;
  auto readsOf = [&](ValueIndex value) {
    return llvm::count_if(problem.operations,
                          [&](const Operation &op) { return llvm::is_contained(op.reads, value); });
  };
  for (StepIndex from = 0; from < turnStep; ++from) {
    const Operation &op = problem.operations[plan.steps[from].op];
    if (op.policy != Policy::MustRecompute)
      continue;
    for (ValueIndex value : op.writes) {
      const Value &info = problem.values[value];
      if (info.placement == Placement::View || info.placement == Placement::None || info.bytes == 0)
        continue;
      std::vector<ValueIndex> statically{value};
      for (ValueIndex v = 0, e = problem.values.size(); v < e; ++v)
        for (ValueIndex w = 0; w < e; ++w)
          if (problem.values[w].placement == Placement::View &&
              llvm::is_contained(statically, problem.values[w].source) &&
              !llvm::is_contained(statically, w))
            statically.push_back(w);
      if (llvm::any_of(statically, [&](ValueIndex v) {
            return llvm::is_contained(problem.operations.back().reads, v);
          }))
        continue;
      if (readsOf(value) == 1 && llvm::any_of(problem.values, [&](const Value &other) {
            return other.placement == Placement::Reuse && other.source == value;
          }))
        continue;
      std::vector<std::pair<ValueIndex, StepIndex>> shown{{value, from}};
      for (size_t k = 0; k < shown.size(); ++k) {
        for (StepIndex index = from + 1, e = plan.steps.size(); index < e; ++index) {
          const Operation &reader = problem.operations[plan.steps[index].op];
          for (size_t r = 0; r < reader.reads.size(); ++r) {
            if (std::pair(reader.reads[r], plan.steps[index].reads[r]) != shown[k])
              continue;
            if (index > turnStep)
              return false;
            for (ValueIndex view : reader.writes)
              if (problem.values[view].placement == Placement::View &&
                  problem.values[view].source == reader.reads[r])
                shown.push_back({view, index});
          }
        }
      }
    }
  }
  return true;
}

TEST(PoliciesTest, TurnIsWhereMemoryIsHighest) {
  Problem problem = makeLadder(4);
  EXPECT_EQ(findTurn(problem), kBoundary);
  mustRecompute(problem, 1);
  // Four saved values and the first gradient, from operation 4 on; the first backward
  // operation adds one more.
  EXPECT_EQ(findTurn(problem), 5);
}

TEST(PoliciesTest, RecomputesWithoutNeed) {
  Problem problem = makeLadder(6);
  mustRecompute(problem, 1);
  mustRecompute(problem, 2);
  EXPECT_NE(verifyError(problem, identityPlan(problem)), "");
  PlanFamily family(problem, {});
  EXPECT_EQ(llvm::toString(family.checkPolicies()), "");
  std::optional<Solution> solution = family.findCheapest(int64_t(1) << 40);
  ASSERT_TRUE(solution);
  EXPECT_EQ(verifyError(problem, solution->plan), "");
  EXPECT_EQ(addedCost(problem, solution->plan), 20);
  for (Solver solver : {Solver::Auto, Solver::Greedy, Solver::Anneal}) {
    SolveOptions options;
    options.solver = solver;
    llvm::Expected<Answer> answer = solve(problem, int64_t(1) << 40, options);
    ASSERT_TRUE(bool(answer));
    EXPECT_EQ(answer->addedCost, 20);
    EXPECT_EQ(answer->addedCostLowerBound, 20);
    EXPECT_EQ(answer->status, Status::Optimal);
    EXPECT_EQ(verifyError(problem, answer->solution.plan), "");
  }
}

TEST(PoliciesTest, SizesAsTheyArePackedDoNotMoveTheTurn) {
  // By bytes the turn is the last value; rounded up, it would be the one that reads the
  // small values, across which the first one is kept.
  ProblemBuilder builder;
  ValueIndex first = builder.value({}, 8, 10);
  llvm::SmallVector<ValueIndex> small;
  for (int64_t i = 0; i < 5; ++i)
    small.push_back(builder.value({first}, 1));
  ValueIndex last = builder.value({builder.value(small, 4), first}, 8);
  builder.terminator({builder.value({last}, 100)});
  mustRecompute(builder.problem, 0);
  builder.problem.alignment = 64;
  llvm::Expected<Answer> answer = solve(builder.problem, int64_t(1) << 40);
  ASSERT_TRUE(bool(answer));
  EXPECT_EQ(answer->addedCost, 0);
  EXPECT_EQ(answer->addedCostLowerBound, 0);
}

TEST(PoliciesTest, LimitsOfCostBelowWhatItTakes) {
  Problem problem = makeLadder(6);
  mustRecompute(problem, 1);
  for (auto [limit, status] : {std::pair(9, Status::Infeasible), {10, Status::Optimal}}) {
    llvm::Expected<Answer> answer = solveForCost(problem, limit);
    ASSERT_TRUE(bool(answer));
    EXPECT_EQ(answer->status, status);
    EXPECT_EQ(answer->addedCost, 10);
    EXPECT_EQ(verifyError(problem, answer->solution.plan), "");
  }
}

TEST(PoliciesTest, NothingSaveable) {
  // All of the forward part is computed twice, but nothing is computed a third time.
  Problem problem = makeLadder(8);
  for (OpIndex op = 0; op < 8; ++op)
    mustRecompute(problem, op);
  PlanFamily family(problem, {});
  std::optional<Solution> solution = family.findCheapest(int64_t(1) << 40);
  ASSERT_TRUE(solution);
  EXPECT_EQ(verifyError(problem, solution->plan), "");
  // The last one is read by the turn, and by nothing behind it.
  EXPECT_EQ(addedCost(problem, solution->plan), 70);
}

TEST(PoliciesTest, VerifierNamesWhatIsKept) {
  Problem problem = makeLadder(4);
  mustRecompute(problem, 1);
  EXPECT_EQ(verifyError(problem, identityPlan(problem)),
            "step 1 ('op1') must be recomputed, but its value 1 ('v1') is kept across step 5 "
            "('op5') for step 7");
}

TEST(PoliciesTest, ResultsAndDestinationsDoNotCount) {
  ProblemBuilder builder;
  ValueIndex result = builder.value({}, 64, 10);
  ValueIndex destination = builder.value({}, 64, 10);
  ValueIndex large = builder.value({result}, 1000, 10);
  ValueIndex written = builder.reuse(destination, {large}, 64, 10);
  builder.terminator({result, written});
  mustRecompute(builder.problem, 0);
  mustRecompute(builder.problem, 1);
  EXPECT_EQ(verifyError(builder.problem, identityPlan(builder.problem)), "");
}

TEST(PoliciesTest, SaysWhatCannotBeRecomputed) {
  // A view that is not repeated shows the value to a reader behind the turn.
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 64, 10);
  ValueIndex shown = builder.view(a, 64, 0);
  builder.problem.operations[1].recomputable = false;
  ValueIndex large = builder.value({}, 1000, 10);
  ValueIndex small = builder.value({large}, 8, 10);
  ValueIndex last = builder.value({shown, small}, 64, 10);
  builder.terminator({last});
  mustRecompute(builder.problem, 0);
  PlanFamily family(builder.problem, {});
  const char *expected = "operation 0 ('op0') must be recomputed for operation 4 ('op4'), but "
                         "operation 1 ('op1') cannot be executed again";
  EXPECT_EQ(llvm::toString(family.checkPolicies()), expected);
  EXPECT_FALSE(family.findCheapest(int64_t(1) << 40));
  llvm::Expected<Answer> answer = solve(builder.problem, int64_t(1) << 40);
  ASSERT_FALSE(bool(answer));
  EXPECT_EQ(llvm::toString(answer.takeError()), expected);
}

TEST(PoliciesTest, SolversThatCannotDecline) {
  Problem problem = makeLadder(6);
  mustRecompute(problem, 1);
  ChainResult chain;
  EXPECT_FALSE(solveChain(problem, {int64_t(1) << 40}, &chain));
  EXPECT_EQ(chain.reason, "it has operations that must be recomputed");
  ExactResult exact = solveExact(problem, int64_t(1) << 40);
  EXPECT_FALSE(exact.plan);
  EXPECT_FALSE(exact.isComplete);
  SolveOptions options;
  options.solver = Solver::Exact;
  EXPECT_EQ(llvm::toString(solve(problem, 1000, options).takeError()),
            "the exact solver takes no operations that must be recomputed");
}

TEST(PoliciesTest, VerifierAgreesWithTheWords) {
  int64_t numKept = 0, numObeying = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Problem problem = makeProblem(seed, 3 + seed % 12);
    Random random(seed);
    Plan plan = randomPlan(random, problem);
    bool obeys = obeysRule(problem, plan);
    EXPECT_EQ(verifyError(problem, plan) == "", obeys) << "seed " << seed;
    (obeys ? numObeying : numKept) += 1;
  }
  EXPECT_GT(numKept, 200);
  EXPECT_GT(numObeying, 200);
}

/// Members verify, their costs fall with the budget, and none beats the optimum.
TEST(PoliciesTest, RandomFamiliesObey) {
  int64_t numImpossible = 0, numRecomputed = 0, numCompared = 0, numOptimal = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    bool isTiny = seed % 2;
    Problem problem = makeProblem(seed, isTiny ? 6 : 40);
    FamilyOptions options;
    options.reorder = seed % 3 != 0;
    PlanFamily family(problem, options);
    if (llvm::Error error = family.checkPolicies()) {
      llvm::consumeError(std::move(error));
      EXPECT_FALSE(family.findCheapest(int64_t(1) << 40));
      ++numImpossible;
      continue;
    }
    ASSERT_EQ(verifyError(problem, family.getIdentity().plan), "") << "seed " << seed;
    int64_t largest = family.getIdentity().requiredBytes;
    int64_t smallest = family.findSmallest().requiredBytes;
    EXPECT_LE(smallest, largest);
    int64_t lastCost = -1;
    for (int64_t part = 4; part >= 0; --part) {
      int64_t budget = smallest + (largest - smallest) * part / 4;
      std::optional<Solution> solution = family.findCheapest(budget);
      ASSERT_TRUE(solution) << "seed " << seed;
      ASSERT_EQ(verifyError(problem, solution->plan), "") << "seed " << seed;
      EXPECT_LE(solution->packing.packedBytes, budget) << "seed " << seed;
      int64_t cost = addedCost(problem, solution->plan);
      EXPECT_GE(cost, lastCost) << "seed " << seed;
      lastCost = cost;
      numRecomputed += cost > 0 && part == 4;
      if (!isTiny || problem.operations.size() > 8 || part % 4)
        continue;
      bool isComplete;
      ExhaustiveOptions exhaustive{budget, options.reorder, 12, 4'000};
      std::optional<Plan> best = solveExhaustive(problem, exhaustive, &isComplete);
      if (!isComplete || !best)
        continue;
      EXPECT_EQ(verifyError(problem, *best), "") << "seed " << seed;
      ++numCompared;
      EXPECT_GE(cost, addedCost(problem, *best)) << "seed " << seed << " budget " << budget;
      numOptimal += cost == addedCost(problem, *best);
      EXPECT_GE(addedCost(problem, *best), addedCostLowerBound(problem, budget)) << "seed " << seed;
    }
  }
  EXPECT_GT(numRecomputed, 50);
  EXPECT_LT(numImpossible, 300);
  EXPECT_GT(numCompared, 100);
  EXPECT_GT(numOptimal * 2, numCompared);
  RecordProperty("impossible", numImpossible);
  RecordProperty("compared", numCompared);
  RecordProperty("optimal", numOptimal);
}

TEST(PoliciesTest, RandomSearchesObey) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Problem problem = makeProblem(seed, 30);
    SolveOptions options;
    options.numIterations = 2000;
    options.effort = 1;
    options.reorder = seed % 3 != 0;
    PlanFamily family(problem, options);
    if (llvm::Error error = family.checkPolicies()) {
      llvm::consumeError(std::move(error));
      continue;
    }
    int64_t smallest = family.findSmallest().requiredBytes;
    int64_t largest = family.getIdentity().requiredBytes;
    for (int64_t budget : {largest, (smallest + largest) / 2, smallest}) {
      llvm::Expected<Answer> answer = solve(problem, budget, options);
      ASSERT_TRUE(bool(answer)) << "seed " << seed;
      EXPECT_EQ(verifyError(problem, answer->solution.plan), "") << "seed " << seed;
      EXPECT_LE(answer->addedCost, addedCost(problem, family.findCheapest(budget)->plan));
      EXPECT_GE(answer->addedCost, answer->addedCostLowerBound);
    }
  }
}

} // namespace
