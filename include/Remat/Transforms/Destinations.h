//===- Destinations.h - A destination for every storage ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites tensors so that the storages of the memory model are explicit: every
// value with a storage of its own is written into a `bufferization.alloc_tensor` of
// its own, and bufferization has nothing left to decide.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_DESTINATIONS_H
#define REMAT_TRANSFORMS_DESTINATIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::remat {

class ModelTable;

/// What changes in the body of `function`:
///   - elementwise operations of arith and math on tensors become structured ones, and
///     operations that upstream decomposes are decomposed (tensor.pad, tensor.concat);
///   - a splat constant is made from its scalar where it is read or overwritten;
///   - a slice that is no view is copied;
///   - what a loop or a branch yields is written into the storage of its result;
///   - every destination that is a `tensor.empty` is one of its own;
///   - what is returned is in a storage, and no constant.
LogicalResult assignDestinations(FunctionOpInterface function, const ModelTable &models);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_DESTINATIONS_H
