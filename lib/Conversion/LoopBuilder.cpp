//===- LoopBuilder.cpp - Loops in kernels -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block go through all iterations that it executes: they agree on what they
// read, for they wait before and after everything that is written.
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "RowLoops.h"
#include "ThreadBuilder.h"
#include "ThreadLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::remat;
using linalg::LinalgOp;

//===----------------------------------------------------------------------===//
// Blocks that own rows
//===----------------------------------------------------------------------===//

namespace {
class RowDistributor {
public:
  RowDistributor(RewriterBase &rewriter, gpu::GPUFuncOp kernel, const RowLoop &rows)
      : rewriter(rewriter), loc(kernel.getLoc()), kernel(kernel), rows(rows) {}

  void run() {
    shareTemporaries();
    scf::ForOp loop = rows.loop;
    rewriter.setInsertionPoint(loop);
    Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
    block = gpu::BlockIdOp::create(rewriter, loc, gpu::Dimension::x);
    Value lane = arith::RemUIOp::create(rewriter, loc, thread, constant(kWarp));
    Value first = constant(rows.first), end = constant(rows.end);
    auto groups = scf::ForOp::create(rewriter, loc, first, end, constant(rows.step * kWarp));
    rewriter.setInsertionPointToStart(groups.getBody());
    Value isOwn = ownsRow(getIteration(groups.getInductionVar(), lane));
    Value all = arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(-1));
    Value owned = NVVM::VoteSyncOp::create(rewriter, loc, rewriter.getI32Type(), all, isOwn,
                                           NVVM::VoteSyncKind::ballot);
    rewriter.eraseOp(loop.getBody()->getTerminator());
    forBits(owned, [&](Value bit) {
      Value iteration = getIteration(groups.getInductionVar(), bit);
      rewriter.inlineBlockBefore(loop.getBody(), rewriter.getInsertionBlock(),
                                 rewriter.getInsertionPoint(), iteration);
    });
    rewriter.eraseOp(loop);
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value); }

  /// A block has temporaries of its own.
  void shareTemporaries() {
    auto space = gpu::AddressSpaceAttr::get(kernel.getContext(), gpu::AddressSpace::Workgroup);
    for (memref::ViewOp view : rows.temporaries) {
      MemRefType type = view.getType();
      Value shared = kernel.addWorkgroupAttribution(
          MemRefType::get(type.getShape(), type.getElementType(), AffineMap(), space), loc);
      rewriter.replaceAllUsesWith(view.getResult(), shared);
      rewriter.eraseOp(view);
    }
  }

  /// The value of the induction variable so many iterations after `start`.
  Value getIteration(Value start, Value number) {
    Value distance = arith::MulIOp::create(rewriter, loc, number, constant(rows.step));
    return arith::AddIOp::create(rewriter, loc, start, distance);
  }

  /// Whether there is such an iteration, and the row that it changes is one of the block's.
  Value ownsRow(Value iteration) {
    Value exists = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, iteration,
                                         constant(rows.end));
    Value known = arith::SelectOp::create(rewriter, loc, exists, iteration, constant(rows.first));
    IRMapping mapping;
    scf::ForOp loop = rows.loop;
    mapping.map(loop.getInductionVar(), known);
    for (Operation *op : rows.slice)
      rewriter.clone(*op, mapping);
    Value number = constant(0);
    for (auto &[index, size] : rows.row) {
      Value value = getValueOrCreateConstantIndexOp(rewriter, loc, index);
      number = arith::MulIOp::create(rewriter, loc, number, constant(size));
      number = arith::AddIOp::create(rewriter, loc, number, mapping.lookupOrDefault(value));
    }
    Value owner = arith::RemUIOp::create(rewriter, loc, number, constant(rows.geometry.blocks));
    Value isOwner = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, owner, block);
    return arith::AndIOp::create(rewriter, loc, exists, isOwner);
  }

  /// Builds `body` for the number of each bit that is set, from the lowest to the highest.
  void forBits(Value bits, function_ref<void(Value)> body) {
    auto loop = scf::WhileOp::create(
        rewriter, loc, bits.getType(), bits,
        [&](OpBuilder &builder, Location, ValueRange left) {
          Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
          Value isAny =
              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, left[0], zero);
          scf::ConditionOp::create(builder, loc, isAny, left);
        },
        [&](OpBuilder &builder, Location, ValueRange left) {
          Value one = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
          Value less = arith::SubIOp::create(builder, loc, left[0], one);
          Value rest = arith::AndIOp::create(builder, loc, left[0], less);
          scf::YieldOp::create(builder, loc, rest);
        });
    rewriter.setInsertionPointToStart(loop.getAfterBody());
    Value lowest =
        math::CountTrailingZerosOp::create(rewriter, loc, loop.getAfterArguments().front());
    body(arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(), lowest));
  }

  RewriterBase &rewriter;
  Location loc;
  gpu::GPUFuncOp kernel;
  const RowLoop &rows;
  Value block;
};
} // namespace

//===----------------------------------------------------------------------===//
// Threads of a block
//===----------------------------------------------------------------------===//

static void distributeInBlock(RewriterBase &rewriter, gpu::GPUFuncOp kernel, int64_t numThreads) {
  Location loc = kernel.getLoc();
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread,
                                        arith::ConstantIndexOp::create(rewriter, loc, 0));
  SmallVector<Operation *> writers;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<LinalgOp, memref::StoreOp>(op))
      return WalkResult::advance();
    writers.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : writers) {
    rewriter.setInsertionPoint(op);
    gpu::BarrierOp::create(rewriter, loc);
    rewriter.setInsertionPointAfter(op);
    gpu::BarrierOp::create(rewriter, loc);
    if (auto structured = dyn_cast<LinalgOp>(op)) {
      FailureOr<linalg::GenericOp> arranged = arrangeLoops(rewriter, structured);
      assert(succeeded(arranged) && "expected an operation on buffers");
      distributeInTurn(rewriter, *arranged, thread, numThreads);
      continue;
    }
    rewriter.setInsertionPoint(op);
    auto branch = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
    rewriter.moveOpBefore(op, branch.thenYield());
  }
}

KernelGeometry mlir::remat::distributeLoop(RewriterBase &rewriter, gpu::GPUFuncOp kernel) {
  KernelGeometry geometry = {1, kBlockThreads};
  if (std::optional<RowLoop> rows = matchRowLoop(kernel)) {
    geometry = rows->geometry;
    RowDistributor(rewriter, kernel, *rows).run();
  }
  // Threads read what others have written before a barrier: LLVM takes memory that has no alias
  // for memory that nobody else writes.
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    kernel.removeArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName());
  distributeInBlock(rewriter, kernel, geometry.threads);
  return geometry;
}
