//===- CostFormula.h - The expressions of a models file ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer expressions over the shapes and attributes of one operation:
//
//     2 * elements(result 0) * product(dims(operand 0,
//         field('dot_dimension_numbers', 'lhs_contracting_dimensions')))
//
// The language is total: there are no loops and no variables, types are checked
// when a formula is read, and a value that is not known or does not fit into
// `int64_t` makes the whole formula unknown. docs/models-file.md is its reference.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_COSTFORMULA_H
#define REMAT_INTERFACES_COSTFORMULA_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir {
class DataLayout;

namespace remat {
class ModelTable;

/// What a formula is evaluated on.
struct FormulaContext {
  Operation *op;
  const DataLayout &layout;
  /// Knows nested operations, constants and types of dialects that are not
  /// linked in.
  const ModelTable &table;
};

/// A parsed formula: instructions for a stack of integers and lists of integers.
class CostFormula {
public:
  /// The formula that is the number `value`.
  explicit CostFormula(int64_t value);

  /// Reads a formula; an error says the column (from 1) and what was expected.
  static llvm::Expected<CostFormula> parse(StringRef text);

  /// The value on `context.op`; nothing when a part is unknown (a dynamic
  /// dimension, a missing attribute or operand), when something overflows or is
  /// divided by zero, and when the result is negative.
  std::optional<int64_t> evaluate(const FormulaContext &context) const;

  struct Instruction;

private:
  CostFormula() = default;
  std::vector<Instruction> instructions;

  friend class FormulaParser;
};

/// One step of a formula: takes its arguments from the stack, pushes its value.
struct CostFormula::Instruction {
  enum class Code {
    // Integers.
    Number,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
    Min,
    Max,
    CeilDiv,
    CeilLog2,
    // Values of the operation.
    Elements,
    Bytes,
    Rank,
    Dims,
    SelectedDims,
    // Lists.
    List,
    Product,
    Sum,
    Length,
    At,
    // Attributes.
    IntegerAttribute,
    ListAttribute,
    Field,
    // Regions and whole operations.
    RegionFlops,
    WhileTripCount,
    ConvolutionProducts,
  };
  /// Which values of the operation `Elements`, `Bytes`, ... look at.
  enum class Values { Operand, Result, Operands, Results };

  Code code;
  /// The value of Number, the number of arguments of Min, Max and List, the
  /// position of an operand or a result, the default of IntegerAttribute.
  int64_t number = 0;
  Values values = Values::Operand;
  bool hasDefault = false;
  /// Names of an attribute and of a field in its text.
  std::string attribute, field;
};

} // namespace remat
} // namespace mlir

#endif // REMAT_INTERFACES_COSTFORMULA_H
