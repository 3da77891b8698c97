//===- ScheduleTest.cpp - Random walks through schedules --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Edits schedules of random problems at random, and compares everything that a
// schedule says about itself with a count from nothing but its nodes and reads,
// and with the plan that is written from it.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "Greedy.h"
#include "NodeMoves.h"
#include "RandomProblem.h"
#include "Remat/Planner/Simulator.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

/// What is known about a state of the log.
struct Moment {
  int64_t state;
  int64_t peak;
  int64_t cost;
  std::string plan;
};

class Walk {
public:
  Walk(const Problem &problem, bool reorder, uint64_t seed)
      : problem(problem), graph(problem, /*minBytes=*/0), schedule(problem, graph, reorder),
        gaps(problem, graph, schedule, reorder), nodes(problem, graph, schedule, reorder),
        reorder(reorder), isAnythingAwaitable(canWaitForAnything(problem)), random(seed) {}

  /// Moves made of each kind, so that a test can tell that it did something.
  int64_t numClosed = 0, numTakenBack = 0, numRelocated = 0, numShifted = 0, numRestored = 0,
          numForgotten = 0, numCompacted = 0, numPeaksCompared = 0, numFixedReads = 0;

  void run(int64_t numSteps) {
    for (int64_t i = 0; i < numSteps; ++i) {
      step();
      checkBooks();
      if (i % 8 == 0)
        checkPlan();
      if (::testing::Test::HasFailure())
        return;
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  void step() {
    int64_t kind = random.below(100);
    if (kind < 40)
      numClosed += closeGap();
    else if (kind < 55)
      numTakenBack += takeBack();
    else if (kind < 70)
      numRelocated += relocate();
    else if (kind < 78)
      numShifted += shift();
    else if (kind < 80)
      schedule.removeUnread();
    else if (kind < 86)
      note();
    else if (kind < 94)
      restore();
    else if (kind < 97)
      forgetUndone();
    else if (kind < 98)
      takeSnapshot();
    else
      compact();
  }

  std::vector<NodeIndex> listNodes() const {
    std::vector<NodeIndex> list;
    for (int64_t slot = 0; slot < schedule.getNumSlots(); ++slot)
      for (NodeIndex node : schedule.getNodes(slot))
        list.push_back(node);
    return list;
  }

  bool closeGap() {
    std::vector<Gap> all;
    for (InstanceIndex instance = 0; instance < schedule.getNumInstances(); ++instance)
      gaps.forEachGap(instance, [&](const Gap &gap) { all.push_back(gap); });
    if (all.empty())
      return false;
    Gap gap = all[random.below(all.size())];
    EXPECT_TRUE(gaps.isValid(gap));
    std::vector<NodeIndex> inside;
    for (NodeIndex node : listNodes())
      if (schedule.isBefore(gap.previous, node) && schedule.isBefore(node, gap.next))
        inside.push_back(node);
    if (inside.empty())
      return false;
    NodeIndex node = inside[random.below(inside.size())];
    std::optional<Closure> closure;
    if (random.chance(30))
      closure = gaps.findClosure(gap, node);
    else
      closure = gaps.findClosure(
          gap, node,
          {[&] { return random.chance(50); }, random.chance(50), size_t(1) << random.below(7)});
    if (!closure)
      return false;
    gaps.apply(gap, *closure);
    return true;
  }

  NodeIndex drawNode() {
    std::vector<NodeIndex> list = listNodes();
    return list.empty() ? kNone : list[random.below(list.size())];
  }

  NodeIndex drawClone() {
    std::vector<NodeIndex> clones;
    for (NodeIndex node : listNodes())
      if (schedule.getNode(node).isClone)
        clones.push_back(node);
    return clones.empty() ? kNone : clones[random.below(clones.size())];
  }

  /// A move that says that it did nothing has logged nothing.
  template <typename Fn>
  bool attempt(Fn move) {
    int64_t state = schedule.getState();
    bool isMade = move();
    if (!isMade) {
      EXPECT_EQ(schedule.getState(), state);
    }
    return isMade;
  }

  bool takeBack() {
    NodeIndex clone = drawClone();
    if (clone == kNone)
      return false;
    int64_t cost = schedule.getCost();
    bool isMade = attempt([&] { return gaps.takeBack(clone); });
    if (isMade) {
      EXPECT_LE(schedule.getCost(), cost);
      EXPECT_EQ(schedule.getNode(clone).slot, kNone);
    }
    return isMade;
  }

  bool relocate() {
    NodeIndex node = drawNode(), before = drawNode();
    if (node == kNone)
      return false;
    if (random.chance(50))
      before = nodes.getFirstReader(node);
    else if (NodeIndex source = nodes.getLastSource(node); source != kNone && random.chance(50))
      before = nodes.getNext(source);
    int64_t cost = schedule.getCost();
    bool isMade = attempt([&] { return nodes.relocate(node, before); });
    EXPECT_EQ(schedule.getCost(), cost);
    return isMade;
  }

  bool shift() {
    NodeIndex clone = drawClone();
    if (clone == kNone)
      return false;
    return random.chance(50) ? attempt([&] { return nodes.serveEarlier(clone); })
                             : attempt([&] { return nodes.serveLater(clone); });
  }

  //===--------------------------------------------------------------------===//
  // Going back
  //===--------------------------------------------------------------------===//

  Moment getMoment() {
    return {schedule.getState(), schedule.getPeak(), schedule.getCost(), toText(schedule.toPlan())};
  }

  void expectMoment(const Moment &moment) {
    EXPECT_EQ(schedule.getState(), moment.state);
    EXPECT_EQ(schedule.getPeak(), moment.peak);
    EXPECT_EQ(schedule.getCost(), moment.cost);
    EXPECT_EQ(toText(schedule.toPlan()), moment.plan);
  }

  void note() { moments.push_back(getMoment()); }

  /// Goes to an earlier state, and perhaps forward again to where it was.
  void restore() {
    if (moments.empty())
      return;
    Moment now = getMoment(), earlier = moments[random.below(moments.size())];
    schedule.restore(earlier.state);
    expectMoment(earlier);
    checkBooks();
    ++numRestored;
    if (random.chance(50)) {
      schedule.restore(now.state);
      expectMoment(now);
    } else {
      schedule.forgetUndone();
      expectMoment(earlier);
      while (moments.back().state > earlier.state)
        moments.pop_back();
      ++numForgotten;
    }
  }

  /// Makes some moves and takes them back for good: nodes that they made are gone.
  void forgetUndone() {
    Moment now = getMoment();
    int64_t numKnown = schedule.getNumKnownNodes(), numInstances = schedule.getNumInstances();
    for (int64_t i = random.below(4); i >= 0; --i) {
      closeGap();
      shift();
      takeBack();
    }
    schedule.restore(now.state);
    schedule.forgetUndone();
    expectMoment(now);
    EXPECT_EQ(schedule.getNumKnownNodes(), numKnown);
    EXPECT_EQ(schedule.getNumInstances(), numInstances);
    ++numForgotten;
  }

  void takeSnapshot() {
    Moment now = getMoment();
    Schedule copy = schedule.snapshot();
    expectMoment(now);
    EXPECT_EQ(copy.getState(), 0);
    EXPECT_EQ(copy.getPeak(), now.peak);
    EXPECT_EQ(copy.getCost(), now.cost);
    EXPECT_EQ(toText(copy.toPlan()), now.plan);
    copy.compact();
    EXPECT_EQ(toText(copy.toPlan()), now.plan);
    expectMoment(now);
  }

  void compact() {
    Moment now = getMoment();
    int64_t numNodes = schedule.getNumNodes();
    schedule.compact();
    now.state = 0;
    expectMoment(now);
    EXPECT_EQ(schedule.getNumNodes(), numNodes);
    EXPECT_EQ(schedule.getNumSlots(), numNodes);
    moments.clear();
    ++numCompacted;
  }

  //===--------------------------------------------------------------------===//
  // Checks
  //===--------------------------------------------------------------------===//

  int64_t bytesOf(InstanceIndex instance) const {
    return graph.roots[schedule.getInstance(instance).root].bytes;
  }

  /// Readers, order and live bytes, counted from the reads of the nodes.
  void checkBooks() {
    std::vector<NodeIndex> order = listNodes();
    ASSERT_EQ(schedule.getNumNodes(), int64_t(order.size()));
    std::vector<int64_t> positionOf(schedule.getNumKnownNodes(), -1);
    std::vector<std::vector<NodeIndex>> readers(schedule.getNumInstances());
    int64_t cost = 0;
    for (auto [index, node] : llvm::enumerate(order)) {
      int64_t position = index;
      const Schedule::Node &info = schedule.getNode(node);
      positionOf[node] = position;
      ASSERT_EQ(schedule.getNodes(info.slot)[info.position], node);
      ASSERT_TRUE(position == 0 || schedule.isBefore(order[position - 1], node));
      cost += info.operation == kNone ? graph.units[info.unit].cost
                                      : problem.operations[info.operation].cost;
      checkFixedReads(info);
      for (InstanceIndex read : info.reads) {
        NodeIndex definition = schedule.getInstance(read).definition;
        ASSERT_GE(positionOf[definition], 0) << "reads what is not in the schedule before it";
        readers[read].push_back(node);
      }
    }
    EXPECT_EQ(schedule.getCost(), cost);

    std::vector<InstanceIndex> present;
    for (InstanceIndex instance = 0; instance < schedule.getNumInstances(); ++instance) {
      const Schedule::Instance &info = schedule.getInstance(instance);
      ASSERT_EQ(std::vector<NodeIndex>(info.uses.begin(), info.uses.end()), readers[instance]);
      bool isPresent = schedule.getNode(info.definition).slot != kNone;
      ASSERT_EQ(llvm::is_contained(schedule.getInstances(info.root), instance), isPresent);
      if (isPresent)
        present.push_back(instance);
    }
    for (RootIndex root = 0; root < RootIndex(graph.roots.size()); ++root) {
      llvm::ArrayRef<InstanceIndex> list = schedule.getInstances(root);
      for (size_t i = 1; i < list.size(); ++i)
        ASSERT_TRUE(schedule.isBefore(schedule.getInstance(list[i - 1]).definition,
                                      schedule.getInstance(list[i]).definition));
    }
    checkMemory(order, positionOf, present);
  }

  /// What is read through a fixed view is what passed it.
  void checkFixedReads(const Schedule::Node &node) {
    llvm::ArrayRef<RootRead> reads = node.operation == kNone
                                         ? llvm::ArrayRef(graph.units[node.unit].reads)
                                         : llvm::ArrayRef(graph.readsOf[node.operation]);
    for (auto [read, instance] : llvm::zip(reads, node.reads)) {
      if (!read.isFixed)
        continue;
      const auto &shown = schedule.getNode(graph.roots[read.root].firstFixedView).reads;
      EXPECT_TRUE(llvm::is_contained(shown, instance));
      ++numFixedReads;
    }
  }

  void checkMemory(llvm::ArrayRef<NodeIndex> order, llvm::ArrayRef<int64_t> positionOf,
                   llvm::ArrayRef<InstanceIndex> present) {
    std::vector<int64_t> bytes(schedule.getNumSlots(), 0);
    for (int64_t slot = 0; slot < schedule.getNumSlots(); ++slot)
      if (schedule.getNodes(slot).empty())
        for (InstanceIndex instance : present)
          if (schedule.getNode(schedule.getInstance(instance).definition).slot < slot &&
              slot < schedule.getNode(schedule.getEnd(instance)).slot)
            bytes[slot] += bytesOf(instance);
    for (int64_t position = 0, e = order.size(); position < e; ++position) {
      const Schedule::Node &info = schedule.getNode(order[position]);
      int64_t live = info.operation == kNone
                         ? graph.units[info.unit].workspace
                         : align(problem.operations[info.operation].workspace, problem.alignment);
      auto endsHere = [&](InstanceIndex instance) {
        return positionOf[schedule.getEnd(instance)] == position;
      };
      for (InstanceIndex instance : present)
        if (positionOf[schedule.getInstance(instance).definition] <= position &&
            position <= positionOf[schedule.getEnd(instance)])
          live += bytesOf(instance);
      // A result in the place of an operand that nobody reads later.
      for (InstanceIndex output : info.outputs) {
        RootIndex destination = graph.roots[schedule.getInstance(output).root].destination;
        if (llvm::any_of(info.reads, [&](InstanceIndex read) {
              return schedule.getInstance(read).root == destination && endsHere(read);
            }))
          live -= bytesOf(output);
      }
      bytes[info.slot] = std::max(bytes[info.slot], live);
    }
    int64_t peak = 0;
    for (int64_t slot = 0; slot < schedule.getNumSlots(); ++slot) {
      ASSERT_EQ(schedule.getBytes(slot), bytes[slot]) << "slot " << slot;
      peak = std::max(peak, bytes[slot]);
    }
    ASSERT_EQ(schedule.getPeak(), peak);
    int64_t threshold = random.between(-1, peak + 1);
    __int128 excess = 0;
    for (int64_t slotBytes : bytes)
      excess += std::max<int64_t>(slotBytes - threshold, 0);
    ASSERT_TRUE(schedule.getExcess(threshold) == excess);
    if (!bytes.empty()) {
      int64_t first = random.below(bytes.size()), last = random.between(first, bytes.size() - 1);
      ASSERT_EQ(schedule.getMaximum(first, last),
                *std::max_element(bytes.begin() + first, bytes.begin() + last + 1));
    }
  }

  /// The plan is a plan, and takes no more than the schedule says.
  void checkPlan() {
    Plan plan = schedule.toPlan();
    ASSERT_EQ(llvm::toString(verify(problem, plan)), "");
    Simulation simulation = simulate(problem, plan);
    if (isAnythingAwaitable) {
      EXPECT_LE(simulation.livePeak, schedule.getPeak() + graph.boundaryBytes);
      ++numPeaksCompared;
    }
    EXPECT_EQ(simulation.cost, schedule.getCost());
    if (reorder)
      return;
    OpIndex last = -1;
    for (const Step &step : plan.steps) {
      if (step.isClone)
        continue;
      EXPECT_GT(step.op, last);
      last = step.op;
    }
  }

  const Problem &problem;
  StorageGraph graph;
  Schedule schedule;
  GapMoves gaps;
  NodeMoves nodes;
  bool reorder, isAnythingAwaitable;
  Random random;
  /// States of the log that are still there, in order.
  std::vector<Moment> moments;
};

TEST(ScheduleTest, RandomWalksKeepTheBooks) {
  int64_t numClosed = 0, numTakenBack = 0, numRelocated = 0, numShifted = 0, numRestored = 0,
          numForgotten = 0, numCompacted = 0, numPeaksCompared = 0, numFixedReads = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.shape = seed % 2 ? Shape::Training : Shape::Mixed;
    options.numOperations = random.between(1, 40);
    Problem problem = randomProblem(random, options);
    ASSERT_FALSE(llvm::errorToBool(check(problem)));
    Walk walk(problem, /*reorder=*/seed % 3 != 0, seed);
    walk.run(200);
    if (HasFailure())
      return;
    numClosed += walk.numClosed;
    numTakenBack += walk.numTakenBack;
    numRelocated += walk.numRelocated;
    numShifted += walk.numShifted;
    numRestored += walk.numRestored;
    numForgotten += walk.numForgotten;
    numCompacted += walk.numCompacted;
    numPeaksCompared += walk.numPeaksCompared;
    numFixedReads += walk.numFixedReads;
  }
  // All kinds of moves were made, many times.
  EXPECT_GT(numClosed, 3000);
  EXPECT_GT(numTakenBack, 500);
  EXPECT_GT(numRelocated, 500);
  EXPECT_GT(numShifted, 50);
  EXPECT_GT(numRestored, 500);
  EXPECT_GT(numForgotten, 500);
  EXPECT_GT(numCompacted, 300);
  EXPECT_GT(numPeaksCompared, 500);
  EXPECT_GT(numFixedReads, 500);
}

TEST(ScheduleTest, UnchangedIsTheIdentity) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = 20;
    Problem problem = randomProblem(random, options);
    StorageGraph graph(problem, 0);
    Schedule schedule(problem, graph, /*reorder=*/true);
    Simulation identity = simulate(problem, identityPlan(problem));
    EXPECT_EQ(schedule.getCost(), identity.cost) << "seed " << seed;
    EXPECT_GE(schedule.getPeak() + graph.boundaryBytes, identity.livePeak) << "seed " << seed;
    EXPECT_EQ(schedule.getState(), 0);
  }
}

TEST(ScheduleTest, NothingAtAll) {
  Problem problem;
  StorageGraph graph(problem, 0);
  Schedule schedule(problem, graph, /*reorder=*/true);
  schedule.compact();
  EXPECT_EQ(schedule.getPeak(), 0);
  EXPECT_EQ(schedule.getPeakPlace().node, kNone);
  EXPECT_TRUE(schedule.getExcess(-1) == 0 || schedule.getNumSlots() == 0);
  EXPECT_TRUE(schedule.toPlan().steps.empty());
}

} // namespace
