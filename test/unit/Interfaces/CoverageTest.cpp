//===- CoverageTest.cpp - Every operation has a model -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterfacesTestUtils.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::remat;

TEST(CoverageTest, EveryOperationHasAModel) {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect,
                  complex::ComplexDialect, func::FuncDialect, index::IndexDialect,
                  linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect, RematDialect,
                  scf::SCFDialect, tensor::TensorDialect, tosa::TosaDialect, ub::UBDialect>();
  registerAllExternalModels(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  constexpr StringRef dialects[] = {"affine",        "complex", "index",  "ub",   "arith",
                                    "bufferization", "func",    "linalg", "math", "memref",
                                    "remat",         "scf",     "tensor", "tosa"};
  llvm::StringMap<unsigned> counts;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    StringRef dialect = name.getDialectNamespace();
    if (!llvm::is_contained(dialects, dialect))
      continue;
    ++counts[dialect];
    EXPECT_TRUE(name.hasInterface<RematOpInterface>()) << name.getStringRef().str();
  }
  for (StringRef dialect : dialects)
    EXPECT_GT(counts[dialect], 0u) << dialect.str();
}
