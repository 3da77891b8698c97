//===- RematPlugin.cpp - Dialect and passes as a plugin ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt --load-dialect-plugin=libRematPlugin.so --load-pass-plugin=libRematPlugin.so
//          --pass-pipeline='builtin.module(rematerialize{budget=4GB})'
//
//===----------------------------------------------------------------------===//

#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Remat", LLVM_VERSION_STRING, [](DialectRegistry *registry) {
            registry->insert<remat::RematDialect>();
            remat::registerBufferizableOpInterfaceExternalModels(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Remat", LLVM_VERSION_STRING,
          []() { remat::registerRematPasses(); }};
}
