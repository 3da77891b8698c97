//===- Random.h - Random numbers that are the same everywhere ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) and what searches draw from it, in
// integers only: no rounding, no library whose results differ between machines.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_RANDOM_H
#define REMAT_LIB_PLANNER_RANDOM_H

#include "llvm/ADT/bit.h"
#include <cstdint>

namespace mlir::remat::planner {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    state += 0x9e3779b97f4a7c15;
    uint64_t bits = state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  /// In [0, end), `end` above 0.
  int64_t below(int64_t end) { return static_cast<int64_t>(next() % static_cast<uint64_t>(end)); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }

  /// True `percent` times out of 100.
  bool chance(int percent) { return below(100) < percent; }

  /// An exponentially distributed number with mean about 2^16: minus the binary
  /// logarithm of a uniform one, linear between powers of two, times ln 2 * 2^16.
  int64_t exponential() {
    uint64_t bits = next() | 1;
    int zeros = llvm::countl_zero(bits);
    // The 16 bits behind the leading one.
    int64_t fraction = zeros + 1 < 64 ? (bits << (zeros + 1)) >> 48 : 0;
    return ((static_cast<int64_t>(zeros + 1) << 16) - fraction) * 45426 >> 16;
  }

private:
  uint64_t state;
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_RANDOM_H
