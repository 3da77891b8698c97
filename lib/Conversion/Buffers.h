//===- Buffers.h - What memrefs are parts of --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_BUFFERS_H
#define REMAT_LIB_CONVERSION_BUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::remat {

/// The value that a memref is a view of: an argument, an allocation, a planned view or a
/// constant.
inline Value getBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    // Planned views are distinct, or one is used after the other.
    if (isa<memref::ViewOp>(view))
      break;
    memref = view.getViewSource();
  }
  return memref;
}

/// Whether a memref is a constant, or a part of one: it is on the host, and a kernel of a GPU
/// that reads it has a copy of its own.
inline bool isConstantBuffer(Value memref) {
  return getBuffer(memref).getDefiningOp<memref::GetGlobalOp>() != nullptr;
}

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_BUFFERS_H
