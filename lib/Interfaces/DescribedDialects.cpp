//===- DescribedDialects.cpp - Dialects that only models describe -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/DescribedDialects.h"

#include "Remat/Interfaces/ModelTable.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::remat;

namespace {
/// A name, behind which everything is as in dialects that are not registered.
class DescribedDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DescribedDialect)

  DescribedDialect(StringRef name, MLIRContext *context)
      : Dialect(name, context, TypeID::get<DescribedDialect>()) {
    allowUnknownOperations();
    allowUnknownTypes();
  }

  Attribute parseAttribute(DialectAsmParser &parser, Type type) const override {
    return OpaqueAttr::get(StringAttr::get(getContext(), getNamespace()),
                           parser.getFullSymbolSpec(), type ? type : NoneType::get(getContext()));
  }

  Type parseType(DialectAsmParser &parser) const override {
    return OpaqueType::get(StringAttr::get(getContext(), getNamespace()),
                           parser.getFullSymbolSpec());
  }
};
} // namespace

void mlir::remat::registerDescribedDialects(DialectRegistry &registry) {
  for (StringRef name : ModelTable::getBuiltin().getDialects())
    if (!registry.getDialectAllocator(name))
      registry.insert(TypeID::get<DescribedDialect>(), name, [name](MLIRContext *context) {
        return context->getOrLoadDialect(name, TypeID::get<DescribedDialect>(), [&] {
          return std::make_unique<DescribedDialect>(name, context);
        });
      });
}
