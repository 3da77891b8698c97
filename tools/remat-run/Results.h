//===- Results.h - What the variants have computed --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_RESULTS_H
#define REMAT_TOOLS_REMAT_RUN_RESULTS_H

#include "Variant.h"

namespace mlir::remat {

struct Comparison {
  /// Infinity where a number is none in the other variant.
  double maxDifference = 0;
  /// The result with the largest difference; nothing where all are equal, bit for bit.
  std::optional<size_t> result;
};

/// Compares the results of two variants that were executed.
llvm::Expected<Comparison> compareResults(const Variant &first, const Variant &second);

/// Writes `result0`, `result1`, ...: arrays in an archive where `path` ends in `.npz`, and
/// otherwise files in a folder.
llvm::Error writeResults(const Variant &variant, llvm::StringRef path);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_RESULTS_H
