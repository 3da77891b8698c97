//===- DeviceMatmul.cpp - Products as cuBLASLt takes them -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceLayouts.h"

#include <algorithm>
#include <utility>

using namespace mlir::remat;

/// Sizes and leading dimensions that kernels of the library index with 32 bits.
constexpr int64_t kMaxSize = INT32_MAX;
/// Elements of an operand, gaps included: their bytes can be counted.
constexpr int64_t kMaxSpan = int64_t(1) << 48;

int64_t mlir::remat::padDeviceBytes(int64_t bytes) {
  return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

int64_t mlir::remat::getElementBytes(RematElement type) {
  switch (type) {
  case RematElement::I1:
    return 1;
  case RematElement::F16:
  case RematElement::BF16:
    return 2;
  case RematElement::F32:
  case RematElement::TF32:
    return 4;
  case RematElement::F64:
    return 8;
  }
  return 0;
}

int64_t mlir::remat::getSumBytes(RematElement type) { return type == RematElement::F64 ? 8 : 4; }

bool mlir::remat::areDistinct(std::vector<DeviceDimension> dimensions) {
  std::sort(dimensions.begin(), dimensions.end(),
            [](const DeviceDimension &a, const DeviceDimension &b) { return a.stride < b.stride; });
  int64_t span = 1;
  for (const DeviceDimension &dimension : dimensions) {
    if (dimension.size <= 1)
      continue;
    if (dimension.stride < span)
      return false;
    span += (dimension.size - 1) * dimension.stride;
  }
  return true;
}

static bool isEmpty(const RematMatmul &how) {
  bool isOuterEmpty = std::any_of(std::begin(how.outer), std::end(how.outer),
                                  [](int64_t size) { return size == 0; });
  return isOuterEmpty || how.rows == 0 || how.columns == 0 || how.inner == 0;
}

static bool areTypesTaken(const RematMatmul &how) {
  if (how.typeA != how.typeB)
    return false;
  bool isSum = how.typeC == RematElement::F32;
  switch (how.typeA) {
  case RematElement::F32:
  case RematElement::TF32:
    return isSum || how.typeC == RematElement::TF32;
  case RematElement::F16:
  case RematElement::BF16:
    return isSum || how.typeC == how.typeA;
  case RematElement::F64:
    return how.typeC == RematElement::F64;
  case RematElement::I1:
    return false;
  }
  return false;
}

/// Whether strides, those along `outer` perhaps 0, are none that the library does not know, and
/// nothing overflows.
static bool areStridesTaken(const RematMatmul &how, const int64_t (&strides)[6], int64_t rows,
                            int64_t columns) {
  const int64_t sizes[] = {how.outer[0], how.outer[1], how.outer[2], how.outer[3], rows, columns};
  for (int dim = 0; dim < 6; ++dim) {
    if (sizes[dim] > kMaxSize)
      return false;
    int64_t least = dim < 4 ? 0 : 1;
    if (sizes[dim] > 1 && (strides[dim] < least || strides[dim] > kMaxSpan / sizes[dim]))
      return false;
  }
  return true;
}

/// As it is in memory, if it is column-major there.
static std::optional<DeviceMatrix> asColumnMajor(RematElement type, DeviceDimension rows,
                                                 DeviceDimension columns) {
  if (rows.size != 1 && rows.stride != 1)
    return std::nullopt;
  int64_t leadingDimension = columns.size == 1 ? rows.size : columns.stride;
  if (leadingDimension < rows.size || leadingDimension > kMaxSize)
    return std::nullopt;
  return DeviceMatrix{type,
                      rows.size,
                      columns.size,
                      leadingDimension,
                      /*isTransposed=*/false,
                      /*batchStride=*/0};
}

/// As it is in memory, perhaps transposed. Of two ways, the one with longer columns.
static std::optional<DeviceMatrix> describe(RematElement type, DeviceDimension rows,
                                            DeviceDimension columns) {
  std::optional<DeviceMatrix> given = asColumnMajor(type, rows, columns);
  std::optional<DeviceMatrix> transposed = asColumnMajor(type, columns, rows);
  if (given && (!transposed || given->rows >= transposed->rows))
    return given;
  if (transposed)
    transposed->isTransposed = true;
  return transposed;
}

/// The matrices of one product.
static std::optional<DeviceMatmul> describeMatrices(const RematMatmul &how) {
  auto dimension = [](int64_t size, const int64_t (&strides)[6], int index) {
    return DeviceDimension{size, strides[index]};
  };
  DeviceDimension rowsA = dimension(how.rows, how.stridesA, 4);
  DeviceDimension innerA = dimension(how.inner, how.stridesA, 5);
  DeviceDimension innerB = dimension(how.inner, how.stridesB, 4);
  DeviceDimension columnsB = dimension(how.columns, how.stridesB, 5);
  DeviceDimension rowsC = dimension(how.rows, how.stridesC, 4);
  DeviceDimension columnsC = dimension(how.columns, how.stridesC, 5);

  std::optional<DeviceMatrix> c = describe(how.typeC, rowsC, columnsC);
  if (!c)
    return std::nullopt;
  bool swaps = c->isTransposed;
  c->isTransposed = false;
  auto first = swaps ? describe(how.typeB, columnsB, innerB) : describe(how.typeA, rowsA, innerA);
  auto second = swaps ? describe(how.typeA, innerA, rowsA) : describe(how.typeB, innerB, columnsB);
  if (!first || !second)
    return std::nullopt;
  DeviceMatmul result;
  result.first = *first;
  result.second = *second;
  result.result = *c;
  result.firstIsB = swaps;
  return result;
}

static bool follows(const DeviceMatmul::Loop &outer, const DeviceMatmul::Loop &inner) {
  return outer.firstStride == inner.size * inner.firstStride &&
         outer.secondStride == inner.size * inner.secondStride &&
         outer.resultStride == inner.size * inner.resultStride;
}

/// Outer dimensions, from the slowest to the fastest.
static std::vector<DeviceMatmul::Loop> findLoops(const RematMatmul &how, bool firstIsB) {
  std::vector<DeviceMatmul::Loop> loops;
  for (int dim = 0; dim < 4; ++dim) {
    if (how.outer[dim] == 1)
      continue;
    DeviceMatmul::Loop loop{how.outer[dim], how.stridesA[dim], how.stridesB[dim],
                            how.stridesC[dim]};
    if (firstIsB)
      std::swap(loop.firstStride, loop.secondStride);
    if (!loops.empty() && follows(loops.back(), loop) &&
        loops.back().size <= kMaxSize / loop.size) {
      loop.size *= loops.back().size;
      loops.back() = loop;
    } else {
      loops.push_back(loop);
    }
  }
  return loops;
}

/// Makes the largest loop that may be one the batch. Products that are added to the same result
/// are no batch.
static void setBatch(DeviceMatmul &product) {
  auto isBatch = [&](const DeviceMatmul::Loop &loop) {
    const DeviceMatrix &result = product.result;
    return areDistinct({{result.rows, 1},
                        {result.columns, result.leadingDimension},
                        {loop.size, loop.resultStride}});
  };
  auto best = product.loops.end();
  for (auto loop = product.loops.begin(); loop != product.loops.end(); ++loop)
    if (isBatch(*loop) && (best == product.loops.end() || loop->size > best->size))
      best = loop;
  if (best == product.loops.end())
    return;
  product.batch = best->size;
  product.first.batchStride = best->firstStride;
  product.second.batchStride = best->secondStride;
  product.result.batchStride = best->resultStride;
  product.loops.erase(best);
}

static int64_t findWorkspace(const DeviceMatmul &product, int64_t inner) {
  constexpr int64_t kMaxBytes = int64_t(4) << 20, kTerms = 512, kMaxParts = 8;
  // These are enough for all processors of a GPU, without parts.
  constexpr double kManyResults = 1 << 21;
  const DeviceMatrix &result = product.result;
  // The product may not fit into an integer, but only where it is far too large anyway.
  double count = static_cast<double>(result.rows) * static_cast<double>(result.columns) *
                 static_cast<double>(product.batch);
  if (count >= kManyResults)
    return 0;
  int64_t parts = std::min(inner / kTerms, kMaxParts);
  int64_t bytes = static_cast<int64_t>(count) * parts * getSumBytes(product.first.type);
  return std::min(padDeviceBytes(bytes), kMaxBytes);
}

std::optional<DeviceMatmul> mlir::remat::getDeviceMatmul(const RematMatmul &how) {
  if (!areTypesTaken(how))
    return std::nullopt;
  if (isEmpty(how)) {
    DeviceMatmul empty{};
    empty.isEmpty = true;
    return empty;
  }
  if (!areStridesTaken(how, how.stridesA, how.rows, how.inner) ||
      !areStridesTaken(how, how.stridesB, how.inner, how.columns) ||
      !areStridesTaken(how, how.stridesC, how.rows, how.columns))
    return std::nullopt;
  std::optional<DeviceMatmul> product = describeMatrices(how);
  if (!product)
    return std::nullopt;
  product->loops = findLoops(how, product->firstIsB);
  setBatch(*product);
  product->workspaceBytes = findWorkspace(*product, how.inner);
  return product;
}

int64_t mlir::remat::getDeviceMatmulWorkspace(const RematMatmul &product) {
  std::optional<DeviceMatmul> taken = getDeviceMatmul(product);
  return taken ? taken->workspaceBytes : -1;
}
