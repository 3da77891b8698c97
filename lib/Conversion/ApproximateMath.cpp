//===- ApproximateMath.cpp - Mathematical functions that vectorize ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATAPPROXIMATEMATHPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;

/// Those of upstream's approximations that are good for all arguments: trigonometric
/// functions are not, for large ones.
static bool hasGoodApproximation(StringRef name) {
  static const StringRef names[] = {
      math::ExpOp::getOperationName(),  math::ExpM1Op::getOperationName(),
      math::LogOp::getOperationName(),  math::Log1pOp::getOperationName(),
      math::Log2Op::getOperationName(), math::TanhOp::getOperationName(),
      math::ErfOp::getOperationName(),  math::ErfcOp::getOperationName()};
  return llvm::is_contained(names, name);
}

namespace {
/// The larger or smaller one of two numbers, or the one that is a number: LLVM leaves the last
/// terms of sums of `maxnum` and `minnum` out when it makes vectors of them (22.1).
template <typename Op, arith::CmpFPredicate predicate>
struct ExpandNumber : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value a = op.getLhs(), b = op.getRhs();
    Value isFirst = arith::CmpFOp::create(rewriter, loc, predicate, a, b);
    Value isAlone = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, b, b);
    Value takesFirst = arith::OrIOp::create(rewriter, loc, isFirst, isAlone);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, takesFirst, a, b);
    return success();
  }
};

struct ApproximateMathPass : public remat::impl::RematApproximateMathPassBase<ApproximateMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathAlgebraicSimplificationPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, hasGoodApproximation);
    populateMathPolynomialApproximationPatterns(patterns, hasGoodApproximation);
    patterns.add<ExpandNumber<arith::MaxNumFOp, arith::CmpFPredicate::OGT>,
                 ExpandNumber<arith::MinNumFOp, arith::CmpFPredicate::OLT>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
