//===- ModelCostsTest.cpp - Counts, types and slices ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/ModelCosts.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::remat;

namespace {
constexpr int64_t dynamic = ShapedType::kDynamic;
constexpr std::optional<int64_t> unknown = std::nullopt;
} // namespace

TEST(CountTest, Arithmetic) {
  EXPECT_EQ((Count(3) + Count(4)).asOptional(), 7);
  EXPECT_EQ((Count(3) * Count(4)).asOptional(), 12);
  EXPECT_EQ(Count(dynamic).asOptional(), unknown);
  EXPECT_EQ((Count(3) + Count::unknown()).asOptional(), unknown);
  EXPECT_EQ((Count(3) * Count::unknown()).asOptional(), unknown);
  EXPECT_EQ((Count(0) * Count::unknown()).asOptional(), 0);
  EXPECT_EQ((Count(INT64_MAX) + Count(1)).asOptional(), unknown);
  EXPECT_EQ((Count(INT64_MAX) * Count(2)).asOptional(), unknown);
  EXPECT_EQ((Count(INT64_MAX) + Count(0)).asOptional(), INT64_MAX);
}

TEST(ModelCostsTest, NumElements) {
  MLIRContext context;
  context.allowUnregisteredDialects();
  auto count = [&](StringRef text) {
    return getNumElements(parseType(text, &context)).asOptional();
  };
  EXPECT_EQ(count("f32"), 1);
  EXPECT_EQ(count("vector<3xf32>"), 3);
  EXPECT_EQ(count("tensor<2x5xf32>"), 10);
  EXPECT_EQ(count("tensor<2xvector<4xf32>>"), 8);
  EXPECT_EQ(count("tensor<0x?xf32>"), 0);
  EXPECT_EQ(count("tensor<?xf32>"), unknown);
  EXPECT_EQ(count("tensor<*xf32>"), unknown);
  EXPECT_EQ(count("tuple<tensor<2xf32>>"), unknown);
  EXPECT_EQ(count("!mine.token"), unknown);
}

TEST(ModelCostsTest, SlowerArithmeticType) {
  MLIRContext context;
  context.loadDialect<quant::QuantDialect>();
  auto slower = [&](StringRef lhs, StringRef rhs) {
    return getSlowerArithmeticType(parseType(lhs, &context), parseType(rhs, &context));
  };
  EXPECT_EQ(slower("f32", "bf16"), parseType("f32", &context));
  EXPECT_EQ(slower("tensor<4xbf16>", "tensor<4xf64>"), parseType("f64", &context));
  EXPECT_EQ(slower("i64", "f16"), parseType("f16", &context));
  EXPECT_EQ(slower("i1", "index"), parseType("i1", &context));
  EXPECT_EQ(slower("f16", "bf16"), parseType("f16", &context));
  EXPECT_EQ(slower("tensor<4xcomplex<f32>>", "f16"), parseType("f32", &context));
  EXPECT_EQ(slower("tensor<4x!quant.uniform<i8:f32, 1.0>>", "i4"), parseType("i8", &context));
  EXPECT_EQ(slower("none", "none"), Type());
  EXPECT_EQ(getSlowerArithmeticType({}, parseType("i8", &context)), parseType("i8", &context));
}

TEST(ModelCostsTest, ContiguousSlices) {
  // Whole.
  EXPECT_TRUE(isContiguousSlice({4, 8}, {4, 8}, {1, 1}));
  // Some rows.
  EXPECT_TRUE(isContiguousSlice({4, 8}, {2, 8}, {1, 1}));
  // A part of one row.
  EXPECT_TRUE(isContiguousSlice({4, 8}, {1, 3}, {1, 1}));
  // A column, and parts of several rows.
  EXPECT_FALSE(isContiguousSlice({4, 8}, {4, 1}, {1, 1}));
  EXPECT_FALSE(isContiguousSlice({4, 8}, {2, 3}, {1, 1}));
  // Every other row.
  EXPECT_FALSE(isContiguousSlice({4, 8}, {2, 8}, {2, 1}));
  // Rows of one of several matrices.
  EXPECT_TRUE(isContiguousSlice({3, 4, 8}, {1, 2, 8}, {1, 1, 1}));
  EXPECT_FALSE(isContiguousSlice({3, 4, 8}, {2, 2, 8}, {1, 1, 1}));
  EXPECT_TRUE(isContiguousSlice({3, 1, 8}, {2, 1, 8}, {1, 1, 1}));
  // A scalar has no dimensions.
  EXPECT_TRUE(isContiguousSlice({}, {}, {}));
  // A dynamic number of whole rows; a dynamic part of rows.
  EXPECT_TRUE(isContiguousSlice({4, 8}, {dynamic, 8}, {1, 1}));
  EXPECT_FALSE(isContiguousSlice({4, dynamic}, {2, dynamic}, {1, 1}));
  EXPECT_FALSE(isContiguousSlice({4, 8}, {2, 8}, {dynamic, 1}));
}
