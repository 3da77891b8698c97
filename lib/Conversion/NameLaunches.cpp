//===- NameLaunches.cpp - What launches and library calls are from ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"
#include "Remat/Analysis/MemoryProfile.h"
#include "Remat/Conversion/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATNAMELAUNCHESPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
class LaunchNamer {
public:
  explicit LaunchNamer(ModuleOp module) : module(module), symbols(module), functions(module) {}

  void name(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    memref::GlobalOp global = getText(formatLocation(loc));
    Value memref = memref::GetGlobalOp::create(builder, loc, global.getType(), global.getSymName());
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
    functions.call(builder, loc, "rematDeviceBeginOperation", address);
  }

private:
  /// The constant that holds a text, and a 0 behind it.
  memref::GlobalOp getText(StringRef text) {
    memref::GlobalOp &global = texts[text];
    if (global)
      return global;
    OpBuilder builder(module.getContext());
    SmallVector<int8_t> bytes(text.begin(), text.end());
    bytes.push_back(0);
    auto type = RankedTensorType::get({int64_t(bytes.size())}, builder.getI8Type());
    global = memref::GlobalOp::create(
        builder, module.getLoc(), "remat_operation", builder.getStringAttr("private"),
        MemRefType::get(type.getShape(), type.getElementType()),
        DenseElementsAttr::get(type, ArrayRef(bytes)), /*constant=*/true, /*alignment=*/{});
    symbols.insert(global);
    return global;
  }

  ModuleOp module;
  SymbolTable symbols;
  DeviceFunctions functions;
  llvm::StringMap<memref::GlobalOp> texts;
};

struct NameLaunchesPass : public remat::impl::RematNameLaunchesPassBase<NameLaunchesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> operations;
    module.walk([&](Operation *op) {
      auto call = dyn_cast<func::CallOp>(op);
      if (isa<gpu::LaunchFuncOp>(op) || (call && call.getCallee().starts_with(kDevicePrefix)))
        operations.push_back(op);
    });
    LaunchNamer namer(module);
    for (Operation *op : operations)
      namer.name(op);
  }
};
} // namespace
