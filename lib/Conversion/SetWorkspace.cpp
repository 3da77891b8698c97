//===- SetWorkspace.cpp - Workspace of library calls to come ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATSETWORKSPACEPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

void mlir::remat::setWorkspace(Operation *root, Libraries libraries) {
  Builder builder(root->getContext());
  root->walk([&](linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics())
      return;
    std::optional<LibraryCall> call = matchLibraryCall(op, libraries);
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
