//===- SerializationTest.cpp - Problems and plans as text -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Serialization.h"
#include "RandomProblem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

template <typename T>
std::string textOf(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", toJSON(value));
  return text;
}

template <typename T>
std::string messageOf(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}

std::string problemError(llvm::StringRef text) { return messageOf(parseProblem(text)); }

/// An argument, two operations, and the terminator.
Problem smallProblem() {
  ProblemBuilder builder;
  ValueIndex x = builder.boundary(16);
  ValueIndex a = builder.value({x}, 32);
  ValueIndex b = builder.value({a, x}, 8);
  builder.terminator({b});
  return builder.problem;
}

std::string planError(llvm::StringRef text) { return messageOf(parsePlan(text, smallProblem())); }

TEST(SerializationTest, ProblemAsText) {
  ProblemBuilder builder;
  builder.problem.alignment = 64;
  ValueIndex x = builder.boundary(16);
  ValueIndex v = builder.view(x, 16, 7);
  builder.last().dependences.push_back(x);
  builder.last().workspace = 5;
  builder.last().policy = Policy::MustSave;
  builder.problem.values[v].name = "";
  builder.terminator({v});
  std::string text = textOf(builder.problem);
  EXPECT_EQ(text, R"({
  "alignment": 64,
  "operations": [
    {
      "cost": 7,
      "dependences": [
        0
      ],
      "name": "op0",
      "policy": "must_save",
      "reads": [
        0
      ],
      "workspace": 5,
      "writes": [
        1
      ]
    },
    {
      "cost": 0,
      "effect": "pinned",
      "name": "op1",
      "reads": [
        1
      ]
    }
  ],
  "values": [
    {
      "bytes": 16,
      "name": "v0"
    },
    {
      "bytes": 16,
      "placement": "view",
      "source": 0
    }
  ],
  "version": 1
})");
  llvm::Expected<Problem> problem = parseProblem(text);
  ASSERT_TRUE(bool(problem));
  EXPECT_EQ(problem->values[1].producer, 0);
  EXPECT_FALSE(problem->operations[1].recomputable);
  EXPECT_EQ(textOf(*problem), text);
}

TEST(SerializationTest, RoundTrip) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = random.between(1, 25);
    Problem problem = randomProblem(random, options);
    Plan plan = randomPlan(random, problem);

    llvm::Expected<Problem> parsed = parseProblem(textOf(problem));
    ASSERT_TRUE(bool(parsed)) << "seed " << seed << llvm::toString(parsed.takeError());
    EXPECT_EQ(textOf(*parsed), textOf(problem)) << "seed " << seed;
    EXPECT_EQ(parsed->alignment, problem.alignment);
    for (auto [a, b] : llvm::zip_equal(parsed->operations, problem.operations)) {
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.reads, b.reads);
      EXPECT_EQ(a.dependences, b.dependences);
      EXPECT_EQ(a.writes, b.writes);
      EXPECT_EQ(a.cost, b.cost);
      EXPECT_EQ(a.workspace, b.workspace);
      EXPECT_EQ(a.effect, b.effect);
      EXPECT_EQ(a.recomputable, b.recomputable);
      EXPECT_EQ(a.policy, b.policy);
    }
    for (auto [a, b] : llvm::zip_equal(parsed->values, problem.values)) {
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(a.placement, b.placement);
      EXPECT_EQ(a.source, b.source);
      EXPECT_EQ(a.producer, b.producer);
    }

    llvm::Expected<Plan> parsedPlan = parsePlan(textOf(plan), problem);
    ASSERT_TRUE(bool(parsedPlan)) << "seed " << seed << llvm::toString(parsedPlan.takeError());
    EXPECT_EQ(textOf(*parsedPlan), textOf(plan)) << "seed " << seed;
    for (auto [a, b] : llvm::zip_equal(parsedPlan->steps, plan.steps)) {
      EXPECT_EQ(a.op, b.op);
      EXPECT_EQ(a.isClone, b.isClone);
      EXPECT_EQ(a.reads, b.reads);
      EXPECT_EQ(a.dependences, b.dependences);
    }
    for (auto [a, b] : llvm::zip_equal(parsedPlan->regions, plan.regions)) {
      EXPECT_EQ(a.begin, b.begin);
      EXPECT_EQ(a.end, b.end);
      EXPECT_EQ(a.after.value, b.after.value);
      EXPECT_EQ(a.after.step, b.after.step);
    }
  }
}

TEST(SerializationTest, LargeNumbers) {
  Problem problem = smallProblem();
  problem.values[1].bytes = (int64_t(1) << 55) + 1;
  problem.operations[0].cost = (int64_t(1) << 55) + 1;
  llvm::Expected<Problem> parsed = parseProblem(textOf(problem));
  ASSERT_TRUE(bool(parsed));
  EXPECT_EQ(parsed->values[1].bytes, problem.values[1].bytes);
  EXPECT_EQ(parsed->operations[0].cost, problem.operations[0].cost);
}

TEST(SerializationTest, NamesThatAreNotUTF8) {
  Problem problem = smallProblem();
  problem.operations[0].name = "a\xff\"b";
  llvm::Expected<Problem> parsed = parseProblem(textOf(problem));
  ASSERT_TRUE(bool(parsed));
  EXPECT_EQ(parsed->operations[0].name, "a\xef\xbf\xbd\"b");
}

TEST(SerializationTest, NotJSON) {
  EXPECT_EQ(problemError(""), "[1:0, byte=0]: Unexpected EOF");
  EXPECT_EQ(problemError("{\n  \"version\" 1}"), "[2:13, byte=15]: Expected : after object key");
  EXPECT_EQ(problemError("\xff"), "[1:0, byte=0]: Invalid UTF-8 sequence");
  EXPECT_EQ(problemError(std::string(1'000'000, '[')), "brackets are nested more than 16 deep");
  std::string deep;
  for (int64_t k = 0; k < 100'000; ++k)
    deep += "{\"a\":";
  EXPECT_EQ(problemError(deep), "brackets are nested more than 16 deep");
  // Brackets in strings do not count.
  EXPECT_EQ(problemError("\"\\\"" + std::string(100, '[') + "\""),
            "expected an object, but got a string");
}

TEST(SerializationTest, Versions) {
  EXPECT_EQ(problemError("[]"), "expected an object, but got an array");
  EXPECT_EQ(problemError("{}"), "missing key 'version'");
  EXPECT_EQ(problemError(R"({"version": 2, "values": [], "operations": []})"),
            "version: expected 1, but got 2");
  EXPECT_EQ(problemError(R"({"version": "1"})"), "version: expected an integer, but got a string");
  EXPECT_EQ(problemError(R"({"version": 1})"), "missing key 'values'");
  EXPECT_EQ(problemError(R"({"version": 1, "values": []})"), "missing key 'operations'");
  EXPECT_EQ(problemError(R"({"version": 1, "values": [], "operations": []})"), "");
  EXPECT_EQ(planError(R"({"version": 1})"), "missing key 'steps'");
  EXPECT_EQ(planError(R"({"version": 0, "steps": []})"), "version: expected 1, but got 0");
}

TEST(SerializationTest, UnknownKeys) {
  EXPECT_EQ(problemError(R"({"version": 1, "values": [], "operations": [], "z": 1, "budget": 2})"),
            "unknown key 'budget'");
  EXPECT_EQ(problemError(R"({"version": 1, "values": [{"bytes": 1, "size": 1}],
                             "operations": []})"),
            "values[0]: unknown key 'size'");
  EXPECT_EQ(problemError(R"({"version": 1, "values": [],
                             "operations": [{"cost": 1}, {"cost": 1, "": 0}]})"),
            "operations[1]: unknown key ''");
  EXPECT_EQ(planError(R"({"version": 1, "steps": [{"op": 0, "kind": 1}]})"),
            "steps[0]: unknown key 'kind'");
  EXPECT_EQ(planError(R"({"version": 1, "steps": [],
                          "regions": [{"begin": 0, "end": 1,
                                       "after": {"value": 0, "step": 0, "x": 0}}]})"),
            "regions[0].after: unknown key 'x'");
}

TEST(SerializationTest, WrongTypes) {
  auto withValue = [](llvm::StringRef value) {
    return problemError((R"({"version": 1, "operations": [], "values": [)" + value + "]}").str());
  };
  EXPECT_EQ(withValue("3"), "values[0]: expected an object, but got a number");
  EXPECT_EQ(withValue("null"), "values[0]: expected an object, but got null");
  EXPECT_EQ(withValue("{}"), "values[0]: missing key 'bytes'");
  EXPECT_EQ(withValue(R"({"bytes": 1.5})"), "values[0].bytes: expected an integer, but got "
                                            "a number that is not a 64-bit integer");
  EXPECT_EQ(withValue(R"({"bytes": 9223372036854775808})"),
            "values[0].bytes: expected an integer, but got "
            "a number that is not a 64-bit integer");
  EXPECT_EQ(withValue(R"({"bytes": 1e400})"), "values[0].bytes: expected an integer, but got "
                                              "a number that is not a 64-bit integer");
  EXPECT_EQ(withValue(R"({"bytes": true})"),
            "values[0].bytes: expected an integer, but got a boolean");
  EXPECT_EQ(withValue(R"({"bytes": 1, "name": 1})"),
            "values[0].name: expected a string, but got a number");
  EXPECT_EQ(withValue(R"({"bytes": 1, "placement": "alias"})"),
            "values[0].placement: expected one of 'own', 'view', 'reuse', 'none', "
            "but got 'alias'");
  EXPECT_EQ(withValue(R"({"bytes": 1, "placement": {}})"),
            "values[0].placement: expected a string, but got an object");

  auto withOperation = [](llvm::StringRef op) {
    return problemError((R"({"version": 1, "values": [], "operations": [)" + op + "]}").str());
  };
  EXPECT_EQ(withOperation("{}"), "operations[0]: missing key 'cost'");
  EXPECT_EQ(withOperation(R"({"cost": 1, "reads": 0})"),
            "operations[0].reads: expected an array, but got a number");
  EXPECT_EQ(withOperation(R"({"cost": 1, "writes": [0, "x"]})"),
            "operations[0].writes[1]: expected an integer, but got a string");
  EXPECT_EQ(withOperation(R"({"cost": 1, "recomputable": 0})"),
            "operations[0].recomputable: expected a boolean, but got a number");
  EXPECT_EQ(withOperation(R"({"cost": 1, "effect": "io"})"),
            "operations[0].effect: expected one of 'pure', 'ordered', 'pinned', but got 'io'");
  EXPECT_EQ(withOperation(R"({"cost": 1, "policy": ""})"),
            "operations[0].policy: expected one of 'none', 'must_save', 'must_recompute', "
            "but got ''");
  EXPECT_EQ(problemError(R"({"version": 1, "values": {}, "operations": []})"),
            "values: expected an array, but got an object");
}

// What has the right form is checked, too.
TEST(SerializationTest, BadProblems) {
  EXPECT_EQ(problemError(R"({"version": 1, "values": [{"bytes": -4}], "operations": []})"),
            "value 0 ('') has a negative size of -4 bytes");
  EXPECT_EQ(problemError(R"({"version": 1, "values": [{"bytes": 1}],
                             "operations": [{"cost": 1, "writes": [0]},
                                            {"cost": 1, "writes": [0]}]})"),
            "operation 1 ('') writes value 0 (''), whose producer is operation 0");
  EXPECT_EQ(problemError(R"({"version": 1, "values": [],
                             "operations": [{"cost": 1, "writes": [9223372036854775807]}]})"),
            "operation 0 ('') writes value 9223372036854775807, which does not exist");
}

TEST(SerializationTest, BadPlans) {
  EXPECT_EQ(planError(textOf(identityPlan(smallProblem()))), "");
  EXPECT_EQ(planError(R"({"version": 1, "steps": [{"op": 7}]})"),
            "step 0 executes operation 7, which does not exist");
  EXPECT_EQ(planError(R"({"version": 1, "steps": [{"op": 0, "clone": 1}]})"),
            "steps[0].clone: expected a boolean, but got a number");
  EXPECT_EQ(planError(R"({"version": 1, "steps": [],
                          "regions": [{"begin": -9223372036854775808, "end": 1}]})"),
            "operation 2 ('op2') has effects, but is not executed");
  EXPECT_EQ(planError(R"({"version": 1, "steps": [{"op": 2, "reads": [9223372036854775807]}]})"),
            "step 0 ('op2') reads value 2 ('v2') from step 9223372036854775807, "
            "which does not exist");
}

// Flips, drops and doubles bytes: never a crash.
TEST(SerializationTest, Mutations) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = random.between(1, 6);
    Problem problem = randomProblem(random, options);
    std::string problemText = textOf(problem), planText = textOf(randomPlan(random, problem));
    for (std::string *text : {&problemText, &planText})
      for (int64_t k = random.between(1, 4); k > 0; --k) {
        size_t position = random.below(text->size());
        switch (random.below(3)) {
        case 0:
          (*text)[position] = "0123456789-.,:[]{}\"\\ e"[random.below(22)];
          break;
        case 1:
          text->erase(position, random.between(1, 5));
          break;
        default:
          text->insert(position, text->substr(random.below(text->size()), 8));
        }
      }
    llvm::Expected<Problem> parsed = parseProblem(problemText);
    llvm::Expected<Plan> plan = parsePlan(planText, problem);
    if (plan)
      EXPECT_GE(simulate(problem, *plan).livePeak, 0) << "seed " << seed;
    else
      llvm::consumeError(plan.takeError());
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      continue;
    }
    EXPECT_EQ(llvm::toString(verify(*parsed, identityPlan(*parsed))), "") << "seed " << seed;
  }
}

TEST(SerializationTest, Print) {
  ProblemBuilder builder;
  ValueIndex x = builder.boundary(16);
  ValueIndex a = builder.value({x}, 32);
  ValueIndex b = builder.value({a}, 8);
  ValueIndex c = builder.value({b, a}, 8);
  builder.terminator({c});
  builder.problem.values[b].name = "";
  builder.problem.operations[2].name = "";
  Plan plan = identityPlan(builder.problem);
  Step clone = plan.steps[0];
  clone.isClone = true;
  plan.steps.insert(plan.steps.begin() + 2, clone);
  plan.steps[3].reads = {1, 2};
  plan.steps[4].reads = {3};
  assignRegions(builder.problem, plan);
  std::string text;
  llvm::raw_string_ostream os(text);
  print(builder.problem, plan, os);
  EXPECT_EQ(text, R"(0: op0(v0) -> v1, live 48 bytes
1: op1(v1@0) -> %2, live 56 bytes
region of 1 steps after %2@1
2: clone op0(v0) -> v1, live 56 bytes
3: op2(%2@1, v1@2) -> v3, live 64 bytes
4: op3(v3@3), live 24 bytes
peak 64 bytes at step 3, cost 4 ps, packed 64 bytes
)");
}

// The example of docs/problem-format.md, word by word.
TEST(SerializationTest, Example) {
  llvm::Expected<Problem> problem = parseProblem(R"({
  "version": 1,
  "values": [
    {"name": "x", "bytes": 100},
    {"name": "h", "bytes": 400},
    {"name": "flat", "bytes": 400, "placement": "view", "source": 1},
    {"name": "y", "bytes": 1000},
    {"name": "z", "bytes": 8},
    {"name": "g", "bytes": 400}
  ],
  "operations": [
    {"name": "dense", "reads": [0], "writes": [1], "cost": 50},
    {"name": "reshape", "reads": [1], "writes": [2], "cost": 0},
    {"name": "expand", "reads": [2], "writes": [3], "cost": 80},
    {"name": "reduce", "reads": [3], "writes": [4], "cost": 10, "workspace": 400},
    {"name": "backward", "reads": [4, 1], "writes": [5], "cost": 60},
    {"name": "return", "reads": [5], "cost": 0, "effect": "pinned"}
  ]
}
)");
  ASSERT_TRUE(bool(problem)) << llvm::toString(problem.takeError());
  EXPECT_EQ(simulate(*problem, identityPlan(*problem)).livePeak, 1908);
  llvm::Expected<Plan> plan = parsePlan(R"({
  "version": 1,
  "steps": [
    {"op": 0, "reads": [-1]},
    {"op": 1, "reads": [0]},
    {"op": 2, "reads": [1]},
    {"op": 3, "reads": [2]},
    {"op": 0, "reads": [-1], "clone": true},
    {"op": 4, "reads": [3, 4]},
    {"op": 5, "reads": [5]}
  ],
  "regions": [
    {"begin": 4, "end": 5, "after": {"value": 4, "step": 3}}
  ]
}
)",
                                        *problem);
  ASSERT_TRUE(bool(plan)) << llvm::toString(plan.takeError());
  std::string text;
  llvm::raw_string_ostream os(text);
  print(*problem, *plan, os);
  EXPECT_EQ(text, R"(0: dense(x) -> h, live 500 bytes
1: reshape(h@0) -> flat, live 500 bytes
2: expand(flat@1) -> y, live 1500 bytes
3: reduce(y@2) -> z, live 1508 bytes
region of 1 steps after z@3
4: clone dense(x) -> h, live 508 bytes
5: backward(z@3, h@4) -> g, live 908 bytes
6: return(g@5), live 500 bytes
peak 1508 bytes at step 3, cost 250 ps, packed 1508 bytes
)");
}

} // namespace
