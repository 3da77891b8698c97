//===- VerifyArenaPass.cpp - Check planned memory ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Arena.h"
#include "Remat/Transforms/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATVERIFYARENAPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct VerifyArenaPass : public remat::impl::RematVerifyArenaPassBase<VerifyArenaPass> {
  using RematVerifyArenaPassBase::RematVerifyArenaPassBase;

  void runOnOperation() override {
    bool allHold = true;
    for (auto function : getOperation().getOps<func::FuncOp>())
      allHold &= function.isExternal() || succeeded(verifyArena(function));
    if (!allHold)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
