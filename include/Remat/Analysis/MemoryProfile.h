//===- MemoryProfile.h - What fills the memory of a function, and when ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plain value that describes the memory of one function under one plan: how
// much is live over time, what is live at the peak and what for. Printed as a
// table for people and as JSON for programs. docs/memory-model.md defines the
// terms.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_MEMORYPROFILE_H
#define REMAT_ANALYSIS_MEMORYPROFILE_H

#include "Remat/Analysis/Categories.h"
#include "Remat/Planner/PlanFamily.h"
#include "llvm/Support/JSON.h"

namespace mlir::remat {

/// A location in one line: `name (file:line:column)` or what is known of that;
/// of fused locations the first that is known, of calls the callee's.
std::string formatLocation(Location location);

/// An operation of the function, by its position in the block.
struct ProfileOperation {
  std::string name;
  planner::OpIndex index = 0;
  std::string location;
};

/// One storage that is live at the peak.
struct LiveStorage {
  /// As printed in the function: `%12`, `%5#1`; of the values that share the
  /// storage one after the other the one that it holds at the peak. Empty for
  /// program data that only regions or callees read.
  std::string value;
  /// Name of the operation that defines it; `argument` or `constant`.
  std::string producer;
  /// Before alignment.
  int64_t bytes = 0;
  Category category = Category::Temporary;
  std::string location;
  /// The last operation of the function that reads it; nothing when none does,
  /// as for program data that only regions or callees read.
  std::optional<ProfileOperation> lastReader;
};

/// Bytes at the peak of the storages defined by operations of one name.
struct ProducerTotal {
  std::string producer;
  int64_t bytes = 0;
  int64_t numStorages = 0;
};

/// A part of the time axis: the largest live bytes during it.
struct ProfileColumn {
  /// Half-open, in positions of executed operations; at least one.
  int64_t begin = 0, end = 1;
  int64_t bytes = 0;
};

/// All sizes in bytes. With Scope::Temporaries, arguments and results have no
/// bytes in any of them except in `argumentBytes` and `resultBytes`.
struct MemoryProfile {
  std::string function;
  /// Executed operations, clones included.
  int64_t numSteps = 0;
  Scope scope = Scope::Total;
  int64_t alignment = 1;

  /// Highest sum of live storages and workspace, before alignment.
  int64_t livePeakBytes = 0;
  /// Bytes of the aligned arguments and constants and of the arena.
  int64_t packedPeakBytes = 0;
  int64_t argumentBytes = 0, resultBytes = 0, constantBytes = 0;
  /// Of the arguments and constants as they count in the peak.
  int64_t boundaryBytes = 0;

  /// By argument of the function.
  std::vector<Category> argumentCategories;

  /// Where `livePeakBytes` occurs first, and its position in the order of
  /// execution.
  ProfileOperation peak;
  int64_t peakStep = 0;
  /// What is live there, largest first, equal ones in the order of definition;
  /// without storages of 0 bytes. These rows, `workspaceBytes`,
  /// `alignmentBytes` and `fragmentationBytes` add up to `packedPeakBytes`; the
  /// first two of them to `livePeakBytes`.
  std::vector<LiveStorage> live;
  /// Scratch memory of the operation at the peak.
  int64_t workspaceBytes = 0;
  /// What rounding up adds to the storages and the workspace at the peak.
  int64_t alignmentBytes = 0;
  /// The rest of the arena: gaps between buffers at the peak, and what the
  /// arena needs at other times beyond it.
  int64_t fragmentationBytes = 0;

  /// Bytes at the peak by category, indexed by it; without workspace.
  std::vector<int64_t> categoryBytes;
  /// The same by producer, largest first, equal ones by name.
  std::vector<ProducerTotal> producers;

  /// Live bytes over time: disjoint, in order, covering all steps.
  std::vector<ProfileColumn> timeline;
  /// The result that was taken as the loss, and the operation where forward
  /// ends.
  std::optional<unsigned> lossResult;
  std::optional<ProfileOperation> loss;
  /// Position in the order of execution of `loss`.
  int64_t lossStep = 0;

  /// No plan needs less packed memory than this: arguments, constants and what
  /// some operation needs at once beside them, aligned.
  int64_t workingSetBytes = 0;
  /// The operation that needs most, with the bytes of its operands and results
  /// that are no boundary values and of its workspace, aligned.
  ProfileOperation largest;
  int64_t largestBytes = 0;
  int64_t largestWorkspaceBytes = 0;
  bool largestHasRegions = false;
  /// Whether that is the terminator, which reads the results.
  bool largestIsTerminator = false;
  /// Of the results that are new values of parameters and optimizer state, and
  /// not the arguments themselves.
  int64_t newStateBytes = 0;

  /// Values of unknown size, which count as 0 bytes, and the first of them.
  int64_t numUnknownSizes = 0;
  std::string firstUnknownSize;

  int64_t getBytes(Category category) const { return categoryBytes[static_cast<size_t>(category)]; }
};

/// Describes the function that `problem` was built from when it is executed as
/// `solution` says. `scope` is the one that the problem was built with. Time is
/// divided into `numColumns` columns, or one per step if there are fewer steps.
MemoryProfile computeMemoryProfile(FunctionOpInterface function, const FunctionProblem &problem,
                                   const ValueRoles &roles, const planner::Solution &solution,
                                   Scope scope, int64_t numColumns = 72);

struct ProfilePrintOptions {
  /// Rows of each table; what is cut is summed up in one row. 0: all.
  int64_t limit = 16;
};

/// Prints tables and a curve for people.
void print(const MemoryProfile &profile, raw_ostream &os, const ProfilePrintOptions &options = {});

/// One or two sentences: whether recomputation can help, and if not, what can.
std::string explain(const MemoryProfile &profile);

/// The keys are listed in docs/memory-model.md and stable within a version.
llvm::json::Value toJSON(const MemoryProfile &profile);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_MEMORYPROFILE_H
