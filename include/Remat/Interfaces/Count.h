//===- Count.h - Non-negative integers that may be unknown ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic for element counts, flops and bytes. A result is unknown as soon
// as an input is unknown (a dynamic dimension) or it exceeds `int64_t`, so that
// a formula is written plainly and checked once at its end.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_COUNT_H
#define REMAT_INTERFACES_COUNT_H

#include "llvm/Support/CheckedArithmetic.h"
#include <cassert>
#include <cstdint>
#include <optional>

namespace mlir::remat {

/// A number of things: known and at least 0, or unknown.
class Count {
public:
  /// The known count `value`; a negative one (MLIR's mark of a dynamic
  /// dimension) is unknown.
  Count(int64_t value = 0) : value(value >= 0 ? std::optional<int64_t>(value) : std::nullopt) {}
  Count(std::optional<int64_t> value) : Count(value ? *value : -1) {}

  static Count unknown() { return Count(-1); }

  bool isKnown() const { return value.has_value(); }
  int64_t get() const {
    assert(isKnown() && "expected a known count");
    return *value;
  }
  std::optional<int64_t> asOptional() const { return value; }

  friend Count operator+(Count lhs, Count rhs) {
    if (!lhs.value || !rhs.value)
      return unknown();
    return Count(llvm::checkedAdd(*lhs.value, *rhs.value));
  }
  friend Count operator*(Count lhs, Count rhs) {
    // Nothing of an unknown size is still nothing.
    if (lhs.value == 0 || rhs.value == 0)
      return Count(0);
    if (!lhs.value || !rhs.value)
      return unknown();
    return Count(llvm::checkedMul(*lhs.value, *rhs.value));
  }
  Count &operator+=(Count other) { return *this = *this + other; }
  Count &operator*=(Count other) { return *this = *this * other; }

private:
  std::optional<int64_t> value;
};

} // namespace mlir::remat

#endif // REMAT_INTERFACES_COUNT_H
