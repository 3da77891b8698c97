//===- FitPipelineOptions.h - Options of pipelines that fit arenas ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PIPELINES_FITPIPELINEOPTIONS_H
#define REMAT_LIB_PIPELINES_FITPIPELINEOPTIONS_H

#include "Remat/Pipelines/Passes.h"

namespace mlir::remat {

/// Those of remat-fit-arena, with other defaults for other processors.
struct FitPipelineOptions : public PassPipelineOptions<FitPipelineOptions> {
  FitPipelineOptions() : FitPipelineOptions("cpu", 64) {}
  FitPipelineOptions(StringRef targetName, int64_t bytes) {
    target = targetName.str();
    alignment = ByteCount(bytes);
  }

  Option<Budget> budget{*this, "budget", llvm::cl::desc("Highest memory allowed"),
                        llvm::cl::init(Budget())};
  Option<std::string> target{*this, "target", llvm::cl::desc("Cost model"), llvm::cl::init("")};
  Option<std::string> profile{*this, "profile", llvm::cl::desc("Measured costs"),
                              llvm::cl::init("")};
  Option<std::string> models{*this, "models", llvm::cl::desc("Models file"), llvm::cl::init("")};
  Option<ByteCount> alignment{*this, "alignment", llvm::cl::desc("Of every buffer"),
                              llvm::cl::init(ByteCount(64))};
  Option<int64_t> effort{*this, "effort", llvm::cl::desc("Work of the search, 0 to 10"),
                         llvm::cl::init(1)};
  Option<ArenaResults> results{
      *this, "results", llvm::cl::desc("Where results are"), llvm::cl::init(ArenaResults::Arena),
      llvm::cl::values(
          clEnumValN(ArenaResults::Arena, "arena", "in the arena"),
          clEnumValN(ArenaResults::Caller, "caller", "in buffers that the caller passes in"))};

  RematFitArenaPassOptions get(Libraries libraries) const {
    RematFitArenaPassOptions fit;
    fit.budget = budget;
    fit.target = target;
    fit.profile = profile;
    fit.models = models;
    fit.alignment = alignment;
    fit.effort = effort;
    fit.results = results;
    fit.libraries = libraries;
    return fit;
  }
};

} // namespace mlir::remat

#endif // REMAT_LIB_PIPELINES_FITPIPELINEOPTIONS_H
