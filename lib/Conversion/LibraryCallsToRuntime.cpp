//===- LibraryCallsToRuntime.cpp - Functions of the runtime library ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceFunctions.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Dialect/IR/RematDialect.h"

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
  explicit CallConverter(ModuleOp module) : module(module), symbols(module) {}

  void convert(LibraryCallOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    memref::GlobalOp global = getShape(op.getShapeAttr());
    Value shape = memref::GetGlobalOp::create(builder, loc, global.getType(), global.getSymName());
    SmallVector<Value> arguments{getAddress(builder, loc, shape)};
    for (Value input : op.getInputs())
      arguments.push_back(getAddress(builder, loc, input));
    arguments.push_back(getAddress(builder, loc, op.getOutput()));
    Value workspace = op.getWorkspace();
    int64_t bytes = workspace ? cast<MemRefType>(workspace.getType()).getNumElements() : 0;
    Value count = arith::ConstantIndexOp::create(builder, loc, bytes);
    // Nothing to write to: address 0.
    arguments.push_back(workspace ? getAddress(builder, loc, workspace) : count);
    arguments.push_back(count);
    declare(op.getFunction(), ValueRange(arguments).getTypes());
    func::CallOp::create(builder, loc, op.getFunction(), TypeRange(), arguments);
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

  /// The constant that holds the numbers of `shape`, one for all that are equal.
  memref::GlobalOp getShape(DenseI64ArrayAttr shape) {
    memref::GlobalOp &global = shapes[shape];
    if (global)
      return global;
    OpBuilder builder(module.getContext());
    auto type = RankedTensorType::get({shape.size()}, builder.getI64Type());
    global = memref::GlobalOp::create(
        builder, module.getLoc(), "remat_shape", builder.getStringAttr("private"),
        MemRefType::get(type.getShape(), type.getElementType()),
        DenseElementsAttr::get(type, shape.asArrayRef()), /*constant=*/true, /*alignment=*/{});
    symbols.insert(global);
    return global;
  }

  void declare(StringRef name, TypeRange types) {
    if (symbols.lookup(name))
      return;
    OpBuilder builder(module.getContext());
    auto function = func::FuncOp::create(module.getLoc(), name, builder.getFunctionType(types, {}));
    function.setPrivate();
    symbols.insert(function);
  }

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Attribute, memref::GlobalOp> shapes;
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
