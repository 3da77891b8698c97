//===- Inline.h - Bodies in place of calls of private functions -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An inliner for modules with operations that are not registered, which the inliner and
// the symbol-dce of upstream cannot handle: StableHLO as text.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_INLINE_H
#define REMAT_TRANSFORMS_INLINE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::remat {

/// Operations that `inlineCalls` adds to a module at most. Functions that call each other
/// twice, forty levels deep, would otherwise become 2^40 of them.
constexpr int64_t kMaxInlinedOperations = 1 << 18;
/// Regions that are inside of each other at most where a body is put.
constexpr int64_t kMaxInlinedDepth = 64;

/// Puts the bodies of private functions in place of their calls, also in regions of
/// operations that are not registered, and erases the functions that are not referred to
/// any more. Locations say what was called from where, as upstream's do.
///
/// A call stays as it is where
/// * the function is public, has no body or several blocks, or calls itself, directly or not;
/// * the call or the function says `no_inline`, or the call, the function, its arguments or
///   its results have an attribute that may mean something to somebody else, which is any
///   but `jax.*` and `tf.aliasing_output`;
/// * a registered dialect does not allow it;
/// * it is inside of another symbol table;
/// * the function, with all that is put in place of its calls, would lead above one of the
///   limits: all calls of a function from another one are replaced, or none.
///
/// Returns whether a call was replaced.
bool inlineCalls(ModuleOp module);

/// Erases private functions that nothing which stays refers to; attributes of operations
/// that are not registered count.
void eraseUnusedFunctions(ModuleOp module);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_INLINE_H
