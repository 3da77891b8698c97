//===- BlasDescriptors.cpp - What products are described by ----------------- ===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlasDescriptors.h"

#include "FakeDriver.h"

using namespace mlir::remat::fake;

cublasStatus_t mlir::remat::fake::reject(const char *reason, cublasStatus_t status) {
  fakeCudaReject("libcublasLt", reason);
  return status;
}

Element mlir::remat::fake::getElement(cudaDataType_t type) {
  switch (type) {
  case CUDA_R_16F:
    return Element::Half;
  case CUDA_R_16BF:
    return Element::BFloat;
  case CUDA_R_32F:
    return Element::Single;
  case CUDA_R_64F:
    return Element::Double;
  default:
    return Element::None;
  }
}

template <typename T>
static cublasStatus_t set(T &target, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return reject("size of an attribute");
  std::memcpy(&target, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T, typename Handle>
static cublasStatus_t create(const char *function, Handle *handle, T value) {
  if (fakeCudaFails(function))
    return CUBLAS_STATUS_INTERNAL_ERROR;
  *handle = reinterpret_cast<Handle>(new T(value));
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T, typename Handle>
static cublasStatus_t destroy(Handle handle) {
  delete reinterpret_cast<T *>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT const char *cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_NOT_SUPPORTED:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

FAKE_EXPORT const char *cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_INVALID_VALUE:
    return "an unsupported value or parameter was passed to the function";
  case CUBLAS_STATUS_NOT_SUPPORTED:
    return "the requested functionality is not supported";
  default:
    return "an internal operation failed";
  }
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *operation,
                                                    cublasComputeType_t computeType,
                                                    cudaDataType_t scaleType) {
  return create("cublasLtMatmulDescCreate", operation, Operation{computeType, scaleType});
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return destroy<Operation>(operation);
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                                          cublasLtMatmulDescAttributes_t attribute,
                                                          const void *value, size_t bytes) {
  auto &transposes = get<Operation>(operation).transposes;
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
    return set(transposes[0], value, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB)
    return set(transposes[1], value, bytes);
  return reject("unknown attribute of an operation");
}

FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                                      cudaDataType type, uint64_t rows,
                                                      uint64_t columns, int64_t leadingDimension) {
  if (rows == 0 || columns == 0 || leadingDimension < static_cast<int64_t>(rows))
    return reject("size or leading dimension of a matrix");
  return create("cublasLtMatrixLayoutCreate", layout,
                Layout{type, rows, columns, leadingDimension});
}

FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<Layout>(layout);
}

FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, const void *value,
    size_t bytes) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    return set(get<Layout>(layout).batch, value, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return set(get<Layout>(layout).batchStride, value, bytes);
  return reject("unknown attribute of a matrix");
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  return create("cublasLtMatmulPreferenceCreate", preference, Preference());
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<Preference>(preference);
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
    const void *value, size_t bytes) {
  auto &given = get<Preference>(preference);
  switch (attribute) {
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return set(given.workspaceBytes, value, bytes);
  case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
    return set(given.reductionSchemes, value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    return set(given.alignments[0], value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    return set(given.alignments[1], value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    return set(given.alignments[2], value, bytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return set(given.alignments[3], value, bytes);
  default:
    return reject("unknown attribute of a preference");
  }
}
