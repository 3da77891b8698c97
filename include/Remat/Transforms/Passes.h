//===- Passes.h - Passes of the project -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_PASSES_H
#define REMAT_TRANSFORMS_PASSES_H

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Planner/Solve.h"
#include "Remat/Transforms/Arena.h"
#include "Remat/Transforms/OptionTypes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::remat {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Remat/Transforms/Passes.h.inc"

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_PASSES_H
