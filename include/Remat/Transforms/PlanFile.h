//===- PlanFile.h - Plans of functions as a file ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `plan-output` writes and `plan` reads:
//
//     {"version": 1, "functions": [
//        {"name": "step", "operations": 812, "problem": "91f0c3d2a4b5e677",
//         "plan": {...}}]}
//
// with a plan as in docs/problem-format.md. `problem` identifies the planning problem
// for which the plan was made, so that it is applied to no other.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_PLANFILE_H
#define REMAT_TRANSFORMS_PLANFILE_H

#include "Remat/Planner/Plan.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::remat {

class PlanFile {
public:
  /// Adds the plan of a function; the name must be new.
  void add(llvm::StringRef function, const planner::Problem &problem, const planner::Plan &plan);
  void print(llvm::raw_ostream &os) const;

  /// Reads a file. The error says what is wrong with it.
  static llvm::Expected<PlanFile> read(llvm::StringRef path);

  bool contains(llvm::StringRef function) const { return entries.contains(function); }
  /// The plan of a function, verified for `problem`. An error when there is none, or
  /// when it was made for another problem.
  llvm::Expected<planner::Plan> get(llvm::StringRef function,
                                    const planner::Problem &problem) const;

private:
  struct Entry {
    int64_t numOperations;
    /// Identifies the problem.
    std::string problem;
    /// JSON.
    std::string plan;
  };
  /// In the order of the file.
  std::vector<std::string> names;
  llvm::StringMap<Entry> entries;
};

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_PLANFILE_H
