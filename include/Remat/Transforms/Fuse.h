//===- Fuse.h - One structured operation for each kernel --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the fusion model come true: what `findInlinedOperations` names becomes a part
// of its readers, so that every operation that is left is a kernel of its own, or a call
// of a library, and what a planner sees is what will be allocated.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_FUSE_H
#define REMAT_TRANSFORMS_FUSE_H

#include "Remat/Analysis/FusionModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::remat {

/// Puts the operations of `function` together, loops and branches included. First
/// everything gets the one form that can be fused: elementwise operations and named ones
/// that are no products, convolutions or poolings become `linalg.generic`; what is filled
/// with a constant becomes a splat constant, which is never in memory; reshapes move out
/// from between operations. In the end, results take the place of operands that die.
/// Doing it twice changes nothing. Fails only where a rewrite does not come to an end.
LogicalResult fuse(FunctionOpInterface function, const ModelTable &models);

/// The same for every function with a body.
LogicalResult fuse(ModuleOp module, const ModelTable &models);

/// What goes behind `fuse` and a rematerialization: clones that only elementwise kernels
/// read become a part of them, and results take the place of operands that die now. Library
/// calls and reductions stay what they are, so that results are the same, bit for bit.
LogicalResult fuseClones(FunctionOpInterface function, const ModelTable &models);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_FUSE_H
