//===- ConvertToLLVM.cpp - The end of all pipelines --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvertToLLVM.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void mlir::remat::addConversionToLLVM(OpPassManager &pipeline) {
  pipeline.addPass(createArithToLLVMConversionPass());
  pipeline.addPass(createConvertIndexToLLVMPass());
  pipeline.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  pipeline.addPass(createConvertFuncToLLVMPass(functions));
  pipeline.addPass(createConvertOpenMPToLLVMPass());
  pipeline.addPass(createConvertControlFlowToLLVMPass());
  pipeline.addPass(createUBToLLVMConversionPass());
  pipeline.addPass(createReconcileUnrealizedCastsPass());
  pipeline.addPass(createCanonicalizerPass());
  pipeline.addPass(createCSEPass());
}
