//===- Scf.cpp - Models of the scf dialect ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Control flow costs what its regions cost, times how often they run; the
// analyses add that up. Results of loops and branches have a storage of their
// own: nothing here models updates in place, except scf.forall, which is
// destination-passing by definition.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/ModelCosts.h"
#include "Remat/Interfaces/TypeSize.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::remat;

/// Iterations of the whole nest of a loop with bounds; unknown for scf.while and
/// for bounds that are not constant.
static Count getTripCount(LoopLikeOpInterface loop) {
  // An APInt holds a number of iterations of any width, read as unsigned.
  auto toCount = [](const std::optional<APInt> &trips) {
    return trips && trips->getActiveBits() < 64 ? Count(int64_t(trips->getZExtValue()))
                                                : Count::unknown();
  };
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> upper = loop.getLoopUpperBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return Count::unknown();
  if (lower->size() == 1)
    if (std::optional<APInt> trips = loop.getStaticTripCount())
      return toCount(trips);
  Count product = 1;
  for (auto [lb, ub, step] : llvm::zip_equal(*lower, *upper, *steps))
    product *= toCount(constantTripCount(lb, ub, step, /*isSigned=*/true, scf::computeUbMinusLb));
  return product;
}

static OperationModel describeLoop(Operation *op) {
  OperationModel model = makePureModel(op);
  model.tripCount = getTripCount(cast<LoopLikeOpInterface>(op)).asOptional();
  return model;
}

/// The value in whose place a value is when everything is done in place.
static Value getPlace(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      value = loop.getInitArgs()[number];
    } else if (auto loop = dyn_cast<scf::WhileOp>(op); loop && number < loop.getInits().size()) {
      value = loop.getInits()[number];
    } else {
      std::optional<OperationModel> model = getInterfaceModel(op);
      const ResultStorage *storage = model ? model->findStorage(number) : nullptr;
      if (!storage || (storage->kind != ResultStorage::Kind::View &&
                       storage->kind != ResultStorage::Kind::Reuse))
        return value;
      value = op->getOperand(storage->operand);
    }
  }
  return value;
}

/// Bytes of copies that the end of a loop's body makes: of what it yields for one of the
/// `carried` values from the place of another, which is overwritten by then.
static Count getExchangedBytes(ArrayRef<BlockArgument> carried, ValueRange yielded,
                               const DataLayout &layout) {
  Count bytes = 0;
  for (auto [argument, value] : llvm::zip_first(carried, yielded)) {
    Value place = isa<TensorType>(value.getType()) ? getPlace(value) : Value();
    const auto *other = llvm::find(carried, place);
    if (place != argument && other != carried.end() && yielded[other - carried.begin()] != place)
      bytes += Count(getStorageBytes(value.getType(), layout).value_or(0));
  }
  return bytes;
}

static OperationModel describeFor(Operation *op) {
  OperationModel model = describeLoop(op);
  auto loop = cast<scf::ForOp>(op);
  DataLayout layout = DataLayout::closest(op);
  SmallVector<BlockArgument> carried(loop.getRegionIterArgs());
  model.workspaceBytes =
      getExchangedBytes(carried, loop.getYieldedValues(), layout).asOptional().value_or(0);
  return model;
}

/// What is carried into the first region and does not leave it in the same place is in
/// memory beside what does.
static OperationModel describeWhile(Operation *op) {
  OperationModel model = describeLoop(op);
  auto loop = cast<scf::WhileOp>(op);
  DataLayout layout = DataLayout::closest(op);
  OperandRange passed = loop.getConditionOp().getArgs();
  Count workspace = 0;
  // In the second region; nothing for what is not in its place there.
  SmallVector<BlockArgument> carried;
  for (BlockArgument argument : loop.getBeforeArguments()) {
    unsigned index = argument.getArgNumber();
    bool isInPlace = index < passed.size() && passed[index] == argument;
    carried.push_back(isInPlace ? loop.getAfterArguments()[index] : BlockArgument());
    if (isa<TensorType>(argument.getType()) && !isInPlace)
      workspace += Count(getStorageBytes(argument.getType(), layout).value_or(0));
  }
  workspace += getExchangedBytes(carried, loop.getYieldedValues(), layout);
  model.workspaceBytes = workspace.asOptional().value_or(0);
  return model;
}

static OperationModel describeForall(Operation *op) {
  OperationModel model = describeLoop(op);
  addDestinations(op, model);
  return model;
}

void remat::registerScfExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    attachTo<describeLoop, scf::ParallelOp>(*context);
    attachTo<describeFor, scf::ForOp>(*context);
    attachTo<describeWhile, scf::WhileOp>(*context);
    attachTo<describeForall, scf::ForallOp>(*context);
    // Branches and regions that run once, and terminators.
    attachToRest<describeFree>(*context, scf::SCFDialect::getDialectNamespace());
  });
}
