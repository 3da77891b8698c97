//===- ThreadBuilder.cpp - Structured operations as code of threads ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadBuilder.h"

#include "ElementBuilder.h"
#include "KernelAccess.h"
#include "ThreadLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;

namespace {
class ThreadBuilder : public ElementBuilder {
public:
  ThreadBuilder(RewriterBase &rewriter, GenericOp op, const ThreadLayout &layout,
                ArrayRef<Value> starts)
      : ElementBuilder(rewriter, op, layout.width, starts), layout(layout) {
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      bool isPoint = isParallel(op, loop);
      (isPoint ? pointLoops : termLoops).push_back(loop);
      (isPoint ? numPoints : numTerms) *= getNumSteps(loop);
    }
    rewriter.setInsertionPoint(op);
  }

  KernelGeometry build(gpu::GPUFuncOp kernel);
  void buildInTurn(Value thread, int64_t numThreads);

private:
  SmallVector<Value> getIndices(Value point);
  SmallVector<Value> addTerms(ValueRange indices, Value first, ValueRange start);
  void computePoint(Value point);
  SmallVector<Value> getNeutral();
  SmallVector<Value> combine(ValueRange a, ValueRange b);
  SmallVector<Value> addShare(Value isPoint, Value point, Value term);
  void reduceBlock(gpu::GPUFuncOp kernel, Value inBlock, Value term, SmallVector<Value> &sums);

  const ThreadLayout layout;
  SmallVector<unsigned> pointLoops, termLoops;
  /// Steps of the loops over results, and over terms.
  int64_t numPoints = 1, numTerms = 1;
  /// Of threads that share the terms of a result.
  SmallVector<Operation *> combiners;
};
} // namespace

//===----------------------------------------------------------------------===//
// One thread for each result
//===----------------------------------------------------------------------===//

/// Those of the first term of a result.
SmallVector<Value> ThreadBuilder::getIndices(Value point) {
  SmallVector<Value> indices(op.getNumLoops(), constant(0));
  setIndices(pointLoops, point, indices);
  return indices;
}

/// Adds every so many terms from the `first` on to what is there.
SmallVector<Value> ThreadBuilder::addTerms(ValueRange indices, Value first, ValueRange start) {
  if (termLoops.empty())
    return compute(indices, start);
  OpBuilder::InsertionGuard guard(rewriter);
  Value end = constant(numTerms), step = constant(layout.terms);
  auto loop = scf::ForOp::create(rewriter, loc, first, end, step, start);
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> all(indices);
  setIndices(termLoops, loop.getInductionVar(), all);
  scf::YieldOp::create(rewriter, loc, compute(all, loop.getRegionIterArgs()));
  return loop.getResults();
}

void ThreadBuilder::computePoint(Value point) {
  SmallVector<Value> indices = getIndices(point), start = loadResults(indices);
  store(addTerms(indices, constant(0), start), indices);
}

void ThreadBuilder::buildInTurn(Value thread, int64_t numThreads) {
  Value end = constant(numPoints), step = constant(numThreads);
  auto loop = scf::ForOp::create(rewriter, loc, thread, end, step);
  rewriter.setInsertionPointToStart(loop.getBody());
  computePoint(loop.getInductionVar());
  rewriter.eraseOp(op);
}

//===----------------------------------------------------------------------===//
// Several threads for each result
//===----------------------------------------------------------------------===//

SmallVector<Value> ThreadBuilder::getNeutral() {
  return llvm::map_to_vector(combiners, [&](Operation *combiner) -> Value {
    return arith::ConstantOp::create(rewriter, loc, *arith::getNeutralElement(combiner));
  });
}

SmallVector<Value> ThreadBuilder::combine(ValueRange a, ValueRange b) {
  SmallVector<Value> result;
  for (auto [combiner, left, right] : llvm::zip_equal(combiners, a, b)) {
    IRMapping mapping;
    mapping.map(combiner->getOperand(0), left);
    mapping.map(combiner->getOperand(1), right);
    result.push_back(rewriter.clone(*combiner, mapping)->getResult(0));
  }
  return result;
}

/// The sums of a thread's terms, also if it has none.
SmallVector<Value> ThreadBuilder::addShare(Value isPoint, Value point, Value term) {
  SmallVector<Value> neutral = getNeutral();
  auto branch = scf::IfOp::create(rewriter, loc, ValueRange(neutral).getTypes(), isPoint,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> indices = getIndices(point);
  scf::YieldOp::create(rewriter, loc, addTerms(indices, term, neutral));
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, neutral);
  return branch.getResults();
}

/// Adds the partial results of the threads of each point, in a tree; thread 0 has the sum.
void ThreadBuilder::reduceBlock(gpu::GPUFuncOp kernel, Value inBlock, Value term,
                                SmallVector<Value> &sums) {
  auto space = gpu::AddressSpaceAttr::get(op.getContext(), gpu::AddressSpace::Workgroup);
  SmallVector<Value> partial;
  for (Value sum : sums)
    partial.push_back(kernel.addWorkgroupAttribution(
        MemRefType::get({layout.terms, layout.points}, sum.getType(), AffineMap(), space), loc));
  auto loadAt = [&](Value number) {
    return llvm::map_to_vector(partial, [&](Value buffer) -> Value {
      return memref::LoadOp::create(rewriter, loc, buffer, ValueRange{number, inBlock});
    });
  };
  auto storeAt = [&](ValueRange values) {
    for (auto [value, buffer] : llvm::zip_equal(values, partial))
      memref::StoreOp::create(rewriter, loc, value, buffer, ValueRange{term, inBlock});
  };
  storeAt(sums);
  for (int64_t half = layout.terms / 2; half > 0; half /= 2) {
    gpu::BarrierOp::create(rewriter, loc);
    Value isFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, term, constant(half));
    ifTrue(isFirst, [&] {
      SmallVector<Value> own = loadAt(term), others = loadAt(add(term, half));
      storeAt(combine(own, others));
    });
  }
  sums = loadAt(term);
}

KernelGeometry ThreadBuilder::build(gpu::GPUFuncOp kernel) {
  Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value inBlock = layout.terms == 1 ? thread
                  : layout.isRows   ? divide(thread, layout.terms)
                                    : remainder(thread, layout.points);
  Value point = arith::MulIOp::create(rewriter, loc, block, constant(layout.points));
  point = arith::AddIOp::create(rewriter, loc, point, inBlock);
  Value isPoint =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, point, constant(numPoints));
  if (layout.terms == 1) {
    ifTrue(isPoint, [&] { computePoint(point); });
  } else {
    combiners = matchCombiners(op);
    Value term = layout.isRows ? remainder(thread, layout.terms) : divide(thread, layout.points);
    SmallVector<Value> sums = addShare(isPoint, point, term);
    reduceBlock(kernel, inBlock, term, sums);
    Value isFirst =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, term, constant(0));
    ifTrue(arith::AndIOp::create(rewriter, loc, isFirst, isPoint), [&] {
      SmallVector<Value> indices = getIndices(point), start = loadResults(indices);
      store(combine(start, sums), indices);
    });
  }
  rewriter.eraseOp(op);
  return {llvm::divideCeilSigned(numPoints, layout.points), layout.getNumThreads()};
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

KernelGeometry mlir::remat::distribute(RewriterBase &rewriter, gpu::GPUFuncOp kernel, GenericOp op,
                                       ArrayRef<Value> starts) {
  if (std::optional<SharedTile> tile = matchSharedTile(op))
    return distributeTiles(rewriter, kernel, op, *tile);
  return ThreadBuilder(rewriter, op, chooseThreadLayout(op), starts).build(kernel);
}

void mlir::remat::distributeInTurn(RewriterBase &rewriter, GenericOp op, Value thread,
                                   int64_t numThreads) {
  ThreadBuilder(rewriter, op, ThreadLayout(), {}).buildInTurn(thread, numThreads);
}
