//===- Random.h - Reproducible random numbers -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SplitMix64 and a few ways to use it. The same seed gives the same numbers on
// every machine: they are reduced by hand, never by a distribution of the
// standard library.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_RANDOM_H
#define REMAT_TEST_FUZZ_RANDOM_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace mlir::remat::fuzz {

/// The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014): a bijection that mixes well.
inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A hash of two hashes; the order matters.
inline uint64_t combine(uint64_t a, uint64_t b) {
  return mix(a * 0x9e3779b97f4a7c15u + mix(b + 0x632be59bd9b4e019u));
}

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() { return mix(state += 0x9e3779b97f4a7c15u); }
  /// In [0, limit), limit above 0.
  int64_t below(int64_t limit) { return int64_t(next() % uint64_t(limit)); }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// True in `percent` of all cases.
  bool chance(int64_t percent) { return below(100) < percent; }

  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  /// An index, with the given weights.
  size_t pickWeighted(llvm::ArrayRef<int64_t> weights) {
    int64_t sum = 0;
    for (int64_t weight : weights)
      sum += weight;
    int64_t number = below(sum);
    size_t index = 0;
    while (number >= weights[index])
      number -= weights[index++];
    return index;
  }

private:
  uint64_t state;
};

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_RANDOM_H
