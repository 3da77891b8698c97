//===- Blas.cpp - A libcublasLt.so without a GPU ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Algorithms are bound to what the heuristic was asked: another layout, a smaller workspace or
// less alignment than promised is an error. There is garbage in half of the workspace afterwards.
//
//===----------------------------------------------------------------------===//

#include "BlasDescriptors.h"
#include "FakeDriver.h"

#include <memory>
#include <set>

using namespace mlir::remat::fake;

namespace {
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

FAKE_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  if (fakeCudaFails("cublasLtCreate"))
    return CUBLAS_STATUS_INTERNAL_ERROR;
  if (!fakeCudaHasContext())
    return reject("no current context", CUBLAS_STATUS_NOT_INITIALIZED);
  *handle = reinterpret_cast<cublasLtHandle_t>(new char);
  state.handles.insert(*handle);
  return CUBLAS_STATUS_SUCCESS;
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
  bool isWorkspace =
      workspaceBytes == 0 || (reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment == 0 &&
                              fakeCudaIsDeviceMemory(workspace, workspaceBytes));
  if (workspaceBytes < question.workspaceBytes || !isWorkspace)
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
