//===- Bufferize.cpp - From tensors to one buffer per storage ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One-shot bufferization of upstream, on tensors whose storages are explicit already.
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Bufferize.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Transforms/Destinations.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATBUFFERIZEPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;
using bufferization::BufferizationDialect;

/// Says which arguments may be overwritten, and that none is a part of a larger buffer.
static void markArguments(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    bool isDonated = !!function.getArgAttr(index, RematDialect::getDonatedAttrName());
    AffineMap identity = AffineMap::getMultiDimIdentityMap(tensor.getRank(), context);
    function.setArgAttr(index, BufferizationDialect::kWritableAttrName,
                        BoolAttr::get(context, isDonated));
    function.setArgAttr(index, BufferizationDialect::kBufferLayoutAttrName,
                        AffineMapAttr::get(identity));
  }
}

static bufferization::OneShotBufferizationOptions getOptions() {
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  // Results may be parts of a buffer.
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::InferLayoutMap);
  options.unknownTypeConverterFn = [](TensorType type, Attribute memorySpace,
                                      const bufferization::BufferizationOptions &) {
    return bufferization::getMemRefTypeWithStaticIdentityLayout(type, memorySpace);
  };
  return options;
}

/// Emits an error at the first operation on tensors that has no form on buffers.
static LogicalResult checkBufferizable(func::FuncOp function) {
  auto isTensor = llvm::IsaPred<TensorType>;
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (auto call = dyn_cast<func::CallOp>(op))
      if (auto callee =
              SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
          callee && callee.isExternal())
        return op->emitError("calls '") << call.getCallee() << "', which has no body";
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
        return op->emitError("'") << op->getName() << "' uses the type " << type
                                  << ", but tensors with encodings have no buffers";
    if ((llvm::none_of(op->getOperandTypes(), isTensor) &&
         llvm::none_of(op->getResultTypes(), isTensor)) ||
        isa<bufferization::BufferizableOpInterface>(op))
      return WalkResult::advance();
    return op->emitError("'") << op->getName()
                              << "' computes with tensors, but has no form on buffers: lower it "
                                 "to linalg first";
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::remat::bufferize(ModuleOp module, const ModelTable &models) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    markArguments(function);
    if (failed(assignDestinations(function, models)) || failed(checkBufferizable(function)))
      return failure();
  }
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotModuleBufferize(module, getOptions(), state)))
    return failure();
  // What is left of them keeps scalars apart, which nothing merges any more.
  module->walk([](BarrierOp barrier) {
    barrier.replaceAllUsesWith(barrier.getInputs());
    barrier.erase();
  });
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      for (StringRef name :
           {BufferizationDialect::kWritableAttrName, BufferizationDialect::kBufferLayoutAttrName})
        function.removeArgAttr(index, name);
  // Equal views become one, and copies from a buffer to itself go.
  PassManager cleanUp(module.getContext());
  cleanUp.addNestedPass<func::FuncOp>(createCSEPass());
  cleanUp.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  return cleanUp.run(module);
}

namespace {
struct BufferizePass : public remat::impl::RematBufferizePassBase<BufferizePass> {
  using RematBufferizePassBase::RematBufferizePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    RematBufferizePassBase::getDependentDialects(registry);
    registerAllExternalModels(registry);
  }

  void runOnOperation() override {
    FailureOr<ModelTable> table = loadModels(models, getOperation().getLoc());
    if (failed(table) || failed(bufferize(getOperation(), *table)))
      signalPassFailure();
  }
};
} // namespace
