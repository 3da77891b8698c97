//===- ByteCountTest.cpp - Byte counts as people write them -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/ByteCount.h"

#include "gtest/gtest.h"
#include <limits>

using namespace mlir::remat;
using llvm::StringRef;

static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
static constexpr int64_t kGiB = int64_t(1) << 30;

/// The bytes that `text` stands for; -1 and a failure if it is an error.
static int64_t parse(StringRef text) {
  llvm::Expected<int64_t> bytes = parseByteCount(text);
  if (bytes)
    return *bytes;
  ADD_FAILURE() << toString(bytes.takeError());
  return -1;
}

/// The text of the error about `text`; empty if there is none.
static std::string parseError(StringRef text) {
  llvm::Expected<int64_t> bytes = parseByteCount(text);
  return bytes ? "" : toString(bytes.takeError());
}

static std::string budgetError(StringRef text) {
  llvm::Expected<Budget> budget = parseBudget(text);
  return budget ? "" : toString(budget.takeError());
}

static Budget budget(StringRef text) {
  llvm::Expected<Budget> budget = parseBudget(text);
  if (budget)
    return *budget;
  ADD_FAILURE() << toString(budget.takeError());
  return Budget();
}

//===----------------------------------------------------------------------===//
// Byte counts
//===----------------------------------------------------------------------===//

TEST(ByteCountTest, DecimalUnitsArePowersOfThousand) {
  EXPECT_EQ(parse("7B"), 7);
  EXPECT_EQ(parse("7KB"), 7000);
  EXPECT_EQ(parse("7MB"), 7000000);
  EXPECT_EQ(parse("4GB"), 4000000000);
  EXPECT_EQ(parse("7TB"), 7000000000000);
}

TEST(ByteCountTest, BinaryUnitsArePowersOf1024) {
  EXPECT_EQ(parse("7KiB"), 7168);
  EXPECT_EQ(parse("7MiB"), 7340032);
  EXPECT_EQ(parse("4GiB"), 4294967296);
  EXPECT_EQ(parse("7TiB"), 7696581394432);
}

TEST(ByteCountTest, CaseAndBlanksDoNotMatter) {
  EXPECT_EQ(parse("4gb"), 4000000000);
  EXPECT_EQ(parse("4Gb"), 4000000000);
  EXPECT_EQ(parse("4gib"), 4294967296);
  EXPECT_EQ(parse("4GIB"), 4294967296);
  EXPECT_EQ(parse("4 GB"), 4000000000);
  EXPECT_EQ(parse("  4\tGB "), 4000000000);
}

TEST(ByteCountTest, FractionsAndExponentsAreExact) {
  EXPECT_EQ(parse("4.5GiB"), 9 * kGiB / 2);
  EXPECT_EQ(parse("0.1GB"), 100000000);
  EXPECT_EQ(parse(".5KB"), 500);
  EXPECT_EQ(parse("2.KB"), 2000);
  EXPECT_EQ(parse("1e9B"), 1000000000);
  EXPECT_EQ(parse("1E+3B"), 1000);
  EXPECT_EQ(parse("1.5e-1KB"), 150);
  EXPECT_EQ(parse("1.000000001GB"), 1000000001);
  // 1 / 1024 has ten decimals in binary units.
  EXPECT_EQ(parse("0.0009765625KiB"), 1);
  EXPECT_EQ(parse("0B"), 0);
  EXPECT_EQ(parse("0.000e99TB"), 0);
}

TEST(ByteCountTest, TheLargestCountFits) {
  EXPECT_EQ(parse("9223372036854775807B"), kMax);
  EXPECT_EQ(parse("9223372.036854775807TB"), kMax);
  EXPECT_EQ(parse("8388607TiB"), kMax - (int64_t(1) << 40) + 1);
}

TEST(ByteCountTest, CountsThatAreNotWholeOrTooLargeAreErrors) {
  for (StringRef text : {"1.5B", "0.3KiB", "1e-1B", "9223372036854775808B", "8388608TiB", "1e19B",
                         "1e99TB", "1e-99TB", "9223372036854775.808KB", "18446744073709551616B"})
    EXPECT_EQ(parseError(text),
              ("byte count '" + text + "' is not a whole number of bytes below 2^63").str());
}

TEST(ByteCountTest, TextWithoutANumberIsAnError) {
  for (StringRef text : {"", "  ", "GB", "x4GB", ".GB", "+4GB"})
    EXPECT_EQ(parseError(text),
              ("expected a byte count such as '4GB' or '512MiB', but got '" + text + "'").str());
}

TEST(ByteCountTest, NegativeCountsAreErrors) {
  EXPECT_EQ(parseError("-1GB"), "expected a byte count that is not negative, but got '-1GB'");
  EXPECT_EQ(parseError(" -0B"), "expected a byte count that is not negative, but got ' -0B'");
}

TEST(ByteCountTest, MissingAndUnknownUnitsAreErrors) {
  const std::string units = "; expected a unit: B, KB, MB, GB, TB, KiB, MiB, GiB or TiB";
  EXPECT_EQ(parseError("4"), "byte count '4' has no unit" + units);
  EXPECT_EQ(parseError("0.5"), "byte count '0.5' has no unit" + units);
  EXPECT_EQ(parseError("1e9"), "byte count '1e9' has no unit" + units);
  EXPECT_EQ(parseError("4GX"), "byte count '4GX' has the unknown unit 'GX'" + units);
  EXPECT_EQ(parseError("4 G B"), "byte count '4 G B' has the unknown unit 'G B'" + units);
  EXPECT_EQ(parseError("4EB"), "byte count '4EB' has the unknown unit 'EB'" + units);
  EXPECT_EQ(parseError("1.2.3GB"), "byte count '1.2.3GB' has the unknown unit '.3GB'" + units);
  EXPECT_EQ(parseError("1eGB"), "byte count '1eGB' has the unknown unit 'eGB'" + units);
}

//===----------------------------------------------------------------------===//
// Budgets
//===----------------------------------------------------------------------===//

TEST(BudgetTest, BytesArePrintedCanonically) {
  EXPECT_EQ(toString(budget("4GB")), "4000000000B");
  EXPECT_EQ(toString(budget("4.5gib")), "4831838208B");
  EXPECT_EQ(toString(budget("0B")), "0B");
}

TEST(BudgetTest, PercentagesArePrintedCanonically) {
  EXPECT_EQ(toString(budget("80%")), "80%");
  EXPECT_EQ(toString(budget(" 80.0 % ")), "80%");
  EXPECT_EQ(toString(budget("62.50%")), "62.5%");
  EXPECT_EQ(toString(budget("0.000001%")), "0.000001%");
  EXPECT_EQ(toString(budget("1e2%")), "100%");
}

TEST(BudgetTest, WhatIsPrintedReadsBackTheSame) {
  for (StringRef text : {"4GB", "0B", "9223372036854775807B", "80%", "33.333333%", "none"}) {
    Budget value = budget(text);
    EXPECT_EQ(budget(toString(value)), value) << text.str();
  }
}

TEST(BudgetTest, NoBudget) {
  EXPECT_EQ(budget("none"), Budget());
  EXPECT_EQ(toString(Budget()), "none");
  EXPECT_EQ(Budget().resolve(5), kMax);
}

TEST(BudgetTest, BytesDoNotDependOnThePeak) {
  EXPECT_EQ(budget("4GB").resolve(5), 4000000000);
  EXPECT_EQ(budget("0B").resolve(5), 0);
}

TEST(BudgetTest, PercentagesRoundUp) {
  EXPECT_EQ(budget("80%").resolve(1000), 800);
  EXPECT_EQ(budget("80%").resolve(1001), 801);
  EXPECT_EQ(budget("80%").resolve(1004), 804);
  EXPECT_EQ(budget("0.000001%").resolve(1), 1);
  EXPECT_EQ(budget("33.333333%").resolve(300000000), 99999999);
  EXPECT_EQ(budget("33.333333%").resolve(300000001), 100000000);
  EXPECT_EQ(budget("100%").resolve(1001), 1001);
  EXPECT_EQ(budget("50%").resolve(0), 0);
}

TEST(BudgetTest, PercentagesOfLargePeaksDoNotOverflow) {
  EXPECT_EQ(budget("100%").resolve(kMax), kMax);
  EXPECT_EQ(budget("50%").resolve(kMax), kMax / 2 + 1);
}

TEST(BudgetTest, PercentagesOutOfRangeAreErrors) {
  for (StringRef text : {"0%", "0.0%", "100.000001%", "101%", "-5%", "%", "x%", "8x%", "80%%",
                         "0.0000001%", "1e99%"})
    EXPECT_EQ(budgetError(text),
              ("expected a percentage above 0% and at most 100%, but got '" + text + "'").str());
}

TEST(BudgetTest, OtherErrors) {
  EXPECT_EQ(budgetError(""), "expected a budget such as '4GB' or '80%', but got an empty string");
  EXPECT_EQ(budgetError(" "), "expected a budget such as '4GB' or '80%', but got an empty string");
  EXPECT_EQ(budgetError("0.5"), "byte count '0.5' has no unit; expected a unit: B, KB, MB, GB, TB, "
                                "KiB, MiB, GiB, TiB or %");
  EXPECT_EQ(budgetError("-1GB"), parseError("-1GB"));
  EXPECT_EQ(budgetError("None"), parseError("None"));
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

TEST(FormatTest, BytesHaveThreeDigits) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(999), "999 B");
  EXPECT_EQ(formatBytes(1000), "1.00 KB");
  EXPECT_EQ(formatBytes(17432000000), "17.4 GB");
  EXPECT_EQ(formatBytes(123456789), "123 MB");
  EXPECT_EQ(formatBytes(kMax), "9.22 EB");
}

TEST(FormatTest, RoundingUpReachesTheNextUnit) {
  EXPECT_EQ(formatBytes(9996), "10.0 KB");
  EXPECT_EQ(formatBytes(99960), "100 KB");
  EXPECT_EQ(formatBytes(999999), "1.00 MB");
}

TEST(FormatTest, NegativeNumbersKeepTheirUnit) { EXPECT_EQ(formatBytes(-17432000000), "-17.4 GB"); }

TEST(FormatTest, PicosecondsHaveThreeDigits) {
  EXPECT_EQ(formatPicoseconds(0), "0 ps");
  EXPECT_EQ(formatPicoseconds(1250000000), "1.25 ms");
  EXPECT_EQ(formatPicoseconds(12345678), "12.3 us");
  EXPECT_EQ(formatPicoseconds(int64_t(3600) * 1000 * 1000 * 1000 * 1000), "3600 s");
}
