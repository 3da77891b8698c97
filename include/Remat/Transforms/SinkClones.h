//===- SinkClones.h - Recomputing only in the branch that needs it ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_SINKCLONES_H
#define REMAT_TRANSFORMS_SINKCLONES_H

#include "Remat/Analysis/OperationSummary.h"

namespace mlir::remat {

/// Moves clones, with their barriers and destinations, in front of their first
/// reader inside of the only region that reads them, where that is executed at
/// most once: a branch that is not taken then computes nothing again.
///
///     %b = remat.barrier %0 after %2     scf.if %c {
///     %3 = exp %b                          %b = remat.barrier %0 after %2
///     scf.if %c {                   ->     %3 = exp %b
///       use %3                             use %3
///     } else { ... }                     } else { ... }
///
/// Returns the number of operations moved.
size_t sinkClonesIntoBranches(Block &block, SummaryAnalysis &summaries);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_SINKCLONES_H
