//===- Generator.h - Random modules -----------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes modules as text: training steps whose backward part reads what the
// forward part saved, graphs without a shape, and a few extreme ones. Uses
// `func`, `arith`, `math`, `tensor`, `linalg`, `scf`, `memref`, `bufferization`,
// `remat`, StableHLO in generic form, and two dialects that only exist here:
// `fuzz`, which a models file describes, and `test`, which nothing describes.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_GENERATOR_H
#define REMAT_TEST_FUZZ_GENERATOR_H

#include "Random.h"
#include <string>

namespace mlir::remat::fuzz {

/// The text of a module that parses and verifies, with about `maxOps`
/// operations at most in its largest function. With `isForXLA` its operations are those
/// of StableHLO where there is a choice, some of which only occur then: updates, scatters
/// into zeros, loops, donated arguments.
std::string generateModule(Random &random, int64_t maxOps, bool isForXLA = false);

/// The models file of the dialect `fuzz`. With `liesAboutViews`, it says that
/// `fuzz.copy` is a view of its operand.
///
///   fuzz.pure     any operands, any results, pure
///   fuzz.copy     pure, a storage of its own
///   fuzz.view     a view of its operand
///   fuzz.reuse    destination passing into its last operand
///   fuzz.scratch  pure, as much workspace as its first result has bytes
///   fuzz.random   draws from hidden state
///   fuzz.ordered  has side effects
///   fuzz.talk     has side effects that the user may overrule
std::string getModelsText(bool liesAboutViews = false);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_GENERATOR_H
