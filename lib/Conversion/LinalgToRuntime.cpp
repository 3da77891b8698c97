//===- LinalgToRuntime.cpp - Matrix products by the runtime library ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Conversion/Passes.h"
#include "StaticLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATLINALGTORUNTIMEPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using linalg::LinalgOp;

namespace {
/// Which loop of a contraction is which dimension of a product; nothing: of size 1.
struct ProductLoops {
  std::optional<unsigned> batch[2], row, column, sum;
};

/// The product that a structured operation is, and the name of the function that computes it.
struct Product {
  ProductLoops loops;
  StringRef function;
};
} // namespace

/// The function of the runtime library for a type of elements.
static StringRef getFunctionName(Type element) {
  if (element.isF32())
    return "rematMatmulF32";
  if (element.isF64())
    return "rematMatmulF64";
  return {};
}

static bool isStatic(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.hasStaticShape() && remat::hasStaticLayout(type);
}

/// Whether the body multiplies and adds numbers of one type, without conversions.
static bool hasPlainBody(LinalgOp op) {
  return llvm::all_of(op.getBlock()->getOperations(), [&](Operation &nested) {
    return llvm::all_of(nested.getOperandTypes(),
                        [&](Type type) { return type == op.getBlock()->getArgument(0).getType(); });
  });
}

static std::optional<Product> matchProduct(LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op->getNumOperands() != 3 ||
      !linalg::isaContractionOpInterface(op) || !llvm::all_of(op->getOperands(), isStatic) ||
      !hasPlainBody(op))
    return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  StringRef function = getFunctionName(op.getBlock()->getArgument(0).getType());
  if (failed(dims) || function.empty() || dims->batch.size() > 2 || dims->m.size() > 1 ||
      dims->n.size() > 1 || dims->k.size() > 1)
    return std::nullopt;
  Product product{{}, function};
  for (auto [index, loop] : llvm::enumerate(dims->batch))
    product.loops.batch[index] = loop;
  auto first = [](ArrayRef<unsigned> loops) {
    return loops.empty() ? std::nullopt : std::optional<unsigned>(loops.front());
  };
  product.loops.row = first(dims->m);
  product.loops.column = first(dims->n);
  product.loops.sum = first(dims->k);
  return product;
}

/// What the runtime library takes for an operand: its address, and the strides of `loops`.
/// A dimension that the operand does not have has a stride of 0.
static void addMatrix(OpBuilder &builder, LinalgOp op, OpOperand &operand,
                      ArrayRef<std::optional<unsigned>> loops, SmallVectorImpl<Value> &arguments) {
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset);
  // The address of the buffer, to which the offset is still to be added.
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, operand.get());
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  Value shift = arith::ConstantIndexOp::create(builder, loc, offset * elementBytes);
  arguments.push_back(arith::AddIOp::create(builder, loc, address, shift));
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (std::optional<unsigned> loop : loops) {
    std::optional<unsigned> position;
    if (loop)
      position = map.getResultPosition(builder.getAffineDimExpr(*loop));
    arguments.push_back(
        arith::ConstantIndexOp::create(builder, loc, position ? strides[*position] : 0));
  }
}

/// The declaration of a function of the runtime library.
static void declare(ModuleOp module, StringRef name, TypeRange types) {
  if (module.lookupSymbol(name))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType(types, {}))
      .setPrivate();
}

static void callProduct(LinalgOp op, const Product &product) {
  OpBuilder builder(op);
  const ProductLoops &loops = product.loops;
  auto [batch0, batch1] = loops.batch;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<Value> arguments;
  for (std::optional<unsigned> loop : {batch0, batch1, loops.row, loops.column, loops.sum})
    arguments.push_back(
        arith::ConstantIndexOp::create(builder, op.getLoc(), loop ? ranges[*loop] : 1));
  addMatrix(builder, op, op->getOpOperand(0), {batch0, batch1, loops.row, loops.sum}, arguments);
  addMatrix(builder, op, op->getOpOperand(1), {batch0, batch1, loops.sum, loops.column}, arguments);
  addMatrix(builder, op, op->getOpOperand(2), {batch0, batch1, loops.row, loops.column}, arguments);
  declare(op->getParentOfType<ModuleOp>(), product.function, ValueRange(arguments).getTypes());
  func::CallOp::create(builder, op.getLoc(), product.function, TypeRange(), arguments);
  op->erase();
}

namespace {
struct LinalgToRuntimePass : public remat::impl::RematLinalgToRuntimePassBase<LinalgToRuntimePass> {
  void runOnOperation() override {
    SmallVector<LinalgOp> operations;
    getOperation()->walk([&](LinalgOp op) { operations.push_back(op); });
    for (LinalgOp op : operations)
      if (std::optional<Product> product = matchProduct(op))
        callProduct(op, *product);
  }
};
} // namespace
