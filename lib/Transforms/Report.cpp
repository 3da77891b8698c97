//===- Report.cpp - What was planned, for people and machines ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Report.h"

#include "Remat/Analysis/FusionModel.h"
#include "Remat/Support/ByteCount.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;

/// Rows of a table for people; the JSON has all of them.
static constexpr size_t kMaxRows = 12;

StringRef mlir::remat::getStatusName(PlanStatus status) {
  switch (status) {
  case PlanStatus::Unchanged:
    return "unchanged";
  case PlanStatus::Met:
    return "met";
  case PlanStatus::Infeasible:
    return "infeasible";
  case PlanStatus::Skipped:
    return "skipped";
  }
  llvm_unreachable("unknown status");
}

double mlir::remat::getOverhead(int64_t added, int64_t cost) {
  return cost == 0 ? 0.0 : static_cast<double>(added) / static_cast<double>(cost);
}

static llvm::json::Value timelineToJSON(const ExecutionReport &report) {
  llvm::json::Object bytes;
  for (const auto &[category, curve] : report.bytes)
    bytes[category] = llvm::json::Array(curve);
  return llvm::json::Object{{"num_steps", report.numSteps},
                            {"peak_step", report.peakStep},
                            {"steps", llvm::json::Array(report.points)},
                            {"bytes", std::move(bytes)}};
}

static llvm::json::Value arenaToJSON(const ExecutionReport &report) {
  llvm::json::Array storages;
  for (const StorageReport &row : report.storages)
    storages.push_back(llvm::json::Object{
        {"value", row.value},
        {"producer", row.producer},
        {"category", row.category},
        {"location", row.location},
        {"bytes", row.bytes},
        {"begin", row.begin},
        {"end", row.end},
        {"offset", row.offset ? llvm::json::Value(*row.offset) : llvm::json::Value(nullptr)},
        {"recomputed", row.isRecomputed},
        {"reason", row.reason}});
  return llvm::json::Object{{"boundary_bytes", report.boundaryBytes},
                            {"arena_bytes", report.arenaBytes},
                            {"storages", std::move(storages)}};
}

static llvm::json::Value toJSON(const FunctionReport &report) {
  llvm::json::Array live, recomputed, moved;
  for (const LiveValueReport &row : report.liveAtPeak)
    live.push_back(llvm::json::Object{{"value", row.value},
                                      {"producer", row.producer},
                                      {"bytes", row.bytes},
                                      {"category", row.category},
                                      {"reason", row.reason},
                                      {"location", row.location}});
  for (const RecomputedReport &row : report.recomputed)
    recomputed.push_back(llvm::json::Object{{"producer", row.producer},
                                            {"clones", row.clones},
                                            {"bytes", row.bytes},
                                            {"cost_ps", row.cost},
                                            {"location", row.location}});
  for (const MovedReport &row : report.moved)
    moved.push_back(llvm::json::Object{{"operation", row.operation},
                                       {"from", row.from},
                                       {"before", row.before},
                                       {"location", row.location}});
  llvm::json::Object categories;
  for (const auto &[category, bytes] : report.categoriesAtPeak)
    categories[category] = bytes;
  llvm::json::Object object{
      {"name", report.name},
      {"status", getStatusName(report.status)},
      {"fusion", report.fusion},
      {"baseline_peak_bytes", report.baselinePeakBytes},
      {"peak_bytes", report.peakBytes},
      {"baseline_packed_bytes", report.baselinePackedBytes},
      {"packed_bytes", report.packedBytes},
      {"minimum_known_bytes", report.minimumKnownBytes},
      {"working_set_bytes", report.workingSetBytes},
      {"argument_bytes", report.argumentBytes},
      {"result_bytes", report.resultBytes},
      {"constant_bytes", report.constantBytes},
      {"categories_at_peak", std::move(categories)},
      {"cost_ps", report.cost},
      {"added_cost_ps", report.addedCost},
      {"overhead", getOverhead(report.addedCost, report.cost)},
      {"peak_operation", llvm::json::Object{{"name", report.peakOperation.name},
                                            {"index", report.peakOperation.index},
                                            {"location", report.peakOperation.location}}},
      {"live_at_peak", std::move(live)},
      {"recomputed", std::move(recomputed)},
      {"moved", std::move(moved)}};
  object["budget_bytes"] =
      report.budgetBytes ? llvm::json::Value(*report.budgetBytes) : llvm::json::Value(nullptr);
  object["overhead_lower_bound"] =
      report.addedCostLowerBound
          ? llvm::json::Value(getOverhead(*report.addedCostLowerBound, report.cost))
          : llvm::json::Value(nullptr);
  object["predicted"] =
      report.predicted
          ? llvm::json::Value(llvm::json::Object{
                {"cost_ps", report.predicted->cost},
                {"added_cost_ps", report.predicted->addedCost},
                {"overhead", getOverhead(report.predicted->addedCost, report.predicted->cost)}})
          : llvm::json::Value(nullptr);
  if (!report.reason.empty())
    object["reason"] = report.reason;
  if (report.before && report.after) {
    object["timeline"] = llvm::json::Object{{"before", timelineToJSON(*report.before)},
                                            {"after", timelineToJSON(*report.after)}};
    object["arena"] = llvm::json::Object{{"before", arenaToJSON(*report.before)},
                                         {"after", arenaToJSON(*report.after)}};
  }
  return object;
}

llvm::json::Value mlir::remat::toJSON(const Report &report) {
  llvm::json::Array functions;
  for (const FunctionReport &function : report.functions)
    functions.push_back(::toJSON(function));
  return llvm::json::Object{{"version", 1}, {"functions", std::move(functions)}};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void printRow(raw_ostream &os, StringRef label, int64_t before, int64_t after) {
  os << "  " << llvm::left_justify(label, 18) << llvm::format("%17lld", (long long)before) << " B "
     << llvm::right_justify(formatBytes(before), 9) << "   ->"
     << llvm::format("%17lld", (long long)after) << " B "
     << llvm::right_justify(formatBytes(after), 9) << '\n';
}

static void print(const FunctionReport &report, raw_ostream &os) {
  os << "function '" << report.name << "': " << getStatusName(report.status);
  if (report.status == PlanStatus::Skipped) {
    os << " (" << report.reason << ")\n";
    return;
  }
  if (report.budgetBytes)
    os << ", budget " << *report.budgetBytes << " B (" << formatBytes(*report.budgetBytes) << ")";
  if (report.fusion != getFusionName(Fusion::None))
    os << ", fusion " << report.fusion;
  os << '\n';
  printRow(os, "packed peak", report.baselinePackedBytes, report.packedBytes);
  printRow(os, "live peak", report.baselinePeakBytes, report.peakBytes);
  auto overhead = [&](int64_t added) {
    return llvm::format("%.2f %%", 100 * getOverhead(added, report.cost));
  };
  os << "  cost              " << formatPicoseconds(report.cost) << " + "
     << formatPicoseconds(report.addedCost) << " (" << overhead(report.addedCost);
  if (report.addedCostLowerBound)
    os << ", no plan below " << overhead(*report.addedCostLowerBound);
  else
    os << ", proved: no plan fits";
  os << ")\n";
  if (report.predicted)
    os << "  by the cost model " << formatPicoseconds(report.predicted->cost) << " + "
       << formatPicoseconds(report.predicted->addedCost)
       << llvm::format(" (%.2f %%)\n",
                       100 * getOverhead(report.predicted->addedCost, report.predicted->cost));
  os << "  arguments " << formatBytes(report.argumentBytes) << ", results "
     << formatBytes(report.resultBytes) << ", constants " << formatBytes(report.constantBytes)
     << ", largest working set " << formatBytes(report.workingSetBytes)
     << ", smallest known packed peak " << formatBytes(report.minimumKnownBytes) << '\n'
     << "  peak at '" << report.peakOperation.name << "' (operation " << report.peakOperation.index
     << "):";
  for (const auto &[category, bytes] : report.categoriesAtPeak)
    os << ' ' << category << ' ' << formatBytes(bytes) << ';';
  os << '\n';

  os << "  live at the peak:\n";
  for (auto [index, row] : llvm::enumerate(report.liveAtPeak)) {
    if (index == kMaxRows && report.liveAtPeak.size() > kMaxRows + 1) {
      int64_t rest = 0;
      for (size_t i = index; i < report.liveAtPeak.size(); ++i)
        rest += report.liveAtPeak[i].bytes;
      os << llvm::format("  %17lld B  ", (long long)rest) << "in "
         << report.liveAtPeak.size() - kMaxRows << " more rows\n";
      break;
    }
    os << llvm::format("  %17lld B  ", (long long)row.bytes) << row.value
       << (row.value.empty() ? "" : " of ") << row.producer;
    if (!row.reason.empty())
      os << ": " << row.reason;
    os << '\n';
  }
  if (!report.recomputed.empty()) {
    os << "  recomputed:\n";
    // By operation name, most bytes first.
    struct Sum {
      int64_t clones = 0, bytes = 0, cost = 0;
    };
    std::map<std::string, Sum> sums;
    for (const RecomputedReport &row : report.recomputed) {
      Sum &sum = sums[row.producer];
      sum.clones += row.clones;
      sum.bytes += row.clones * row.bytes;
      sum.cost += row.cost;
    }
    std::vector<std::pair<std::string, Sum>> rows(sums.begin(), sums.end());
    llvm::stable_sort(rows,
                      [](const auto &a, const auto &b) { return a.second.bytes > b.second.bytes; });
    for (const auto &[name, sum] : rows)
      os << llvm::format("  %6lld x  ", (long long)sum.clones) << llvm::left_justify(name, 32)
         << llvm::right_justify(formatBytes(sum.bytes), 9) << "  " << formatPicoseconds(sum.cost)
         << '\n';
  }
  if (!report.moved.empty())
    os << "  moved to where they are needed: " << report.moved.size() << " operations\n";
}

void mlir::remat::print(const Report &report, raw_ostream &os) {
  for (const FunctionReport &function : report.functions)
    ::print(function, os);
}
