//===- Exhaustive.h - The best plan, by trying all --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slow, obvious twin of the other solvers, for problems of a few operations.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_EXHAUSTIVE_H
#define REMAT_PLANNER_EXHAUSTIVE_H

#include "Remat/Planner/Plan.h"
#include <optional>

namespace mlir::remat::planner {

struct ExhaustiveOptions {
  /// Live peak that must not be exceeded, in bytes.
  int64_t budget;
  /// Whether originals may leave their place.
  bool reorder = true;
  /// Steps that a plan may have.
  int64_t maxSteps = 16;
  /// States that the search may look at before it gives up; a million take
  /// about ten seconds and a gigabyte.
  int64_t maxStates = 1'000'000;
  /// Whether the first execution of every operation is its original. Otherwise a clone
  /// without an original stands for one that was moved.
  bool originalsFirst = false;
};

/// The cheapest plan whose live peak (Simulation::livePeak) is within the
/// budget, among all sequences of at most `maxSteps` steps in which no clone
/// precedes its original; nothing when there is none, or when the search gives
/// up, which `isComplete` tells apart if it is given. What regions wait for is
/// chosen by `assignRegions`, or otherwise where only another value of an
/// original fits. Works on problems of up to about eight operations (and at
/// most 64, with 64 values): it enumerates the sets of values in memory in the
/// order of cost.
std::optional<Plan> solveExhaustive(const Problem &problem, const ExhaustiveOptions &options,
                                    bool *isComplete = nullptr);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_EXHAUSTIVE_H
