//===- DeviceMatmulTest.cpp - Products as cuBLASLt takes them ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceLayouts.h"

#include "Remat/Runtime/DeviceCalls.h"

#include "gtest/gtest.h"

using namespace mlir::remat;

namespace {
constexpr RematElement kF16 = RematElement::F16, kBF16 = RematElement::BF16,
                       kF32 = RematElement::F32, kF64 = RematElement::F64,
                       kTF32 = RematElement::TF32, kI1 = RematElement::I1;

/// [5, 7] * [7, 3], all row-major.
RematMatmul makeProduct() {
  return {kF32,
          kF32,
          kF32,
          {1, 1, 1, 1},
          5,
          3,
          7,
          {0, 0, 0, 0, 7, 1},
          {0, 0, 0, 0, 3, 1},
          {0, 0, 0, 0, 3, 1}};
}

void setOuter(RematMatmul &product, int dim, int64_t size, int64_t a, int64_t b, int64_t c) {
  product.outer[dim] = size;
  product.stridesA[dim] = a;
  product.stridesB[dim] = b;
  product.stridesC[dim] = c;
}

bool isTaken(RematElement a, RematElement b, RematElement c) {
  RematMatmul product = makeProduct();
  product.typeA = a;
  product.typeB = b;
  product.typeC = c;
  return getDeviceMatmulWorkspace(product) >= 0;
}

TEST(DeviceMatmulTest, RowMajorResultIsTransposed) {
  std::optional<DeviceMatmul> taken = getDeviceMatmul(makeProduct());
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->firstIsB);
  EXPECT_EQ(taken->first.rows, 3);
  EXPECT_EQ(taken->first.columns, 7);
  EXPECT_EQ(taken->first.leadingDimension, 3);
  EXPECT_FALSE(taken->first.isTransposed);
  EXPECT_EQ(taken->second.rows, 7);
  EXPECT_EQ(taken->second.columns, 5);
  EXPECT_FALSE(taken->second.isTransposed);
  EXPECT_EQ(taken->result.rows, 3);
  EXPECT_EQ(taken->result.columns, 5);
  EXPECT_EQ(taken->batch, 1);
  EXPECT_TRUE(taken->loops.empty());
}

TEST(DeviceMatmulTest, ColumnMajorResultIsNot) {
  RematMatmul product = makeProduct();
  product.stridesC[4] = 1;
  product.stridesC[5] = 8;
  std::optional<DeviceMatmul> taken = getDeviceMatmul(product);
  ASSERT_TRUE(taken);
  EXPECT_FALSE(taken->firstIsB);
  EXPECT_TRUE(taken->first.isTransposed);
  EXPECT_EQ(taken->first.rows, 7);
  EXPECT_EQ(taken->result.rows, 5);
  EXPECT_EQ(taken->result.leadingDimension, 8);
}

TEST(DeviceMatmulTest, Types) {
  EXPECT_TRUE(isTaken(kTF32, kTF32, kF32));
  EXPECT_TRUE(isTaken(kF16, kF16, kF16));
  EXPECT_TRUE(isTaken(kBF16, kBF16, kF32));
  EXPECT_TRUE(isTaken(kF64, kF64, kF64));
  EXPECT_FALSE(isTaken(kF16, kF16, kBF16));
  EXPECT_FALSE(isTaken(kF16, kF32, kF32));
  EXPECT_FALSE(isTaken(kF64, kF64, kF32));
  EXPECT_FALSE(isTaken(kI1, kI1, kF32));
}

TEST(DeviceMatmulTest, StridesThatAreNotTaken) {
  auto isTakenWith = [](int dim, int64_t stride) {
    RematMatmul product = makeProduct();
    product.stridesA[dim] = stride;
    return getDeviceMatmulWorkspace(product) >= 0;
  };
  EXPECT_FALSE(isTakenWith(5, 2));
  EXPECT_FALSE(isTakenWith(5, 0));
  EXPECT_FALSE(isTakenWith(4, 6));
  EXPECT_FALSE(isTakenWith(4, -7));
  EXPECT_TRUE(isTakenWith(4, 7));
  EXPECT_TRUE(isTakenWith(4, INT32_MAX));
  EXPECT_FALSE(isTakenWith(4, int64_t(INT32_MAX) + 1));
}

TEST(DeviceMatmulTest, NothingToAdd) {
  RematMatmul product = makeProduct();
  product.inner = 0;
  std::optional<DeviceMatmul> taken = getDeviceMatmul(product);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->isEmpty);
  EXPECT_EQ(taken->workspaceBytes, 0);
}

TEST(DeviceMatmulTest, OuterDimensionsThatFollowEachOtherAreOneBatch) {
  RematMatmul product = makeProduct();
  setOuter(product, 0, 4, 6 * 35, 0, 6 * 15);
  setOuter(product, 3, 6, 35, 0, 15);
  std::optional<DeviceMatmul> taken = getDeviceMatmul(product);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->batch, 24);
  EXPECT_EQ(taken->first.batchStride, 0);
  EXPECT_EQ(taken->second.batchStride, 35);
  EXPECT_EQ(taken->result.batchStride, 15);
  EXPECT_TRUE(taken->loops.empty());
}

TEST(DeviceMatmulTest, DimensionsFollowEachOtherInAllOperands) {
  RematMatmul product = makeProduct();
  setOuter(product, 0, 4, 6 * 35, 6 * 21, 15);
  setOuter(product, 1, 6, 35, 21, 4 * 15);
  std::optional<DeviceMatmul> taken = getDeviceMatmul(product);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->batch, 6);
  ASSERT_EQ(taken->loops.size(), 1u);
  EXPECT_EQ(taken->loops[0].size, 4);
  EXPECT_EQ(taken->loops[0].resultStride, 15);
}

TEST(DeviceMatmulTest, HeadsBetweenRowsAreABatch) {
  // Rows of 4 heads with 3 columns each.
  RematMatmul product = makeProduct();
  product.stridesC[4] = 12;
  setOuter(product, 1, 4, 35, 21, 3);
  std::optional<DeviceMatmul> taken = getDeviceMatmul(product);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->batch, 4);
  EXPECT_EQ(taken->result.leadingDimension, 12);
  EXPECT_EQ(taken->result.batchStride, 3);
}

TEST(DeviceMatmulTest, SumsAreLoops) {
  RematMatmul product = makeProduct();
  setOuter(product, 0, 9, 35, 21, 0);
  setOuter(product, 1, 2, 1000, 1000, 15);
  std::optional<DeviceMatmul> taken = getDeviceMatmul(product);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->batch, 2);
  ASSERT_EQ(taken->loops.size(), 1u);
  EXPECT_EQ(taken->loops[0].size, 9);
  EXPECT_EQ(taken->loops[0].firstStride, 21);
  EXPECT_EQ(taken->loops[0].secondStride, 35);
  EXPECT_EQ(taken->loops[0].resultStride, 0);
}

TEST(DeviceMatmulTest, Workspace) {
  RematMatmul product = makeProduct();
  // The inner dimension is too short for parts of it.
  EXPECT_EQ(getDeviceMatmulWorkspace(product), 0);
  // Eight parts.
  product.inner = 4096;
  product.stridesA[4] = 4096;
  EXPECT_EQ(getDeviceMatmulWorkspace(product), 512);
  setOuter(product, 0, 10, 5 * 4096, 3 * 4096, 15);
  EXPECT_EQ(getDeviceMatmulWorkspace(product), 4864);
  product.typeA = product.typeB = product.typeC = kF64;
  EXPECT_EQ(getDeviceMatmulWorkspace(product), 9728);
  product.outer[0] = 10000;
  EXPECT_EQ(getDeviceMatmulWorkspace(product), 4 << 20);
  // So many results need no parts.
  product.outer[0] = (1 << 21) / 15 + 1;
  EXPECT_EQ(getDeviceMatmulWorkspace(product), 0);
}

} // namespace
