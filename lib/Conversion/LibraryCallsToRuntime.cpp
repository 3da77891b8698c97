//===- LibraryCallsToRuntime.cpp - Functions of the runtime library ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "RuntimeFunctions.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATLIBRARYCALLSTORUNTIMEPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

/// Whether compiled code calls a function of this name that the program has not defined.
static bool isRuntimeName(StringRef name) {
  return isLibraryFunction(name) || name == "rematRecordTime" || name.starts_with("mgpu") ||
         name.starts_with(kDevicePrefix);
}

namespace {
class CallConverter {
public:
  explicit CallConverter(ModuleOp module) : functions(module) {}

  void convert(LibraryCallOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    DenseI64ArrayAttr shape = op.getShapeAttr();
    auto type = RankedTensorType::get({shape.size()}, builder.getI64Type());
    SmallVector<Value> arguments{functions.getAddress(
        builder, loc, "remat_shape", DenseElementsAttr::get(type, shape.asArrayRef()))};
    for (Value input : op.getInputs())
      arguments.push_back(getAddress(builder, loc, input));
    arguments.push_back(getAddress(builder, loc, op.getOutput()));
    Value workspace = op.getWorkspace();
    int64_t bytes = workspace ? cast<MemRefType>(workspace.getType()).getNumElements() : 0;
    Value count = arith::ConstantIndexOp::create(builder, loc, bytes);
    // Nothing to write to: address 0.
    arguments.push_back(workspace ? getAddress(builder, loc, workspace) : count);
    arguments.push_back(count);
    functions.call(builder, loc, op.getFunction(), arguments);
    op.erase();
  }

private:
  /// Where the first element of a memref is.
  static Value getAddress(OpBuilder &builder, Location loc, Value memref) {
    auto type = cast<MemRefType>(memref.getType());
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
    auto [strides, offset] = type.getStridesAndOffset();
    if (offset == 0)
      return address;
    Value shift = ShapedType::isDynamic(offset)
                      ? memref::ExtractStridedMetadataOp::create(builder, loc, memref).getOffset()
                      : arith::ConstantIndexOp::create(builder, loc, offset).getResult();
    Value elementBytes = arith::ConstantIndexOp::create(
        builder, loc, llvm::divideCeil(type.getElementTypeBitWidth(), 8));
    return arith::AddIOp::create(builder, loc, address,
                                 arith::MulIOp::create(builder, loc, shift, elementBytes));
  }

  RuntimeFunctions functions;
};

struct LibraryCallsToRuntimePass
    : public remat::impl::RematLibraryCallsToRuntimePassBase<LibraryCallsToRuntimePass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && isRuntimeName(function.getName())) {
        emitError(function.getLoc(), "'")
            << function.getName() << "' is the name of a function of the runtime library";
        return signalPassFailure();
      }
    SmallVector<LibraryCallOp> calls;
    getOperation().walk([&](LibraryCallOp op) { calls.push_back(op); });
    CallConverter converter(getOperation());
    for (LibraryCallOp op : calls)
      converter.convert(op);
  }
};
} // namespace
