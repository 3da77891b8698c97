//===- Remat.cpp - Model of remat.barrier -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A barrier hands its inputs on. It is never executed again: a second one would
// hold back something else than the first.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"

using namespace mlir;
using namespace mlir::remat;

static OperationModel describeBarrier(Operation *op) {
  OperationModel model = makeOrderedModel("is a barrier");
  for (unsigned result : llvm::seq(op->getNumResults()))
    addView(model, result, result);
  return model;
}

/// Stands for a call of the runtime library, after planning.
static OperationModel describeLibraryCall(Operation *op) {
  return makeOrderedModel("calls a library");
}

void remat::registerRematExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RematDialect *) {
    attachTo<describeBarrier, BarrierOp>(*context);
    attachTo<describeLibraryCall, LibraryCallOp>(*context);
  });
}
