//===- KernelAccess.cpp - Where the loops of a kernel read and write --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelAccess.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Runtime/DeviceCalls.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

/// In place of a stride that is not known, which is more often a large one.
static constexpr int64_t kUnknownStride = int64_t(1) << 20;

SmallVector<Operation *> mlir::remat::matchCombiners(GenericOp op) {
  SmallVector<Operation *> result;
  for (unsigned index = 0; index < op.getNumDpsInits(); ++index) {
    SmallVector<Operation *> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), index, combiners) || combiners.size() != 1 ||
        !arith::getNeutralElement(combiners.front()))
      return {};
    result.push_back(combiners.front());
  }
  return result;
}

std::optional<LinearAccess> mlir::remat::getLinearAccess(GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides, sum;
  int64_t offset = 0;
  if (!type || failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  AffineMap layout = makeStridedLinearLayoutMap(strides, offset, op.getContext());
  AffineMap place = layout.compose(op.getMatchingIndexingMap(&operand));
  // What is no sum has further terms.
  if (failed(getFlattenedAffineExpr(place.getResult(0), op.getNumLoops(), 0, &sum)) ||
      sum.size() != op.getNumLoops() + 1)
    return std::nullopt;
  LinearAccess access{sum.back(), {}};
  access.strides.append(sum.begin(), sum.end() - 1);
  return access;
}

int64_t mlir::remat::getBufferAlignment(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto kernel = dyn_cast<gpu::GPUFuncOp>(parent)) {
      if (argument.getArgNumber() >= kernel.getFunctionType().getNumInputs())
        return 1;
      auto known = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                        LLVM::LLVMDialect::getAlignAttrName());
      return known ? known.getInt() : 1;
    }
    auto function = dyn_cast<FunctionOpInterface>(parent);
    if (!function || function.isPublic())
      return function ? kDeviceAlignment : 1;
    auto planned = function->getAttrOfType<IntegerAttr>(RematDialect::getArenaAlignmentAttrName());
    return planned ? std::min(kDeviceAlignment, planned.getInt()) : 1;
  }
  if (auto global = memref.getDefiningOp<memref::GetGlobalOp>()) {
    auto constant =
        SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(global, global.getNameAttr());
    return constant && constant.getAlignment() ? *constant.getAlignment() : 1;
  }
  if (auto view = memref.getDefiningOp<memref::ViewOp>()) {
    std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
    return shift ? llvm::MinAlign(getBufferAlignment(view.getSource()), *shift) : 1;
  }
  if (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    return getBufferAlignment(view.getViewSource());
  return 1;
}

SmallVector<int64_t> mlir::remat::getStrides(GenericOp op, OpOperand &operand) {
  SmallVector<int64_t> result(op.getNumLoops(), 0);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return result;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Builder builder(op.getContext());
  SmallVector<Attribute> point(map.getNumDims(), builder.getIndexAttr(0));
  auto getPlace = [&] {
    SmallVector<Attribute> place;
    (void)map.constantFold(point, place);
    return place;
  };
  SmallVector<Attribute> origin = getPlace();
  for (auto [loop, distance] : llvm::enumerate(result)) {
    point[loop] = builder.getIndexAttr(1);
    for (auto [from, to, stride] : llvm::zip_equal(origin, getPlace(), strides)) {
      int64_t steps = cast<IntegerAttr>(to).getInt() - cast<IntegerAttr>(from).getInt();
      distance += steps * (ShapedType::isDynamic(stride) ? kUnknownStride : stride);
    }
    distance = std::abs(distance);
    point[loop] = builder.getIndexAttr(0);
  }
  return result;
}

bool mlir::remat::hasReversedLoops(GenericOp op) {
  return llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::any_of(map.getResults(), [&](AffineExpr index) {
      SmallVector<int64_t> factors;
      return succeeded(getFlattenedAffineExpr(index, map.getNumDims(), 0, &factors)) &&
             llvm::any_of(ArrayRef(factors).drop_back(), [](int64_t factor) { return factor < 0; });
    });
  });
}

SmallVector<SmallVector<int64_t>> mlir::remat::getAllStrides(GenericOp op) {
  return llvm::map_to_vector(op->getOpOperands(),
                             [&](OpOperand &operand) { return getStrides(op, operand); });
}
