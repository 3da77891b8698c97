//===- Tensor.cpp - Models of the tensor dialect ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which results are views of their operands (casts, reshapes, contiguous
// slices), which are written into a destination, and how many bytes slices and
// element accesses really move.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::remat;

static Count getResultBytes(Operation *op) {
  return getBytes(op->getResultTypes(), DataLayout::closest(op));
}

/// Not in memory: the first write into it begins a storage.
static OperationModel describeEmpty(Operation *op) {
  OperationModel model = makeModel(op);
  addNone(model, 0);
  return model;
}

/// A view of the first operand; others (shapes, sizes) are scalars.
static OperationModel describeReshape(Operation *op) {
  OperationModel model = makeModel(op);
  addView(model, 0, 0);
  return model;
}

/// A view of the first operand, also where that is in several pieces.
static OperationModel describeExpandShape(Operation *op) {
  OperationModel model = describeReshape(op);
  model.kernel.keepsStrides = true;
  return model;
}

/// A view when the slice is one piece of memory, or marked as one by the fusion of kernels,
/// else a copy of the slice.
static OperationModel describeExtractSlice(Operation *op) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  OperationModel model = makeModel(op);
  if (op->hasAttr(RematDialect::getViewAttrName()) ||
      isContiguousSlice(slice.getSourceType().getShape(), slice.getStaticSizes(),
                        slice.getStaticStrides())) {
    addView(model, 0, 0);
    model.kernel.keepsStrides = true;
    return model;
  }
  setCost(model, 0, {}, Count(2) * getResultBytes(op));
  model.kernel.elements = KernelModel::Elements::Moved;
  model.kernel.hasShapeInOperands = true;
  model.kernel.isSlice = true;
  return model;
}

/// Copies the source into the destination: read and written once.
template <typename OpTy>
static OperationModel describeInsertSlice(Operation *op) {
  // The parallel form states no effects; it writes into its destination only.
  OperationModel model = makePureModel(op);
  auto insert = cast<OpTy>(op);
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getReadBytes(insert.getSource(), layout) + getBytes(insert.getSourceType(), layout));
  if (op->getNumResults() != 0)
    addDestinations(op, model);
  return model;
}

/// One element read or written.
static OperationModel describeElementAccess(Operation *op) {
  OperationModel model = makeModel(op);
  Type element = isa<tensor::ExtractOp>(op) ? op->getResult(0).getType()
                                            : cast<tensor::InsertOp>(op).getScalar().getType();
  setCost(model, 0, {}, getElementBytes(element, DataLayout::closest(op)));
  if (isa<tensor::InsertOp>(op))
    addDestinations(op, model);
  return model;
}

/// Indices read, the gathered elements read and written.
static OperationModel describeGather(Operation *op) {
  OperationModel model = makeModel(op);
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getReadBytes(cast<tensor::GatherOp>(op).getIndices(), layout) +
              Count(2) * getResultBytes(op));
  return model;
}

/// Source and indices read, the source's elements written into the destination.
static OperationModel describeScatter(Operation *op) {
  auto scatter = cast<tensor::ScatterOp>(op);
  OperationModel model = makeModel(op);
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getReadBytes({scatter.getSource(), scatter.getIndices()}, layout) +
              getBytes(scatter.getSourceType(), layout));
  addReuse(model, 0, scatter.getDestMutable().getOperandNumber());
  return model;
}

/// The body runs once per element of the result.
static OperationModel describeGenerate(Operation *op) {
  OperationModel model = makeModel(op);
  model.perElementRegions = true;
  Count elements = getNumElements(op->getResult(0).getType());
  Count flops = elements * getRegionFlops(op->getRegion(0), getInterfaceModel);
  setCost(model, flops, getArithmeticType(op), getResultBytes(op));
  return model;
}

/// The body computes the padding value; the source is copied.
static OperationModel describePad(Operation *op) {
  OperationModel model = makeModel(op);
  model.perElementRegions = true;
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getReadBytes(cast<tensor::PadOp>(op).getSource(), layout) + getResultBytes(op));
  return model;
}

void remat::registerTensorExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    using namespace tensor;
    attachTo<describeEmpty, EmptyOp>(*context);
    attachTo<describeMetadata, DimOp, RankOp>(*context);
    attachTo<describeReshape, BitcastOp, CastOp, CollapseShapeOp, ReshapeOp>(*context);
    attachTo<describeExpandShape, ExpandShapeOp>(*context);
    attachTo<describeExtractSlice, ExtractSliceOp>(*context);
    attachTo<describeInsertSlice<InsertSliceOp>, InsertSliceOp>(*context);
    attachTo<describeInsertSlice<ParallelInsertSliceOp>, ParallelInsertSliceOp>(*context);
    attachTo<describeElementAccess, ExtractOp, InsertOp>(*context);
    attachTo<describeGather, GatherOp>(*context);
    attachTo<describeScatter, ScatterOp>(*context);
    attachTo<describeGenerate, GenerateOp>(*context);
    attachTo<describePad, PadOp>(*context);
    attachTo<describeStructural, tensor::YieldOp>(*context);
    // concat, from_elements, splat
    attachToRest<describeDataMovement>(*context, TensorDialect::getDialectNamespace());
  });
}
