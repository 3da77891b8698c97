//===- ByteCount.cpp - Byte counts as people write them ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/ByteCount.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir::remat;
using llvm::StringRef;

static constexpr const char *kUnits = "B, KB, MB, GB, TB, KiB, MiB, GiB";

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

namespace {
/// digits times ten to the power of `exponent`.
struct Decimal {
  uint64_t digits = 0;
  int64_t exponent = 0;
};
} // namespace

/// Takes an unsigned decimal number with optional fraction and exponent off the
/// front of `text`. `overflows` tells a number of too many digits from none.
static std::optional<Decimal> consumeDecimal(StringRef &text, bool &overflows) {
  Decimal number;
  overflows = false;
  bool hasDigits = false, isFraction = false;
  auto addDigit = [&](char digit) {
    hasDigits = true;
    if (number.digits > (std::numeric_limits<uint64_t>::max() - 9) / 10) {
      overflows = true;
      return;
    }
    number.digits = number.digits * 10 + (digit - '0');
    number.exponent -= isFraction;
  };
  while (!text.empty() && (llvm::isDigit(text[0]) || (text[0] == '.' && !isFraction))) {
    if (text[0] == '.')
      isFraction = true;
    else
      addDigit(text[0]);
    text = text.drop_front();
  }
  if (!hasDigits)
    return std::nullopt;
  // "1e9": an exponent only when digits follow.
  StringRef rest = text;
  if (rest.consume_front_insensitive("e")) {
    bool isNegative = rest.consume_front("-");
    if (!isNegative)
      rest.consume_front("+");
    int64_t exponent;
    StringRef digits = rest.take_while(llvm::isDigit);
    if (!digits.empty() && digits.size() <= 3 && !digits.getAsInteger(10, exponent)) {
      number.exponent += isNegative ? -exponent : exponent;
      text = rest.drop_front(digits.size());
    }
  }
  return number;
}

/// number * scale as a whole number; nothing when it is none or does not fit.
static std::optional<int64_t> scaleExactly(Decimal number, int64_t scale) {
  if (number.digits == 0)
    return 0;
  unsigned __int128 value = static_cast<unsigned __int128>(number.digits) * scale;
  for (; number.exponent < 0; ++number.exponent) {
    if (value % 10 != 0)
      return std::nullopt;
    value /= 10;
  }
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  for (; number.exponent > 0; --number.exponent) {
    if (value > kMax)
      return std::nullopt;
    value *= 10;
  }
  if (value > kMax)
    return std::nullopt;
  return static_cast<int64_t>(value);
}

/// `units` ends the list of units in a message.
static llvm::Expected<int64_t> parseBytes(StringRef text, const char *units) {
  StringRef rest = text.trim();
  if (rest.starts_with("-"))
    return makeError("expected a byte count that is not negative, but got '" + text + "'");
  bool overflows;
  std::optional<Decimal> number = consumeDecimal(rest, overflows);
  if (!number)
    return makeError("expected a byte count such as '4GB' or '512MiB', but got '" + text + "'");
  std::string unit = rest.trim().lower();
  int64_t scale = llvm::StringSwitch<int64_t>(unit)
                      .Case("b", 1)
                      .Case("kb", 1000)
                      .Case("mb", 1000 * 1000)
                      .Case("gb", 1000 * 1000 * 1000)
                      .Case("tb", int64_t(1000) * 1000 * 1000 * 1000)
                      .Case("kib", int64_t(1) << 10)
                      .Case("mib", int64_t(1) << 20)
                      .Case("gib", int64_t(1) << 30)
                      .Case("tib", int64_t(1) << 40)
                      .Default(0);
  if (scale == 0)
    return makeError("byte count '" + text + "' has " +
                     (unit.empty() ? "no unit" : "the unknown unit '" + rest.trim() + "'") +
                     "; expected a unit: " + kUnits + units);
  std::optional<int64_t> bytes = scaleExactly(*number, scale);
  if (!bytes || overflows)
    return makeError("byte count '" + text + "' is not a whole number of bytes below 2^63");
  return *bytes;
}

llvm::Expected<int64_t> mlir::remat::parseByteCount(StringRef text) {
  return parseBytes(text, " or TiB");
}

llvm::Expected<Budget> mlir::remat::parseBudget(StringRef text) {
  StringRef rest = text.trim();
  if (rest.empty())
    return makeError("expected a budget such as '4GB' or '80%', but got an empty string");
  if (rest == "none")
    return Budget();
  if (!rest.ends_with("%")) {
    llvm::Expected<int64_t> bytes = parseBytes(text, ", TiB or %");
    if (!bytes)
      return bytes.takeError();
    return Budget{Budget::Kind::Bytes, *bytes};
  }
  rest = rest.drop_back().rtrim();
  bool overflows;
  std::optional<Decimal> number = consumeDecimal(rest, overflows);
  std::optional<int64_t> percent;
  if (number && rest.empty() && !overflows)
    percent = scaleExactly(*number, Budget::kPercentScale);
  if (!percent || *percent <= 0 || *percent > 100 * Budget::kPercentScale)
    return makeError("expected a percentage above 0% and at most 100%, but got '" + text + "'");
  return Budget{Budget::Kind::Fraction, *percent};
}

llvm::Expected<CostLimit> mlir::remat::parseCostLimit(StringRef text) {
  StringRef rest = text.trim();
  if (rest == "none")
    return CostLimit();
  std::optional<int64_t> percent;
  bool overflows;
  if (rest.consume_back("%"))
    if (std::optional<Decimal> number = consumeDecimal(rest = rest.rtrim(), overflows);
        number && rest.empty() && !overflows)
      percent = scaleExactly(*number, Budget::kPercentScale);
  if (!percent || *percent < 0 || *percent > 1'000'000 * Budget::kPercentScale)
    return makeError("expected a percentage from 0% to 1000000%, such as '5%', but got '" + text +
                     "'");
  return CostLimit{*percent};
}

int64_t CostLimit::resolve(int64_t cost) const {
  if (!amount)
    return std::numeric_limits<int64_t>::max();
  auto limit = static_cast<__int128>(cost) * *amount / (100 * Budget::kPercentScale);
  return static_cast<int64_t>(std::min<__int128>(limit, std::numeric_limits<int64_t>::max()));
}

int64_t Budget::resolve(int64_t peak) const {
  switch (kind) {
  case Kind::None:
    return std::numeric_limits<int64_t>::max();
  case Kind::Bytes:
    return amount;
  case Kind::Fraction:
    break;
  }
  __int128 scaled = static_cast<__int128>(peak) * amount;
  __int128 whole = static_cast<__int128>(100) * kPercentScale;
  return static_cast<int64_t>((scaled + whole - 1) / whole);
}

/// A percentage times Budget::kPercentScale, without zeros behind the last digit.
static std::string percentToString(int64_t amount) {
  std::string text = std::to_string(amount / Budget::kPercentScale);
  if (int64_t fraction = amount % Budget::kPercentScale) {
    std::string digits = std::to_string(fraction + Budget::kPercentScale).substr(1);
    text += "." + StringRef(digits).rtrim('0').str();
  }
  return text + "%";
}

std::string mlir::remat::toString(const CostLimit &limit) {
  return limit.amount ? percentToString(*limit.amount) : "none";
}

std::string mlir::remat::toString(const Budget &budget) {
  switch (budget.kind) {
  case Budget::Kind::None:
    return "none";
  case Budget::Kind::Bytes:
    return std::to_string(budget.amount) + "B";
  case Budget::Kind::Fraction:
    break;
  }
  return percentToString(budget.amount);
}

/// `value` with three digits in the largest unit in which it is at least one.
static std::string formatScaled(int64_t value, llvm::ArrayRef<const char *> units) {
  std::string text;
  llvm::raw_string_ostream os(text);
  double scaled = std::fabs(static_cast<double>(value));
  size_t unit = 0;
  for (; unit + 1 < units.size() && scaled >= 999.5; ++unit)
    scaled /= 1000;
  if (value < 0)
    os << '-';
  if (unit == 0)
    os << llvm::format("%.0f", scaled);
  else
    os << llvm::format(scaled < 9.995 ? "%.2f" : scaled < 99.95 ? "%.1f" : "%.0f", scaled);
  os << ' ' << units[unit];
  return text;
}

std::string mlir::remat::formatBytes(int64_t bytes) {
  return formatScaled(bytes, {"B", "KB", "MB", "GB", "TB", "PB", "EB"});
}

std::string mlir::remat::formatPicoseconds(int64_t picoseconds) {
  return formatScaled(picoseconds, {"ps", "ns", "us", "ms", "s"});
}
