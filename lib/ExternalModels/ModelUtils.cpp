//===- ModelUtils.cpp - Shared parts of the external models -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::remat;

//===----------------------------------------------------------------------===//
// Beginnings of a model
//===----------------------------------------------------------------------===//

OperationModel remat::makePureModel(Operation *op) {
  OperationModel model;
  model.effects = EffectKind::Pure;
  model.recursive = op->getNumRegions() != 0;
  return model;
}

OperationModel remat::makeOrderedModel(StringRef whyNot) {
  OperationModel model;
  model.effects = EffectKind::Ordered;
  model.whyNot = whyNot.str();
  return model;
}

OperationModel remat::makeReadsModel(StringRef whyNot) {
  OperationModel model;
  model.effects = EffectKind::Reads;
  model.whyNot = whyNot.str();
  return model;
}

OperationModel remat::makeModel(Operation *op) {
  OperationModel model = makePureModel(op);
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return model;
    model.effects = EffectKind::Ordered;
    model.whyNot = "has unknown side effects";
    return model;
  }

  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  auto has = [&](auto kind) {
    return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
      return isa<decltype(kind)>(effect.getEffect());
    });
  };
  if (effects.empty())
    return model;
  model.effects = EffectKind::Ordered;
  if (has(MemoryEffects::Write())) {
    model.whyNot = "writes to memory";
  } else if (has(MemoryEffects::Free())) {
    model.whyNot = "frees memory";
  } else if (has(MemoryEffects::Allocate())) {
    model.whyNot = "allocates memory";
  } else {
    model.effects = EffectKind::Reads;
    model.whyNot = "reads memory that may change";
  }
  return model;
}

//===----------------------------------------------------------------------===//
// Whole models
//===----------------------------------------------------------------------===//

/// Bytes of an operation that reads its operands and writes its results.
static Count getMovedBytes(Operation *op) {
  // Scalar code is most of what is asked about, and needs no data layout.
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (llvm::all_of(op->getOperandTypes(), isScalar) && llvm::all_of(op->getResultTypes(), isScalar))
    return 0;
  DataLayout layout = DataLayout::closest(op);
  return getReadBytes(op->getOperands(), layout) + getBytes(op->getResultTypes(), layout);
}

OperationModel remat::describeElementwise(Operation *op, int64_t weight) {
  OperationModel model = makeModel(op);
  Count elements = op->getNumResults() ? getNumElements(op->getResult(0).getType()) : Count(0);
  setCost(model, Count(weight) * elements, getArithmeticType(op), getMovedBytes(op));
  return model;
}

OperationModel remat::describeDataMovement(Operation *op) {
  OperationModel model = makeModel(op);
  setCost(model, 0, {}, getMovedBytes(op));
  return model;
}

OperationModel remat::describeStructural(Operation *op) { return makeModel(op); }

OperationModel remat::describeFree(Operation *op) { return makePureModel(op); }

OperationModel remat::describeMetadata(Operation *op) {
  OperationModel model = makeModel(op);
  addUnread(model, 0);
  return model;
}

OperationModel remat::describeView(Operation *op) {
  OperationModel model = makePureModel(op);
  for (unsigned result : llvm::seq(op->getNumResults()))
    addView(model, result, op->getNumResults() == 1 ? 0 : result);
  return model;
}

OperationModel remat::describeConstant(Operation *op) {
  OperationModel model = makePureModel(op);
  Attribute value;
  if (matchPattern(op, m_Constant(&value)))
    model.storage.push_back(getConstantStorage(0, op->getResult(0).getType(), value));
  return model;
}

OperationModel remat::describeSymbol(Operation *op) { return makeOrderedModel("defines a symbol"); }

//===----------------------------------------------------------------------===//
// Additions
//===----------------------------------------------------------------------===//

void remat::addView(OperationModel &model, unsigned result, unsigned operand) {
  model.storage.push_back({result, ResultStorage::Kind::View, operand});
}

void remat::addReuse(OperationModel &model, unsigned result, unsigned operand) {
  model.storage.push_back({result, ResultStorage::Kind::Reuse, operand});
}

void remat::addNone(OperationModel &model, unsigned result) {
  model.storage.push_back({result, ResultStorage::Kind::None});
}

void remat::addUnread(OperationModel &model, unsigned number) {
  auto *place = llvm::lower_bound(model.unreadOperands, number);
  if (place == model.unreadOperands.end() || *place != number)
    model.unreadOperands.insert(place, number);
}

void remat::addDestinations(Operation *op, OperationModel &model) {
  auto destinations = cast<DestinationStyleOpInterface>(op);
  for (OpResult result : op->getResults())
    if (OpOperand *init = destinations.getTiedOpOperand(result))
      addReuse(model, result.getResultNumber(), init->getOperandNumber());
}

std::optional<OperationModel> remat::getInterfaceModel(Operation *op) {
  if (auto interface = dyn_cast<RematOpInterface>(op))
    return interface.getOperationModel();
  return std::nullopt;
}
