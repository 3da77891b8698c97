//===- Complex.cpp - Models of the complex dialect --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on complex scalars, in the bodies of tensor operations: a product
// takes four multiplications and two additions.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;
using namespace mlir::remat;

void remat::registerComplexExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, complex::ComplexDialect *) {
    using namespace complex;
    constexpr int64_t product = 6 * weights::simple;
    attachTo<describeConstant, complex::ConstantOp>(*context);
    attachTo<describeFree, CreateOp, ImOp, ReOp>(*context);
    attachTo<describeWeighted<weights::fused>, AddOp, ConjOp, EqualOp, NegOp, NotEqualOp, SubOp>(
        *context);
    attachTo<describeWeighted<product>, MulOp>(*context);
    attachTo<describeWeighted<product + weights::divide>, AbsOp, DivOp, RsqrtOp, SqrtOp>(*context);
    // Functions: two real ones each.
    attachToRest<describeWeighted<2 * weights::transcendental>>(
        *context, ComplexDialect::getDialectNamespace());
  });
}
