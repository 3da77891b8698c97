//===- XLAScheduleTest.cpp - Tests of the orders that XLA tries -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/XLASchedule.h"

#include "../Planner/RandomProblem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "gtest/gtest.h"

using namespace mlir::remat;
using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

enum Preference { kFreeing, kManyReaders, kAsWritten };

OperationOrder order(const Problem &problem, Preference preference) {
  return listXLAOrders(problem)[preference];
}

/// Two gradients of weights that free what was kept for them, beside a chain that goes on.
/// Operations: 0 kept, 1 gradient, 2 of weights, 3 chain, 4 of weights, 5 end.
Problem backward() {
  ProblemBuilder builder;
  ValueIndex input = builder.boundary(8);
  ValueIndex kept = builder.value({input}, 100);
  ValueIndex gradient = builder.value({kept}, 100);
  ValueIndex first = builder.value({kept, gradient}, 1);
  ValueIndex chain = builder.value({gradient}, 100);
  ValueIndex second = builder.value({chain}, 1);
  builder.terminator({second, first});
  return builder.problem;
}

TEST(XLAScheduleTest, FreesFirst) {
  // Behind the gradient, 3 takes 100 bytes and frees none, 2 takes one and frees 100.
  EXPECT_EQ(order(backward(), kFreeing), OperationOrder({0, 1, 2, 3, 4, 5}));
}

TEST(XLAScheduleTest, FollowsOperandsAsWritten) {
  // The end reads 4 before 2, which is put off until then.
  EXPECT_EQ(order(backward(), kAsWritten), OperationOrder({0, 1, 3, 4, 2, 5}));
}

TEST(XLAScheduleTest, FollowsOperandsWithManyReaders) {
  // 2 reads 0 and 1, which have another reader each, and 1 reads 0 again: 3 in all. 4 reads
  // 1 by way of 3: 2.
  EXPECT_EQ(order(backward(), kManyReaders), OperationOrder({0, 1, 2, 3, 4, 5}));
}

TEST(XLAScheduleTest, KeepsEffectsInOrderAndTheEndLast) {
  ProblemBuilder builder;
  ValueIndex large = builder.value({}, 1000);
  builder.setEffect(0, Effect::Ordered);
  ValueIndex small = builder.value({}, 1);
  builder.setEffect(1, Effect::Ordered);
  builder.terminator({small, large});
  for (const OperationOrder &each : listXLAOrders(builder.problem))
    EXPECT_EQ(each, OperationOrder({0, 1, 2}));
}

/// Depth first by recursion.
void visit(const Problem &problem, OpIndex op, llvm::SetVector<OpIndex> &visited) {
  const Operation &operation = problem.operations[op];
  for (const auto &values :
       {llvm::ArrayRef(operation.reads), llvm::ArrayRef(operation.dependences)})
    for (ValueIndex value : values)
      if (OpIndex producer = problem.values[value].producer;
          producer != kBoundary && !visited.contains(producer))
        visit(problem, producer, visited);
  if (operation.effect != Effect::Pure)
    for (OpIndex before = op - 1; before >= 0; --before)
      if (problem.operations[before].effect != Effect::Pure) {
        if (!visited.contains(before))
          visit(problem, before, visited);
        break;
      }
  visited.insert(op);
}

OperationOrder orderByRecursion(const Problem &problem) {
  std::vector<bool> isRead(problem.operations.size());
  for (const Operation &operation : problem.operations)
    for (const auto &values :
         {llvm::ArrayRef(operation.reads), llvm::ArrayRef(operation.dependences)})
      for (ValueIndex value : values)
        if (OpIndex producer = problem.values[value].producer; producer != kBoundary)
          isRead[producer] = true;
  llvm::SetVector<OpIndex> visited;
  for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op)
    if (!isRead[op] && !visited.contains(op))
      visit(problem, op, visited);
  OperationOrder order(visited.begin(), visited.end());
  order.erase(llvm::find(order, OpIndex(problem.operations.size()) - 1));
  order.push_back(problem.operations.size() - 1);
  return order;
}

/// Bytes that `op` frees more than it takes, when `done` are, counted from nothing.
int64_t countFreed(const Problem &problem, OpIndex op, const std::vector<bool> &done) {
  auto getBuffer = [&](ValueIndex value) {
    while (problem.values[value].placement == Placement::View)
      value = problem.values[value].source;
    bool isBuffer = problem.values[value].producer != kBoundary &&
                    problem.values[value].placement != Placement::None;
    return isBuffer ? value : kNoValue;
  };
  int64_t freed = 0;
  for (ValueIndex value : problem.operations[op].writes)
    if (getBuffer(value) == value)
      freed -= problem.values[value].bytes;
  llvm::SetVector<ValueIndex> buffers;
  for (ValueIndex value : problem.operations[op].reads)
    buffers.insert(getBuffer(value));
  for (ValueIndex buffer : buffers) {
    bool isReadLater = buffer == kNoValue;
    for (auto [index, other] : llvm::enumerate(problem.operations))
      isReadLater |=
          !done[index] && OpIndex(index) != op &&
          llvm::any_of(other.reads, [&](ValueIndex v) { return getBuffer(v) == buffer; });
    if (!isReadLater)
      freed += problem.values[buffer].bytes;
  }
  return freed;
}

/// Operations whose operands are done, and operations with effects in front of them.
std::vector<OpIndex> listReady(const Problem &problem, const std::vector<bool> &done) {
  std::vector<OpIndex> ready;
  bool isEffectWaiting = false;
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    auto isMissing = [&](ValueIndex value) {
      OpIndex producer = problem.values[value].producer;
      return producer != kBoundary && !done[producer];
    };
    bool hasEffect = operation.effect != Effect::Pure;
    if (!done[index] && llvm::none_of(operation.reads, isMissing) &&
        llvm::none_of(operation.dependences, isMissing) && !(hasEffect && isEffectWaiting))
      ready.push_back(index);
    isEffectWaiting |= hasEffect && !done[index];
  }
  return ready;
}

TEST(XLAScheduleTest, RandomProblems) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Problem problem = randomProblem(random, RandomProblemOptions::any(random));
    EXPECT_EQ(order(problem, kAsWritten), orderByRecursion(problem));
    std::vector<bool> done(problem.operations.size());
    OpIndex end = problem.operations.size() - 1;
    for (OpIndex op : order(problem, kFreeing)) {
      std::vector<OpIndex> ready = listReady(problem, done);
      ASSERT_TRUE(llvm::is_contained(ready, op));
      for (OpIndex other : ready)
        if (op != end && other != end) {
          ASSERT_GE(countFreed(problem, op, done), countFreed(problem, other, done));
        }
      done[op] = true;
    }
    EXPECT_EQ(llvm::count(done, false), 0);
    std::vector<bool> placed(problem.operations.size());
    for (OpIndex op : order(problem, kManyReaders)) {
      EXPECT_TRUE(llvm::is_contained(listReady(problem, placed), op));
      placed[op] = true;
    }
    EXPECT_EQ(llvm::count(placed, false), 0);
  }
}

} // namespace
