//===- FormulaFunctionsTest.cpp - Convolutions, loops and bodies ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterfacesTestUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::test;

namespace {
constexpr std::optional<int64_t> unknown = std::nullopt;

/// A convolution of one spatial dimension, features 3 to 5.
struct Convolution {
  int64_t input, kernel, output;
  int64_t stride = 1, low = 0, high = 0, inputDilation = 1, kernelDilation = 1;
};
} // namespace

static std::optional<int64_t> countProducts(const Convolution &c) {
  std::string text = llvm::formatv(R"(
    %x, %w = "mine.args"() : () -> (tensor<2x{0}x3xf32>, tensor<{1}x3x5xf32>)
    %0 = "stablehlo.convolution"(%x, %w) <{{
      batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64, lhs_dilation = array<i64: {3}>, rhs_dilation = array<i64: {4}>,
      padding = dense<[[{5}, {6}]]> : tensor<1x2xi64>, window_strides = array<i64: {7}>
    }> : (tensor<2x{0}x3xf32>, tensor<{1}x3x5xf32>) -> tensor<2x{2}x5xf32>)",
                                   c.input, c.kernel, c.output, c.inputDilation, c.kernelDilation,
                                   c.low, c.high, c.stride)
                         .str();
  ParsedModule parsed(text);
  return evaluate("convolution_products()", parsed.find("stablehlo.convolution"));
}

/// Pairs of output and kernel positions, tried one by one.
static int64_t countPairsSlowly(const Convolution &c) {
  int64_t pairs = 0;
  for (int64_t o = 0; o < c.output; ++o) {
    for (int64_t k = 0; k < c.kernel; ++k) {
      int64_t x = o * c.stride + k * c.kernelDilation - c.low;
      if (x >= 0 && x % c.inputDilation == 0 && x / c.inputDilation < c.input)
        ++pairs;
    }
  }
  return pairs;
}

TEST(ConvolutionTest, WithoutPaddingAllPairsCount) {
  // Batch 2, features 3 and 5, 6 positions with 3 elements of the kernel each.
  EXPECT_EQ(countProducts({8, 3, 6}), 2 * 5 * 3 * 6 * 3);
}

TEST(ConvolutionTest, PaddingIsNotCounted) {
  // 8 positions, of which the first and the last miss one element.
  EXPECT_EQ(countProducts({8, 3, 8, 1, 1, 1}), 30 * (8 * 3 - 2));
}

TEST(ConvolutionTest, HolesAreNotCounted) {
  // The input 4 becomes 7 with holes, 6 outputs of a kernel of 2: each meets one.
  EXPECT_EQ(countProducts({4, 2, 6, 1, 0, 0, 2, 1}), 30 * 6);
}

TEST(ConvolutionTest, AgreesWithCountingPairs) {
  // A fixed sequence of numbers, so that a failure can be repeated.
  uint32_t state = 12345;
  auto next = [&](int64_t low, int64_t high) {
    state = state * 1664525u + 1013904223u;
    return low + int64_t((state >> 16) % uint32_t(high - low + 1));
  };
  for (int trial = 0; trial < 200; ++trial) {
    Convolution c{next(1, 12), next(1, 5), 0,          next(1, 3),
                  next(-2, 4), next(0, 4), next(1, 3), next(1, 3)};
    int64_t dilated = (c.input - 1) * c.inputDilation + 1 + c.low + c.high;
    int64_t window = (c.kernel - 1) * c.kernelDilation + 1;
    c.output = dilated < window ? 0 : (dilated - window) / c.stride + 1;
    EXPECT_EQ(countProducts(c), 30 * countPairsSlowly(c))
        << "trial " << trial << ": input " << c.input << " kernel " << c.kernel << " stride "
        << c.stride << " low " << c.low << " dilations " << c.inputDilation << " "
        << c.kernelDilation;
  }
}

TEST(ConvolutionTest, LargeWindowsAreQuick) {
  // The weight gradient of a long sequence: kernel as long as the input.
  EXPECT_EQ(countProducts({1000000, 1000000, 1}), 30 * int64_t(1000000));
  EXPECT_EQ(countProducts({1 << 30, 1 << 30, 1}), unknown);
}

TEST(ConvolutionTest, GroupsAndOtherLayouts) {
  // NCHW, 4 groups of 2 features to 8: 2 * 8 outputs * 2 inputs * (4 * 4) * (3 * 3).
  ParsedModule parsed(R"(
    %x, %w = "mine.args"() : () -> (tensor<2x8x6x6xf32>, tensor<8x2x3x3xf32>)
    %0 = "stablehlo.convolution"(%x, %w) <{
      batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>,
      feature_group_count = 4 : i64
    }> : (tensor<2x8x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<2x8x4x4xf32>)");
  EXPECT_EQ(evaluate("convolution_products()", parsed.find("stablehlo.convolution")), 4608);
}

TEST(ConvolutionTest, LongFormOfTheLayout) {
  ParsedModule parsed(R"(
    %x, %w = "mine.args"() : () -> (tensor<2x8x3xf32>, tensor<3x3x5xf32>)
    %0 = "stablehlo.convolution"(%x, %w) <{dimension_numbers = #stablehlo.conv<raw
      input_batch_dimension = 0, input_feature_dimension = 2, input_spatial_dimensions = [1],
      kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 2, kernel_spatial_dimensions = [0],
      output_batch_dimension = 0, output_feature_dimension = 2, output_spatial_dimensions = [1]>
    }> : (tensor<2x8x3xf32>, tensor<3x3x5xf32>) -> tensor<2x6x5xf32>)");
  EXPECT_EQ(evaluate("convolution_products()", parsed.find("stablehlo.convolution")),
            2 * 5 * 3 * 6 * 3);
}

TEST(ConvolutionTest, UnknownWithoutShapesOrLayout) {
  ParsedModule parsed(R"(
    %x, %w = "mine.args"() : () -> (tensor<?x8x3xf32>, tensor<3x3x5xf32>)
    %0 = "mine.dynamic"(%x, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
       : (tensor<?x8x3xf32>, tensor<3x3x5xf32>) -> tensor<?x6x5xf32>
    %1 = "mine.bare"(%x, %w) : (tensor<?x8x3xf32>, tensor<3x3x5xf32>) -> tensor<2x6x5xf32>
    %2 = "mine.strange"(%x, %w) <{dimension_numbers = #stablehlo.conv<[b, z, f]x[0, i, o]->[b, 0, f]>}>
       : (tensor<?x8x3xf32>, tensor<3x3x5xf32>) -> tensor<2x6x5xf32>)");
  for (StringRef name : {"mine.dynamic", "mine.bare", "mine.strange"})
    EXPECT_EQ(evaluate("convolution_products()", parsed.find(name)), unknown) << name.str();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// A loop `for (i = start; i <direction> limit; i += step)` over `type`.
static std::optional<int64_t> countTrips(int64_t start, StringRef direction, int64_t limit,
                                         int64_t step, StringRef type = "i32") {
  std::string text = llvm::formatv(R"(
    %s = "stablehlo.constant"() <{{value = dense<{0}> : tensor<{4}>}> : () -> tensor<{4}>
    %x = "mine.arg"() : () -> tensor<8xf32>
    %0:2 = "stablehlo.while"(%x, %s) ({{
    ^bb0(%a: tensor<8xf32>, %i: tensor<{4}>):
      %l = "stablehlo.constant"() <{{value = dense<{2}> : tensor<{4}>}> : () -> tensor<{4}>
      %p = "stablehlo.compare"(%i, %l) <{{comparison_direction = #stablehlo<comparison_direction {1}>}> : (tensor<{4}>, tensor<{4}>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {{
    ^bb0(%a: tensor<8xf32>, %i: tensor<{4}>):
      %c = "stablehlo.constant"() <{{value = dense<{3}> : tensor<{4}>}> : () -> tensor<{4}>
      %n = "stablehlo.add"(%i, %c) : (tensor<{4}>, tensor<{4}>) -> tensor<{4}>
      "stablehlo.return"(%a, %n) : (tensor<8xf32>, tensor<{4}>) -> ()
    }) : (tensor<8xf32>, tensor<{4}>) -> (tensor<8xf32>, tensor<{4}>))",
                                   start, direction, limit, step, type)
                         .str();
  ParsedModule parsed(text);
  return evaluate("while_trip_count()", parsed.find("stablehlo.while"));
}

TEST(WhileTest, CountsUp) {
  EXPECT_EQ(countTrips(0, "LT", 12, 1), 12);
  EXPECT_EQ(countTrips(3, "LT", 17, 5), 3); // 3, 8, 13
  EXPECT_EQ(countTrips(3, "LT", 18, 5), 3);
  EXPECT_EQ(countTrips(3, "LE", 18, 5), 4);
  EXPECT_EQ(countTrips(5, "LT", 5, 1), 0);
  EXPECT_EQ(countTrips(6, "LT", 5, 1), 0);
  EXPECT_EQ(countTrips(0, "NE", 12, 4), 3);
  EXPECT_EQ(countTrips(-3, "LT", 3, 1), 6);
}

TEST(WhileTest, CountsDown) {
  EXPECT_EQ(countTrips(12, "GT", 0, -1), 12);
  EXPECT_EQ(countTrips(12, "GE", 0, -1), 13);
  EXPECT_EQ(countTrips(12, "NE", 0, -4), 3);
  EXPECT_EQ(countTrips(0, "GT", 0, -1), 0);
}

TEST(WhileTest, EndlessAndWrappingLoopsAreUnknown) {
  EXPECT_EQ(countTrips(0, "LT", 12, 0), unknown);
  EXPECT_EQ(countTrips(0, "LT", 12, -1), unknown);
  EXPECT_EQ(countTrips(0, "NE", 12, 5), unknown);
  EXPECT_EQ(countTrips(0, "NE", 12, -4), unknown);
  EXPECT_EQ(countTrips(0, "EQ", 12, 1), unknown);
  // 0, 100, then 200, which is -56.
  EXPECT_EQ(countTrips(0, "LT", 127, 100, "i8"), unknown);
  EXPECT_EQ(countTrips(0, "LE", 127, 1, "i8"), unknown);
  EXPECT_EQ(countTrips(0, "LT", 127, 1, "i8"), 127);
  EXPECT_EQ(countTrips(0, "LT", 200, 1, "ui8"), 200);
  EXPECT_EQ(countTrips(INT64_MIN, "LT", INT64_MAX, 1, "i64"), unknown);
}

/// The body of `cond` and `body` for a counter %i and an unchanged value %n.
static std::optional<int64_t> countWithRegions(StringRef condition, StringRef body) {
  std::string text = llvm::formatv(R"(
    %zero = "stablehlo.constant"() <{{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %two = "stablehlo.constant"() <{{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %ten = "stablehlo.constant"() <{{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %held:2 = "stablehlo.optimization_barrier"(%zero, %ten) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %unknown = "mine.arg"() : () -> tensor<i32>
    %0:3 = "stablehlo.while"(%held#0, %held#1, %unknown) ({{
    ^bb0(%i: tensor<i32>, %n: tensor<i32>, %u: tensor<i32>):
      {0}
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {{
    ^bb0(%i: tensor<i32>, %n: tensor<i32>, %u: tensor<i32>):
      {1}
    }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>))",
                                   condition, body)
                         .str();
  ParsedModule parsed(text);
  return evaluate("while_trip_count()", parsed.find("stablehlo.while"));
}

static constexpr llvm::StringLiteral lessThanLimit =
    R"(%p = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>)";
static constexpr llvm::StringLiteral addTwo =
    R"(%m = "stablehlo.add"(%two, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
       "stablehlo.return"(%m, %n, %u) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ())";

TEST(WhileTest, LimitMayBeCarriedUnchanged) {
  EXPECT_EQ(countWithRegions(lessThanLimit, addTwo), 5);
}

TEST(WhileTest, LimitMayStandFirst) {
  EXPECT_EQ(
      countWithRegions(
          R"(%p = "stablehlo.compare"(%n, %i) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>)",
          addTwo),
      5);
}

TEST(WhileTest, LimitThatChangesIsUnknown) {
  EXPECT_EQ(
      countWithRegions(lessThanLimit,
                       R"(%m = "stablehlo.add"(%i, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
             "stablehlo.return"(%m, %u, %u) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ())"),
      unknown);
}

TEST(WhileTest, LimitOrStepFromOutsideIsUnknown) {
  EXPECT_EQ(
      countWithRegions(
          R"(%p = "stablehlo.compare"(%i, %u) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>)",
          addTwo),
      unknown);
  EXPECT_EQ(countWithRegions(
                lessThanLimit,
                R"(%m = "stablehlo.add"(%i, %unknown) : (tensor<i32>, tensor<i32>) -> tensor<i32>
             "stablehlo.return"(%m, %n, %u) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ())"),
            unknown);
  EXPECT_EQ(countWithRegions(
                lessThanLimit,
                R"(%m = "stablehlo.multiply"(%i, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
             "stablehlo.return"(%m, %n, %u) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ())"),
            unknown);
}

TEST(WhileTest, StrangeOperationsAreUnknown) {
  ParsedModule parsed(R"(
    "mine.none"() : () -> ()
    "mine.empty"() ({}, {}) : () -> ()
    "mine.other"() ({"stablehlo.return"() : () -> ()}, {"stablehlo.return"() : () -> ()}) : () -> ())");
  for (StringRef name : {"mine.none", "mine.empty", "mine.other"})
    EXPECT_EQ(evaluate("while_trip_count()", parsed.find(name)), unknown) << name.str();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

TEST(RegionFlopsTest, AddsWeightsAndMultipliesTrips) {
  // exponential 8, divide 4; a loop of three trips with an add for the counter and
  // a comparison in each.
  ParsedModule parsed(R"(
    "mine.body"() ({
    ^bb0(%a: tensor<f32>):
      %e = "stablehlo.exponential"(%a) : (tensor<f32>) -> tensor<f32>
      %d = "stablehlo.divide"(%e, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %z = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %0 = "stablehlo.while"(%z) ({
      ^bb0(%i: tensor<i32>):
        %l = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
        %p = "stablehlo.compare"(%i, %l) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%p) : (tensor<i1>) -> ()
      }, {
      ^bb0(%i: tensor<i32>):
        %c = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %n = "stablehlo.add"(%i, %c) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%n) : (tensor<i32>) -> ()
      }) : (tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%d) : (tensor<f32>) -> ()
    }) : () -> ()
    "mine.unknown"() ({
      "mine.thing"() : () -> ()
    }) : () -> ())");
  EXPECT_EQ(evaluate("region_flops(0)", parsed.find("mine.body")), 8 + 4 + 3 * 2);
  EXPECT_EQ(evaluate("region_flops(1)", parsed.find("mine.body")), unknown);
  EXPECT_EQ(evaluate("region_flops(0)", parsed.find("mine.unknown")), unknown);
}
