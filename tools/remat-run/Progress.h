//===- Progress.h - What takes time, on a terminal --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_PROGRESS_H
#define REMAT_TOOLS_REMAT_RUN_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include <chrono>

namespace mlir::remat {

/// A line on standard error, where that is a terminal, and nothing elsewhere. The next line
/// takes its place, and it is erased in the end. Both processes have one.
class Progress {
public:
  ~Progress() { erase(); }

  void show(llvm::StringRef text);
  /// For what may be shown often: leaves out what comes too early to be read.
  void showSometimes(llvm::StringRef text);
  /// Before anything else is printed.
  static void erase();

private:
  std::chrono::steady_clock::time_point last;
};

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_PROGRESS_H
