//===- Inline.cpp - Bodies in place of calls --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Pipelines/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATINLINEPASS
#include "Remat/Pipelines/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct InlinePass : public remat::impl::RematInlinePassBase<InlinePass> {
  void runOnOperation() override {
    WalkResult unknown = getOperation().walk([](Operation *op) {
      bool hasUnknownRegion = !op->isRegistered() && op->getNumRegions() != 0;
      return hasUnknownRegion ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (unknown.wasInterrupted())
      return;
    OpPassManager passes(ModuleOp::getOperationName());
    passes.addPass(createInlinerPass());
    passes.addPass(createSymbolDCEPass());
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};
} // namespace
