//===- SolveTest.cpp - What every answer promises ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Solve.h"

#include "PlainAnnealer.h"
#include "RandomProblem.h"
#include "Remat/Planner/Exact.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Generate.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <atomic>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

/// Enough for small problems, and quick.
SolveOptions makeOptions(bool isPacked = false) {
  SolveOptions options;
  options.isPacked = isPacked;
  options.effort = 1;
  options.numIterations = 1500;
  return options;
}

Problem makeProblem(uint64_t seed, int64_t numOperations) {
  Random random(seed);
  RandomProblemOptions options = RandomProblemOptions::any(random);
  options.shape = seed % 2 ? Shape::Training : Shape::Mixed;
  options.numOperations = numOperations;
  return randomProblem(random, options);
}

Problem makeLadder(int64_t numRungs) {
  llvm::Expected<Problem> problem = generate(LadderShape{numRungs});
  return problem ? std::move(*problem) : Problem();
}

int64_t getPeak(const Solution &solution, const SolveOptions &options) {
  return options.isPacked ? solution.packing.packedBytes : solution.simulation.livePeak;
}

int64_t getUnchangedPeak(const Problem &problem, const SolveOptions &options) {
  return getPeak(evaluate(problem, identityPlan(problem)), options);
}

bool isMet(const Answer &answer) {
  return answer.status == Status::Optimal || answer.status == Status::Feasible;
}

std::string toText(const Answer &answer) {
  return (getName(answer.status) + " " + llvm::Twine(answer.addedCost) + " " +
          llvm::Twine(answer.addedCostLowerBound) + " " +
          llvm::Twine(answer.solution.packing.packedBytes) + test::toText(answer.solution.plan))
      .str();
}

/// What holds for every answer to a budget.
void expectSound(const Problem &problem, int64_t budget, const SolveOptions &options,
                 const Answer &answer) {
  const Solution &solution = answer.solution;
  ASSERT_EQ(llvm::toString(verify(problem, solution.plan)), "");
  Simulation simulation = simulate(problem, solution.plan);
  EXPECT_EQ(simulation.livePeak, solution.simulation.livePeak);
  EXPECT_EQ(addedCost(problem, solution.plan), answer.addedCost);
  EXPECT_GE(solution.packing.packedBytes, simulation.livePeak);
  EXPECT_GE(solution.requiredBytes, getPeak(solution, options));
  if (!options.reorder) {
    // First executions keep their order, whether they are called clones or not.
    std::vector<bool> isExecuted(problem.operations.size(), false);
    OpIndex last = -1;
    for (const Step &step : solution.plan.steps) {
      if (isExecuted[step.op])
        continue;
      isExecuted[step.op] = true;
      EXPECT_GT(step.op, last);
      last = step.op;
    }
  }
  if (isMet(answer)) {
    EXPECT_LE(getPeak(solution, options), budget);
    EXPECT_LE(answer.addedCostLowerBound, answer.addedCost);
    EXPECT_EQ(answer.status == Status::Optimal, answer.addedCostLowerBound == answer.addedCost);
  } else {
    EXPECT_GT(getPeak(solution, options), budget) << getName(answer.status).str();
    EXPECT_EQ(answer.status == Status::Infeasible, answer.addedCostLowerBound == kAny);
  }
  PlanFamily family(problem, options);
  if (std::optional<Solution> member = family.findCheapest(budget)) {
    EXPECT_TRUE(isMet(answer));
    EXPECT_LE(answer.addedCost, addedCost(problem, member->plan));
  }
}

Answer solveSoundly(const Problem &problem, int64_t budget, const SolveOptions &options) {
  llvm::Expected<Answer> answer = solve(problem, budget, options);
  if (!answer) {
    ADD_FAILURE() << llvm::toString(answer.takeError());
    return Answer();
  }
  expectSound(problem, budget, options, *answer);
  return std::move(*answer);
}

//===----------------------------------------------------------------------===//
// Random problems
//===----------------------------------------------------------------------===//

TEST(SolveTest, RandomProblemsKeepThePromises) {
  int64_t numMet = 0, numBetter = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 5 + seed % 40);
    SolveOptions options = makeOptions(/*isPacked=*/seed % 2);
    options.reorder = seed % 3 != 0;
    options.numIterations = 500;
    int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
    for (int64_t percent : {70, 30, 0}) {
      int64_t budget = least + (most - least) * percent / 100;
      SCOPED_TRACE("budget " + std::to_string(budget));
      Answer answer = solveSoundly(problem, budget, options);
      PlanFamily family(problem, options);
      std::optional<Solution> member = family.findCheapest(budget);
      numMet += isMet(answer);
      numBetter +=
          isMet(answer) && (!member || answer.addedCost < addedCost(problem, member->plan));
      // Again, with other numbers of threads.
      options.numSeeds = 3;
      std::string text = toText(solveSoundly(problem, budget, options));
      for (int64_t numThreads : {1, 2, 3}) {
        options.numThreads = numThreads;
        EXPECT_EQ(toText(solveSoundly(problem, budget, options)), text) << numThreads;
      }
      options.numThreads = 1;
      options.numSeeds = 2;
      if (HasFailure())
        return;
    }
  }
  EXPECT_GT(numMet, 60);
  EXPECT_GT(numBetter, 10);
}

TEST(SolveTest, AgreesWithExhaustive) {
  int64_t numOptimal = 0, numInfeasible = 0, numOpen = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 2 + seed % 7);
    SolveOptions options = makeOptions(/*isPacked=*/seed % 4 == 0);
    // The twin counts live bytes, which are not aligned as packed ones are.
    if (seed % 2 || options.isPacked)
      problem.alignment = 1;
    options.reorder = seed % 3 != 0;
    options.numIterations = 300;
    int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
    for (int64_t part : {0, 1, 2}) {
      int64_t budget = std::max<int64_t>(least - 1 + (most - least + 1) * part / 3, 0);
      Answer answer = solveSoundly(problem, budget, options);
      bool isComplete = false;
      std::optional<Plan> best =
          solveExhaustive(problem,
                          {budget, options.reorder, /*maxSteps=*/24, /*maxStates=*/20'000,
                           /*originalsFirst=*/!options.reorder},
                          &isComplete);
      if (!isComplete)
        continue;
      SCOPED_TRACE("budget " + std::to_string(budget));
      int64_t cost = best ? addedCost(problem, *best) : kAny;
      EXPECT_LE(answer.addedCostLowerBound, cost);
      if (answer.status == Status::Optimal) {
        EXPECT_EQ(answer.addedCost, cost);
        ++numOptimal;
      } else if (answer.status == Status::Infeasible) {
        EXPECT_FALSE(best);
        ++numInfeasible;
      } else if (problem.alignment == 1 && !options.isPacked) {
        ++numOpen;
      }
      if (isMet(answer)) {
        EXPECT_GE(answer.addedCost, cost);
      }
    }
  }
  EXPECT_GT(numOptimal, 150);
  EXPECT_GT(numInfeasible, 100);
  EXPECT_LT(numOpen * 10, numOptimal);
}

/// What is proved about arenas, with sizes rounded up, holds for the arenas of the twin's
/// plans, which has never heard of it.
TEST(SolveTest, PackedAnswersAgreeWithExhaustive) {
  int64_t numOptimal = 0, numOpen = 0, numRounded = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 2 + seed % 7);
    problem.alignment = int64_t(2) << seed % 5;
    SolveOptions options = makeOptions(/*isPacked=*/true);
    options.reorder = seed % 3 != 0;
    options.numIterations = 300;
    int64_t least = workingSetBytes(problem, 1);
    int64_t most = evaluate(problem, identityPlan(problem)).simulation.livePeak;
    for (int64_t part : {0, 1, 2, 3}) {
      std::optional<Plan> best =
          solveExhaustive(problem, {least + (most - least) * part / 3, options.reorder,
                                    /*maxSteps=*/24, /*maxStates=*/20'000,
                                    /*originalsFirst=*/!options.reorder});
      if (!best)
        continue;
      int64_t cost = addedCost(problem, *best);
      Solution solution = evaluate(problem, std::move(*best));
      int64_t budget = solution.packing.packedBytes;
      SCOPED_TRACE("budget " + std::to_string(budget));
      numRounded += budget > solution.simulation.livePeak;
      Answer answer = solveSoundly(problem, budget, options);
      EXPECT_NE(answer.status, Status::Infeasible);
      EXPECT_LE(answer.addedCostLowerBound, cost);
      if (answer.status == Status::Optimal)
        ++numOptimal;
      else
        ++numOpen;
    }
  }
  EXPECT_GT(numOptimal, 200);
  EXPECT_GT(numRounded, 200);
  EXPECT_LT(numOpen * 8, numOptimal);
}

TEST(SolveTest, ProvesWithSizesAsTheyArePacked) {
  Problem problem = makeLadder(16);
  problem.alignment = 64;
  Answer answer = solveSoundly(problem, 8 * 64, makeOptions(/*isPacked=*/true));
  EXPECT_EQ(answer.status, Status::Optimal);
  EXPECT_EQ(answer.addedCost, 9);
}

TEST(SolveTest, NeverWorseThanThePlainAnnealer) {
  int64_t numFound = 0, numWithClones = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RandomProblemOptions kind;
    kind.shape = seed % 2 ? Shape::Training : Shape::Mixed;
    kind.numOperations = 6 + seed % 12;
    kind.workspace = seed % 3 ? 0 : 20;
    Problem problem = randomProblem(random, kind);
    SolveOptions options = makeOptions(/*isPacked=*/seed == 2);
    options.numIterations = 300;
    options.reorder = seed % 3 != 1;
    int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
    int64_t budget = least + (most - least) / 2;
    Answer answer = solveSoundly(problem, budget, options);
    PlainAnnealerOptions plain;
    plain.budget = budget;
    plain.isPacked = options.isPacked;
    plain.reorder = options.reorder;
    plain.seed = seed;
    plain.numIterations = 10 * options.numIterations;
    std::optional<Plan> found = annealPlainly(problem, plain);
    if (!found)
      continue;
    ++numFound;
    Solution solution = evaluate(problem, *found);
    ASSERT_LE(getPeak(solution, options), budget);
    EXPECT_TRUE(isMet(answer));
    EXPECT_LE(answer.addedCost, addedCost(problem, *found));
    numWithClones += addedCost(problem, *found) > 0;
  }
  EXPECT_GT(numFound, 30);
  EXPECT_GT(numWithClones, 10);
}

//===----------------------------------------------------------------------===//
// Several budgets; the other question
//===----------------------------------------------------------------------===//

TEST(SolveTest, SmallerBudgetsNeverGetCheaperPlans) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 30);
    SolveOptions options = makeOptions(/*isPacked=*/seed % 2);
    options.numIterations = 300;
    int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
    std::vector<int64_t> budgets;
    for (int64_t part = 8; part >= -1; --part)
      budgets.push_back(least + (most - least) * part / 8);
    llvm::Expected<std::vector<Answer>> answers = solveAll(problem, budgets, options);
    ASSERT_TRUE(bool(answers));
    ASSERT_EQ(answers->size(), budgets.size());
    int64_t lastCost = std::numeric_limits<int64_t>::min();
    bool wasMet = true;
    for (auto [budget, answer] : llvm::zip(budgets, *answers)) {
      expectSound(problem, budget, options, answer);
      EXPECT_TRUE(wasMet || !isMet(answer));
      wasMet = isMet(answer);
      if (wasMet) {
        EXPECT_GE(answer.addedCost, lastCost);
        lastCost = answer.addedCost;
      }
    }
    // The order of the budgets does not matter, nor that one comes twice.
    std::vector<int64_t> mixed{budgets[3], budgets[9], budgets[0], budgets[3],
                               budgets[5], budgets[1], budgets[8], budgets[2],
                               budgets[7], budgets[4], budgets[6]};
    llvm::Expected<std::vector<Answer>> again = solveAll(problem, mixed, options);
    ASSERT_TRUE(bool(again));
    for (auto [budget, answer] : llvm::zip(mixed, *again))
      EXPECT_EQ(toText(answer), toText((*answers)[llvm::find(budgets, budget) - budgets.begin()]));
    if (HasFailure())
      return;
  }
  llvm::Expected<std::vector<Answer>> none = solveAll(makeLadder(4), {}, makeOptions());
  ASSERT_TRUE(bool(none));
  EXPECT_TRUE(none->empty());
}

TEST(SolveTest, SmallestPeakForACost) {
  int64_t numAsked = 0, numMet = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 25);
    SolveOptions options = makeOptions(/*isPacked=*/seed % 2);
    options.numIterations = 300;
    options.effort = 2;
    int64_t cost = simulate(problem, identityPlan(problem)).cost;
    for (int64_t maxCost : {int64_t(0), cost / 20, cost / 5, cost, kAny}) {
      llvm::Expected<Answer> answer = solveForCost(problem, maxCost, options);
      ASSERT_TRUE(bool(answer));
      const Solution &solution = answer->solution;
      ASSERT_EQ(llvm::toString(verify(problem, solution.plan)), "");
      EXPECT_EQ(addedCost(problem, solution.plan), answer->addedCost);
      EXPECT_LE(answer->addedCost, maxCost);
      EXPECT_LE(answer->addedCostLowerBound, answer->addedCost);
      EXPECT_TRUE(isMet(*answer));
      PlanFamily family(problem, options);
      EXPECT_LE(getPeak(solution, options), family.findSmallest(maxCost).requiredBytes);
      // The other way round that budget is met, nearly always: what a search finds on
      // its way from one budget to the next is not promised by a single one.
      ++numAsked;
      numMet += isMet(solveSoundly(problem, solution.requiredBytes, options));
    }
    if (HasFailure())
      return;
  }
  EXPECT_GT(numMet * 10, numAsked * 9);
}

TEST(SolveTest, SmallestPeaksAgreeWithExhaustive) {
  int64_t numOptimal = 0, numOpen = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 2 + seed % 7);
    SolveOptions options = makeOptions(/*isPacked=*/seed % 4 == 0);
    options.reorder = seed % 3 != 0;
    options.numIterations = 300;
    // Half of them so large that bisection alone does not come to the last byte.
    if (seed % 2)
      for (Value &value : problem.values)
        value.bytes *= 1'000'003;
    // Trials have one less: with bounds alone, and with the exact search.
    options.effort = 1 + seed % 5 / 2;
    int64_t cost = simulate(problem, identityPlan(problem)).cost;
    for (int64_t maxCost : {int64_t(0), cost / 6, cost / 2, kAny}) {
      SCOPED_TRACE("cost " + std::to_string(maxCost));
      llvm::Expected<Answer> answer = solveForCost(problem, maxCost, options);
      ASSERT_TRUE(bool(answer));
      ASSERT_TRUE(isMet(*answer));
      int64_t peak = getPeak(answer->solution, options);
      ASSERT_GE(peak, workingSetBytes(problem, options.isPacked ? problem.alignment : 1));
      bool isComplete = false;
      std::optional<Plan> best =
          solveExhaustive(problem,
                          {peak - 1, options.reorder, /*maxSteps=*/24, /*maxStates=*/20'000,
                           /*originalsFirst=*/!options.reorder},
                          &isComplete);
      if (!isComplete)
        continue;
      bool isBeaten = best && addedCost(problem, *best) <= maxCost &&
                      getPeak(evaluate(problem, *best), options) < peak;
      if (answer->status == Status::Optimal) {
        EXPECT_FALSE(isBeaten);
        ++numOptimal;
      } else if (options.effort > 1 && !options.isPacked) {
        ++numOpen;
      }
    }
  }
  EXPECT_GT(numOptimal, 400);
  EXPECT_LT(numOpen * 20, numOptimal);
}

TEST(SolveTest, NoCostIsBelowNothing) {
  // Nothing adds less than nothing here: the problem as it is.
  Problem problem = makeLadder(6);
  llvm::Expected<Answer> answer = solveForCost(problem, -1, makeOptions());
  ASSERT_TRUE(bool(answer));
  EXPECT_EQ(answer->status, Status::Infeasible);
  EXPECT_EQ(answer->addedCost, 0);
  EXPECT_EQ(answer->solution.simulation.livePeak, getUnchangedPeak(problem, makeOptions()));
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

TEST(SolveTest, StopsAndStillAnswers) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 60);
    SolveOptions options;
    options.effort = kMaxEffort;
    options.shouldStop = [] { return true; };
    int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
    std::vector<int64_t> budgets{least + (most - least) / 2, least + (most - least) / 4, least};
    for (int64_t budget : budgets)
      solveSoundly(problem, budget, options);
    llvm::Expected<std::vector<Answer>> answers = solveAll(problem, budgets, options);
    ASSERT_TRUE(bool(answers));
    for (auto [budget, answer] : llvm::zip(budgets, *answers))
      expectSound(problem, budget, options, answer);
    ASSERT_TRUE(bool(solveForCost(problem, 10, options)));
    options.shouldStop = nullptr;
    options.timeLimitSeconds = 1e-9;
    for (int64_t budget : budgets)
      solveSoundly(problem, budget, options);
  }
}

TEST(SolveTest, StopsLater) {
  Problem problem = makeProblem(5, 60);
  SolveOptions options;
  options.solver = Solver::Anneal;
  options.effort = kMaxEffort;
  options.numSeeds = 2;
  options.numThreads = 2;
  std::atomic<int64_t> numAsked = 0;
  options.shouldStop = [&] { return ++numAsked > 20; };
  int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
  solveSoundly(problem, least + (most - least) / 2, options);
  EXPECT_GT(numAsked, 20);
}

/// The exact solver asks as well.
TEST(SolveTest, StopsTheExactSearch) {
  llvm::Expected<Problem> problem = generate(RandomLayeredShape{100});
  ASSERT_TRUE(bool(problem));
  SolveOptions options;
  options.isPacked = false;
  options.solver = Solver::Exact;
  options.effort = kMaxEffort;
  std::atomic<int64_t> numAsked = 0;
  options.shouldStop = [&] { return ++numAsked > 3; };
  Answer answer = solveSoundly(*problem, getUnchangedPeak(*problem, options) * 8 / 10, options);
  EXPECT_GT(numAsked, 3);
  EXPECT_NE(answer.status, Status::Optimal);
}

TEST(SolveTest, TellsHowFarItIs) {
  Problem problem = makeProblem(7, 60);
  SolveOptions options = makeOptions();
  options.solver = Solver::Anneal;
  options.numIterations = 5000;
  int64_t numReports = 0, best = -1;
  options.onProgress = [&](const Progress &progress) {
    ++numReports;
    EXPECT_GE(progress.iteration, 0);
    EXPECT_LE(progress.iteration, progress.numIterations);
    if (best >= 0) {
      EXPECT_GE(progress.addedCost, 0);
      EXPECT_LE(progress.addedCost, best);
    }
    best = progress.addedCost;
  };
  int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
  Answer answer = solveSoundly(problem, least + (most - least) / 2, options);
  EXPECT_GT(numReports, 10);
  if (best >= 0) {
    EXPECT_LE(answer.addedCost, best);
  }
  int64_t expected = numReports;
  options.numThreads = 2;
  numReports = 0;
  best = -1;
  solveSoundly(problem, least + (most - least) / 2, options);
  EXPECT_EQ(numReports, expected);
}

//===----------------------------------------------------------------------===//
// Solvers and options
//===----------------------------------------------------------------------===//

TEST(SolveTest, Names) {
  for (Solver solver : {Solver::Auto, Solver::Greedy, Solver::Chain, Solver::Anneal, Solver::Exact})
    EXPECT_EQ(parseSolver(getName(solver)), solver);
  EXPECT_FALSE(parseSolver("Auto"));
  EXPECT_FALSE(parseSolver(""));
  EXPECT_EQ(getName(Status::Optimal), "optimal");
  EXPECT_EQ(getName(Status::Feasible), "feasible");
  EXPECT_EQ(getName(Status::NotFound), "not-found");
  EXPECT_EQ(getName(Status::Infeasible), "infeasible");
}

TEST(SolveTest, EachSolver) {
  // Chains suit all of them, and the optimum is known.
  llvm::Expected<Problem> problem = generate(ChainShape{5});
  ASSERT_TRUE(bool(problem));
  for (Solver solver :
       {Solver::Auto, Solver::Greedy, Solver::Chain, Solver::Anneal, Solver::Exact}) {
    SCOPED_TRACE(getName(solver).str());
    SolveOptions options = makeOptions();
    options.solver = solver;
    options.numIterations = 3000;
    Answer answer = solveSoundly(*problem, 4, options);
    ASSERT_TRUE(isMet(answer));
    if (solver != Solver::Greedy) {
      // Revolve (Griewank & Walther, 2000): t(6, 2) - 5, where t(6, 2) = 2 * 6 - 4.
      EXPECT_EQ(answer.addedCost, 2 * 6 - 4 - 5);
      // What the solver for chains proves counts, without the help of others.
      if (solver == Solver::Chain) {
        EXPECT_EQ(answer.status, Status::Optimal);
        EXPECT_EQ(solveSoundly(*problem, 2, options).status, Status::Infeasible);
      }
    }
  }
}

TEST(SolveTest, ProblemsThatASolverRefuses) {
  SolveOptions options = makeOptions();
  options.solver = Solver::Chain;
  // Nothing is read backwards.
  ProblemBuilder path;
  ValueIndex value = path.value({}, 1);
  for (int64_t k = 0; k < 10; ++k)
    value = path.value({value}, 1);
  path.terminator({value});
  for (int64_t budget : {int64_t(0), kAny}) {
    llvm::Expected<Answer> answer = solve(path.problem, budget, options);
    ASSERT_FALSE(bool(answer));
    EXPECT_EQ(llvm::toString(answer.takeError()).find("the problem is no chain: "), 0u);
  }
  llvm::Expected<Answer> forCost = solveForCost(path.problem, 0, options);
  ASSERT_FALSE(bool(forCost));
  llvm::consumeError(forCost.takeError());
  llvm::Expected<std::vector<Answer>> all = solveAll(path.problem, {10}, options);
  ASSERT_FALSE(bool(all));
  llvm::consumeError(all.takeError());

  options.solver = Solver::Exact;
  Problem ladder = makeLadder(kMaxExactSize / 2 + 1);
  llvm::Expected<Answer> answer = solve(ladder, 0, options);
  ASSERT_FALSE(bool(answer));
  EXPECT_EQ(llvm::toString(answer.takeError()),
            "the exact solver takes up to 128 operations and values, but there are " +
                std::to_string(ladder.operations.size()) + " and " +
                std::to_string(ladder.values.size()));
}

TEST(SolveTest, StoragesTooSmallAreNeverDropped) {
  int64_t numWithClones = 0;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RandomProblemOptions kind;
    kind.shape = Shape::Training;
    kind.numOperations = 6 + seed % 12;
    Problem problem = randomProblem(random, kind);
    for (Solver solver : {Solver::Auto, Solver::Greedy, Solver::Anneal, Solver::Exact}) {
      SolveOptions options = makeOptions();
      options.solver = solver;
      options.minBytes = 10;
      options.reorder = seed % 2;
      int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
      for (int64_t part : {1, 2}) {
        int64_t budget = least + (most - least) * part / 3;
        Answer answer = solveSoundly(problem, budget, options);
        for (const Step &step : answer.solution.plan.steps) {
          if (!step.isClone)
            continue;
          ++numWithClones;
          EXPECT_TRUE(llvm::any_of(
              problem.operations[step.op].writes,
              [&](ValueIndex value) { return problem.values[value].bytes >= options.minBytes; }))
              << getName(solver).str() << " clones operation " << step.op;
        }
      }
    }
  }
  EXPECT_GT(numWithClones, 30);
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

TEST(SolveTest, ExtremeBudgets) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 12);
    for (bool isPacked : {false, true}) {
      SolveOptions options = makeOptions(isPacked);
      for (int64_t budget : {std::numeric_limits<int64_t>::min(), int64_t(-1), int64_t(0)}) {
        Answer answer = solveSoundly(problem, budget, options);
        EXPECT_EQ(isMet(answer), workingSetBytes(problem) == 0 && budget >= 0 &&
                                     getPeak(answer.solution, options) == 0);
      }
      Answer answer = solveSoundly(problem, kAny, options);
      EXPECT_TRUE(isMet(answer));
      EXPECT_EQ(test::toText(answer.solution.plan), test::toText([&] {
                  Plan plan = identityPlan(problem);
                  assignRegions(problem, plan);
                  return plan;
                }()));
    }
  }
}

TEST(SolveTest, NothingOrOneOperation) {
  Problem empty;
  ProblemBuilder one;
  one.value({}, 10, 3);
  ProblemBuilder boundary;
  boundary.boundary(7);
  ProblemBuilder noResult;
  noResult.terminator({});
  for (const Problem *problem : {&empty, &one.problem, &boundary.problem, &noResult.problem}) {
    for (Solver solver : {Solver::Auto, Solver::Greedy, Solver::Anneal, Solver::Exact}) {
      SolveOptions options = makeOptions();
      options.solver = solver;
      int64_t peak = getUnchangedPeak(*problem, options);
      EXPECT_EQ(solveSoundly(*problem, peak, options).status == Status::NotFound, false);
      EXPECT_TRUE(isMet(solveSoundly(*problem, peak, options)));
      solveSoundly(*problem, peak - 1, options);
      solveSoundly(*problem, -1, options);
      ASSERT_TRUE(bool(solveForCost(*problem, 0, options)));
      ASSERT_TRUE(bool(solveForCost(*problem, kAny, options)));
      ASSERT_TRUE(bool(solveAll(*problem, {peak, 0, -1, kAny}, options)));
    }
  }
}

TEST(SolveTest, NothingCostsAnything) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 20);
    for (Operation &operation : problem.operations)
      operation.cost = 0;
    SolveOptions options = makeOptions();
    int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
    for (int64_t part : {0, 1, 2}) {
      Answer answer = solveSoundly(problem, least + (most - least) * part / 3, options);
      EXPECT_EQ(answer.addedCost, 0);
      EXPECT_TRUE(!isMet(answer) || answer.status == Status::Optimal);
    }
  }
}

/// Bytes and costs that sum up to nearly what `check` accepts.
TEST(SolveTest, LargestSums) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeProblem(seed, 25);
    int64_t sumOfBytes = 0, sumOfCosts = 0;
    for (const Value &value : problem.values)
      sumOfBytes += align(value.bytes, problem.alignment);
    for (const Operation &operation : problem.operations) {
      sumOfBytes += align(operation.workspace, problem.alignment);
      sumOfCosts += operation.cost;
    }
    int64_t factor = kMaxProblemSum / std::max<int64_t>(sumOfBytes, 1);
    for (Value &value : problem.values)
      value.bytes *= factor;
    for (Operation &operation : problem.operations) {
      operation.workspace *= factor;
      operation.cost *= kMaxProblemSum / std::max<int64_t>(sumOfCosts, 1);
    }
    ASSERT_EQ(llvm::toString(check(problem)), "");
    for (bool isPacked : {false, true}) {
      SolveOptions options = makeOptions(isPacked);
      options.numIterations = 500;
      int64_t least = workingSetBytes(problem), most = getUnchangedPeak(problem, options);
      for (int64_t part : {0, 1, 2})
        solveSoundly(problem, least + (most - least) / 3 * part, options);
      ASSERT_TRUE(bool(solveForCost(problem, kMaxProblemSum, options)));
    }
    if (HasFailure())
      return;
  }
}

/// One value that costs nearly all there is, dropped before each of many readers: the
/// cost of all its executions is beyond what a plan may have.
TEST(SolveTest, MoreWorkThanAPlanMayHave) {
  ProblemBuilder builder;
  ValueIndex costly = builder.value({}, 100, kMaxProblemSum - 1'000'000);
  ValueIndex last = builder.value({costly}, 1, 1);
  for (int64_t i = 0; i < 300; ++i) {
    ValueIndex large = builder.value({last}, 100, 1);
    ValueIndex small = builder.value({large}, 1, 1);
    last = builder.value({small, costly}, 1, 1);
  }
  builder.terminator({last});
  ASSERT_EQ(llvm::toString(check(builder.problem)), "");
  for (Solver solver : {Solver::Greedy, Solver::Anneal, Solver::Auto}) {
    SCOPED_TRACE(getName(solver).str());
    SolveOptions options = makeOptions();
    options.solver = solver;
    for (int64_t budget : {300, 201, 150, 103}) {
      SCOPED_TRACE("budget " + std::to_string(budget));
      solveSoundly(builder.problem, budget, options);
    }
    llvm::Expected<Answer> answer = solveForCost(builder.problem, kAny, options);
    ASSERT_TRUE(bool(answer));
    EXPECT_EQ(llvm::toString(verify(builder.problem, answer->solution.plan)), "");
  }
}

} // namespace
