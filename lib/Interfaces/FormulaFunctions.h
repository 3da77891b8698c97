//===- FormulaFunctions.h - Functions that formulas call --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What formulas need and cannot express: reading attributes of dialects that are
// not linked in from their text, and counting over windows and loops.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_INTERFACES_FORMULAFUNCTIONS_H
#define REMAT_LIB_INTERFACES_FORMULAFUNCTIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::remat {

using IntegerList = llvm::SmallVector<int64_t, 4>;

/// The text of an attribute, without its dialect for opaque ones.
std::string getAttributeText(Attribute attribute);

/// The integers of an integer, boolean, array or dense attribute, row by row.
/// Nothing for other attributes and for integers beyond 64 bits.
std::optional<IntegerList> readIntegers(Attribute attribute);

/// The integers behind `name =` in `text`, one or a bracketed list; an empty
/// list when the name does not occur, nothing when what follows is no integer.
std::optional<IntegerList> readField(StringRef text, StringRef name);

/// Number of multiplications of a convolution in the form of StableHLO: pairs of
/// an output element and a kernel element that meet an input element, and not
/// padding or the holes of a dilated input; over all features. The attributes
/// are `dimension_numbers`, `window_strides`, `padding`, `lhs_dilation` and
/// `rhs_dilation`. The same number as in XLA's HloCostAnalysis.
std::optional<int64_t> countConvolutionProducts(Operation *op);

/// How often the body of a loop in the form of StableHLO's `while` runs, when
/// its condition compares one loop-carried integer with a constant, its initial
/// value is a constant, and the body adds a constant to it:
///
///     cond: return compare LT, %i, constant    body: return ..., add %i, constant
///
std::optional<int64_t> countWhileTrips(Operation *op);

} // namespace mlir::remat

#endif // REMAT_LIB_INTERFACES_FORMULAFUNCTIONS_H
