//===- Matmul.cpp - Matrix products through OpenBLAS ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands that OpenBLAS takes as they are go there whole. If there is another one, of half
// precision or with no contiguous dimension, the product is done tile by tile, and tiles of
// that operand are packed into the workspace first.
//
//===----------------------------------------------------------------------===//

#include "HalfPrecision.h"
#include "Remat/Runtime/Runtime.h"
#include "Workspace.h"

#include <algorithm>
#include <cblas.h>
#include <limits>
#include <optional>
#include <type_traits>

using namespace mlir::remat::runtime;

namespace {
constexpr int64_t kMaxSize = std::numeric_limits<blasint>::max();
/// Rows and columns of a tile: packing two of them is little beside multiplying them.
constexpr int64_t kTileSize = 1024;

/// A matrix, its strides in elements.
template <typename T>
struct Matrix {
  T *data;
  int64_t numRows, numColumns, rowStride, columnStride;

  Matrix transposed() const { return {data, numColumns, numRows, columnStride, rowStride}; }
};

/// How BLAS takes a matrix.
struct Layout {
  CBLAS_TRANSPOSE transpose;
  blasint leadingDimension;
};

/// Strides of dimensions of size 1 do not matter. Nothing if neither rows nor columns are
/// contiguous.
template <typename T>
std::optional<Layout> getLayout(const Matrix<T> &matrix) {
  auto tryRows = [](const Matrix<T> &m, CBLAS_TRANSPOSE transpose) -> std::optional<Layout> {
    int64_t leading = m.numRows == 1 ? m.numColumns : m.rowStride;
    bool isContiguous = m.numColumns == 1 || m.columnStride == 1;
    if (!isContiguous || leading < std::max<int64_t>(m.numColumns, 1) || leading > kMaxSize)
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

/// C += A * B of matrices that BLAS takes.
template <typename T>
void multiply(const Matrix<T> &a, const Matrix<T> &b, const Matrix<T> &c) {
  Layout layoutC = *getLayout(c);
  // (A B)^T = B^T A^T
  if (layoutC.transpose == CblasTrans)
    return multiply(b.transposed(), a.transposed(), c.transposed());
  gemm(*getLayout(a), *getLayout(b), c.numRows, c.numColumns, a.numColumns, a.data, b.data, c.data,
       layoutC.leadingDimension);
}

/// One of the three operands of a product whose sums are of type T.
template <typename T>
class Operand {
public:
  Operand(RematElement type, int64_t numRows, int64_t numColumns, const int64_t (&strides)[6])
      : type(type), numRows(numRows), numColumns(numColumns), strides(strides) {
    constexpr RematElement kSumType =
        std::is_same_v<T, float> ? RematElement::F32 : RematElement::F64;
    Matrix<T> whole{nullptr, numRows, numColumns, strides[4], strides[5]};
    isPacked = type != kSumType || !getLayout(whole);
  }

  bool needsPacking() const { return isPacked; }

  int64_t getWorkspace() const {
    return isPacked ? pad(std::min(numRows, kTileSize) * std::min(numColumns, kTileSize) *
                          int64_t(sizeof(T)))
                    : 0;
  }

  /// Takes its part of the workspace.
  void setWorkspace(char *&workspace) {
    buffer = reinterpret_cast<T *>(workspace);
    workspace += getWorkspace();
  }

  void setMatrix(const void *base, const int64_t (&index)[4]) {
    int64_t offset = 0;
    for (int dim = 0; dim < 4; ++dim)
      offset += index[dim] * strides[dim];
    visit([&](auto element) { data = static_cast<const decltype(element) *>(base) + offset; });
  }

  /// A tile that BLAS takes.
  Matrix<T> load(int64_t row, int64_t column, int64_t rows, int64_t columns) const {
    if (!isPacked) {
      auto *first = static_cast<const T *>(data) + row * strides[4] + column * strides[5];
      return {const_cast<T *>(first), rows, columns, strides[4], strides[5]};
    }
    Matrix<T> tile = getTile(rows, columns);
    visit([&](auto element) {
      forEach(tile, getPart<decltype(element)>(row, column, rows, columns),
              [](T &packed, const auto &original) { packed = widen(original); });
    });
    return tile;
  }

  /// Puts a tile of `load` back.
  void store(int64_t row, int64_t column, const Matrix<T> &tile) const {
    if (!isPacked)
      return;
    visit([&](auto element) {
      if constexpr (!std::is_same_v<decltype(element), uint8_t>)
        forEach(tile, getPart<decltype(element)>(row, column, tile.numRows, tile.numColumns),
                [](const T &packed, auto &original) { narrow(packed, original); });
    });
  }

private:
  /// Calls `function` with a value of the type of the elements.
  template <typename Function>
  void visit(Function function) const {
    if constexpr (std::is_same_v<T, double>)
      return function(double());
    else if (type == RematElement::I1)
      return function(uint8_t());
    else if (type == RematElement::F16)
      return function(Float16());
    else if (type == RematElement::BF16)
      return function(BFloat16());
    else
      return function(float());
  }

  /// Contiguous in the dimension in which the original is more so.
  Matrix<T> getTile(int64_t rows, int64_t columns) const {
    if (strides[5] <= strides[4])
      return {buffer, rows, columns, columns, 1};
    return {buffer, rows, columns, 1, rows};
  }

  template <typename E>
  Matrix<E> getPart(int64_t row, int64_t column, int64_t rows, int64_t columns) const {
    auto *first = static_cast<const E *>(data) + row * strides[4] + column * strides[5];
    return {const_cast<E *>(first), rows, columns, strides[4], strides[5]};
  }

  template <typename E, typename Function>
  static void forEach(const Matrix<T> &tile, const Matrix<E> &part, Function function) {
    if (tile.columnStride != 1)
      return forEach(tile.transposed(), part.transposed(), function);
    for (int64_t row = 0; row < tile.numRows; ++row) {
      T *packed = tile.data + row * tile.rowStride;
      E *original = part.data + row * part.rowStride;
      if (part.columnStride == 1)
        for (int64_t column = 0; column < tile.numColumns; ++column)
          function(packed[column], original[column]);
      else
        for (int64_t column = 0; column < tile.numColumns; ++column)
          function(packed[column], original[column * part.columnStride]);
    }
  }

  RematElement type;
  int64_t numRows, numColumns;
  const int64_t (&strides)[6];
  bool isPacked;
  T *buffer = nullptr;
  const void *data = nullptr;
};

template <typename T>
class Product {
public:
  explicit Product(const RematMatmul &how)
      : how(how), a(how.typeA, how.rows, how.inner, how.stridesA),
        b(how.typeB, how.inner, how.columns, how.stridesB),
        c(how.typeC, how.rows, how.columns, how.stridesC) {}

  int64_t getWorkspace() const {
    return isEmpty() ? 0 : a.getWorkspace() + b.getWorkspace() + c.getWorkspace();
  }

  void run(const void *dataA, const void *dataB, void *dataC, char *workspace) {
    if (isEmpty())
      return;
    a.setWorkspace(workspace);
    b.setWorkspace(workspace);
    c.setWorkspace(workspace);
    const int64_t (&outer)[4] = how.outer;
    int64_t index[4];
    for (index[0] = 0; index[0] < outer[0]; ++index[0])
      for (index[1] = 0; index[1] < outer[1]; ++index[1])
        for (index[2] = 0; index[2] < outer[2]; ++index[2])
          for (index[3] = 0; index[3] < outer[3]; ++index[3]) {
            a.setMatrix(dataA, index);
            b.setMatrix(dataB, index);
            c.setMatrix(dataC, index);
            runOne();
          }
  }

private:
  /// Whether there is nothing to add.
  bool isEmpty() const {
    return how.rows == 0 || how.columns == 0 || how.inner == 0 ||
           std::find(how.outer, how.outer + 4, 0) != how.outer + 4;
  }

  void runOne() const {
    bool isTiled = a.needsPacking() || b.needsPacking() || c.needsPacking() ||
                   std::max({how.rows, how.columns, how.inner}) > kMaxSize;
    int64_t size = isTiled ? kTileSize : kMaxSize;
    for (int64_t row = 0; row < how.rows; row += size)
      for (int64_t column = 0; column < how.columns; column += size) {
        int64_t rows = std::min(size, how.rows - row);
        int64_t columns = std::min(size, how.columns - column);
        Matrix<T> tile = c.load(row, column, rows, columns);
        for (int64_t inner = 0; inner < how.inner; inner += size) {
          int64_t length = std::min(size, how.inner - inner);
          multiply(a.load(row, inner, rows, length), b.load(inner, column, length, columns), tile);
        }
        c.store(row, column, tile);
      }
  }

  const RematMatmul &how;
  Operand<T> a, b, c;
};
} // namespace

REMAT_EXPORT int64_t rematMatmulWorkspace(const RematMatmul *product) {
  return product->typeC == RematElement::F64 ? Product<double>(*product).getWorkspace()
                                             : Product<float>(*product).getWorkspace();
}

REMAT_EXPORT void rematMatmul(const RematMatmul *product, const void *a, const void *b, void *c,
                              void *workspace, int64_t workspaceBytes) {
  checkWorkspace("rematMatmul", rematMatmulWorkspace(product), workspaceBytes);
  auto *bytes = static_cast<char *>(workspace);
  if (product->typeC == RematElement::F64)
    Product<double>(*product).run(a, b, c, bytes);
  else
    Product<float>(*product).run(a, b, c, bytes);
}
