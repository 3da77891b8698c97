//===- FusionModel.h - Which values are never written to memory -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that decides which operations share a kernel. An operation that is
// *inlined* has no storage for its result: each reader computes the elements that it
// reads, from what the operation reads, which must be live that much longer.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_FUSIONMODEL_H
#define REMAT_ANALYSIS_FUSIONMODEL_H

#include "Remat/Analysis/OperationSummary.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::remat {

/// `fusion`, with Auto decided for `module`.
Fusion resolveFusion(Fusion fusion, Operation *module);

/// "none", "kernels", "xla" or "auto".
StringRef getFusionName(Fusion fusion);

/// Whether an attribute of `op` says something about an operation that is to stay one.
bool hasUserWord(Operation *op);

/// Which kernels may become larger.
enum class Inlining {
  /// All.
  Anywhere,
  /// Only those that compute each element by itself: reductions, whose terms would be
  /// computed and added by other code, stay what they are.
  Elementwise,
};

/// The operations of `block` that are inlined into their readers, in program order.
///
/// An operation is inlined if all readers of its result can compute elements of it, and
/// if that repeats no division, root or transcendental function, and simple arithmetic at
/// most four times. Live bytes never rise above the highest of the block as it stands;
/// and where elements are computed more than once, what has to live longer is at most an
/// eighth larger than the result.
SmallVector<Operation *> findInlinedOperations(Block &block, SummaryAnalysis &summaries,
                                               Inlining inlining = Inlining::Anywhere);

/// The value that XLA changes a part of to compute an operation with one result: the first
/// operand of an update or a scatter, and what is added to a scatter into zeros. Null for
/// all others.
Value getUpdatedValue(Operation *op, SummaryAnalysis &summaries);

/// The operations of `block` whose results XLA never writes to memory: their readers
/// compute the elements that they read, from what the operation reads. These are
/// elementwise operations, broadcasts, slices, transposes, pads and concatenations all of
/// whose readers, seen through reshapes, compute elements or reduce them. With several
/// readers it must not be costly, and reading what it is computed from once for each must
/// move less than writing it once and reading it. Reshapes of virtual results are virtual,
/// too, and what is scattered into zeros to be added to something.
llvm::DenseSet<Operation *> findVirtualOperations(Block &block, SummaryAnalysis &summaries);

/// Bytes that the kernel of `op` with `inlined` reads from memory: of each value as much as
/// the operation that reads most of it.
int64_t getReadBytes(Operation *op, ArrayRef<Operation *> inlined, SummaryAnalysis &summaries);

/// Those of `virtuals` that the kernel of `op` computes, each behind what it reads.
SmallVector<Operation *> getInlined(Operation *op, const llvm::DenseSet<Operation *> &virtuals);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_FUSIONMODEL_H
