//===- WhileLoops.h - Loops that carry each tensor in one place -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_TRANSFORMS_WHILELOOPS_H
#define REMAT_LIB_TRANSFORMS_WHILELOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::remat {

/// Makes both regions of a loop carry the same tensors, at the same numbers, and returns
/// the loop that takes its place: what the condition passes on and is not the argument of
/// that number is written into a tensor of its own.
///
///     scf.while (%a = %x) {                  scf.while (%a = %x, %b = %new) {
///       %f = f(%a)                             %f = f(%a) into %b
///       scf.condition(%c) %f        ->         scf.condition(%c) %a, %f
///     } do {                                 } do {
///     ^bb0(%f):                              ^bb0(%a, %f):
///       scf.yield %f                           scf.yield %f, %f
///     }                                      }
///
/// What is yielded is left as it is, but for the tensors that are new.
scf::WhileOp carryTensorsInPlace(RewriterBase &rewriter, scf::WhileOp loop);

} // namespace mlir::remat

#endif // REMAT_LIB_TRANSFORMS_WHILELOOPS_H
