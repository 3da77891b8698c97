//===- KernelLoops.cpp - Order and number of a kernel's loops ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"

#include "KernelAccess.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

//===----------------------------------------------------------------------===//
// Order of loops
//===----------------------------------------------------------------------===//

/// The loop to have inside all others: over neighbours in as many operands as possible, and
/// long.
static unsigned chooseInnermost(GenericOp op, ArrayRef<SmallVector<int64_t>> strides) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto getCost = [&](unsigned loop) {
    int64_t cost = 0;
    for (const SmallVector<int64_t> &operand : strides)
      cost += operand[loop] == 0 ? 0 : operand[loop] == 1 ? 1 : 8;
    // Starting a loop costs as much as some of its iterations.
    return 16 * cost + 256 / std::max<int64_t>(ranges[loop], 1);
  };
  unsigned best = op.getNumLoops() - 1;
  for (unsigned loop = best; loop-- > 0;)
    if (getCost(loop) < getCost(best))
      best = loop;
  return best;
}

void mlir::remat::orderLoops(RewriterBase &rewriter, GenericOp &op) {
  SmallVector<SmallVector<int64_t>> strides = getAllStrides(op);
  unsigned innermost = chooseInnermost(op, strides);
  auto getKey = [&](unsigned loop) {
    int64_t written = 0, read = 0;
    for (const SmallVector<int64_t> &operand : ArrayRef(strides).take_back(op.getNumDpsInits()))
      written += operand[loop];
    for (const SmallVector<int64_t> &operand : ArrayRef(strides).drop_back(op.getNumDpsInits()))
      read += operand[loop];
    return std::tuple(loop == innermost, !isParallel(op, loop), -written, -read);
  };
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return getKey(a) < getKey(b); });
  if (llvm::is_sorted(order))
    return;
  if (FailureOr<GenericOp> changed = linalg::interchangeGenericOp(rewriter, op, order);
      succeeded(changed))
    op = *changed;
}

//===----------------------------------------------------------------------===//
// Fewer loops
//===----------------------------------------------------------------------===//

void mlir::remat::collapseLoops(RewriterBase &rewriter, GenericOp &op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  // What needs the index of a loop keeps the loop.
  SmallVector<bool> isNeeded(op.getNumLoops(), false);
  op.getBody()->walk([&](linalg::IndexOp index) { isNeeded[index.getDim()] = true; });
  SmallVector<SmallVector<int64_t>> strides = getAllStrides(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto canMerge = [&](int64_t outer) {
    int64_t inner = outer + 1;
    return isParallel(op, outer) == isParallel(op, inner) && !isNeeded[outer] && !isNeeded[inner] &&
           !ShapedType::isDynamic(ranges[inner]) &&
           linalg::areDimSequencesPreserved(maps, {ReassociationIndices{outer, inner}}) &&
           llvm::all_of(strides, [&](ArrayRef<int64_t> operand) {
             return operand[outer] == operand[inner] * ranges[inner];
           });
  };
  SmallVector<ReassociationIndices> groups;
  for (int64_t loop = 0; loop < int64_t(op.getNumLoops()); ++loop) {
    if (loop > 0 && canMerge(loop - 1))
      groups.back().push_back(loop);
    else
      groups.push_back({loop});
  }
  if (groups.size() == op.getNumLoops())
    return;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(collapsed))
    return;
  rewriter.eraseOp(op);
  op = cast<GenericOp>(collapsed->collapsedOp.getOperation());
}

void mlir::remat::dropUnitLoops(RewriterBase &rewriter, GenericOp &op) {
  // What is left of a sum of two loops would have another range.
  for (AffineMap map : op.getIndexingMapsArray())
    if (!llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr, AffineConstantExpr>))
      return;
  rewriter.setInsertionPoint(op);
  linalg::ControlDropUnitDims control;
  control.rankReductionStrategy =
      linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
  FailureOr<linalg::DropUnitDimsResult> dropped = linalg::dropUnitDims(rewriter, op, control);
  if (failed(dropped))
    return;
  rewriter.eraseOp(op);
  op = cast<GenericOp>(dropped->resultOp);
}

FailureOr<GenericOp> mlir::remat::arrangeLoops(RewriterBase &rewriter, linalg::LinalgOp op) {
  auto generic = dyn_cast<GenericOp>(op.getOperation());
  rewriter.setInsertionPoint(op);
  if (!generic) {
    FailureOr<GenericOp> general = linalg::generalizeNamedOp(rewriter, op);
    if (failed(general))
      return failure();
    generic = *general;
  }
  dropUnitLoops(rewriter, generic);
  if (generic.getNumLoops() != 0) {
    orderLoops(rewriter, generic);
    collapseLoops(rewriter, generic);
  }
  return generic;
}
