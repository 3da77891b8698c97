//===- TransposedTiles.cpp - Transposition of tiles in registers ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransposedTiles.h"

#include "KernelAccess.h"
#include "KernelLoops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

/// Rows and columns of a tile: those that upstream transposes by shuffles.
static constexpr int64_t kTile = 16;
/// Neighbours that are farther apart than this, in elements, share no cache line.
static constexpr int64_t kFar = 16;

/// The loop that visits neighbours of an input whose neighbours in the innermost loop are
/// far apart.
static std::optional<unsigned> getReadLoop(GenericOp op, OpOperand &operand) {
  SmallVector<int64_t> strides = getStrides(op, operand);
  Type element = getElementTypeOrSelf(operand.get().getType());
  if (!op.isDpsInput(&operand) || strides.back() <= kFar || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8 ||
      !op.getMatchingIndexingMap(&operand).isProjectedPermutation())
    return std::nullopt;
  auto *found = llvm::find(strides, 1);
  if (found == strides.end())
    return std::nullopt;
  return found - strides.begin();
}

SmallVector<int64_t> mlir::remat::getTransposedTile(GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (op.getNumLoops() != op.getNumParallelLoops() || ranges.back() < kTile || hasReversedLoops(op))
    return {};
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> loop = getReadLoop(op, operand);
    if (!loop || ranges[*loop] < kTile)
      continue;
    SmallVector<int64_t> tile(ranges.size(), 1);
    tile[*loop] = tile.back() = kTile;
    return tile;
  }
  return {};
}

SmallVector<GenericOp> mlir::remat::splitAtTiles(RewriterBase &rewriter, GenericOp &op,
                                                 ArrayRef<int64_t> tile) {
  SmallVector<GenericOp> rest;
  for (auto [loop, size] : llvm::enumerate(tile)) {
    int64_t range = op.getStaticLoopRanges()[loop];
    if (range % size == 0)
      continue;
    rewriter.setInsertionPoint(op);
    auto [tiles, border] = linalg::splitOp(rewriter, cast<TilingInterface>(op.getOperation()), loop,
                                           rewriter.getIndexAttr(range / size * size));
    op = cast<GenericOp>(tiles.getOperation());
    rest.push_back(cast<GenericOp>(border.getOperation()));
  }
  return rest;
}

/// Copies the tile from a memref whose rows are its columns.
static void copyTransposed(RewriterBase &rewriter, Location loc, Value from, Value to) {
  Type element = cast<MemRefType>(to.getType()).getElementType();
  auto row = VectorType::get(kTile, element);
  auto square = VectorType::get({kTile, kTile}, element);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  SmallVector<Value> places;
  for (int64_t index = 0; index < kTile; ++index)
    places.push_back(arith::ConstantIndexOp::create(rewriter, loc, index));
  Value tile = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(square));
  for (auto [index, place] : llvm::enumerate(places)) {
    Value loaded = vector::LoadOp::create(rewriter, loc, row, from, ValueRange{place, zero});
    tile = vector::InsertOp::create(rewriter, loc, loaded, tile, index);
  }
  tile = vector::TransposeOp::create(rewriter, loc, tile, ArrayRef<int64_t>{1, 0});
  for (auto [index, place] : llvm::enumerate(places)) {
    Value column = vector::ExtractOp::create(rewriter, loc, tile, index);
    vector::StoreOp::create(rewriter, loc, column, to, ValueRange{place, zero});
  }
}

void mlir::remat::transposeInRegisters(RewriterBase &rewriter, GenericOp op) {
  dropUnitLoops(rewriter, op);
  Block *entry = &op->getParentOfType<func::FuncOp>().front();
  if (auto part = op->getParentOfType<scf::ForallOp>())
    entry = part.getBody();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || type.getShape() != ArrayRef<int64_t>{kTile, kTile} ||
        getReadLoop(op, operand) != 0)
      continue;
    OpBuilder builder = OpBuilder::atBlockBegin(entry);
    Value buffer = memref::AllocaOp::create(
        builder, op.getLoc(), MemRefType::get(type.getShape(), type.getElementType()));
    rewriter.setInsertionPoint(op);
    copyTransposed(rewriter, op.getLoc(), operand.get(), buffer);
    rewriter.modifyOpInPlace(op, [&] { operand.set(buffer); });
    maps[operand.getOperandNumber()] = rewriter.getMultiDimIdentityMap(2);
  }
  rewriter.modifyOpInPlace(op,
                           [&] { op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps)); });
}
