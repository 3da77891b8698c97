//===- KernelsToGPU.cpp - Structured operations as kernels of a GPU ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelAccess.h"
#include "KernelLoops.h"
#include "KernelTraffic.h"
#include "Remat/Conversion/Passes.h"
#include "StaticLayout.h"
#include "ThreadBuilder.h"
#include "ThreadLayout.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATKERNELSTOGPUPASS
#include "Remat/Conversion/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using linalg::GenericOp;
using linalg::LinalgOp;

static constexpr StringLiteral kModuleName = "kernels";
/// Of constants in kernels, in bytes: that of the widest access.
static constexpr int64_t kConstantAlignment = 16;

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
class KernelConverter {
public:
  explicit KernelConverter(ModuleOp module) : module(module), rewriter(module.getContext()) {
    SymbolTable symbols(module);
    rewriter.setInsertionPointToEnd(module.getBody());
    kernels = gpu::GPUModuleOp::create(rewriter, module.getLoc(), kModuleName);
    symbols.insert(kernels);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), rewriter.getUnitAttr());
  }

  /// Makes a kernel of an outlined function, and launches of its calls.
  LogicalResult convert(func::FuncOp function, ArrayRef<func::CallOp> calls) {
    if (failed(checkSizes(function)))
      return failure();
    gpu::GPUFuncOp kernel = makeKernel(function);
    setAlignment(kernel, calls);
    auto operations = llvm::to_vector(kernel.getBody().getOps<LinalgOp>());
    KernelGeometry geometry = {1, kBlockThreads};
    if (operations.empty()) {
      geometry = distributeLoop(rewriter, kernel);
    } else if (llvm::is_contained(operations.back().getStaticLoopRanges(), 0)) {
      kernel.erase();
      kernel = nullptr;
    } else {
      SmallVector<Value> starts = takeFills(operations);
      geometry = distribute(rewriter, kernel, arrange(operations.back()), starts);
    }
    if (kernel)
      setGeometry(kernel, geometry);
    for (func::CallOp call : calls) {
      if (kernel)
        launch(call, kernel, geometry);
      call.erase();
    }
    function.erase();
    return success();
  }

private:
  /// Emits an error at an operation that no kernel can be made of.
  static LogicalResult checkSizes(func::FuncOp function) {
    bool isAny = !llvm::all_of(function.getArgumentTypes(), [](Type type) {
      auto memref = dyn_cast<MemRefType>(type);
      return !memref || hasStaticLayout(memref);
    });
    Operation *unknown = isAny ? &function.front().front() : nullptr;
    function.walk([&](LinalgOp op) {
      if (isAny || llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
        unknown = op;
    });
    if (!unknown)
      return success();
    return unknown->emitError("'") << unknown->getName()
                                   << "' has loops or operands of unknown sizes, which kernels "
                                      "of a GPU do not have";
  }

  gpu::GPUFuncOp makeKernel(func::FuncOp function) {
    rewriter.setInsertionPointToEnd(kernels.getBody());
    auto kernel = gpu::GPUFuncOp::create(rewriter, function.getLoc(), function.getName(),
                                         function.getFunctionType());
    kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), rewriter.getUnitAttr());
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      kernel.setArgAttrs(index, function.getArgAttrDict(index));
    IRMapping mapping;
    Block &body = kernel.getBody().front();
    mapping.map(function.getArguments(),
                body.getArguments().take_front(function.getNumArguments()));
    rewriter.setInsertionPointToEnd(&body);
    for (Operation &nested : function.front().without_terminator())
      rewriter.clone(nested, mapping);
    gpu::ReturnOp::create(rewriter, function.getLoc());
    kernel.walk([&](memref::GetGlobalOp op) { addConstant(op.getNameAttr()); });
    setMinimumBytes(kernel);
    return kernel;
  }

  /// Of the last operation: what is before it fills its results.
  static void setMinimumBytes(gpu::GPUFuncOp kernel) {
    SmallVector<Value> filled;
    std::optional<int64_t> bytes;
    for (LinalgOp op : kernel.getBody().getOps<LinalgOp>()) {
      bytes = getMinimumBytes(op, filled);
      filled.push_back(op.getDpsInits().front());
    }
    if (bytes)
      kernel->setAttr(RematDialect::getMinimumBytesAttrName(),
                      Builder(kernel.getContext()).getI64IntegerAttr(*bytes));
  }

  /// Kernels have constants of their own.
  void addConstant(FlatSymbolRefAttr name) {
    if (SymbolTable::lookupSymbolIn(kernels, name))
      return;
    rewriter.setInsertionPointToStart(kernels.getBody());
    auto constant =
        cast<memref::GlobalOp>(rewriter.clone(*SymbolTable::lookupSymbolIn(module, name)));
    if (constant.getAlignment().value_or(0) < kConstantAlignment)
      constant.setAlignment(kConstantAlignment);
  }

  /// What is known of numbers of threads makes computing with them cheaper.
  static void setGeometry(gpu::GPUFuncOp kernel, KernelGeometry geometry) {
    if (geometry.blocks > std::numeric_limits<int32_t>::max())
      return;
    Builder builder(kernel.getContext());
    kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr({int32_t(geometry.threads), 1, 1}));
    kernel.setKnownGridSizeAttr(builder.getDenseI32ArrayAttr({int32_t(geometry.blocks), 1, 1}));
  }

  /// Says where the buffers of arguments begin in all calls.
  static void setAlignment(gpu::GPUFuncOp kernel, ArrayRef<func::CallOp> calls) {
    for (auto [index, type] : llvm::enumerate(kernel.getFunctionType().getInputs())) {
      if (calls.empty() || !isa<MemRefType>(type))
        continue;
      uint64_t alignment = 0;
      for (func::CallOp call : calls)
        alignment = llvm::MinAlign(alignment, getBufferAlignment(call.getOperand(index)));
      if (alignment > 1)
        kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                          Builder(kernel.getContext()).getI64IntegerAttr(alignment));
    }
  }

  /// Erases what fills results of the last operation; for each of those the value that it is
  /// filled with, or nothing.
  SmallVector<Value> takeFills(ArrayRef<LinalgOp> operations) {
    LinalgOp op = operations.back();
    SmallVector<Value> starts(op.getNumDpsInits());
    for (LinalgOp fill : operations.drop_back()) {
      for (auto [start, init] : llvm::zip_equal(starts, op.getDpsInits()))
        if (init == fill.getDpsInits().front())
          start = fill->getOperand(0);
      rewriter.eraseOp(fill);
    }
    return starts;
  }

  GenericOp arrange(LinalgOp op) {
    FailureOr<GenericOp> arranged = arrangeLoops(rewriter, op);
    assert(succeeded(arranged) && "expected an operation on buffers");
    return *arranged;
  }

  void launch(func::CallOp call, gpu::GPUFuncOp kernel, KernelGeometry geometry) {
    Location loc = call.getLoc();
    rewriter.setInsertionPoint(call);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    Value one = constant(1), blocks = constant(geometry.blocks);
    Value threads = constant(geometry.threads);
    gpu::LaunchFuncOp::create(rewriter, loc, kernel, {blocks, one, one}, {threads, one, one},
                              Value(), call.getOperands());
  }

  ModuleOp module;
  IRRewriter rewriter;
  gpu::GPUModuleOp kernels;
};

struct KernelsToGPUPass : public remat::impl::RematKernelsToGPUPassBase<KernelsToGPUPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<SmallVector<func::CallOp>> callsOf;
    module.walk([&](func::CallOp call) { callsOf[call.getCallee()].push_back(call); });
    KernelConverter converter(module);
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (isKernel(function) && failed(converter.convert(function, callsOf[function.getName()])))
        return signalPassFailure();
    if (failed(checkHost(module)))
      signalPassFailure();
  }

  /// Whether a function is one structured operation, loop or branch with its constants and
  /// views, and what fills the results of a reduction.
  static bool isKernel(func::FuncOp function) {
    if (function.isExternal() || !function.isPrivate() || function.getNumResults() != 0 ||
        !function.getBody().hasOneBlock())
      return false;
    SmallVector<Operation *> operations;
    for (Operation &op : function.front().without_terminator())
      if (!op.hasTrait<OpTrait::ConstantLike>() &&
          !isa<ViewLikeOpInterface, memref::GetGlobalOp>(op))
        operations.push_back(&op);
    if (operations.empty())
      return false;
    Operation *last = operations.pop_back_val();
    return (isa<LinalgOp>(last) || isa_and_nonnull<scf::SCFDialect>(last->getDialect())) &&
           llvm::all_of(operations, [&](Operation *op) { return isStart(op, last); }) &&
           !last->walk([](CallOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  /// Whether an operation fills a result of a reduction, and nothing else.
  static bool isStart(Operation *op, Operation *reduction) {
    auto fill = dyn_cast<linalg::FillOp>(op);
    auto structured = dyn_cast<LinalgOp>(reduction);
    if (!fill || !structured || structured.getNumReductionLoops() == 0 ||
        llvm::is_contained(structured.getStaticLoopRanges(), 0))
      return false;
    Value filled = fill.getDpsInits().front();
    return llvm::is_contained(structured.getDpsInits(), filled) &&
           llvm::range_size(filled.getUses()) == 2;
  }

  /// Emits an error at a structured operation that is left to the host.
  static LogicalResult checkHost(ModuleOp module) {
    WalkResult result = module.walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (!isa<LinalgOp>(op))
        return WalkResult::advance();
      op->emitError("'") << op->getName()
                         << "' is left to the host, which cannot access the memory of a GPU";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
