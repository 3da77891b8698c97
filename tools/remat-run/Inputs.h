//===- Inputs.h - Values for the arguments of a training step ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_INPUTS_H
#define REMAT_TOOLS_REMAT_RUN_INPUTS_H

#include "Execution.h"
#include "Remat/Execution/NumPy.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::remat {

/// A file as it is; an error with its name where it cannot be read.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readFile(llvm::StringRef path);

/// Where arguments are read from: a folder with the files `arg0.npy`, `arg1.npy`, ..., an
/// archive with arrays of these names, or nothing.
class InputFiles {
public:
  /// `path` is empty for nothing. An error where it is neither a folder nor an archive, or
  /// an archive has an array that is no argument.
  static llvm::Expected<InputFiles> open(llvm::StringRef path, size_t numArguments);

  /// Fills `data` with an argument, randomly where there is none of its number. An error
  /// where it is of another type or shape.
  llvm::Error fill(int64_t index, const ArgumentInfo &argument, int64_t seed, char *data) const;

private:
  std::string path;
  std::optional<NumPyArchive> archive;
  /// Names of the arrays in the archive.
  std::vector<std::string> names;
};

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_INPUTS_H
