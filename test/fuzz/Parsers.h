//===- Parsers.h - Damaged texts --------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_PARSERS_H
#define REMAT_TEST_FUZZ_PARSERS_H

#include "Harness.h"

namespace mlir::remat::fuzz {

/// Gives one damaged text to each parser that reads what users write: byte
/// counts, budgets, targets, models files, graphs, logs, problems and plans. Nothing may crash;
/// an error has one line of text; what is accepted is what a slow reader makes of
/// it, and comes back from its printed form.
///
/// Returns what is wrong, or nothing. Counts accepted texts in `accepted`.
std::optional<std::string> checkParsers(Harness &harness, uint64_t seed, int64_t &accepted);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_PARSERS_H
