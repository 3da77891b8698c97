//===- ElementBuilder.cpp - Elements of a structured operation --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementBuilder.h"

#include "KernelAccess.h"
#include "ThreadLayout.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::remat;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value ElementBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(rewriter, loc, value);
}

Value ElementBuilder::add(Value value, int64_t number) {
  return number == 0 ? value
                     : arith::AddIOp::create(rewriter, loc, value, constant(number)).getResult();
}

Value ElementBuilder::divide(Value value, int64_t by) {
  return by == 1 ? value : arith::DivUIOp::create(rewriter, loc, value, constant(by)).getResult();
}

Value ElementBuilder::remainder(Value value, int64_t by) {
  return by == 1 ? constant(0)
                 : arith::RemUIOp::create(rewriter, loc, value, constant(by)).getResult();
}

void ElementBuilder::ifTrue(Value condition, function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(rewriter);
  auto branch = scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  body();
}

int64_t ElementBuilder::getNumSteps(unsigned loop) {
  int64_t range = op.getStaticLoopRanges()[loop];
  return loop + 1 == op.getNumLoops() ? range / width : range;
}

void ElementBuilder::setIndices(ArrayRef<unsigned> loops, Value number,
                                SmallVector<Value> &indices) {
  for (unsigned loop : llvm::reverse(loops)) {
    bool isFirst = loop == loops.front();
    indices[loop] = isFirst ? number : remainder(number, getNumSteps(loop));
    if (!isFirst)
      number = divide(number, getNumSteps(loop));
    if (width != 1 && loop + 1 == op.getNumLoops())
      indices[loop] = arith::MulIOp::create(rewriter, loc, indices[loop], constant(width));
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

SmallVector<Value> ElementBuilder::getPlace(OpOperand &operand, ValueRange indices) {
  SmallVector<OpFoldResult> values(indices);
  return getValueOrCreateConstantIndexOp(
      rewriter, loc,
      affine::makeComposedFoldedMultiResultAffineApply(
          rewriter, loc, op.getMatchingIndexingMap(&operand), values));
}

SmallVector<Value> ElementBuilder::getNeighbour(ValueRange indices, int64_t number) {
  SmallVector<Value> result(indices);
  if (number != 0)
    result.back() = add(result.back(), number);
  return result;
}

bool ElementBuilder::hasOwnResults() {
  return op.getNumLoops() != 0 && isParallel(op, op.getNumLoops() - 1);
}

std::optional<int64_t> ElementBuilder::getVectorAlignment(OpOperand &operand) {
  if (!isVector(op, operand, width))
    return std::nullopt;
  auto type = cast<MemRefType>(operand.get().getType());
  int64_t bytes = width * (type.getElementTypeBitWidth() / 8);
  if (getBufferAlignment(operand.get()) < bytes)
    return std::nullopt;
  return bytes;
}

SmallVector<Value> ElementBuilder::load(OpOperand &operand, ValueRange indices) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return SmallVector<Value>(width, operand.get());
  SmallVector<Value> result;
  if (std::optional<int64_t> alignment = getVectorAlignment(operand)) {
    Value vector = vector::LoadOp::create(
        rewriter, loc, VectorType::get(width, type.getElementType()), operand.get(),
        getPlace(operand, indices), /*nontemporal=*/false, llvm::MaybeAlign(*alignment));
    for (int64_t number = 0; number < width; ++number)
      result.push_back(vector::ExtractOp::create(rewriter, loc, vector, number));
    return result;
  }
  std::optional<LinearAccess> access = getLinearAccess(op, operand);
  bool isSame = access && !access->strides.empty() && access->strides.back() == 0;
  for (int64_t number = 0; number < (isSame ? 1 : width); ++number)
    result.push_back(memref::LoadOp::create(rewriter, loc, operand.get(),
                                            getPlace(operand, getNeighbour(indices, number))));
  result.resize(width, result.back());
  return result;
}

SmallVector<Value> ElementBuilder::loadResults(ValueRange indices) {
  int64_t numNeighbours = hasOwnResults() ? width : 1;
  unsigned numResults = op.getNumDpsInits();
  SmallVector<Value> results(numNeighbours * numResults);
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    SmallVector<Value> values;
    if (!starts.empty() && starts[index]) {
      values.resize(width, starts[index]);
    } else if (op.payloadUsesValueFromOperand(&init) || op.getNumReductionLoops() != 0) {
      values = load(init, indices);
    } else {
      Type type = getElementTypeOrSelf(init.get().getType());
      values.resize(width, arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type)));
    }
    for (int64_t number = 0; number < numNeighbours; ++number)
      results[number * numResults + index] = values[number];
  }
  return results;
}

SmallVector<Value> ElementBuilder::compute(ValueRange indices, ValueRange results) {
  SmallVector<SmallVector<Value>> inputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    bool isRead = !op.getMatchingBlockArgument(operand).use_empty();
    inputs.push_back(isRead ? load(*operand, indices) : SmallVector<Value>());
  }
  SmallVector<Value> all(results);
  unsigned numResults = op.getNumDpsInits();
  for (int64_t number = 0; number < width; ++number) {
    IRMapping mapping;
    for (auto [argument, values] : llvm::zip_equal(op.getRegionInputArgs(), inputs))
      if (!values.empty())
        mapping.map(argument, values[number]);
    MutableArrayRef<Value> own =
        MutableArrayRef(all).slice(hasOwnResults() ? number * numResults : 0, numResults);
    mapping.map(op.getRegionOutputArgs(), own);
    SmallVector<Value> at = getNeighbour(indices, number);
    for (Operation &nested : op.getBody()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(nested))
        mapping.map(index.getResult(), at[index.getDim()]);
      else
        rewriter.clone(nested, mapping);
    }
    for (auto [value, result] : llvm::zip_equal(op.getBody()->getTerminator()->getOperands(), own))
      result = mapping.lookupOrDefault(value);
  }
  return all;
}

void ElementBuilder::store(ValueRange results, ValueRange indices) {
  unsigned numResults = op.getNumDpsInits();
  for (auto [index, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    SmallVector<Value> values;
    for (unsigned number = index; number < results.size(); number += numResults)
      values.push_back(results[number]);
    if (std::optional<int64_t> alignment = getVectorAlignment(init)) {
      auto type = VectorType::get(width, values.front().getType());
      Value vector = vector::FromElementsOp::create(rewriter, loc, type, values);
      vector::StoreOp::create(rewriter, loc, vector, init.get(), getPlace(init, indices),
                              /*nontemporal=*/false, llvm::MaybeAlign(*alignment));
      continue;
    }
    for (auto [number, value] : llvm::enumerate(values))
      memref::StoreOp::create(rewriter, loc, value, init.get(),
                              getPlace(init, getNeighbour(indices, number)));
  }
}
