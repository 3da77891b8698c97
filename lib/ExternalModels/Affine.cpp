//===- Affine.cpp - Models of the affine dialect ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Index arithmetic in the bodies of tensor operations, and loops with constant
// bounds.
//
//===----------------------------------------------------------------------===//

#include "ModelUtils.h"
#include "Remat/ExternalModels/Register.h"

#include "mlir/Dialect/Affine/Analysis/LoopAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace mlir::remat;

static OperationModel describeFor(Operation *op) {
  OperationModel model = makePureModel(op);
  std::optional<uint64_t> trips = affine::getConstantTripCount(cast<affine::AffineForOp>(op));
  model.tripCount =
      trips && *trips <= uint64_t(INT64_MAX) ? std::optional<int64_t>(*trips) : std::nullopt;
  return model;
}

static OperationModel describeParallel(Operation *op) {
  auto parallel = cast<affine::AffineParallelOp>(op);
  OperationModel model = makePureModel(op);
  Count trips = Count::unknown();
  if (std::optional<SmallVector<int64_t, 8>> ranges = parallel.getConstantRanges()) {
    trips = 1;
    for (auto [range, step] : llvm::zip_equal(*ranges, parallel.getSteps()))
      trips *= range <= 0 ? Count(0) : Count(llvm::divideCeil(range, step));
  }
  model.tripCount = trips.asOptional();
  return model;
}

void remat::registerAffineExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, affine::AffineDialect *) {
    using namespace affine;
    attachTo<describeWeighted<weights::simple>, AffineApplyOp, AffineDelinearizeIndexOp,
             AffineLinearizeIndexOp, AffineMaxOp, AffineMinOp>(*context);
    attachTo<describeFor, AffineForOp>(*context);
    attachTo<describeParallel, AffineParallelOp>(*context);
    // Accesses, branches and terminators: as their effects say.
    attachToRest<describeStructural>(*context, AffineDialect::getDialectNamespace());
  });
}
