//===- Tensor.h - Values that go into a training step and come out ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_TENSOR_H
#define REMAT_TOOLS_REMAT_RUN_TENSOR_H

#include "Remat/Execution/StepDescription.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::remat {

/// What NumPy calls a type: the first is written, any is read.
llvm::ArrayRef<llvm::StringRef> getNumPyTypes(llvm::StringRef element);

/// Fills a tensor with values that depend on its type, the seed and the index only: floats
/// from [-0.5, 0.5) or [0, 0.25), integers from [0, 8).
void fillRandomly(const TensorInfo &tensor, bool isNonNegative, int64_t seed, int64_t index,
                  char *data);

/// The first element of a tensor; NaN if there is none.
double readFirst(const TensorInfo &tensor, const char *data);

/// Of two tensors of this type: the largest difference of two elements. Infinity where one is
/// no number and the other one is; 0 where both are none.
double getLargestDifference(const TensorInfo &tensor, const char *a, const char *b);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_TENSOR_H
