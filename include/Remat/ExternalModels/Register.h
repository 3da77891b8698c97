//===- Register.h - Models of upstream dialects -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per foreign dialect, each in the .cpp file of that name.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXTERNALMODELS_REGISTER_H
#define REMAT_EXTERNALMODELS_REGISTER_H

namespace mlir {
class DialectRegistry;

namespace remat {
void registerAffineExternalModels(DialectRegistry &registry);
void registerArithExternalModels(DialectRegistry &registry);
void registerBufferizationExternalModels(DialectRegistry &registry);
void registerComplexExternalModels(DialectRegistry &registry);
void registerFuncExternalModels(DialectRegistry &registry);
void registerIndexExternalModels(DialectRegistry &registry);
void registerLinalgExternalModels(DialectRegistry &registry);
void registerMathExternalModels(DialectRegistry &registry);
void registerMemRefExternalModels(DialectRegistry &registry);
void registerRematExternalModels(DialectRegistry &registry);
void registerScfExternalModels(DialectRegistry &registry);
void registerTensorExternalModels(DialectRegistry &registry);
void registerTosaExternalModels(DialectRegistry &registry);
void registerUbExternalModels(DialectRegistry &registry);

/// All of the above.
void registerAllExternalModels(DialectRegistry &registry);
} // namespace remat
} // namespace mlir

#endif // REMAT_EXTERNALMODELS_REGISTER_H
