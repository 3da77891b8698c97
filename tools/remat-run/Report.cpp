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
  const FittedFunction &memory = report.variants.back().compiled.memory;
  return getOverhead(memory.addedCost, memory.cost);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// JSON has neither infinity nor what is no number.
static llvm::json::Value toJSON(double number) {
  return std::isfinite(number) ? llvm::json::Value(number) : nullptr;
}

static llvm::json::Value toJSON(const CompiledStep &compiled) {
  llvm::json::Array kernels;
  for (const KernelInfo &kernel : compiled.kernels)
    kernels.push_back(llvm::json::Object{{"name", kernel.name},
                                         {"launches", kernel.numLaunches},
                                         {"minimum_bytes", kernel.minimumBytes}});
  return llvm::json::Object{{"kernels", std::move(kernels)},
                            {"launches", compiled.getNumLaunches()},
                            {"library_calls", compiled.numLibraryCalls},
                            {"code_bytes", int64_t(compiled.deviceCode.size())}};
}

static llvm::json::Value toJSON(const Variant &variant, bool isExecuted) {
  const CompiledStep &compiled = variant.compiled;
  llvm::json::Object object{{"predicted_packed_bytes", compiled.memory.predictedBytes},
                            {"arena_bytes", compiled.description.arenaBytes},
                            {"argument_bytes", compiled.argumentBytes},
                            {"result_bytes", compiled.resultBytes}};
  if (compiled.description.device != Device::CPU)
    object["gpu_code"] = ::toJSON(compiled);
  if (!isExecuted)
    return object;
  llvm::json::Array losses;
  for (double loss : variant.result.losses)
    losses.push_back(toJSON(loss));
  object["vmhwm_bytes"] = variant.result.highWaterBytes;
  if (compiled.description.device == Device::GPU)
    object["device_bytes"] = variant.result.deviceBytes;
  object["milliseconds_per_iteration"] = variant.result.milliseconds;
  object["losses"] = std::move(losses);
  return object;
}

llvm::json::Value mlir::remat::toJSON(const RunReport &report) {
  llvm::json::Object object{{"version", 1},
                            {"device", getName(report.getDevice())},
                            {"baseline", ::toJSON(report.getBaseline(), report.isExecuted)},
                            {"rematerialized", nullptr},
                            {"results_equal", nullptr},
                            {"max_difference", nullptr},
                            {"costs", nullptr},
                            {"overhead_predicted", nullptr},
                            {"overhead_measured", nullptr}};
  if (report.variants.size() > 1) {
    object["rematerialized"] = ::toJSON(report.variants.back(), report.isExecuted);
    object["costs"] = report.hasMeasuredCosts ? "profile" : "model";
    object["overhead_predicted"] = getPredictedOverhead(report);
  }
  if (report.comparison) {
    object["results_equal"] = report.isEqual();
    object["max_difference"] = ::toJSON(report.comparison->maxDifference);
    object["overhead_measured"] = getMeasuredOverhead(report);
  }
  return object;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void printRow(const Variant &variant, const RunReport &report, raw_ostream &os) {
  const CompiledStep &compiled = variant.compiled;
  os << formatv("{0,-14} {1,14} {2,14} {3,14} {4,14}", variant.name, compiled.memory.predictedBytes,
                compiled.memory.takenBytes, compiled.description.arenaBytes,
                compiled.argumentBytes);
  if (report.isExecuted) {
    bool isGPU = report.getDevice() == Device::GPU;
    double before = report.getBaseline().result.milliseconds;
    os << formatv(" {0,12} {1,12:f3} {2,7:f3}",
                  formatBytes(isGPU ? variant.result.deviceBytes : variant.result.highWaterBytes),
                  variant.result.milliseconds,
                  variant.result.milliseconds / std::max(before, 1e-9));
  }
  os << '\n';
}

static void printComparison(const RunReport &report, raw_ostream &os) {
  const FittedFunction &memory = report.variants.back().compiled.memory;
  os << formatv("\nbudget       {0} B\noverhead     {1:f2} % predicted by {2}\n",
                memory.budgetBytes.value_or(0), 100 * getPredictedOverhead(report),
                report.hasMeasuredCosts ? "measured costs" : "the cost model");
  if (!report.comparison)
    return;
  os << formatv("             {0:f2} % measured\nresults      ", 100 * getMeasuredOverhead(report));
  if (report.isEqual())
    os << "equal, bit for bit\n";
  else
    os << formatv("differ, most in result {0}: by {1}\n", *report.comparison->result,
                  report.comparison->maxDifference);
}

/// What there is of code for a GPU.
static void printKernels(const RunReport &report, raw_ostream &os) {
  os << formatv("\n{0,-14} {1,14} {2,14} {3,14} {4,14}\n", "", "kernels", "launches",
                "library calls", "code, B");
  for (const Variant &variant : report.variants) {
    const CompiledStep &compiled = variant.compiled;
    os << formatv("{0,-14} {1,14} {2,14} {3,14} {4,14}\n", variant.name, compiled.kernels.size(),
                  compiled.getNumLaunches(), compiled.numLibraryCalls, compiled.deviceCode.size());
  }
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

void mlir::remat::print(const TrainingStep &step, const RunReport &report, raw_ostream &os) {
  os << formatv("'{0}': {1} arguments, {2} results\n\n", step.function, step.arguments.size(),
                report.getBaseline().compiled.description.results.size());
  os << formatv("{0,-14} {1,14} {2,14} {3,14} {4,14}", "", "predicted, B", "taken, B", "arena, B",
                "arguments, B");
  if (report.isExecuted)
    os << formatv(" {0,12} {1,12} {2,7}", report.getDevice() == Device::GPU ? "device" : "VmHWM",
                  "time, ms", "ratio");
  os << '\n';
  for (const Variant &variant : report.variants)
    printRow(variant, report, os);
  if (report.variants.size() > 1)
    printComparison(report, os);
  if (report.getDevice() != Device::CPU)
    printKernels(report, os);
  if (!report.getBaseline().result.losses.empty())
    printLosses(report, os);
}

void mlir::remat::printOperations(const TrainingStep &step, const CostProfile &profile,
                                  raw_ostream &os) {
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
