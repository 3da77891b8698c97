//===- WindowsTest.cpp - Exact search on parts of a plan --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Windows.h"
#include "RandomProblem.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/PlanFamily.h"
#include "WindowProblem.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

constexpr int64_t kInfeasible = std::numeric_limits<int64_t>::max();

/// Picoseconds that a solution adds to one execution of what has to be executed.
int64_t addedBy(const WindowProblem &window, const Plan &solution) {
  int64_t cost = 0;
  for (const Step &step : solution.steps)
    cost += window.problem.operations[step.op].cost;
  std::vector<bool> isNeeded = detail::neededOperations(window.problem);
  for (auto [index, op] : llvm::enumerate(window.problem.operations))
    if (isNeeded[index] && !window.surroundings.isExecuted[index])
      cost -= op.cost;
  return cost;
}

ExactResult solve(const WindowProblem &window, int64_t budget, bool reorder) {
  ExactOptions options;
  options.reorder = reorder;
  options.maxStates = 20'000;
  options.surroundings = window.surroundings;
  return solveExact(window.problem, budget, options);
}

/// The cheapest solution of a window where every value has a storage of its own, by
/// Dijkstra's search over what has been executed and what is in memory.
int64_t solveByHand(const WindowProblem &window, int64_t budget, bool reorder) {
  const Problem &problem = window.problem;
  int64_t numOperations = problem.operations.size();
  std::vector<bool> isNeeded = detail::neededOperations(problem);
  uint64_t needed = 0, executedBefore = 0, readableBefore = 0;
  int64_t neededCost = 0;
  for (OpIndex op = 0; op < numOperations; ++op) {
    needed |= uint64_t(isNeeded[op]) << op;
    executedBefore |= uint64_t(window.surroundings.isExecuted[op]) << op;
    if (isNeeded[op] && !window.surroundings.isExecuted[op])
      neededCost += problem.operations[op].cost;
  }
  for (auto [value, isReadable] : llvm::enumerate(window.surroundings.isReadable))
    readableBefore |= uint64_t(isReadable) << value;
  auto bytesOf = [&](uint64_t values) {
    int64_t sum = 0;
    for (auto [index, value] : llvm::enumerate(problem.values))
      sum += values >> index & 1 ? value.bytes : 0;
    return sum;
  };
  // Executed, readable -> cost; by cost.
  std::map<std::pair<uint64_t, uint64_t>, int64_t> costs;
  std::multimap<int64_t, std::pair<uint64_t, uint64_t>> queue;
  auto push = [&](uint64_t executed, uint64_t readable, int64_t cost) {
    auto [it, isNew] = costs.try_emplace({executed, readable}, cost);
    if (!isNew && it->second <= cost)
      return;
    it->second = cost;
    queue.insert({cost, {executed, readable}});
  };
  push(executedBefore, readableBefore, 0);
  while (!queue.empty()) {
    auto [cost, state] = *queue.begin();
    queue.erase(queue.begin());
    auto [executed, readable] = state;
    if (costs[state] < cost)
      continue;
    if ((needed & ~executed) == 0)
      return cost - neededCost;
    for (uint64_t rest = readable; rest != 0; rest &= rest - 1)
      push(executed, readable & ~(rest & -rest), cost);
    int64_t numEffects = 0;
    for (OpIndex op = 0; op < numOperations; ++op)
      numEffects += problem.operations[op].effect != Effect::Pure && (executed >> op & 1);
    for (OpIndex index = 0; index < numOperations; ++index) {
      const Operation &op = problem.operations[index];
      bool isClone = executed >> index & 1;
      // First executions: all in their order, or those that are not pure.
      bool isBlocked = false, isPassed = false;
      for (OpIndex other = 0; other < numOperations; ++other) {
        bool isOpen = isNeeded[other] && !(executed >> other & 1);
        Effect effect = problem.operations[other].effect;
        if (other < index && isOpen)
          isBlocked |= !reorder || effect == Effect::Pinned ||
                       (effect != Effect::Pure && op.effect != Effect::Pure);
        isPassed |= other > index && effect == Effect::Pinned && !isOpen;
      }
      if (isClone ? !op.recomputable : (isBlocked || isPassed) && !(reorder && op.recomputable))
        continue;
      uint64_t reads = 0, writes = 0;
      bool isReady = isNeeded[index];
      for (ValueIndex value : op.reads)
        if (problem.values[value].producer != kBoundary)
          reads |= uint64_t(1) << value;
      for (ValueIndex value : op.writes)
        writes |= uint64_t(1) << value;
      for (ValueIndex value : op.dependences)
        isReady &= executed >> problem.values[value].producer & 1;
      int64_t held = op.effect == Effect::Pure ? window.surroundings.heldBytes[numEffects] : 0;
      if (!isReady || (reads & ~readable) != 0 || (writes & readable) != 0 ||
          bytesOf(readable | writes) + op.workspace + held > budget)
        continue;
      push(executed | uint64_t(1) << index, readable | writes, cost + op.cost);
    }
  }
  return kInfeasible;
}

/// Some steps of a plan, or some operations.
Window drawWindow(Random &random, const Plan &plan, const Problem &problem) {
  int64_t numSteps = plan.steps.size();
  Window window{0, numSteps, {}};
  if (random.chance(60)) {
    window.begin = random.below(numSteps);
    window.end = window.begin + 1 + random.below(numSteps - window.begin);
  }
  int64_t percentage = random.chance(30) ? 100 : random.between(10, 60);
  for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op)
    if (random.chance(percentage))
      window.free.push_back(op);
  return window;
}

/// Whether clones stay where the solution has them: there is always something to wait for.
bool staysWhereItIs(const Problem &problem) {
  return canWaitForAnything(problem) &&
         llvm::all_of(llvm::drop_end(problem.operations), [](const Operation &operation) {
           return operation.effect != Effect::Pinned;
         });
}

// A window's problem says what the plan does there: with it, and with everything else as
// it is, the plan is found again, or a cheaper one.
TEST(WindowsTest, SolutionsFit) {
  int64_t numFound = 0, numCheaper = 0, numLost = 0, numPartial = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    bool isPlain = seed % 3 == 0;
    RandomProblemOptions kind;
    if (!isPlain)
      kind = RandomProblemOptions::any(random);
    kind.shape = seed % 2 ? Shape::Training : Shape::Mixed;
    kind.numOperations = random.between(4, 16);
    Problem problem = randomProblem(random, kind);
    PlanFacts facts(problem, randomPlan(random, problem), problem.alignment);
    Window window = drawWindow(random, facts.plan, problem);
    bool keepsOrder = detail::keepsOrder(problem, facts.plan) && random.chance(50);
    std::optional<WindowProblem> part =
        makeWindowProblem(facts, window, facts.livePeak, keepsOrder, kMaxExactSize);
    if (!part) {
      EXPECT_FALSE(isPlain && window.begin == 0) << "seed " << seed;
      continue;
    }
    ASSERT_EQ(llvm::toString(check(part->problem)), "") << "seed " << seed;
    ExactResult result = solve(*part, facts.livePeak, !keepsOrder && random.chance(50));
    if (!result.plan) {
      // A step that stays may take over what the window's problem is about.
      EXPECT_FALSE(isPlain && window.begin == 0 && result.isComplete) << "seed " << seed;
      numLost += result.isComplete;
      continue;
    }
    int64_t added = addedBy(*part, *result.plan);
    if (result.isComplete) {
      EXPECT_EQ(added, result.lowerBound) << "seed " << seed;
      EXPECT_TRUE(!isPlain || window.begin > 0 || added <= part->addedCost) << "seed " << seed;
    }
    Plan plan = replaceWindow(facts, *part, *result.plan);
    ASSERT_EQ(llvm::toString(verify(problem, plan)), "") << "seed " << seed;
    PlanFacts after(problem, plan, problem.alignment);
    // Clones that nobody reads any more are left out.
    EXPECT_LE(after.simulation.cost - facts.simulation.cost, added - part->addedCost)
        << "seed " << seed;
    if (staysWhereItIs(problem)) {
      EXPECT_LE(after.livePeak, facts.livePeak) << "seed " << seed;
    }
    ++numFound;
    numCheaper += added < part->addedCost;
    numPartial += llvm::any_of(part->origins, [&](const WindowProblem::Origin &origin) {
      return origin.op == kBoundary && origin.begin != origin.end;
    });
  }
  // The test means something.
  EXPECT_GT(numFound, 1000);
  EXPECT_GT(numPartial, 400);
  EXPECT_GT(numCheaper, 500);
  EXPECT_LT(numLost, 30);
}

// What is around a window is counted, against a search that looks at everything.
TEST(WindowsTest, AgreesWithSlowSearch) {
  int64_t numCompared = 0, numPositive = 0, numBefore = 0, numHeld = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    RandomProblemOptions kind;
    kind.shape = seed % 2 ? Shape::Training : Shape::Mixed;
    kind.numOperations = random.between(4, 8);
    kind.workspace = random.chance(50) ? 30 : 0;
    kind.effects = random.chance(30) ? 20 : 0;
    kind.dependences = random.chance(30) ? 20 : 0;
    Problem problem = randomProblem(random, kind);
    PlanFacts facts(problem, randomPlan(random, problem, /*clones=*/15), /*alignment=*/1);
    std::optional<WindowProblem> part =
        makeWindowProblem(facts, drawWindow(random, facts.plan, problem), facts.livePeak,
                          /*keepsOrder=*/false, kMaxExactSize);
    if (!part || part->problem.operations.size() > 11)
      continue;
    int64_t budget = facts.livePeak - random.below(8);
    for (bool reorder : {false, true}) {
      ExactResult result = solve(*part, budget, reorder);
      if (!result.isComplete)
        continue;
      int64_t expected = solveByHand(*part, budget, reorder);
      EXPECT_EQ(result.lowerBound, expected) << "seed " << seed;
      EXPECT_EQ(result.plan.has_value(), expected != kInfeasible) << "seed " << seed;
      ++numCompared;
      numPositive += expected > 0 && expected != kInfeasible;
      numBefore += llvm::is_contained(part->surroundings.isReadable, true);
      numHeld += !llvm::all_equal(part->surroundings.heldBytes);
    }
  }
  EXPECT_GT(numCompared, 600);
  EXPECT_GT(numPositive, 80);
  EXPECT_GT(numBefore, 300);
  EXPECT_GT(numHeld, 300);
}

// A window that is the whole plan is the whole problem.
TEST(WindowsTest, WholePlan) {
  int64_t numCompared = 0, numPositive = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    RandomProblemOptions kind;
    if (seed % 3)
      kind = RandomProblemOptions::any(random);
    kind.shape = seed % 2 ? Shape::Training : Shape::Mixed;
    kind.numOperations = random.between(3, 6);
    // Steps that stay are no part of the problem.
    kind.effects = 0;
    Problem problem = randomProblem(random, kind);
    problem.alignment = 1;
    PlanFacts facts(problem, identityPlan(problem), /*alignment=*/1);
    Window window{0, static_cast<StepIndex>(facts.plan.steps.size()), {}};
    for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op)
      window.free.push_back(op);
    int64_t floor = workingSetBytes(problem);
    int64_t budget = floor + (facts.livePeak - floor) * random.between(0, 1) / 3;
    std::optional<WindowProblem> part =
        makeWindowProblem(facts, window, budget, /*keepsOrder=*/false, kMaxExactSize);
    ASSERT_TRUE(part) << "seed " << seed;
    ExactResult result = solve(*part, budget, /*reorder=*/true);
    bool isComplete = false;
    std::optional<Plan> expected = solveExhaustive(
        problem, {budget, /*reorder=*/true, /*maxSteps=*/24, /*maxStates=*/20'000}, &isComplete);
    if (!isComplete || !result.isComplete || !canWaitForAnything(problem))
      continue;
    ASSERT_EQ(result.plan.has_value(), expected.has_value()) << "seed " << seed;
    if (!expected)
      continue;
    Plan plan = replaceWindow(facts, *part, *result.plan);
    ASSERT_EQ(llvm::toString(verify(problem, plan)), "") << "seed " << seed;
    Simulation simulation = simulate(problem, plan);
    EXPECT_LE(simulation.livePeak, budget) << "seed " << seed;
    EXPECT_EQ(simulation.cost, simulate(problem, *expected).cost) << "seed " << seed;
    ++numCompared;
    numPositive += addedCost(problem, *expected) > 0;
  }
  EXPECT_GT(numCompared, 100);
  EXPECT_GT(numPositive, 15);
}

/// Plans of the family, which are good, or random ones, which are not.
TEST(WindowsTest, ImprovesPlans) {
  int64_t numTried[2] = {}, numCheaper[2] = {};
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    RandomProblemOptions kind = RandomProblemOptions::any(random);
    kind.shape = seed % 4 < 2 ? Shape::Training : Shape::Mixed;
    kind.numOperations = random.between(10, 40);
    Problem problem = randomProblem(random, kind);
    WindowOptions options;
    options.reorder = seed % 3 != 0;
    options.alignment = problem.alignment;
    options.maxWork = 300'000;
    options.maxStates = 200;
    bool isRandom = seed % 2;
    Plan plan = randomPlan(random, problem);
    options.budget = PlanFacts(problem, plan, problem.alignment).livePeak;
    if (!isRandom) {
      PlanFamily family(problem, {options.reorder, /*minBytes=*/0, /*isPacked=*/true});
      int64_t most = family.getIdentity().requiredBytes,
              least = family.findSmallest().requiredBytes;
      options.budget = least + (most - least) * random.between(0, 60) / 100;
      plan = family.findCheapest(options.budget)->plan;
    }
    Plan better = improveWindows(problem, plan, options);
    ASSERT_EQ(llvm::toString(verify(problem, better)), "") << "seed " << seed;
    int64_t before = addedCost(problem, plan), after = addedCost(problem, better);
    EXPECT_LE(after, before) << "seed " << seed;
    EXPECT_LE(PlanFacts(problem, better, problem.alignment).livePeak, options.budget)
        << "seed " << seed;
    EXPECT_TRUE(options.reorder || !detail::keepsOrder(problem, plan) ||
                detail::keepsOrder(problem, better))
        << "seed " << seed;
    EXPECT_EQ(toText(improveWindows(problem, plan, options)), toText(better)) << "seed " << seed;
    numTried[isRandom] += before > 0;
    numCheaper[isRandom] += after < before;
  }
  EXPECT_GT(numTried[false], 25);
  EXPECT_GT(numCheaper[false], 8);
  EXPECT_GT(numTried[true], 80);
  EXPECT_GT(numCheaper[true], 80);
}

/// A problem and a plan of it that computes a value again for nothing.
struct Wasteful {
  Problem problem;
  Plan plan;
  WindowOptions options;

  explicit Wasteful(bool hasVariants = false) {
    ProblemBuilder builder;
    ValueIndex a = builder.value({}, 10, 7);
    builder.last().workspace = 1;
    if (hasVariants)
      builder.last().variants.push_back({/*cost=*/9, /*workspace=*/0});
    ValueIndex b = builder.value({a}, 10, 1);
    builder.terminator({builder.value({a, b}, 1, 1)});
    problem = builder.problem;
    plan = identityPlan(problem);
    plan.steps.insert(plan.steps.begin() + 2, Step{0, /*isClone=*/true, {}, {}});
    plan.steps[3].reads = {2, 1};
    plan.steps[4].reads = {3};
    assignRegions(problem, plan);
    options.budget = PlanFacts(problem, plan, /*alignment=*/1).livePeak;
  }
  int64_t getImproved() const { return addedCost(problem, improveWindows(problem, plan, options)); }
};

TEST(WindowsTest, TakesBackClone) {
  Wasteful wasteful;
  ASSERT_EQ(llvm::toString(verify(wasteful.problem, wasteful.plan)), "");
  EXPECT_EQ(addedCost(wasteful.problem, wasteful.plan), 7);
  EXPECT_EQ(wasteful.getImproved(), 0);
  // No step of this one is chosen here.
  EXPECT_EQ(Wasteful(/*hasVariants=*/true).getImproved(), 7);
}

TEST(WindowsTest, EndsWhenItIsTold) {
  Wasteful wasteful;
  wasteful.options.shouldStop = [] { return true; };
  EXPECT_EQ(wasteful.getImproved(), 7);
  wasteful.options.shouldStop = nullptr;
  wasteful.options.maxWork = 0;
  EXPECT_EQ(wasteful.getImproved(), 7);
}

TEST(WindowsTest, AsksForOvershoot) {
  Wasteful wasteful;
  int64_t overshoot = 1, numAsked = 0;
  wasteful.options.getOvershoot = [&](const Plan &plan) {
    EXPECT_EQ(addedCost(wasteful.problem, plan), 0);
    ++numAsked;
    return overshoot;
  };
  EXPECT_EQ(wasteful.getImproved(), 7);
  EXPECT_GT(numAsked, 0);
  overshoot = 0;
  EXPECT_EQ(wasteful.getImproved(), 0);
}

} // namespace
