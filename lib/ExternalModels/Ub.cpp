//===- Ub.cpp - Models of the ub dialect ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Poison has no bytes: nothing may depend on what it is.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::remat;

static OperationModel describePoison(Operation *op) {
  OperationModel model = makeModel(op);
  addNone(model, 0);
  return model;
}

void remat::registerUbExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ub::UBDialect *) {
    attachTo<describePoison, ub::PoisonOp>(*context);
    attachToRest<describeStructural>(*context, ub::UBDialect::getDialectNamespace());
  });
}
