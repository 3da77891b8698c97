//===- CostFormulaTest.cpp - The expressions of a models file ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterfacesTestUtils.h"

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::test;

namespace {
constexpr std::optional<int64_t> unknown = std::nullopt;

class CostFormulaTest : public testing::Test {
protected:
  std::optional<int64_t> value(StringRef text) { return evaluate(text, op); }

  /// The error that reading `text` gives.
  std::string error(StringRef text) {
    llvm::Expected<CostFormula> formula = CostFormula::parse(text);
    return formula ? "none" : llvm::toString(formula.takeError());
  }

  ParsedModule parsed{R"(
    %a, %b = "mine.args"() : () -> (tensor<2x3x4xf32>, tensor<?x8xbf16>)
    %c = "stablehlo.constant"() <{value = dense<1.0> : tensor<2x3x4xf32>}> : () -> tensor<2x3x4xf32>
    %0, %1 = "mine.op"(%a, %b, %c, %a) <{
      axis = 2 : i64, flag = true, sizes = array<i64: 3, 5>, pairs = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>,
      list = [7, 9], name = "text", same = dense<2> : tensor<2x2xi64>,
      numbers = #mine.dot<lhs_dims = [0, 2], rhs_lhs_dims = [1], axis = 1, empty = [], bad = [x]>
    }> {extra = 11 : i32} : (tensor<2x3x4xf32>, tensor<?x8xbf16>, tensor<2x3x4xf32>, tensor<2x3x4xf32>)
       -> (tensor<6x4xf64>, tensor<5xi1>)
  )"};
  Operation *op = parsed.find("mine.op");
};
} // namespace

TEST_F(CostFormulaTest, Arithmetic) {
  EXPECT_EQ(value("0"), 0);
  EXPECT_EQ(value(" 12 "), 12);
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 2 - 3"), 5);
  EXPECT_EQ(value("100 / 7 / 2"), 7);
  EXPECT_EQ(value("5 - -2"), 7);
  EXPECT_EQ(value("-(3 - 5)"), 2);
  EXPECT_EQ(value("min(4, 2, 3)"), 2);
  EXPECT_EQ(value("max(4)"), 4);
  EXPECT_EQ(value("ceil_div(7, 2) + ceil_div(8, 2)"), 8);
  EXPECT_EQ(value("ceil_log2(1)"), 0);
  EXPECT_EQ(value("ceil_log2(1024)"), 10);
  EXPECT_EQ(value("ceil_log2(1025)"), 11);
}

TEST_F(CostFormulaTest, ValuesOutsideOfIntegersAreUnknown) {
  EXPECT_EQ(value("3 - 5"), unknown); // A cost is not negative.
  EXPECT_EQ(value("1 / 0"), unknown);
  EXPECT_EQ(value("ceil_div(1, 0)"), unknown);
  EXPECT_EQ(value("ceil_log2(0)"), unknown);
  EXPECT_EQ(value("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(value("9223372036854775807 + 1"), unknown);
  EXPECT_EQ(value("9223372036854775807 * 2 - 9223372036854775807"), unknown);
  EXPECT_EQ(value("4294967296 * 4294967296"), unknown);
  EXPECT_EQ(value("product([4294967296, 4294967296])"), unknown);
  EXPECT_EQ(value("sum([9223372036854775807, 1])"), unknown);
}

TEST_F(CostFormulaTest, Values) {
  EXPECT_EQ(value("elements(operand 0)"), 24);
  EXPECT_EQ(value("elements(operand -2)"), 24);
  EXPECT_EQ(value("elements(result 1)"), 5);
  EXPECT_EQ(value("elements(results)"), 29);
  EXPECT_EQ(value("rank(operand 1)"), 2);
  EXPECT_EQ(value("bytes(result 0)"), 192);
  EXPECT_EQ(value("bytes(results)"), 197);
  EXPECT_EQ(value("bytes(operand 0)"), 96);
  EXPECT_EQ(value("bytes(operand 2)"), 0); // A splat is made from a scalar.
}

TEST_F(CostFormulaTest, UnknownValues) {
  EXPECT_EQ(value("elements(operand 1)"), unknown);
  EXPECT_EQ(value("elements(operands)"), unknown);
  EXPECT_EQ(value("bytes(operands)"), unknown);
  EXPECT_EQ(value("elements(operand 4)"), unknown);
  EXPECT_EQ(value("elements(operand -5)"), unknown);
  EXPECT_EQ(value("rank(operands)"), unknown);
}

TEST_F(CostFormulaTest, Lists) {
  EXPECT_EQ(value("product(dims(operand 0))"), 24);
  EXPECT_EQ(value("product(dims(operand 0, [0, 2]))"), 8);
  EXPECT_EQ(value("sum(dims(operand 0))"), 9);
  EXPECT_EQ(value("product([])"), 1);
  EXPECT_EQ(value("sum([])"), 0);
  EXPECT_EQ(value("length([4, 4 + 1, 2])"), 3);
  EXPECT_EQ(value("at([4, 5, 6], 2)"), 6);
  EXPECT_EQ(value("at(dims(operand 0), rank(operand 0) - 1)"), 4);
  EXPECT_EQ(value("at([4], 1)"), unknown);
  EXPECT_EQ(value("at([4], -1)"), unknown);
  EXPECT_EQ(value("sum(dims(operand 0, [3]))"), unknown);
  EXPECT_EQ(value("sum(dims(operand 1))"), unknown);
  EXPECT_EQ(value("sum(dims(operand 1, [1]))"), 8);
}

TEST_F(CostFormulaTest, Attributes) {
  EXPECT_EQ(value("integer('axis')"), 2);
  EXPECT_EQ(value("integer('flag')"), 1);
  EXPECT_EQ(value("integer('extra')"), 11); // Discardable ones are found, too.
  EXPECT_EQ(value("integer('missing', 4)"), 4);
  EXPECT_EQ(value("integer('missing')"), unknown);
  EXPECT_EQ(value("integer('sizes')"), unknown);
  EXPECT_EQ(value("integer('name')"), unknown);
  EXPECT_EQ(value("product(list('sizes'))"), 15);
  EXPECT_EQ(value("sum(list('pairs'))"), 10);
  EXPECT_EQ(value("sum(list('same'))"), 8);
  EXPECT_EQ(value("sum(list('list'))"), 16);
  EXPECT_EQ(value("at(list('axis'), 0)"), 2);
  EXPECT_EQ(value("length(list('missing'))"), 0);
  EXPECT_EQ(value("length(list('name'))"), unknown);
}

TEST_F(CostFormulaTest, FieldsOfText) {
  EXPECT_EQ(value("product(dims(operand 0, field('numbers', 'lhs_dims')))"), 8);
  EXPECT_EQ(value("sum(field('numbers', 'rhs_lhs_dims'))"), 1);
  EXPECT_EQ(value("sum(field('numbers', 'axis'))"), 1);
  EXPECT_EQ(value("length(field('numbers', 'empty'))"), 0);
  EXPECT_EQ(value("length(field('numbers', 'dims'))"), 0); // Whole words only.
  EXPECT_EQ(value("length(field('missing', 'dims'))"), 0);
  EXPECT_EQ(value("length(field('numbers', 'bad'))"), unknown);
}

TEST_F(CostFormulaTest, Errors) {
  EXPECT_EQ(error(""), "column 1: expected an expression");
  EXPECT_EQ(error("1 +"), "column 4: expected an expression");
  EXPECT_EQ(error("1 2"), "column 3: expected an operator or the end of the formula");
  EXPECT_EQ(error("(1"), "column 3: expected ')'");
  EXPECT_EQ(error("elemnts(operand 0)"), "column 1: unknown function 'elemnts'");
  EXPECT_EQ(error("elements(0)"),
            "column 10: expected 'operand N', 'result N', 'operands' or 'results'");
  EXPECT_EQ(error("elements(operand)"), "column 17: expected an integer below 2^63");
  EXPECT_EQ(error("99999999999999999999"), "column 1: expected an integer below 2^63");
  EXPECT_EQ(error("elements()"), "column 11: too few arguments of 'elements'");
  EXPECT_EQ(error("rank(operand 0, 1)"), "column 16: too many arguments of 'rank'");
  EXPECT_EQ(error("[1]"), "column 1: expected an integer, but got a list");
  EXPECT_EQ(error("1 + [1]"), "column 8: expected an integer, but got a list");
  EXPECT_EQ(error("product(3)"), "column 9: expected a list, but got an integer");
  EXPECT_EQ(error("integer(axis)"), "column 9: expected '''");
  EXPECT_EQ(error("min()"), "column 6: too few arguments of 'min'");
  EXPECT_EQ(error(std::string(100, '(')), "column 65: expected fewer nested parentheses");
}
