//===- BlasDescriptors.h - What products are described by ------------------- ===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_LIB_FAKECUDA_BLASDESCRIPTORS_H
#define REMAT_TEST_LIB_FAKECUDA_BLASDESCRIPTORS_H

#include "Elements.h"

#include <cublasLt.h>

namespace mlir::remat::fake {

struct Layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t leadingDimension;
  int32_t batch = 1;
  int64_t batchStride = 0;

  bool operator==(const Layout &other) const {
    return type == other.type && rows == other.rows && columns == other.columns &&
           leadingDimension == other.leadingDimension && batch == other.batch &&
           batchStride == other.batchStride;
  }
  int64_t getPlace(int64_t matrix, int64_t row, int64_t column) const {
    return matrix * batchStride + row + column * leadingDimension;
  }
};
struct Operation {
  cublasComputeType_t computeType;
  cudaDataType_t scaleType;
  cublasOperation_t transposes[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
};
struct Preference {
  uint64_t workspaceBytes = 0;
  uint32_t reductionSchemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  /// Of A, B, C, D.
  uint32_t alignments[4] = {256, 256, 256, 256};
};
/// What is behind a handle of the library.
template <typename T, typename Handle>
T &get(Handle handle) {
  return *reinterpret_cast<T *>(handle);
}

/// None if the library does not compute with it.
Element getElement(cudaDataType_t type);

/// Says the reason on stderr.
cublasStatus_t reject(const char *reason, cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE);

} // namespace mlir::remat::fake

#endif // REMAT_TEST_LIB_FAKECUDA_BLASDESCRIPTORS_H
