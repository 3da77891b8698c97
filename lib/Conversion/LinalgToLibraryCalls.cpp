//===- LinalgToLibraryCalls.cpp - Products and convolutions by a library ----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATLINALGTOLIBRARYCALLSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using linalg::LinalgOp;

static void convert(LinalgOp op, const LibraryCall &call) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value workspace;
  if (call.workspaceBytes > 0)
    workspace = memref::AllocOp::create(
        builder, loc, MemRefType::get({call.workspaceBytes}, builder.getI8Type()));
  LibraryCallOp::create(builder, loc, call.function, call.shape, op.getDpsInputs(),
                        op.getDpsInits().front(), workspace);
  op->erase();
}

void mlir::remat::convertToLibraryCalls(Operation *root, Libraries libraries) {
  SmallVector<LinalgOp> operations;
  root->walk([&](LinalgOp op) {
    // They have no address on a GPU.
    if (libraries != Libraries::CPU && llvm::any_of(op->getOperands(), isConstantBuffer))
      return;
    // The library writes its output while it still reads its inputs.
    if (op.hasPureBufferSemantics() &&
        !llvm::is_contained(op.getDpsInputs(), op.getDpsInits().front()))
      operations.push_back(op);
  });
  for (LinalgOp op : operations)
    if (std::optional<LibraryCall> call = matchLibraryCall(op, libraries))
      convert(op, *call);
}

namespace {
struct LinalgToLibraryCallsPass
    : public remat::impl::RematLinalgToLibraryCallsPassBase<LinalgToLibraryCallsPass> {
  using RematLinalgToLibraryCallsPassBase::RematLinalgToLibraryCallsPassBase;

  void runOnOperation() override { convertToLibraryCalls(getOperation(), libraries); }
};
} // namespace
