//===- SplitReductions.cpp - Long sums in two steps -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of a GPU adds all terms of a result, so few results occupy few of its processors.
// This is decided on tensors, so that the memory of partial results is planned like all
// other, and clones are split as their originals are.
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/SplitReductions.h"

#include "KernelAccess.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATSPLITREDUCTIONSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;
using utils::IteratorType;

/// Blocks that occupy a GPU, and how many neighbouring results of columns a block computes.
static constexpr int64_t kManyBlocks = 256, kColumns = 32;
/// The fewest parts for which a second kernel is worth it, and terms of a part that one block
/// is busy with.
static constexpr int64_t kMinParts = 8, kMinTerms = 1024;
/// Terms that are one after the other in memory, and stay so.
static constexpr int64_t kMinRow = 512;
/// Terms of all results that take one block much longer than starting a kernel.
static constexpr int64_t kManyTerms = 1 << 20;

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

namespace {
/// The range of a loop over terms is divided into parts that are equally long.
struct Split {
  unsigned loop;
  int64_t parts;
};
} // namespace

/// The largest number up to `limit` that divides `number`.
static int64_t getLargestDivisor(int64_t number, int64_t limit) {
  int64_t divisor = std::clamp<int64_t>(limit, 1, number);
  while (number % divisor != 0)
    --divisor;
  return divisor;
}

/// Whether the innermost dimension of the largest input is summed over.
static bool isRows(GenericOp op) {
  OpOperand *largest = nullptr;
  auto getSize = [](OpOperand *operand) {
    auto type = dyn_cast<ShapedType>(operand->get().getType());
    return type ? type.getNumElements() : 0;
  };
  for (OpOperand *operand : op.getDpsInputOperands())
    if (!largest || getSize(operand) > getSize(largest))
      largest = operand;
  if (!largest || op.getMatchingIndexingMap(largest).getNumResults() == 0)
    return true;
  auto last = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(largest).getResults().back());
  return !last || !isParallel(op, last.getPosition());
}

/// Whether each operand has the loop as one of its dimensions, or does not depend on it.
static bool canSplit(GenericOp op, unsigned loop) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::count_if(map.getResults(),
                          [&](AffineExpr index) { return index.isFunctionOfDim(loop); }) <= 1 &&
           llvm::all_of(map.getResults(), [&](AffineExpr index) {
             return isa<AffineDimExpr>(index) || !index.isFunctionOfDim(loop);
           });
  });
}

/// Whether the loop is over neighbours in an input.
static bool isInnermost(GenericOp op, unsigned loop) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    ArrayRef<AffineExpr> place = op.getMatchingIndexingMap(operand).getResults();
    return !place.empty() && place.back().isFunctionOfDim(loop);
  });
}

static bool hasOwnAttributes(GenericOp op) {
  return llvm::any_of(op->getDiscardableAttrs(), [](NamedAttribute attribute) {
    return isa_and_nonnull<RematDialect>(attribute.getNameDialect());
  });
}

static std::optional<Split> chooseSplit(GenericOp op, Libraries libraries) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      llvm::any_of(ranges, ShapedType::isDynamic) || hasOwnAttributes(op))
    return std::nullopt;
  int64_t numPoints = 1, numTerms = 1;
  for (auto [loop, range] : llvm::enumerate(ranges))
    (isParallel(op, loop) ? numPoints : numTerms) *= range;
  int64_t numBlocks = isRows(op) ? numPoints : llvm::divideCeilSigned(numPoints, kColumns);
  if (numBlocks == 0 || numPoints * numTerms < kManyTerms)
    return std::nullopt;
  int64_t limit = std::min(kManyBlocks / numBlocks, numTerms / kMinTerms);
  if (limit < kMinParts || matchCombiners(op).empty() || matchLibraryCall(op, libraries))
    return std::nullopt;
  bool arePlain = llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return map.isProjectedPermutation() && map.getNumResults() == op.getNumParallelLoops();
  });
  if (!arePlain)
    return std::nullopt;
  Split split{0, 0};
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    if (isParallel(op, loop) || !canSplit(op, loop))
      continue;
    int64_t maxParts = isInnermost(op, loop) ? std::min(limit, range / kMinRow) : limit;
    int64_t parts = getLargestDivisor(range, maxParts);
    if (parts > split.parts)
      split = {unsigned(loop), parts};
  }
  if (split.parts < kMinParts)
    return std::nullopt;
  return split;
}

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

namespace {
class ReductionSplitter {
public:
  ReductionSplitter(RewriterBase &rewriter, GenericOp op, const Split &split)
      : rewriter(rewriter), loc(op.getLoc()), op(op), split(split),
        rest(op.getStaticLoopRanges()[split.loop] / split.parts), combiners(matchCombiners(op)) {}

  void run(llvm::function_ref<void(Operation *, Operation *)> onSplit) {
    rewriter.setInsertionPoint(op);
    GenericOp partial = addParts();
    onSplit(op, partial);
    rewriter.replaceOp(op, addPartialResults(partial));
  }

private:
  /// The operand with the dimension of the loop divided.
  Value divide(Value value, AffineMap &map) {
    unsigned loop = split.loop + 1;
    AffineExpr part = rewriter.getAffineDimExpr(0);
    SmallVector<AffineExpr> places;
    SmallVector<int64_t> shape;
    SmallVector<ReassociationIndices> groups;
    auto type = cast<RankedTensorType>(value.getType());
    for (auto [index, size] : llvm::zip_equal(map.getResults(), type.getShape())) {
      bool isDivided = index == rewriter.getAffineDimExpr(loop);
      groups.push_back({int64_t(shape.size())});
      if (isDivided) {
        groups.back().push_back(shape.size() + 1);
        places.push_back(part);
        shape.push_back(split.parts);
      }
      places.push_back(index);
      shape.push_back(isDivided ? rest : size);
    }
    map = AffineMap::get(map.getNumDims(), 0, places, op.getContext());
    if (shape.size() == groups.size())
      return value;
    return tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape), value, groups);
  }

  /// Has a loop over parts in front of the others, of which one has become shorter.
  GenericOp addParts() {
    SmallVector<Value> inputs, outputs;
    SmallVector<AffineMap> maps;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(operand).shiftDims(1);
      Value value = operand->get();
      inputs.push_back(isa<RankedTensorType>(value.getType()) ? divide(value, map) : value);
      maps.push_back(map);
    }
    for (auto [init, combiner] : llvm::zip_equal(op.getDpsInitsMutable(), combiners)) {
      auto type = cast<RankedTensorType>(init.get().getType());
      SmallVector<int64_t> shape = {split.parts};
      llvm::append_range(shape, type.getShape());
      outputs.push_back(arith::ConstantOp::create(
          rewriter, loc,
          DenseElementsAttr::get(type.clone(shape),
                                 Attribute(*arith::getNeutralElement(combiner)))));
      AffineMap map = op.getMatchingIndexingMap(&init).shiftDims(1);
      maps.push_back(map.insertResult(rewriter.getAffineDimExpr(0), 0));
    }
    SmallVector<IteratorType> kinds = {IteratorType::parallel};
    llvm::append_range(kinds, op.getIteratorTypesArray());
    auto partial = GenericOp::create(rewriter, loc, ValueRange(outputs).getTypes(), inputs, outputs,
                                     maps, kinds);
    rewriter.cloneRegionBefore(op.getRegion(), partial.getRegion(), partial.getRegion().end());
    for (auto index : llvm::make_early_inc_range(partial.getBody()->getOps<linalg::IndexOp>()))
      replaceIndex(index);
    return partial;
  }

  /// An index of the loops as they were.
  void replaceIndex(linalg::IndexOp index) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(index);
    Value value = linalg::IndexOp::create(rewriter, loc, index.getDim() + 1);
    if (index.getDim() == split.loop) {
      Value part = linalg::IndexOp::create(rewriter, loc, 0);
      Value size = arith::ConstantIndexOp::create(rewriter, loc, rest);
      Value first = arith::MulIOp::create(rewriter, loc, part, size);
      value = arith::AddIOp::create(rewriter, loc, first, value);
    }
    rewriter.replaceOp(index, value);
  }

  GenericOp addPartialResults(GenericOp partial) {
    // The parallel loops, and one over the parts.
    unsigned numLoops = op.getNumParallelLoops() + 1;
    AffineExpr part = rewriter.getAffineDimExpr(numLoops - 1);
    SmallVector<AffineExpr> loops(op.getNumLoops(), part);
    unsigned number = 0;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (isParallel(op, loop))
        loops[loop] = rewriter.getAffineDimExpr(number++);
    SmallVector<AffineMap> maps, outputMaps;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      outputMaps.push_back(
          op.getMatchingIndexingMap(&init).replaceDimsAndSymbols(loops, {}, numLoops, 0));
      maps.push_back(outputMaps.back().insertResult(part, 0));
    }
    llvm::append_range(maps, outputMaps);
    SmallVector<IteratorType> kinds(numLoops - 1, IteratorType::parallel);
    kinds.push_back(IteratorType::reduction);
    return GenericOp::create(rewriter, loc, op.getResultTypes(), partial.getResults(),
                             op.getOutputs(), maps, kinds,
                             [&](OpBuilder &builder, Location, ValueRange arguments) {
                               SmallVector<Value> sums;
                               for (auto [index, combiner] : llvm::enumerate(combiners)) {
                                 IRMapping mapping;
                                 for (Value operand : combiner->getOperands())
                                   mapping.map(operand, operand == op.getRegionOutputArgs()[index]
                                                            ? arguments[combiners.size() + index]
                                                            : arguments[index]);
                                 sums.push_back(builder.clone(*combiner, mapping)->getResult(0));
                               }
                               linalg::YieldOp::create(builder, loc, sums);
                             });
  }

  RewriterBase &rewriter;
  Location loc;
  GenericOp op;
  const Split &split;
  /// Of the range of the loop, in each part.
  int64_t rest;
  SmallVector<Operation *> combiners;
};
} // namespace

void mlir::remat::splitReductions(Operation *root, Libraries libraries,
                                  llvm::function_ref<void(Operation *, Operation *)> onSplit) {
  SmallVector<std::pair<GenericOp, Split>> splits;
  root->walk([&](GenericOp op) {
    if (std::optional<Split> split = chooseSplit(op, libraries))
      splits.emplace_back(op, *split);
  });
  IRRewriter rewriter(root->getContext());
  for (auto &[op, split] : splits)
    ReductionSplitter(rewriter, op, split).run(onSplit);
}

namespace {
struct SplitReductionsPass : public remat::impl::RematSplitReductionsPassBase<SplitReductionsPass> {
  void runOnOperation() override { splitReductions(getOperation(), Libraries::GPU); }
};
} // namespace
