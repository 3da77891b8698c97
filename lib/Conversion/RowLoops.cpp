//===- RowLoops.cpp - Loops that change one row at a time -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLoops.h"

#include "Buffers.h"
#include "ThreadLayout.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::LinalgOp;

/// Blocks that look for rows of their own, at most.
static constexpr int64_t kMaxBlocks = 256;
/// The fewest iterations for which more than one block is worth it.
static constexpr int64_t kMinIterations = 16;
/// Of shared memory for temporaries, in bytes.
static constexpr int64_t kTemporaryBytes = 32 * 1024;

namespace {
class RowLoopMatcher {
public:
  explicit RowLoopMatcher(gpu::GPUFuncOp kernel) : kernel(kernel) {}

  std::optional<RowLoop> match() {
    if (!matchLoop() || !matchBody() || !table || !matchTemporaries() || !matchRow() ||
        !matchSlice())
      return std::nullopt;
    int64_t numRows = 1;
    for (auto &[index, size] : rows.row)
      numRows *= size;
    int64_t numIterations = llvm::divideCeilSigned(rows.end - rows.first, rows.step);
    int64_t numBlocks = std::min({kMaxBlocks, numRows, numIterations});
    if (numBlocks < 2 || numIterations < kMinIterations)
      return std::nullopt;
    int64_t numWarps = llvm::divideCeilSigned(numPoints, kWarp);
    rows.geometry = {numBlocks, std::clamp<int64_t>(numWarps * kWarp, kWarp, kBlockThreads)};
    return rows;
  }

private:
  bool matchLoop() {
    auto loops = kernel.getBody().getOps<scf::ForOp>();
    if (!llvm::hasSingleElement(loops))
      return false;
    scf::ForOp loop = rows.loop = *loops.begin();
    std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                           end = getConstantIntValue(loop.getUpperBound()),
                           step = getConstantIntValue(loop.getStep());
    if (!first || !end || !step || *step <= 0 || *end <= *first || *first < 0 ||
        loop.getNumResults() != 0 || !loop.getInductionVar().getType().isIndex())
      return false;
    std::tie(rows.first, rows.end, rows.step) = std::tuple(*first, *end, *step);
    return true;
  }

  /// Finds what is written: temporaries of an iteration, and one table.
  bool matchBody() {
    for (Operation &op : rows.loop.getBody()->without_terminator()) {
      if (auto store = dyn_cast<memref::StoreOp>(op)) {
        if (!addWritten(store.getMemRef()))
          return false;
      } else if (auto structured = dyn_cast<LinalgOp>(op)) {
        if (!addStructured(structured))
          return false;
      } else if (op.getNumRegions() != 0 || !(isa<memref::LoadOp>(op) || isPure(&op))) {
        return false;
      }
    }
    return true;
  }

  bool addStructured(LinalgOp op) {
    int64_t points = 1;
    for (auto [range, kind] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::parallel)
        points *= range;
    numPoints = std::max(numPoints, points);
    // Its body has only what the operands give.
    WalkResult body = op->walk([&](Operation *nested) {
      bool isAccess = nested != op && llvm::any_of(nested->getOperandTypes(),
                                                   llvm::IsaPred<MemRefType, UnrankedMemRefType>);
      return isAccess ? WalkResult::interrupt() : WalkResult::advance();
    });
    return !body.wasInterrupted() &&
           llvm::all_of(op.getDpsInits(), [&](Value init) { return addWritten(init); });
  }

  bool addWritten(Value memref) {
    Value root = getBuffer(memref);
    if (isTemporary(root))
      return true;
    auto argument = dyn_cast<BlockArgument>(root);
    if (!argument || argument.getOwner() != &kernel.getBody().front() ||
        (table && table != argument) ||
        !kernel.getArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName()))
      return false;
    table = argument;
    return true;
  }

  bool isTemporary(Value root) {
    return root.getDefiningOp<memref::ViewOp>() && root.getParentBlock() == rows.loop.getBody();
  }

  /// Views of the arena are temporaries of an iteration that fit into shared memory.
  bool matchTemporaries() {
    int64_t bytes = 0;
    WalkResult result = kernel.walk([&](memref::ViewOp view) {
      MemRefType type = view.getType();
      if (!isTemporary(view) || getBuffer(view.getSource()) == table || !type.hasStaticShape() ||
          !type.getElementType().isIntOrFloat() || !isWrittenFirst(view))
        return WalkResult::interrupt();
      bytes += type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      rows.temporaries.push_back(view);
      return WalkResult::advance();
    });
    return !result.wasInterrupted() && bytes <= kTemporaryBytes;
  }

  static bool isWrittenFirst(memref::ViewOp view) {
    Operation *firstUser = nullptr;
    for (Operation *user : view->getUsers()) {
      if (!isa<memref::LoadOp, memref::StoreOp, LinalgOp>(user))
        return false;
      if (!firstUser || user->isBeforeInBlock(firstUser))
        firstUser = user;
    }
    if (isa_and_nonnull<memref::StoreOp>(firstUser))
      return view.getType().getRank() == 0;
    auto structured = dyn_cast_or_null<LinalgOp>(firstUser);
    return structured && structured.getNumLoops() == structured.getNumParallelLoops() &&
           llvm::all_of(structured->getOpOperands(), [&](OpOperand &operand) {
             return operand.get() != view ||
                    (structured.isDpsInit(&operand) &&
                     !structured.payloadUsesValueFromOperand(&operand) &&
                     structured.getMatchingIndexingMap(&operand).isPermutation());
           });
  }

  /// All accesses of the table are to one row.
  bool matchRow() {
    auto type = cast<MemRefType>(table.getType());
    SmallVector<OpFoldResult> row;
    for (Operation *user : table.getUsers()) {
      std::optional<SmallVector<OpFoldResult>> place = getRow(user, type);
      if (!place || (!row.empty() && row != *place))
        return false;
      row = *place;
    }
    for (auto [index, size] : llvm::zip(row, type.getShape()))
      if (index)
        rows.row.emplace_back(index, size);
    return !rows.row.empty();
  }

  /// For each dimension the index; nothing where all of it is accessed.
  std::optional<SmallVector<OpFoldResult>> getRow(Operation *user, MemRefType type) {
    if (user->getBlock() != rows.loop.getBody())
      return std::nullopt;
    SmallVector<OpFoldResult> row;
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      row = getAsOpFoldResult(load.getIndices());
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      row = getAsOpFoldResult(store.getIndices());
    } else if (auto part = dyn_cast<memref::SubViewOp>(user)) {
      for (auto [offset, size, whole] :
           llvm::zip_equal(part.getMixedOffsets(), part.getStaticSizes(), type.getShape())) {
        bool isWhole = size == whole && isConstantIntValue(offset, 0);
        if (!isWhole && size != 1)
          return std::nullopt;
        auto value = dyn_cast<Value>(offset);
        row.push_back(isWhole ? OpFoldResult() : value ? getAsOpFoldResult(value) : offset);
      }
    } else {
      return std::nullopt;
    }
    for (auto [index, size] : llvm::zip_equal(row, type.getShape()))
      if (size == 1)
        index = {};
    return row;
  }

  /// What computes the row reads nothing that the loop writes.
  bool matchSlice() {
    llvm::SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.filter = [&](Operation *op) { return op->getBlock() == rows.loop.getBody(); };
    for (auto &[index, size] : rows.row)
      if (auto value = dyn_cast<Value>(index))
        if (failed(getBackwardSlice(value, &slice, options)))
          return false;
    for (Operation &op : rows.loop.getBody()->without_terminator())
      if (slice.contains(&op)) {
        auto load = dyn_cast<memref::LoadOp>(op);
        Value root = load ? getBuffer(load.getMemRef()) : Value();
        if (load ? root == table || isTemporary(root) : !isPure(&op))
          return false;
        rows.slice.push_back(&op);
      }
    return true;
  }

  gpu::GPUFuncOp kernel;
  RowLoop rows;
  /// What is written, and outlives an iteration.
  BlockArgument table;
  /// Of the largest structured operation.
  int64_t numPoints = 1;
};
} // namespace

std::optional<RowLoop> mlir::remat::matchRowLoop(gpu::GPUFuncOp kernel) {
  return RowLoopMatcher(kernel).match();
}
