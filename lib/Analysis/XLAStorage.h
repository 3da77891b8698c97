//===- XLAStorage.h - Which values share a buffer in XLA --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What XLA's buffer assignment does beyond one buffer for every value that is written:
// operations that write over an operand, loops over their own operands, and results in
// buffers that the caller provides or donates.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_ANALYSIS_XLASTORAGE_H
#define REMAT_LIB_ANALYSIS_XLASTORAGE_H

#include "Remat/Analysis/FunctionProblem.h"

namespace mlir::remat {

/// Lets elementwise operations and updates write over an operand of the same size that
/// nothing reads later, and loops over their operands; in the body of a loop also over
/// what the loop carries, which are the arguments of its block.
void shareBuffers(FunctionProblem &function, SummaryAnalysis &summaries, bool isLoopBody);

/// Takes the memory of results out of that of values: each result has a buffer from the
/// start, its own or that of an argument that is donated for it (`tf.aliasing_output` with
/// the number of the result, or `jax.buffer_donor`).
void addResultBuffers(FunctionOpInterface source, FunctionProblem &function);

} // namespace mlir::remat

#endif // REMAT_LIB_ANALYSIS_XLASTORAGE_H
