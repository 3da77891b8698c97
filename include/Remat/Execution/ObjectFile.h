//===- ObjectFile.h - From the LLVM dialect to machine code -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_EXECUTION_OBJECTFILE_H
#define REMAT_EXECUTION_OBJECTFILE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::remat {

/// Prefix of the function that calls another one with arguments from an array: after
/// it comes the name of that function.
constexpr StringLiteral kEntryPrefix = "remat_entry_";
/// Prefixes of the functions, without arguments, that load and unload the kernels of a GPU
/// that the function launches. They are there if there are kernels.
constexpr StringLiteral kLoadPrefix = "remat_load_", kUnloadPrefix = "remat_unload_";

/// What the code does beside what the module says.
enum class Instrumentation {
  Nothing,
  /// AddressSanitizer checks every access; its runtime library must be in the process.
  Addresses,
};

/// Compiles a module in the LLVM dialect for the processor that this runs on. `function`
/// takes pointers only, as with bare pointers for memrefs, and returns nothing; the object
/// file also has `void remat_entry_<function>(void **arguments)`, which calls it. Products
/// and sums are not contracted, and sums keep their order. Registers the translations of
/// the LLVM dialect with the module's context.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(ModuleOp module, StringRef function,
                Instrumentation instrumentation = Instrumentation::Nothing);

} // namespace mlir::remat

#endif // REMAT_EXECUTION_OBJECTFILE_H
