//===- AnnealTest.cpp - What the local search promises ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Anneal.h"

#include "Greedy.h"
#include "RandomProblem.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Simulator.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

Problem makeProblem(uint64_t seed, int64_t numOperations) {
  Random random(seed);
  RandomProblemOptions options = RandomProblemOptions::any(random);
  options.shape = seed % 2 ? Shape::Training : Shape::Mixed;
  options.numOperations = numOperations;
  return randomProblem(random, options);
}

AnnealOptions makeOptions(int64_t limit, bool reorder, int64_t numIterations) {
  return {limit,
          reorder,
          /*isHot=*/false,
          /*seed=*/1,
          numIterations,
          /*numCycles=*/4,
          /*maxEdits=*/kAny,
          /*leastCost=*/-kAny,
          /*onProgress=*/nullptr};
}

/// A schedule without dead operations, and its graph.
struct Start {
  StorageGraph graph;
  UnitClasses classes;
  Schedule schedule;
  Start(const Problem &problem, bool reorder)
      : graph(problem, /*minBytes=*/0), classes(graph), schedule(problem, graph, reorder) {
    schedule.removeUnread();
  }
};

/// A limit some way down from the unchanged peak.
int64_t getLimit(const Problem &problem, Start &start, int64_t percent) {
  int64_t least = workingSetBytes(problem) - start.graph.boundaryBytes;
  int64_t most = start.schedule.getPeak();
  return least + (most - least) * percent / 100;
}

TEST(AnnealTest, PlansVerifyAndFit) {
  int64_t numFound = 0, numWithClones = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    bool reorder = seed % 3 != 0;
    Problem problem = makeProblem(seed, 25);
    Start start(problem, reorder);
    for (int64_t percent : {80, 60, 30}) {
      std::string place = "seed " + std::to_string(seed) + " at " + std::to_string(percent);
      int64_t limit = getLimit(problem, start, percent);
      AnnealOptions options = makeOptions(limit, reorder, 2000);
      std::optional<Schedule> found =
          anneal(problem, start.graph, start.classes, start.schedule.snapshot(), options);
      if (!found)
        continue;
      EXPECT_LE(found->getPeak(), limit) << place;
      Plan plan = found->toPlan();
      ASSERT_EQ(llvm::toString(verify(problem, plan)), "") << place;
      Simulation simulation = simulate(problem, plan);
      if (canWaitForAnything(problem)) {
        EXPECT_LE(simulation.livePeak, limit + start.graph.boundaryBytes) << place;
      }
      EXPECT_EQ(simulation.cost, found->getCost()) << place;
      ++numFound;
      numWithClones += found->getCost() > start.schedule.getCost();
      // The same again, from the same seed; and nothing dearer from there on.
      std::optional<Schedule> again =
          anneal(problem, start.graph, start.classes, start.schedule.snapshot(), options);
      ASSERT_TRUE(again) << place;
      EXPECT_EQ(toText(again->toPlan()), toText(plan)) << place;
      options.seed = 7;
      options.numIterations = 300;
      std::optional<Schedule> further =
          anneal(problem, start.graph, start.classes, *found, options);
      ASSERT_TRUE(further) << place;
      EXPECT_LE(further->getCost(), found->getCost()) << place;
      EXPECT_LE(further->getPeak(), limit) << place;
    }
  }
  EXPECT_GT(numFound, 150);
  EXPECT_GT(numWithClones, 80);
}

TEST(AnnealTest, WithoutIterations) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Problem problem = makeProblem(seed, 20);
    Start start(problem, /*reorder=*/true);
    int64_t peak = start.schedule.getPeak();
    std::optional<Schedule> found =
        anneal(problem, start.graph, start.classes, start.schedule, makeOptions(peak, true, 0));
    ASSERT_TRUE(found) << "seed " << seed;
    EXPECT_EQ(toText(found->toPlan()), toText(start.schedule.toPlan())) << "seed " << seed;
    EXPECT_FALSE(
        anneal(problem, start.graph, start.classes, start.schedule, makeOptions(peak - 1, true, 0)))
        << "seed " << seed;
  }
}

TEST(AnnealTest, NothingBelowTheWorkingSet) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Problem problem = makeProblem(seed, 20);
    Start start(problem, /*reorder=*/true);
    int64_t least = workingSetBytes(problem) - start.graph.boundaryBytes;
    for (int64_t limit : {least - 1, int64_t(0) - 1, -kAny / 2})
      EXPECT_FALSE(anneal(problem, start.graph, start.classes, start.schedule,
                          makeOptions(limit, true, 300)))
          << "seed " << seed;
  }
}

TEST(AnnealTest, EndsWhenItIsTold) {
  Problem problem = makeProblem(3, 40);
  Start start(problem, /*reorder=*/true);
  AnnealOptions options = makeOptions(getLimit(problem, start, 50), true, int64_t(1) << 40);
  int64_t numReports = 0, last = -1;
  options.onProgress = [&](int64_t iteration, int64_t) {
    EXPECT_GE(iteration, last);
    last = iteration;
    return ++numReports < 1;
  };
  anneal(problem, start.graph, start.classes, start.schedule, options);
  EXPECT_EQ(numReports, 1);
  // Edits end it as well.
  options.onProgress = nullptr;
  options.maxEdits = 1000;
  anneal(problem, start.graph, start.classes, start.schedule, options);
  // And a cost that nothing undercuts.
  options.maxEdits = kAny;
  options.limit = start.schedule.getPeak();
  options.leastCost = start.schedule.getCost();
  ASSERT_TRUE(anneal(problem, start.graph, start.classes, start.schedule, options));
}

TEST(AnnealTest, ProgressRises) {
  Problem problem = makeProblem(5, 40);
  Start start(problem, /*reorder=*/true);
  AnnealOptions options = makeOptions(getLimit(problem, start, 50), true, 20'000);
  int64_t numReports = 0, last = -1, best = kAny;
  options.onProgress = [&](int64_t iteration, int64_t cost) {
    EXPECT_GT(iteration, last);
    EXPECT_LE(iteration, options.numIterations);
    last = iteration;
    if (cost >= 0) {
      EXPECT_LE(cost, best);
      best = cost;
    }
    ++numReports;
    return true;
  };
  std::optional<Schedule> found =
      anneal(problem, start.graph, start.classes, start.schedule, options);
  EXPECT_GT(numReports, 50);
  if (best != kAny) {
    ASSERT_TRUE(found);
    EXPECT_LE(found->getCost(), best);
  }
}

/// Most optima of small problems are found, and never anything cheaper: nearly all where
/// every value has a storage of its own, which is all that a schedule can say exactly.
TEST(AnnealTest, AgreesWithExhaustive) {
  int64_t numCompared[2] = {}, numOptimal[2] = {};
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    bool isPlain = seed % 2;
    Random random(seed);
    RandomProblemOptions kind;
    if (!isPlain)
      kind = RandomProblemOptions::any(random);
    kind.shape = seed % 4 < 2 ? Shape::Training : Shape::Mixed;
    kind.numOperations = random.between(4, 7);
    Problem problem = randomProblem(random, kind);
    problem.alignment = 1;
    Start start(problem, /*reorder=*/true);
    int64_t limit = getLimit(problem, start, random.between(0, 60));
    bool isComplete = false;
    std::optional<Plan> best = solveExhaustive(
        problem, {limit + start.graph.boundaryBytes, /*reorder=*/true, /*maxSteps=*/24, 20'000},
        &isComplete);
    std::optional<Schedule> found =
        anneal(problem, start.graph, start.classes, start.schedule, makeOptions(limit, true, 3000));
    if (!isComplete)
      continue;
    if (!best) {
      EXPECT_TRUE(!found || !canWaitForAnything(problem)) << "seed " << seed;
      continue;
    }
    int64_t cost = simulate(problem, *best).cost;
    ++numCompared[isPlain];
    if (!found)
      continue;
    numOptimal[isPlain] += found->getCost() == cost;
    if (canWaitForAnything(problem)) {
      EXPECT_GE(found->getCost(), cost) << "seed " << seed;
    }
  }
  for (bool isPlain : {false, true})
    EXPECT_GT(numCompared[isPlain], 50);
  EXPECT_GT(numOptimal[false] * 100, numCompared[false] * 70)
      << numOptimal[false] << " of " << numCompared[false];
  EXPECT_GT(numOptimal[true] * 100, numCompared[true] * 95)
      << numOptimal[true] << " of " << numCompared[true];
}

} // namespace
