//===- HostAccesses.cpp - Numbers that the host reads from a device ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "Remat/Conversion/Passes.h"
#include "RuntimeFunctions.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATHOSTACCESSESTORUNTIMEPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
class AccessConverter {
public:
  explicit AccessConverter(ModuleOp module) : builder(module.getContext()), functions(module) {}

  LogicalResult convert(memref::LoadOp op) {
    FailureOr<Place> place = getPlace(op, op.getMemRefType(), op.getMemRef(), op.getIndices());
    if (failed(place))
      return failure();
    Value bits = functions
                     .call(builder, op.getLoc(), "rematDeviceLoad", {place->address, place->bytes},
                           builder.getI64Type())
                     .getResult(0);
    op.replaceAllUsesWith(fromBits(op.getLoc(), bits, op.getType()));
    op.erase();
    return success();
  }

  LogicalResult convert(memref::StoreOp op) {
    FailureOr<Place> place = getPlace(op, op.getMemRefType(), op.getMemRef(), op.getIndices());
    if (failed(place))
      return failure();
    Value bits = toBits(op.getLoc(), op.getValueToStore());
    functions.call(builder, op.getLoc(), "rematDeviceStore", {place->address, place->bytes, bits});
    op.erase();
    return success();
  }

private:
  /// Both are of type index.
  struct Place {
    Value address, bytes;
  };

  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  /// Where an element is. Emits an error where it is none that fits into a register.
  FailureOr<Place> getPlace(Operation *op, MemRefType type, Value memref, ValueRange indices) {
    Type element = type.getElementType();
    bool isNumber = element.isIndex() ||
                    (element.isIntOrFloat() &&
                     llvm::is_contained({1u, 8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth()));
    if (!isNumber)
      return op->emitError("'") << op->getName() << "' of " << element
                                << " is left to the host, which reads and writes numbers of 1, "
                                   "8, 16, 32 or 64 bits on a GPU";
    builder.setInsertionPoint(op);
    Location loc = op->getLoc();
    int64_t bytes = llvm::divideCeil(getBits(element), 8);
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    Value position = metadata.getOffset();
    for (auto [index, stride] : llvm::zip_equal(indices, metadata.getStrides())) {
      Value distance = arith::MulIOp::create(builder, loc, index, stride);
      position = arith::AddIOp::create(builder, loc, position, distance);
    }
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
    Value size = constant(loc, bytes);
    Value distance = arith::MulIOp::create(builder, loc, position, size);
    return Place{arith::AddIOp::create(builder, loc, base, distance), size};
  }

  static unsigned getBits(Type element) {
    return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  }

  Value fromBits(Location loc, Value bits, Type type) {
    if (type.isIndex())
      return arith::IndexCastOp::create(builder, loc, type, bits);
    Type integer = builder.getIntegerType(getBits(type));
    Value number = bits;
    if (integer != bits.getType())
      number = arith::TruncIOp::create(builder, loc, integer, bits);
    return type == integer ? number : arith::BitcastOp::create(builder, loc, type, number);
  }

  Value toBits(Location loc, Value number) {
    Type type = number.getType();
    if (type.isIndex())
      return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
    Type integer = builder.getIntegerType(getBits(type));
    if (type != integer)
      number = arith::BitcastOp::create(builder, loc, integer, number);
    return integer == builder.getI64Type()
               ? number
               : arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number).getResult();
  }

  OpBuilder builder;
  RuntimeFunctions functions;
};

struct HostAccessesToRuntimePass
    : public remat::impl::RematHostAccessesToRuntimePassBase<HostAccessesToRuntimePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> operations;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      auto load = dyn_cast<memref::LoadOp>(op);
      if ((load && !isConstantBuffer(load.getMemRef())) || isa<memref::StoreOp>(op))
        operations.push_back(op);
      return WalkResult::advance();
    });
    AccessConverter converter(module);
    for (Operation *op : operations) {
      auto load = dyn_cast<memref::LoadOp>(op);
      if (failed(load ? converter.convert(load) : converter.convert(cast<memref::StoreOp>(op))))
        return signalPassFailure();
    }
  }
};
} // namespace
