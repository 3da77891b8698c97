//===- ModelCosts.cpp - Parts of a cost model that dialects share -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/ModelCosts.h"

#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::remat;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Count remat::getNumElements(Type type) {
  Count elements = 1;
  while (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!shaped.hasRank())
      return Count::unknown();
    for (int64_t size : shaped.getShape())
      elements *= Count(size);
    type = shaped.getElementType();
  }
  return isa<TupleType, OpaqueType>(type) ? Count::unknown() : elements;
}

Type remat::getScalarType(Type type) {
  while (true) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      type = shaped.getElementType();
    else if (auto complex = dyn_cast<ComplexType>(type))
      type = complex.getElementType();
    else if (auto quantized = dyn_cast<quant::QuantizedType>(type))
      type = quantized.getStorageType();
    else
      return type;
  }
}

Type remat::getSlowerArithmeticType(Type lhs, Type rhs) {
  // Class and width of a scalar; class 0 does no arithmetic.
  auto getRank = [](Type type) -> std::pair<int, unsigned> {
    if (!type)
      return {0, 0};
    Type scalar = getScalarType(type);
    if (isa<FloatType>(scalar))
      return {3, scalar.getIntOrFloatBitWidth()};
    if (isa<IntegerType>(scalar))
      return {2, scalar.getIntOrFloatBitWidth()};
    return {isa<IndexType>(scalar) ? 1 : 0, 0};
  };
  std::pair<int, unsigned> left = getRank(lhs), right = getRank(rhs);
  if (left.first == 0 && right.first == 0)
    return {};
  return getScalarType(left < right ? rhs : lhs);
}

Type remat::getArithmeticType(Operation *op) {
  Type type;
  for (Type result : op->getResultTypes())
    type = getSlowerArithmeticType(type, result);
  for (Type operand : op->getOperandTypes())
    type = getSlowerArithmeticType(type, operand);
  return type;
}

//===----------------------------------------------------------------------===//
// Constants and bytes
//===----------------------------------------------------------------------===//

bool remat::isSplatOrScalar(Attribute attribute, Type type) {
  if (!isa<ShapedType>(type) || isa<FloatAttr, IntegerAttr>(attribute))
    return true;
  auto elements = dyn_cast<ElementsAttr>(attribute);
  return elements && elements.isSplat();
}

bool remat::isSplatConstant(Value value) {
  Attribute attribute;
  return matchPattern(value, m_Constant(&attribute)) && isSplatOrScalar(attribute, value.getType());
}

ResultStorage remat::getConstantStorage(unsigned number, Type type, Attribute attribute) {
  if (isSplatOrScalar(attribute, type))
    return {number, ResultStorage::Kind::None};
  return {number, ResultStorage::Kind::Constant, 0, attribute.getAsOpaquePointer()};
}

/// Storage of a value in memory, nothing of one in registers.
static Count getMovedBytes(Type type, const DataLayout &layout, const ModelTable *table) {
  if (isa<ComplexType, FloatType, IndexType, IntegerType, VectorType>(type))
    return 0;
  std::optional<int64_t> bytes = getStorageBytes(type, layout);
  if (!bytes && table)
    bytes = table->getTypeBytes(type);
  return bytes;
}

Count remat::getReadBytes(ValueRange values, const DataLayout &layout, const ModelTable *table) {
  Count bytes = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  for (Value value : values)
    if (seen.insert(value).second &&
        !(table ? table->isSplatConstant(value) : isSplatConstant(value)))
      bytes += getMovedBytes(value.getType(), layout, table);
  return bytes;
}

Count remat::getBytes(TypeRange types, const DataLayout &layout, const ModelTable *table) {
  Count bytes = 0;
  for (Type type : types)
    bytes += getMovedBytes(type, layout, table);
  return bytes;
}

bool remat::isContiguousSlice(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes,
                              ArrayRef<int64_t> strides) {
  assert(shape.size() == sizes.size() && shape.size() == strides.size());
  if (llvm::any_of(strides, [](int64_t stride) { return stride != 1; }))
    return false;
  // Behind the first dimension that keeps more than one element.
  size_t inner = llvm::find_if(sizes, [](int64_t size) { return size != 1; }) - sizes.begin();
  inner = std::min(inner + 1, sizes.size());
  return !llvm::any_of(sizes.drop_front(inner), ShapedType::isDynamic) &&
         sizes.drop_front(inner) == shape.drop_front(inner);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

Count remat::getRegionFlops(Region &region,
                            llvm::function_ref<std::optional<OperationModel>(Operation *)> lookup) {
  Count flops = 0;
  for (Operation &op : region.getOps()) {
    std::optional<OperationModel> model = lookup(&op);
    if (!model || !model->costIsKnown)
      return Count::unknown();
    flops += model->flops;
    if (model->perElementRegions)
      continue;
    for (Region &nested : op.getRegions())
      flops += Count(model->tripCount) * getRegionFlops(nested, lookup);
  }
  return flops;
}

void remat::setCost(OperationModel &model, Count flops, Type flopsType, Count bytesMoved) {
  if (!flops.isKnown() || !bytesMoved.isKnown()) {
    model.costIsKnown = false;
    return;
  }
  model.flops = flops.get();
  model.flopsType = flops.get() == 0 ? Type() : flopsType;
  model.bytesMoved = bytesMoved.get();
}
