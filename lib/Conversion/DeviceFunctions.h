//===- DeviceFunctions.h - Calls of the library for a device ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_DEVICEFUNCTIONS_H
#define REMAT_LIB_CONVERSION_DEVICEFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::remat {

/// What the functions of `Remat/Runtime/DeviceRuntime.h` begin with.
constexpr StringLiteral kDevicePrefix = "rematDevice";

/// Calls external functions of a module, which it declares.
class DeviceFunctions {
public:
  explicit DeviceFunctions(ModuleOp module) : module(module), symbols(module) {}

  func::CallOp call(OpBuilder &builder, Location loc, StringRef name, ValueRange arguments,
                    TypeRange results = {}) {
    if (!symbols.lookup(name)) {
      auto type = builder.getFunctionType(arguments.getTypes(), results);
      auto function = func::FuncOp::create(module.getLoc(), name, type);
      function.setPrivate();
      symbols.insert(function);
    }
    return func::CallOp::create(builder, loc, name, results, arguments);
  }

private:
  ModuleOp module;
  SymbolTable symbols;
};

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_DEVICEFUNCTIONS_H
