//===- SharedTiles.cpp - Tiles that a block transposes ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedTiles.h"

#include "KernelAccess.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

/// The shortest loops for which tiles are worth it.
static constexpr int64_t kMinRange = 16;
/// Neighbours that are farther apart than this, in elements, are not fetched together.
static constexpr int64_t kFar = 16;
/// Of shared memory, which every chip has for a block, in bytes.
static constexpr int64_t kSharedBytes = 48 * 1024;

/// The loop over neighbours in all results.
static std::optional<unsigned> getWriteLoop(GenericOp op) {
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
          std::optional<LinearAccess> access = getLinearAccess(op, init);
          return access && access->strides[loop] == 1;
        }))
      return loop;
  return std::nullopt;
}

/// The loop over neighbours in an input that are far apart along `writeLoop`.
static std::optional<unsigned> getReadLoop(GenericOp op, OpOperand &operand, unsigned writeLoop) {
  Type element = getElementTypeOrSelf(operand.get().getType());
  std::optional<LinearAccess> access = getLinearAccess(op, operand);
  if (!access || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
      std::abs(access->strides[writeLoop]) <= kFar)
    return std::nullopt;
  auto *found = llvm::find(access->strides, 1);
  if (found == access->strides.end())
    return std::nullopt;
  return found - access->strides.begin();
}

std::optional<SharedTile> mlir::remat::matchSharedTile(GenericOp op) {
  std::optional<unsigned> writeLoop = getWriteLoop(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (op.getNumReductionLoops() != 0 || !writeLoop || ranges[*writeLoop] < kMinRange)
    return std::nullopt;
  SharedTile tile{0, *writeLoop, {}};
  int64_t bytes = 0;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    std::optional<unsigned> loop = getReadLoop(op, *operand, *writeLoop);
    if (!loop || ranges[*loop] < kMinRange)
      continue;
    if (tile.operands.empty())
      tile.readLoop = *loop;
    Type element = getElementTypeOrSelf(operand->get().getType());
    bytes += SharedTile::kSize * SharedTile::kRowSize * (element.getIntOrFloatBitWidth() / 8);
    if (*loop == tile.readLoop && bytes <= kSharedBytes)
      tile.operands.push_back(operand);
  }
  if (tile.operands.empty())
    return std::nullopt;
  return tile;
}
