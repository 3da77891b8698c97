//===- TestResort.h - Sorts blocks by dependences ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_LIB_TESTRESORT_H
#define REMAT_TEST_LIB_TESTRESORT_H

#include "mlir/IR/Block.h"

namespace mlir::remat::test {

/// Runs every operation as early as its operands allow: sorts the block by the
/// length of the longest chain of dependences that leads to an operation; equal
/// ones keep their order. Operations with effects depend on the ones before
/// them.
void resortByDependences(Block &block);

/// The same for recomputed operations alone: moves them, and the barriers and
/// inits that only they read, up to behind the last operation that they depend
/// on. All others keep their order, and so does what stands together in a region.
void hoistClones(Block &block);

} // namespace mlir::remat::test

#endif // REMAT_TEST_LIB_TESTRESORT_H
