//===- Evaluator.h - What a training step computes --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates functions on tensors, operation by operation and element by element, with
// values and not with memory: there are no buffers to confuse. Knows the operations that
// `generateTrainingStep` writes.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_EVALUATOR_H
#define REMAT_TEST_FUZZ_EVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace mlir::remat::fuzz {

/// How well a value is known. Compiled code may add up the terms of a product in another
/// order and compute functions in another way, so its values may differ in the last bits;
/// and where those decide on something, in all bits.
enum class Precision { Exact, Rounded, Unknown };

/// A float, as the double that equals it; or an integer, with the bits above its width
/// as its sign.
struct Number {
  double real = 0;
  int64_t integer = 0;
};

/// A tensor in row order, or with no dimensions a scalar.
struct Array {
  Type element;
  SmallVector<int64_t> shape;
  std::vector<Number> numbers;
  Precision precision = Precision::Exact;
};

/// From and to how tensors are in memory.
Array readArray(Type element, ArrayRef<int64_t> shape, const char *data);
void writeArray(const Array &array, char *data);

/// The results of a function. An error names an operation that is not known.
llvm::Expected<std::vector<Array>> evaluate(func::FuncOp function, std::vector<Array> arguments);

/// Where `actual` is not what `expected` is, to its precision: the number of an element.
std::optional<int64_t> findDifference(const Array &expected, const Array &actual);

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_EVALUATOR_H
