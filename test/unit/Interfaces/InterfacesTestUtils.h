//===- InterfacesTestUtils.h - Operations to ask about ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_UNIT_INTERFACES_INTERFACESTESTUTILS_H
#define REMAT_TEST_UNIT_INTERFACES_INTERFACESTESTUTILS_H

#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/CostFormula.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::remat::test {

/// A module of operations of dialects that are not linked in, in generic form.
class ParsedModule {
public:
  explicit ParsedModule(StringRef text) {
    context.allowUnregisteredDialects();
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << text.str();
  }

  /// The first operation called `name`, regions included.
  Operation *find(StringRef name) {
    Operation *found = nullptr;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getName().getStringRef() != name)
        return WalkResult::advance();
      found = op;
      return WalkResult::interrupt();
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// The value of `text` on `op`; a failing test when it is no formula.
inline std::optional<int64_t> evaluate(StringRef text, Operation *op) {
  llvm::Expected<CostFormula> formula = CostFormula::parse(text);
  if (!formula) {
    ADD_FAILURE() << llvm::toString(formula.takeError());
    return std::nullopt;
  }
  const ModelTable &table = ModelTable::getBuiltin();
  DataLayout layout = DataLayout::closest(op);
  return formula->evaluate({op, layout, table});
}

} // namespace mlir::remat::test

#endif // REMAT_TEST_UNIT_INTERFACES_INTERFACESTESTUTILS_H
