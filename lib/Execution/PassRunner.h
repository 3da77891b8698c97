//===- PassRunner.h - Passes on a module ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EXECUTION_PASSRUNNER_H
#define REMAT_LIB_EXECUTION_PASSRUNNER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::remat {

inline LogicalResult runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  return passes.run(module);
}

} // namespace mlir::remat

#endif // REMAT_LIB_EXECUTION_PASSRUNNER_H
