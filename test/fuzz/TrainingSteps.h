//===- TrainingSteps.h - Random training steps to execute -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modules that can be compiled and executed: static shapes of a few elements, no undefined
// behaviour, and every kind of operation that training steps consist of.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_TRAININGSTEPS_H
#define REMAT_TEST_FUZZ_TRAININGSTEPS_H

#include "Random.h"
#include <string>

namespace mlir::remat::fuzz {

/// The text of a module with one public function `step`, of at least `numLayers` operations
/// in its forward part: a backward part reads what the forward part computed, and new values
/// of arguments are among the results. Uses `func`, `arith`, `math`, `tensor`, `linalg` and
/// `scf`.
std::string generateTrainingStep(Random &random, int64_t numLayers);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_TRAININGSTEPS_H
