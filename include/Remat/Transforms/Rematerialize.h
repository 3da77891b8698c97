//===- Rematerialize.h - Planning and rewriting functions -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points behind the pass: plan a function, apply the plan, prove the
// result.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_REMATERIALIZE_H
#define REMAT_TRANSFORMS_REMATERIALIZE_H

#include "Remat/Analysis/Categories.h"
#include "Remat/Analysis/CostProfile.h"
#include "Remat/Analysis/FunctionProblem.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Planner/PlanFamily.h"
#include "Remat/Planner/Solve.h"
#include "Remat/Support/ByteCount.h"
#include "Remat/Transforms/OptionTypes.h"
#include "Remat/Transforms/PlanFile.h"
#include "Remat/Transforms/Report.h"

namespace mlir::remat {

struct RematerializeOptions {
  Budget budget;
  Scope scope = Scope::Total;
  OnInfeasible onInfeasible = OnInfeasible::Error;
  /// Whether operations may be moved to where their results are needed.
  bool reorder = true;
  Target target;
  /// Costs that were measured, in place of the target's; of the function as it comes in.
  const CostProfile *profile = nullptr;
  /// Models of operations without the interface; the built-in table if null.
  const ModelTable *models = nullptr;
  /// Values of fewer bytes are never dropped. Nothing: 2^-20 of the unchanged
  /// packed peak.
  std::optional<int64_t> minBytes;
  /// Every buffer begins at a multiple of this; a power of two, in bytes.
  int64_t alignment = 64;
  /// What happens to the operations of a function before they get memory; Kernels has
  /// happened.
  Fusion fusion = Fusion::None;
  RoleOptions roles;
  /// The solver, and how much it may do; what the fields above say as well follows
  /// from them.
  planner::SolveOptions search;
  /// Without a budget: the smallest peak within this limit is looked for.
  CostLimit maxOverhead;
  /// Whether to work out what smaller peaks cost.
  bool wantsFront = false;
  /// Whether reports say what happens in memory at any time.
  bool wantsDetails = false;
  /// Plans to apply instead of a search.
  const PlanFile *plans = nullptr;
};

/// What a peak costs.
struct FrontPoint {
  int64_t packedBytes;
  /// Picoseconds.
  int64_t addedCost;
};

struct Peaks {
  int64_t liveBytes;
  int64_t packedBytes;
};
/// The live and packed peak of a function as it stands. With `warn`, warns about what
/// is not counted.
FailureOr<Peaks> measurePeaks(FunctionOpInterface function, const RematerializeOptions &options,
                              SymbolTableCollection &symbols, bool warn = false);

/// A function with what is to be done to it. The IR is as it was.
struct PlannedFunction {
  FunctionOpInterface function;
  FunctionProblem problem;
  /// The plan to apply; nothing when the function stays as it is.
  std::optional<planner::Solution> solution;
  /// Of the function with the plan: what the plan says, or with Fusion::XLA what is
  /// counted in a rewritten copy, where clones may be computed inside of their readers.
  Peaks peaks = {};
  FunctionReport report;
  /// With RematerializeOptions::wantsFront: peaks fall, costs rise.
  std::vector<FrontPoint> front;
};

/// Plans one function. Emits one error and fails where it cannot be planned at
/// all; a budget that is too small is no failure but PlanStatus::Infeasible.
FailureOr<PlannedFunction> planFunction(FunctionOpInterface function,
                                        const RematerializeOptions &options,
                                        SymbolTableCollection &symbols);

/// Emits the error (with OnInfeasible::Warn the warning) about a budget that is
/// too small, with notes that add up to the packed peak; or about a limit of cost that
/// what must be recomputed exceeds.
void diagnoseInfeasible(const PlannedFunction &planned, const RematerializeOptions &options,
                        SymbolTableCollection &symbols);

/// Applies a plan and proves the result: the memory is counted again from the
/// rewritten IR, and its meaning is compared with the original's. Emits an
/// internal error and fails when they differ.
LogicalResult applyPlannedFunction(PlannedFunction &planned, const RematerializeOptions &options,
                                   SymbolTableCollection &symbols);

/// Describes the peak of a function as it stands, after its callees were rewritten:
/// it may be lower than planned.
void describeAgain(PlannedFunction &planned, const RematerializeOptions &options,
                   SymbolTableCollection &symbols);

/// Emits what was recomputed, what was kept and the peaks as remarks.
void emitRemarks(const PlannedFunction &planned);

/// Warns when merging equal operations of a function that is as planned, which its
/// input may have had already, would lead above the budget.
void warnAboutCSE(const PlannedFunction &planned, const RematerializeOptions &options,
                  SymbolTableCollection &symbols);

/// Plans and rewrites one function within its module, which must not be used by
/// others meanwhile. Fails, with the IR unchanged, when the budget is too small
/// and OnInfeasible::Error asks for it.
FailureOr<FunctionReport> rematerialize(FunctionOpInterface function,
                                        const RematerializeOptions &options);

/// Whether a function has no budget of its own, with the reason: a declaration,
/// or a private function that is called and counts inside its callers.
std::optional<std::string> getSkipReason(FunctionOpInterface function, Operation *symbolScope);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_REMATERIALIZE_H
