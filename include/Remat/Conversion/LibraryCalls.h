//===- LibraryCalls.h - What the runtime library computes -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which structured operations are matrix products and convolutions that a library computes,
// and how much workspace it needs.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_CONVERSION_LIBRARYCALLS_H
#define REMAT_CONVERSION_LIBRARYCALLS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::remat {

/// Whose libraries compute products and convolutions.
enum class Libraries {
  /// OpenBLAS and oneDNN: `Remat/Runtime/Runtime.h`.
  CPU,
  /// cuBLASLt and cuDNN: `Remat/Runtime/DeviceRuntime.h`.
  GPU,
  /// The same, where f32 may be rounded to TF32 before it is multiplied.
  GPUWithTF32,
};

/// Whether a function computes a product or a convolution.
bool isLibraryFunction(StringRef name);

/// A call of a library's function on the operands of an operation.
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
std::optional<LibraryCall> matchLibraryCall(linalg::LinalgOp op,
                                            Libraries libraries = Libraries::CPU);

/// States, as `remat.workspace`, what structured operations on tensors will need. Those that a
/// library of a GPU will compute read copies of constants.
void setWorkspace(Operation *root, Libraries libraries = Libraries::CPU);

/// Replaces structured operations on buffers by `remat.library_call`, each with a workspace
/// of its own.
void convertToLibraryCalls(Operation *root, Libraries libraries = Libraries::CPU);

} // namespace mlir::remat

#endif // REMAT_CONVERSION_LIBRARYCALLS_H
