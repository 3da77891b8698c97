//===- SymbolReferences.cpp - Names that attributes refer to ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/SymbolReferences.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::remat;

/// Reports what follows an `@` in `text`: a quoted name or a plain one.
static void reportNames(StringRef text, llvm::function_ref<void(StringRef)> report) {
  for (text = text.split('@').second; !text.empty(); text = text.split('@').second) {
    if (text.consume_front("\""))
      report(text.split('"').first);
    else
      report(text.take_while(
          [](char c) { return llvm::isAlnum(c) || StringRef("_$.-").contains(c); }));
  }
}

SymbolReferences::SymbolReferences(std::function<void(StringRef)> report)
    : attributes(std::make_unique<AttrTypeWalker>()) {
  attributes->addWalk(
      [report](SymbolRefAttr reference) { report(reference.getRootReference().getValue()); });
  attributes->addWalk(
      [report](OpaqueAttr attribute) { reportNames(attribute.getAttrData(), report); });
  attributes->addWalk([report](OpaqueType type) { reportNames(type.getTypeData(), report); });
}

SymbolReferences::~SymbolReferences() = default;

void SymbolReferences::visit(Operation *op) {
  op->walk([&](Operation *nested) { visitAlone(nested); });
}

void SymbolReferences::visitAlone(Operation *op) {
  attributes->walk(op->getDiscardableAttrDictionary());
  if (Attribute properties = op->getPropertiesAsAttribute())
    attributes->walk(properties);
}

llvm::StringSet<> mlir::remat::listHiddenReferences(Operation *scope) {
  llvm::StringSet<> names;
  SymbolReferences references([&](StringRef name) { names.insert(name); });
  scope->walk([&](Operation *op) {
    if (!op->isRegistered())
      references.visitAlone(op);
  });
  return names;
}
