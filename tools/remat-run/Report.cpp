//===- Report.cpp - What was run, for people and programs -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "Remat/Support/ByteCount.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace mlir::remat;
using llvm::formatv;

/// How much longer the second variant takes than the first, as a part of that.
static double getMeasuredOverhead(const RunReport &report) {
  double before = report.getBaseline().result.milliseconds;
  return before > 0 ? report.variants.back().result.milliseconds / before - 1 : 0;
}

static double getPredictedOverhead(const RunReport &report) {
  const FittedFunction &memory = report.variants.back().memory;
  return getOverhead(memory.addedCost, memory.cost);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// JSON has neither infinity nor what is no number.
static llvm::json::Value toJSON(double number) {
  return std::isfinite(number) ? llvm::json::Value(number) : nullptr;
}

static llvm::json::Value toJSON(const Variant &variant) {
  llvm::json::Array losses;
  for (double loss : variant.result.losses)
    losses.push_back(toJSON(loss));
  return llvm::json::Object{{"predicted_packed_bytes", variant.memory.predictedBytes},
                            {"arena_bytes", variant.spec.arenaBytes},
                            {"argument_bytes", variant.argumentBytes},
                            {"result_bytes", variant.resultBytes},
                            {"vmhwm_bytes", variant.result.highWaterBytes},
                            {"milliseconds_per_iteration", variant.result.milliseconds},
                            {"losses", std::move(losses)}};
}

llvm::json::Value mlir::remat::toJSON(const RunReport &report) {
  llvm::json::Object object{{"version", 1},
                            {"baseline", ::toJSON(report.getBaseline())},
                            {"rematerialized", nullptr},
                            {"results_equal", nullptr},
                            {"max_difference", nullptr},
                            {"costs", nullptr},
                            {"overhead_predicted", nullptr},
                            {"overhead_measured", nullptr}};
  if (report.comparison) {
    object["rematerialized"] = ::toJSON(report.variants.back());
    object["results_equal"] = report.isEqual();
    object["max_difference"] = ::toJSON(report.comparison->maxDifference);
    object["costs"] = report.hasMeasuredCosts ? "profile" : "model";
    object["overhead_predicted"] = getPredictedOverhead(report);
    object["overhead_measured"] = getMeasuredOverhead(report);
  }
  return object;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void printRow(const Variant &variant, const Variant &baseline, raw_ostream &os) {
  os << formatv("{0,-14} {1,14} {2,14} {3,14} {4,14} {5,12} {6,12:f3} {7,7:f3}\n", variant.name,
                variant.memory.predictedBytes, variant.memory.takenBytes, variant.spec.arenaBytes,
                variant.argumentBytes, formatBytes(variant.result.highWaterBytes),
                variant.result.milliseconds,
                variant.result.milliseconds / std::max(baseline.result.milliseconds, 1e-9));
}

static void printComparison(const RunReport &report, raw_ostream &os) {
  const FittedFunction &memory = report.variants.back().memory;
  os << formatv("\nbudget       {0} B\noverhead     {1:f2} % predicted by {2}\n"
                "             {3:f2} % measured\nresults      ",
                memory.budgetBytes.value_or(0), 100 * getPredictedOverhead(report),
                report.hasMeasuredCosts ? "measured costs" : "the cost model",
                100 * getMeasuredOverhead(report));
  if (report.isEqual())
    os << "equal, bit for bit\n";
  else
    os << formatv("differ, most in result {0}: by {1}\n", *report.comparison->result,
                  report.comparison->maxDifference);
}

/// The loss of each step, of all variants.
static void printLosses(const RunReport &report, raw_ostream &os) {
  os << formatv("\n{0,-6}", "step");
  for (const Variant &variant : report.variants)
    os << formatv(" {0,16}", variant.name);
  os << '\n';
  for (size_t step = 0; step < report.getBaseline().result.losses.size(); ++step) {
    os << formatv("{0,-6}", step);
    for (const Variant &variant : report.variants)
      os << llvm::format(" %16.9g", variant.result.losses[step]);
    os << '\n';
  }
}

void mlir::remat::print(const Step &step, const RunReport &report, raw_ostream &os) {
  os << formatv("'{0}': {1} arguments, {2} results\n\n", step.function, step.arguments.size(),
                report.getBaseline().spec.results.size());
  os << formatv("{0,-14} {1,14} {2,14} {3,14} {4,14} {5,12} {6,12} {7,7}\n", "", "predicted, B",
                "taken, B", "arena, B", "arguments, B", "VmHWM", "time, ms", "ratio");
  for (const Variant &variant : report.variants)
    printRow(variant, report.getBaseline(), os);
  if (report.comparison)
    printComparison(report, os);
  if (!report.getBaseline().result.losses.empty())
    printLosses(report, os);
}

void mlir::remat::printOperations(const Step &step, const CostProfile &profile, raw_ostream &os) {
  /// Rows of the table; the file has all of them.
  constexpr size_t kMaxRows = 16;
  std::vector<size_t> order;
  int64_t measured = 0, predicted = 0;
  for (auto [index, time] : llvm::enumerate(profile.operations)) {
    if (time.executions == 0)
      continue;
    order.push_back(index);
    measured += time.picoseconds;
    predicted += step.operations[index].predicted;
  }
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return profile.operations[a].picoseconds > profile.operations[b].picoseconds;
  });

  os << formatv("\noperations by time, of {0} that were measured\n\n{1,12} {2,7} {3,12} {4,9}\n",
                order.size(), "measured", "share", "cost model", "ratio");
  auto printTimes = [&](int64_t time, int64_t model) {
    os << formatv("{0,12} {1,6:f1}% {2,12} {3,9:f2}", formatPicoseconds(time),
                  100 * getOverhead(time, measured), formatPicoseconds(model),
                  getOverhead(time, model));
  };
  for (size_t index : llvm::ArrayRef(order).take_front(kMaxRows)) {
    const StepOperation &operation = step.operations[index];
    printTimes(profile.operations[index].picoseconds, operation.predicted);
    os << formatv("  {0} (operation {1}), {2}\n", operation.name, index, operation.location);
  }
  printTimes(measured, predicted);
  os << "  all\n";
}
