//===- KernelTraffic.cpp - Bytes that a kernel has to move ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTraffic.h"

#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include <set>

using namespace mlir;
using namespace mlir::remat;
using linalg::LinalgOp;

static int64_t multiply(int64_t a, int64_t b) {
  return llvm::SaturatingMultiply<uint64_t>(a, b) > INT64_MAX ? INT64_MAX : a * b;
}

/// How many different values an index takes, of at most `size`.
static int64_t countValues(AffineExpr index, unsigned numLoops, ArrayRef<int64_t> ranges,
                           int64_t size) {
  if (auto loop = dyn_cast<AffineDimExpr>(index))
    return std::min(ranges[loop.getPosition()], size);
  SmallVector<int64_t> factors;
  if (failed(getFlattenedAffineExpr(index, numLoops, 0, &factors)) ||
      factors.size() != numLoops + 1)
    return size;
  std::set<int64_t> values = {0};
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    if (factors[loop] == 0)
      continue;
    std::set<int64_t> sums;
    for (int64_t value : values)
      for (int64_t step = 0; step < range; ++step)
        sums.insert(value + step * factors[loop]);
    values = std::move(sums);
  }
  return std::min<int64_t>(values.size(), size);
}

/// How many elements of an operand the loops come to.
static int64_t countElements(LinalgOp op, OpOperand &operand, MemRefType type) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t count = 1, iterations = 1;
  for (auto [index, size] : llvm::zip_equal(map.getResults(), type.getShape()))
    count = multiply(count, countValues(index, map.getNumDims(), ranges, size));
  for (auto [loop, range] : llvm::enumerate(ranges))
    if (map.isFunctionOfDim(loop))
      iterations = multiply(iterations, range);
  return std::min(count, iterations);
}

std::optional<int64_t> mlir::remat::getMinimumBytes(LinalgOp op, ArrayRef<Value> known) {
  bool isStatic = llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic);
  DataLayout layout = DataLayout::closest(op);
  int64_t bytes = 0;
  std::set<std::pair<void *, void *>> counted;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    std::optional<int64_t> elementBytes = getElementBytes(type.getElementType(), layout);
    if (!isStatic || !type.hasStaticShape() || !elementBytes)
      return std::nullopt;
    int64_t size = multiply(countElements(op, operand, type), *elementBytes);
    bool isNew =
        counted
            .insert({operand.get().getAsOpaquePointer(),
                     const_cast<void *>(op.getMatchingIndexingMap(&operand).getAsOpaquePointer())})
            .second;
    if (isNew && op.payloadUsesValueFromOperand(&operand) &&
        !llvm::is_contained(known, operand.get()))
      bytes += size;
    if (op.isDpsInit(&operand))
      bytes += size;
  }
  int64_t iterations = 1;
  for (int64_t range : op.getStaticLoopRanges())
    iterations = multiply(iterations, range);
  op->walk([&](memref::LoadOp load) {
    MemRefType type = load.getMemRefType();
    int64_t elements = type.hasStaticShape() ? type.getNumElements() : iterations;
    bytes += multiply(std::min(iterations, elements),
                      getElementBytes(type.getElementType(), layout).value_or(0));
  });
  return bytes;
}
