//===- SimulatorTest.cpp - Memory and cost of plans -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Simulator.h"
#include "RandomProblem.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

using Bytes = std::vector<int64_t>;

Simulation simulateIdentity(const Problem &problem) {
  EXPECT_EQ(llvm::toString(check(problem)), "");
  Plan plan = identityPlan(problem);
  EXPECT_EQ(llvm::toString(verify(problem, plan)), "");
  return simulate(problem, plan);
}

/// The storage of a value in the identity plan.
StorageIndex storageOf(const Problem &problem, const Simulation &simulation, ValueIndex value) {
  OpIndex op = problem.values[value].producer;
  if (op == kBoundary)
    return simulation.boundaryStorage[value];
  const auto &writes = problem.operations[op].writes;
  return simulation
      .storageOf[simulation.firstWrite[op] + (llvm::find(writes, value) - writes.begin())];
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

TEST(SimulatorTest, Chain) {
  ProblemBuilder builder;
  ValueIndex x = builder.boundary(100);
  ValueIndex a = builder.value({x}, 4, /*cost=*/2);
  ValueIndex b = builder.value({a}, 8, /*cost=*/3);
  ValueIndex c = builder.value({b}, 2, /*cost=*/5);
  builder.terminator({c});
  builder.problem.alignment = 64;

  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.liveBytes, Bytes({104, 112, 110, 102}));
  EXPECT_EQ(result.livePeak, 112);
  EXPECT_EQ(result.peakStep, 1);
  EXPECT_EQ(result.cost, 10);
  EXPECT_EQ(result.boundaryBytes, 128);
  ASSERT_EQ(result.storages.size(), 4u);
  EXPECT_TRUE(result.storages[0].isBoundary);
  EXPECT_EQ(result.storages[0].begin, 0);
  EXPECT_EQ(result.storages[0].end, 4);
  EXPECT_EQ(result.storages[2].bytes, 8);
  EXPECT_EQ(result.storages[2].begin, 1);
  EXPECT_EQ(result.storages[2].end, 3);
  EXPECT_EQ(result.storages[2].first.value, b);
  EXPECT_EQ(result.storages[2].first.step, 1);
  EXPECT_EQ(result.boundaryStorage, std::vector<StorageIndex>({0, -1, -1, -1}));
}

TEST(SimulatorTest, NoSteps) {
  Problem problem;
  EXPECT_EQ(simulateIdentity(problem).livePeak, 0);
  problem.values.resize(1);
  problem.values[0].bytes = 7;
  Simulation result = simulateIdentity(problem);
  EXPECT_EQ(result.livePeak, 7);
  EXPECT_EQ(result.liveBytes, Bytes());
}

// A result that nobody reads is there while it is computed. Of several peaks
// the first one counts.
TEST(SimulatorTest, UnreadResult) {
  ProblemBuilder builder;
  builder.value({}, 5);
  builder.value({}, 5);
  builder.terminator({});
  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.liveBytes, Bytes({5, 5, 0}));
  EXPECT_EQ(result.peakStep, 0);
}

TEST(SimulatorTest, ViewKeepsItsSourceLive) {
  ProblemBuilder builder;
  ValueIndex x = builder.value({}, 10);
  ValueIndex v = builder.view(x, 3);
  ValueIndex w = builder.view(v, 2);
  builder.value({}, 1);
  ValueIndex y = builder.value({w}, 5);
  builder.terminator({y});
  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.liveBytes, Bytes({10, 10, 10, 11, 15, 5}));
  EXPECT_EQ(result.storages.size(), 3u);
  EXPECT_EQ(storageOf(builder.problem, result, w), storageOf(builder.problem, result, x));
}

TEST(SimulatorTest, ViewOfBoundary) {
  ProblemBuilder builder;
  ValueIndex x = builder.boundary(10);
  ValueIndex v = builder.view(x, 10);
  ValueIndex r = builder.reuse(v, {}, 10);
  builder.terminator({r});
  Simulation result = simulateIdentity(builder.problem);
  // Nothing takes over the storage of an argument.
  EXPECT_EQ(result.liveBytes, Bytes({10, 20, 20}));
}

TEST(SimulatorTest, SeveralResultsAndWorkspace) {
  ProblemBuilder builder;
  OpIndex op = builder.operation({});
  ValueIndex a = builder.result(op, 1);
  ValueIndex b = builder.result(op, 2);
  builder.result(op, 4);
  builder.last().workspace = 100;
  ValueIndex c = builder.value({a}, 8);
  builder.last().workspace = 50;
  builder.terminator({b, c});
  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.liveBytes, Bytes({107, 61, 10}));
  EXPECT_EQ(result.firstWrite, std::vector<int64_t>({0, 3, 4, 4}));
}

TEST(SimulatorTest, DependencesKeepNothingLive) {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 10);
  builder.value({}, 1);
  ValueIndex b = builder.value({}, 2);
  builder.last().dependences.push_back(a);
  builder.terminator({b});
  EXPECT_EQ(simulateIdentity(builder.problem).liveBytes, Bytes({10, 1, 2, 2}));
}

TEST(SimulatorTest, NotInMemory) {
  ProblemBuilder builder;
  ValueIndex x = builder.boundary(1000, Placement::None);
  OpIndex op = builder.operation({x});
  ValueIndex a = builder.result(op, 100, Placement::None);
  ValueIndex v = builder.view(a, 100);
  // There is nothing to take over.
  ValueIndex r = builder.reuse(v, {}, 100);
  builder.terminator({r});
  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.liveBytes, Bytes({0, 0, 100, 100}));
  EXPECT_EQ(result.boundaryBytes, 0);
  for (ValueIndex value : {x, a, v})
    EXPECT_EQ(storageOf(builder.problem, result, value), kNoStorage);
}

TEST(SimulatorTest, ReuseTakesOver) {
  ProblemBuilder builder;
  ValueIndex init = builder.value({}, 10);
  ValueIndex r = builder.reuse(init, {}, 10);
  ValueIndex s = builder.reuse(r, {}, 10);
  builder.value({}, 1);
  builder.terminator({s});
  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.liveBytes, Bytes({10, 10, 10, 11, 10}));
  EXPECT_EQ(storageOf(builder.problem, result, s), storageOf(builder.problem, result, init));
  EXPECT_EQ(result.storages[0].first.value, init);
}

TEST(SimulatorTest, ReuseOfWhatIsReadLater) {
  ProblemBuilder builder;
  ValueIndex init = builder.value({}, 10);
  ValueIndex r = builder.reuse(init, {}, 10);
  builder.terminator({init, r});
  EXPECT_EQ(simulateIdentity(builder.problem).liveBytes, Bytes({10, 20, 20}));
}

TEST(SimulatorTest, ReuseWhenAViewIsReadLater) {
  ProblemBuilder builder;
  ValueIndex init = builder.value({}, 10);
  ValueIndex v = builder.view(init, 1);
  ValueIndex r = builder.reuse(init, {}, 10);
  builder.terminator({v, r});
  EXPECT_EQ(simulateIdentity(builder.problem).liveBytes, Bytes({10, 10, 20, 20}));
  // The same with the view as the second result of the reuse.
  ProblemBuilder other;
  init = other.value({}, 10);
  r = other.reuse(init, {}, 10);
  v = other.result(1, 10, Placement::View, init);
  other.terminator({v, r});
  EXPECT_EQ(simulateIdentity(other.problem).liveBytes, Bytes({10, 20, 20}));
}

// The operation reads its destination under another name, too.
TEST(SimulatorTest, ReuseOfWhatIsReadTwice) {
  ProblemBuilder builder;
  ValueIndex init = builder.value({}, 10);
  ValueIndex v = builder.view(init, 10);
  ValueIndex r = builder.reuse(init, {v}, 10);
  builder.terminator({r});
  EXPECT_EQ(simulateIdentity(builder.problem).liveBytes, Bytes({10, 10, 20, 10}));
  EXPECT_EQ(workingSetBytes(builder.problem), 20);
}

TEST(SimulatorTest, ReuseOfAView) {
  ProblemBuilder builder;
  ValueIndex init = builder.value({}, 10);
  ValueIndex whole = builder.view(init, 10);
  ValueIndex part = builder.view(init, 4);
  ValueIndex r = builder.reuse(part, {}, 4);
  ValueIndex s = builder.reuse(whole, {}, 10);
  builder.terminator({r, s});
  // The part has not the bytes of its storage.
  EXPECT_EQ(simulateIdentity(builder.problem).liveBytes, Bytes({10, 10, 10, 14, 14, 14}));
}

TEST(SimulatorTest, OneStorageIsTakenOnce) {
  ProblemBuilder builder;
  ValueIndex init = builder.value({}, 10);
  ValueIndex r = builder.reuse(init, {}, 10);
  ValueIndex s = builder.result(1, 10, Placement::Reuse, init);
  ValueIndex view = builder.result(1, 10, Placement::View, init);
  builder.terminator({r, s});
  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.liveBytes, Bytes({10, 20, 20}));
  StorageIndex storage = storageOf(builder.problem, result, init);
  EXPECT_EQ(storageOf(builder.problem, result, r), storage);
  EXPECT_NE(storageOf(builder.problem, result, s), storage);
  // A view that nobody reads does not stand in the way.
  EXPECT_EQ(storageOf(builder.problem, result, view), storage);
}

/// a and b are long-lived; c reads a at the end. Recomputing a saves 10 bytes in
/// the middle:
///   op0: a(10)   op1: b(6) = f(a)   op2: m(20) = f(b)   op3: n(1) = f(m)
///   op4: c(1) = f(a, n)   op5: terminator(c)
class CloneTest : public ::testing::Test {
protected:
  CloneTest() {
    a = builder.value({}, 10);
    b = builder.value({a}, 6);
    m = builder.value({b}, 20);
    n = builder.value({m}, 1);
    c = builder.value({n, a}, 1);
    builder.terminator({c});
    plan = identityPlan(builder.problem);
    Step clone;
    clone.op = 0;
    clone.isClone = true;
    plan.steps.insert(plan.steps.begin() + 4, clone);
    plan.steps[5].reads = {3, 4};
    plan.steps[6].reads = {5};
    plan.regions.push_back({4, 5, {n, 3}});
  }

  std::string message() const { return llvm::toString(verify(builder.problem, plan)); }
  Bytes liveBytes() const {
    EXPECT_EQ(message(), "");
    return simulate(builder.problem, plan).liveBytes;
  }

  ProblemBuilder builder;
  ValueIndex a, b, m, n, c;
  Plan plan;
};

TEST_F(CloneTest, Clone) {
  EXPECT_EQ(simulateIdentity(builder.problem).liveBytes, Bytes({10, 16, 36, 31, 12, 1}));
  EXPECT_EQ(liveBytes(), Bytes({10, 16, 26, 21, 11, 12, 1}));
  EXPECT_EQ(simulate(builder.problem, plan).cost, 6);
}

// What a region waits for is read directly before it.
TEST_F(CloneTest, RegionKeepsItsAnchorLive) {
  plan.regions[0].after = {b, 1};
  EXPECT_EQ(liveBytes(), Bytes({10, 16, 26, 27, 11, 12, 1}));
  plan.regions[0].after = {};
  EXPECT_EQ(liveBytes(), Bytes({10, 16, 26, 21, 11, 12, 1}));
}

// An anchor is a reader like any other: its storage cannot be taken over.
TEST_F(CloneTest, AnchorsAreNotReused) {
  builder.problem.values[n].placement = Placement::Reuse;
  builder.problem.values[n].source = m;
  builder.problem.values[n].bytes = 20;
  EXPECT_EQ(liveBytes(), Bytes({10, 16, 26, 20, 30, 31, 1}));
  plan.regions[0].after = {m, 2};
  EXPECT_EQ(liveBytes(), Bytes({10, 16, 26, 40, 30, 31, 1}));
}

TEST_F(CloneTest, ErrorsOfSteps) {
  Plan good = plan;
  plan.steps[2].op = 6;
  EXPECT_EQ(message(), "step 2 executes operation 6, which does not exist");
  plan.steps[2].op = -1;
  EXPECT_EQ(message(), "step 2 executes operation -1, which does not exist");

  plan = good;
  plan.steps[2].reads.clear();
  EXPECT_EQ(message(), "step 2 ('op2') reads 0 values, but the operation reads 1");
  plan.steps[2].reads = {7};
  EXPECT_EQ(message(), "step 2 ('op2') reads value 1 ('v1') from step 7, which does not exist");
  plan.steps[2].reads = {-1};
  EXPECT_EQ(message(), "step 2 ('op2') reads value 1 ('v1') from step -1, which does not exist");
  plan.steps[2].reads = {2};
  EXPECT_EQ(message(), "step 2 ('op2') reads value 1 ('v1') from step 2, which is not earlier");
  plan.steps[2].reads = {0};
  EXPECT_EQ(message(), "step 2 ('op2') reads value 1 ('v1') from step 0, which does not write it");

  plan = good;
  builder.problem.operations[2].dependences = {a};
  EXPECT_EQ(message(), "step 2 ('op2') depends on 0 values, but the operation depends on 1");
  plan.steps[2].dependences = {1};
  EXPECT_EQ(message(),
            "step 2 ('op2') depends on value 0 ('v0') from step 1, which does not write it");
  plan.steps[2].dependences = {0};
  EXPECT_EQ(message(), "");
}

TEST_F(CloneTest, ErrorsOfBoundaryReads) {
  builder.problem.operations[0].reads = {builder.boundary(1)};
  EXPECT_EQ(message(), "step 0 ('op0') reads 0 values, but the operation reads 1");
  plan.steps[0].reads = {0};
  EXPECT_EQ(message(), "step 0 ('op0') reads the boundary value 5 ('v5') from step 0");
  plan.steps[0].reads = plan.steps[4].reads = {kBoundary};
  EXPECT_EQ(message(), "");
}

TEST_F(CloneTest, ErrorsOfClones) {
  plan.steps[4].isClone = false;
  EXPECT_EQ(message(), "step 4 ('op0') is the second original of operation 0");
  plan.steps[4].isClone = true;
  builder.problem.operations[0].policy = Policy::MustSave;
  EXPECT_EQ(message(), "step 4 ('op0') is a clone, but operation 0 must be saved");
  builder.problem.operations[0].recomputable = false;
  EXPECT_EQ(message(), "step 4 ('op0') is a clone, but operation 0 is not recomputable");
}

TEST_F(CloneTest, ErrorsOfEffects) {
  builder.setEffect(1, Effect::Ordered);
  builder.setEffect(3, Effect::Ordered);
  EXPECT_EQ(message(), "");
  // Without op1 and what depends on it.
  Plan good = plan;
  plan.steps.pop_back();
  EXPECT_EQ(message(), "operation 5 ('op5') has effects, but is not executed");
  plan.steps.clear();
  plan.regions.clear();
  EXPECT_EQ(message(), "operation 1 ('op1') has effects, but is not executed");

  plan = good;
  builder.setEffect(0, Effect::Ordered);
  plan.steps.erase(plan.steps.begin() + 4);
  plan.regions.clear();
  plan.steps[4].reads = {3, 0};
  plan.steps[5].reads = {4};
  EXPECT_EQ(message(), "");
  // op3 before op1.
  builder.problem.operations[3].reads = {a};
  plan.steps[3].reads = {0};
  EXPECT_EQ(message(), "");
  std::rotate(plan.steps.begin() + 1, plan.steps.begin() + 3, plan.steps.begin() + 4);
  EXPECT_EQ(message(), "step 1 ('op3') has effects and comes before operation 1 ('op1')");
}

TEST_F(CloneTest, ErrorsOfPinned) {
  builder.problem.operations[2].reads = {a};
  plan.steps[2].reads = {0};
  std::swap(plan.steps[1], plan.steps[2]);
  plan.steps[3].reads = {1};
  EXPECT_EQ(message(), "");
  builder.setEffect(1, Effect::Ordered);
  EXPECT_EQ(message(), "");
  builder.setEffect(1, Effect::Pinned);
  EXPECT_EQ(message(), "step 1 ('op2') was moved past a pinned operation");
}

TEST_F(CloneTest, NothingFollowsTheTerminator) {
  Step clone = plan.steps[4];
  plan.steps.push_back(clone);
  plan.regions.push_back({7, 8, {n, 3}});
  EXPECT_EQ(message(), "step 7 ('op0') follows the terminator");
}

// What nothing needs may be left out; a clone may be the only execution.
TEST_F(CloneTest, PureOriginalsMayBeLeftOut) {
  builder.problem.operations[2].reads = {};
  plan = identityPlan(builder.problem);
  plan.steps.erase(plan.steps.begin(), plan.steps.begin() + 2);
  plan.steps[0].isClone = true;
  plan.steps.insert(plan.steps.begin(), Step());
  plan.steps[0].op = 0;
  plan.steps[2].reads = {1};
  plan.steps[3].reads = {2, 0};
  plan.steps[4].reads = {3};
  plan.regions = {{1, 2, {a, 0}}};
  EXPECT_EQ(message(), "");
}

TEST_F(CloneTest, ErrorsOfRegions) {
  Region good = plan.regions[0];
  auto withRegion = [&](StepIndex begin, StepIndex end, ValueInstance after) {
    plan.regions = {{begin, end, after}};
    return message();
  };
  EXPECT_EQ(withRegion(4, 4, good.after),
            "region 0 covers steps 4 to 4, which is not a range of steps");
  EXPECT_EQ(withRegion(-1, 4, good.after),
            "region 0 covers steps -1 to 4, which is not a range of steps");
  EXPECT_EQ(withRegion(4, 8, good.after),
            "region 0 covers steps 4 to 8, which is not a range of steps");
  EXPECT_EQ(withRegion(4, 6, good.after), "region 0 holds step 5 ('op4'), which is not a clone");
  EXPECT_EQ(withRegion(4, 5, {5, 3}), "region 0 waits for value 5, which does not exist");
  EXPECT_EQ(withRegion(4, 5, {-2, 3}), "region 0 waits for value -2, which does not exist");
  EXPECT_EQ(withRegion(4, 5, {kNoValue, 3}), "region 0 waits for step 3 without a value");
  EXPECT_EQ(withRegion(4, 5, {n, 4}), "region 0 waits for step 4, which is not before it");
  EXPECT_EQ(withRegion(4, 5, {n, -1}), "region 0 waits for step -1, which is not before it");
  EXPECT_EQ(withRegion(4, 5, {n, 2}),
            "region 0 waits for value 3 ('v3') of step 2, which does not write it");
  ValueIndex x = builder.boundary(1);
  EXPECT_EQ(withRegion(4, 5, {x, -1}), "region 0 waits for the boundary value 5 ('v5')");
  plan.regions = {good, good};
  EXPECT_EQ(message(), "region 1 begins at step 4, before the previous one ends");
  plan.regions = {};
  EXPECT_EQ(message(), "step 4 ('op0') is a clone outside of all regions");
}

TEST_F(CloneTest, SumsOfPlans) {
  int64_t large = int64_t(1) << 55;
  builder.problem.operations[0].cost = large;
  ASSERT_EQ(llvm::toString(check(builder.problem)), "");
  // 128 times 2^55 is 2^62.
  Step clone = plan.steps[4];
  auto repeat = [&](int64_t count) {
    Plan many;
    many.steps.assign(count, clone);
    many.regions = {{0, count, {}}};
    many.steps.insert(many.steps.end(), plan.steps.begin(), plan.steps.begin() + 4);
    for (int64_t step = count + 1; step < count + 4; ++step)
      many.steps[step].reads = {step - 1};
    Problem headless = builder.problem;
    headless.operations.resize(4);
    headless.values.resize(4);
    return llvm::toString(verify(headless, many));
  };
  EXPECT_EQ(repeat(126), "");
  EXPECT_EQ(repeat(128), "step 128 ('op0') brings the sum of all costs above "
                         "4611686018427387904 picoseconds");
  builder.problem.operations[0].cost = 1;
  builder.problem.values[a].bytes = large;
  EXPECT_EQ(repeat(126), "");
  EXPECT_EQ(repeat(128),
            "step 128 ('op0') brings the sum of all aligned bytes above 4611686018427387904");
}

//===----------------------------------------------------------------------===//
// Working sets
//===----------------------------------------------------------------------===//

TEST(WorkingSetTest, Counts) {
  ProblemBuilder builder;
  builder.problem.alignment = 16;
  ValueIndex x = builder.boundary(10);        // 16
  ValueIndex a = builder.value({x}, 20);      // 32
  ValueIndex v = builder.view(a, 4);          // with a
  ValueIndex b = builder.value({a, v, x}, 1); // 32 + 16
  builder.last().workspace = 17;              // + 32
  ValueIndex r = builder.reuse(a, {b}, 20);   // 32 + 16, in place
  builder.value({}, 1000);                    // nobody needs it
  builder.terminator({r});
  EXPECT_EQ(workingSetBytes(builder.problem), 16 + 80);
  builder.problem.operations[2].workspace = 0;
  EXPECT_EQ(workingSetBytes(builder.problem), 16 + 48);
  builder.problem.values[r].bytes = 21;
  EXPECT_EQ(workingSetBytes(builder.problem), 16 + 80);
  builder.problem.operations[4].effect = Effect::Ordered;
  EXPECT_EQ(workingSetBytes(builder.problem), 16 + 1008);
  EXPECT_EQ(workingSetBytes(Problem()), 0);
}

//===----------------------------------------------------------------------===//
// At random
//===----------------------------------------------------------------------===//

/// The rules of the simulator, word by word, in quadratic time or worse: the
/// live bytes of each step.
Bytes slowLiveBytes(const Problem &problem, const Plan &plan) {
  struct SlowStorage {
    int64_t bytes;
    bool isBoundary;
    int64_t begin, end;
    std::vector<ValueInstance> values;
    int64_t takenAt = -1;
  };
  std::vector<SlowStorage> storages;
  int64_t numSteps = plan.steps.size();
  auto lastRead = [&](const ValueInstance &instance, bool withWaits) {
    StepIndex last = -1;
    for (StepIndex index = 0; index < numSteps; ++index)
      for (auto [value, step] :
           llvm::zip_equal(problem.operations[plan.steps[index].op].reads, plan.steps[index].reads))
        if (value == instance.value && step == instance.step)
          last = std::max(last, index);
    for (const Region &region : plan.regions)
      if (region.after.value == instance.value && region.after.step == instance.step)
        last = std::max(last, withWaits ? region.begin : region.begin - 1);
    return last;
  };
  auto find = [&](const ValueInstance &instance) -> SlowStorage * {
    for (SlowStorage &storage : storages)
      for (const ValueInstance &other : storage.values)
        if (other.value == instance.value && other.step == instance.step)
          return &storage;
    return nullptr;
  };
  for (ValueIndex value = 0, e = problem.values.size(); value < e; ++value)
    if (problem.values[value].producer == kBoundary &&
        problem.values[value].placement != Placement::None)
      storages.push_back({problem.values[value].bytes, true, 0, numSteps, {{value, kBoundary}}});

  // All values of a step are there before one of them takes a storage over, so
  // views go first.
  for (StepIndex index = 0; index < numSteps; ++index) {
    const Step &step = plan.steps[index];
    const Operation &op = problem.operations[step.op];
    auto source = [&](const Value &value) {
      int64_t operand = llvm::find(op.reads, value.source) - op.reads.begin();
      return find({value.source, step.reads[operand]});
    };
    for (ValueIndex write : op.writes)
      if (problem.values[write].placement == Placement::View)
        if (SlowStorage *storage = source(problem.values[write]))
          storage->values.push_back({write, index});
    for (ValueIndex write : op.writes) {
      const Value &value = problem.values[write];
      if (value.placement == Placement::View || value.placement == Placement::None)
        continue;
      if (value.placement == Placement::Reuse) {
        SlowStorage *storage = source(value);
        bool isFree = storage && !storage->isBoundary && storage->bytes == value.bytes &&
                      storage->takenAt != index;
        if (isFree)
          for (const ValueInstance &other : storage->values)
            isFree &= lastRead(other, /*withWaits=*/true) <= index;
        int64_t numReads = 0;
        for (auto [read, from] : llvm::zip_equal(op.reads, step.reads))
          numReads += storage && find({read, from}) == storage;
        isFree &= numReads == 1;
        if (isFree) {
          storage->takenAt = index;
          storage->values.push_back({write, index});
          continue;
        }
      }
      storages.push_back({value.bytes, false, index, index + 1, {{write, index}}});
    }
  }
  Bytes live(numSteps, 0);
  for (StepIndex index = 0; index < numSteps; ++index)
    live[index] = problem.operations[plan.steps[index].op].workspace;
  for (SlowStorage &storage : storages) {
    for (const ValueInstance &instance : storage.values)
      storage.end = std::max(storage.end,
                             std::max(lastRead(instance, /*withWaits=*/false), instance.step) + 1);
    for (StepIndex index = storage.begin; index < storage.end; ++index)
      live[index] += storage.bytes;
  }
  return live;
}

TEST(SimulatorTest, AgreesWithTheSlowOne) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = random.between(1, 25);
    Problem problem = randomProblem(random, options);
    Plan plan = randomPlan(random, problem);
    ASSERT_EQ(llvm::toString(verify(problem, plan)), "") << "seed " << seed;
    Simulation result = simulate(problem, plan);
    EXPECT_EQ(result.liveBytes, slowLiveBytes(problem, plan)) << "seed " << seed;
    EXPECT_EQ(result.livePeak, *std::max_element(result.liveBytes.begin(), result.liveBytes.end()))
        << "seed " << seed;
    EXPECT_EQ(result.liveBytes[result.peakStep], result.livePeak) << "seed " << seed;
    int64_t cost = 0;
    for (const Step &step : plan.steps)
      cost += problem.operations[step.op].cost;
    EXPECT_EQ(result.cost, cost) << "seed " << seed;
    // No plan undercuts the largest working set.
    problem.alignment = 1;
    EXPECT_LE(workingSetBytes(problem), result.livePeak) << "seed " << seed;
  }
}

TEST(SimulatorTest, LongChain) {
  ProblemBuilder builder;
  ValueIndex value = builder.boundary(1);
  for (int64_t k = 0; k < 100'000; ++k)
    value = k % 3 ? builder.view(value, 1) : builder.reuse(value, {}, 1);
  builder.terminator({value});
  Simulation result = simulateIdentity(builder.problem);
  EXPECT_EQ(result.livePeak, 2);
  EXPECT_EQ(result.storages.size(), 2u);
}

} // namespace
