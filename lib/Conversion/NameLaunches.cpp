//===- NameLaunches.cpp - What launches and library calls are from ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/Conversion/Passes.h"
#include "RuntimeFunctions.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATNAMELAUNCHESPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// A text, and a 0 behind it.
static DenseElementsAttr getText(Builder &builder, StringRef text) {
  SmallVector<int8_t> bytes(text.begin(), text.end());
  bytes.push_back(0);
  auto type = RankedTensorType::get({int64_t(bytes.size())}, builder.getI8Type());
  return DenseElementsAttr::get(type, ArrayRef(bytes));
}

namespace {
struct NameLaunchesPass : public remat::impl::RematNameLaunchesPassBase<NameLaunchesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> operations;
    module.walk([&](Operation *op) {
      auto call = dyn_cast<func::CallOp>(op);
      if (isa<gpu::LaunchFuncOp>(op) || (call && call.getCallee().starts_with(kDevicePrefix)))
        operations.push_back(op);
    });
    RuntimeFunctions functions(module);
    for (Operation *op : operations) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      Value text = functions.getAddress(builder, loc, "remat_operation",
                                        getText(builder, formatLocation(loc)));
      functions.call(builder, loc, "rematDeviceBeginOperation", text);
    }
  }
};
} // namespace
