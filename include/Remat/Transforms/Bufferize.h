//===- Bufferize.h - From tensors to one buffer per storage -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_BUFFERIZE_H
#define REMAT_TRANSFORMS_BUFFERIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::remat {

class ModelTable;

/// Bufferizes all functions of `module`: every storage of the memory model becomes one
/// `memref.alloc`, every view one of memrefs. Arguments that are not donated are not
/// written to. Emits an error and fails where that is not possible.
LogicalResult bufferize(ModuleOp module, const ModelTable &models);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_BUFFERIZE_H
