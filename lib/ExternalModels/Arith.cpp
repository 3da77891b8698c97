//===- Arith.cpp - Models of the arith dialect ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants, and elementwise arithmetic on scalars, vectors and tensors. Divisions
// are the only expensive ones.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::remat;

void remat::registerArithExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    using namespace arith;
    attachTo<describeConstant, arith::ConstantOp>(*context);
    attachTo<describeWeighted<weights::divide>, CeilDivSIOp, CeilDivUIOp, DivFOp, DivSIOp, DivUIOp,
             FloorDivSIOp, RemFOp, RemSIOp, RemUIOp>(*context);
    attachToRest<describeWeighted<weights::simple>>(*context, ArithDialect::getDialectNamespace());
  });
}
