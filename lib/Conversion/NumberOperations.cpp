//===- NumberOperations.cpp - Remember which operation code is from ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperationNumber.h"
#include "Remat/Conversion/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATNUMBEROPERATIONSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;

namespace {
struct NumberOperationsPass
    : public remat::impl::RematNumberOperationsPassBase<NumberOperationsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!remat::isTimed(function))
        continue;
      for (Block &block : function.getBody())
        for (auto [number, op] : llvm::enumerate(block))
          op.walk([number = int64_t(number)](Operation *nested) {
            nested->setLoc(remat::addOperationNumber(nested->getLoc(), number));
          });
    }
  }
};
} // namespace
