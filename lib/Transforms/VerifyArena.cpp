//===- VerifyArena.cpp - Nothing but planned memory -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/TypeSize.h"
#include "Remat/Transforms/Arena.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::remat;

namespace {
class ArenaVerifier {
public:
  explicit ArenaVerifier(func::FuncOp function)
      : function(function), views(function), layout(DataLayout::closest(function)) {}

  LogicalResult run() {
    auto alignmentAttr =
        function->getAttrOfType<IntegerAttr>(RematDialect::getArenaAlignmentAttrName());
    unsigned last = function.getNumArguments();
    if (!alignmentAttr || last == 0 ||
        !function.getArgAttr(last - 1, RematDialect::getArenaAttrName()))
      return function.emitError("'") << function.getSymName() << "' has no planned arena";
    alignment = alignmentAttr.getInt();
    arena = function.getArgument(last - 1);
    WalkResult result = function->walk([&](Operation *op) {
      return op == function.getOperation() || succeeded(checkOperation(op))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult checkOperation(Operation *op) {
    bool makesMemRef = llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
    if (makesMemRef &&
        !isa<ViewLikeOpInterface, RegionBranchOpInterface, memref::GetGlobalOp, arith::SelectOp>(
            op))
      return op->emitError("'") << op->getName() << "' makes a buffer outside of the arena";
    if (auto view = dyn_cast<memref::ViewOp>(op); view && failed(checkView(view)))
      return failure();
    if (!isa<memref::ViewOp, CallOpInterface>(op) && llvm::is_contained(op->getOperands(), arena))
      return op->emitError("'") << op->getName() << "' uses the arena itself";
    return checkWrites(op);
  }

  LogicalResult checkView(memref::ViewOp view) {
    std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
    std::optional<int64_t> bytes = getStorageBytes(view.getType(), layout);
    auto source = cast<MemRefType>(view.getSource().getType());
    if (!shift || !bytes || !source.hasStaticShape())
      return view.emitError("a view without a fixed place");
    if (*shift < 0 || *bytes > source.getNumElements() - *shift)
      return view.emitError("a view of [")
             << *shift << ", " << *shift + *bytes << ") in a buffer of " << source.getNumElements()
             << " bytes";
    if (view.getSource() == arena && *shift % alignment != 0)
      return view.emitError("a view at ")
             << *shift << ", which is no multiple of the alignment of " << alignment << " bytes";
    return success();
  }

  /// Whether a buffer must not be written to.
  bool isReadOnly(Value root) {
    if (auto argument = dyn_cast<BlockArgument>(root);
        argument && argument.getOwner() == &function.getBody().front())
      return root != arena &&
             !function.getArgAttr(argument.getArgNumber(), RematDialect::getDonatedAttrName()) &&
             !function.getArgAttr(argument.getArgNumber(), RematDialect::getResultAttrName()) &&
             function.isPublic();
    return root.getDefiningOp<memref::GetGlobalOp>() != nullptr;
  }

  LogicalResult checkWrites(Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects)
      return success();
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    for (const MemoryEffects::EffectInstance &instance : instances) {
      Value value = instance.getValue();
      if (!isa<MemoryEffects::Write>(instance.getEffect()) || !value ||
          !isa<BaseMemRefType>(value.getType()))
        continue;
      for (Value root : views.resolveReverse(value))
        if (isReadOnly(root))
          return op->emitError("'") << op->getName() << "' writes to memory that is read only";
    }
    return success();
  }

  func::FuncOp function;
  BufferViewFlowAnalysis views;
  DataLayout layout;
  Value arena;
  int64_t alignment = 1;
};
} // namespace

LogicalResult mlir::remat::verifyArena(func::FuncOp function) {
  return ArenaVerifier(function).run();
}
