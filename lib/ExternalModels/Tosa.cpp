//===- Tosa.cpp - Models of the tosa dialect --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most of TOSA is elementwise by trait or moves data; products, convolutions,
// poolings, reductions and transforms have formulas. Shape values (!tosa.shape)
// are never in memory. Shapes: docs of the TOSA specification, NHWC.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::remat;

static Count getDimension(Value value, unsigned dimension) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && type.hasRank() && dimension < type.getRank() ? Count(type.getDimSize(dimension))
                                                              : Count::unknown();
}

/// Operands read, results written, `flops` at the rate of the first operand: the
/// inputs of a product decide, not its accumulator.
static OperationModel describeWithFlops(Operation *op, Count flops) {
  OperationModel model = describeDataMovement(op);
  Count bytes = model.costIsKnown ? Count(model.bytesMoved) : Count::unknown();
  setCost(model, flops, getSlowerArithmeticType(op->getOperand(0).getType(), {}), bytes);
  return model;
}

//===----------------------------------------------------------------------===//
// Products, convolutions and reductions
//===----------------------------------------------------------------------===//

/// NxHxC times NxCxW (or its transpose): C multiplications and additions for
/// each element of the result.
static OperationModel describeMatmul(Operation *op) {
  Count elements = getNumElements(op->getResult(0).getType());
  return describeWithFlops(op, Count(2) * elements * getDimension(op->getOperand(0), 2));
}

/// Multiplications and additions with all weights of one output channel for each
/// element of `target`, which has `channels` of them; then the bias.
static OperationModel describeWeights(Operation *op, Value target, unsigned firstKernelDimension,
                                      unsigned numKernelDimensions) {
  Count flops = Count(2) * getNumElements(target.getType());
  for (unsigned i : llvm::seq(numKernelDimensions))
    flops *= getDimension(op->getOperand(1), firstKernelDimension + i);
  return describeWithFlops(op, flops + getNumElements(op->getResult(0).getType()));
}

/// Weights OCxKHxKWxIC: every output element takes KH*KW*IC products.
static OperationModel describeConv2D(Operation *op) {
  return describeWeights(op, op->getResult(0), 1, 3);
}

/// Weights OCxKDxKHxKWxIC.
static OperationModel describeConv3D(Operation *op) {
  return describeWeights(op, op->getResult(0), 1, 4);
}

/// Weights KHxKWxCxM: every output element takes KH*KW products.
static OperationModel describeDepthwiseConv(Operation *op) {
  return describeWeights(op, op->getResult(0), 0, 2);
}

/// Weights OCxKHxKWxIC: every input element goes into OC*KH*KW products.
static OperationModel describeTransposeConv(Operation *op) {
  return describeWeights(op, op->getOperand(0), 0, 3);
}

/// One operation for each element of each window.
template <typename OpTy>
static OperationModel describePool(Operation *op) {
  Count flops = getNumElements(op->getResult(0).getType());
  for (int64_t size : cast<OpTy>(op).getKernel())
    flops *= Count(size);
  return describeWithFlops(op, flops);
}

/// One operation for each element of the input.
static OperationModel describeReduction(Operation *op) {
  return describeWithFlops(op, getNumElements(op->getOperand(0).getType()));
}

/// 5 n log2 n for a complex transform of n points (Cooley and Tukey), half of it
/// for a real one.
static OperationModel describeFFT(Operation *op) {
  Value input = op->getOperand(0);
  Count points = getDimension(input, 1) * getDimension(input, 2);
  Count perPoint = Count::unknown();
  if (points.isKnown())
    perPoint = 5 * int64_t(llvm::Log2_64_Ceil(std::max<uint64_t>(points.get(), 1)));
  Count flops = getNumElements(input.getType()) * perPoint;
  if (flops.isKnown() && isa<tosa::RFFT2dOp>(op))
    flops = flops.get() / 2;
  return describeWithFlops(op, flops);
}

/// Four products and three additions for each element, or a copy.
static OperationModel describeResize(Operation *op) {
  bool isBilinear = cast<tosa::ResizeOp>(op).getMode() == tosa::ResizeMode::BILINEAR;
  Count elements = getNumElements(op->getResult(0).getType());
  return describeWithFlops(op, isBilinear ? Count(7) * elements : Count(0));
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

/// A view when the slice is one piece of memory, else a copy of the slice.
static OperationModel describeSlice(Operation *op) {
  OperationModel model = makeModel(op);
  auto source = cast<ShapedType>(op->getOperand(0).getType());
  auto result = cast<ShapedType>(op->getResult(0).getType());
  if (source.hasRank() && result.hasRank() && source.getRank() == result.getRank()) {
    SmallVector<int64_t> strides(source.getRank(), 1);
    if (isContiguousSlice(source.getShape(), result.getShape(), strides)) {
      addView(model, 0, 0);
      return model;
    }
  }
  setCost(model, 0, {}, Count(2) * getBytes(result, DataLayout::closest(op)));
  return model;
}

/// Indices read, the gathered elements read and written.
static OperationModel describeGather(Operation *op) {
  OperationModel model = makeModel(op);
  DataLayout layout = DataLayout::closest(op);
  setCost(model, 0, {},
          getReadBytes(op->getOperand(1), layout) +
              Count(2) * getBytes(op->getResultTypes(), layout));
  return model;
}

static OperationModel describeReshape(Operation *op) {
  OperationModel model = makeModel(op);
  addView(model, 0, 0);
  return model;
}

//===----------------------------------------------------------------------===//
// Control flow, variables and the rest
//===----------------------------------------------------------------------===//

static OperationModel describeWhile(Operation *op) {
  OperationModel model = makeModel(op);
  model.tripCount = std::nullopt;
  return model;
}

static OperationModel describeCustom(Operation *op) {
  OperationModel model = makeOrderedModel("is a custom operation with unknown side effects");
  model.overridable = true;
  model.costIsKnown = false;
  return model;
}

static OperationModel describeVariableRead(Operation *op) {
  OperationModel model = makeReadsModel("reads a variable that may change");
  setCost(model, 0, {}, Count(2) * getBytes(op->getResultTypes(), DataLayout::closest(op)));
  return model;
}

static OperationModel describeVariableWrite(Operation *op) {
  OperationModel model = makeOrderedModel("writes a variable");
  setCost(model, 0, {}, Count(2) * getBytes(op->getOperandTypes(), DataLayout::closest(op)));
  return model;
}

/// Elementwise by trait; arithmetic on shapes takes nothing; what is left moves
/// data.
static OperationModel describeTosa(Operation *op) {
  if (op->getNumResults() != 0 &&
      llvm::all_of(op->getResultTypes(), llvm::IsaPred<tosa::shapeType>)) {
    OperationModel model = makeModel(op);
    addNone(model, 0);
    for (OpOperand &operand : op->getOpOperands())
      addUnread(model, operand.getOperandNumber());
    return model;
  }
  if (op->hasTrait<OpTrait::tosa::TosaElementwiseOperator>())
    return describeElementwise(op, weights::simple);
  return describeDataMovement(op);
}

void remat::registerTosaExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    using namespace tosa;
    attachTo<describeConstant, ConstOp, ConstShapeOp>(*context);
    attachTo<describeWeighted<weights::simple>, CastOp, MulOp, NegateOp>(*context);
    attachTo<describeWeighted<weights::fused>, CastFromBlockScaledOp, CastToBlockScaledOp, ClampOp,
             RescaleOp>(*context);
    attachTo<describeWeighted<weights::divide>, IntDivOp, ReciprocalOp, RsqrtOp>(*context);
    attachTo<describeWeighted<weights::transcendental>, CosOp, ErfOp, ExpOp, LogOp, SigmoidOp,
             SinOp, TanhOp>(*context);
    attachTo<describeWeighted<weights::power>, PowOp>(*context);
    attachTo<describeMatmul, MatMulOp, MatmulTBlockScaledOp>(*context);
    attachTo<describeConv2D, Conv2DOp>(*context);
    attachTo<describeConv3D, Conv3DOp>(*context);
    attachTo<describeDepthwiseConv, DepthwiseConv2DOp>(*context);
    attachTo<describeTransposeConv, TransposeConv2DOp>(*context);
    attachTo<describePool<AvgPool2dOp>, AvgPool2dOp>(*context);
    attachTo<describePool<MaxPool2dOp>, MaxPool2dOp>(*context);
    attachTo<describeReduction, ArgMaxOp, ReduceAllOp, ReduceAnyOp, ReduceMaxOp, ReduceMinOp,
             ReduceProductOp, ReduceSumOp>(*context);
    attachTo<describeFFT, FFT2dOp, RFFT2dOp>(*context);
    attachTo<describeResize, ResizeOp>(*context);
    attachTo<describeSlice, SliceOp>(*context);
    attachTo<describeGather, GatherOp>(*context);
    attachTo<describeReshape, IdentityOp, tosa::ReshapeOp>(*context);
    attachTo<describeFree, IfOp, tosa::YieldOp>(*context);
    attachTo<describeWhile, tosa::WhileOp>(*context);
    attachTo<describeCustom, CustomOp>(*context);
    attachTo<describeSymbol, VariableOp>(*context);
    attachTo<describeVariableRead, VariableReadOp>(*context);
    attachTo<describeVariableWrite, VariableWriteOp>(*context);
    attachToRest<describeTosa>(*context, TosaDialect::getDialectNamespace());
  });
}
