//===- ProblemTest.cpp - Which problems make sense --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Problem.h"
#include "RandomProblem.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

std::string messageOf(const Problem &problem) { return llvm::toString(check(problem)); }

/// v0 is an argument; op0 computes v1 from it, op1 computes v2 from v1, op2 is
/// the terminator.
class ProblemTest : public ::testing::Test {
protected:
  ProblemTest() {
    builder.boundary(16);
    builder.value({0}, 32);
    builder.value({1}, 64);
    builder.terminator({2});
    problem = builder.problem;
  }
  ProblemBuilder builder;
  Problem problem;
};

TEST_F(ProblemTest, AcceptsGoodProblems) {
  EXPECT_EQ(messageOf(problem), "");
  EXPECT_EQ(messageOf(Problem()), "");
}

TEST_F(ProblemTest, Alignment) {
  const char *message = "expected an alignment that is a power of two up to 1073741824, but got ";
  for (int64_t alignment : {int64_t(0), int64_t(-8), int64_t(24), int64_t(1) << 31,
                            std::numeric_limits<int64_t>::min()}) {
    problem.alignment = alignment;
    EXPECT_EQ(messageOf(problem), message + std::to_string(alignment));
  }
  for (int64_t alignment : {int64_t(1), int64_t(256), int64_t(1) << 30}) {
    problem.alignment = alignment;
    EXPECT_EQ(messageOf(problem), "");
  }
}

TEST_F(ProblemTest, NegativeBytes) {
  problem.values[1].bytes = -1;
  EXPECT_EQ(messageOf(problem), "value 1 ('v1') has a negative size of -1 bytes");
}

TEST_F(ProblemTest, SumOfBytes) {
  const char *message = "value 2 ('v2') brings the sum of all aligned bytes above "
                        "72057594037927936";
  int64_t limit = int64_t(1) << 56;
  problem.values[2].bytes = limit - 16 - 32;
  EXPECT_EQ(messageOf(problem), "");
  ++problem.values[2].bytes;
  EXPECT_EQ(messageOf(problem), message);
  problem.values[2].bytes = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(messageOf(problem), message);
  // Alignment counts.
  problem.values[2].bytes = limit - 1024 - 2048;
  problem.alignment = 1024;
  EXPECT_EQ(messageOf(problem), "");
  problem.alignment = 2048;
  EXPECT_EQ(messageOf(problem), message);
}

TEST_F(ProblemTest, SumOfWorkspaces) {
  problem.operations[1].workspace = (int64_t(1) << 56) - 112;
  EXPECT_EQ(messageOf(problem), "");
  problem.operations[2].workspace = 1;
  EXPECT_EQ(messageOf(problem), "operation 2 ('op2') brings the sum of all aligned bytes above "
                                "72057594037927936");
}

TEST_F(ProblemTest, Producers) {
  problem.values[1].producer = 3;
  EXPECT_EQ(messageOf(problem),
            "value 1 ('v1') names operation 3 as its producer, which does not exist");
  problem.values[1].producer = -2;
  EXPECT_EQ(messageOf(problem),
            "value 1 ('v1') names operation -2 as its producer, which does not exist");
  problem.values[1].producer = kBoundary;
  EXPECT_EQ(messageOf(problem),
            "operation 0 ('op0') writes value 1 ('v1'), whose producer is the boundary");
  problem.values[1].producer = 0;
  problem.operations[0].writes.clear();
  EXPECT_EQ(messageOf(problem),
            "value 1 ('v1') is not among the writes of its producer, operation 0");
}

TEST_F(ProblemTest, Writes) {
  problem.operations[0].writes.push_back(3);
  EXPECT_EQ(messageOf(problem), "operation 0 ('op0') writes value 3, which does not exist");
  problem.operations[0].writes.back() = 2;
  EXPECT_EQ(messageOf(problem),
            "operation 0 ('op0') writes value 2 ('v2'), whose producer is operation 1");
  problem.operations[0].writes.back() = 1;
  EXPECT_EQ(messageOf(problem), "operation 0 ('op0') writes value 1 ('v1') twice");
}

TEST_F(ProblemTest, Sources) {
  Value &value = problem.values[2];
  value.source = 1;
  EXPECT_EQ(messageOf(problem), "value 2 ('v2') has a source, but is neither a view nor a reuse");
  for (Placement placement : {Placement::View, Placement::Reuse}) {
    value.placement = placement;
    value.source = 1;
    EXPECT_EQ(messageOf(problem), "");
    value.source = 0;
    EXPECT_EQ(messageOf(problem),
              "value 2 ('v2') has value 0 as its source, which its producer does not read");
    for (ValueIndex source : {kNoValue, ValueIndex(3)}) {
      value.source = source;
      EXPECT_EQ(messageOf(problem), "value 2 ('v2') names value " + std::to_string(source) +
                                        " as its source, which does not exist");
    }
    problem.values[0].placement = placement;
    EXPECT_EQ(messageOf(problem),
              "value 0 ('v0') is a boundary value, and so can be neither a view nor a reuse");
    problem.values[0].placement = Placement::Own;
  }
}

TEST_F(ProblemTest, Reads) {
  problem.operations[1].reads.push_back(3);
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') reads value 3, which does not exist");
  problem.operations[1].reads.back() = -1;
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') reads value -1, which does not exist");
  problem.operations[1].reads.back() = 2;
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') reads value 2 ('v2') before it is computed");
  problem.operations[1].reads.back() = 1;
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') reads value 1 ('v1') twice");
}

TEST_F(ProblemTest, Dependences) {
  problem.operations[1].dependences.push_back(1);
  EXPECT_EQ(messageOf(problem), "");
  problem.operations[1].dependences.push_back(1);
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') depends on value 1 ('v1') twice");
  problem.operations[1].dependences.back() = 2;
  EXPECT_EQ(messageOf(problem),
            "operation 1 ('op1') depends on value 2 ('v2') before it is computed");
  problem.operations[1].dependences.back() = 3;
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') depends on value 3, which does not exist");
}

TEST_F(ProblemTest, Costs) {
  problem.operations[0].cost = -1;
  EXPECT_EQ(messageOf(problem), "operation 0 ('op0') has a negative cost of -1 picoseconds");
  problem.operations[0].cost = int64_t(1) << 56;
  problem.operations[1].cost = 0;
  EXPECT_EQ(messageOf(problem), "");
  problem.operations[1].cost = 1;
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') brings the sum of all costs above "
                                "72057594037927936 picoseconds");
  problem.operations[1].cost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(messageOf(problem), "operation 1 ('op1') brings the sum of all costs above "
                                "72057594037927936 picoseconds");
}

TEST_F(ProblemTest, NegativeWorkspace) {
  problem.operations[0].workspace = -1;
  EXPECT_EQ(messageOf(problem), "operation 0 ('op0') has a negative workspace of -1 bytes");
}

TEST_F(ProblemTest, Effects) {
  for (Effect effect : {Effect::Ordered, Effect::Pinned}) {
    problem.operations[0].effect = effect;
    problem.operations[0].recomputable = true;
    EXPECT_EQ(messageOf(problem), "operation 0 ('op0') is recomputable, but not pure");
    problem.operations[0].recomputable = false;
    EXPECT_EQ(messageOf(problem), "");
  }
}

TEST_F(ProblemTest, Policies) {
  problem.operations[0].policy = Policy::MustRecompute;
  EXPECT_EQ(messageOf(problem), "");
  problem.operations[0].recomputable = false;
  EXPECT_EQ(messageOf(problem), "operation 0 ('op0') must be recomputed, but is not recomputable");
  problem.operations[0].policy = Policy::MustSave;
  EXPECT_EQ(messageOf(problem), "");
}

// Braces in names are no format.
TEST_F(ProblemTest, Names) {
  problem.values[1].name = "{0}{7}";
  problem.values[1].bytes = -1;
  EXPECT_EQ(messageOf(problem), "value 1 ('{0}{7}') has a negative size of -1 bytes");
}

TEST(RandomProblemTest, PassesCheck) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = random.between(1, 40);
    Problem problem = randomProblem(random, options);
    EXPECT_EQ(messageOf(problem), "") << "seed " << seed;
  }
}

} // namespace
