//===- PlannerTest.cpp - The C API against the C++ one ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random problems and plans pass through the arrays and texts of the C API
// unchanged, and get the same answers as from C++. test/CAPI has what can go wrong.
//
//===----------------------------------------------------------------------===//

#include "Remat-c/Planner.h"
#include "../Planner/RandomProblem.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Planner/Solve.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

template <typename T>
std::string textOf(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << toJSON(value);
  return text;
}

/// Takes over a text of the C API.
std::string take(char *text) {
  std::string result = text ? text : "no text";
  rematStringFree(text);
  return result;
}

struct Destroy {
  void operator()(RematProblem *problem) const { rematProblemDestroy(problem); }
  void operator()(RematPlan *plan) const { rematPlanDestroy(plan); }
  void operator()(RematSimulation *simulation) const { rematSimulationDestroy(simulation); }
  void operator()(RematAnswer *answer) const { rematAnswerDestroy(answer); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

/// What `get` writes.
template <typename Arrays, typename Handle>
Arrays read(bool (*get)(const Handle *, Arrays *, char **), const Handle *handle) {
  Arrays arrays = {};
  arrays.structSize = sizeof(arrays);
  char *error = nullptr;
  EXPECT_TRUE(get(handle, &arrays, &error)) << take(error);
  return arrays;
}

/// `input` by way of JSON, and then of arrays.
Owned<RematProblem> transport(const Problem &input) {
  char *error = nullptr;
  std::string text = textOf(input);
  Owned<RematProblem> parsed(rematProblemParse(text.data(), text.size(), &error));
  EXPECT_TRUE(parsed) << take(error);
  RematProblemArrays arrays = read(rematProblemGetArrays, parsed.get());
  Owned<RematProblem> created(rematProblemCreate(&arrays, &error));
  EXPECT_TRUE(created) << take(error);
  EXPECT_EQ(take(rematProblemToJSON(created.get(), &error)), text);
  return created;
}

Owned<RematPlan> transport(const RematProblem *problem, const Plan &input) {
  char *error = nullptr;
  std::string text = textOf(input);
  Owned<RematPlan> parsed(rematPlanParse(problem, text.data(), text.size(), &error));
  EXPECT_TRUE(parsed) << take(error);
  RematPlanArrays arrays = read(rematPlanGetArrays, parsed.get());
  Owned<RematPlan> created(rematPlanCreate(problem, &arrays, &error));
  EXPECT_TRUE(created) << take(error);
  EXPECT_EQ(take(rematPlanToJSON(created.get(), &error)), text);
  return created;
}

llvm::ArrayRef<int64_t> list(const int64_t *begins, const int64_t *entries, int64_t index) {
  return llvm::ArrayRef(entries + begins[index], entries + begins[index + 1]);
}

TEST(CAPIPlannerTest, transportsProblemsAndPlans) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    RandomProblemOptions limits = RandomProblemOptions::any(random);
    limits.variants = random.chance(50) ? 60 : 0;
    Problem problem = randomProblem(random, limits);
    Plan plan = randomPlan(random, problem);
    for (Step &step : plan.steps)
      step.variant = random.below(problem.operations[step.op].variants.size() + 1);
    Owned<RematProblem> handle = transport(problem);
    Owned<RematPlan> planHandle = transport(handle.get(), plan);

    char *error = nullptr;
    int64_t workingSet = -1;
    EXPECT_TRUE(rematProblemGetWorkingSetBytes(handle.get(), &workingSet, &error));
    EXPECT_EQ(workingSet, workingSetBytes(problem));
    std::string printed;
    llvm::raw_string_ostream os(printed);
    print(problem, plan, os);
    EXPECT_EQ(take(rematPlanToText(planHandle.get(), &error)), printed);

    Solution expected = evaluate(problem, plan);
    Owned<RematSimulation> simulation(rematPlanSimulate(planHandle.get(), &error));
    RematSimulationArrays got = read(rematSimulationGetArrays, simulation.get());
    EXPECT_EQ(llvm::ArrayRef(got.liveBytes, got.numSteps),
              llvm::ArrayRef(expected.simulation.liveBytes));
    EXPECT_EQ(got.livePeakBytes, expected.simulation.livePeak);
    EXPECT_EQ(got.packedPeakBytes, expected.packing.packedBytes);
    EXPECT_EQ(got.cost, expected.simulation.cost);
    EXPECT_EQ(got.addedCost, addedCost(problem, plan));
    EXPECT_EQ(llvm::ArrayRef(got.storageOffsets, got.numStorages),
              llvm::ArrayRef(expected.packing.offsets));
    for (StepIndex step = 0; step < got.numSteps; ++step) {
      llvm::ArrayRef<int64_t> storages = list(got.writeBegins, got.writeStorages, step);
      ASSERT_EQ(storages.size(), problem.operations[plan.steps[step].op].writes.size());
      for (int64_t storage : storages)
        EXPECT_TRUE(storage == REMAT_NO_STORAGE ||
                    (got.storageBegins[storage] <= step && step < got.storageEnds[storage]));
    }

    // Regions that are chosen are those of C++.
    RematPlanArrays arrays = read(rematPlanGetArrays, planHandle.get());
    arrays.regionBegins = arrays.regionEnds = nullptr;
    arrays.regionAfterValues = arrays.regionAfterSteps = nullptr;
    arrays.numRegions = 0;
    Owned<RematPlan> chosen(rematPlanCreate(handle.get(), &arrays, &error));
    EXPECT_TRUE(chosen) << take(error);
    assignRegions(problem, plan);
    EXPECT_EQ(take(rematPlanToJSON(chosen.get(), &error)), textOf(plan));
  }
}

TEST(CAPIPlannerTest, identityThatKeepsTooMuch) {
  ProblemBuilder builder;
  ValueIndex a = builder.value({}, 64, 10);
  ValueIndex b = builder.value({a}, 100, 10);
  ValueIndex c = builder.value({b}, 8, 10);
  builder.terminator({builder.value({a, c}, 8, 10)});
  builder.problem.operations[0].policy = Policy::MustRecompute;
  Owned<RematProblem> handle = transport(builder.problem);
  char *error = nullptr;
  EXPECT_EQ(rematPlanCreateIdentity(handle.get(), &error), nullptr);
  EXPECT_EQ(take(error), "step 0 ('op0') must be recomputed, but its value 0 ('v0') is kept across "
                         "step 2 ('op2') for step 3");
  RematSolveOptions options;
  ASSERT_TRUE(rematSolveOptionsInit(&options, sizeof(options), &error));
  Owned<RematAnswer> answer(rematSolve(handle.get(), 1000, &options, &error));
  ASSERT_TRUE(answer) << take(error);
  RematAnswerInfo info = read(rematAnswerGetInfo, static_cast<const RematAnswer *>(answer.get()));
  EXPECT_EQ(info.addedCost, 10);
}

TEST(CAPIPlannerTest, answersLikeCPlusPlus) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Problem problem = randomProblem(random, RandomProblemOptions::any(random));
    Owned<RematProblem> handle = transport(problem);
    char *error = nullptr;
    RematSolveOptions options;
    ASSERT_TRUE(rematSolveOptionsInit(&options, sizeof(options), &error));
    SolveOptions sameOptions;
    options.isPacked = sameOptions.isPacked = random.chance(50);
    options.reorder = sameOptions.reorder = random.chance(50);
    options.minBytes = sameOptions.minBytes = random.below(10);
    options.effort = random.between(REMAT_EFFORT_NONE, 1);
    if (options.effort != 0)
      sameOptions.effort = std::max<int64_t>(options.effort, 0);

    int64_t peak = evaluate(problem, identityPlan(problem)).packing.packedBytes;
    int64_t maxCost = random.below(20);
    std::vector<int64_t> budgets = {0, random.between(0, peak), random.between(0, peak), peak};
    int64_t numPoints = random.between(2, 4);
    std::vector<RematAnswer *> answers(numPoints + 2 * budgets.size());
    ASSERT_TRUE(rematSolveAll(handle.get(), budgets.data(), budgets.size(), &options,
                              answers.data(), &error))
        << take(error);
    ASSERT_TRUE(rematSolveFront(handle.get(), numPoints, budgets.data(), budgets.size(), &options,
                                answers.data() + budgets.size(), &error))
        << take(error);
    answers.push_back(rematSolve(handle.get(), budgets[1], &options, &error));
    answers.push_back(rematSolveForCost(handle.get(), maxCost, &options, &error));
    std::vector<Answer> expected = llvm::cantFail(solveAll(problem, budgets, sameOptions));
    llvm::append_range(expected,
                       llvm::cantFail(solveFront(problem, numPoints, budgets, sameOptions)));
    expected.push_back(llvm::cantFail(solve(problem, budgets[1], sameOptions)));
    expected.push_back(llvm::cantFail(solveForCost(problem, maxCost, sameOptions)));
    for (auto [got, same] : llvm::zip_equal(answers, expected)) {
      RematAnswerInfo info = read(rematAnswerGetInfo, static_cast<const RematAnswer *>(got));
      EXPECT_EQ(info.status, int(same.status));
      EXPECT_EQ(info.livePeakBytes, same.solution.simulation.livePeak);
      EXPECT_EQ(info.packedPeakBytes, same.solution.packing.packedBytes);
      EXPECT_EQ(info.requiredBytes, same.solution.requiredBytes);
      EXPECT_EQ(info.cost, same.solution.simulation.cost);
      EXPECT_EQ(info.addedCost, same.addedCost);
      EXPECT_EQ(info.addedCostLowerBound, same.addedCostLowerBound);
      EXPECT_EQ(info.minimumKnownBytes, same.minimumKnownBytes);
      EXPECT_EQ(take(rematPlanToJSON(rematAnswerGetPlan(got), &error)), textOf(same.solution.plan));
      rematAnswerDestroy(got);
    }
  }
}

} // namespace
