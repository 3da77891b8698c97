//===- Math.cpp - Models of the math dialect --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise functions. What is in no list is an instruction or two: absolute
// values, rounding, bit counts, classification.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::remat;

void remat::registerMathExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    using namespace math;
    attachTo<describeWeighted<weights::fused>, ClampFOp, FmaOp>(*context);
    attachTo<describeWeighted<weights::divide>, CbrtOp, RsqrtOp, SqrtOp>(*context);
    attachTo<describeWeighted<weights::transcendental>, CosOp, ErfOp, ErfcOp, Exp2Op, ExpM1Op,
             ExpOp, Log10Op, Log1pOp, Log2Op, LogOp, SinOp, TanhOp>(*context);
    attachTo<describeWeighted<weights::power>, AcosOp, AcoshOp, AsinOp, AsinhOp, Atan2Op, AtanOp,
             AtanhOp, CoshOp, FPowIOp, IPowIOp, PowFOp, SincosOp, SinhOp, TanOp>(*context);
    attachToRest<describeWeighted<weights::simple>>(*context, MathDialect::getDialectNamespace());
  });
}
