//===- MemRef.cpp - Models of the memref dialect ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers have an identity: what allocates, frees, reads or writes one keeps its
// place. Views may be made as often as wanted.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::remat;

/// Result 0 is a view of the interface's source; sizes and strides are scalars.
static OperationModel describeViewLike(Operation *op) {
  OperationModel model = makeModel(op);
  Value source = cast<ViewLikeOpInterface>(op).getViewSource();
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() != source)
      continue;
    addView(model, 0, operand.getOperandNumber());
    break;
  }
  return model;
}

/// The same for what does not have the interface: the source comes first.
static OperationModel describeReshape(Operation *op) {
  OperationModel model = makeModel(op);
  addView(model, 0, 0);
  return model;
}

/// A global is program data, one storage for all that refer to it.
static OperationModel describeGetGlobal(Operation *op) {
  OperationModel model = makeModel(op);
  const void *name = cast<memref::GetGlobalOp>(op).getNameAttr().getAsOpaquePointer();
  model.storage.push_back({0, ResultStorage::Kind::Constant, 0, name});
  return model;
}

/// One element of the result's or the stored value's type.
static OperationModel describeElementAccess(Operation *op) {
  OperationModel model = makeModel(op);
  // Loads and read-modify-writes return the element; stores take it first.
  Type element = op->getNumResults() ? op->getResult(0).getType() : op->getOperand(0).getType();
  setCost(model, 0, {}, getElementBytes(element, DataLayout::closest(op)));
  return model;
}

/// Everything is read once and written once.
static OperationModel describeCopy(Operation *op) {
  OperationModel model = makeModel(op);
  auto copy = cast<memref::CopyOp>(op);
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getBytes(copy.getSource().getType(), layout) +
              getBytes(copy.getTarget().getType(), layout));
  addUnread(model, copy.getTargetMutable().getOperandNumber());
  return model;
}

/// A scope that runs once; what it allocates is gone at its end.
static OperationModel describeScope(Operation *op) { return makePureModel(op); }

/// The region combines a loaded element with others; the operation writes.
static OperationModel describeAtomic(Operation *op) {
  OperationModel model = makeOrderedModel("writes to memory");
  model.perElementRegions = true;
  model.recursive = true;
  setCost(model, getRegionFlops(op->getRegion(0), getInterfaceModel), getArithmeticType(op),
          getElementBytes(op->getResult(0).getType(), DataLayout::closest(op)));
  return model;
}

/// Views by interface; allocations, transfers and terminators as their effects
/// say.
static OperationModel describeMemRef(Operation *op) {
  return isa<ViewLikeOpInterface>(op) ? describeViewLike(op) : describeStructural(op);
}

void remat::registerMemRefExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    using namespace memref;
    attachTo<describeReshape, memref::ReshapeOp, memref::TransposeOp>(*context);
    attachTo<describeView, DistinctObjectsOp>(*context);
    attachTo<describeMetadata, DimOp, ExtractAlignedPointerAsIndexOp, RankOp>(*context);
    attachTo<describeGetGlobal, GetGlobalOp>(*context);
    attachTo<describeElementAccess, AtomicRMWOp, LoadOp, StoreOp>(*context);
    attachTo<describeAtomic, GenericAtomicRMWOp>(*context);
    attachTo<describeCopy, memref::CopyOp>(*context);
    attachTo<describeScope, AllocaScopeOp>(*context);
    attachTo<describeSymbol, GlobalOp>(*context);
    attachToRest<describeMemRef>(*context, MemRefDialect::getDialectNamespace());
  });
}
