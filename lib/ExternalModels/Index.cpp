//===- Index.cpp - Models of the index dialect ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"

using namespace mlir;
using namespace mlir::remat;

void remat::registerIndexExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, index::IndexDialect *) {
    using namespace index;
    attachTo<describeConstant, BoolConstantOp, index::ConstantOp>(*context);
    attachTo<describeFree, SizeOfOp>(*context);
    attachTo<describeWeighted<weights::divide>, CeilDivSOp, CeilDivUOp, DivSOp, DivUOp, FloorDivSOp,
             RemSOp, RemUOp>(*context);
    attachToRest<describeWeighted<weights::simple>>(*context, IndexDialect::getDialectNamespace());
  });
}
