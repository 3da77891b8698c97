//===- PlannerJSONFuzzer.cpp - Any text as a problem and a plan -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For libFuzzer (-fsanitize=fuzzer). The input is a problem, and behind the
// first zero byte a plan for it. Whatever parses is written, read again,
// executed and packed; results are checked against each other.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Bounds.h"
#include "Remat/Planner/Serialization.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::remat::planner;

namespace {

void require(bool condition, const char *message) {
  if (!condition)
    llvm::report_fatal_error(message);
}

template <typename T>
std::string textOf(const T &value) {
  std::string text;
  llvm::raw_string_ostream(text) << toJSON(value);
  return text;
}

template <typename T>
std::optional<T> take(llvm::Expected<T> result) {
  if (result)
    return std::move(*result);
  llvm::consumeError(result.takeError());
  return std::nullopt;
}

void execute(const Problem &problem, const Plan &plan) {
  Simulation simulation = simulate(problem, plan);
  PackedPlan packed = pack(problem, plan, simulation, /*maxVisits=*/10'000);
  require(packed.packedBytes >= simulation.livePeak, "packed below the live peak");
  require(packed.packedBytes >= workingSetBytes(problem), "packed below the working set");

  std::vector<Buffer> buffers;
  Packing packing;
  packing.arenaBytes = packed.arenaBytes;
  for (auto [storage, offset] : llvm::zip_equal(simulation.storages, packed.offsets)) {
    if (storage.isBoundary)
      continue;
    buffers.push_back({storage.begin, storage.end, storage.bytes});
    packing.offsets.push_back(offset);
  }
  llvm::cantFail(verifyPacking(buffers, problem.alignment, packing));

  // The plan is within its own peak, so it adds what the bound says or more.
  require(addedCostLowerBound(problem, simulation.livePeak) <= addedCost(problem, plan),
          "cheaper than the lower bound");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef input(reinterpret_cast<const char *>(data), size);
  auto [problemText, planText] = input.split('\0');
  std::optional<Problem> problem = take(parseProblem(problemText));
  if (!problem)
    return 0;
  std::string text = textOf(*problem);
  require(textOf(llvm::cantFail(parseProblem(text))) == text, "a problem changes");

  Plan identity = identityPlan(*problem);
  llvm::cantFail(verify(*problem, identity));
  execute(*problem, identity);

  std::optional<Plan> plan = take(parsePlan(planText, *problem));
  if (!plan)
    return 0;
  text = textOf(*plan);
  require(textOf(llvm::cantFail(parsePlan(text, *problem))) == text, "a plan changes");
  execute(*problem, *plan);
  assignRegions(*problem, *plan);
  llvm::cantFail(verify(*problem, *plan));
  execute(*problem, *plan);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  print(*problem, *plan, os);
  return 0;
}
