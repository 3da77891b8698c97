//===- TrainingStep.h - The training step that is compiled ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXECUTION_TRAININGSTEP_H
#define REMAT_EXECUTION_TRAININGSTEP_H

#include "Remat/Analysis/Categories.h"
#include "Remat/Analysis/CostProfile.h"
#include "Remat/Analysis/FusionModel.h"
#include "Remat/Analysis/Target.h"
#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Execution/StepDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::remat {

/// An operation of the step, as the planner sees it.
struct StepOperation {
  std::string name, location;
  /// Picoseconds by the cost model.
  int64_t predicted;
};

/// A training step before its memory is planned: simplified, with operations put together.
struct TrainingStep {
  OwningOpRef<ModuleOp> module;
  std::string function;
  std::vector<ArgumentInfo> arguments;
  ValueRoles roles;
  Target target;
  /// As of the options.
  Fusion fusion = Fusion::Kernels;
  Libraries libraries = Libraries::CPU;
  std::vector<StepOperation> operations;
};

struct StepOptions {
  /// The training step; empty where only one function is public.
  std::string function;
  /// Cost model.
  std::string target = "cpu";
  Fusion fusion = Fusion::Kernels;
  /// Whether arguments may be overwritten by their new values.
  bool donate = false;
  Libraries libraries = Libraries::CPU;
};

/// Loads the dialects, interfaces and translations that training steps need.
void loadStepDialects(MLIRContext &context);

/// Whose libraries compute products for a device, and whose cost model is the default.
Libraries getLibraries(Device device, bool allowsTF32);
llvm::StringRef getDefaultTarget(Device device);

/// Simplifies a module, in a context of `loadStepDialects`, and puts operations together. Arguments
/// and results of the function are static tensors of integers and floats. What MLIR has found is
/// told by its diagnostics.
llvm::Expected<TrainingStep> prepareStep(OwningOpRef<ModuleOp> module, const StepOptions &options);

} // namespace mlir::remat

#endif // REMAT_EXECUTION_TRAININGSTEP_H
