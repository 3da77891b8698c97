//===- OptionTypes.cpp - Types of pass options ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/OptionTypes.h"

using namespace llvm;
using namespace mlir::remat;

bool cl::parser<Budget>::parse(Option &option, StringRef, StringRef text, Budget &value) {
  Expected<Budget> budget = parseBudget(text);
  if (!budget)
    return option.error(toString(budget.takeError()));
  value = *budget;
  return false;
}

void cl::parser<Budget>::printOptionDiff(const Option &option, const Budget &value, const OptVal &,
                                         size_t width) const {
  printOptionName(option, width);
  outs() << "= " << value << '\n';
}

bool cl::parser<CostLimit>::parse(Option &option, StringRef, StringRef text, CostLimit &value) {
  Expected<CostLimit> limit = parseCostLimit(text);
  if (!limit)
    return option.error(toString(limit.takeError()));
  value = *limit;
  return false;
}

void cl::parser<CostLimit>::printOptionDiff(const Option &option, const CostLimit &value,
                                            const OptVal &, size_t width) const {
  printOptionName(option, width);
  outs() << "= " << value << '\n';
}

bool cl::parser<ByteCount>::parse(Option &option, StringRef, StringRef text, ByteCount &value) {
  if (text == "auto") {
    value = ByteCount();
    return false;
  }
  Expected<int64_t> bytes = parseByteCount(text);
  if (!bytes)
    return option.error(toString(bytes.takeError()));
  value = ByteCount(*bytes);
  return false;
}

void cl::parser<ByteCount>::printOptionDiff(const Option &option, const ByteCount &value,
                                            const OptVal &, size_t width) const {
  printOptionName(option, width);
  outs() << "= " << value << '\n';
}
