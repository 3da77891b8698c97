//===- ChainStructure.h - A problem cut into stages -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages of a chain (see Chain.h) and the bytes that executing them takes.
// Not installed.
//
// Forward values are kept from their first computation to their last use when they
// are never in memory, may not be computed twice, or are results of the problem.
// Kept values don't hinder a cut. All bytes are aligned, without those of boundary
// values.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_CHAINSTRUCTURE_H
#define REMAT_LIB_PLANNER_CHAINSTRUCTURE_H

#include "Remat/Planner/Problem.h"
#include <optional>

namespace mlir::remat::planner {

/// Operations of one stage, executed one after the other.
struct StageRun {
  std::vector<OpIndex> operations;
  int64_t cost = 0;
  /// The most bytes of values of the stage and workspace that are live at once, and of
  /// all kept values so far if it is the first run; and with the input of the stage up
  /// to its last reader.
  int64_t peak = 0;
  int64_t peakWithInput = 0;
};

struct Stage {
  /// What the next stage reads; kNoValue if it reads nothing.
  ValueIndex output = kNoValue;
  int64_t outputBytes = 0;
  /// Whether the stage's own backward part reads the output.
  bool isOutputRead = false;
  /// What the backward part reads, and the output.
  int64_t recordedBytes = 0;

  /// Computes the output; and also what the backward part reads. Each for the first
  /// time, which computes kept values too, and again.
  StageRun firstAdvance, advance, firstRecord, record;
  /// Directly before the backward part: computes what that reads; and with the
  /// output at hand.
  StageRun replay, replayWithOutput;

  /// The backward part: operations [backwardBegin, backwardEnd) of the problem.
  OpIndex backwardBegin = 0, backwardEnd = 0;
  /// Live before the backward part, without forward values that are not kept.
  int64_t bytesBefore = 0;
  /// The most bytes live at once in the backward part, without the input of the stage;
  /// and without its output.
  int64_t backwardPeak = 0, backwardPeakBesideOutput = 0;
};

struct Chain {
  /// At least two.
  std::vector<Stage> stages;
  /// By value: whether readers refer to its first computation, not to the latest one.
  std::vector<bool> isKept;
  int64_t boundaryBytes = 0;
  /// Bytes of each value of a unit chain (see Chain.h); 0 when it is none.
  int64_t unitBytes = 0;
};

/// Cuts a problem into at most `maxStages` stages, or more if it is a unit chain.
/// Nothing, with a reason, when it is no chain. Takes time linear in the problem, but
/// for a logarithm.
std::optional<Chain> findChain(const Problem &problem, int64_t maxStages, std::string &reason);

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_CHAINSTRUCTURE_H
