//===- CSV.h - Tables of text -----------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_SUPPORT_CSV_H
#define REMAT_SUPPORT_CSV_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::remat {

/// A field of CSV in quotes (RFC 4180), whatever the text.
inline std::string quoteCSV(llvm::StringRef text) {
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

} // namespace mlir::remat

#endif // REMAT_SUPPORT_CSV_H
