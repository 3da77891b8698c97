//===- Inputs.h - Values for the arguments of a training step ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_RUN_INPUTS_H
#define REMAT_TOOLS_REMAT_RUN_INPUTS_H

#include "Execution.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::remat {

/// A file as it is; an error with its name where it cannot be read.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readFile(llvm::StringRef path);

/// Whether values of this type can be drawn, read and compared.
bool isKnownElement(llvm::StringRef element);

/// Fills `data` with the file `arg<index>.npy` of the folder `inputs`, or where there is
/// none, or `inputs` is empty, with values that depend on the type, the seed and the index:
/// floats from [-0.5, 0.5) or [0, 0.25), integers from [0, 8). An error where a file is of
/// another shape or type.
llvm::Error fillArgument(int64_t index, const ArgumentInfo &argument, int64_t seed,
                         llvm::StringRef inputs, char *data);

/// The array of a file of NumPy (format version 1 to 3), row by row.
struct NumPyArray {
  /// As NumPy writes it: `<f4`.
  std::string type;
  std::vector<int64_t> shape;
  llvm::StringRef data;
};

/// Takes a file apart; an error where it is none, or in column order.
llvm::Expected<NumPyArray> parseNumPy(llvm::StringRef file);

/// Writes a file of NumPy.
void writeNumPy(const TensorInfo &tensor, const char *data, llvm::raw_ostream &os);

/// The first element of a tensor; NaN if there is none.
double readFirst(const TensorInfo &tensor, const char *data);

/// Of two tensors of this type: the largest difference of two elements; infinity where one
/// is no number and the other one is, or another one.
double getLargestDifference(const TensorInfo &tensor, const char *a, const char *b);

} // namespace mlir::remat

#endif // REMAT_TOOLS_REMAT_RUN_INPUTS_H
