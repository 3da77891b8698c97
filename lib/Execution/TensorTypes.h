//===- TensorTypes.h - How tensors are passed to a step ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EXECUTION_TENSORTYPES_H
#define REMAT_LIB_EXECUTION_TENSORTYPES_H

#include "Remat/Execution/StepDescription.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/Error.h"

namespace mlir::remat {

/// How values of a type are passed; an error where they cannot be.
llvm::Expected<TensorInfo> getTensorInfo(Type type, const DataLayout &layout);

} // namespace mlir::remat

#endif // REMAT_LIB_EXECUTION_TENSORTYPES_H
