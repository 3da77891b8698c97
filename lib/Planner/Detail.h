//===- Detail.h - What the planner's own files share ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about a problem or a plan that several files need: limits of sums, the
// roots of views, the operations that no plan can leave out, and the last
// reader of everything that shares bytes by views. Not installed.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_DETAIL_H
#define REMAT_LIB_PLANNER_DETAIL_H

#include "Remat/Planner/Plan.h"
#include "Remat/Support/Error.h"
#include <algorithm>
#include <utility>

namespace mlir::remat::planner::detail {

using remat::makeError;

/// `verify` accepts a plan whose steps sum up to at most this. A plan that
/// executes each operation 64 times is below it on every problem that passes
/// `check`; on a problem with a petabyte of values or 18 minutes of work, one
/// that executes each operation 4096 times. Nothing that the planner adds up is
/// larger than the sum over all steps plus the boundary, so no sum overflows.
constexpr int64_t kMaxPlanSum = int64_t(1) << 62;

/// For each value, its position among the writes of its producer; 0 for
/// boundary values.
std::vector<int64_t> writePositions(const Problem &problem);

/// For each view and reuse, the position of its source among the reads of its
/// producer; 0 for other values.
std::vector<int64_t> sourcePositions(const Problem &problem);

/// For each value, the value whose storage it shows: itself unless it is a
/// view. A value that may reuse a storage is a root of its own.
std::vector<ValueIndex> viewRoots(const Problem &problem);

/// Bytes of the boundary values that are in memory, each rounded up to a multiple of
/// `alignment`.
int64_t boundaryBytes(const Problem &problem, int64_t alignment);

/// For each operation, how many pinned operations are before it.
std::vector<int64_t> pinnedBefore(const Problem &problem);

/// For each operation, whether every plan executes it: it is not pure, or such
/// an operation depends on it.
std::vector<bool> neededOperations(const Problem &problem);

/// Whether first executions are in the order of the problem, those of clones that stand
/// for originals included.
bool keepsOrder(const Problem &problem, const Plan &plan);

/// Scratch bytes of the variant that takes the fewest.
int64_t leastWorkspace(const Operation &operation);

/// The variant that `chooseVariants` lets a step use that has room for `maxWorkspace`
/// bytes.
int64_t chooseVariant(const Operation &operation, int64_t maxWorkspace, int64_t alignment);

/// Live bytes during each step without its workspace, every storage rounded up to a
/// multiple of `alignment`.
std::vector<int64_t> liveBytesOfStorages(const Problem &problem, const Plan &plan,
                                         int64_t alignment);

/// Bytes that the operations need beside the boundary values while they run:
/// operands, results and workspace. Each root is counted once, and results take
/// the place of operands wherever that is possible, so this is a lower bound in
/// every plan.
class WorkingSets {
public:
  /// Rounds every size up to a multiple of `roundTo`, a power of two. `input`
  /// must stay alive.
  WorkingSets(const Problem &input, int64_t roundTo);
  int64_t bytes(OpIndex op);
  /// The storages of the last operation asked for: roots of its operands that
  /// are in memory and no boundary values.
  llvm::ArrayRef<ValueIndex> operandRoots() const { return operands; }

private:
  const Problem &problem;
  int64_t alignment;
  std::vector<ValueIndex> roots;
  /// By root: how many operands of the last operation asked for show it, and how
  /// many results may take its place.
  std::vector<int64_t> numReads, numReuses;
  llvm::SmallVector<ValueIndex, 8> operands;
};

/// The value instances of a plan, grouped by the bytes they show. A group is a
/// value that is no view and all views of it; it is what a storage holds at
/// one time, and a storage holds several one after the other only by reuse.
struct ViewGroups {
  /// Group of the k-th write of step s: group[firstWrite[s] + k]. Groups
  /// 0 .. values-1 belong to boundary values and are unused for others.
  std::vector<int64_t> firstWrite;
  std::vector<int64_t> group;
  /// By group: the value that is no view, and the last step that reads any
  /// value of the group; -1 when none does.
  std::vector<ValueIndex> root;
  std::vector<StepIndex> lastRead;

  /// `plan` verifies, except for its regions.
  ViewGroups(const Problem &problem, const Plan &plan);

  int64_t of(const ValueInstance &instance) const {
    if (instance.step == kBoundary)
      return instance.value;
    return group[firstWrite[instance.step] + position[instance.value]];
  }
  /// Notes a read.
  void read(const ValueInstance &instance, StepIndex step) {
    StepIndex &last = lastRead[of(instance)];
    last = std::max(last, step);
  }

  /// The group that `step` reads for the source of its view or reuse `value`.
  int64_t ofSource(const Step &step, const Value &value, ValueIndex index) const {
    return of({value.source, step.reads[sourcePosition[index]]});
  }

private:
  std::vector<int64_t> position, sourcePosition;
};

} // namespace mlir::remat::planner::detail

#endif // REMAT_LIB_PLANNER_DETAIL_H
