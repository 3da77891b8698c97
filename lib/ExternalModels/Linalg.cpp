//===- Linalg.cpp - Models of the linalg dialect ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structured operations, named or generic, are described by what LinalgOp says
// of them: iteration domain times arithmetic of the body, inputs read, outputs
// written, results in the storage of their `outs`. The few others by hand.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::LinalgOp;

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

/// Product of the loop ranges.
static Count getDomainSize(LinalgOp op) {
  Count points = 1;
  for (int64_t range : op.getStaticLoopRanges())
    points *= Count(range);
  return points;
}

/// Whether the operation is a matrix product or a convolution of some kind, for
/// which hardware converts its inputs for free.
static bool isContraction(LinalgOp op) {
  return op.getNumReductionLoops() != 0 &&
         (linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op));
}

/// The type that the body computes in: that of the inputs of a contraction
/// (bf16 x bf16 -> f32 runs at the rate of bf16), else the slowest result of an
/// operation that computes.
static Type getBodyType(LinalgOp op, bool contraction) {
  Type type;
  if (contraction && op.getNumDpsInputs() != 0)
    return getSlowerArithmeticType(op.getDpsInputOperand(0)->get().getType(), {});
  op.getBlock()->walk([&](Operation *nested) {
    std::optional<OperationModel> model = getInterfaceModel(nested);
    if (model && model->flops != 0)
      type = getSlowerArithmeticType(type, model->flopsType);
  });
  return type;
}

/// Bytes that element accesses in the body read from values outside: one element
/// per iteration, and no more than there is of each value.
static Count getCapturedBytes(LinalgOp op, Count domain, const DataLayout &layout) {
  llvm::SmallMapVector<Value, Count, 2> accesses;
  op.getBlock()->walk([&](Operation *nested) {
    if (!isa<tensor::ExtractOp, memref::LoadOp>(nested))
      return;
    Value source = nested->getOperand(0);
    if (source.getParentRegion()->isProperAncestor(op.getBlock()->getParent()))
      accesses[source] += domain;
  });
  Count bytes = 0;
  for (auto [source, count] : accesses) {
    Count element = getElementBytes(cast<ShapedType>(source.getType()).getElementType(), layout);
    Count accessed = count * element;
    Count whole = getReadBytes(source, layout);
    bool fewer = accessed.isKnown() && whole.isKnown() && accessed.get() < whole.get();
    bytes += fewer ? accessed : whole;
  }
  return bytes;
}

/// The price of one element of the result of an operation without reductions.
static KernelModel::Elements getElements(linalg::GenericOp op) {
  int64_t weight = 0;
  op.getBlock()->walk([&](Operation *nested) {
    std::optional<OperationModel> model = getInterfaceModel(nested);
    // Casts are data movement, and whatever has no model may be anything.
    weight = std::max(weight, !model                         ? weights::power
                              : isa<CastOpInterface>(nested) ? int64_t(0)
                                                             : model->flops);
  });
  if (weight == 0)
    return KernelModel::Elements::Moved;
  return weight <= weights::fused ? KernelModel::Elements::Cheap : KernelModel::Elements::Costly;
}

/// Whether every loop is read off the shape of some input.
static bool hasShapeInInputs(linalg::GenericOp op) {
  llvm::SmallBitVector loops(op.getNumLoops());
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        loops.set(dim.getPosition());
  return loops.all();
}

/// Whether a result is written to `init` in any order, and nothing is read from there.
static bool isOnlyWritten(linalg::GenericOp op, OpOperand *init) {
  return op.getMatchingIndexingMap(init).isPermutation() && !op.payloadUsesValueFromOperand(init);
}

/// Whether each element of `input` is read for the elements in the same place alone.
static bool isReadInPlace(linalg::GenericOp op, OpOperand *input, OpOperand *init) {
  bool isCaptured = false;
  op.getBlock()->walk([&](Operation *nested) {
    isCaptured |= llvm::is_contained(nested->getOperands(), input->get());
  });
  return input->get().getType() == init->get().getType() && !isCaptured &&
         op.getMatchingIndexingMap(input) == op.getMatchingIndexingMap(init) &&
         llvm::count(op->getOperands(), input->get()) == 1;
}

/// Structured operations in their general form can be put together; products and
/// convolutions are calls of a library.
static KernelModel describeKernel(LinalgOp structured, Count domain) {
  KernelModel model;
  auto op = dyn_cast<linalg::GenericOp>(structured.getOperation());
  if (!op || !op.hasPureTensorSemantics() || isContraction(structured) || !domain.isKnown())
    return model;
  model.scalarOperations = llvm::range_size(op.getBlock()->without_terminator());
  model.needsShapeFromOperands = op.getNumReductionLoops() != 0;
  for (OpOperand *input : op.getDpsInputOperands())
    model.inlineOperands.push_back({input->getOperandNumber(), domain.get()});
  if (op.getNumReductionLoops() != 0)
    return model;
  for (int64_t result = 0; result < op.getNumDpsInits(); ++result) {
    OpOperand *init = op.getDpsInitOperand(result);
    for (OpOperand *input : op.getDpsInputOperands())
      if (isOnlyWritten(op, init) && isReadInPlace(op, input, init))
        model.samePlaceOperands.push_back({input->getOperandNumber(), unsigned(result)});
  }
  if (op.getNumResults() != 1 || !isOnlyWritten(op, op.getDpsInitOperand(0)))
    return model;
  model.elements = getElements(op);
  model.hasShapeInOperands = hasShapeInInputs(op);
  return model;
}

/// Bytes of inputs that are no storages, but must be in memory all the same: the window of a
/// pooling, of which only the shape counts, and splat constants where nothing else tells how
/// often a loop runs, so that they cannot be replaced by their scalar.
static Count getShapeBytes(LinalgOp op, const DataLayout &layout) {
  llvm::SmallBitVector loops(op.getNumLoops());
  auto isSplat = [&](OpOperand &operand) {
    return op.isDpsInput(&operand) && isSplatConstant(operand.get());
  };
  for (OpOperand &operand : op->getOpOperands())
    if (!isSplat(operand))
      for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          loops.set(dim.getPosition());
  Count bytes = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isWindow = op.isDpsInput(&operand) && !op.payloadUsesValueFromOperand(&operand) &&
                    operand.get().getDefiningOp<tensor::EmptyOp>();
    if (isWindow || (isSplat(operand) && !loops.all()))
      bytes += getBytes(operand.get().getType(), layout);
  }
  return bytes;
}

static OperationModel describeStructured(Operation *op) {
  auto structured = cast<LinalgOp>(op);
  OperationModel model = makeModel(op);
  model.perElementRegions = true;
  addDestinations(op, model);

  // What the body reads, and what it only writes.
  DataLayout layout = DataLayout::closest(op);
  SmallVector<Value> read;
  Count written = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (structured.payloadUsesValueFromOperand(&operand))
      read.push_back(operand.get());
    else
      addUnread(model, operand.getOperandNumber());
    if (structured.isDpsInit(&operand))
      written += getBytes(operand.get().getType(), layout);
  }

  bool contraction = isContraction(structured);
  auto lookup = [&](Operation *nested) {
    std::optional<OperationModel> nestedModel = getInterfaceModel(nested);
    if (nestedModel && contraction && isa<CastOpInterface>(nested))
      nestedModel->flops = 0;
    return nestedModel;
  };
  Count domain = getDomainSize(structured);
  Count flops = domain * getRegionFlops(op->getRegion(0), lookup);
  setCost(model, flops, getBodyType(structured, contraction),
          getReadBytes(read, layout) + getCapturedBytes(structured, domain, layout) + written);
  model.workspaceBytes = getShapeBytes(structured, layout).asOptional().value_or(0);
  model.kernel = describeKernel(structured, domain);
  return model;
}

//===----------------------------------------------------------------------===//
// Operations that are not structured
//===----------------------------------------------------------------------===//

/// Inputs read, outputs written, `flops` of arithmetic; inits are not read.
static OperationModel describeDestinationPassing(Operation *op, Count flops) {
  auto destinations = cast<DestinationStyleOpInterface>(op);
  // Some of these state no effects; on tensors they have none.
  OperationModel model = destinations.hasPureTensorSemantics()
                             ? makePureModel(op)
                             : makeOrderedModel("writes to memory");
  addDestinations(op, model);
  DataLayout layout = DataLayout::closest(op);
  SmallVector<Value> read = destinations.getDpsInputs();
  Count bytes = getReadBytes(read, layout);
  for (OpOperand &init : destinations.getDpsInitsMutable()) {
    addUnread(model, init.getOperandNumber());
    bytes += getBytes(init.get().getType(), layout);
  }
  setCost(model, flops, getArithmeticType(op), bytes);
  return model;
}

/// pack and unpack.
static OperationModel describeRelayout(Operation *op) { return describeDestinationPassing(op, 0); }

/// Maximum, subtraction, exponential, sum and division for every element.
static OperationModel describeSoftmax(Operation *op) {
  constexpr int64_t perElement = 3 * weights::simple + weights::transcendental + weights::divide;
  Count elements = getNumElements(cast<linalg::SoftmaxOp>(op).getInput().getType());
  return describeDestinationPassing(op, Count(perElement) * elements);
}

/// Flops of L x T x R for tiles T of `rows` x `columns` and a result of `newRows`
/// x `newColumns`, `tiles` times.
static Count getTileTransformFlops(Count rows, Count columns, Count newRows, Count newColumns,
                                   Count tiles) {
  return Count(2) * tiles * (newRows * rows * columns + newRows * columns * newColumns);
}

/// Filter FxHxWxC to AxAxCxF: one tile of HxW for each filter and channel.
static OperationModel describeWinogradFilter(Operation *op) {
  auto transform = cast<linalg::WinogradFilterTransformOp>(op);
  ArrayRef<int64_t> in = transform.getFilterOperandType().getShape();
  ArrayRef<int64_t> out = transform.getOutputOperandType().getShape();
  return describeDestinationPassing(
      op, getTileTransformFlops(in[1], in[2], out[0], out[1], Count(in[0]) * Count(in[3])));
}

/// Input NxHxWxC to AxAxTxTxNxC: every tile keeps its size.
static OperationModel describeWinogradInput(Operation *op) {
  ArrayRef<int64_t> out =
      cast<linalg::WinogradInputTransformOp>(op).getOutputOperandType().getShape();
  Count tiles = Count(out[2]) * Count(out[3]) * Count(out[4]) * Count(out[5]);
  return describeDestinationPassing(op,
                                    getTileTransformFlops(out[0], out[1], out[0], out[1], tiles));
}

/// Value AxAxTxTxNxF to NxHxWxF: tiles of A shrink to m, or stay 1.
static OperationModel describeWinogradOutput(Operation *op) {
  auto transform = cast<linalg::WinogradOutputTransformOp>(op);
  ArrayRef<int64_t> in = transform.getValueOperandType().getShape();
  int64_t m = linalg::getFmrFromWinogradConv2DFmr(transform.getFmr()).first;
  Count tiles = Count(in[2]) * Count(in[3]) * Count(in[4]) * Count(in[5]);
  return describeDestinationPassing(
      op, getTileTransformFlops(in[0], in[1], in[0] == 1 ? 1 : m, in[1] == 1 ? 1 : m, tiles));
}

/// Structured operations are told from the rest by their interface, the one
/// thing that all of them share.
static OperationModel describeLinalg(Operation *op) {
  return isa<LinalgOp>(op) ? describeStructured(op) : describeStructural(op);
}

void remat::registerLinalgExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    using namespace linalg;
    attachTo<describeRelayout, PackOp, UnPackOp>(*context);
    attachTo<describeSoftmax, SoftmaxOp>(*context);
    attachTo<describeWinogradFilter, WinogradFilterTransformOp>(*context);
    attachTo<describeWinogradInput, WinogradInputTransformOp>(*context);
    attachTo<describeWinogradOutput, WinogradOutputTransformOp>(*context);
    attachToRest<describeLinalg>(*context, LinalgDialect::getDialectNamespace());
  });
}
