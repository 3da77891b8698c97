//===- Progress.cpp - What takes time, on a terminal ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::remat;

static constexpr std::chrono::milliseconds kPause(100);

void Progress::erase() {
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "\r\x1b[K";
}

void Progress::show(llvm::StringRef text) {
  last = std::chrono::steady_clock::now();
  erase();
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << text;
}

void Progress::showSometimes(llvm::StringRef text) {
  if (std::chrono::steady_clock::now() - last >= kPause)
    show(text);
}
