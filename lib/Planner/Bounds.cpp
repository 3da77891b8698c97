//===- Bounds.cpp - What no plan can undercut -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Why the bound holds. Take an operation t that every plan executes, and its
// first execution in some plan. Every operation that t depends on was executed
// before, every one that depends on t is executed after. Let one of the latter
// read v, and let r be the value whose storage v shows.
//
//   - Either the storage of the r that is read is in memory while t runs, or r
//     was computed after t, which makes its operation execute twice.
//   - Two such storages are distinct, and none of them is an operand's of t or
//     a result's: a result takes over a storage only when what it held is not
//     read again.
//
// Where an operation between r and v cannot run twice, the first case holds.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Bounds.h"
#include "Detail.h"
#include "Knapsack.h"
#include "RecomputeRule.h"
#include "Remat/Planner/Simulator.h"
#include "Remat/Planner/Variants.h"
#include "StageRelaxation.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

constexpr int64_t kInfeasible = std::numeric_limits<int64_t>::max();

/// Operations at which the knapsack is solved, and the sets that it looks at.
constexpr int64_t kNumPeaks = 8;
constexpr int64_t kMaxKnapsackSets = 20'000;

/// Variables of the relaxation over all times, also as a linear program, and steps that
/// improve it.
constexpr int64_t kMaxCells = 1'000'000;
constexpr int64_t kMaxProgramCells = 20'000;
constexpr int64_t kMinBoundSteps = 100, kMaxBoundSteps = 1000;

class Bounder {
public:
  Bounder(const Problem &input, int64_t limit)
      : problem(input), budget(limit), numOperations(input.operations.size()),
        boundaryBytes(detail::boundaryBytes(input, /*alignment=*/1)),
        needed(neededOperations(input)), roots(viewRoots(input)), sets(input, /*roundTo=*/1),
        isFixed(input.values.size(), false) {
    for (const Operation &op : problem.operations)
      for (ValueIndex value : op.writes)
        isFixed[value] = !op.recomputable || op.policy == Policy::MustSave ||
                         (problem.values[value].placement == Placement::View &&
                          isFixed[problem.values[value].source]);
  }

  int64_t run(const BoundOptions &options) {
    std::vector<OpIndex> peaks;
    for (OpIndex op = 0; op < numOperations; ++op)
      if (needed[op])
        peaks.push_back(op);
    std::vector<int64_t> live = simulate(problem, identityPlan(problem)).liveBytes;
    llvm::stable_sort(peaks, [&](OpIndex a, OpIndex b) { return live[a] > live[b]; });
    if (int64_t(peaks.size()) > kNumPeaks)
      peaks.resize(kNumPeaks);

    int64_t bound = boundaryBytes > budget ? kInfeasible : 0;
    for (OpIndex op : peaks)
      bound = std::max(bound, boundAt(op));
    bound = std::max(bound, boundByPolicies());
    if (bound != kInfeasible)
      bound = std::max(bound, boundOverTime(options));
    return bound;
  }

private:
  /// Calls `visit` with each operation that has to be executed before `op`;
  /// `previousEffect` is the last one before it that is not pure.
  template <typename Visit>
  void forEachPredecessor(OpIndex index, OpIndex previousEffect, Visit visit) const {
    const Operation &op = problem.operations[index];
    for (ValueIndex value : op.reads)
      visit(problem.values[value].producer);
    for (ValueIndex value : op.dependences)
      visit(problem.values[value].producer);
    if (op.effect != Effect::Pure)
      visit(previousEffect);
  }

  int64_t boundOverTime(const BoundOptions &options) const {
    StageRelaxation relaxation(problem, budget, options.reorder,
                               std::min(kMaxCells, options.maxWork / kMinBoundSteps));
    relaxation.improve(std::min(kMaxBoundSteps, options.maxWork / relaxation.getNumCells()));
    int64_t bound = relaxation.getAddedCost();
    if (!options.solveLinearProgram || bound == kInfeasible)
      return bound;
    StageRelaxation program(problem, budget, options.reorder, kMaxProgramCells);
    program.improveBy(options.solveLinearProgram);
    return std::max(bound, program.getAddedCost());
  }

  /// The operations that `t` depends on, and those that depend on it.
  struct Sides {
    std::vector<bool> isBefore, isAfter;
  };
  Sides findSides(OpIndex t) const {
    std::vector<OpIndex> previousEffect(numOperations, kBoundary);
    for (OpIndex op = 1; op < numOperations; ++op)
      previousEffect[op] =
          problem.operations[op - 1].effect == Effect::Pure ? previousEffect[op - 1] : op - 1;
    std::vector<bool> isBefore(numOperations, false), isAfter(numOperations, false);
    for (OpIndex op = t; op >= 0; --op)
      if (op == t || isBefore[op])
        forEachPredecessor(op, previousEffect[op], [&](OpIndex other) {
          if (other != kBoundary)
            isBefore[other] = true;
        });
    for (OpIndex op = t + 1; op < numOperations; ++op)
      forEachPredecessor(op, previousEffect[op], [&](OpIndex other) {
        if (other == t || (other > t && isAfter[other]))
          isAfter[op] = true;
      });
    return {std::move(isBefore), std::move(isAfter)};
  }

  /// The cost of what must be recomputed and is read on both sides of the turn.
  int64_t boundByPolicies() const {
    RecomputeRule rule(problem);
    if (rule.turn == kBoundary)
      return 0;
    auto [isBefore, isAfter] = findSides(rule.turn);
    // Once more behind the turn, and so are the reads of what is executed there.
    std::vector<bool> isAgain(numOperations, false);
    int64_t cost = 0;
    for (OpIndex op = numOperations - 1; op >= 0; --op) {
      bool readsBehind = isAfter[op] && needed[op];
      if (isAgain[op])
        cost += problem.operations[op].cost;
      if (!readsBehind && !isAgain[op])
        continue;
      for (ValueIndex value : problem.operations[op].reads)
        if (OpIndex producer = problem.values[value].producer;
            producer != kBoundary && isBefore[producer] && rule.appliesTo[value])
          isAgain[producer] = true;
    }
    return cost;
  }

  int64_t boundAt(OpIndex t) {
    auto [isBefore, isAfter] = findSides(t);
    int64_t fixedBytes = boundaryBytes + sets.bytes(t);
    std::vector<bool> isOperand(problem.values.size(), false);
    for (ValueIndex root : sets.operandRoots())
      isOperand[root] = true;

    // Roots that cross t, and those of them that cannot be computed again.
    std::vector<ValueIndex> crossed;
    std::vector<bool> isCrossing(problem.values.size(), false), mustStay(isCrossing);
    for (OpIndex op = t + 1; op < numOperations; ++op) {
      if (!isAfter[op] || !needed[op])
        continue;
      for (ValueIndex value : problem.operations[op].reads) {
        OpIndex producer = problem.values[value].producer;
        ValueIndex root = roots[value];
        if (producer == kBoundary || !isBefore[producer] || isOperand[root] ||
            problem.values[root].producer == kBoundary ||
            problem.values[root].placement == Placement::None)
          continue;
        if (!isCrossing[root])
          crossed.push_back(root);
        isCrossing[root] = true;
        if (isFixed[value])
          mustStay[root] = true;
      }
    }
    std::vector<KnapsackItem> items;
    std::vector<int64_t> bytesOf(numOperations, 0);
    int64_t freeableBytes = 0;
    for (ValueIndex root : crossed) {
      int64_t bytes = problem.values[root].bytes;
      if (mustStay[root]) {
        fixedBytes += bytes;
      } else {
        bytesOf[problem.values[root].producer] += bytes;
        freeableBytes += bytes;
      }
    }
    int64_t excess = fixedBytes + freeableBytes - budget;
    if (excess <= 0)
      return 0;
    if (fixedBytes > budget)
      return kInfeasible;
    for (OpIndex op = 0; op < t; ++op)
      if (bytesOf[op] > 0)
        items.push_back({problem.operations[op].cost, bytesOf[op]});
    return solveKnapsack(items, excess, kMaxKnapsackSets);
  }

  const Problem &problem;
  int64_t budget;
  int64_t numOperations;
  int64_t boundaryBytes;
  std::vector<bool> needed;
  std::vector<ValueIndex> roots;
  WorkingSets sets;
  /// By value: whether it, or a view between it and its root, has one instance.
  std::vector<bool> isFixed;
};

} // namespace

int64_t mlir::remat::planner::addedCostLowerBound(const Problem &problem, int64_t budget,
                                                  const BoundOptions &options) {
  // Nothing fits in less than nothing, by however much.
  budget = std::max<int64_t>(budget, -1);
  if (hasVariants(problem)) {
    Problem least = withLeastWorkspaces(problem);
    int64_t raised = raiseCosts(problem, budget, least);
    int64_t bound = Bounder(least, budget).run(options);
    return bound == kInfeasible ? bound : bound + raised;
  }
  return Bounder(problem, budget).run(options);
}
