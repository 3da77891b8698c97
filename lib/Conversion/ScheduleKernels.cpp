//===- ScheduleKernels.cpp - Orders, tiles and splits the loops of kernels --===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides from shapes and layouts alone in which order a kernel visits its elements, and
// which parts of it may run at the same time. Reductions are never split between threads,
// so that a sum is over its terms in one order, however many threads there are.
//
//===----------------------------------------------------------------------===//

#include "KernelAccess.h"
#include "KernelLoops.h"
#include "Remat/Conversion/Passes.h"
#include "TransposedTiles.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATSCHEDULEKERNELSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;
using linalg::LinalgOp;

/// In scalar operations. A kernel of at least this many is worth waking threads for, ...
static constexpr int64_t kMinParallelWork = int64_t(1) << 20;
/// ... which take parts of about this size.
static constexpr int64_t kPartWork = int64_t(1) << 18;
/// Neighbouring elements of each row that a part has at least, where there are so many: a
/// row of them is a good part of a page. And what their number is a multiple of.
static constexpr int64_t kMinRow = 512, kRowMultiple = 64;
/// Rows and columns of a part that is transposed, a good part of a page of each, and of the
/// blocks in it, some cache lines of each.
static constexpr int64_t kSquare = 256, kBlock = 64;
/// Elements that sums of rows are accumulated in before they go on to the next ones.
static constexpr int64_t kAccumulatorRow = 4096;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The largest multiple of `unit` that is not above `wanted`, where possible, and divides
/// `range`.
static int64_t getEvenPart(int64_t range, int64_t wanted, int64_t unit) {
  int64_t units = std::clamp<int64_t>(wanted / unit, 1, range / unit);
  while (range / unit % units != 0)
    --units;
  return units * unit;
}

/// Sizes of the parts that threads take, 0 for loops that stay whole: inner loops where
/// possible. `tile` has the sizes of tiles that parts are made of, if there are any.
/// Nothing for a kernel that one thread computes.
static SmallVector<int64_t> getParts(GenericOp op, ArrayRef<int64_t> tile) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t perIteration = op->getNumOperands() + op.getBody()->getOperations().size();
  int64_t work = perIteration, perResult = perIteration;
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    if (ShapedType::isDynamic(range))
      return {};
    work = llvm::SaturatingMultiply<uint64_t>(work, range);
    if (!isParallel(op, loop))
      perResult = llvm::SaturatingMultiply<uint64_t>(perResult, range);
  }
  if (work < kMinParallelWork)
    return {};
  SmallVector<int64_t> sizes(ranges.size(), 0);
  int64_t wanted = llvm::divideCeil(kPartWork, perResult);
  for (unsigned loop = ranges.size(); loop-- > 0;) {
    if (!isParallel(op, loop))
      continue;
    int64_t size = wanted;
    if (loop + 1 == ranges.size())
      size = llvm::alignTo(std::max(wanted, kMinRow), kRowMultiple);
    if (!tile.empty() && tile[loop] > 1)
      size = getEvenPart(ranges[loop], kSquare, tile[loop]);
    if (size < ranges[loop])
      sizes[loop] = size;
    wanted = llvm::divideCeil(wanted, std::min(size, ranges[loop]));
  }
  return sizes;
}

/// The value that a memref is a view of.
static Value getSource(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Makes the body of the loop a function, whose arguments alias as little as those of the
/// kernel.
static void outlinePart(IRRewriter &rewriter, scf::ForallOp forall, SymbolTable &symbols) {
  auto kernel = forall->getParentOfType<func::FuncOp>();
  // Equal views become one argument.
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  scf::ParallelOp parallel;
  rewriter.setInsertionPoint(forall);
  if (failed(scf::forallToParallelLoop(rewriter, forall, &parallel)))
    return;
  func::CallOp call;
  FailureOr<func::FuncOp> part =
      outlineSingleBlockRegion(rewriter, kernel.getLoc(), parallel.getRegion(),
                               (kernel.getSymName() + "_part").str(), &call);
  if (failed(part))
    return;
  FunctionOpInterface function = *part;
  function.setPrivate();
  function->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  llvm::SmallDenseMap<Value, unsigned> numViews;
  for (Value operand : call.getOperands())
    ++numViews[getSource(operand)];
  for (auto [index, operand] : llvm::enumerate(call.getOperands()))
    if (auto argument = dyn_cast<BlockArgument>(getSource(operand));
        argument && argument.getOwner() == &kernel.front() && numViews[argument] == 1)
      function.setArgAttrs(index, kernel.getArgAttrDict(argument.getArgNumber()));
  call.setCallee(symbols.insert(function));
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Makes tiles of these sizes, 0 for loops that stay whole, and returns the loops around.
static SmallVector<LoopLikeOpInterface> tileLoops(IRRewriter &rewriter, GenericOp &op,
                                                  ArrayRef<int64_t> sizes,
                                                  scf::SCFTilingOptions::LoopType loops) {
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return {};
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions options;
  options.setTileSizes(getAsIndexOpFoldResult(op.getContext(), sizes));
  options.setLoopType(loops);
  FailureOr<scf::SCFTilingResult> tiled =
      scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return {};
  rewriter.eraseOp(op);
  op = cast<GenericOp>(tiled->tiledOps.front());
  return tiled->loops;
}

namespace {
struct ScheduleKernelsPass : public remat::impl::RematScheduleKernelsPassBase<ScheduleKernelsPass> {
  void runOnOperation() override {
    SmallVector<LinalgOp> operations;
    getOperation()->walk([&](LinalgOp op) {
      if (op.hasPureBufferSemantics() && !llvm::is_contained(op.getStaticLoopRanges(), 0))
        operations.push_back(op);
    });
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    for (LinalgOp op : operations)
      schedule(rewriter, op, symbols);
    // At once, for canonicalization takes the elements of small vectors apart.
    RewritePatternSet shuffles(&getContext());
    vector::populateVectorTransposeLoweringPatterns(shuffles,
                                                    vector::VectorTransposeLowering::Shuffle16x16);
    walkAndApplyPatterns(getOperation(), std::move(shuffles));
  }

  static void schedule(IRRewriter &rewriter, LinalgOp named, SymbolTable &symbols) {
    FailureOr<GenericOp> arranged = arrangeLoops(rewriter, named);
    if (failed(arranged) || arranged->getNumLoops() == 0)
      return;
    GenericOp op = *arranged;
    SmallVector<GenericOp> rest;
    SmallVector<int64_t> tile = getTransposedTile(op);
    if (!tile.empty())
      rest = splitAtTiles(rewriter, op, tile);
    scheduleLoops(rewriter, op, tile, symbols);
    for (GenericOp border : rest)
      scheduleLoops(rewriter, border, {}, symbols);
  }

  static void scheduleLoops(IRRewriter &rewriter, GenericOp op, ArrayRef<int64_t> tile,
                            SymbolTable &symbols) {
    using LoopType = scf::SCFTilingOptions::LoopType;
    SmallVector<LoopLikeOpInterface> parts =
        tileLoops(rewriter, op, getParts(op, tile), LoopType::ForallOp);
    if (!tile.empty()) {
      SmallVector<int64_t> block(tile);
      for (auto [size, range] : llvm::zip_equal(block, op.getStaticLoopRanges()))
        if (size > 1 && !ShapedType::isDynamic(range))
          size = getEvenPart(range, kBlock, size);
      tileLoops(rewriter, op, block, LoopType::ForOp);
      tileLoops(rewriter, op, tile, LoopType::ForOp);
      transposeInRegisters(rewriter, op);
    }
    tileLoops(rewriter, op, getAccumulatorTile(op), LoopType::ForOp);
    if (!parts.empty())
      outlinePart(rewriter, cast<scf::ForallOp>(parts.front()), symbols);
  }

  /// Sums of rows that are too long to be kept in the cache are computed piece by piece.
  static SmallVector<int64_t> getAccumulatorTile(GenericOp op) {
    SmallVector<int64_t> sizes(op.getNumLoops(), 0);
    unsigned number = sizes.size();
    if (number >= 2 && isParallel(op, number - 1) && !isParallel(op, number - 2) &&
        op.getStaticLoopRanges().back() > kAccumulatorRow)
      sizes.back() = kAccumulatorRow;
    return sizes;
  }
};
} // namespace
