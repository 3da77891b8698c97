//===- Blas.cpp - A libcublasLt.so without a GPU ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithms are bound to what the heuristic was asked: another layout, a smaller workspace or
// less alignment than promised is an error. Half of the workspace is used, as far as there is
// garbage in it afterwards.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "FakeDriver.h"

#include <cublasLt.h>
#include <memory>
#include <set>

using namespace mlir::remat::fake;

namespace {
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
/// What an algorithm was made for.
struct Question {
  Operation operation;
  Layout layouts[4];
  uint32_t alignments[4];
  uint64_t workspaceBytes;
};
struct State {
  std::set<void *> handles;
  std::vector<std::unique_ptr<Question>> questions;
};
} // namespace
static State &state = *new State;

static cublasStatus_t reject(const char *reason,
                             cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE) {
  fakeCudaReject("libcublasLt", reason);
  return status;
}

static Element getElement(cudaDataType_t type) {
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
static T &get(Handle handle) {
  return *reinterpret_cast<T *>(handle);
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

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

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

FAKE_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  if (!fakeCudaHasContext())
    return reject("no current context", CUBLAS_STATUS_NOT_INITIALIZED);
  cublasStatus_t status = create("cublasLtCreate", handle, char());
  if (status == CUBLAS_STATUS_SUCCESS)
    state.handles.insert(*handle);
  return status;
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

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

/// Of those that the documentation has, the ones without conversions of the operands.
static bool areTypesKnown(const Operation &operation, const Layout (&layouts)[4]) {
  Element a = getElement(layouts[0].type), c = getElement(layouts[2].type);
  if (a == Element::None || layouts[1].type != layouts[0].type)
    return false;
  if (a == Element::Double)
    return c == a && operation.computeType == CUBLAS_COMPUTE_64F &&
           operation.scaleType == CUDA_R_64F;
  bool isTF32 = operation.computeType == CUBLAS_COMPUTE_32F_FAST_TF32;
  return operation.scaleType == CUDA_R_32F && (c == a || c == Element::Single) &&
         (operation.computeType == CUBLAS_COMPUTE_32F || (isTF32 && a == Element::Single));
}

static bool areSizesKnown(const Operation &operation, const Layout (&layouts)[4]) {
  auto getSizes = [&](int operand) {
    const Layout &layout = layouts[operand];
    bool isTransposed = operation.transposes[operand] == CUBLAS_OP_T;
    return isTransposed ? std::make_pair(layout.columns, layout.rows)
                        : std::make_pair(layout.rows, layout.columns);
  };
  auto [rows, inner] = getSizes(0);
  auto [innerB, columns] = getSizes(1);
  return inner == innerB && layouts[2].rows == rows && layouts[2].columns == columns &&
         layouts[0].batch == layouts[2].batch && layouts[1].batch == layouts[2].batch &&
         layouts[3] == layouts[2];
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t *results,
    int *count) {
  *count = 0;
  if (fakeCudaFails("cublasLtMatmulAlgoGetHeuristic"))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (fakeCudaFails("none"))
    return CUBLAS_STATUS_SUCCESS;
  if (state.handles.count(handle) == 0 || wanted < 1)
    return reject("question for an algorithm");
  const auto &given = get<Preference>(preference);
  if (given.reductionSchemes != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
    return reject("expected sums in the type that is computed in");
  auto question = std::make_unique<Question>(
      Question{get<Operation>(operation),
               {get<Layout>(a), get<Layout>(b), get<Layout>(c), get<Layout>(d)},
               {},
               given.workspaceBytes / 2});
  std::copy_n(given.alignments, 4, question->alignments);
  if (!areTypesKnown(question->operation, question->layouts))
    return reject("types", CUBLAS_STATUS_NOT_SUPPORTED);
  if (!areSizesKnown(question->operation, question->layouts))
    return reject("sizes of matrices");
  results[0] = {};
  std::memset(&results[0].algo, 0, sizeof(results[0].algo));
  results[0].algo.data[0] = state.questions.size() + 1;
  results[0].workspaceSize = question->workspaceBytes;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  state.questions.push_back(std::move(question));
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static bool isAligned(const void *data, const Layout &layout, uint32_t alignment) {
  uint64_t stride = static_cast<uint64_t>(layout.batchStride * getBytes(getElement(layout.type)));
  return reinterpret_cast<uintptr_t>(data) % alignment == 0 && stride % alignment == 0;
}

static bool isInMemory(const void *data, const Layout &layout) {
  int64_t last = layout.getPlace(layout.batch - 1, static_cast<int64_t>(layout.rows) - 1,
                                 static_cast<int64_t>(layout.columns) - 1);
  return layout.batchStride >= 0 &&
         fakeCudaIsDeviceMemory(
             data, static_cast<uint64_t>((last + 1) * getBytes(getElement(layout.type))));
}

static bool isDistinct(const Layout &layout) {
  std::vector<int64_t> places;
  for (int64_t matrix = 0; matrix < layout.batch; ++matrix)
    for (int64_t column = 0; column < static_cast<int64_t>(layout.columns); ++column)
      for (int64_t row = 0; row < static_cast<int64_t>(layout.rows); ++row)
        places.push_back(layout.getPlace(matrix, row, column));
  return areDistinct(std::move(places));
}

static void multiply(const Question &question, double alpha, const void *a, const void *b,
                     double beta, void *c) {
  const auto &[first, second, result, same] = question.layouts;
  const Operation &operation = question.operation;
  bool isTF32 = operation.computeType == CUBLAS_COMPUTE_32F_FAST_TF32;
  bool swapsA = operation.transposes[0] == CUBLAS_OP_T;
  bool swapsB = operation.transposes[1] == CUBLAS_OP_T;
  auto read = [&](const Layout &layout, const void *data, int64_t matrix, int64_t row,
                  int64_t column) {
    double value = load(getElement(layout.type), data, layout.getPlace(matrix, row, column));
    return isTF32 ? roundToTF32(value) : value;
  };
  auto inner = static_cast<int64_t>(swapsA ? first.rows : first.columns);
  Element type = getElement(result.type);
  for (int64_t matrix = 0; matrix < result.batch; ++matrix)
    for (int64_t column = 0; column < static_cast<int64_t>(result.columns); ++column)
      for (int64_t row = 0; row < static_cast<int64_t>(result.rows); ++row) {
        Sum sum(type == Element::Double);
        for (int64_t k = 0; k < inner; ++k)
          sum.add(swapsA ? read(first, a, matrix, k, row) : read(first, a, matrix, row, k),
                  swapsB ? read(second, b, matrix, column, k) : read(second, b, matrix, k, column));
        int64_t place = result.getPlace(matrix, row, column);
        store(type, c, place, alpha * sum.get() + beta * load(type, c, place));
      }
}

FAKE_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                          const void *alpha, const void *a,
                                          cublasLtMatrixLayout_t aLayout, const void *b,
                                          cublasLtMatrixLayout_t bLayout, const void *beta,
                                          const void *c, cublasLtMatrixLayout_t cLayout, void *d,
                                          cublasLtMatrixLayout_t dLayout,
                                          const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                                          size_t workspaceBytes, cudaStream_t stream) {
  if (fakeCudaFails("cublasLtMatmul"))
    return CUBLAS_STATUS_INTERNAL_ERROR;
  if (state.handles.count(handle) == 0 || !fakeCudaHasContext() || !fakeCudaIsStream(stream))
    return reject("handle, context or stream");
  uint64_t number = algorithm ? algorithm->data[0] : 0;
  if (number == 0 || number > state.questions.size())
    return reject("unknown algorithm");
  const Question &question = *state.questions[number - 1];
  const void *data[] = {a, b, c, d};
  const cublasLtMatrixLayout_t layouts[] = {aLayout, bLayout, cLayout, dLayout};
  for (int operand = 0; operand < 4; ++operand) {
    const Layout &layout = get<Layout>(layouts[operand]);
    if (!(layout == question.layouts[operand]))
      return reject("algorithm of other layouts");
    if (!isAligned(data[operand], layout, question.alignments[operand]))
      return reject("less alignment than promised");
    if (!isInMemory(data[operand], layout))
      return reject("operand outside of device memory");
  }
  if (std::memcmp(&get<Operation>(operation), &question.operation, sizeof(Operation)) != 0)
    return reject("algorithm of another operation");
  if (!isDistinct(question.layouts[3]))
    return reject("elements of the result at the same place");
  constexpr uintptr_t kWorkspaceAlignment = 256;
  if (workspaceBytes < question.workspaceBytes ||
      reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment != 0 ||
      !fakeCudaIsDeviceMemory(workspace, workspaceBytes))
    return reject("workspace");
  if (c != d)
    return reject("expected the result in its place");
  bool isDouble = question.operation.scaleType == CUDA_R_64F;
  Element scaleType = isDouble ? Element::Double : Element::Single;
  MemoryAccess access;
  std::memset(workspace, 0xff, question.workspaceBytes);
  multiply(question, load(scaleType, alpha, 0), a, b, load(scaleType, beta, 0), d);
  return CUBLAS_STATUS_SUCCESS;
}
