//===- OutputFile.h - Files that appear when they are complete --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_SUPPORT_OUTPUTFILE_H
#define REMAT_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::remat {

/// Lets `write` print to the file at `path`, or to standard output for `-`. The file
/// is kept only when it is complete. The error names the path and the cause.
llvm::Error writeOutputFile(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace mlir::remat

#endif // REMAT_SUPPORT_OUTPUTFILE_H
