//===- SinkClones.cpp - Recomputing only in the branch that needs it --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/SinkClones.h"

#include "Remat/Transforms/ApplyPlan.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/ControlFlowSinkUtils.h"

using namespace mlir;
using namespace mlir::remat;

/// The regions of an original that are executed at most once each. A clone with
/// regions needs its barrier where it is.
static SmallVector<Region *> getBranches(Operation *op, SummaryAnalysis &summaries) {
  SmallVector<Region *> branches;
  if (op->getNumRegions() == 0 || isRematerialized(op) ||
      op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return branches;
  const OperationModel &model = summaries.summarize(op).model;
  if (model.perElementRegions || model.tripCount != 1)
    return branches;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    getSinglyExecutedRegionsToSink(branch, branches);
  else if (!op->isRegistered() && summaries.summarize(op).hasModel)
    for (Region &region : op->getRegions())
      branches.push_back(&region);
  llvm::erase_if(branches, [](Region *region) { return !region->hasOneBlock(); });
  return branches;
}

/// Moves `op` in front of the first operation of the region's block that reads it.
static void moveToFirstReader(Operation *op, Region *region) {
  Operation *first = &region->front().back();
  for (Operation *user : op->getUsers())
    if (Operation *ancestor = region->front().findAncestorOpInBlock(*user);
        ancestor && ancestor->isBeforeInBlock(first))
      first = ancestor;
  op->moveBefore(first);
}

size_t mlir::remat::sinkClonesIntoBranches(Block &block, SummaryAnalysis &summaries) {
  size_t numMoved = 0;
  DominanceInfo dominance(block.getParentOp());
  for (Operation &op : block) {
    SmallVector<Region *> branches = getBranches(&op, summaries);
    if (!branches.empty())
      numMoved += controlFlowSink(
          branches, dominance, [](Operation *moved, Region *) { return isRematerialized(moved); },
          moveToFirstReader);
  }
  return numMoved;
}
