//===- RematOpInterface.h - Models of operations ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface, and the one place that finds the model of an operation:
// the interface first, then the table of a models file.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_REMATOPINTERFACE_H
#define REMAT_INTERFACES_REMATOPINTERFACE_H

#include "Remat/Interfaces/OperationModel.h"
#include "mlir/IR/OpDefinition.h"

#include "Remat/Interfaces/RematOpInterface.h.inc"

namespace mlir::remat {

class ModelTable;

/// Returns the model of `op`: from its interface, else from `table`. Nothing
/// when neither knows it; such an operation is to be treated as ordered, not
/// recomputable, with results of their own.
std::optional<OperationModel> lookupModel(Operation *op, const ModelTable &table);

/// Returns the inherent attribute `name` of `op`, wherever it is kept: in the
/// properties of registered and unregistered operations, or among the
/// discardable attributes. Null when there is none.
Attribute getInherentOrDiscardableAttr(Operation *op, StringRef name);

} // namespace mlir::remat

#endif // REMAT_INTERFACES_REMATOPINTERFACE_H
