//===- TypeSize.cpp - Bytes that a value of a type occupies -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes come from the data layout; this file decides which types have one.
// DataLayout aborts on types that it does not know, so that every type is
// sorted out before it is asked.
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/TypeSize.h"

#include "Remat/Interfaces/Count.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::remat;

/// Nesting of tuples and element types that is still looked into.
static constexpr unsigned maxTypeDepth = 32;

/// Size rounded up to the alignment, as in an array; 0 stays 0.
static Count getAllocationBytes(Type type, const DataLayout &layout) {
  llvm::TypeSize size = layout.getTypeSize(type);
  if (size.isScalable())
    return Count::unknown();
  uint64_t alignment = std::max<uint64_t>(layout.getTypeABIAlignment(type), 1);
  uint64_t bytes = llvm::alignTo(size.getFixedValue(), alignment);
  return bytes < size.getFixedValue() || bytes > uint64_t(INT64_MAX) ? Count::unknown()
                                                                     : Count(int64_t(bytes));
}

static Count getProduct(ArrayRef<int64_t> shape) {
  Count product = 1;
  for (int64_t size : shape)
    product *= Count(size);
  return product;
}

static Count countElementBytes(Type type, const DataLayout &layout, unsigned depth) {
  if (depth > maxTypeDepth)
    return Count::unknown();
  if (isa<IntegerType, FloatType, IndexType>(type))
    return getAllocationBytes(type, layout);
  if (auto complex = dyn_cast<ComplexType>(type))
    return Count(2) * countElementBytes(complex.getElementType(), layout, depth + 1);
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.isScalable())
      return Count::unknown();
    // Hardware vectors: the innermost dimension is rounded up to a power of two.
    Count lanes = 1;
    ArrayRef<int64_t> shape = vector.getShape();
    if (!shape.empty()) {
      uint64_t rounded = llvm::PowerOf2Ceil(uint64_t(shape.back()));
      lanes = getProduct(shape.drop_back()) *
              (rounded > uint64_t(INT64_MAX) ? Count::unknown() : Count(int64_t(rounded)));
    }
    return lanes * countElementBytes(vector.getElementType(), layout, depth + 1);
  }
  if (auto quantized = dyn_cast<quant::QuantizedType>(type))
    return countElementBytes(quantized.getStorageType(), layout, depth + 1);
  if (isa<DataLayoutTypeInterface>(type))
    return getAllocationBytes(type, layout);
  return Count::unknown();
}

/// Whether the elements of a tensor with `encoding` are not stored one by one.
static bool isSparse(Attribute encoding) {
  if (!encoding)
    return false;
  if (auto opaque = dyn_cast<OpaqueAttr>(encoding))
    return opaque.getDialectNamespace() == "sparse_tensor";
  return encoding.getDialect().getNamespace() == "sparse_tensor";
}

/// Elements from the first to the last one that a memref reaches.
static Count getSpan(MemRefType type) {
  Count elements = getProduct(type.getShape());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!elements.isKnown() || elements.get() == 0 || type.getLayout().isIdentity() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, [](int64_t stride) { return stride < 0; }))
    return elements;
  Count span = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    span += Count(size - 1) * Count(stride);
  return span;
}

static Count countStorageBytes(Type type, const DataLayout &layout, unsigned depth) {
  if (depth > maxTypeDepth)
    return Count::unknown();
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (isSparse(tensor.getEncoding()))
      return Count::unknown();
    Count element = countElementBytes(tensor.getElementType(), layout, depth + 1);
    return element.isKnown() ? getProduct(tensor.getShape()) * element : element;
  }
  if (auto memref = dyn_cast<MemRefType>(type)) {
    Count element = countElementBytes(memref.getElementType(), layout, depth + 1);
    return element.isKnown() ? getSpan(memref) * element : element;
  }
  if (isa<VectorType>(type))
    return countElementBytes(type, layout, depth + 1);
  if (auto tuple = dyn_cast<TupleType>(type)) {
    Count sum = 0;
    for (Type part : tuple.getTypes())
      sum += countStorageBytes(part, layout, depth + 1);
    return sum;
  }
  if (isa<IntegerType, FloatType, IndexType, ComplexType, quant::QuantizedType>(type))
    return countElementBytes(type, layout, depth + 1);
  if (isa<NoneType, FunctionType>(type))
    return 0;
  return Count::unknown();
}

std::optional<int64_t> remat::getElementBytes(Type type, const DataLayout &layout) {
  return countElementBytes(type, layout, 0).asOptional();
}

std::optional<int64_t> remat::getStorageBytes(Type type, const DataLayout &layout) {
  return countStorageBytes(type, layout, 0).asOptional();
}
