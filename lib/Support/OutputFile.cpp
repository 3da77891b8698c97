//===- OutputFile.cpp - Files that appear when they are complete ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

llvm::Error mlir::remat::writeOutputFile(llvm::StringRef path,
                                         llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::error_code code;
  llvm::ToolOutputFile file(path, code, llvm::sys::fs::OF_Text);
  if (!code) {
    write(file.os());
    file.os().flush();
    code = file.os().error();
    file.os().clear_error();
  }
  if (code)
    return llvm::createStringError("cannot write '" + path + "': " + code.message());
  file.keep();
  return llvm::Error::success();
}
