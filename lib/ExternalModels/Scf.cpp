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

/// What is carried into the first region and does not leave it in the same place is in
/// memory beside what does.
static OperationModel describeWhile(Operation *op) {
  OperationModel model = describeLoop(op);
  auto loop = cast<scf::WhileOp>(op);
  DataLayout layout = DataLayout::closest(op);
  OperandRange passed = loop.getConditionOp().getArgs();
  Count workspace = 0;
  for (BlockArgument carried : loop.getBeforeArguments()) {
    unsigned index = carried.getArgNumber();
    if (isa<TensorType>(carried.getType()) && (index >= passed.size() || passed[index] != carried))
      workspace += Count(getStorageBytes(carried.getType(), layout).value_or(0));
  }
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
    attachTo<describeLoop, scf::ForOp, scf::ParallelOp>(*context);
    attachTo<describeWhile, scf::WhileOp>(*context);
    attachTo<describeForall, scf::ForallOp>(*context);
    // Branches and regions that run once, and terminators.
    attachToRest<describeFree>(*context, scf::SCFDialect::getDialectNamespace());
  });
}
