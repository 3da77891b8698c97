//===- remat-opt.cpp - Optimizer driver -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the remat dialect, its passes and its models. Dialects that are
// not linked in are read without a flag where a models file describes them.
//
//===----------------------------------------------------------------------===//

#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#ifdef REMAT_INCLUDE_TESTS
namespace mlir::remat::test {
void registerTestPasses();
} // namespace mlir::remat::test
#endif

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::remat::registerRematPasses();
#ifdef REMAT_INCLUDE_TESTS
  mlir::remat::test::registerTestPasses();
#endif

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::remat::RematDialect>();
  mlir::remat::registerBufferizableOpInterfaceExternalModels(registry);
  mlir::remat::registerAllExternalModels(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Rematerialization optimizer driver\n", registry));
}
