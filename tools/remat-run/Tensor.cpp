//===- Tensor.cpp - Values that go into a training step and come out --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace mlir::remat;

namespace {
/// A type of elements: how it is stored, and what NumPy calls it.
struct Element {
  StringRef name;
  int64_t bytes;
  const fltSemantics *semantics;
  /// The first is written, any is read.
  std::vector<StringRef> numpy;
};
} // namespace

static const Element *findElement(StringRef name) {
  // NumPy has no bfloat16.
  static const Element elements[] = {
      {"f32", 4, &APFloat::IEEEsingle(), {"<f4"}},
      {"f64", 8, &APFloat::IEEEdouble(), {"<f8"}},
      {"f16", 2, &APFloat::IEEEhalf(), {"<f2"}},
      {"bf16", 2, &APFloat::BFloat(), {"<u2", "|V2", "<i2"}},
      {"i1", 1, nullptr, {"|b1", "|u1", "|i1"}},
      {"i8", 1, nullptr, {"|i1", "|u1"}},
      {"i16", 2, nullptr, {"<i2", "<u2"}},
      {"i32", 4, nullptr, {"<i4", "<u4"}},
      {"i64", 8, nullptr, {"<i8", "<u8"}},
      {"index", 8, nullptr, {"<i8", "<u8"}},
  };
  const auto *found =
      find_if(elements, [&](const Element &element) { return element.name == name; });
  return found == std::end(elements) ? nullptr : found;
}

ArrayRef<StringRef> mlir::remat::getNumPyTypes(StringRef element) {
  return findElement(element)->numpy;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static uint64_t readBits(const Element &element, const char *data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, element.bytes);
  return bits;
}

static double readNumber(const Element &element, const char *data) {
  uint64_t bits = readBits(element, data);
  if (!element.semantics)
    return double(SignExtend64(bits, element.bytes * 8));
  if (element.bytes == 8)
    return bit_cast<double>(bits);
  APFloat number(*element.semantics, APInt(element.bytes * 8, bits));
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

static void writeFloat(const Element &element, double value, char *data) {
  // Parameters are many.
  if (element.semantics == &APFloat::IEEEsingle()) {
    auto rounded = static_cast<float>(value);
    std::memcpy(data, &rounded, sizeof(rounded));
    return;
  }
  APFloat number(value);
  bool losesInfo = false;
  number.convert(*element.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(data, &bits, element.bytes);
}

double mlir::remat::readFirst(const TensorInfo &tensor, const char *data) {
  return tensor.count == 0 ? std::numeric_limits<double>::quiet_NaN()
                           : readNumber(*findElement(tensor.element), data);
}

double mlir::remat::getLargestDifference(const TensorInfo &tensor, const char *a, const char *b) {
  const Element &element = *findElement(tensor.element);
  double largest = 0;
  for (int64_t index = 0; index < tensor.count; ++index) {
    const char *left = a + index * element.bytes, *right = b + index * element.bytes;
    if (readBits(element, left) == readBits(element, right))
      continue;
    double first = readNumber(element, left), second = readNumber(element, right);
    if (std::isnan(first) != std::isnan(second))
      return std::numeric_limits<double>::infinity();
    if (!std::isnan(first))
      largest = std::max(largest, std::abs(first - second));
  }
  return largest;
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014).
static uint64_t mix(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void mlir::remat::fillRandomly(const TensorInfo &tensor, bool isNonNegative, int64_t seed,
                               int64_t index, char *data) {
  constexpr uint64_t kIntegerLimit = 8;
  const Element &element = *findElement(tensor.element);
  uint64_t state = static_cast<uint64_t>(seed);
  state = mix(state) + static_cast<uint64_t>(index);
  state = mix(state);
  for (int64_t number = 0; number < tensor.count; ++number, data += element.bytes) {
    uint64_t bits = mix(state);
    if (element.semantics) {
      double fraction = double(bits >> 11) * 0x1p-53;
      writeFloat(element, isNonNegative ? fraction / 4 : fraction - 0.5, data);
      continue;
    }
    bits %= element.name == "i1" ? 2 : kIntegerLimit;
    std::memcpy(data, &bits, element.bytes);
  }
}
