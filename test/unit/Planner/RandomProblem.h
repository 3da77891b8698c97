//===- RandomProblem.h - Problems and plans for tests -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds problems by hand, and problems and plans at random. The same seed and
// options give the same problem on every machine: numbers come from SplitMix64
// and are reduced by hand, never by a distribution of the standard library.
// A test prints the seed of a problem that it fails on.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_UNIT_PLANNER_RANDOMPROBLEM_H
#define REMAT_TEST_UNIT_PLANNER_RANDOMPROBLEM_H

#include "Remat/Planner/Plan.h"

namespace mlir::remat::planner::test {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, limit), limit above 0.
  int64_t below(int64_t limit) { return int64_t(next() % uint64_t(limit)); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// True in `percent` of all cases.
  bool chance(int64_t percent) { return below(100) < percent; }

private:
  uint64_t state;
};

/// Puts a problem together in program order. Operations are named op0, op1, ...
/// and values v0, v1, ... by their indices.
class ProblemBuilder {
public:
  Problem problem;

  ValueIndex boundary(int64_t bytes, Placement placement = Placement::Own);
  /// A pure and recomputable operation without results.
  OpIndex operation(llvm::ArrayRef<ValueIndex> reads, int64_t cost = 1);
  /// Adds a result to an operation.
  ValueIndex result(OpIndex op, int64_t bytes, Placement placement = Placement::Own,
                    ValueIndex source = kNoValue);
  /// An operation with one result.
  ValueIndex value(llvm::ArrayRef<ValueIndex> reads, int64_t bytes, int64_t cost = 1);
  /// A view of `source`, and a result that may take the place of `source`.
  ValueIndex view(ValueIndex source, int64_t bytes, int64_t cost = 0);
  ValueIndex reuse(ValueIndex source, llvm::ArrayRef<ValueIndex> otherReads, int64_t bytes,
                   int64_t cost = 1);
  /// Makes an operation ordered or pinned, and so not recomputable.
  void setEffect(OpIndex op, Effect effect);
  /// A pinned operation of cost 0 without results.
  OpIndex terminator(llvm::ArrayRef<ValueIndex> reads);
  /// The operation that was added last.
  Operation &last() { return problem.operations.back(); }
};

enum class Shape : uint8_t {
  /// Operations read a few of the values before them, recent or not yet read
  /// ones preferred.
  Mixed,
  /// A chain forwards, and a chain backwards whose operations read what the
  /// forward ones computed, each with a gradient that the terminator reads.
  Training,
};

/// What occurs in a random problem. Counts and sizes are upper limits.
struct RandomProblemOptions {
  Shape shape = Shape::Mixed;
  /// Operations, the terminator not counted; at least one.
  int64_t numOperations = 8;
  int64_t numBoundary = 2;
  int64_t maxBytes = 20;
  int64_t maxCost = 10;
  int64_t alignment = 1;
  /// Percentages of operations or values that are special in some way.
  /// Ordered and pinned operations beside the terminator, each.
  int64_t effects = 0;
  int64_t notRecomputable = 0;
  /// Must be saved, must be recomputed, each.
  int64_t policies = 0;
  /// Whether some must be recomputed. The problem as it is may be no plan then.
  bool mustRecompute = false;
  /// Views of operands.
  int64_t views = 0;
  /// Results that may reuse an operand; half of them that of an operation of
  /// low cost put in just before (an init).
  int64_t reuse = 0;
  int64_t severalResults = 0;
  /// Results and boundary values that are never in memory.
  int64_t notInMemory = 0;
  int64_t workspace = 0;
  /// Of those with a workspace, with one or two that take less.
  int64_t variants = 0;
  int64_t dependences = 0;
  /// Values of 0 bytes.
  int64_t empty = 0;
  /// Whether some operations may be of no use. Otherwise the terminator depends
  /// on all of them.
  bool deadOperations = false;

  /// Options that switch each kind on or off by the toss of a coin.
  static RandomProblemOptions any(Random &random);
};

/// A problem that passes `check` and ends in a terminator.
Problem randomProblem(Random &random, const RandomProblemOptions &options);

/// A plan that verifies: originals moved about where that is allowed, clones in
/// front of about `clones` percent of the reads, each read from any earlier
/// instance, the latest one preferred, regions by `assignRegions`.
Plan randomPlan(Random &random, const Problem &problem, int64_t clones = 30);

/// Whether clones can wait for every operation. Otherwise a plan has them earlier than
/// the schedule it is written from, where they may take more memory.
bool canWaitForAnything(const Problem &problem);

/// Everything in a plan, for comparisons.
std::string toText(const Plan &plan);

} // namespace mlir::remat::planner::test

#endif // REMAT_TEST_UNIT_PLANNER_RANDOMPROBLEM_H
