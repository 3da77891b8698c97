//===- RuntimeFunctions.h - Calls of the runtime libraries ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_RUNTIMEFUNCTIONS_H
#define REMAT_LIB_CONVERSION_RUNTIMEFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::remat {

/// What the functions of `Remat/Runtime/DeviceRuntime.h` begin with.
constexpr StringLiteral kDevicePrefix = "rematDevice";

/// Calls external functions of a module, and makes the constants that they are told.
class RuntimeFunctions {
public:
  explicit RuntimeFunctions(ModuleOp module) : module(module), symbols(module) {}

  /// Declares the function if it is not.
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

  /// The address, as an index, of a constant on the host: one for all that are equal.
  Value getAddress(OpBuilder &builder, Location loc, StringRef name, DenseElementsAttr elements) {
    memref::GlobalOp &global = constants[elements];
    if (!global) {
      OpBuilder globals(module.getContext());
      global = memref::GlobalOp::create(
          globals, module.getLoc(), name, globals.getStringAttr("private"),
          MemRefType::get(elements.getType().getShape(), elements.getElementType()), elements,
          /*constant=*/true, /*alignment=*/{});
      symbols.insert(global);
    }
    Value memref = memref::GetGlobalOp::create(builder, loc, global.getType(), global.getSymName());
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  }

private:
  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Attribute, memref::GlobalOp> constants;
};

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_RUNTIMEFUNCTIONS_H
