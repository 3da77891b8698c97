//===- TimeOperations.cpp - Record when operations begin --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of one operation of the tensors may be several operations on buffers, here and
// there. All code behind a call of the runtime library, up to the next one, belongs to one of
// them.
//
//===----------------------------------------------------------------------===//

#include "OperationNumber.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATTIMEOPERATIONSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

static constexpr StringLiteral kRecordFunction = "rematRecordTime";

/// Whether an operation takes time that is worth a call: views, constants and arithmetic on
/// scalars do not.
static bool takesTime(Operation &op) { return op.getNumRegions() != 0 || !isMemoryEffectFree(&op); }

static void timeOperations(func::FuncOp function) {
  Block &body = function.getBody().front();
  SmallVector<int64_t> operations;
  SmallVector<Operation *> places;
  for (Operation &op : body.without_terminator()) {
    std::optional<int64_t> number = getOperationNumber(op.getLoc());
    if (!takesTime(op) || !number || (!operations.empty() && operations.back() == *number))
      continue;
    operations.push_back(*number);
    places.push_back(&op);
  }
  places.push_back(body.getTerminator());

  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  auto type = MemRefType::get({static_cast<int64_t>(places.size())}, builder.getI64Type());
  auto marker = builder.getDictionaryAttr(
      builder.getNamedAttr(RematDialect::getTimesAttrName(), builder.getUnitAttr()));
  (void)function.insertArgument(function.getNumArguments(), type, marker, loc);
  function->setAttr(RematDialect::getTimedOperationsAttrName(),
                    builder.getDenseI64ArrayAttr(operations));
  builder.setInsertionPointToStart(&body);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, body.getArguments().back());
  for (auto [slot, place] : llvm::enumerate(places)) {
    builder.setInsertionPoint(place);
    Value index = arith::ConstantIndexOp::create(builder, loc, slot);
    func::CallOp::create(builder, loc, kRecordFunction, TypeRange(), ValueRange{address, index});
  }
}

namespace {
struct TimeOperationsPass : public remat::impl::RematTimeOperationsPassBase<TimeOperationsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (isTimed(function) && function.getBody().hasOneBlock())
        timeOperations(function);
    if (module.lookupSymbol(kRecordFunction))
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    Type index = builder.getIndexType();
    func::FuncOp::create(builder, module.getLoc(), kRecordFunction,
                         builder.getFunctionType({index, index}, {}))
        .setPrivate();
  }
};
} // namespace
