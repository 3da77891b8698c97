//===- Report.h - What was run, for people and programs ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_REPORT_H
#define REMAT_TOOLS_REMAT_RUN_REPORT_H

#include "Results.h"

namespace mlir::remat {

/// Variants that were executed: the unchanged step, and the one within a budget if there is
/// one, with the comparison of their results.
struct RunReport {
  std::vector<Variant> variants;
  /// Or else they are only compiled.
  bool isExecuted = true;
  std::optional<Comparison> comparison;
  /// Whether the plan was made with measured costs.
  bool hasMeasuredCosts = false;

  const Variant &getBaseline() const { return variants.front(); }
  Device getDevice() const { return getBaseline().compiled.description.device; }
  bool isEqual() const { return !comparison || !comparison->result; }
};

/// As docs/remat-run.md describes it.
llvm::json::Value toJSON(const RunReport &report);

void print(const TrainingStep &step, const RunReport &report, llvm::raw_ostream &os);

/// The operations that took the most time, beside what the cost model says. `profile` is of
/// `step`.
void printOperations(const TrainingStep &step, const CostProfile &profile, llvm::raw_ostream &os);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_REPORT_H
