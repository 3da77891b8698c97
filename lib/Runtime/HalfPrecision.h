//===- HalfPrecision.h - f16 and bf16 from and to f32 -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without branches, so that loops over many elements are vectorised on any processor, and
// with integer arithmetic, so that results are the same on all of them. To f32 is exact;
// from f32 rounds to the nearest number, of two to the one whose last bit is 0.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_RUNTIME_HALFPRECISION_H
#define REMAT_LIB_RUNTIME_HALFPRECISION_H

#include <cstdint>
#include <cstring>

namespace mlir::remat::runtime {

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

inline float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float widen(float value) { return value; }
inline double widen(double value) { return value; }
inline float widen(uint8_t value) { return value; }

inline float widen(BFloat16 value) { return asFloat(static_cast<uint32_t>(value.bits) << 16); }

/// The exponent is larger by the difference of the biases, 112, which also makes normal
/// numbers of those that are not; infinities and NaNs have the largest one.
inline float widen(Float16 value) {
  constexpr uint32_t kTwoTo112 = (127 + 112) << 23;
  uint32_t magnitude = (value.bits & 0x7fffU) << 13;
  uint32_t bits = asBits(asFloat(magnitude) * asFloat(kTwoTo112));
  bits |= magnitude >= 0x7c00U << 13 ? 0xffU << 23 : 0;
  return asFloat(bits | (value.bits & 0x8000U) << 16);
}

inline void narrow(float value, float &result) { result = value; }
inline void narrow(double value, double &result) { result = value; }

inline void narrow(float value, BFloat16 &result) {
  uint32_t bits = asBits(value);
  uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1);
  bool isNaN = (bits & 0x7fffffffU) > 0x7f800000U;
  result.bits = static_cast<uint16_t>((isNaN ? bits | 0x400000U : rounded) >> 16);
}

inline void narrow(float value, Float16 &result) {
  uint32_t sign = asBits(value) & 0x80000000U, magnitude = asBits(value) ^ sign;
  // Normal numbers: another bias, and bits of the mantissa rounded away.
  uint32_t normal = (magnitude + 0xfffU + (magnitude >> 13 & 1) - (112U << 23)) >> 13;
  // Below 2^-14: the sum with 1/2 has the bits at their places, rounded.
  constexpr uint32_t kHalf = 126U << 23;
  uint32_t small = asBits(asFloat(magnitude) + asFloat(kHalf)) - kHalf;
  uint32_t special = magnitude > 0x7f800000U ? 0x7e00 : 0x7c00;
  // 65520 and above are nearer to 2^16 than to the largest number.
  uint32_t bits = magnitude >= 0x477ff000U ? special : magnitude < 113U << 23 ? small : normal;
  result.bits = static_cast<uint16_t>(bits | sign >> 16);
}

} // namespace mlir::remat::runtime

#endif // REMAT_LIB_RUNTIME_HALFPRECISION_H
