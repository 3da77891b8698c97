//===- NumPy.h - Files of NumPy ---------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays as `numpy.save` writes them (`.npy`, format versions 1 to 3), and archives of
// several as `numpy.savez` and `numpy.savez_compressed` do (`.npz`).
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXECUTION_NUMPY_H
#define REMAT_EXECUTION_NUMPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

struct zip;

namespace mlir::remat {

/// What a file says about its array, whose elements follow row by row.
struct NumPyHeader {
  /// As NumPy writes it: `<f4`.
  std::string type;
  std::vector<int64_t> shape;
  /// Of the header itself: where the elements begin.
  int64_t bytes = 0;
};

/// Headers are not longer than this.
constexpr int64_t kMaxNumPyHeaderBytes = 12 + (1 << 16);

/// Reads the header of a file, of which so many bytes are enough. An error where it is none,
/// or the array is in column order or not one of numbers.
llvm::Expected<NumPyHeader> parseNumPyHeader(llvm::StringRef file);

/// The header of a file.
std::string makeNumPyHeader(llvm::StringRef type, llvm::ArrayRef<int64_t> shape);

/// Where the elements of an array are to be put; an error if it is not the expected one.
using NumPyDestination =
    llvm::function_ref<llvm::Expected<llvm::MutableArrayRef<char>>(const NumPyHeader &)>;

/// An archive that is read.
class NumPyArchive {
public:
  /// Errors do not name the file.
  static llvm::Expected<NumPyArchive> open(llvm::StringRef path);

  /// Of the arrays and other members, without `.npy`.
  std::vector<std::string> getNames() const;

  /// Reads an array. An error where it is damaged, or has not as many bytes as it has a
  /// place for. Takes no memory that depends on what the file says.
  llvm::Error read(llvm::StringRef name, NumPyDestination getDestination) const;

private:
  explicit NumPyArchive(zip *archive);

  std::unique_ptr<zip, void (*)(zip *)> archive;
};

/// An array to write.
struct NumPyArray {
  std::string name, type;
  std::vector<int64_t> shape;
  llvm::StringRef data;
};

/// Writes an archive without compression. The file appears when it is complete. Equal arrays
/// give equal bytes.
llvm::Error writeNumPyArchive(llvm::StringRef path, llvm::ArrayRef<NumPyArray> arrays);

} // namespace mlir::remat

#endif // REMAT_EXECUTION_NUMPY_H
