//===- ByteCount.h - Byte counts as people write them -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_SUPPORT_BYTECOUNT_H
#define REMAT_SUPPORT_BYTECOUNT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::remat {

/// Reads a byte count: a decimal number (`4`, `4.5`, `1e9`), optional blanks,
/// and one of the units B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB,
/// TiB (powers of 1024), upper or lower case. The result is exact; a count that
/// is negative, not a whole number of bytes or above 2^63-1 is an error, and so
/// is a missing or unknown unit.
llvm::Expected<int64_t> parseByteCount(llvm::StringRef text);

/// A budget: bytes, or a fraction of a peak that is known only later.
struct Budget {
  enum class Kind { None, Bytes, Fraction };
  Kind kind = Kind::None;
  /// Bytes; or the percentage times `kPercentScale`.
  int64_t amount = 0;

  static constexpr int64_t kPercentScale = 1000000;

  /// The budget in bytes where the unchanged peak is `peak`; fractions round up.
  int64_t resolve(int64_t peak) const;
  bool operator==(const Budget &other) const {
    return kind == other.kind && amount == other.amount;
  }
};

/// Reads a byte count, a percentage above 0 and at most 100 with up to six
/// decimals, or `none`. Empty text is an error.
llvm::Expected<Budget> parseBudget(llvm::StringRef text);

/// The canonical form: `4000000000B`, `80%`, `none` for no budget.
std::string toString(const Budget &budget);

/// A limit on the cost that a plan may add, as a part of the unchanged cost.
struct CostLimit {
  /// The percentage times Budget::kPercentScale; no limit without.
  std::optional<int64_t> amount;

  /// Picoseconds where the unchanged program takes `cost`, rounded down; the largest
  /// int64_t if there is no limit.
  int64_t resolve(int64_t cost) const;
  bool operator==(const CostLimit &other) const { return amount == other.amount; }
};

/// Reads a percentage from 0 to 1000000 with up to six decimals, or `none`.
llvm::Expected<CostLimit> parseCostLimit(llvm::StringRef text);

/// The canonical form: `5%`, `none` for no limit.
std::string toString(const CostLimit &limit);

/// For people: three significant decimals and the unit that fits, `17.4 GB`.
std::string formatBytes(int64_t bytes);

/// For people: `1.25 ms`.
std::string formatPicoseconds(int64_t picoseconds);

} // namespace mlir::remat

#endif // REMAT_SUPPORT_BYTECOUNT_H
