//===- Error.h - Errors with formatted messages -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all readers of files and options make their errors with.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_SUPPORT_ERROR_H
#define REMAT_SUPPORT_ERROR_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::remat {

/// An error with a message in the syntax of llvm::formatv.
template <typename... Ts>
llvm::Error makeError(const char *format, Ts &&...values) {
  return llvm::createStringError(llvm::formatv(format, std::forward<Ts>(values)...).str());
}

} // namespace mlir::remat

#endif // REMAT_SUPPORT_ERROR_H
