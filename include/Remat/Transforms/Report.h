//===- Report.h - What was planned, for people and machines -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON keys are documented in docs/report.md and stable within a version.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_REPORT_H
#define REMAT_TRANSFORMS_REPORT_H

#include "mlir/IR/Location.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir::remat {

enum class PlanStatus {
  /// The function fits as it is.
  Unchanged,
  /// Rewritten within the budget.
  Met,
  /// No plan within the budget was found.
  Infeasible,
  /// Not planned: a declaration, or a private function that counts inside its
  /// callers.
  Skipped,
};

/// One storage that is live at the peak, or what is lost between storages.
struct LiveValueReport {
  /// As printed, `%12`; empty for workspace, alignment and fragmentation.
  std::string value;
  /// Name of the operation, `argument`, `constant`, `workspace`, `alignment` or
  /// `fragmentation`.
  std::string producer;
  int64_t bytes;
  std::string category;
  /// Why it is live there.
  std::string reason;
  std::string location;
  /// The same for diagnostics, where the row has a place.
  std::optional<Location> loc = std::nullopt;
};

/// An operation that is executed again.
struct RecomputedReport {
  std::string producer;
  int64_t clones;
  /// Of the results of one execution; 0 for views.
  int64_t bytes;
  /// Of all clones together, in picoseconds.
  int64_t cost;
  /// As text and for remarks.
  std::string location;
  Location loc;
};

/// An original that runs at another place; positions in the input's order.
struct MovedReport {
  std::string operation;
  int64_t from;
  /// The operation in front of which it now runs.
  int64_t before;
  std::string location;
};

/// A buffer of an execution, or the scratch memory of an operation.
struct StorageReport {
  /// Of the value that is in it first: as printed (empty for program data and scratch memory),
  /// name of its operation, `argument` or `constant`, category or `workspace`, place.
  std::string value, producer, category, location;
  int64_t bytes;
  /// Live during the steps [begin, end).
  int64_t begin, end;
  /// Bytes from the beginning of the arena; nothing for arguments and constants.
  std::optional<int64_t> offset;
  /// Whether an additional execution of its operation made it.
  bool isRecomputed;
  /// Why it is live at the peak; empty if it is not.
  std::string reason;
};

/// What happens in memory when a function is executed, operation by operation.
struct ExecutionReport {
  int64_t numSteps;
  /// Where the live peak is.
  int64_t peakStep;
  /// Some of the steps, in order, and the bytes that are live during them by category and
  /// for `workspace`. What is 0 everywhere is left out.
  std::vector<int64_t> points;
  std::map<std::string, std::vector<int64_t>> bytes;
  /// Of arguments and constants, aligned, and of everything else.
  int64_t boundaryBytes, arenaBytes;
  /// The large ones, in the order in which they begin, larger ones first.
  std::vector<StorageReport> storages;
};

/// All bytes as in docs/memory-model.md; costs in picoseconds.
struct FunctionReport {
  std::string name;
  PlanStatus status = PlanStatus::Skipped;
  /// Why it was skipped.
  std::string reason;
  std::optional<int64_t> budgetBytes;
  /// The fusion model that counts: "none", "kernels" or "xla".
  std::string fusion = "none";
  int64_t baselinePeakBytes = 0;
  int64_t peakBytes = 0;
  int64_t baselinePackedBytes = 0;
  int64_t packedBytes = 0;
  int64_t minimumKnownBytes = 0;
  int64_t workingSetBytes = 0;
  int64_t argumentBytes = 0;
  int64_t resultBytes = 0;
  int64_t constantBytes = 0;
  /// Of the plan that is in effect, or of the smallest one when infeasible.
  std::map<std::string, int64_t> categoriesAtPeak;
  int64_t cost = 0;
  int64_t addedCost = 0;
  /// What the cost model says where costs were measured, of the same plan.
  struct PredictedCosts {
    int64_t cost, addedCost;
  };
  std::optional<PredictedCosts> predicted;
  /// Lower bound on the added cost of any plan within the budget; nothing when
  /// it is proved that there is none.
  std::optional<int64_t> addedCostLowerBound = 0;
  struct {
    std::string name;
    int64_t index = 0;
    std::string location;
    std::optional<Location> loc = std::nullopt;
  } peakOperation;
  std::vector<LiveValueReport> liveAtPeak;
  std::vector<RecomputedReport> recomputed;
  std::vector<MovedReport> moved;
  /// With RematerializeOptions::wantsDetails: of the function as it came in, and of the plan.
  std::optional<ExecutionReport> before, after;
};

/// `added` as a part of `cost`; 0 where nothing costs anything.
double getOverhead(int64_t added, int64_t cost);

struct Report {
  std::vector<FunctionReport> functions;
};

StringRef getStatusName(PlanStatus status);

llvm::json::Value toJSON(const Report &report);

/// Prints the report as tables.
void print(const Report &report, raw_ostream &os);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_REPORT_H
