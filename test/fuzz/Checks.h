//===- Checks.h - The promises of --rematerialize, checked ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One case: a module, options, and many runs with different budgets, whose
// outcomes are compared with what docs/contract.md promises, with the fuzzer's
// own recount, and with its own interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_CHECKS_H
#define REMAT_TEST_FUZZ_CHECKS_H

#include "Harness.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace mlir::remat::fuzz {

/// What is switched off, to see that a check notices.
enum class Break {
  Nothing,
  /// Barriers are taken out again.
  Barrier,
  /// The user calls operations recomputable that have effects.
  Effects,
  /// The models file calls a copy a view.
  Alias,
  /// The budget is compared with the live peak instead of the packed one.
  Packing,
  /// A clone reads its operands in another order.
  Meaning,
  /// Of executed steps: a view is moved to where another one is, behind the arena, or to
  /// an argument that is read only; a copy is left out.
  Overlap,
  Outside,
  Argument,
  Copy,
};

struct Case {
  /// The module as it goes in.
  std::string text;
  PassOptions options;
  /// Where the budgets come from.
  uint64_t seed = 0;
  /// Whether `text` does not change under cse and canonicalize.
  bool isFixpoint = false;
};

struct Failure {
  /// A short name of the promise, the same for all its failures.
  std::string check;
  std::string message;
};

struct CaseResult {
  std::vector<Failure> failures;
  /// Runs by outcome; `clones` are those of `met` with recomputed operations.
  int64_t runs = 0, met = 0, clones = 0, refused = 0, unchanged = 0;
  /// How often something happened that is worth a number in the summary.
  std::map<std::string, int64_t> counters;
};

/// Marks operations at random with attributes of the remat dialect.
void decorate(ModuleOp module, Random &random, Break broken);

/// Makes a case of a parsed module: attributes, options, and perhaps a fixpoint
/// of cse and canonicalize.
Case makeCase(Harness &harness, ModuleOp module, StringRef fusion, Random &random, Break broken);

/// Runs all checks but those in `skipped`; stops at the first failure.
CaseResult check(Harness &harness, const Case &input, Break broken,
                 const llvm::StringSet<> &skipped);

/// A smaller case that fails the check `name`, too.
Case reduce(Harness &harness, const Case &input, StringRef name, Break broken,
            const llvm::StringSet<> &skipped);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_CHECKS_H
