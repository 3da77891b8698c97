//===- PlanTest.cpp - What regions of clones wait for -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "Remat/Planner/Simulator.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

bool operator==(const ValueInstance &a, const ValueInstance &b) {
  return a.value == b.value && a.step == b.step;
}

TEST(PlanTest, IdentityPlan) {
  ProblemBuilder builder;
  ValueIndex x = builder.boundary(1);
  ValueIndex a = builder.value({x}, 1);
  builder.value({a, x}, 1);
  builder.last().dependences.push_back(a);
  Plan plan = identityPlan(builder.problem);
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_FALSE(plan.steps[1].isClone);
  EXPECT_EQ(plan.steps[1].reads, (llvm::SmallVector<StepIndex, 4>{0, kBoundary}));
  EXPECT_EQ(plan.steps[1].dependences, (llvm::SmallVector<StepIndex, 0>{0}));
  EXPECT_TRUE(plan.regions.empty());
}

/// Appends a step that reads the latest instances.
void add(const Problem &problem, Plan &plan, OpIndex op, bool isClone) {
  Step step;
  step.op = op;
  step.isClone = isClone;
  for (ValueIndex value : problem.operations[op].reads) {
    StepIndex latest = kBoundary;
    for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index)
      if (plan.steps[index].op == problem.values[value].producer)
        latest = index;
    step.reads.push_back(latest);
  }
  plan.steps.push_back(step);
}

/// Ten bytes each: op0 a, op1 b(a), op2 c(b), op3 d(c, a), op4 terminator(d).
class RegionTest : public ::testing::Test {
protected:
  RegionTest() {
    a = builder.value({}, 10);
    b = builder.value({a}, 10);
    c = builder.value({b}, 10);
    d = builder.value({c, a}, 10);
    builder.terminator({d});
  }
  void make(std::initializer_list<std::pair<OpIndex, bool>> steps) {
    plan.steps.clear();
    for (auto [op, isClone] : steps)
      add(builder.problem, plan, op, isClone);
    assignRegions(builder.problem, plan);
    EXPECT_EQ(llvm::toString(verify(builder.problem, plan)), "");
  }
  ProblemBuilder builder;
  ValueIndex a, b, c, d;
  Plan plan;
};

TEST_F(RegionTest, NoClones) {
  make({{0, false}, {1, false}, {2, false}, {3, false}, {4, false}});
  EXPECT_TRUE(plan.regions.empty());
}

TEST_F(RegionTest, WaitsForTheLatestLiveValue) {
  make({{0, false}, {1, false}, {2, false}, {0, true}, {3, false}, {4, false}});
  ASSERT_EQ(plan.regions.size(), 1u);
  EXPECT_EQ(plan.regions[0].begin, 3);
  EXPECT_EQ(plan.regions[0].end, 4);
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{c, 2}));
}

TEST_F(RegionTest, RunsAreMaximal) {
  make({{0, false},
        {1, false},
        {0, true},
        {1, true},
        {2, false},
        {0, true},
        {1, true},
        {3, false},
        {4, false}});
  ASSERT_EQ(plan.regions.size(), 2u);
  EXPECT_EQ(plan.regions[0].begin, 2);
  EXPECT_EQ(plan.regions[0].end, 4);
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{b, 1}));
  EXPECT_EQ(plan.regions[1].begin, 5);
  EXPECT_EQ(plan.regions[1].end, 7);
  EXPECT_TRUE(plan.regions[1].after == (ValueInstance{c, 4}));
}

// The second clone of a would be merged with the first behind the same barrier.
TEST_F(RegionTest, ClonesNothingTwice) {
  make({{0, false},
        {1, false},
        {2, false},
        {0, true},
        {1, true},
        {0, true},
        {3, false},
        {4, false}});
  ASSERT_EQ(plan.regions.size(), 2u);
  EXPECT_EQ(plan.regions[0].end, 5);
  EXPECT_EQ(plan.regions[1].begin, 5);
  EXPECT_EQ(plan.regions[1].end, 6);
  EXPECT_TRUE(plan.regions[1].after == (ValueInstance{b, 4}));
}

TEST_F(RegionTest, NotAwaitable) {
  builder.problem.values[c].isAwaitable = false;
  make({{0, false}, {1, false}, {2, false}, {0, true}, {3, false}, {4, false}});
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{b, 1}));
}

TEST_F(RegionTest, NothingBeforeIt) {
  make({{0, true}, {0, false}, {1, false}, {2, false}, {3, false}, {4, false}});
  ASSERT_EQ(plan.regions.size(), 1u);
  EXPECT_EQ(plan.regions[0].after.value, kNoValue);
}

// The latest value of an original is dead there: it lives up to the region, but
// not beside the clones.
TEST_F(RegionTest, NothingLive) {
  builder.problem.operations[2].reads.clear();
  builder.problem.operations[3].reads = {c};
  make({{0, false}, {1, false}, {2, true}, {3, false}, {4, false}});
  ASSERT_EQ(plan.regions.size(), 1u);
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{b, 1}));
  EXPECT_EQ(simulate(builder.problem, plan).liveBytes, std::vector<int64_t>({10, 20, 10, 20, 10}));
}

TEST_F(RegionTest, NotInMemory) {
  builder.problem.values[c].placement = Placement::None;
  make({{0, false}, {1, false}, {2, false}, {0, true}, {3, false}, {4, false}});
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{b, 1}));
  builder.problem.values[a].placement = builder.problem.values[b].placement = Placement::None;
  make({{0, false}, {1, false}, {2, false}, {0, true}, {3, false}, {4, false}});
  EXPECT_EQ(plan.regions[0].after.value, kNoValue);
}

// b is gone as soon as c took its storage over, although that is live.
TEST_F(RegionTest, OverwrittenValues) {
  builder.problem.values[c].placement = Placement::Reuse;
  builder.problem.values[c].source = b;
  make({{0, false}, {1, false}, {2, false}, {0, true}, {3, false}, {4, false}});
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{c, 2}));
}

// Several results: the first one that is live.
TEST_F(RegionTest, SeveralResults) {
  ValueIndex unread = builder.result(2, 10);
  std::swap(builder.problem.operations[2].writes[0], builder.problem.operations[2].writes[1]);
  make({{0, false}, {1, false}, {2, false}, {0, true}, {3, false}, {4, false}});
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{c, 2}));
  builder.problem.operations[3].reads.push_back(unread);
  make({{0, false}, {1, false}, {2, false}, {0, true}, {3, false}, {4, false}});
  EXPECT_TRUE(plan.regions[0].after == (ValueInstance{unread, 2}));
}

/// The last result of a step before `begin` whose root is in memory and no
/// boundary value; of one operation the first that is live behind it, which is
/// what waiting there changes no live bytes for.
ValueInstance slowAnchor(const Problem &problem, const Plan &plan, StepIndex begin) {
  auto rootOf = [&](ValueIndex value) {
    while (problem.values[value].placement == Placement::View)
      value = problem.values[value].source;
    return value;
  };
  auto isReadBehind = [&](ValueIndex value, StepIndex from) {
    // A value is read behind `from` by itself or through a view taken of it.
    std::vector<ValueInstance> names{{value, from}};
    while (problem.values[names.back().value].placement == Placement::View) {
      const Step &step = plan.steps[names.back().step];
      ValueIndex source = problem.values[names.back().value].source;
      const auto &reads = problem.operations[step.op].reads;
      StepIndex at = step.reads[llvm::find(reads, source) - reads.begin()];
      names.push_back({source, at});
    }
    bool isRead = false;
    for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index) {
      const Operation &op = problem.operations[plan.steps[index].op];
      for (auto [read, at] : llvm::zip_equal(op.reads, plan.steps[index].reads)) {
        bool isNamed = llvm::any_of(names, [&, r = read, a = at](const ValueInstance &name) {
          return name.value == r && name.step == a;
        });
        if (!isNamed)
          continue;
        isRead |= index > from;
        for (ValueIndex written : op.writes)
          if (problem.values[written].placement == Placement::View &&
              problem.values[written].source == read)
            names.push_back({written, index});
      }
    }
    return isRead;
  };
  for (StepIndex step = begin - 1; step >= 0; --step) {
    ValueInstance first;
    for (ValueIndex value : problem.operations[plan.steps[step].op].writes) {
      const Value &root = problem.values[rootOf(value)];
      if (!problem.values[value].isAwaitable ||
          problem.values[value].placement == Placement::None || root.placement == Placement::None ||
          root.producer == kBoundary)
        continue;
      if (isReadBehind(value, step))
        return {value, step};
      if (first.value == kNoValue)
        first = {value, step};
    }
    if (first.value != kNoValue)
      return first;
  }
  return {};
}

TEST(PlanTest, AgreesWithTheSlowOne) {
  int64_t numRegions = 0, numGrowing = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = random.between(1, 25);
    options.empty = 0;
    Problem problem = randomProblem(random, options);
    for (Value &value : problem.values)
      value.isAwaitable = random.between(0, 9) != 0;
    Plan plan = randomPlan(random, problem);
    StepIndex previous = 0;
    for (const Region &region : plan.regions) {
      ValueInstance expected = slowAnchor(problem, plan, region.begin);
      ++numRegions;
      EXPECT_TRUE(region.after == expected)
          << "seed " << seed << " region at " << region.begin << ": " << region.after.value << "@"
          << region.after.step << " but " << expected.value << "@" << expected.step;
      // Longest runs that clone nothing twice.
      auto isRepeated = [&](StepIndex step, StepIndex begin) {
        return std::any_of(plan.steps.begin() + begin, plan.steps.begin() + step,
                           [&](const Step &other) { return other.op == plan.steps[step].op; });
      };
      for (StepIndex step = region.begin; step < region.end; ++step)
        EXPECT_FALSE(isRepeated(step, region.begin));
      EXPECT_TRUE(region.end == int64_t(plan.steps.size()) || !plan.steps[region.end].isClone ||
                  isRepeated(region.end, region.begin));
      EXPECT_GE(region.begin, previous);
      previous = region.end;
    }
    Plan without = plan;
    without.regions.clear();
    numGrowing += simulate(problem, plan).liveBytes != simulate(problem, without).liveBytes;
  }
  // The test means something.
  EXPECT_GT(numRegions, 1000);
  EXPECT_GT(numGrowing, 10);
}

/// Moves each clone up by one place after the other.
std::vector<StepIndex> slowHoist(const Problem &problem, const Plan &plan) {
  auto orders = [&](StepIndex index) {
    return plan.steps[index].isClone || slowAnchor(problem, plan, index + 1).step == index;
  };
  std::vector<StepIndex> order;
  for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index) {
    const Step &step = plan.steps[index];
    auto place = order.end();
    while (step.isClone && place != order.begin() && !orders(place[-1]) &&
           !llvm::is_contained(step.reads, place[-1]) &&
           !llvm::is_contained(step.dependences, place[-1]))
      --place;
    order.insert(place, index);
  }
  return order;
}

TEST(HoistTest, AgreesWithTheSlowOne) {
  int64_t numMoved = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = random.between(1, 25);
    Problem problem = randomProblem(random, options);
    for (Value &value : problem.values)
      value.isAwaitable = random.between(0, 2) != 0;
    Plan plan = randomPlan(random, problem);
    std::vector<StepIndex> order = slowHoist(problem, plan);
    Plan hoisted = plan;
    hoistClones(problem, hoisted);
    assignRegions(problem, hoisted);
    ASSERT_EQ(llvm::toString(verify(problem, hoisted)), "") << "seed " << seed;
    for (auto [step, index] : llvm::zip_equal(hoisted.steps, order)) {
      EXPECT_EQ(step.op, plan.steps[index].op) << "seed " << seed;
      EXPECT_EQ(step.isClone, plan.steps[index].isClone) << "seed " << seed;
      for (auto [from, old] : llvm::zip_equal(step.reads, plan.steps[index].reads))
        EXPECT_EQ(from == kBoundary ? kBoundary : order[from], old) << "seed " << seed;
    }
    numMoved += !llvm::is_sorted(order);
  }
  // The test means something.
  EXPECT_GT(numMoved, 100);
}

} // namespace
