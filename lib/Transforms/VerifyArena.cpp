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
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
    if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op); cast && failed(checkCast(cast)))
      return failure();
    if (!saysWhatItTouches(op))
      return op->emitError("'") << op->getName() << "' may use buffers in a way that is not known";
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

  /// The buffer that a memref shows a part of.
  static Value getBuffer(Value value) {
    while (auto view = value.getDefiningOp<ViewLikeOpInterface>()) {
      if (isa<memref::ViewOp>(view))
        break;
      value = view.getViewSource();
    }
    return value;
  }

  /// Other views are within their source; this one may show any place of the whole buffer.
  static LogicalResult checkCast(memref::ReinterpretCastOp cast) {
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    MemRefType type = cast.getType();
    auto whole = dyn_cast<MemRefType>(getBuffer(cast.getSource()).getType());
    if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset) || llvm::any_of(strides, ShapedType::isDynamic) || !whole ||
        !whole.hasStaticShape() || !whole.getLayout().isIdentity())
      return cast.emitError("a view without a fixed place");
    int64_t first = offset, last = offset;
    for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
      (stride < 0 ? first : last) += (std::max<int64_t>(size, 1) - 1) * stride;
    if (type.getNumElements() != 0 && (first < 0 || last >= whole.getNumElements()))
      return cast.emitError("a view of elements ")
             << first << " to " << last << " of a buffer of " << whole.getNumElements();
    return success();
  }

  static bool isRuntimeFunction(StringRef name) { return name.starts_with("remat"); }

  /// Whether the effects of an operation on buffers are known. Addresses are for the runtime
  /// library alone.
  static bool saysWhatItTouches(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      return (callee && !callee.isExternal()) || isRuntimeFunction(call.getCallee()) ||
             llvm::none_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
    }
    if (isa<memref::ExtractAlignedPointerAsIndexOp>(op))
      return llvm::all_of(op->getUsers(), [](Operation *user) {
        auto call = dyn_cast<func::CallOp>(user);
        return call && isRuntimeFunction(call.getCallee());
      });
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<LLVM::LLVMPointerType>))
      return false;
    return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>) ||
           isa<MemoryEffectOpInterface, RegionBranchOpInterface, RegionBranchTerminatorOpInterface,
               ViewLikeOpInterface>(op) ||
           op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
           op->hasTrait<OpTrait::ReturnLike>() || isMemoryEffectFree(op);
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
