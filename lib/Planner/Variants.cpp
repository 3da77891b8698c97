//===- Variants.cpp - How each step of a plan is executed -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Variants.h"
#include "Detail.h"
#include "Remat/Planner/Simulator.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

bool mlir::remat::planner::hasVariants(const Problem &problem) {
  return llvm::any_of(problem.operations,
                      [](const Operation &operation) { return !operation.variants.empty(); });
}

std::vector<int64_t> detail::liveBytesOfStorages(const Problem &problem, const Plan &plan,
                                                 int64_t alignment) {
  Simulation simulation = simulate(problem, plan);
  std::vector<int64_t> live(plan.steps.size() + 1, 0);
  for (const Storage &storage : simulation.storages) {
    live[storage.begin] += align(storage.bytes, alignment);
    live[storage.end] -= align(storage.bytes, alignment);
  }
  live.pop_back();
  for (size_t index = 1; index < live.size(); ++index)
    live[index] += live[index - 1];
  return live;
}

int64_t detail::chooseVariant(const Operation &operation, int64_t maxWorkspace, int64_t alignment) {
  // Whether it fits, cost, workspace.
  auto rank = [&](int64_t number) {
    Variant variant = getVariant(operation, number);
    bool fits = align(variant.workspace, alignment) <= maxWorkspace;
    return std::make_tuple(!fits, fits ? variant.cost : 0, variant.workspace, variant.cost);
  };
  int64_t best = 0;
  for (int64_t number = 1, e = operation.variants.size(); number <= e; ++number)
    if (rank(number) < rank(best))
      best = number;
  return best;
}

void mlir::remat::planner::chooseVariants(const Problem &problem, Plan &plan, int64_t limit,
                                          int64_t alignment) {
  std::vector<int64_t> live = liveBytesOfStorages(problem, plan, alignment);
  for (auto [step, bytes] : llvm::zip_equal(plan.steps, live))
    step.variant = chooseVariant(problem.operations[step.op], limit - bytes, alignment);
}

Problem mlir::remat::planner::withLeastWorkspaces(const Problem &problem) {
  Problem result = problem;
  for (Operation &operation : result.operations) {
    operation.workspace = leastWorkspace(operation);
    operation.variants.clear();
    if (operation.policy == Policy::MustRecompute)
      operation.policy = Policy::None;
  }
  return result;
}

int64_t mlir::remat::planner::raiseCosts(const Problem &problem, int64_t budget, Problem &least) {
  int64_t room = budget - boundaryBytes(problem, /*alignment=*/1);
  std::vector<bool> needed = neededOperations(problem);
  WorkingSets sets(problem, /*roundTo=*/1);
  int64_t sum = 0;
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (operation.variants.empty())
      continue;
    int64_t maxWorkspace = room - (sets.bytes(index) - leastWorkspace(operation));
    int64_t variant = chooseVariant(operation, maxWorkspace, /*alignment=*/1);
    if (getVariant(operation, variant).workspace > maxWorkspace)
      continue; // Nothing fits at all.
    least.operations[index].cost = getVariant(operation, variant).cost;
    if (needed[index])
      sum += least.operations[index].cost - operation.cost;
  }
  return sum;
}
