//===- CostProfile.h - Measured times of a function's operations ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `remat-run --profile` writes, and what takes the place of the cost model where
// passes are given such a file. docs/profile-format.md describes the file.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_COSTPROFILE_H
#define REMAT_ANALYSIS_COSTPROFILE_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::remat {

/// What one operation of a function took, with everything inside it and called by it.
struct OperationTime {
  /// Of the operation: `linalg.matmul`.
  std::string name;
  /// The median of all executions; 0 without any.
  int64_t picoseconds = 0;
  /// How often it was measured. 0: no code runs for it alone.
  int64_t executions = 0;
};

struct CostProfile {
  std::string function;
  /// By position in the body of the function, the terminator included.
  std::vector<OperationTime> operations;

  /// Reads a file's text. Times above 2^53 picoseconds are an error.
  static llvm::Expected<CostProfile> parse(llvm::StringRef text);
  /// Reads a file; errors name it.
  static llvm::Expected<CostProfile> read(llvm::StringRef path);
  void print(llvm::raw_ostream &os) const;
};

/// The picoseconds of the operations that were measured. Those that were not are left to the
/// cost model, and so is a function of another name. Emits an error and fails where the body
/// of `function` is not what was measured.
FailureOr<llvm::DenseMap<Operation *, int64_t>> getMeasuredCosts(FunctionOpInterface function,
                                                                 const CostProfile &profile);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_COSTPROFILE_H
