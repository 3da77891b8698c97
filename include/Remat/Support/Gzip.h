//===- Gzip.h - Compressed files --------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_SUPPORT_GZIP_H
#define REMAT_SUPPORT_GZIP_H

#include "llvm/Support/Error.h"
#include <string>

namespace mlir::remat {

/// The most that a file of a few megabytes may grow to: 1 GiB.
constexpr int64_t kMaxInflatedBytes = int64_t(1) << 30;

/// Whether a file begins as gzip files do (RFC 1952).
bool isGzip(llvm::StringRef bytes);

/// Inflates a gzip file of one or more members, whose checksums must be right.
/// More than `maxBytes` of text are an error.
llvm::Expected<std::string> gunzip(llvm::StringRef bytes, int64_t maxBytes = kMaxInflatedBytes);

} // namespace mlir::remat

#endif // REMAT_SUPPORT_GZIP_H
