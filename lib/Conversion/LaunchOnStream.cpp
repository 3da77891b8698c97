//===- LaunchOnStream.cpp - Launches that nobody waits for ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/Passes.h"
#include "RuntimeFunctions.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATLAUNCHONSTREAMPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// Lets all launches of a function be on one stream, which the token names.
static void launchOnStream(func::FuncOp function) {
  SmallVector<gpu::LaunchFuncOp> launches;
  function.walk([&](gpu::LaunchFuncOp op) { launches.push_back(op); });
  if (launches.empty())
    return;
  IRRewriter rewriter(function.getContext());
  rewriter.setInsertionPointToStart(&function.front());
  Type tokenType = gpu::AsyncTokenType::get(function.getContext());
  Value stream =
      gpu::WaitOp::create(rewriter, function.getLoc(), tokenType, ValueRange()).getAsyncToken();
  for (gpu::LaunchFuncOp op : launches) {
    rewriter.setInsertionPoint(op);
    gpu::LaunchFuncOp::create(rewriter, op.getLoc(), op.getKernel(), op.getGridSizeOperandValues(),
                              op.getBlockSizeOperandValues(), op.getDynamicSharedMemorySize(),
                              op.getKernelOperands(), tokenType, stream);
    rewriter.eraseOp(op);
  }
}

namespace {
struct LaunchOnStreamPass : public remat::impl::RematLaunchOnStreamPassBase<LaunchOnStreamPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    RuntimeFunctions functions(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      launchOnStream(function);
      // Who calls it from elsewhere expects results.
      if (!function.isPublic())
        continue;
      function.walk([&](func::ReturnOp op) {
        OpBuilder builder(op);
        functions.call(builder, op.getLoc(), "rematDeviceWait", {});
      });
    }
  }
};
} // namespace
