//===- AnalysisTest.h - Functions from text ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_UNIT_ANALYSIS_ANALYSISTEST_H
#define REMAT_TEST_UNIT_ANALYSIS_ANALYSISTEST_H

#include "Remat/Analysis/FunctionProblem.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::remat::test {

/// The first function of a module with its problem. Operations of dialects that
/// do not exist are allowed.
class TestFunction {
public:
  /// Fails the test when `text` is not a module or its function no problem.
  explicit TestFunction(StringRef text, const ProblemOptions &options = {});

  FunctionOpInterface function;
  FunctionProblem problem;

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace mlir::remat::test

#endif // REMAT_TEST_UNIT_ANALYSIS_ANALYSISTEST_H
