//===- ModelUtils.h - Shared parts of the external models -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model is a function from an operation to an OperationModel. A dialect's file
// attaches special ones to the operations that need them, then one default to
// every operation of the dialect that is left, so that none is forgotten.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EXTERNALMODELS_MODELUTILS_H
#define REMAT_LIB_EXTERNALMODELS_MODELUTILS_H

#include "Remat/Interfaces/ModelCosts.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace mlir::remat {

using DescribeFn = OperationModel (*)(Operation *);

/// The interface's methods for operations that `describe` knows.
template <DescribeFn describe>
struct DescribedModel : public RematOpInterface::FallbackModel<DescribedModel<describe>> {
  OperationModel getOperationModel(Operation *op) const { return describe(op); }
};

/// Attaches `describe` to each of `OpTys`.
template <DescribeFn describe, typename... OpTys>
void attachTo(MLIRContext &context) {
  (OpTys::template attachInterface<DescribedModel<describe>>(context), ...);
}

/// Attaches `describe` to the operations of `dialect` that have no model yet.
template <DescribeFn describe>
void attachToRest(MLIRContext &context, StringRef dialect) {
  // getRegisteredOperationsByDialect of MLIR 22 misses operations: its binary
  // search compares names with a function that is no order.
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == dialect && !name.hasInterface<RematOpInterface>())
      name.attachInterface<DescribedModel<describe>>();
}

//===----------------------------------------------------------------------===//
// Beginnings of a model
//===----------------------------------------------------------------------===//

/// A model with the effects that MLIR's interfaces state for `op`, with regions
/// counted, at no cost: what only reads is Reads, what does more, or says
/// nothing, is Ordered, with the reason.
OperationModel makeModel(Operation *op);

/// A model without effects at no cost. For operations without a statement about
/// effects, and for those whose statement is meant differently.
OperationModel makePureModel(Operation *op);

/// A model that is executed exactly once because it `whyNot`.
OperationModel makeOrderedModel(StringRef whyNot);

/// A model that reads state and keeps its place because of it.
OperationModel makeReadsModel(StringRef whyNot);

//===----------------------------------------------------------------------===//
// Whole models
//===----------------------------------------------------------------------===//

/// `weight` flops per element, operands read and results written. Scalars count
/// one element and move nothing.
OperationModel describeElementwise(Operation *op, int64_t weight);

template <int64_t weight>
OperationModel describeWeighted(Operation *op) {
  return describeElementwise(op, weight);
}

/// No arithmetic; operands read and results written.
OperationModel describeDataMovement(Operation *op);

/// Effects as stated and nothing else: terminators, metadata, declarations.
OperationModel describeStructural(Operation *op);

/// No effects and no cost, for what states no effects.
OperationModel describeFree(Operation *op);

/// Looks at an operand's type only, at no cost: `tensor.dim`, `memref.rank`.
OperationModel describeMetadata(Operation *op);

/// Every result is a view of the operand of the same number (or of the only
/// one), at no cost.
OperationModel describeView(Operation *op);

/// A constant with its value in the attribute of the ConstantLike fold.
OperationModel describeConstant(Operation *op);

/// Declares or defines a symbol.
OperationModel describeSymbol(Operation *op);

//===----------------------------------------------------------------------===//
// Additions
//===----------------------------------------------------------------------===//

void addView(OperationModel &model, unsigned result, unsigned operand);
void addReuse(OperationModel &model, unsigned result, unsigned operand);
void addNone(OperationModel &model, unsigned result);

/// Marks operand `number` as one whose data is not read. Keeps the list sorted.
void addUnread(OperationModel &model, unsigned number);

/// Ties the results of a DestinationStyleOpInterface to their inits.
void addDestinations(Operation *op, OperationModel &model);

/// Model of a nested operation by its interface alone.
std::optional<OperationModel> getInterfaceModel(Operation *op);

} // namespace mlir::remat

#endif // REMAT_LIB_EXTERNALMODELS_MODELUTILS_H
