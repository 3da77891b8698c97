//===- Matmul.cpp - Matrix products through OpenBLAS ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Runtime/Runtime.h"

#include <algorithm>
#include <cblas.h>
#include <limits>
#include <optional>

namespace {
/// One of the matrices, its strides in elements.
template <typename T>
struct Matrix {
  T *data;
  int64_t numRows, numColumns, rowStride, columnStride;

  Matrix transposed() const { return {data, numColumns, numRows, columnStride, rowStride}; }
  T &at(int64_t row, int64_t column) const { return data[row * rowStride + column * columnStride]; }
};

/// How BLAS takes a matrix.
struct Layout {
  CBLAS_TRANSPOSE transpose;
  blasint leadingDimension;
};

/// Matrices in two dimensions.
template <typename T>
struct Batches {
  Matrix<T> first;
  int64_t strides[2];

  Matrix<T> at(int64_t i, int64_t j) const {
    Matrix<T> matrix = first;
    matrix.data += i * strides[0] + j * strides[1];
    return matrix;
  }
};

/// Strides of dimensions of size 1 do not matter. Nothing if neither rows nor columns are
/// contiguous.
template <typename T>
std::optional<Layout> getLayout(const Matrix<T> &matrix) {
  auto tryRows = [](const Matrix<T> &m, CBLAS_TRANSPOSE transpose) -> std::optional<Layout> {
    int64_t leading = m.numRows == 1 ? m.numColumns : m.rowStride;
    bool isContiguous = m.numColumns == 1 || m.columnStride == 1;
    if (!isContiguous || leading < std::max<int64_t>(m.numColumns, 1) ||
        leading > std::numeric_limits<blasint>::max())
      return std::nullopt;
    return Layout{transpose, static_cast<blasint>(leading)};
  };
  if (std::optional<Layout> layout = tryRows(matrix, CblasNoTrans))
    return layout;
  return tryRows(matrix.transposed(), CblasTrans);
}

void gemm(Layout a, Layout b, blasint m, blasint n, blasint k, const float *x, const float *y,
          float *z, blasint leading) {
  cblas_sgemm(CblasRowMajor, a.transpose, b.transpose, m, n, k, 1, x, a.leadingDimension, y,
              b.leadingDimension, 1, z, leading);
}

void gemm(Layout a, Layout b, blasint m, blasint n, blasint k, const double *x, const double *y,
          double *z, blasint leading) {
  cblas_dgemm(CblasRowMajor, a.transpose, b.transpose, m, n, k, 1, x, a.leadingDimension, y,
              b.leadingDimension, 1, z, leading);
}

/// For what BLAS does not take.
template <typename T>
void multiplyPlainly(const Matrix<const T> &a, const Matrix<const T> &b, const Matrix<T> &c) {
  for (int64_t row = 0; row < c.numRows; ++row)
    for (int64_t index = 0; index < a.numColumns; ++index)
      for (int64_t column = 0; column < c.numColumns; ++column)
        c.at(row, column) += a.at(row, index) * b.at(index, column);
}

template <typename T>
void multiply(const Matrix<const T> &a, const Matrix<const T> &b, const Matrix<T> &c) {
  std::optional<Layout> layoutC = getLayout(c);
  // (A B)^T = B^T A^T
  if (layoutC && layoutC->transpose == CblasTrans)
    return multiply(b.transposed(), a.transposed(), c.transposed());
  std::optional<Layout> layoutA = getLayout(a), layoutB = getLayout(b);
  constexpr int64_t kMost = std::numeric_limits<blasint>::max();
  if (!layoutA || !layoutB || !layoutC || c.numRows > kMost || c.numColumns > kMost ||
      a.numColumns > kMost)
    return multiplyPlainly(a, b, c);
  gemm(*layoutA, *layoutB, c.numRows, c.numColumns, a.numColumns, a.data, b.data, c.data,
       layoutC->leadingDimension);
}

template <typename T>
void multiplyBatches(int64_t p, int64_t q, const Batches<const T> &a, const Batches<const T> &b,
                     const Batches<T> &c) {
  for (int64_t i = 0; i < p; ++i)
    for (int64_t j = 0; j < q; ++j)
      multiply(a.at(i, j), b.at(i, j), c.at(i, j));
}
} // namespace

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

REMAT_EXPORT void rematMatmulF32(int64_t p, int64_t q, int64_t m, int64_t n, int64_t k,
                                 const float *a, int64_t a0, int64_t a1, int64_t a2, int64_t a3,
                                 const float *b, int64_t b0, int64_t b1, int64_t b2, int64_t b3,
                                 float *c, int64_t c0, int64_t c1, int64_t c2, int64_t c3) {
  multiplyBatches<float>(p, q, {{a, m, k, a2, a3}, {a0, a1}}, {{b, k, n, b2, b3}, {b0, b1}},
                         {{c, m, n, c2, c3}, {c0, c1}});
}

REMAT_EXPORT void rematMatmulF64(int64_t p, int64_t q, int64_t m, int64_t n, int64_t k,
                                 const double *a, int64_t a0, int64_t a1, int64_t a2, int64_t a3,
                                 const double *b, int64_t b0, int64_t b1, int64_t b2, int64_t b3,
                                 double *c, int64_t c0, int64_t c1, int64_t c2, int64_t c3) {
  multiplyBatches<double>(p, q, {{a, m, k, a2, a3}, {a0, a1}}, {{b, k, n, b2, b3}, {b0, b1}},
                          {{c, m, n, c2, c3}, {c0, c1}});
}
