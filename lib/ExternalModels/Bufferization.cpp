//===- Bufferization.cpp - Models of the bufferization dialect --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The border between tensors and buffers: crossing it copies nothing, and fixes
// the place of the crossing, since the buffer may change before and after.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;
using namespace mlir::remat;

/// A tensor that is what the buffer holds at this place.
static OperationModel describeToTensor(Operation *op) {
  OperationModel model = makeReadsModel("reads memory that may change");
  addView(model, 0, 0);
  return model;
}

/// The buffer behind a tensor, which readers and writers of memory then use.
static OperationModel describeToBuffer(Operation *op) {
  OperationModel model = makeReadsModel("gives access to the buffer of a tensor");
  addView(model, 0, 0);
  return model;
}

/// Without contents it begins at its first write, like tensor.empty; with
/// contents it is a copy.
static OperationModel describeAllocTensor(Operation *op) {
  auto alloc = cast<bufferization::AllocTensorOp>(op);
  OperationModel model = makePureModel(op);
  if (Value copied = alloc.getCopy()) {
    DataLayout layout = DataLayout::closest(op);
    setCost(model, 0, {}, getReadBytes(copied, layout) + getBytes(op->getResultTypes(), layout));
  } else {
    addNone(model, 0);
  }
  return model;
}

/// A copy of the source into the destination, a tensor's future buffer or memory.
static OperationModel describeMaterialize(Operation *op) {
  auto materialize = cast<bufferization::MaterializeInDestinationOp>(op);
  bool isTensor = op->getNumResults() != 0;
  OperationModel model = isTensor ? makePureModel(op) : makeOrderedModel("writes to memory");
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getReadBytes(materialize.getSource(), layout) +
              getBytes(materialize.getSource().getType(), layout));
  unsigned destination = materialize.getDestMutable().getOperandNumber();
  if (isTensor)
    addReuse(model, 0, destination);
  addUnread(model, destination);
  return model;
}

static OperationModel describeClone(Operation *op) {
  OperationModel model = makeOrderedModel("allocates memory");
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getBytes(op->getOperandTypes(), layout) + getBytes(op->getResultTypes(), layout));
  return model;
}

static OperationModel describeDealloc(Operation *op) { return makeOrderedModel("frees memory"); }

void remat::registerBufferizationExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, bufferization::BufferizationDialect *) {
    using namespace bufferization;
    attachTo<describeToTensor, ToTensorOp>(*context);
    attachTo<describeToBuffer, ToBufferOp>(*context);
    attachTo<describeAllocTensor, AllocTensorOp>(*context);
    attachTo<describeMaterialize, MaterializeInDestinationOp>(*context);
    attachTo<describeClone, CloneOp>(*context);
    attachTo<describeDealloc, DeallocOp, DeallocTensorOp>(*context);
    attachToRest<describeStructural>(*context, BufferizationDialect::getDialectNamespace());
  });
}
