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
    if (!type || type.getRank() < 2 || !type.hasStaticShape() || type.getNumElements() != 0 ||
        !type.getLayout().isIdentity())
      continue;
    auto flat = MemRefType::get({0}, type.getElementType(), AffineMap(), type.getMemorySpace());
    argument.setType(flat);
    SmallVector<ReassociationIndices> all{
        llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()))};
    auto shaped = memref::ExpandShapeOp::create(builder, argument.getLoc(), type, argument, all);
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
