//===- KernelsToLoops.cpp - Loops, with sums in lanes -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One sum cannot be vectorized without another order of its terms. Where the innermost loop
// is a reduction, this fixes such an order: element i goes to lane i modulo kNumLanes, and
// the lanes are added to the result one after the other.
//
//===----------------------------------------------------------------------===//

#include "KernelAccess.h"
#include "Remat/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATKERNELSTOLOOPSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;
using linalg::LinalgOp;
using utils::IteratorType;

/// Terms of a sum that are added to different partial sums: a cache line of f32.
static constexpr int64_t kNumLanes = 16;

/// Rows whose terms are added to results at a time.
static constexpr uint64_t kNumRows = 4;

/// The operation that adds a term to each of the results, if lanes can replace them.
static SmallVector<Operation *> matchLaneCombiners(GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (ranges.empty() || op.getIteratorTypesArray().back() != IteratorType::reduction ||
      ShapedType::isDynamic(ranges.back()) || ranges.back() < 2 * kNumLanes)
    return {};
  SmallVector<Operation *> result = matchCombiners(op);
  // The order does not matter to others: compilers choose one.
  if (llvm::none_of(result, llvm::IsaPred<arith::AddFOp, arith::MulFOp>))
    return {};
  return result;
}

namespace {
/// Builds the loops of one operation.
class SumLowering {
public:
  SumLowering(IRRewriter &rewriter, GenericOp op, ArrayRef<Operation *> combiners)
      : rewriter(rewriter), loc(op.getLoc()), op(op), combiners(combiners) {}

  void run() {
    rewriter.setInsertionPoint(op);
    zero = constant(0);
    one = constant(1);
    SmallVector<Value> bounds;
    auto linalgOp = cast<LinalgOp>(op.getOperation());
    for (Range range : linalgOp.createLoopRanges(rewriter, loc))
      bounds.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, range.size));
    unsigned numParallel = llvm::count(op.getIteratorTypesArray(), IteratorType::parallel);
    for (Operation *combiner : combiners)
      lanes.push_back(memref::AllocaOp::create(
          rewriter, loc, MemRefType::get(kNumLanes, combiner->getResult(0).getType())));
    ArrayRef<Value> all = bounds;
    nest(all.take_front(numParallel), {}, [&](ValueRange outer) {
      clearLanes();
      nest(all.slice(numParallel).drop_back(), outer, [&](ValueRange indices) { addRow(indices); });
      addLanes(outer);
    });
    rewriter.eraseOp(op);
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }

  /// Loops from 0 to the bounds, around what `body` builds with all indices.
  void nest(ArrayRef<Value> bounds, ValueRange outer, function_ref<void(ValueRange)> body) {
    SmallVector<Value> indices(outer);
    OpBuilder::InsertionGuard guard(rewriter);
    for (Value bound : bounds) {
      auto loop = scf::ForOp::create(rewriter, loc, zero, bound, one);
      indices.push_back(loop.getInductionVar());
      rewriter.setInsertionPointToStart(loop.getBody());
    }
    body(indices);
  }

  /// A loop over the first lanes, which becomes instructions for all of them at once.
  void forLanes(int64_t numLanes, function_ref<void(Value)> body) {
    OpBuilder::InsertionGuard guard(rewriter);
    auto loop = scf::ForOp::create(rewriter, loc, zero, constant(numLanes), one);
    rewriter.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  void clearLanes() {
    for (auto [combiner, lane] : llvm::zip_equal(combiners, lanes)) {
      Value neutral = arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner));
      forLanes(kNumLanes, [&, lane = lane](Value index) {
        memref::StoreOp::create(rewriter, loc, neutral, lane, index);
      });
    }
  }

  /// The terms at `indices`, and at all places of the innermost loop.
  void addRow(ValueRange indices) {
    int64_t range = op.getStaticLoopRanges().back();
    int64_t whole = range / kNumLanes * kNumLanes;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      auto loop = scf::ForOp::create(rewriter, loc, zero, constant(whole), constant(kNumLanes));
      rewriter.setInsertionPointToStart(loop.getBody());
      addGroup(indices, loop.getInductionVar(), kNumLanes);
    }
    if (whole < range)
      addGroup(indices, constant(whole), range - whole);
  }

  void addGroup(ValueRange indices, Value first, int64_t numLanes) {
    forLanes(numLanes, [&](Value lane) {
      SmallVector<Value> all(indices);
      all.push_back(arith::AddIOp::create(rewriter, loc, first, lane));
      addTerm(all, lane);
    });
  }

  SmallVector<Value> getPlace(OpOperand &operand, ValueRange indices) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<OpFoldResult> values(indices);
    return getValueOrCreateConstantIndexOp(
        rewriter, loc,
        affine::makeComposedFoldedMultiResultAffineApply(rewriter, loc, map, values));
  }

  void addTerm(ValueRange indices, Value lane) {
    IRMapping mapping;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Value value = operand->get();
      if (isa<MemRefType>(value.getType()))
        value = memref::LoadOp::create(rewriter, loc, value, getPlace(*operand, indices));
      mapping.map(op.getMatchingBlockArgument(operand), value);
    }
    for (auto [argument, sum] : llvm::zip_equal(op.getRegionOutputArgs(), lanes))
      mapping.map(argument, memref::LoadOp::create(rewriter, loc, sum, lane).getResult());
    for (Operation &nested : op.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(nested))
        mapping.map(index.getResult(), indices[index.getDim()]);
      else
        rewriter.clone(nested, mapping);
    }
    for (auto [value, sum] : llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), lanes))
      memref::StoreOp::create(rewriter, loc, mapping.lookupOrDefault(value), sum, lane);
  }

  /// Adds the lanes to the results at `outer`.
  void addLanes(ValueRange outer) {
    // Results do not depend on the indices of reductions.
    SmallVector<Value> indices(outer);
    indices.append(op.getNumLoops() - outer.size(), zero);
    for (auto [index, sum] : llvm::enumerate(lanes)) {
      OpOperand &init = op.getDpsInitsMutable()[index];
      Operation *combiner = combiners[index];
      SmallVector<Value> place = getPlace(init, indices);
      Value value = memref::LoadOp::create(rewriter, loc, init.get(), place);
      OpBuilder::InsertionGuard guard(rewriter);
      auto loop = scf::ForOp::create(rewriter, loc, zero, constant(kNumLanes), one, value);
      rewriter.setInsertionPointToStart(loop.getBody());
      Value lane = memref::LoadOp::create(rewriter, loc, sum, loop.getInductionVar());
      IRMapping mapping;
      mapping.map(combiner->getOperands(), ValueRange{loop.getRegionIterArg(0), lane});
      Operation *added = rewriter.clone(*combiner, mapping);
      scf::YieldOp::create(rewriter, loc, added->getResults());
      rewriter.setInsertionPointAfter(loop);
      memref::StoreOp::create(rewriter, loc, loop.getResult(0), init.get(), place);
    }
  }

  IRRewriter &rewriter;
  Location loc;
  GenericOp op;
  ArrayRef<Operation *> combiners;
  Value zero, one;
  /// Partial results, one buffer for each result.
  SmallVector<Value> lanes;
};

struct KernelsToLoopsPass : public remat::impl::RematKernelsToLoopsPassBase<KernelsToLoopsPass> {
  void runOnOperation() override {
    SmallVector<LinalgOp> operations;
    getOperation()->walk([&](LinalgOp op) {
      if (op.hasPureBufferSemantics())
        operations.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (LinalgOp op : operations)
      lower(rewriter, op);
  }

  void lower(IRRewriter &rewriter, LinalgOp op) {
    if (auto generic = dyn_cast<GenericOp>(op.getOperation()))
      if (SmallVector<Operation *> combiners = matchLaneCombiners(generic); !combiners.empty())
        return SumLowering(rewriter, generic, combiners).run();
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::LinalgLoops> loops = linalg::linalgOpToLoops(rewriter, op);
    if (failed(loops))
      return;
    SmallVector<IteratorType> kinds = op.getIteratorTypesArray();
    bool isEmpty = llvm::is_contained(op.getStaticLoopRanges(), 0);
    rewriter.eraseOp(op);
    // Results of a row stay in registers while terms of some rows are added, in order.
    size_t number = loops->size();
    if (!isEmpty && number >= 2 && kinds[number - 1] == IteratorType::parallel &&
        kinds[number - 2] == IteratorType::reduction)
      (void)loopUnrollJamByFactor(cast<scf::ForOp>((*loops)[number - 2]), kNumRows);
  }
};
} // namespace
