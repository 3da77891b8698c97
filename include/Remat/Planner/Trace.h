//===- Trace.h - Logs of tensor programs ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The logs of the prototype of DTR (Kirisame et al., "Dynamic Tensor
// Rematerialization", ICLR 2021): what a training step did in PyTorch, one JSON
// object per line, with measured times and sizes. docs/trace-format.md says what
// the planner makes of them.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_TRACE_H
#define REMAT_PLANNER_TRACE_H

#include "Remat/Planner/Problem.h"

namespace mlir::remat::planner {

/// Whether a text is a log: its first line that is not empty is an object with the
/// key "INSTRUCTION".
bool isTrace(llvm::StringRef text);

/// Reads a log as a problem that passes `check`:
///  * a constant is a boundary value, a call an operation; a copy is one more name for
///    a tensor;
///  * a call all of whose results are aliases computes nothing: these are views, made
///    at no cost where they are read;
///  * a mutation reads the storages that it writes to and defines the contents of
///    each anew, in place where nobody needs the old ones; later readers of any
///    tensor in such a storage read the new contents;
///  * operations that draw random numbers are executed once, in order;
///  * the tensors that have names at the end are results: the terminator reads them.
///    It depends on everything that nobody reads, so that each operation is executed.
///
/// The error names the line.
llvm::Expected<Problem> parseTrace(llvm::StringRef text);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_TRACE_H
