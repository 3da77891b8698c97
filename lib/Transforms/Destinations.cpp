//===- Destinations.cpp - A destination for every storage -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Destinations.h"

#include "KernelForm.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "WhileLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::remat;
using bufferization::AllocTensorOp;

namespace {
class DestinationAssigner {
public:
  DestinationAssigner(FunctionOpInterface function, const ModelTable &models)
      : function(function), models(models), rewriter(function->getContext()) {}

  LogicalResult run() {
    for (Operation *op : listOperations())
      if (auto pad = dyn_cast<tensor::PadOp>(op))
        sliceBeforePadding(pad);
    if (failed(decompose()))
      return failure();
    for (Operation *op : listOperations())
      generalizeSplatReader(op);
    if (failed(foldSplats(function)))
      return failure();
    keepDestinations();
    for (Operation *op : listOperations())
      makeSplats(op);
    for (Operation *op : listOperations())
      copySlice(op);
    // Inner loops first.
    for (Operation *op : listOperations()) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        writeYieldedIntoArguments(*loop.getBody(), loop.getRegionIterArgs());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        Block &after = carryTensorsInPlace(rewriter, loop).getAfter().front();
        writeYieldedIntoArguments(after, after.getArguments());
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        writeYieldedIntoResult(branch);
      } else if (isa<func::ReturnOp>(op)) {
        materializeReturned(op);
      }
    }
    for (Operation *op : listOperations()) {
      separateDestinations(op, getInits(op));
    }
    for (Operation *op : listOperations())
      if ((isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>()) && op->use_empty())
        rewriter.eraseOp(op);
    return success();
  }

private:
  std::vector<Operation *> listOperations() {
    std::vector<Operation *> operations;
    function->walk([&](Operation *op) {
      if (op != function.getOperation())
        operations.push_back(op);
    });
    return operations;
  }

  /// Padding by less than nothing leaves a part of the source, which is read where it is.
  void sliceBeforePadding(tensor::PadOp pad) {
    auto source = dyn_cast<RankedTensorType>(pad.getSource().getType());
    auto isCut = [](int64_t size) { return size < 0; };
    if (!source.hasStaticShape() || !pad.getLow().empty() || !pad.getHigh().empty() ||
        (llvm::none_of(pad.getStaticLow(), isCut) && llvm::none_of(pad.getStaticHigh(), isCut)))
      return;
    SmallVector<OpFoldResult> offsets, sizes;
    SmallVector<int64_t> lows, highs;
    for (auto [low, high, size, padded] :
         llvm::zip_equal(pad.getStaticLow(), pad.getStaticHigh(), source.getShape(),
                         pad.getResultType().getShape())) {
      int64_t first = std::clamp<int64_t>(-low, 0, size);
      int64_t count = std::clamp<int64_t>(size + high, first, size) - first;
      // Nothing is nowhere.
      offsets.push_back(rewriter.getIndexAttr(count == 0 ? 0 : first));
      sizes.push_back(rewriter.getIndexAttr(count));
      lows.push_back(std::clamp<int64_t>(low, 0, padded - count));
      highs.push_back(padded - count - lows.back());
    }
    rewriter.setInsertionPoint(pad);
    SmallVector<OpFoldResult> strides(source.getRank(), rewriter.getIndexAttr(1));
    auto part = tensor::ExtractSliceOp::create(rewriter, pad.getLoc(), pad.getSource(), offsets,
                                               sizes, strides);
    part->setAttr(RematDialect::getViewAttrName(), rewriter.getUnitAttr());
    rewriter.modifyOpInPlace(pad, [&] {
      pad.getSourceMutable().assign(part);
      pad.setStaticLow(lows);
      pad.setStaticHigh(highs);
    });
  }

  LogicalResult decompose() {
    RewritePatternSet patterns(function->getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    linalg::populateDecomposePadPatterns(patterns);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    return applyPatternsGreedily(function, std::move(patterns), getPatternsOnlyConfig());
  }

  //===--------------------------------------------------------------------===//
  // Splat constants
  //===--------------------------------------------------------------------===//

  /// Named operations read no scalars.
  void generalizeSplatReader(Operation *op) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured || isa<linalg::GenericOp>(op) || !structured.hasPureTensorSemantics() ||
        llvm::none_of(structured.getDpsInputs(), [](Value value) { return getSplat(value); }))
      return;
    generalize(rewriter, structured);
  }

  /// What else reads or overwrites a splat constant gets a storage filled with it; what a
  /// caller or a callee gets, one for each constant.
  void makeSplats(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return;
    bool isHandedOver = isa<func::ReturnOp, CallOpInterface>(op);
    llvm::SmallDenseMap<Value, Value, 2> filled;
    for (OpOperand &operand : op->getOpOperands()) {
      TypedAttr splat = getSplat(operand.get());
      if (!splat)
        continue;
      if (Value other = isHandedOver ? filled.lookup(operand.get()) : Value()) {
        operand.set(other);
        continue;
      }
      rewriter.setInsertionPoint(op);
      Value scalar = arith::ConstantOp::create(rewriter, op->getLoc(), splat);
      auto insert = dyn_cast<tensor::InsertSliceOp>(op);
      bool isSource = insert && operand.getOperandNumber() == 0;
      // An argument is copied first: the slice must be one of the copy.
      if (isSource && isa<BlockArgument>(getRoot(insert.getDest())))
        insert.getDestMutable().assign(AllocTensorOp::create(
            rewriter, op->getLoc(), insert.getDestType(), ValueRange(), insert.getDest()));
      // Into the slice that it would be copied to.
      Value destination =
          isSource
              ? tensor::ExtractSliceOp::create(rewriter, op->getLoc(), insert.getSourceType(),
                                               insert.getDest(), insert.getMixedOffsets(),
                                               insert.getMixedSizes(), insert.getMixedStrides())
                    .getResult()
              : allocate(op->getLoc(), operand.get());
      if (isSource)
        ownSlices.insert(destination.getDefiningOp());
      Value fill = linalg::FillOp::create(rewriter, op->getLoc(), scalar, destination).getResult(0);
      filled[operand.get()] = fill;
      operand.set(fill);
    }
  }

  //===--------------------------------------------------------------------===//
  // Slices, loops, branches and results
  //===--------------------------------------------------------------------===//

  /// The value whose storage a result shows; null if it has one of its own.
  Value getViewed(OpResult result) const {
    Operation *op = result.getOwner();
    std::optional<OperationModel> model = lookupModel(op, models);
    if (!model)
      return {};
    const ResultStorage *storage = model->findStorage(result.getResultNumber());
    bool isView = storage && storage->kind == ResultStorage::Kind::View;
    return isView ? op->getOperand(storage->operand) : Value();
  }

  /// The value whose storage a value shows through any number of views.
  Value getRoot(Value value) const {
    while (auto result = dyn_cast<OpResult>(value)) {
      Value viewed = getViewed(result);
      if (!viewed)
        break;
      value = viewed;
    }
    return value;
  }

  void copySlice(Operation *op) {
    if (!isa<tensor::ExtractSliceOp>(op) || getViewed(op->getResult(0)) || ownSlices.contains(op))
      return;
    rewriter.setInsertionPointAfter(op);
    Value slice = op->getResult(0);
    Value copied = copy(op->getLoc(), slice);
    rewriter.replaceAllUsesExcept(slice, copied, copied.getDefiningOp());
  }

  /// What the terminator of a loop's body yields goes into the arguments that carry it, the
  /// first of `arguments`.
  void writeYieldedIntoArguments(Block &body, ArrayRef<BlockArgument> arguments) {
    Operation *yield = body.getTerminator();
    Location loc = yield->getLoc();
    // What is in another argument has to be out of it before that is written to.
    llvm::SmallPtrSet<Value, 4> written;
    for (auto [operand, argument] : llvm::zip_first(yield->getOpOperands(), arguments))
      if (operand.get() != argument)
        written.insert(argument);
    for (auto [operand, argument] : llvm::zip_first(yield->getOpOperands(), arguments))
      if (isa<RankedTensorType>(argument.getType()))
        leaveArguments(operand, written, argument);
    rewriter.setInsertionPoint(yield);
    for (auto [operand, argument] : llvm::zip_first(yield->getOpOperands(), arguments))
      // What is there already costs nothing.
      if (isa<RankedTensorType>(argument.getType()) && operand.get() != argument &&
          !isCarriedBy(operand.get(), argument))
        operand.set(linalg::CopyOp::create(rewriter, loc, operand.get(), argument).getResult(0));
  }

  /// Whether an inner loop, and nothing else, reads `argument` and makes `value` of it: it
  /// does so in place.
  static bool isCarriedBy(Value value, BlockArgument argument) {
    auto loop = value.getDefiningOp<scf::ForOp>();
    return loop && argument.hasOneUse() && value.hasOneUse() &&
           loop.getTiedLoopInit(cast<OpResult>(value))->get() == argument;
  }

  /// If an operand is in one of `written`, but not in `argument`, when everything is done in
  /// place, it gets a copy: of what is written there first, or of itself.
  void leaveArguments(OpOperand &operand, const llvm::SmallPtrSetImpl<Value> &written,
                      Value argument) {
    OpOperand *innermost = &operand;
    Value base = getRoot(operand.get());
    while (OpOperand *destination = getDestination(base)) {
      innermost = destination;
      base = getRoot(destination->get());
    }
    if (base == argument || !written.contains(base))
      return;
    rewriter.setInsertionPoint(innermost->getOwner());
    innermost->set(copy(innermost->getOwner()->getLoc(), innermost->get()));
  }

  /// The operand whose storage a result takes if it is written in place; null if there is
  /// none.
  static OpOperand *getDestination(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto writer = dyn_cast_or_null<DestinationStyleOpInterface>(op))
      return writer.getTiedOpOperand(cast<OpResult>(value));
    if (auto slice = dyn_cast_or_null<tensor::InsertSliceOp>(op))
      return &slice.getDestMutable();
    if (auto element = dyn_cast_or_null<tensor::InsertOp>(op))
      return &element.getDestMutable();
    if (auto loop = dyn_cast_or_null<scf::ForOp>(op))
      return loop.getTiedLoopInit(cast<OpResult>(value));
    // Inner loops carry each tensor in one place by now.
    if (auto loop = dyn_cast_or_null<scf::WhileOp>(op);
        loop && cast<OpResult>(value).getResultNumber() < loop.getInits().size())
      return &loop.getInitsMutable()[cast<OpResult>(value).getResultNumber()];
    return nullptr;
  }

  void writeYieldedIntoResult(scf::IfOp branch) {
    for (OpResult result : branch.getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      rewriter.setInsertionPoint(branch);
      Value destination = allocate(branch.getLoc(), result);
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
        Operation *yield = region->front().getTerminator();
        rewriter.setInsertionPoint(yield);
        OpOperand &operand = yield->getOpOperand(result.getResultNumber());
        operand.set(bufferization::MaterializeInDestinationOp::create(
                        rewriter, branch.getLoc(), result.getType(), operand.get(), destination)
                        .getResult());
      }
    }
  }

  /// Whether a value is all of a buffer of this function, if everything is written in place.
  bool isWholeBuffer(Value value) const {
    OpOperand *destination = nullptr;
    while (getRoot(value) == value && (destination = getDestination(value)))
      value = destination->get();
    return getRoot(value) == value && !isa<BlockArgument>(value);
  }

  void materializeReturned(Operation *op) {
    rewriter.setInsertionPoint(op);
    // Callers take the results of a call for distinct buffers, and for all of them.
    bool isCalled = !SymbolTable::symbolKnownUseEmpty(
        function, function->getParentOfType<ModuleOp>().getOperation());
    llvm::SmallPtrSet<Value, 4> returned;
    llvm::SmallDenseMap<Value, Value, 2> constants;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      Value root = getRoot(operand.get());
      Operation *producer = root.getDefiningOp();
      bool isConstant = producer && producer->hasTrait<OpTrait::ConstantLike>();
      if (isCalled && (!isWholeBuffer(operand.get()) || !returned.insert(root).second)) {
        operand.set(copy(op->getLoc(), operand.get()));
      } else if (isConstant) {
        Value &copied = constants[operand.get()];
        copied = copied ? copied : copy(op->getLoc(), operand.get());
        operand.set(copied);
      } else if (isa_and_nonnull<tensor::EmptyOp>(producer)) {
        operand.set(allocate(op->getLoc(), operand.get()));
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Destinations
  //===--------------------------------------------------------------------===//

  Value copy(Location loc, Value value) {
    return linalg::CopyOp::create(rewriter, loc, value, allocate(loc, value)).getResult(0);
  }

  Value allocate(Location loc, Value like) {
    SmallVector<Value> sizes;
    auto type = cast<RankedTensorType>(like.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(tensor::DimOp::create(rewriter, loc, like, dim));
    return AllocTensorOp::create(rewriter, loc, type, sizes);
  }

  static MutableArrayRef<OpOperand> getInits(Operation *op) {
    if (auto writer = dyn_cast<DestinationStyleOpInterface>(op))
      return writer.getDpsInitsMutable();
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      return loop.getInitsMutable();
    return {};
  }

  /// The operation of the block of each storage that is the last to read it, and how often
  /// it does.
  llvm::DenseMap<Value, std::pair<Operation *, int64_t>> findLastReads() {
    llvm::DenseMap<Value, std::pair<Operation *, int64_t>> lastReads;
    for (Operation *op : listOperations()) {
      std::optional<OperationModel> model = lookupModel(op, models);
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<RankedTensorType>(operand.get().getType()) ||
            (model && llvm::is_contained(model->unreadOperands, operand.getOperandNumber())))
          continue;
        Value root = getRoot(operand.get());
        Operation *reader = root.getParentBlock()->findAncestorOpInBlock(*op);
        auto &[last, times] = lastReads[root];
        if (last && reader->isBeforeInBlock(last))
          continue;
        times = reader == last ? times + 1 : 1;
        last = reader;
      }
    }
    return lastReads;
  }

  /// Destinations that must stay what they are, for who else reads them or because they are
  /// not of this block, are copied where they would be overwritten: a view of them may have
  /// been taken long before.
  void keepDestinations() {
    llvm::DenseMap<Value, std::pair<Operation *, int64_t>> lastReads = findLastReads();
    for (Operation *op : listOperations())
      for (OpOperand &init : getInits(op)) {
        Value root = getRoot(init.get());
        if (!isa<RankedTensorType>(root.getType()) || getSplat(root) ||
            isa_and_nonnull<tensor::EmptyOp, AllocTensorOp>(root.getDefiningOp()))
          continue;
        auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        bool isRead = !linalgOp || linalgOp.payloadUsesValueFromOperand(&init);
        auto [last, times] = lastReads.lookup(root);
        bool isReadElsewhere =
            last && (last == op ? times != int64_t(isRead) : op->isBeforeInBlock(last));
        if (isOwn(root) && root.getParentBlock() == op->getBlock() && !isReadElsewhere)
          continue;
        rewriter.setInsertionPoint(op);
        init.set(isRead ? copy(op->getLoc(), init.get()) : allocate(op->getLoc(), init.get()));
      }
  }

  /// Whether a storage may be written to: it is neither program data nor an argument that
  /// the caller needs.
  bool isOwn(Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    if (!argument)
      return !root.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
    return argument.getOwner()->getParentOp() != function.getOperation() ||
           function.getArgAttr(argument.getArgNumber(), RematDialect::getDonatedAttrName());
  }

  void separateDestinations(Operation *writer, MutableArrayRef<OpOperand> inits) {
    rewriter.setInsertionPoint(writer);
    for (OpOperand &init : inits) {
      auto type = dyn_cast<RankedTensorType>(init.get().getType());
      if (auto empty = init.get().getDefiningOp<tensor::EmptyOp>())
        init.set(AllocTensorOp::create(rewriter, writer->getLoc(), type, empty.getDynamicSizes()));
      else if (type && isPartOfDying(init))
        init.set(copy(writer->getLoc(), init.get()));
    }
  }

  /// Whether a destination is a part of a larger storage of the same block: to write into
  /// that would keep all of it, where a storage of its own is enough.
  bool isPartOfDying(OpOperand &init) const {
    Value root = getRoot(init.get());
    auto whole = dyn_cast<RankedTensorType>(root.getType());
    auto part = cast<RankedTensorType>(init.get().getType());
    return isa<OpResult>(root) && root.getParentBlock() == init.getOwner()->getBlock() && whole &&
           !ownSlices.contains(init.get().getDefiningOp()) && whole.hasStaticShape() &&
           part.hasStaticShape() && whole.getNumElements() != part.getNumElements();
  }

  FunctionOpInterface function;
  const ModelTable &models;
  IRRewriter rewriter;
  /// Slices that are destinations.
  llvm::SmallPtrSet<Operation *, 8> ownSlices;
};
} // namespace

LogicalResult mlir::remat::assignDestinations(FunctionOpInterface function,
                                              const ModelTable &models) {
  return DestinationAssigner(function, models).run();
}
