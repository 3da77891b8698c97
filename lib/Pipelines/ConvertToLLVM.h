//===- ConvertToLLVM.h - The end of all pipelines ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PIPELINES_CONVERTTOLLVM_H
#define REMAT_LIB_PIPELINES_CONVERTTOLLVM_H

#include "mlir/Pass/PassManager.h"

namespace mlir::remat {

/// Functions with bare pointers, arithmetic and control flow become the LLVM dialect; what
/// stays has been converted before.
void addConversionToLLVM(OpPassManager &pipeline);

} // namespace mlir::remat

#endif // REMAT_LIB_PIPELINES_CONVERTTOLLVM_H
