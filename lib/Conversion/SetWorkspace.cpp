//===- SetWorkspace.cpp - Workspace of library calls to come ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATSETWORKSPACEPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// Whether a value is a constant, or a part of one.
static bool isConstant(Value value) {
  Operation *producer = value.getDefiningOp();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp,
                         tensor::CastOp>(producer))
    producer = producer->getOperand(0).getDefiningOp();
  return producer && producer->hasTrait<OpTrait::ConstantLike>();
}

/// Lets an operation read copies of constants, which a kernel makes: those of the host have no
/// address on a GPU.
static void copyConstants(linalg::LinalgOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type || !isConstant(operand->get()))
      continue;
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    operand->set(linalg::CopyOp::create(builder, loc, operand->get(), empty).getResult(0));
  }
}

void mlir::remat::setWorkspace(Operation *root, Libraries libraries) {
  Builder builder(root->getContext());
  root->walk([&](linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics())
      return;
    std::optional<LibraryCall> call = matchLibraryCall(op, libraries);
    if (call && libraries != Libraries::CPU)
      copyConstants(op);
    if (call && call->workspaceBytes > 0)
      op->setAttr(RematDialect::getWorkspaceAttrName(),
                  builder.getI64IntegerAttr(call->workspaceBytes));
  });
}

namespace {
struct SetWorkspacePass : public remat::impl::RematSetWorkspacePassBase<SetWorkspacePass> {
  using RematSetWorkspacePassBase::RematSetWorkspacePassBase;

  void runOnOperation() override { setWorkspace(getOperation(), libraries); }
};
} // namespace
