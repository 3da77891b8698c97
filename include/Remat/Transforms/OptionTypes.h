//===- OptionTypes.h - Types of pass options --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options that are more than numbers, with what the pass infrastructure needs to
// read and print them.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_OPTIONTYPES_H
#define REMAT_TRANSFORMS_OPTIONTYPES_H

#include "Remat/Analysis/FunctionProblem.h"
#include "Remat/Analysis/FusionModel.h"
#include "Remat/Support/ByteCount.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::remat {

enum class OnInfeasible { Error, Warn };

/// How a memory profile is printed.
enum class ProfileFormat { Text, JSON };

/// A byte count that may be left to the program.
struct ByteCount {
  ByteCount() = default;
  ByteCount(int64_t bytes) : bytes(bytes) {}
  std::optional<int64_t> bytes;
  bool operator==(const ByteCount &other) const { return bytes == other.bytes; }
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Budget &budget) {
  return os << toString(budget);
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const CostLimit &limit) {
  return os << toString(limit);
}
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const ByteCount &count) {
  return count.bytes ? os << *count.bytes << 'B' : os << "auto";
}

} // namespace mlir::remat

namespace llvm::cl {

template <>
class parser<mlir::remat::Budget> : public basic_parser<mlir::remat::Budget> {
public:
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef name, StringRef text, mlir::remat::Budget &value);
  StringRef getValueName() const override { return "bytes|%"; }
  void printOptionDiff(const Option &option, const mlir::remat::Budget &value,
                       const OptVal &defaultValue, size_t width) const;
};

template <>
class parser<mlir::remat::CostLimit> : public basic_parser<mlir::remat::CostLimit> {
public:
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef name, StringRef text, mlir::remat::CostLimit &value);
  StringRef getValueName() const override { return "%"; }
  void printOptionDiff(const Option &option, const mlir::remat::CostLimit &value,
                       const OptVal &defaultValue, size_t width) const;
};

template <>
class parser<mlir::remat::ByteCount> : public basic_parser<mlir::remat::ByteCount> {
public:
  using basic_parser::basic_parser;
  bool parse(Option &option, StringRef name, StringRef text, mlir::remat::ByteCount &value);
  StringRef getValueName() const override { return "bytes"; }
  void printOptionDiff(const Option &option, const mlir::remat::ByteCount &value,
                       const OptVal &defaultValue, size_t width) const;
};

} // namespace llvm::cl

#endif // REMAT_TRANSFORMS_OPTIONTYPES_H
