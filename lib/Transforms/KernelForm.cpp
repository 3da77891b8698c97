//===- KernelForm.cpp - The form of operations that can be fused ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelForm.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;
using linalg::LinalgOp;

GreedyRewriteConfig mlir::remat::getPatternsOnlyConfig() {
  GreedyRewriteConfig config;
  config.enableFolding(false);
  config.enableConstantCSE(false);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return config;
}

TypedAttr mlir::remat::getSplat(Value value) {
  DenseElementsAttr elements;
  if (!isa<RankedTensorType>(value.getType()) || !matchPattern(value, m_Constant(&elements)) ||
      !elements.isSplat())
    return {};
  return elements.getSplatValue<TypedAttr>();
}

LogicalResult mlir::remat::foldSplats(FunctionOpInterface function) {
  RewritePatternSet patterns(function->getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *) { return false; });
  return applyPatternsGreedily(function, std::move(patterns), getPatternsOnlyConfig());
}

LinalgOp mlir::remat::generalize(RewriterBase &rewriter, LinalgOp op) {
  if (isa<GenericOp>(op))
    return op;
  DictionaryAttr attributes = op->getDiscardableAttrDictionary();
  rewriter.setInsertionPoint(op);
  FailureOr<GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return op;
  (*generic)->setDiscardableAttrs(attributes);
  // What named operations remember of their maps.
  (*generic)->removeDiscardableAttr(linalg::LinalgDialect::kMemoizedIndexingMapsAttrName);
  return cast<LinalgOp>(generic->getOperation());
}

GenericOp mlir::remat::writeOverOperand(RewriterBase &rewriter, GenericOp kernel, unsigned operand,
                                        unsigned result) {
  SmallVector<Value> inputs = kernel.getInputs(), outputs = kernel.getOutputs();
  SmallVector<AffineMap> maps = kernel.getIndexingMapsArray();
  outputs[result] = inputs[operand];
  inputs.erase(inputs.begin() + operand);
  maps.erase(maps.begin() + operand);
  rewriter.setInsertionPoint(kernel);
  auto replaced = GenericOp::create(rewriter, kernel.getLoc(), kernel.getResultTypes(), inputs,
                                    outputs, maps, kernel.getIteratorTypesArray());
  replaced->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(kernel.getRegion(), replaced.getRegion(), replaced.getRegion().end());
  Block *body = replaced.getBlock();
  rewriter.replaceAllUsesWith(body->getArgument(operand),
                              body->getArgument(inputs.size() + 1 + result));
  body->eraseArgument(operand);
  return replaced;
}

/// What an elementwise operation overwrites becomes one more input.
static void readOverwritten(RewriterBase &rewriter, GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0)
    return;
  SmallVector<OpOperand *> overwritten;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.payloadUsesValueFromOperand(&init) && op.getMatchingIndexingMap(&init).isPermutation() &&
        cast<RankedTensorType>(init.get().getType()).hasStaticShape())
      overwritten.push_back(&init);
  if (overwritten.empty())
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs = op.getInputs(), outputs = op.getOutputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<BlockArgument> read;
  for (OpOperand *init : overwritten) {
    auto type = cast<RankedTensorType>(init->get().getType());
    maps.insert(maps.begin() + inputs.size(), op.getMatchingIndexingMap(init));
    inputs.push_back(init->get());
    outputs[init->getOperandNumber() - op.getNumDpsInputs()] = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType(), type.getEncoding());
    read.push_back(op.getMatchingBlockArgument(init));
  }
  auto replaced = GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs, outputs,
                                    maps, op.getIteratorTypesArray());
  replaced->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  unsigned numInputs = op.getNumDpsInputs();
  rewriter.inlineRegionBefore(op.getRegion(), replaced.getRegion(), replaced.getRegion().end());
  for (BlockArgument argument : read)
    rewriter.replaceAllUsesWith(argument, replaced.getBlock()->insertArgument(
                                              numInputs++, argument.getType(), op.getLoc()));
  rewriter.replaceOp(op, replaced);
}

void mlir::remat::readOverwritten(FunctionOpInterface function) {
  SmallVector<GenericOp> operations;
  function->walk([&](GenericOp op) { operations.push_back(op); });
  IRRewriter rewriter(function->getContext());
  for (GenericOp op : operations)
    ::readOverwritten(rewriter, op);
}

namespace {
/// Changes one kind of operation after the other; each leaves what the next expects.
class KernelFormBuilder {
public:
  explicit KernelFormBuilder(FunctionOpInterface function)
      : function(function), rewriter(function->getContext()) {}

  LogicalResult run() {
    RewritePatternSet elementwise(function->getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(elementwise);
    if (failed(applyPatternsGreedily(function, std::move(elementwise), getPatternsOnlyConfig())))
      return failure();
    forEach<GenericOp>([&](GenericOp op) { takeAttributesOfBody(op); });
    forEach<linalg::FillOp>([&](linalg::FillOp op) { makeSplat(op); });
    forEach<LinalgOp>([&](LinalgOp op) { generalizeElementwise(op); });
    readOverwritten(function);
    // Also where a dimension of size 1 is moved, which is dropped below.
    forEach<LinalgOp>([&](LinalgOp op) { readTransposed(op); });
    if (failed(moveReshapes()) || failed(dropUnitDimensions()) || failed(foldSplats(function)))
      return failure();
    forEach<LinalgOp>([&](LinalgOp op) { readTransposed(op); });
    return success();
  }

private:
  template <typename OpTy, typename Fn>
  void forEach(Fn change) {
    SmallVector<OpTy> operations;
    function->walk([&](OpTy op) { operations.push_back(op); });
    for (OpTy op : operations)
      change(op);
  }

  /// What was said about an elementwise operation is said about its structured form.
  void takeAttributesOfBody(GenericOp op) {
    for (Operation &nested : op.getBlock()->without_terminator())
      for (NamedAttribute attribute : llvm::to_vector(nested.getDiscardableAttrs()))
        if (attribute.getNameDialect() && isa<RematDialect>(attribute.getNameDialect())) {
          op->setDiscardableAttr(attribute.getName(), attribute.getValue());
          nested.removeDiscardableAttr(attribute.getName());
        }
  }

  /// What is filled with a constant is that constant.
  void makeSplat(linalg::FillOp op) {
    Attribute scalar;
    if (op->getNumResults() != 1 || !matchPattern(op.getInputs().front(), m_Constant(&scalar)))
      return;
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    if (!type.hasStaticShape() || type.getEncoding() || !isa<FloatAttr, IntegerAttr>(scalar))
      return;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, DenseElementsAttr::get(type, scalar));
  }

  void generalizeElementwise(LinalgOp op) {
    bool isReduction = isa<linalg::ReduceOp>(op.getOperation());
    if (op.hasPureTensorSemantics() && (op.getNumReductionLoops() == 0 || isReduction))
      generalize(rewriter, op);
  }

  /// A reshape between two structured operations moves in front of both or behind both.
  LogicalResult moveReshapes() {
    RewritePatternSet patterns(function->getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      Operation *producer = operand->get().getDefiningOp(), *reader = operand->getOwner();
      if (!producer->getResult(0).hasOneUse())
        return false;
      if (isa<GenericOp>(producer))
        return llvm::any_of(reader->getUsers(), llvm::IsaPred<GenericOp>);
      Operation *source = producer->getOperand(0).getDefiningOp();
      return isa_and_nonnull<GenericOp>(source) && source->hasOneUse();
    });
    return applyPatternsGreedily(function, std::move(patterns), getPatternsOnlyConfig());
  }

  /// Loops of one iteration are no loops; reshapes that this leads to meet and go.
  LogicalResult dropUnitDimensions() {
    RewritePatternSet patterns(function->getContext());
    linalg::ControlDropUnitDims control;
    control.controlFn = [](Operation *op) {
      auto generic = dyn_cast<GenericOp>(op);
      // What is left of a sum of two loops would have another range.
      bool isKernel =
          generic && generic.hasPureTensorSemantics() && !isLibraryCall(cast<LinalgOp>(op)) &&
          llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) {
            return llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
          });
      return isKernel ? llvm::to_vector(llvm::seq<unsigned>(0, generic.getNumLoops()))
                      : SmallVector<unsigned>();
    };
    linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, function->getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, function->getContext());
    GreedyRewriteConfig config = getPatternsOnlyConfig();
    config.enableFolding(true);
    return applyPatternsGreedily(function, std::move(patterns), config);
  }

  /// Whether an operation does nothing but permute the dimensions of its input.
  static bool isTranspose(GenericOp op) {
    return op && op.getNumDpsInputs() == 1 && op->getNumResults() == 1 &&
           op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
           llvm::all_of(op.getIndexingMapsArray(),
                        [](AffineMap map) { return map.isPermutation(); }) &&
           op.getBlock()->getTerminator()->getOperand(0) == op.getBlock()->getArgument(0);
  }

  /// Whether an operation is a product or a convolution, which libraries compute.
  static bool isLibraryCall(LinalgOp op) {
    if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics())
      return false;
    if (linalg::isaContractionOpInterface(op))
      return true;
    if (!linalg::isaConvolutionOpInterface(op))
      return false;
    // Not a pooling.
    FailureOr<linalg::ConvolutionDimensions> roles = linalg::inferConvolutionDims(op);
    return succeeded(roles) && !roles->inputChannel.empty();
  }

  /// Pads what is transposed in place of what it becomes. `positions` maps the indices of
  /// that to those of `source`.
  Value padSource(tensor::PadOp pad, Value source, AffineMap positions) {
    SmallVector<OpFoldResult> low, high;
    for (unsigned dim = 0; dim < positions.getNumResults(); ++dim) {
      low.push_back(pad.getMixedLowPad()[positions.getDimPosition(dim)]);
      high.push_back(pad.getMixedHighPad()[positions.getDimPosition(dim)]);
    }
    rewriter.setInsertionPoint(pad);
    auto padded = tensor::PadOp::create(rewriter, pad.getLoc(), Type(), source, low, high,
                                        pad.getConstantPaddingValue());
    padded->setDiscardableAttrs(pad->getDiscardableAttrDictionary());
    return padded;
  }

  /// Products and convolutions read transposed operands where they are, padded or not.
  void readTransposed(LinalgOp product) {
    if (!isLibraryCall(product))
      return;
    for (int64_t input = 0; input < product.getNumDpsInputs(); ++input)
      while (readTransposed(product, input))
        ;
  }

  /// Whether an input was transposed.
  bool readTransposed(LinalgOp &product, int64_t input) {
    Value operand = product.getDpsInputOperand(input)->get();
    auto pad = operand.getDefiningOp<tensor::PadOp>();
    bool canMove = pad && pad->hasOneUse() && pad.getConstantPaddingValue() &&
                   pad.getLow().empty() && pad.getHigh().empty();
    if (canMove)
      operand = pad.getSource();
    auto transpose = operand.getDefiningOp<GenericOp>();
    if ((pad && !canMove) || !isTranspose(transpose))
      return false;
    product = generalize(rewriter, product);
    auto generic = cast<GenericOp>(product.getOperation());
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    SmallVector<AffineMap> moved = transpose.getIndexingMapsArray();
    AffineMap positions = moved.front().compose(inversePermutation(moved.back()));
    ArrayAttr before = generic.getIndexingMaps();
    maps[input] = positions.compose(maps[input]);
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    if (!isLibraryCall(product)) {
      generic.setIndexingMapsAttr(before);
      return false;
    }
    Value source = transpose.getInputs().front();
    if (pad)
      source = padSource(pad, source, positions);
    product.getDpsInputOperand(input)->set(source);
    for (Operation *unread : {pad.getOperation(), transpose.getOperation()})
      if (unread && unread->use_empty())
        rewriter.eraseOp(unread);
    return true;
  }

  FunctionOpInterface function;
  IRRewriter rewriter;
};
} // namespace

LogicalResult mlir::remat::bringToKernelForm(FunctionOpInterface function) {
  return KernelFormBuilder(function).run();
}
