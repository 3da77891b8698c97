//===- OutlineKernels.cpp - One function for each kernel --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "Remat/Conversion/Passes.h"
#include "StaticLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATOUTLINEKERNELSPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using linalg::LinalgOp;

namespace {
class KernelOutliner {
public:
  explicit KernelOutliner(ModuleOp module) : module(module), symbols(module) {}

  /// Makes one kernel of operations of which each comes right behind the one before it.
  void outline(ArrayRef<Operation *> operations) {
    llvm::SetVector<Value> captured, arguments;
    for (Operation *op : operations) {
      captured.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), captured);
    }
    llvm::SetVector<Operation *> included;
    for (Value value : captured)
      include(value, arguments, included);
    func::FuncOp kernel = makeKernel(operations, arguments.getArrayRef(), included.getArrayRef());
    Operation *last = operations.back();
    OpBuilder builder(last);
    func::CallOp::create(builder, last->getLoc(), kernel, arguments.getArrayRef());
    for (Operation *op : operations)
      op->erase();
  }

private:
  /// Constants are a part of the kernel, and so are views at places that are not known
  /// before: they cannot be passed as bare pointers. (And a GPU has no pointers to constants
  /// of the host.)
  void include(Value value, llvm::SetVector<Value> &arguments,
               llvm::SetVector<Operation *> &included) {
    Operation *producer = value.getDefiningOp();
    if (!producer || !isPart(value)) {
      arguments.insert(value);
      return;
    }
    for (Value operand : producer->getOperands())
      include(operand, arguments, included);
    included.insert(producer);
  }

  static bool isPart(Value value) {
    Operation *producer = value.getDefiningOp();
    if (producer->hasTrait<OpTrait::ConstantLike>() || isa<memref::GetGlobalOp>(producer))
      return true;
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && isa<ViewLikeOpInterface>(producer) &&
           (!hasStaticLayout(type) || isConstantBuffer(value));
  }

  /// The function of the kernel: one for all that are equal.
  func::FuncOp makeKernel(ArrayRef<Operation *> operations, ArrayRef<Value> arguments,
                          ArrayRef<Operation *> included) {
    OpBuilder builder(module.getContext());
    Location unknown = builder.getUnknownLoc();
    auto type = builder.getFunctionType(ValueRange(arguments).getTypes(), {});
    func::FuncOp kernel = func::FuncOp::create(unknown, "kernel", type);
    kernel.setPrivate();
    // Small functions are what makes compilation fast.
    kernel->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    mapping.map(arguments, body->getArguments());
    for (Operation *part : included)
      builder.clone(*part, mapping);
    for (Operation *op : operations)
      builder.clone(*op, mapping);
    func::ReturnOp::create(builder, unknown);
    if (areDistinct(arguments))
      for (auto [index, argument] : llvm::enumerate(arguments))
        if (isa<MemRefType>(argument.getType()))
          kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());

    std::string text;
    llvm::raw_string_ostream os(text);
    kernel->print(os, OpPrintingFlags().useLocalScope().enableDebugInfo(false));
    auto [known, isNew] = kernels.try_emplace(text, kernel);
    if (!isNew) {
      kernel->erase();
      return known->second;
    }
    kernel.setName((operations.back()->getName().stripDialect() + "_kernel").str());
    symbols.insert(kernel);
    return kernel;
  }

  /// Whether no two of the memrefs are parts of one buffer.
  static bool areDistinct(ArrayRef<Value> arguments) {
    llvm::SmallPtrSet<Value, 8> buffers;
    return llvm::all_of(arguments, [&](Value argument) {
      return !isa<MemRefType>(argument.getType()) || buffers.insert(getBuffer(argument)).second;
    });
  }

  ModuleOp module;
  SymbolTable symbols;
  /// By text.
  llvm::StringMap<func::FuncOp> kernels;
};

/// Whether a loop or branch reads or writes memory itself, and calls nobody.
static bool accessesMemory(Operation *op) {
  if (!isa_and_nonnull<scf::SCFDialect>(op->getDialect()) || op->getNumResults() != 0)
    return false;
  bool accesses = false;
  WalkResult result = op->walk([&](Operation *nested) {
    if (isa<CallOpInterface, LibraryCallOp>(nested))
      return WalkResult::interrupt();
    // The body of a structured operation is the code of one element.
    if (isa<LinalgOp>(nested->getParentOp()))
      return WalkResult::skip();
    accesses |= isa<memref::LoadOp, memref::StoreOp>(nested);
    return WalkResult::advance();
  });
  return accesses && !result.wasInterrupted();
}

/// The fills right in front of a reduction that say what its results begin with, which nothing
/// else in it reads, one for each; and the reduction.
static SmallVector<Operation *> addFills(LinalgOp op) {
  SmallVector<Operation *> operations = {op};
  if (op.getNumReductionLoops() == 0 || llvm::is_contained(op.getStaticLoopRanges(), 0))
    return operations;
  llvm::SetVector<Value> inside;
  getUsedValuesDefinedAbove(op->getRegions(), inside);
  auto isStart = [&](linalg::FillOp fill) {
    Value filled = fill.getDpsInits().front();
    auto isSame = [&](Value value) { return getBuffer(value) == getBuffer(filled); };
    return llvm::is_contained(op.getDpsInits(), filled) &&
           llvm::count_if(op->getOperands(), isSame) == 1 && llvm::none_of(inside, isSame);
  };
  llvm::SmallPtrSet<Value, 2> filled;
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (fill && isStart(fill) && filled.insert(fill.getDpsInits().front()).second)
      operations.insert(operations.begin(), fill);
    else if (!isPure(before))
      break;
  }
  return operations;
}

struct OutlineKernelsPass : public remat::impl::RematOutlineKernelsPassBase<OutlineKernelsPass> {
  using RematOutlineKernelsPassBase::RematOutlineKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<memref::CopyOp> copies;
    module->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    }
    SmallVector<Operation *> operations;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto structured = dyn_cast<LinalgOp>(op);
      bool isKernel =
          structured && structured.hasPureBufferSemantics() && structured->getNumResults() == 0;
      if (!isKernel && !(loops && accessesMemory(op)))
        return WalkResult::advance();
      operations.push_back(op);
      return WalkResult::skip();
    });
    SmallVector<SmallVector<Operation *>> kernels;
    llvm::SmallPtrSet<Operation *, 16> starts;
    for (Operation *op : operations) {
      auto structured = dyn_cast<LinalgOp>(op);
      kernels.push_back(fills && structured ? addFills(structured) : SmallVector<Operation *>{op});
      starts.insert(kernels.back().begin(), std::prev(kernels.back().end()));
    }
    KernelOutliner outliner(module);
    for (ArrayRef<Operation *> kernel : kernels)
      if (!starts.contains(kernel.front()) || kernel.size() > 1)
        outliner.outline(kernel);
  }
};
} // namespace
