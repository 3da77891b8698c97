//===- Func.cpp - Models of the func dialect --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A direct call is what its callee is: the analyses resolve it. The callee of an
// indirect call is not known.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::remat;

static OperationModel describeCall(Operation *op) {
  OperationModel model = makePureModel(op);
  model.recursive = true;
  return model;
}

static OperationModel describeIndirectCall(Operation *op) {
  OperationModel model = makeOrderedModel("calls a function that is not known");
  model.overridable = true;
  model.costIsKnown = false;
  return model;
}

void remat::registerFuncExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *) {
    attachTo<describeCall, func::CallOp>(*context);
    attachTo<describeIndirectCall, func::CallIndirectOp>(*context);
    attachTo<describeSymbol, func::FuncOp>(*context);
    attachToRest<describeStructural>(*context, func::FuncDialect::getDialectNamespace());
  });
}
