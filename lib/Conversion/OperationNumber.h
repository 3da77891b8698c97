//===- OperationNumber.h - Numbers of operations in locations ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What replaces an operation has its location: so a number in there says which operation of
// the tensors a piece of code on buffers is from.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_OPERATIONNUMBER_H
#define REMAT_LIB_CONVERSION_OPERATIONNUMBER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::remat {

constexpr StringLiteral kOperationNumberName = "remat.operation";

/// `loc` with a number; an older one in it counts no more.
inline Location addOperationNumber(Location loc, int64_t number) {
  MLIRContext *context = loc.getContext();
  Builder builder(context);
  return FusedLoc::get(context, {loc},
                       builder.getDictionaryAttr(builder.getNamedAttr(
                           kOperationNumberName, builder.getI64IntegerAttr(number))));
}

/// The number in a location, or the first of several that were fused.
inline std::optional<int64_t> getOperationNumber(Location loc) {
  std::optional<int64_t> number;
  loc->walk([&](Location part) {
    auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(part);
    auto attribute = fused ? fused.getMetadata().getAs<IntegerAttr>(kOperationNumberName) : nullptr;
    if (!attribute)
      return WalkResult::advance();
    number = attribute.getInt();
    return WalkResult::interrupt();
  });
  return number;
}

/// Whether the operations of a function are timed: it has a body, and nobody calls it.
inline bool isTimed(func::FuncOp function) {
  return !function.isExternal() &&
         SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
}

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_OPERATIONNUMBER_H
