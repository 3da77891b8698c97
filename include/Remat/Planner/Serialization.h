//===- Serialization.h - Problems and plans as text -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON for both directions, so that every solver runs on the same files. The
// format is documented in docs/problem-format.md; unknown keys and versions are
// errors.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_SERIALIZATION_H
#define REMAT_PLANNER_SERIALIZATION_H

#include "Remat/Planner/Packing.h"
#include "llvm/Support/JSON.h"

namespace mlir::remat::planner {

llvm::json::Value toJSON(const Problem &problem);
llvm::json::Value toJSON(const Plan &plan);

/// Writes the text of `toJSON` with a line per operation and per value, without
/// having all of it in memory.
void writeJSON(const Problem &problem, llvm::raw_ostream &os);

/// Reads a problem and checks it. The error says where the text is not JSON
/// (line and column), or which operation or value is wrong and why. Takes little
/// more memory than the text and the problem.
llvm::Expected<Problem> parseProblem(llvm::StringRef text);

/// Reads a plan for `problem` and verifies it.
llvm::Expected<Plan> parsePlan(llvm::StringRef text, const Problem &problem);

/// Prints one line per step: operation, clone mark, reads, live bytes; then
/// the peak, cost and packed bytes. For people and for FileCheck.
void print(const Problem &problem, const Plan &plan, llvm::raw_ostream &os);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_SERIALIZATION_H
