//===- Step.h - The training step that is executed --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_STEP_H
#define REMAT_TOOLS_REMAT_RUN_STEP_H

#include "Execution.h"
#include "Remat/Analysis/Categories.h"
#include "Remat/Analysis/CostProfile.h"
#include "Remat/Analysis/FusionModel.h"
#include "Remat/Analysis/Target.h"
#include "Remat/Conversion/LibraryCalls.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Pass/PassManager.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir::remat {

/// An operation of the step, as the planner sees it.
struct StepOperation {
  std::string name, location;
  /// Picoseconds by the cost model.
  int64_t predicted;
};

/// What all variants have in common.
struct Step {
  OwningOpRef<ModuleOp> module;
  std::string function;
  std::vector<ArgumentInfo> arguments;
  ValueRoles roles;
  Target target;
  std::vector<StepOperation> operations;
};

struct StepOptions {
  /// The training step; empty where only one function is public.
  std::string function;
  /// Cost model.
  std::string target;
  Fusion fusion = Fusion::Kernels;
  /// Whether arguments may be overwritten by their new values.
  bool donate = false;
  Libraries libraries = Libraries::CPU;
};

/// Reads and simplifies a file, and puts operations together. What MLIR has found is told by
/// its diagnostics.
llvm::Expected<Step> readStep(MLIRContext &context, llvm::SourceMgr &sources, llvm::StringRef path,
                              const StepOptions &options);

/// How values of a type are passed; an error where they cannot be.
llvm::Expected<TensorInfo> getTensorInfo(Type type, const DataLayout &layout);

LogicalResult runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_STEP_H
