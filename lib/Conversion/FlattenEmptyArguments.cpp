//===- FlattenEmptyArguments.cpp - Bare pointers to no elements -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATFLATTENEMPTYARGUMENTSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;

static void flattenEmptyArguments(func::FuncOp function) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (!type || type.getRank() < 2 || !type.hasStaticShape() || type.getNumElements() != 0 ||
        failed(type.getStridesAndOffset(strides, offset)))
      continue;
    auto flat = MemRefType::get({0}, type.getElementType(), AffineMap(), type.getMemorySpace());
    argument.setType(flat);
    auto shaped = memref::ReinterpretCastOp::create(builder, argument.getLoc(), type, argument,
                                                    offset, type.getShape(), strides);
    argument.replaceAllUsesExcept(shaped, shaped);
  }
  function.setFunctionType(
      builder.getFunctionType(function.front().getArgumentTypes(), function.getResultTypes()));
}

namespace {
struct FlattenEmptyArgumentsPass
    : public remat::impl::RematFlattenEmptyArgumentsPassBase<FlattenEmptyArgumentsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        flattenEmptyArguments(function);
  }
};
} // namespace
