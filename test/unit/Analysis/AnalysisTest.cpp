//===- AnalysisTest.cpp - Functions from text -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnalysisTest.h"

#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/ModelTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::remat;

static DialectRegistry getRegistry() {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  registerAllExternalModels(registry);
  return registry;
}

test::TestFunction::TestFunction(StringRef text, const ProblemOptions &options)
    : context(getRegistry(), MLIRContext::Threading::DISABLED) {
  context.allowUnregisteredDialects();
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "not a module:\n" << text.str();
    return;
  }
  module->walk([&](FunctionOpInterface found) {
    if (!function)
      function = found;
  });
  SymbolTableCollection symbols;
  SummaryAnalysis summaries(ModelTable::getBuiltin(), llvm::cantFail(Target::get("h100")), symbols);
  FailureOr<FunctionProblem> built = buildProblem(function, summaries, options);
  if (succeeded(built))
    problem = std::move(*built);
  else
    ADD_FAILURE() << "no problem:\n" << text.str();
}
