//===- CategoriesTest.cpp - What values are for -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that say in attributes what is expected of their values: `t.is` of
// an argument, `is` of an operation (one name, or one per result).
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/Categories.h"

#include "AnalysisTest.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::remat;
using mlir::remat::test::TestFunction;

/// Compares the categories of all values that have an expectation, and the
/// result that is taken as the loss.
static void checkCategories(StringRef text, std::optional<unsigned> loss,
                            const RoleOptions &options = {}) {
  TestFunction test(text);
  ValueRoles roles = inferRoles(test.problem, options);
  EXPECT_EQ(roles.lossResult, loss);
  int64_t numChecked = 0;
  auto check = [&](Value value, StringAttr expected, const Twine &what) {
    Category category = roles.categories[test.problem.valueIndex.lookup(value)];
    EXPECT_EQ(getCategoryName(category), expected.getValue()) << what.str();
    ++numChecked;
  };
  for (unsigned i = 0; i < test.function.getNumArguments(); ++i)
    if (auto expected = test.function.getArgAttrOfType<StringAttr>(i, "t.is"))
      check(test.function.getArgument(i), expected, "argument " + Twine(i));
  for (auto [index, op] : llvm::enumerate(test.problem.operations)) {
    Attribute expected = op->getDiscardableAttr("is");
    for (OpResult result : op->getResults()) {
      StringAttr name = dyn_cast_or_null<StringAttr>(expected);
      if (auto names = dyn_cast_or_null<ArrayAttr>(expected))
        name = cast<StringAttr>(names[result.getResultNumber()]);
      if (name)
        check(result, name,
              "operation " + Twine(index) + ", '" + op->getName().getStringRef() + "'");
    }
  }
  EXPECT_GT(numChecked, 0);
}

TEST(CategoriesTest, GradientDescentOnTwoLayers) {
  checkCategories(R"mlir(
func.func @step(%w1: tensor<16x32xf32> {t.is = "parameters"},
                %w2: tensor<32x4xf32> {t.is = "parameters"},
                %x: tensor<8x16xf32> {t.is = "inputs"},
                %y: tensor<8x4xf32> {t.is = "inputs"})
    -> (tensor<16x32xf32>, tensor<32x4xf32>, tensor<f32>) {
  // Read by forward only.
  %h = "t.dot"(%x, %w1) {is = "temporaries"}
      : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %r = "t.relu"(%h) {is = "activations"} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  // The loss does not depend on it.
  %m = "t.mask"(%h) {is = "activations"} : (tensor<8x32xf32>) -> tensor<8x32xi1>
  %o = "t.dot"(%r, %w2) {is = "temporaries"}
      : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %d = "t.sub"(%o, %y) {is = "activations"}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %q = "t.mul"(%d, %d) {is = "temporaries"}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %sum = "t.sum"(%q) {is = "temporaries"} : (tensor<8x4xf32>) -> tensor<f32>
  %n = "t.constant"() {is = "temporaries"} : () -> tensor<f32>
  %loss = "t.div"(%sum, %n) {is = "temporaries"}
      : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dd = "t.double"(%d) {is = "temporaries"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %g2 = "t.dot"(%r, %dd) {is = "gradients"}
      : (tensor<8x32xf32>, tensor<8x4xf32>) -> tensor<32x4xf32>
  %dr = "t.dot"(%dd, %w2) {is = "temporaries"}
      : (tensor<8x4xf32>, tensor<32x4xf32>) -> tensor<8x32xf32>
  %dh = "t.select"(%m, %dr) {is = "temporaries"}
      : (tensor<8x32xi1>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %g1 = "t.dot"(%x, %dh) {is = "gradients"}
      : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  %rate1 = "t.constant"() {is = "temporaries"} : () -> tensor<16x32xf32>
  %s1 = "t.mul"(%rate1, %g1) {is = "gradients"}
      : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %n1 = "t.sub"(%w1, %s1) {is = "parameters"}
      : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %n2 = "t.sub"(%w2, %g2) {is = "parameters"}
      : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
  return %n1, %n2, %loss : tensor<16x32xf32>, tensor<32x4xf32>, tensor<f32>
})mlir",
                  2);
}

/// A kernel that updates parameters and optimizer state at once: each result is the new value
/// of the first argument, in the order of operands, that it is computed from.
TEST(CategoriesTest, UpdatesInOneKernel) {
  TestFunction test(R"mlir(
func.func @step(%v: tensor<4xf32>, %m: tensor<4xf32>, %w: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %loss = "t.sum"(%w) : (tensor<4xf32>) -> tensor<f32>
  %g = "t.broadcast"(%loss) : (tensor<f32>) -> tensor<4xf32>
  %n:3 = "t.update"(%g, %m, %v, %w) ({
  ^bb0(%gi: f32, %mi: f32, %vi: f32, %wi: f32):
    %m1 = "t.add"(%mi, %gi) : (f32, f32) -> f32
    %v1 = "t.add"(%vi, %gi) : (f32, f32) -> f32
    %s = "t.div"(%m1, %v1) : (f32, f32) -> f32
    %w1 = "t.sub"(%wi, %s) : (f32, f32) -> f32
    "t.yield"(%m1, %w1, %v1) : (f32, f32, f32) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %n#0, %n#2, %n#1, %loss
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
})mlir");
  std::vector<std::optional<unsigned>> expected = {1, 0, 2, std::nullopt};
  EXPECT_EQ(inferRoles(test.problem, {}).updatedArguments, expected);
}

TEST(CategoriesTest, AdamWithMetricsBehindTheLoss) {
  checkCategories(R"mlir(
func.func @step(%w: tensor<16x4xf32> {t.is = "parameters"},
                %count: tensor<i32> {t.is = "optimizer_state"},
                %m: tensor<16x4xf32> {t.is = "optimizer_state"},
                %v: tensor<16x4xf32> {t.is = "optimizer_state"},
                %x: tensor<8x16xf32> {t.is = "inputs"})
    -> (tensor<16x4xf32>, tensor<i32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<f32>,
        tensor<f32>, tensor<f32>, tensor<f32>) {
  %norm = "t.sum"(%w) : (tensor<16x4xf32>) -> tensor<f32>
  %o = "t.dot"(%x, %w) {is = "activations"}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %loss = "t.sum"(%o) : (tensor<8x4xf32>) -> tensor<f32>
  %g = "t.dot"(%x, %o) {is = "gradients"}
      : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %square = "t.mul"(%g, %g) {is = "gradients"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %gnorm = "t.sum"(%square) : (tensor<16x4xf32>) -> tensor<f32>
  %next = "t.next"(%count) {is = "optimizer_state"} : (tensor<i32>) -> tensor<i32>
  %rate = "t.rate"(%next) {is = "temporaries"} : (tensor<i32>) -> tensor<f32>
  %scale = "t.broadcast"(%rate) {is = "temporaries"} : (tensor<f32>) -> tensor<16x4xf32>
  %m0 = "t.decay"(%m) {is = "temporaries"} : (tensor<16x4xf32>) -> tensor<16x4xf32>
  %m1 = "t.add"(%m0, %g) {is = "optimizer_state"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %v0 = "t.decay"(%v) {is = "temporaries"} : (tensor<16x4xf32>) -> tensor<16x4xf32>
  %v1 = "t.add"(%v0, %square) {is = "optimizer_state"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %u0 = "t.div"(%m1, %v1) {is = "temporaries"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %u1 = "t.mul"(%u0, %scale) {is = "temporaries"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %w1 = "t.add"(%w, %u1) {is = "parameters"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %w1, %next, %m1, %v1, %gnorm, %loss, %norm, %rate
      : tensor<16x4xf32>, tensor<i32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<f32>,
        tensor<f32>, tensor<f32>, tensor<f32>
})mlir",
                  5);
}

// The loss comes first, a parameter is a scalar, the batch has the type of the
// parameter and stands before it.
TEST(CategoriesTest, BatchOfTheSameTypeAndScalarParameter) {
  checkCategories(R"mlir(
func.func @step(%x: tensor<64xf32> {t.is = "inputs"},
                %w: tensor<64xf32> {t.is = "parameters"},
                %t: tensor<f32> {t.is = "parameters"})
    -> (tensor<f32>, tensor<64xf32>, tensor<f32>) {
  %p = "t.mul"(%x, %w, %t) {is = "activations"}
      : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %loss = "t.sum"(%p) : (tensor<64xf32>) -> tensor<f32>
  %g = "t.mul"(%x, %p) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %w1 = "t.sub"(%w, %g) {is = "parameters"}
      : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %gt = "t.sum"(%g) {is = "gradients"} : (tensor<64xf32>) -> tensor<f32>
  %t1 = "t.sub"(%t, %gt) {is = "parameters"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %w1, %t1 : tensor<f32>, tensor<64xf32>, tensor<f32>
})mlir",
                  0);
}

// Gradients in bf16 and through a view; master weights in f32.
TEST(CategoriesTest, CastsAndViewsOfGradients) {
  checkCategories(R"mlir(
func.func @step(%w: tensor<16x4xf32> {t.is = "parameters"},
                %x: tensor<8x16xbf16> {t.is = "inputs"}) -> (tensor<16x4xf32>, tensor<f32>) {
  %wb = "t.cast"(%w) {is = "activations"} : (tensor<16x4xf32>) -> tensor<16x4xbf16>
  %o = "t.dot"(%x, %wb) : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xbf16>
  %loss = "t.sum"(%o) : (tensor<8x4xbf16>) -> tensor<f32>
  %d = "t.dot"(%wb, %o) {is = "temporaries"}
      : (tensor<16x4xbf16>, tensor<8x4xbf16>) -> tensor<8x16xbf16>
  %flat = "t.dot"(%x, %d) {is = "gradients"}
      : (tensor<8x16xbf16>, tensor<8x16xbf16>) -> tensor<64xbf16>
  %gb = tensor.expand_shape %flat [[0, 1]] output_shape [16, 4] {is = "gradients"}
      : tensor<64xbf16> into tensor<16x4xbf16>
  %g = "t.cast"(%gb) {is = "gradients"} : (tensor<16x4xbf16>) -> tensor<16x4xf32>
  %w1 = "t.sub"(%w, %g) {is = "parameters"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %w1, %loss : tensor<16x4xf32>, tensor<f32>
})mlir",
                  1);
}

// A step that is unrolled over two microbatches: two losses, two backward parts.
TEST(CategoriesTest, Microbatches) {
  checkCategories(R"mlir(
func.func @step(%w: tensor<16x4xf32> {t.is = "parameters"},
                %x: tensor<8x16xf32> {t.is = "inputs"}) -> (tensor<16x4xf32>, tensor<f32>) {
  %x1 = "t.slice"(%x) {is = "activations"} : (tensor<8x16xf32>) -> tensor<4x16xf32>
  %o1 = "t.dot"(%x1, %w) {is = "activations"}
      : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
  %l1 = "t.sum"(%o1) {is = "temporaries"} : (tensor<4x4xf32>) -> tensor<f32>
  %g1 = "t.dot"(%x1, %o1) {is = "gradients"}
      : (tensor<4x16xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  %x2 = "t.slice"(%x) {is = "activations"} : (tensor<8x16xf32>) -> tensor<4x16xf32>
  %o2 = "t.dot"(%x2, %w) {is = "activations"}
      : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
  %l2 = "t.sum"(%o2) {is = "temporaries"} : (tensor<4x4xf32>) -> tensor<f32>
  %loss = "t.add"(%l1, %l2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g2 = "t.dot"(%x2, %o2) {is = "gradients"}
      : (tensor<4x16xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  %g = "t.add"(%g1, %g2) {is = "gradients"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %w1 = "t.sub"(%w, %g) {is = "parameters"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %w1, %loss : tensor<16x4xf32>, tensor<f32>
})mlir",
                  1);
}

// One loop computes the sum of the losses, the gradients, and what is kept.
TEST(CategoriesTest, LoopOverMicrobatches) {
  checkCategories(R"mlir(
func.func @step(%w: tensor<16x4xf32> {t.is = "parameters"},
                %m: tensor<16x4xf32> {t.is = "optimizer_state"},
                %x: tensor<8x16xf32> {t.is = "inputs"})
    -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<f32>) {
  %sum, %g, %kept = "t.loop"(%x, %w) {is = ["temporaries", "gradients", "activations"]}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> (tensor<f32>, tensor<16x4xf32>, tensor<99xf32>)
  %n = "t.constant"() : () -> tensor<f32>
  %loss = "t.div"(%sum, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = "t.regularize"(%kept) {is = "gradients"} : (tensor<99xf32>) -> tensor<16x4xf32>
  %m1 = "t.add"(%m, %g, %r) {is = "optimizer_state"}
      : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %w1 = "t.sub"(%w, %m1) {is = "parameters"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %w1, %m1, %loss : tensor<16x4xf32>, tensor<16x4xf32>, tensor<f32>
})mlir",
                  2);
}

// What is computed again behind the loss is no activation.
TEST(CategoriesTest, Recomputation) {
  checkCategories(R"mlir(
func.func @step(%w: tensor<16x4xf32>, %x: tensor<8x16xf32>) -> (tensor<16x4xf32>, tensor<f32>) {
  %a = "t.dot"(%x, %w) {is = "temporaries"}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %loss = "t.sum"(%a) : (tensor<8x4xf32>) -> tensor<f32>
  %b = "t.dot"(%x, %w) {is = "temporaries"}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %g = "t.dot"(%x, %b) {is = "gradients"}
      : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %w1 = "t.sub"(%w, %g) {is = "parameters"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %w1, %loss : tensor<16x4xf32>, tensor<f32>
})mlir",
                  1);
}

// Gradients are returned as they are, a frozen parameter is not.
TEST(CategoriesTest, ReturnedGradients) {
  checkCategories(R"mlir(
func.func @step(%w: tensor<16x4xf32> {t.is = "parameters"},
                %frozen: tensor<4x2xf32> {t.is = "inputs"},
                %x: tensor<8x16xf32> {t.is = "inputs"}) -> (tensor<f32>, tensor<16x4xf32>) {
  %a = "t.dot"(%x, %w) {is = "temporaries"}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %b = "t.dot"(%a, %frozen) {is = "activations"}
      : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %loss = "t.sum"(%b) : (tensor<8x2xf32>) -> tensor<f32>
  %d = "t.dot"(%b, %frozen) {is = "temporaries"}
      : (tensor<8x2xf32>, tensor<4x2xf32>) -> tensor<8x4xf32>
  %g = "t.dot"(%x, %d) {is = "gradients"}
      : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  return %loss, %g : tensor<f32>, tensor<16x4xf32>
})mlir",
                  0);
}

// Running statistics are computed in the forward pass, the state of a random
// generator goes into the loss, predictions have the type of the labels.
TEST(CategoriesTest, OtherState) {
  checkCategories(R"mlir(
func.func @step(%w: tensor<16x4xf32> {t.is = "parameters"},
                %mean: tensor<4xf32> {t.is = "optimizer_state"},
                %key: tensor<2xi32> {t.is = "optimizer_state"},
                %x: tensor<8x16xf32> {t.is = "inputs"},
                %y: tensor<8x4xf32> {t.is = "inputs"})
    -> (tensor<16x4xf32>, tensor<4xf32>, tensor<2xi32>, tensor<8x4xf32>, tensor<f32>) {
  %bits, %key1 = "t.random"(%key) {is = ["temporaries", "optimizer_state"]}
      : (tensor<2xi32>) -> (tensor<8x16xi1>, tensor<2xi32>)
  %dropped = "t.select"(%bits, %x) {is = "activations"}
      : (tensor<8x16xi1>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %a = "t.dot"(%dropped, %w) {is = "temporaries"}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %mu = "t.mean"(%a) {is = "temporaries"} : (tensor<8x4xf32>) -> tensor<4xf32>
  %old = "t.decay"(%mean) {is = "temporaries"} : (tensor<4xf32>) -> tensor<4xf32>
  %mean1 = "t.add"(%old, %mu) {is = "optimizer_state"}
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = "t.normalize"(%a, %mu) {is = "activations"}
      : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %loss = "t.entropy"(%b, %y) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
  %d = "t.back"(%b, %y) {is = "temporaries"}
      : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %g = "t.dot"(%dropped, %d) {is = "gradients"}
      : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %w1 = "t.sub"(%w, %g) {is = "parameters"}
      : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %w1, %mean1, %key1, %b, %loss
      : tensor<16x4xf32>, tensor<4xf32>, tensor<2xi32>, tensor<8x4xf32>, tensor<f32>
})mlir",
                  4);
}

TEST(CategoriesTest, Constants) {
  checkCategories(R"mlir(
func.func @step(%x: tensor<2xf32> {t.is = "inputs"}) -> f32 {
  %c = arith.constant {is = "constants"} dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant {is = "temporaries"} dense<1.0> : tensor<2xf32>
  %v = tensor.expand_shape %c [[0, 1]] output_shape [1, 2] {is = "constants"}
      : tensor<2xf32> into tensor<1x2xf32>
  %loss = "t.sum"(%x, %v, %s) {is = "temporaries"}
      : (tensor<2xf32>, tensor<1x2xf32>, tensor<2xf32>) -> f32
  return %loss : f32
})mlir",
                  0);
}

TEST(CategoriesTest, NoLoss) {
  StringRef inference = R"mlir(
func.func @run(%w: tensor<4x4xf32> {t.is = "inputs"}, %x: tensor<4x4xf32> {t.is = "inputs"})
    -> tensor<4x4xf32> {
  %a = "t.dot"(%x, %w) {is = "temporaries"}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = "t.exp"(%a) {is = "temporaries"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = "t.add"(%a, %b) {is = "temporaries"}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
})mlir";
  checkCategories(inference, std::nullopt);
}

// What the user says goes first.
TEST(CategoriesTest, GivenRoles) {
  StringRef text = R"mlir(
func.func @step(%w: tensor<4x4xf32> {t.is = "parameters"},
                %m: tensor<4x4xf32> {t.is = "optimizer_state"},
                %x: tensor<4x4xf32> {t.is = "inputs"}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = "t.dot"(%x, %w) {is = "activations"}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss = "t.exp"(%a) {is = "temporaries"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = "t.dot"(%a, %x) {is = "gradients"}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = "t.sub"(%w, %g) {is = "parameters"}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %w1, %loss : tensor<4x4xf32>, tensor<4x4xf32>
})mlir";
  RoleOptions options;
  options.lossResult = 1;
  options.arguments = {Category::Parameter, Category::OptimizerState, Category::Input};
  checkCategories(text, 1, options);
}

// An argument or a number that does not exist is no loss.
TEST(CategoriesTest, GivenLossIsNone) {
  StringRef text = R"mlir(
func.func @run(%x: tensor<f32> {t.is = "inputs"}) -> tensor<f32> {
  return %x : tensor<f32>
})mlir";
  RoleOptions options;
  options.lossResult = 0;
  checkCategories(text, std::nullopt, options);
  options.lossResult = 7;
  checkCategories(text, std::nullopt, options);
}
