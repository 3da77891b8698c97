//===- Arrays.h - The planner's data as flat arrays -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between the structs of the C API and those of the planner. What comes in is only
// checked for its form: counts, null pointers, the beginnings of lists, flags.
// Whether the data make sense is decided by `check` and `verify`. Not installed.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CAPI_ARRAYS_H
#define REMAT_LIB_CAPI_ARRAYS_H

#include "Calls.h"
#include "Remat-c/Planner.h"
#include "Remat/Planner/Packing.h"
#include "Remat/Support/Error.h"

namespace mlir::remat::planner::capi {

using remat::makeError;
using remat::capi::requirePointer;

/// Whether `count` is at least 0 and at most REMAT_MAX_COUNT, and there is an array
/// unless it is 0.
llvm::Error checkArray(const void *array, const char *name, int64_t count, const char *countName);

llvm::Expected<Problem> toProblem(const RematProblemArrays &arrays);
/// A plan that is not yet verified. Its regions are arbitrary ones that hold all
/// clones if the arrays have none.
llvm::Expected<Plan> toPlan(const RematPlanArrays &arrays);
bool hasRegions(const RematPlanArrays &arrays);

/// One list after the other.
struct FlatLists {
  std::vector<int64_t> begins = {0};
  std::vector<int64_t> entries;

  void append(llvm::ArrayRef<int64_t> list) {
    entries.insert(entries.end(), list.begin(), list.end());
    begins.push_back(entries.size());
  }
};

/// Holds the arrays of a problem, except for the names themselves.
class FlatProblem {
public:
  /// `problem` must stay alive.
  explicit FlatProblem(const Problem &problem);
  RematProblemArrays view() const;

private:
  std::vector<int64_t> costs, workspaces, bytes, sources, producers;
  std::vector<int64_t> variantBegins = {0}, variantCosts, variantWorkspaces;
  std::vector<uint8_t> effects, recomputable, policies, placements, awaitable;
  std::vector<const char *> operationNames, valueNames;
  FlatLists reads, dependences, writes;
  int64_t alignment;
};

class FlatPlan {
public:
  explicit FlatPlan(const Plan &plan);
  RematPlanArrays view() const;

private:
  std::vector<int64_t> operations, variants;
  std::vector<uint8_t> isClone;
  FlatLists reads, dependences;
  std::vector<int64_t> regionBegins, regionEnds, regionAfterValues, regionAfterSteps;
};

class FlatSimulation {
public:
  FlatSimulation(Simulation simulation, PackedPlan packing, int64_t addedCost);
  RematSimulationArrays view() const;

private:
  Simulation simulation;
  PackedPlan packing;
  int64_t addedCost;
  std::vector<int64_t> storageBytes, storageBegins, storageEnds, storageValues, storageSteps;
  std::vector<uint8_t> storageIsBoundary;
};

} // namespace mlir::remat::planner::capi

#endif // REMAT_LIB_CAPI_ARRAYS_H
