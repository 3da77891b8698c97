//===- TileBuilder.cpp - Transposition in shared memory ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The block of a tile has 8 warps. Each loads every eighth row of the tile of an operand,
// and computes every eighth row of the results, that is, of the columns of operands:
//
//     operand   lane: readLoop         shared          results   lane: writeLoop
//     warp 0    ------------>          [row][lane]     warp 0    [lane][row]  ------------>
//     warp 1    ------------>     ->              ->   warp 1    ------------>
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"
#include "SharedTiles.h"
#include "ThreadBuilder.h"
#include "ThreadLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

static constexpr int64_t kSize = SharedTile::kSize, kNumWarps = kBlockThreads / kWarp;
static_assert(kSize == kWarp, "a warp has a row");

namespace {
class TileBuilder : public ElementBuilder {
public:
  TileBuilder(RewriterBase &rewriter, GenericOp op, const SharedTile &tile)
      : ElementBuilder(rewriter, op, /*width=*/1), tile(tile) {}

  KernelGeometry build(gpu::GPUFuncOp kernel);

protected:
  SmallVector<Value> load(OpOperand &operand, ValueRange indices) override;

private:
  int64_t getNumTiles(unsigned loop) {
    return llvm::divideCeilSigned(op.getStaticLoopRanges()[loop], kSize);
  }
  Value sum(Value a, Value b) { return arith::AddIOp::create(rewriter, loc, a, b); }
  Value times(Value a, int64_t b) { return arith::MulIOp::create(rewriter, loc, a, constant(b)); }
  int64_t setFirst(Value block);
  void forRows(unsigned laneLoop, unsigned rowLoop, function_ref<void(ValueRange)> body);

  const SharedTile &tile;
  Value lane, warp;
  /// While rows are visited: the number of the row in the tile.
  Value row;
  /// Indices of the first element of the tile.
  SmallVector<Value> first;
  /// Of each transposed operand.
  SmallVector<Value> buffers;
};
} // namespace

/// Sets the indices of the tile of a block, and returns the number of all tiles.
int64_t TileBuilder::setFirst(Value block) {
  first.assign(op.getNumLoops(), constant(0));
  int64_t numTiles = 1;
  for (unsigned loop : {tile.writeLoop, tile.readLoop}) {
    int64_t number = getNumTiles(loop);
    first[loop] = times(remainder(block, number), kSize);
    block = divide(block, number);
    numTiles *= number;
  }
  SmallVector<unsigned> others;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (loop != tile.writeLoop && loop != tile.readLoop) {
      others.push_back(loop);
      numTiles *= range;
    }
  setIndices(others, block, first);
  return numTiles;
}

/// Visits the elements of a thread that are inside of all ranges: one in each of its rows.
void TileBuilder::forRows(unsigned laneLoop, unsigned rowLoop,
                          function_ref<void(ValueRange)> body) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value zero = constant(0), end = constant(kSize / kNumWarps), one = constant(1);
  auto loop = scf::ForOp::create(rewriter, loc, zero, end, one);
  rewriter.setInsertionPointToStart(loop.getBody());
  row = sum(warp, times(loop.getInductionVar(), kNumWarps));
  SmallVector<Value> indices(first);
  indices[laneLoop] = sum(indices[laneLoop], lane);
  indices[rowLoop] = sum(indices[rowLoop], row);
  Value isInside;
  for (unsigned checked : {laneLoop, rowLoop}) {
    int64_t range = op.getStaticLoopRanges()[checked];
    if (range % kSize == 0)
      continue;
    Value isBelow = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                          indices[checked], constant(range));
    isInside =
        isInside ? arith::AndIOp::create(rewriter, loc, isInside, isBelow).getResult() : isBelow;
  }
  if (isInside)
    ifTrue(isInside, [&] { body(indices); });
  else
    body(indices);
}

SmallVector<Value> TileBuilder::load(OpOperand &operand, ValueRange indices) {
  auto *found = llvm::find(tile.operands, &operand);
  if (found == tile.operands.end())
    return ElementBuilder::load(operand, indices);
  return {memref::LoadOp::create(rewriter, loc, buffers[found - tile.operands.begin()],
                                 ValueRange{lane, row})};
}

KernelGeometry TileBuilder::build(gpu::GPUFuncOp kernel) {
  rewriter.setInsertionPoint(op);
  Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x);
  lane = remainder(thread, kWarp);
  warp = divide(thread, kWarp);
  int64_t numTiles = setFirst(block);
  auto space = gpu::AddressSpaceAttr::get(op.getContext(), gpu::AddressSpace::Workgroup);
  for (OpOperand *operand : tile.operands)
    buffers.push_back(kernel.addWorkgroupAttribution(
        MemRefType::get({kSize, SharedTile::kRowSize},
                        getElementTypeOrSelf(operand->get().getType()), AffineMap(), space),
        loc));
  forRows(tile.readLoop, tile.writeLoop, [&](ValueRange indices) {
    for (auto [operand, buffer] : llvm::zip_equal(tile.operands, buffers)) {
      Value value = ElementBuilder::load(*operand, indices).front();
      memref::StoreOp::create(rewriter, loc, value, buffer, ValueRange{row, lane});
    }
  });
  gpu::BarrierOp::create(rewriter, loc);
  forRows(tile.writeLoop, tile.readLoop, [&](ValueRange indices) {
    SmallVector<Value> start = loadResults(indices);
    store(compute(indices, start), indices);
  });
  rewriter.eraseOp(op);
  return {numTiles, kBlockThreads};
}

KernelGeometry mlir::remat::distributeTiles(RewriterBase &rewriter, gpu::GPUFuncOp kernel,
                                            GenericOp op, const SharedTile &tile) {
  return TileBuilder(rewriter, op, tile).build(kernel);
}
