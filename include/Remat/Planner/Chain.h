//===- Chain.h - Plans of chains by dynamic programming ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain is a forward part in stages, each of which reads one value of the stage
// before it, and a backward part that reads what the stages have computed from the
// last one to the first:
//
//     forward    [a0] -> [a1] -> [a2] -> [a3]
//                  \       \       \       |
//     backward   [b0] <- [b1] <- [b2] <- [b3]
//
// The backward part is executed once, in input order. Of a stage, the solver may
// execute what its output needs and keep nothing else, or execute what its backward
// part reads as well and keep that. In the order of execution:
//
//     reverse(s..t) = advance from the input of s to that of some s', and keep it;
//                     reverse(s'..t); reverse(s..s'-1)
//                   | execute s and keep what its backward part reads;
//                     reverse(s+1..t); the backward part of s
//
// as in Beaumont et al., "Optimal checkpointing for heterogeneous chains: how to
// train deep neural networks with limited memory" (2019); beyond that, the output of
// s'-1 may stay where its own backward part reads it too.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_CHAIN_H
#define REMAT_PLANNER_CHAIN_H

#include "Remat/Planner/Plan.h"
#include <optional>

namespace mlir::remat::planner {

struct ChainOptions {
  /// Live peak that must not be exceeded, in bytes; every storage and workspace
  /// counts with its size rounded up to the alignment.
  int64_t budget;
  /// Whether originals may leave their place. Otherwise an operation that is first
  /// executed later than in the problem is a clone without an original.
  bool reorder = true;
};

struct ChainResult {
  /// Why there is no plan; empty when there is one.
  std::string reason;
  /// Whether the problem is a chain that the solver takes.
  bool isChain = false;
  /// Stages of the forward part.
  int64_t numStages = 0;
  /// Whether no plan costs less, in whatever order. Known when nothing is executed
  /// twice, and for unit chains: path-shaped, every value of the same size, every
  /// forward operation of the same cost, no workspace. Other plans are at most the best
  /// of the form above; one that keeps a value for a while, drops it before its backward
  /// part and computes it again may cost less.
  bool isOptimal = false;
  /// Without a plan: whether none of any form fits. Like isOptimal, this is about
  /// aligned sizes.
  bool isInfeasible = false;
};

/// More stages are merged in equal groups; unit chains excepted.
constexpr int64_t kMaxChainStages = 128;
/// Longer plans are refused.
constexpr int64_t kMaxChainSteps = int64_t(1) << 21;

/// The cheapest plan of the form above within the budget; nothing, with a reason in
/// `result`, when the problem is no chain, when none is found, or when a plan would
/// have more than kMaxChainSteps steps. `problem` must have passed `check`.
///
/// For each range of stages, the solver keeps the memory and the cost of the plans
/// that no other one undercuts in both: no unit of memory is needed. It keeps up to
/// 2048 of them where there are at most 36 stages, and 3 * 2^25 / stages^3 where there
/// are more (48 for 128), evenly chosen with the smallest and the cheapest.
///
/// Views count as much as what they show, and results that may take the place of an
/// operand count beside it. So plans may need less than was counted, but no more.
std::optional<Plan> solveChain(const Problem &problem, const ChainOptions &options,
                               ChainResult *result = nullptr);

/// The forward steps that it takes to reverse `numSteps` steps, 1 to 2^31, with
/// `numCheckpoints` checkpoints, at least one, of which one is the initial state:
/// r * l - C(c + r, c + 1), r the smallest number with C(c + r, c) >= l (Griewank and
/// Walther, "Algorithm 799: Revolve", 2000). A unit chain of l forward operations in
/// c + 2 values adds revolveCost(l + 1, c) - l forward operations.
int64_t revolveCost(int64_t numSteps, int64_t numCheckpoints);

/// Where such a reversal of at least two steps places its first checkpoint behind the
/// initial state: after that many steps. One step is reversed without checkpoints.
int64_t revolveSplit(int64_t numSteps, int64_t numCheckpoints);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_CHAIN_H
