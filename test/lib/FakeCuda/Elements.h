//===- Elements.h - Numbers in memory ---------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_LIB_FAKECUDA_ELEMENTS_H
#define REMAT_TEST_LIB_FAKECUDA_ELEMENTS_H

#include "Runtime/HalfPrecision.h"

#include <algorithm>
#include <vector>

namespace mlir::remat::fake {

enum class Element { None, Half, BFloat, Single, Double };

inline int64_t getBytes(Element type) {
  switch (type) {
  case Element::Half:
  case Element::BFloat:
    return 2;
  case Element::Single:
    return 4;
  default:
    return 8;
  }
}

template <typename T>
T loadAs(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}

inline double load(Element type, const void *data, int64_t index) {
  switch (type) {
  case Element::Half:
    return runtime::widen(loadAs<runtime::Float16>(data, index));
  case Element::BFloat:
    return runtime::widen(loadAs<runtime::BFloat16>(data, index));
  case Element::Single:
    return loadAs<float>(data, index);
  default:
    return loadAs<double>(data, index);
  }
}

template <typename T, typename Sum>
void storeAs(void *data, int64_t index, Sum value) {
  T stored;
  runtime::narrow(value, stored);
  std::memcpy(static_cast<char *>(data) + index * int64_t(sizeof(T)), &stored, sizeof(T));
}

/// Rounds once, from the type of sums: f64 for f64, else f32.
inline void store(Element type, void *data, int64_t index, double value) {
  switch (type) {
  case Element::Half:
    return storeAs<runtime::Float16>(data, index, static_cast<float>(value));
  case Element::BFloat:
    return storeAs<runtime::BFloat16>(data, index, static_cast<float>(value));
  case Element::Single:
    return storeAs<float>(data, index, static_cast<float>(value));
  default:
    return storeAs<double>(data, index, value);
  }
}

/// To 10 bits of fraction.
inline double roundToTF32(double value) {
  uint32_t bits = runtime::asBits(static_cast<float>(value));
  constexpr uint32_t kDropped = 13;
  bits += (1U << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
  return runtime::asFloat(bits >> kDropped << kDropped);
}

/// A sum as the library computes it: in f64, or in f32.
class Sum {
public:
  explicit Sum(bool isDouble) : isDouble(isDouble) {}
  void add(double a, double b) {
    value += a * b;
    if (!isDouble)
      value = static_cast<float>(value);
  }
  double get() const { return value; }

private:
  bool isDouble;
  double value = 0;
};

/// Whether no two are the same.
inline bool areDistinct(std::vector<int64_t> places) {
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) == places.end();
}

} // namespace mlir::remat::fake

#endif // REMAT_TEST_LIB_FAKECUDA_ELEMENTS_H
