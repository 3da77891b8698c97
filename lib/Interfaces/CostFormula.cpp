//===- CostFormula.cpp - The expressions of a models file -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads formulas into instructions for a stack machine, and runs them:
//
//     sum     := product (('+' | '-') product)*
//     product := factor (('*' | '/') factor)*
//     factor  := INTEGER | '-' factor | '(' sum ')' | '[' sum, ... ']' | call
//     call    := NAME '(' argument, ... ')'
//     value   := ('operand' | 'result') ['-'] INTEGER | 'operands' | 'results'
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/CostFormula.h"

#include "FormulaFunctions.h"
#include "Remat/Interfaces/ModelCosts.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <variant>

using namespace mlir;
using namespace mlir::remat;

using Instruction = CostFormula::Instruction;
using Code = CostFormula::Instruction::Code;
using Values = CostFormula::Instruction::Values;

/// Brackets and calls within each other.
static constexpr unsigned maxDepth = 64;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// What an expression or an argument is.
enum class Kind { Integer, List, Value, Name };

/// A function: its arguments, its result. A trailing argument that is repeated
/// may occur any number of times; optional ones may be left out.
struct Function {
  StringRef name;
  Code code;
  Kind result;
  SmallVector<Kind, 2> arguments;
  unsigned optional = 0;
  bool repeated = false;
};
} // namespace

static ArrayRef<Function> getFunctions() {
  static const Function functions[] = {
      {"min", Code::Min, Kind::Integer, {Kind::Integer}, 0, true},
      {"max", Code::Max, Kind::Integer, {Kind::Integer}, 0, true},
      {"ceil_div", Code::CeilDiv, Kind::Integer, {Kind::Integer, Kind::Integer}},
      {"ceil_log2", Code::CeilLog2, Kind::Integer, {Kind::Integer}},
      {"elements", Code::Elements, Kind::Integer, {Kind::Value}},
      {"bytes", Code::Bytes, Kind::Integer, {Kind::Value}},
      {"rank", Code::Rank, Kind::Integer, {Kind::Value}},
      {"dims", Code::Dims, Kind::List, {Kind::Value, Kind::List}, 1},
      {"product", Code::Product, Kind::Integer, {Kind::List}},
      {"sum", Code::Sum, Kind::Integer, {Kind::List}},
      {"length", Code::Length, Kind::Integer, {Kind::List}},
      {"at", Code::At, Kind::Integer, {Kind::List, Kind::Integer}},
      {"integer", Code::IntegerAttribute, Kind::Integer, {Kind::Name, Kind::Integer}, 1},
      {"list", Code::ListAttribute, Kind::List, {Kind::Name}},
      {"field", Code::Field, Kind::List, {Kind::Name, Kind::Name}},
      {"region_flops", Code::RegionFlops, Kind::Integer, {Kind::Integer}},
      {"while_trip_count", Code::WhileTripCount, Kind::Integer, {}},
      {"convolution_products", Code::ConvolutionProducts, Kind::Integer, {}},
  };
  return functions;
}

namespace mlir::remat {
/// A recursive descent over the text. The first error sticks.
class FormulaParser {
public:
  explicit FormulaParser(StringRef text) : text(text), rest(text) {}

  llvm::Expected<CostFormula> parse() {
    parseExpected(Kind::Integer);
    skipSpace();
    if (message.empty() && !rest.empty())
      fail("expected an operator or the end of the formula");
    if (!message.empty())
      return llvm::createStringError("column " + llvm::Twine(column) + ": " + message);
    return std::move(formula);
  }

private:
  void skipSpace() { rest = rest.ltrim(); }

  /// Records the first error, at the current place.
  void fail(const llvm::Twine &what) {
    if (!message.empty())
      return;
    message = what.str();
    column = text.size() - rest.size() + 1;
  }

  bool consume(StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }

  void expect(StringRef token) {
    if (!consume(token))
      fail("expected '" + token + "'");
  }

  StringRef parseName() {
    skipSpace();
    StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    return name;
  }

  int64_t parseNumber() {
    skipSpace();
    int64_t number = 0;
    StringRef digits = rest.take_while(llvm::isDigit);
    if (digits.empty() || digits.getAsInteger(10, number))
      fail("expected an integer below 2^63");
    rest = rest.drop_front(digits.size());
    return number;
  }

  Instruction &emit(Code code, int64_t number = 0) {
    Instruction instruction;
    instruction.code = code;
    instruction.number = number;
    formula.instructions.push_back(std::move(instruction));
    return formula.instructions.back();
  }

  void parseExpected(Kind expected) {
    skipSpace();
    StringRef start = rest;
    Kind kind = parseSum();
    if (!message.empty() || kind == expected)
      return;
    rest = start;
    fail(expected == Kind::Integer ? "expected an integer, but got a list"
                                   : "expected a list, but got an integer");
  }

  /// An operand of an infix operator must be an integer.
  void requireInteger(Kind kind) {
    if (kind != Kind::Integer)
      fail("expected an integer, but got a list");
  }

  Kind parseSum() {
    if (++depth > maxDepth) {
      fail("expected fewer nested parentheses");
      return Kind::Integer;
    }
    Kind kind = parseProduct();
    while (message.empty()) {
      Code code = Code::Add;
      if (consume("-"))
        code = Code::Subtract;
      else if (!consume("+"))
        break;
      requireInteger(kind);
      requireInteger(parseProduct());
      emit(code);
    }
    --depth;
    return kind;
  }

  Kind parseProduct() {
    Kind kind = parseFactor();
    while (message.empty()) {
      Code code = Code::Multiply;
      if (consume("/"))
        code = Code::Divide;
      else if (!consume("*"))
        break;
      requireInteger(kind);
      requireInteger(parseFactor());
      emit(code);
    }
    return kind;
  }

  Kind parseFactor() {
    bool negate = false;
    while (consume("-"))
      negate = !negate;
    Kind kind = parsePrimary();
    if (negate) {
      requireInteger(kind);
      emit(Code::Negate);
    }
    return kind;
  }

  Kind parsePrimary() {
    skipSpace();
    if (consume("(")) {
      Kind kind = parseSum();
      expect(")");
      return kind;
    }
    if (consume("["))
      return parseList();
    if (!rest.empty() && llvm::isDigit(rest.front())) {
      emit(Code::Number, parseNumber());
      return Kind::Integer;
    }
    return parseCall();
  }

  Kind parseList() {
    int64_t length = 0;
    if (!consume("]")) {
      do {
        parseExpected(Kind::Integer);
        ++length;
      } while (message.empty() && consume(","));
      expect("]");
    }
    emit(Code::List, length);
    return Kind::List;
  }

  Kind parseCall() {
    StringRef start = rest;
    StringRef name = parseName();
    const Function *function =
        llvm::find_if(getFunctions(), [&](const Function &f) { return f.name == name; });
    if (function == getFunctions().end()) {
      rest = start;
      fail(name.empty() ? llvm::Twine("expected an expression")
                        : "unknown function '" + name + "'");
      return Kind::Integer;
    }
    Instruction instruction;
    instruction.code = function->code;
    expect("(");
    unsigned count = parseArguments(*function, instruction);
    if (function->repeated)
      instruction.number = count;
    if (instruction.code == Code::Dims && count == 2)
      instruction.code = Code::SelectedDims;
    formula.instructions.push_back(std::move(instruction));
    return function->result;
  }

  /// Reads arguments up to the closing parenthesis; returns how many there were.
  unsigned parseArguments(const Function &function, Instruction &instruction) {
    unsigned most = function.arguments.size(), least = most - function.optional, count = 0;
    while (message.empty() && !consume(")")) {
      if (count > 0 && !consume(","))
        fail("expected ',' or ')'");
      if (!message.empty())
        break;
      if (count >= most && !function.repeated) {
        fail("too many arguments of '" + function.name + "'");
        break;
      }
      Kind kind = function.arguments[std::min(count, most - 1)];
      if (kind == Kind::Value)
        parseValue(instruction);
      else if (kind == Kind::Name)
        parseQuoted(count == 0 ? instruction.attribute : instruction.field);
      else if (function.code == Code::IntegerAttribute)
        parseDefault(instruction);
      else
        parseExpected(kind);
      ++count;
    }
    if (message.empty() && count < least)
      fail("too few arguments of '" + function.name + "'");
    return count;
  }

  void parseDefault(Instruction &instruction) {
    instruction.hasDefault = true;
    instruction.number = parseNumber();
  }

  void parseValue(Instruction &instruction) {
    skipSpace();
    StringRef start = rest;
    StringRef name = parseName();
    if (name == "operands") {
      instruction.values = Values::Operands;
    } else if (name == "results") {
      instruction.values = Values::Results;
    } else if (name == "operand" || name == "result") {
      instruction.values = name == "operand" ? Values::Operand : Values::Result;
      // Negative positions count from the end: -1 is the last.
      bool fromEnd = consume("-");
      instruction.number = parseNumber();
      if (fromEnd)
        instruction.number = -instruction.number;
    } else {
      rest = start;
      fail("expected 'operand N', 'result N', 'operands' or 'results'");
    }
  }

  void parseQuoted(std::string &into) {
    expect("'");
    StringRef name = rest.take_until([](char c) { return c == '\''; });
    rest = rest.drop_front(name.size());
    expect("'");
    into = name.str();
  }

  StringRef text, rest;
  CostFormula formula;
  unsigned depth = 0;
  std::string message;
  size_t column = 0;
};
} // namespace mlir::remat

llvm::Expected<CostFormula> CostFormula::parse(StringRef text) {
  return FormulaParser(text).parse();
}

CostFormula::CostFormula(int64_t value) {
  instructions.emplace_back();
  instructions.back().code = Code::Number;
  instructions.back().number = value;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
using Integer = std::optional<int64_t>;

/// The stack. A missing integer or list anywhere ends the evaluation, so that
/// nothing on it is unknown.
class Evaluator {
public:
  explicit Evaluator(const FormulaContext &context) : context(context) {}

  /// Runs one instruction; false when its value is unknown.
  bool run(const Instruction &instruction);

  Integer popInteger() {
    int64_t value = std::get<int64_t>(stack.back());
    stack.pop_back();
    return value;
  }

private:
  IntegerList popList() {
    IntegerList list = std::move(std::get<IntegerList>(stack.back()));
    stack.pop_back();
    return list;
  }

  bool push(Integer value) {
    if (value)
      stack.push_back(*value);
    return value.has_value();
  }

  bool push(std::optional<IntegerList> list) {
    if (list)
      stack.push_back(std::move(*list));
    return list.has_value();
  }

  bool runArithmetic(Code code);
  bool runMinMax(const Instruction &instruction);
  bool runOnValues(const Instruction &instruction);
  bool runOnList(const Instruction &instruction);
  bool runOnAttribute(const Instruction &instruction);
  bool runOnOperation(const Instruction &instruction);

  const FormulaContext &context;
  SmallVector<std::variant<int64_t, IntegerList>, 8> stack;
};
} // namespace

bool Evaluator::runArithmetic(Code code) {
  int64_t rhs = *popInteger();
  if (code == Code::Negate)
    return push(llvm::checkedSub(int64_t(0), rhs));
  if (code == Code::CeilLog2)
    return push(rhs > 0 ? Integer(llvm::Log2_64_Ceil(uint64_t(rhs))) : std::nullopt);
  int64_t lhs = *popInteger();
  switch (code) {
  case Code::Add:
    return push(llvm::checkedAdd(lhs, rhs));
  case Code::Subtract:
    return push(llvm::checkedSub(lhs, rhs));
  case Code::Multiply:
    return push(llvm::checkedMul(lhs, rhs));
  default:
    // Divisions are of counts: signs have no meaning in them.
    if (lhs < 0 || rhs <= 0)
      return false;
    return push(code == Code::Divide ? lhs / rhs : lhs / rhs + (lhs % rhs != 0));
  }
}

bool Evaluator::runMinMax(const Instruction &instruction) {
  int64_t value = *popInteger();
  for (int64_t i = 1; i < instruction.number; ++i) {
    int64_t other = *popInteger();
    value = instruction.code == Code::Min ? std::min(value, other) : std::max(value, other);
  }
  return push(value);
}

bool Evaluator::runOnValues(const Instruction &instruction) {
  Operation *op = context.op;
  SmallVector<Value> values;
  bool isOperand = instruction.values == Values::Operand || instruction.values == Values::Operands;
  if (isOperand)
    llvm::append_range(values, op->getOperands());
  else
    llvm::append_range(values, op->getResults());
  if (instruction.values == Values::Operand || instruction.values == Values::Result) {
    int64_t position = instruction.number;
    if (position < 0)
      position += values.size();
    if (position < 0 || position >= int64_t(values.size()))
      return false;
    values = {values[position]};
  }

  switch (instruction.code) {
  case Code::Elements: {
    Count elements = 0;
    for (Value value : values)
      elements += getNumElements(value.getType());
    return push(elements.asOptional());
  }
  case Code::Bytes:
    return push(
        isOperand
            ? getReadBytes(values, context.layout, &context.table).asOptional()
            : getBytes(TypeRange(ValueRange(values)), context.layout, &context.table).asOptional());
  default:
    break;
  }

  // The rest is about one shape.
  auto type = values.size() == 1 ? dyn_cast<ShapedType>(values[0].getType()) : ShapedType();
  if (!type || !type.hasRank())
    return false;
  if (instruction.code == Code::Rank)
    return push(type.getRank());
  IntegerList positions;
  if (instruction.code == Code::SelectedDims)
    positions = popList();
  else
    llvm::append_range(positions, llvm::seq<int64_t>(type.getRank()));
  IntegerList sizes;
  for (int64_t position : positions) {
    if (position < 0 || position >= type.getRank() || type.isDynamicDim(position))
      return false;
    sizes.push_back(type.getDimSize(position));
  }
  return push(sizes);
}

bool Evaluator::runOnList(const Instruction &instruction) {
  if (instruction.code == Code::List) {
    IntegerList list(instruction.number);
    for (int64_t &element : llvm::reverse(list))
      element = *popInteger();
    return push(list);
  }
  int64_t index = instruction.code == Code::At ? *popInteger() : 0;
  IntegerList list = popList();
  switch (instruction.code) {
  case Code::Length:
    return push(int64_t(list.size()));
  case Code::At:
    return index >= 0 && index < int64_t(list.size()) && push(list[index]);
  default:
    bool isProduct = instruction.code == Code::Product;
    Integer total = isProduct ? 1 : 0;
    for (int64_t element : list)
      if (total)
        total = isProduct ? llvm::checkedMul(*total, element) : llvm::checkedAdd(*total, element);
    return push(total);
  }
}

bool Evaluator::runOnAttribute(const Instruction &instruction) {
  Attribute attribute = getInherentOrDiscardableAttr(context.op, instruction.attribute);
  switch (instruction.code) {
  case Code::IntegerAttribute: {
    if (!attribute)
      return instruction.hasDefault && push(instruction.number);
    std::optional<IntegerList> list = readIntegers(attribute);
    return list && list->size() == 1 && push(list->front());
  }
  case Code::ListAttribute:
    return push(attribute ? readIntegers(attribute) : IntegerList());
  default:
    return push(attribute ? readField(getAttributeText(attribute), instruction.field)
                          : IntegerList());
  }
}

bool Evaluator::runOnOperation(const Instruction &instruction) {
  switch (instruction.code) {
  case Code::WhileTripCount:
    return push(countWhileTrips(context.op));
  case Code::ConvolutionProducts:
    return push(countConvolutionProducts(context.op));
  default:
    int64_t number = *popInteger();
    if (number < 0 || number >= int64_t(context.op->getNumRegions()))
      return false;
    auto lookup = [&](Operation *nested) { return lookupModel(nested, context.table); };
    return push(getRegionFlops(context.op->getRegion(number), lookup).asOptional());
  }
}

bool Evaluator::run(const Instruction &instruction) {
  switch (instruction.code) {
  case Code::Number:
    return push(instruction.number);
  case Code::Min:
  case Code::Max:
    return runMinMax(instruction);
  case Code::Add:
  case Code::Subtract:
  case Code::Multiply:
  case Code::Divide:
  case Code::Negate:
  case Code::CeilDiv:
  case Code::CeilLog2:
    return runArithmetic(instruction.code);
  case Code::Elements:
  case Code::Bytes:
  case Code::Rank:
  case Code::Dims:
  case Code::SelectedDims:
    return runOnValues(instruction);
  case Code::List:
  case Code::Product:
  case Code::Sum:
  case Code::Length:
  case Code::At:
    return runOnList(instruction);
  case Code::IntegerAttribute:
  case Code::ListAttribute:
  case Code::Field:
    return runOnAttribute(instruction);
  case Code::RegionFlops:
  case Code::WhileTripCount:
  case Code::ConvolutionProducts:
    return runOnOperation(instruction);
  }
  llvm_unreachable("all instructions are handled");
}

std::optional<int64_t> CostFormula::evaluate(const FormulaContext &context) const {
  Evaluator evaluator(context);
  for (const Instruction &instruction : instructions)
    if (!evaluator.run(instruction))
      return std::nullopt;
  Integer value = evaluator.popInteger();
  return *value >= 0 ? value : std::nullopt;
}
