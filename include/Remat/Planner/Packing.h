//===- Packing.h - Offsets for live ranges in one arena ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offset assignment ("dynamic storage allocation"): buffers with fixed live
// ranges get fixed offsets so that buffers that are live together do not
// overlap, in an arena that is as small as the heuristic manages, or that an
// exact search keeps within a capacity.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_PACKING_H
#define REMAT_PLANNER_PACKING_H

#include "Remat/Planner/Simulator.h"
#include <optional>

namespace mlir::remat::planner {

/// A buffer that is live in the half-open range [begin, end), begin < end.
struct Buffer {
  int64_t begin;
  int64_t end;
  int64_t bytes;
};

struct Packing {
  /// One offset per buffer, each a multiple of the alignment.
  std::vector<int64_t> offsets;
  /// End of the highest buffer, rounded up to the alignment.
  int64_t arenaBytes = 0;
};

/// How much work a packing may take: visits of buffers that are in the way of
/// another one. This many take about 25 ms.
constexpr int64_t kPackingVisits = 6'000'000;

/// Packs with several methods and keeps the smallest arena, the first of equal
/// ones: first fit by decreasing size; best fit in the order of time, forwards
/// and backwards; first fit by size, size squared times length, length and
/// time, each improved by moving what sticks out to the front half of the
/// order. Stops when the largest sum of live aligned bytes, a lower bound, is
/// reached up to a 4096th, or after `maxVisits`; with very many overlapping
/// pairs only the order of time is tried. Buffers of 0 bytes get offset 0.
/// Deterministic; the size of the arena depends on the sizes of the buffers and on who
/// overlaps whom, and on nothing else.
Packing packBestFit(llvm::ArrayRef<Buffer> buffers, int64_t alignment,
                    int64_t maxVisits = kPackingVisits);

/// The largest capacity that `packWithin` takes, in bytes.
constexpr int64_t kMaxPackingCapacity = int64_t(1) << 61;

/// How much work an exact search may take: looks at buffers that are live in a
/// section of time. This many take less than a minute.
constexpr int64_t kExactPackingVisits = 2'000'000'000;

/// Searches for a packing with an arena of at most `capacity` bytes, from 0 to
/// kMaxPackingCapacity. Without an answer, `isComplete` says whether that proves
/// that there is none; otherwise `maxVisits` were used up, or the buffers have
/// too many overlaps to be searched in memory. Buffers of 0 bytes get offset 0.
/// Deterministic.
std::optional<Packing> packWithin(llvm::ArrayRef<Buffer> buffers, int64_t alignment,
                                  int64_t capacity, int64_t maxVisits = kExactPackingVisits,
                                  bool *isComplete = nullptr);

/// Returns an error naming two buffers that overlap, or an offset that is
/// negative or not aligned, or a buffer that exceeds the arena.
llvm::Error verifyPacking(llvm::ArrayRef<Buffer> buffers, int64_t alignment,
                          const Packing &packing);

/// The packed peak of an executed plan: boundary bytes plus the arena of all
/// other storages and of the workspaces, in bytes.
struct PackedPlan {
  /// Of the storages of the simulation; 0 for boundary storages.
  std::vector<int64_t> offsets;
  /// Of the workspace of each step; 0 where there is none.
  std::vector<int64_t> workspaceOffsets;
  int64_t arenaBytes = 0;
  int64_t packedBytes = 0;
};

/// With best fit, and for few buffers an exact search that takes an eighth of
/// `maxVisits` at most. Never larger than what best fit finds.
PackedPlan pack(const Problem &problem, const Plan &plan, const Simulation &simulation,
                int64_t maxVisits = kPackingVisits);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_PACKING_H
