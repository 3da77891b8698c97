//===- RematOpInterface.cpp - Models of operations --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/RematOpInterface.h"

#include "Remat/Interfaces/ModelTable.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::remat;

#include "Remat/Interfaces/RematOpInterface.cpp.inc"

std::optional<OperationModel> remat::lookupModel(Operation *op, const ModelTable &table) {
  if (auto interface = dyn_cast<RematOpInterface>(op))
    return interface.getOperationModel();
  return table.lookup(op);
}

Attribute remat::getInherentOrDiscardableAttr(Operation *op, StringRef name) {
  if (op->isRegistered()) {
    if (std::optional<Attribute> inherent = op->getInherentAttr(name))
      if (*inherent)
        return *inherent;
  } else if (auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute())) {
    if (Attribute attribute = properties.get(name))
      return attribute;
  }
  return op->getDiscardableAttr(name);
}
