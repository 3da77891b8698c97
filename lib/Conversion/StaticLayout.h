//===- StaticLayout.h - Memrefs whose elements are at known places ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_STATICLAYOUT_H
#define REMAT_LIB_CONVERSION_STATICLAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::remat {

/// Whether sizes, offset and strides of a memref are constants: only then it can be passed
/// as a bare pointer.
inline bool hasStaticLayout(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_STATICLAYOUT_H
