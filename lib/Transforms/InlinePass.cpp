//===- InlinePass.cpp - Bodies in place of calls of private functions -------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Inline.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATINLINEPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct InlinePass : public remat::impl::RematInlinePassBase<InlinePass> {
  void runOnOperation() override {
    WalkResult unregistered = getOperation().walk([](Operation *op) {
      return op->isRegistered() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (unregistered.wasInterrupted()) {
      eraseUnusedFunctions(getOperation());
      inlineCalls(getOperation());
      return;
    }
    OpPassManager passes(ModuleOp::getOperationName());
    passes.addPass(createInlinerPass());
    passes.addPass(createSymbolDCEPass());
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace
