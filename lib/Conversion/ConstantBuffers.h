//===- ConstantBuffers.h - Buffers of constants -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_CONSTANTBUFFERS_H
#define REMAT_LIB_CONVERSION_CONSTANTBUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::remat {

/// Whether a memref is a constant, or a part of one: it is on the host, and a kernel of a GPU
/// that reads it has a copy of its own.
inline bool isConstantBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref.getDefiningOp<memref::GetGlobalOp>() != nullptr;
}

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_CONSTANTBUFFERS_H
