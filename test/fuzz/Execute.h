//===- Execute.h - Random training steps, compiled and executed -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step is compiled for the CPU unchanged and within several budgets, by the pipeline
// of remat-run, and executed on the same arguments:
//
//   - the results of all variants are equal, bit for bit;
//   - they are what `evaluate` says, to the precision that it knows;
//   - with the arena filled with one pattern or another they are the same, so nothing is
//     read before it is written;
//   - arguments that are not donated are in pages that cannot be written to, each argument
//     and the arena end at a page that faults, and bytes of the arena that belong to no
//     planned view keep their pattern;
//   - arguments, constants and arena take no more than predicted, and than the budget.
//
// Cases run in processes of their own, a few in each: what faults is a case that failed.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_EXECUTE_H
#define REMAT_TEST_FUZZ_EXECUTE_H

#include "Checks.h"

namespace mlir::remat::fuzz {

struct ExecuteOptions {
  uint64_t seed = 1;
  /// The half-open range of cases.
  int64_t first = 0, last = 100;
  int64_t maxFailures = 1;
  bool printModules = false;
  Break broken = Break::Nothing;
  /// As code for a GPU, which the emulator executes.
  bool onEmulator = false;
};

/// Prints failures, each with its step, and a line of figures. False if any case failed, or
/// too few recompute something.
bool executeSteps(const ExecuteOptions &options);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_EXECUTE_H
