//===- Errors.h - The first error since it was last asked for ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CUDARUNTIME_ERRORS_H
#define REMAT_LIB_CUDARUNTIME_ERRORS_H

#include <string>

namespace mlir::remat::cuda {

/// Which operation errors name from now on; null: none.
void setOperation(const char *name);

/// Keeps what went wrong, unless something has before.
void fail(const std::string &what);

/// Whether something went wrong since the last call of takeError.
bool hasFailed();

/// What went wrong, or null, and forgets it. The text lives until the next call.
const char *takeError();

} // namespace mlir::remat::cuda

#endif // REMAT_LIB_CUDARUNTIME_ERRORS_H
