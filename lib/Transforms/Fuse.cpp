//===- Fuse.cpp - One structured operation for each kernel ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rewrites; decisions are those of the fusion model.
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Fuse.h"

#include "KernelForm.h"
#include "Remat/Analysis/FusionModel.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

namespace {
class KernelFormer {
public:
  KernelFormer(FunctionOpInterface function, const ModelTable &models)
      : function(function), models(models), rewriter(function->getContext()) {}

  LogicalResult fuse() {
    // What is put together may show that more can be: a value that is read twice by one
    // kernel is read once in the end, and reshapes meet.
    for (bool isChanged = true; isChanged;) {
      if (failed(bringToKernelForm(function)) || failed(simplify()))
        return failure();
      isChanged = false;
      for (Block *block : listBlocks())
        isChanged |= inlineAll(*block, Inlining::Anywhere);
    }
    finish();
    return success();
  }

  LogicalResult fuseClones() {
    readOverwritten(function);
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (Block *block : listBlocks())
        isChanged |= inlineAll(*block, Inlining::Elementwise);
      if (isChanged && failed(simplify()))
        return failure();
    }
    finish();
    return success();
  }

private:
  /// The blocks whose operations get memory, inner ones first.
  SmallVector<Block *> listBlocks() {
    SmallVector<Block *> blocks;
    function->walk<WalkOrder::PostOrder>([&](Operation *op) {
      std::optional<OperationModel> model = lookupModel(op, models);
      if (op == function.getOperation() || !model || !model->perElementRegions)
        for (Region &region : op->getRegions())
          for (Block &block : region)
            blocks.push_back(&block);
    });
    return blocks;
  }

  //===--------------------------------------------------------------------===//
  // Putting operations together
  //===--------------------------------------------------------------------===//

  /// Whether anything was inlined.
  bool inlineAll(Block &block, Inlining inlining) {
    SymbolTableCollection symbols;
    SummaryAnalysis summaries(models, llvm::cantFail(Target::get("cpu")), symbols);
    inlined = findInlinedOperations(block, summaries, inlining);
    for (auto [index, op] : llvm::enumerate(inlined))
      positions[op] = index;
    bool isChanged = false;
    for (Operation *&op : inlined) {
      positions.erase(op);
      isChanged |= inlineIntoReaders(op);
    }
    return isChanged;
  }

  bool inlineIntoReaders(Operation *op) {
    auto producer = dyn_cast<GenericOp>(op);
    if (!producer) {
      op->setAttr(RematDialect::getViewAttrName(), rewriter.getUnitAttr());
      return true;
    }
    Value result = producer->getResult(0);
    if (!llvm::all_of(result.getUses(),
                      [](OpOperand &use) { return linalg::areElementwiseOpsFusable(&use); }))
      return false;
    while (!result.use_empty()) {
      OpOperand &use = *result.use_begin();
      GenericOp part = producer;
      if (!result.hasOneUse()) {
        rewriter.setInsertionPoint(use.getOwner());
        part = cast<GenericOp>(rewriter.clone(*producer));
        use.set(part->getResult(0));
      }
      inlineInto(use);
      rewriter.eraseOp(part);
      if (part == producer)
        break;
    }
    return true;
  }

  void inlineInto(OpOperand &use) {
    auto reader = cast<GenericOp>(use.getOwner());
    rewriter.setInsertionPoint(reader);
    FailureOr<linalg::ElementwiseOpFusionResult> both = linalg::fuseElementwiseOps(rewriter, &use);
    assert(succeeded(both) && "expected operations that can be fused");
    auto kernel = cast<GenericOp>(both->fusedOp);
    kernel->setDiscardableAttrs(reader->getDiscardableAttrDictionary());
    kernel->setLoc(reader.getLoc());
    for (Value result : reader->getResults())
      rewriter.replaceAllUsesWith(result, both->replacements.lookup(result));
    if (auto it = positions.find(reader); it != positions.end()) {
      size_t position = it->second;
      positions.erase(it);
      positions[kernel] = position;
      inlined[position] = kernel;
    }
    rewriter.eraseOp(reader);
  }

  /// Operands that are read twice, results that nobody reads, and equal scalar operations.
  LogicalResult simplify() {
    RewritePatternSet patterns(function->getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns), getPatternsOnlyConfig())))
      return failure();
    function->walk([&](GenericOp op) {
      DominanceInfo dominance(op);
      eliminateCommonSubExpressions(rewriter, dominance, op);
    });
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Results in the place of operands
  //===--------------------------------------------------------------------===//

  /// Whether a value is returned, itself or through views.
  bool isReturned(Value value) {
    SmallVector<Value> shown{value};
    while (!shown.empty())
      for (OpOperand &use : shown.pop_back_val().getUses()) {
        Operation *reader = use.getOwner();
        if (reader->hasTrait<OpTrait::ReturnLike>())
          return true;
        if (std::optional<OperationModel> model = lookupModel(reader, models))
          for (const ResultStorage &storage : model->storage)
            if (storage.kind == ResultStorage::Kind::View &&
                storage.operand == use.getOperandNumber())
              shown.push_back(reader->getResult(storage.result));
      }
    return false;
  }

  /// Whether a value is an argument that a result may overwrite.
  bool isDonated(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner()->getParentOp() == function.getOperation() &&
           argument.getOwner()->isEntryBlock() &&
           function.getArgAttr(argument.getArgNumber(), RematDialect::getDonatedAttrName());
  }

  /// The value whose buffer a value is in; null if it has none that may be overwritten.
  Value getBuffer(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      std::optional<OperationModel> model = lookupModel(op, models);
      if (!model)
        return {};
      const ResultStorage *entry = model->findStorage(cast<OpResult>(value).getResultNumber());
      if (!entry || entry->kind == ResultStorage::Kind::Reuse)
        return value;
      if (entry->kind != ResultStorage::Kind::View)
        return {};
      value = op->getOperand(entry->operand);
    }
    return isDonated(value) ? value : Value();
  }

  void overwriteOperands(Block &block) {
    /// The last operation of the block that reads each buffer, and how often it does.
    LastReads lastReads;
    for (Operation &op : block)
      op.walk([&](Operation *nested) {
        for (Value operand : nested->getOperands()) {
          Value buffer = getBuffer(operand);
          if (!buffer || buffer.getParentBlock() != &block)
            continue;
          auto &[reader, times] = lastReads[buffer];
          times = reader == &op ? times + 1 : 1;
          reader = &op;
        }
      });
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto kernel = dyn_cast<GenericOp>(op))
        for (unsigned result = 0; result < kernel.getNumResults(); ++result)
          kernel = overwriteOperand(kernel, result, lastReads);
  }

  using LastReads = llvm::DenseMap<Value, std::pair<Operation *, int64_t>>;

  /// Writes a result over an operand that dies; what became of the kernel.
  GenericOp overwriteOperand(GenericOp kernel, unsigned result, LastReads &lastReads) {
    std::optional<OperationModel> model = lookupModel(kernel, models);
    SmallVector<unsigned> dying;
    if (model)
      for (auto [operand, written] : model->kernel.samePlaceOperands)
        if (Value buffer = getBuffer(kernel->getOperand(operand));
            written == result && buffer &&
            lastReads.lookup(buffer) == std::make_pair(kernel.getOperation(), int64_t(1)) &&
            hasRoomFor(buffer, kernel->getResult(result)))
          dying.push_back(operand);
    if (dying.empty())
      return kernel;
    // Donated arguments first; then the last one, where operands are that were overwritten
    // before.
    auto *chosen = llvm::find_if(
        dying, [&](unsigned operand) { return isDonated(getBuffer(kernel->getOperand(operand))); });
    unsigned operand = chosen == dying.end() ? dying.back() : *chosen;
    lastReads.erase(getBuffer(kernel->getOperand(operand)));
    GenericOp replaced = writeOverOperand(rewriter, kernel, operand, result);
    for (auto [before, after] : llvm::zip_equal(kernel->getResults(), replaced->getResults()))
      if (auto it = lastReads.find(before); it != lastReads.end()) {
        std::pair<Operation *, int64_t> last = it->second;
        lastReads.erase(it);
        lastReads[after] = last;
      }
    for (Value operand : replaced->getOperands())
      if (auto it = lastReads.find(getBuffer(operand));
          it != lastReads.end() && it->second.first == kernel)
        it->second.first = replaced;
    rewriter.replaceOp(kernel, replaced);
    return replaced;
  }

  /// Whether a result may take the place of a buffer: it is as large, and returned if the
  /// buffer is the caller's.
  bool hasRoomFor(Value buffer, Value result) {
    auto type = cast<ShapedType>(buffer.getType()), resultType = cast<ShapedType>(result.getType());
    return type.getElementType() == resultType.getElementType() && type.hasStaticShape() &&
           type.getNumElements() == resultType.getNumElements() &&
           (!isDonated(buffer) || isReturned(result));
  }

  void finish() {
    for (Block *block : listBlocks())
      overwriteOperands(*block);
    // Destinations and constants that nothing needs any more.
    SmallVector<Operation *> unread;
    function->walk([&](Operation *op) {
      if ((isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>()) && op->use_empty())
        unread.push_back(op);
    });
    for (Operation *op : unread)
      rewriter.eraseOp(op);
  }

  FunctionOpInterface function;
  const ModelTable &models;
  IRRewriter rewriter;
  /// What is to be inlined, and where it is in that list.
  SmallVector<Operation *> inlined;
  llvm::DenseMap<Operation *, size_t> positions;
};
} // namespace

static SmallVector<FunctionOpInterface> listFunctions(ModuleOp module) {
  SmallVector<FunctionOpInterface> functions;
  module->walk([&](FunctionOpInterface function) {
    if (!function.isExternal())
      functions.push_back(function);
  });
  return functions;
}

LogicalResult mlir::remat::fuse(FunctionOpInterface function, const ModelTable &models) {
  return KernelFormer(function, models).fuse();
}

LogicalResult mlir::remat::fuse(ModuleOp module, const ModelTable &models) {
  return success(llvm::all_of(listFunctions(module), [&](FunctionOpInterface function) {
    return succeeded(fuse(function, models));
  }));
}

LogicalResult mlir::remat::fuseClones(FunctionOpInterface function, const ModelTable &models) {
  return KernelFormer(function, models).fuseClones();
}
