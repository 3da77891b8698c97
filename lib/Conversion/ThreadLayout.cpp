//===- ThreadLayout.cpp - Which thread of a kernel computes what ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadLayout.h"

#include "KernelAccess.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

/// Threads of a block that adds all terms of a few results.
static constexpr int64_t kLargeBlockThreads = 1024;
/// Results that are enough to occupy a GPU with one thread for each.
static constexpr int64_t kManyResults = 1 << 15;
/// Of the widest access of a thread.
static constexpr int64_t kVectorBytes = 16;
static constexpr int64_t kMaxWidth = 8;
/// Operations of a thread, for all neighbours together, that still leave enough registers.
static constexpr int64_t kMaxOperations = 512;

/// Bytes of an element that vectors are made of, or 0.
static int64_t getVectorElementBytes(OpOperand &operand) {
  Type element = getElementTypeOrSelf(operand.get().getType());
  bool isKnown = element.isInteger(8) || element.isInteger(16) || element.isInteger(32) ||
                 element.isInteger(64) || element.isBF16() || element.isF16() || element.isF32() ||
                 element.isF64();
  return isKnown ? element.getIntOrFloatBitWidth() / 8 : 0;
}

/// Whether neighbours in the innermost loop are neighbours in memory.
static bool isContiguous(GenericOp op, OpOperand &operand) {
  std::optional<LinearAccess> access = getLinearAccess(op, operand);
  if (!access || access->strides.empty() || access->strides.back() != 1)
    return false;
  // They are so in the last dimension, and in no other.
  unsigned last = op.getNumLoops() - 1;
  ArrayRef<AffineExpr> place = op.getMatchingIndexingMap(&operand).getResults();
  return place.back().isFunctionOfDim(last) &&
         llvm::none_of(place.drop_back(),
                       [&](AffineExpr index) { return index.isFunctionOfDim(last); });
}

bool mlir::remat::isVector(GenericOp op, OpOperand &operand, int64_t width) {
  if (width == 1 || getVectorElementBytes(operand) == 0 || !isContiguous(op, operand))
    return false;
  LinearAccess access = *getLinearAccess(op, operand);
  return access.offset % width == 0 &&
         llvm::all_of(ArrayRef(access.strides).drop_back(),
                      [&](int64_t stride) { return stride % width == 0; });
}

/// The most neighbours that a thread takes at once, a power of two. Results at least must be
/// contiguous, or else threads that are neighbours would store far apart. Of terms, it does not
/// depend on where operands begin: the order of a sum would, too.
static int64_t chooseWidth(GenericOp op, int64_t maxWidth) {
  int64_t bytes = 0;
  bool isPoints = isParallel(op, op.getNumLoops() - 1);
  for (OpOperand &operand : op->getOpOperands()) {
    if (isContiguous(op, operand))
      bytes = std::max(bytes, getVectorElementBytes(operand));
    else if (isPoints && op.isDpsInit(&operand))
      return 1;
  }
  if (bytes == 0)
    return 1;
  int64_t range = op.getStaticLoopRanges().back();
  int64_t numOperations = llvm::range_size(*op.getBody());
  int64_t width = llvm::bit_floor(uint64_t(std::min({maxWidth, kMaxWidth, kVectorBytes / bytes})));
  auto isUseful = [&] {
    return !isPoints || llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      return isVector(op, operand, width);
    });
  };
  while (width > 1 && (range % width != 0 || numOperations * width > kMaxOperations || !isUseful()))
    width /= 2;
  return width;
}

ThreadLayout mlir::remat::chooseThreadLayout(GenericOp op) {
  ThreadLayout layout;
  if (op.getNumLoops() == 0)
    return layout;
  int64_t numPoints = 1, numTerms = 1;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    (isParallel(op, loop) ? numPoints : numTerms) *= range;
  layout.isRows = !isParallel(op, op.getNumLoops() - 1);
  bool isShared = op.getNumReductionLoops() != 0 && !matchCombiners(op).empty();
  bool isLong = numPoints < kWarp && numTerms > kLargeBlockThreads;
  if (isShared && layout.isRows && numTerms >= kWarp) {
    layout.terms = isLong                          ? kLargeBlockThreads
                   : numTerms >= 4 * kBlockThreads ? kBlockThreads
                                                   : kWarp;
    layout.points = std::max<int64_t>(kBlockThreads / layout.terms, 1);
  } else if (isShared && !layout.isRows && numPoints < kManyResults && numTerms >= kWarp) {
    layout.points = kWarp;
    layout.terms = numTerms >= kLargeBlockThreads ? kWarp : kBlockThreads / kWarp;
  }
  if (layout.isRows || layout.terms == 1)
    layout.width =
        chooseWidth(op, layout.isRows ? std::max<int64_t>(numTerms / layout.terms, 1) : kMaxWidth);
  return layout;
}
