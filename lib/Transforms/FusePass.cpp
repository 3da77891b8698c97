//===- FusePass.cpp - Put operations together, one for each kernel ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Transforms/Fuse.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATFUSEPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct FusePass : public remat::impl::RematFusePassBase<FusePass> {
  using RematFusePassBase::RematFusePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    RematFusePassBase::getDependentDialects(registry);
    registerAllExternalModels(registry);
  }

  void runOnOperation() override {
    FailureOr<ModelTable> table = loadModels(models, getOperation().getLoc());
    if (failed(table) || failed(fuse(getOperation(), *table)))
      signalPassFailure();
  }
};
} // namespace
