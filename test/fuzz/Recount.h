//===- Recount.h - The memory of a function, counted slowly -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory model of docs/memory-model.md once more, written for the operations
// that the generator uses and without any of the project's code: neither its
// models nor its planner. Quadratic.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_RECOUNT_H
#define REMAT_TEST_FUZZ_RECOUNT_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include <vector>

namespace mlir::remat::fuzz {

/// A storage or workspace that is live while the operations [begin, end) run.
struct CountedBuffer {
  int64_t begin, end, bytes;
  bool operator<(const CountedBuffer &other) const {
    return std::tie(begin, end, bytes) < std::tie(other.begin, other.end, other.bytes);
  }
  bool operator==(const CountedBuffer &other) const {
    return std::tie(begin, end, bytes) == std::tie(other.begin, other.end, other.bytes);
  }
};

struct Recount {
  /// Before alignment, by operation of the body.
  std::vector<int64_t> liveBytes;
  int64_t livePeak = 0;
  /// The same with every buffer aligned: no packing needs less.
  int64_t alignedPeak = 0;
  /// Of arguments and program data, aligned.
  int64_t boundaryBytes = 0;
  /// All others of more than 0 bytes, sorted.
  std::vector<CountedBuffer> buffers;
};

/// Counts a function with one block. With `temporariesOnly`, arguments and
/// results have 0 bytes.
Recount recount(FunctionOpInterface function, bool temporariesOnly, int64_t alignment);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_RECOUNT_H
