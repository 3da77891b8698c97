//===- JSON.h - Reading JSON from files that anybody wrote ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_SUPPORT_JSON_H
#define REMAT_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace mlir::remat {

/// Parses a text. LLVM's parser recurses, so brackets may be nested 16 deep at
/// most; files of ours need fewer.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

/// What a value is, with its article: `an array`.
llvm::StringRef getKindName(const llvm::json::Value &value);

} // namespace mlir::remat

#endif // REMAT_SUPPORT_JSON_H
