//===- Register.cpp - All external models -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/ExternalModels/Register.h"

void mlir::remat::registerAllExternalModels(DialectRegistry &registry) {
  registerAffineExternalModels(registry);
  registerArithExternalModels(registry);
  registerBufferizationExternalModels(registry);
  registerComplexExternalModels(registry);
  registerFuncExternalModels(registry);
  registerIndexExternalModels(registry);
  registerLinalgExternalModels(registry);
  registerMathExternalModels(registry);
  registerMemRefExternalModels(registry);
  registerRematExternalModels(registry);
  registerScfExternalModels(registry);
  registerTensorExternalModels(registry);
  registerTosaExternalModels(registry);
  registerUbExternalModels(registry);
}
