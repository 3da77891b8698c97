//===- LinearProgram.h - A linear program for a solver from outside ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a lower bound asks a solver of linear programs. The planner needs none, and
// contains none.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_LINEARPROGRAM_H
#define REMAT_PLANNER_LINEARPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <functional>
#include <vector>

namespace mlir::remat::planner {

/// Minimize `costs` times x, where x >= 0 and
/// rowLower <= A x <= rowUpper; limits may be infinite.
struct LinearProgram {
  /// By column.
  std::vector<double> costs;
  /// By row.
  std::vector<double> rowLower, rowUpper;
  /// A by columns: the entries of column c are [starts[c], starts[c + 1]).
  std::vector<int64_t> starts{0};
  std::vector<int64_t> rows;
  std::vector<double> coefficients;

  int64_t getNumColumns() const { return costs.size(); }
  int64_t getNumRows() const { return rowLower.size(); }
  /// Returns the number of the row.
  int64_t addRow(double lower, double upper) {
    rowLower.push_back(lower);
    rowUpper.push_back(upper);
    return getNumRows() - 1;
  }
  /// Adds a column with entries in distinct rows.
  void addColumn(double cost, llvm::ArrayRef<std::pair<int64_t, double>> entries) {
    costs.push_back(cost);
    for (auto [row, coefficient] : entries) {
      rows.push_back(row);
      coefficients.push_back(coefficient);
    }
    starts.push_back(rows.size());
  }
};

/// The prices of the rows (dual values: how much the least cost rises when both limits
/// of a row rise by one), or of some solution that is not optimal; nothing on failure.
using LinearProgramSolver = std::function<std::vector<double>(const LinearProgram &)>;

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_LINEARPROGRAM_H
