//===- Interpreter.h - Executes functions on symbols ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a function means, without computing numbers: every value is a hash of the
// operation that computes it and of what that operation reads, and everything
// with effects is written down in order. Two functions that agree on results and
// effects compute the same. Knows which operations have effects from its own
// list, not from the models.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_INTERPRETER_H
#define REMAT_TEST_FUZZ_INTERPRETER_H

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <vector>

namespace mlir::remat::fuzz {

enum class EffectOf { Nothing, Reading, Everything };

/// What `op` itself does beyond computing its results.
EffectOf getEffect(Operation *op);

/// Whether the results of `op` are its first operands.
bool isBarrier(Operation *op);

struct Execution {
  std::vector<uint64_t> results;
  /// One entry per effect, and what the operation was, for messages.
  std::vector<uint64_t> trace;
  std::vector<std::string> traceNames;

  bool operator==(const Execution &other) const {
    return results == other.results && trace == other.trace;
  }
};

/// Executes a function. Bounds of loops that are not constant, conditions and
/// arguments follow from `seed`. Hashes are comparable within one process and
/// context.
Execution execute(FunctionOpInterface function, uint64_t seed);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_INTERPRETER_H
