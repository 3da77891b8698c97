//===- PlanArenaPass.cpp - Put all buffers into one -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Arena.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::remat {
#define GEN_PASS_DEF_REMATPLANARENAPASS
#include "Remat/Transforms/Passes.h.inc"
} // namespace mlir::remat

using namespace mlir;
using namespace mlir::remat;

namespace {
struct PlanArenaPass : public remat::impl::RematPlanArenaPassBase<PlanArenaPass> {
  using RematPlanArenaPassBase::RematPlanArenaPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<int64_t> checkedAlignment =
        checkAlignment(alignment.getValue(), getArgument(), module.getLoc());
    if (failed(checkedAlignment) || failed(checkReport()))
      return signalPassFailure();
    ArenaOptions options;
    options.alignment = *checkedAlignment;
    options.getCapacity = [&](func::FuncOp) { return capacity.getValue().bytes.value_or(0); };
    options.results = results;
    LogicalResult result =
        planArenas(module, options, [&](func::FuncOp function, const ArenaPlan &plan) {
          if (report.empty() || !isReported(function))
            return success();
          return writeOutput(report, function.getLoc(),
                             [&](raw_ostream &os) { printArena(function, plan, report, os); });
        });
    if (failed(result))
      return signalPassFailure();
  }

private:
  bool isReported(func::FuncOp function) const {
    return this->function.empty() ? function.isPublic()
                                  : function.getSymName() == this->function.getValue();
  }

  /// A file takes one function.
  LogicalResult checkReport() {
    auto functions = getOperation().getOps<func::FuncOp>();
    int64_t count = llvm::count_if(functions, [&](func::FuncOp function) {
      return !function.isExternal() && isReported(function);
    });
    if (report.empty() || count == 1)
      return success();
    if (!function.empty())
      return emitError(getOperation().getLoc(), "remat-plan-arena: there is no function '")
             << function << "' to report";
    return emitError(getOperation().getLoc(), "remat-plan-arena: name one of ")
           << count << " public functions to report: 'function=NAME'";
  }
};
} // namespace
