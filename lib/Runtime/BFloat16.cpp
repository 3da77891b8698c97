//===- BFloat16.cpp - Conversions that the C library may not have -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM calls these for conversions to bf16 that the processor has no instructions for; they
// are part of libgcc since GCC 13 only. Rounds to nearest, ties to even, and once.
//
//===----------------------------------------------------------------------===//

#include "Remat/Runtime/Runtime.h"

#include <cmath>
#include <cstring>

static uint32_t getBits(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// A bf16 is returned where a float is, in the lower half.
static float returnUpperHalf(uint32_t bits) {
  bits >>= 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(bugprone-reserved-identifier): the names that LLVM calls.
REMAT_EXPORT float __truncsfbf2(float value) {
  uint32_t bits = getBits(value);
  constexpr uint32_t kQuiet = 0x400000, kHalf = 0x7fff;
  if (std::isnan(value))
    return returnUpperHalf(bits | kQuiet);
  return returnUpperHalf(bits + kHalf + ((bits >> 16) & 1));
}

REMAT_EXPORT float __truncdfbf2(double value) {
  float nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value)
    return __truncsfbf2(nearest);
  // Of the two floats around, the one whose last bit is 1: it is on the same side of every
  // number that the second rounding decides at.
  uint32_t bits = getBits(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value))
    --bits;
  bits |= 1;
  std::memcpy(&nearest, &bits, sizeof(nearest));
  return __truncsfbf2(nearest);
}
// NOLINTEND(bugprone-reserved-identifier)
