//===- RequireModels.cpp - Reject what nothing describes --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATREQUIREMODELSPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

static constexpr const char *kHelp =
    "describe it in a models file (models=FILE), or give --allow-unregistered-dialect";

namespace {
struct RequireModelsPass : public remat::impl::RematRequireModelsPassBase<RequireModelsPass> {
  using RematRequireModelsPassBase::RematRequireModelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    ModelTable table = ModelTable::createBuiltin();
    for (const std::string &path : models) {
      if (llvm::Error error = table.parseFile(path)) {
        mlir::emitError(module.getLoc(), llvm::toString(std::move(error)));
        return signalPassFailure();
      }
    }
    WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      return succeeded(checkOperation(op, table)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  static LogicalResult checkOperation(Operation *op, const ModelTable &table) {
    if (!op->isRegistered() && !table.lookup(op))
      return mlir::emitError(op->getLoc(), "nothing describes the operation '")
             << op->getName() << "'; " << kHelp;
    auto check = [&](Type type, Location loc) -> LogicalResult {
      auto opaque = dyn_cast<OpaqueType>(type);
      if (!opaque || table.describesDialect(opaque.getDialectNamespace()))
        return success();
      return mlir::emitError(loc) << "nothing describes the type " << type << "; " << kHelp;
    };
    for (Type type : op->getResultTypes())
      if (failed(check(type, op->getLoc())))
        return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(check(argument.getType(), argument.getLoc())))
            return failure();
    return success();
  }
};
} // namespace
