//===- Matmul.cpp - Products through cuBLASLt -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm is the first of the heuristic, among those that are not in need of a larger
// workspace and sum up parts in the type of the sums, one after the other. It follows from shape
// and alignment, and is asked for once for each.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "DeviceLayouts.h"
#include "Errors.h"

#include "Remat/Runtime/DeviceCalls.h"
#include "Remat/Runtime/DeviceRuntime.h"

#include <array>
#include <cstring>
#include <map>

using namespace mlir::remat;
using namespace mlir::remat::cuda;

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
struct Blas {
  BlasFunctions functions;
  cublasLtHandle_t handle = nullptr;

  bool check(cublasStatus_t status, const char *what) const {
    if (status != CUBLAS_STATUS_SUCCESS)
      fail(std::string(what) + ": " + functions.cublasLtGetStatusName(status) + " (" +
           functions.cublasLtGetStatusString(status) + ")");
    return status == CUBLAS_STATUS_SUCCESS;
  }
};

/// What one call needs besides addresses. Empty descriptors if there is nothing to add.
struct Product {
  DeviceMatmul shape;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm;
};

/// In bytes, at most kAlignment.
struct Alignments {
  uint32_t first, second, result;
};
} // namespace

/// What kernels load at once.
constexpr uint32_t kAlignment = 16;

/// Opens the library when it is needed first. Null after an error.
static const Blas *getBlas() {
  static Blas *blas = nullptr;
  if (blas)
    return blas;
  Blas opened;
  if (std::string wrong = openLibrary(opened.functions); !wrong.empty()) {
    fail(wrong);
    return nullptr;
  }
  if (opened.check(opened.functions.cublasLtCreate(&opened.handle), "cublasLtCreate"))
    blas = new Blas(opened);
  return blas;
}

static cudaDataType_t getDataType(RematElement type) {
  switch (type) {
  case RematElement::F16:
    return CUDA_R_16F;
  case RematElement::BF16:
    return CUDA_R_16BF;
  case RematElement::F64:
    return CUDA_R_64F;
  default:
    return CUDA_R_32F;
  }
}

static cublasComputeType_t getComputeType(RematElement type) {
  if (type == RematElement::F64)
    return CUBLAS_COMPUTE_64F;
  return type == RematElement::TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static bool describe(const Blas &blas, const DeviceMatrix &matrix, int64_t batch,
                     cublasLtMatrixLayout_t &layout) {
  const BlasFunctions &lt = blas.functions;
  auto count = static_cast<int32_t>(batch);
  int64_t stride = matrix.batchStride;
  return blas.check(lt.cublasLtMatrixLayoutCreate(
                        &layout, getDataType(matrix.type), static_cast<uint64_t>(matrix.rows),
                        static_cast<uint64_t>(matrix.columns), matrix.leadingDimension),
                    "cublasLtMatrixLayoutCreate") &&
         blas.check(lt.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                        &count, sizeof(count)),
                    "cublasLtMatrixLayoutSetAttribute") &&
         blas.check(lt.cublasLtMatrixLayoutSetAttribute(layout,
                                                        CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                        &stride, sizeof(stride)),
                    "cublasLtMatrixLayoutSetAttribute");
}

static bool describe(const Blas &blas, Product &product) {
  const DeviceMatmul &shape = product.shape;
  auto setTranspose = [&](cublasLtMatmulDescAttributes_t attribute, bool isTransposed) {
    int32_t transpose = isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    return blas.check(blas.functions.cublasLtMatmulDescSetAttribute(product.operation, attribute,
                                                                    &transpose, sizeof(transpose)),
                      "cublasLtMatmulDescSetAttribute");
  };
  cudaDataType_t scaleType = shape.first.type == RematElement::F64 ? CUDA_R_64F : CUDA_R_32F;
  return blas.check(blas.functions.cublasLtMatmulDescCreate(
                        &product.operation, getComputeType(shape.first.type), scaleType),
                    "cublasLtMatmulDescCreate") &&
         setTranspose(CUBLASLT_MATMUL_DESC_TRANSA, shape.first.isTransposed) &&
         setTranspose(CUBLASLT_MATMUL_DESC_TRANSB, shape.second.isTransposed) &&
         describe(blas, shape.first, shape.batch, product.first) &&
         describe(blas, shape.second, shape.batch, product.second) &&
         describe(blas, shape.result, shape.batch, product.result);
}

static bool chooseAlgorithm(const Blas &blas, const Alignments &alignments, Product &product) {
  const BlasFunctions &lt = blas.functions;
  cublasLtMatmulPreference_t preference = nullptr;
  if (!blas.check(lt.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate"))
    return false;
  auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    return blas.check(
        lt.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
        "cublasLtMatmulPreferenceSetAttribute");
  };
  cublasLtMatmulHeuristicResult_t best;
  int count = 0;
  auto workspaceBytes = static_cast<uint64_t>(product.shape.workspaceBytes);
  bool isFound = set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspaceBytes) &&
                 set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                     static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)) &&
                 set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments.first) &&
                 set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments.second) &&
                 set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments.result) &&
                 set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments.result) &&
                 blas.check(lt.cublasLtMatmulAlgoGetHeuristic(
                                blas.handle, product.operation, product.first, product.second,
                                product.result, product.result, preference, 1, &best, &count),
                            "cublasLtMatmulAlgoGetHeuristic");
  lt.cublasLtMatmulPreferenceDestroy(preference);
  if (!isFound)
    return false;
  if (count == 0)
    return blas.check(CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmulAlgoGetHeuristic");
  product.algorithm = best.algo;
  return blas.check(best.state, "cublasLtMatmulAlgoGetHeuristic");
}

static void destroy(const Blas &blas, const Product &product) {
  for (cublasLtMatrixLayout_t layout : {product.first, product.second, product.result})
    if (layout)
      blas.functions.cublasLtMatrixLayoutDestroy(layout);
  if (product.operation)
    blas.functions.cublasLtMatmulDescDestroy(product.operation);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Of the addresses of all matrices of an operand.
static uint32_t findAlignment(const void *data, const DeviceMatrix &matrix,
                              const std::vector<DeviceMatmul::Loop> &loops,
                              int64_t DeviceMatmul::Loop::*stride) {
  int64_t bytes = getElementBytes(matrix.type);
  uint64_t bits = reinterpret_cast<uintptr_t>(data) | kAlignment |
                  static_cast<uint64_t>(matrix.batchStride * bytes);
  for (const DeviceMatmul::Loop &loop : loops)
    bits |= static_cast<uint64_t>(loop.*stride * bytes);
  return static_cast<uint32_t>(bits & -bits);
}

/// Null after an error.
static const Product *lookup(const Blas &blas, const RematMatmul &how, const DeviceMatmul &shape,
                             const Alignments &alignments) {
  constexpr size_t kNumWords = sizeof(RematMatmul) / sizeof(int64_t);
  using Key = std::array<int64_t, kNumWords + 3>;
  // Never destroyed: the library may be gone then.
  static std::map<Key, Product> &known = *new std::map<Key, Product>;
  Key key;
  std::memcpy(key.data(), &how, sizeof(how));
  key[kNumWords] = alignments.first;
  key[kNumWords + 1] = alignments.second;
  key[kNumWords + 2] = alignments.result;
  if (auto found = known.find(key); found != known.end())
    return &found->second;
  Product product;
  product.shape = shape;
  if (!describe(blas, product) || !chooseAlgorithm(blas, alignments, product)) {
    destroy(blas, product);
    return nullptr;
  }
  return &known.emplace(key, std::move(product)).first->second;
}

/// One call for each index in the loops, the last loop fastest.
static void run(const Device &device, const Blas &blas, const Product &product, const char *first,
                const char *second, char *result, void *workspace, size_t loop = 0) {
  const DeviceMatmul &shape = product.shape;
  if (loop < shape.loops.size()) {
    const DeviceMatmul::Loop &steps = shape.loops[loop];
    for (int64_t index = 0; index < steps.size && !hasFailed(); ++index)
      run(device, blas, product,
          first + index * steps.firstStride * getElementBytes(shape.first.type),
          second + index * steps.secondStride * getElementBytes(shape.second.type),
          result + index * steps.resultStride * getElementBytes(shape.result.type), workspace,
          loop + 1);
    return;
  }
  float single = 1;
  double twice = 1;
  const void *one = shape.first.type == RematElement::F64 ? static_cast<const void *>(&twice)
                                                          : static_cast<const void *>(&single);
  cublasStatus_t status = blas.functions.cublasLtMatmul(
      blas.handle, product.operation, one, first, product.first, second, product.second, one,
      result, product.result, result, product.result, &product.algorithm, workspace,
      static_cast<size_t>(shape.workspaceBytes), device.stream);
  if (blas.check(status, "cublasLtMatmul"))
    device.finish("cublasLtMatmul");
}

REMAT_EXPORT int64_t rematDeviceMatmulWorkspace(const RematMatmul *product) {
  return getDeviceMatmulWorkspace(*product);
}

REMAT_EXPORT void rematDeviceMatmul(const RematMatmul *how, const void *a, const void *b, void *c,
                                    void *workspace, int64_t workspaceBytes) {
  const Device *device = enterDevice();
  if (!device)
    return;
  std::optional<DeviceMatmul> shape = getDeviceMatmul(*how);
  if (!shape)
    return fail("rematDeviceMatmul: cuBLASLt does not take these types or strides");
  if (workspaceBytes < shape->workspaceBytes)
    return fail("rematDeviceMatmul: expected a workspace of at least " +
                std::to_string(shape->workspaceBytes) + " bytes, but got " +
                std::to_string(workspaceBytes));
  if (shape->isEmpty)
    return;
  const Blas *blas = getBlas();
  if (!blas)
    return;
  const void *first = shape->firstIsB ? b : a, *second = shape->firstIsB ? a : b;
  using Loop = DeviceMatmul::Loop;
  Alignments alignments = {findAlignment(first, shape->first, shape->loops, &Loop::firstStride),
                           findAlignment(second, shape->second, shape->loops, &Loop::secondStride),
                           findAlignment(c, shape->result, shape->loops, &Loop::resultStride)};
  if (const Product *product = lookup(*blas, *how, *shape, alignments))
    run(*device, *blas, *product, static_cast<const char *>(first),
        static_cast<const char *>(second), static_cast<char *>(c), workspace);
}
