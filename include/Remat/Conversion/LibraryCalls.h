//===- LibraryCalls.h - What the runtime library computes -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which structured operations are matrix products and convolutions that the runtime library
// computes on this processor, and how much workspace it needs.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_CONVERSION_LIBRARYCALLS_H
#define REMAT_CONVERSION_LIBRARYCALLS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::remat {

/// A call of a function of `Remat/Runtime/Runtime.h`, on the operands of an operation.
struct LibraryCall {
  StringRef function;
  /// The structure that the function takes, as 64-bit integers.
  SmallVector<int64_t> shape;
  /// A multiple of 64.
  int64_t workspaceBytes;
};

/// The call that computes a structured operation on tensors or buffers; nothing if there is
/// none. What tensors will be in memory is assumed to be without gaps, in the order of their
/// dimensions.
std::optional<LibraryCall> matchLibraryCall(linalg::LinalgOp op);

/// States, as `remat.workspace`, what structured operations on tensors will need.
void setWorkspace(Operation *root);

/// Replaces structured operations on buffers by `remat.library_call`, each with a workspace
/// of its own.
void convertToLibraryCalls(Operation *root);

} // namespace mlir::remat

#endif // REMAT_CONVERSION_LIBRARYCALLS_H
