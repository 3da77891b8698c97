//===- TensorTypes.cpp - How tensors are passed to a step -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorTypes.h"

#include "Remat/Interfaces/TypeSize.h"
#include "Remat/Support/Error.h"

using namespace mlir;
using namespace mlir::remat;

/// Whether elements are plain numbers whose bytes other programs know.
static bool isPassable(Type element) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type, IndexType>(element))
    return true;
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.isSignless() &&
         llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
}

llvm::Expected<TensorInfo> mlir::remat::getTensorInfo(Type type, const DataLayout &layout) {
  auto shaped = dyn_cast<ShapedType>(type);
  std::optional<int64_t> bytes =
      shaped && shaped.hasStaticShape() ? getStorageBytes(type, layout) : std::nullopt;
  if (!bytes || !isPassable(shaped.getElementType())) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return makeError("values of type {0} cannot be passed: expected static tensors of integers "
                     "or floats",
                     text);
  }
  TensorInfo info;
  llvm::raw_string_ostream(info.element) << shaped.getElementType();
  info.shape = shaped.getShape().vec();
  info.count = shaped.getNumElements();
  info.bytes = *bytes;
  return info;
}
