//===- Generator.cpp - Random modules ---------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text only, no MLIR: every function below appends operations to the body of
// the function that is being written and returns what they define.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <optional>
#include <vector>

using namespace mlir::remat::fuzz;
using llvm::StringRef;
using llvm::Twine;

namespace {

struct Type {
  enum class Kind { Scalar, Tensor, MemRef, Opaque };
  Kind kind = Kind::Tensor;
  /// -1: dynamic.
  std::vector<int64_t> dims;
  /// The element type; of an opaque type all of it.
  std::string elem = "f32";

  std::string text() const {
    if (kind == Kind::Scalar || kind == Kind::Opaque)
      return elem;
    std::string result = kind == Kind::Tensor ? "tensor<" : "memref<";
    for (int64_t dim : dims)
      result += (dim < 0 ? "?" : std::to_string(dim)) + "x";
    return result + elem + ">";
  }
  bool operator==(const Type &other) const { return text() == other.text(); }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isStatic() const {
    return llvm::all_of(dims, [](int64_t dim) { return dim >= 0; });
  }
  bool isFloat() const { return elem == "f16" || elem == "bf16" || elem == "f32" || elem == "f64"; }
  bool isComplex() const { return StringRef(elem).starts_with("complex"); }
  bool isInteger() const { return !isFloat() && !isComplex() && kind != Kind::Opaque; }
  int64_t rank() const { return dims.size(); }
  int64_t numElements() const {
    int64_t product = 1;
    for (int64_t dim : dims)
      product *= dim;
    return product;
  }
  Type withElem(StringRef newElem) const {
    Type type = *this;
    type.elem = newElem.str();
    return type;
  }
  Type withDims(std::vector<int64_t> newDims) const {
    Type type = *this;
    type.dims = std::move(newDims);
    return type;
  }
  Type scalar() const { return {Kind::Scalar, {}, elem}; }
};

struct Value {
  std::string name;
  Type type;
  int64_t numUses = 0;
};

/// How operations are written where there is a choice.
enum class Flavour { Native, StableHLO, Fuzz, Mixed };

/// A function with a body that can be called.
struct Callee {
  std::string name;
  std::vector<Type> arguments, results;
};

class FunctionWriter {
public:
  /// `globalType` is the type of the module's constant buffer, of an empty element
  /// type while there is none.
  FunctionWriter(Random &random, const std::vector<Callee> &pure, const std::vector<Callee> &impure,
                 Flavour flavour, bool isForXLA, Type &globalType)
      : random(random), pureCallees(pure), impureCallees(impure), flavour(flavour),
        isForXLA(isForXLA), globalType(globalType) {}

  /// Writes a whole public function.
  std::string writeMain(StringRef name, int64_t maxOps);
  /// Writes a private function of a tensor.
  std::string writeCallee(const Callee &callee, bool hasEffects);

private:
  using Values = std::vector<Value>;
  /// Appends the backward part of a layer: the gradient of its result to that
  /// of its operand.
  using Backward = std::function<Value(const Value &)>;

  //===--------------------------------------------------------------------===//
  // Text
  //===--------------------------------------------------------------------===//

  std::string fresh() { return "%v" + std::to_string(numNames++); }
  void line(const Twine &text) {
    body.append(indent, ' ');
    body += text.str();
    body += '\n';
  }
  Value define(Type type, const Twine &text) {
    Value value{fresh(), std::move(type)};
    line(Twine(value.name) + " = " + text);
    ++numOps;
    values.push_back(value);
    return value;
  }
  Values defineMany(const std::vector<Type> &types, const Twine &text) {
    std::string base = fresh();
    line(Twine(base) + ":" + Twine(types.size()) + " = " + text);
    ++numOps;
    Values results;
    for (auto [index, type] : llvm::enumerate(types)) {
      results.push_back({base + "#" + std::to_string(index), type});
      values.push_back(results.back());
    }
    return results;
  }
  void effect(const Twine &text) {
    line(text);
    ++numOps;
  }
  static std::string names(const Values &list) {
    return llvm::join(llvm::map_range(list, [](const Value &value) { return value.name; }), ", ");
  }
  static std::string types(const std::vector<Type> &list) {
    return llvm::join(llvm::map_range(list, [](const Type &type) { return type.text(); }), ", ");
  }
  static std::string typesOf(const Values &list) {
    return llvm::join(llvm::map_range(list, [](const Value &value) { return value.type.text(); }),
                      ", ");
  }
  /// An operation in generic form with at least one result.
  Values generic(StringRef name, const Values &operands, const std::vector<Type> &results,
                 StringRef properties = "") {
    std::string text = ("\"" + name + "\"(" + names(operands) + ")").str();
    if (!properties.empty())
      text += (" <{" + properties + "}>").str();
    text += " : (" + typesOf(operands) + ") -> (" + types(results) + ")";
    if (results.size() == 1)
      return {define(results.front(), text)};
    return defineMany(results, text);
  }

  //===--------------------------------------------------------------------===//
  // Choices
  //===--------------------------------------------------------------------===//

  bool useStableHLO() {
    return flavour == Flavour::StableHLO || (flavour == Flavour::Mixed && random.chance(35));
  }
  bool useFuzz() {
    return (flavour == Flavour::Fuzz && random.chance(70)) ||
           (flavour == Flavour::Mixed && random.chance(15));
  }
  bool useNative() { return flavour == Flavour::Native || flavour == Flavour::Mixed; }

  template <typename Fn>
  std::optional<Value> pickIf(Fn predicate) {
    std::vector<const Value *> fitting;
    for (const Value &value : values)
      if (predicate(value))
        fitting.push_back(&value);
    if (fitting.empty())
      return std::nullopt;
    // Half of the time one of the last ones.
    int64_t size = fitting.size();
    int64_t low = random.chance(50) ? std::max<int64_t>(size - 5, 0) : 0;
    return *fitting[random.between(low, size - 1)];
  }
  std::optional<Value> pickTensor() {
    return pickIf([](const Value &value) { return value.type.isTensor(); });
  }
  std::optional<Value> pickOf(const Type &type) {
    return pickIf([&](const Value &value) { return value.type == type; });
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  Value constant(const Type &type);
  Value denseConstant(const Type &type);
  Value indexConstant(int64_t number);
  Value unary(const Value &x);
  Value binary(const Value &x, const Value &y);
  Value empty(const Type &type);
  Value fill(const Type &type);
  Value elementwiseGeneric(const Values &inputs, const Type &type, bool readsInit = false);
  Values twoOutputs(const Value &x);
  Value broadcast(const Value &x, const Type &type);
  Value reduce(const Value &x);
  Value matmul(const Value &x, const Value &y);
  Value transpose(const Value &x);
  Value convert(const Value &x, StringRef elem);
  Value reshape(const Value &x, std::vector<int64_t> dims);
  Value slice(const Value &x, bool contiguous);
  Value insertSlice(const Value &x, const Value &destination, int64_t offset);
  Value ifOp(const Value &x, bool hasEffects);
  Value forOp(const Value &x, bool hasEffects);
  Value whileOp(const Value &x);
  Value unregisteredIf(const Value &x, bool hasEffects);
  void allReduce(const Value &x);
  void rare(const Value &x);
  Value barrier(const Values &inputs, const Value &after);
  Value update(const Value &x, const Value &part);
  Value dynamicSlice(const Value &x, const Type &type);
  Value scatterIntoZeros(const Value &x);
  Value stableHLOLoop(const Value &x, const Value &unchanged);
  void sideEffect(const Value &x);
  void memory(const Value &x);

  //===--------------------------------------------------------------------===//
  // Graphs
  //===--------------------------------------------------------------------===//

  std::pair<Value, Backward> layer(const Value &x, const Values &earlier);
  std::pair<Value, Backward> layerForXLA(const Value &x);
  void training(int64_t maxOps);
  void mixed(int64_t maxOps);
  void extreme(int64_t maxOps);
  void randomOperation();
  void noise();
  Value argument(const Type &type) {
    Value value{"%a" + std::to_string(arguments.size()), type};
    arguments.push_back(value);
    values.insert(values.begin(), value);
    return value;
  }
  void result(const Value &value) { results.push_back(value); }
  std::vector<std::string> donate();
  Type mainType() const { return {Type::Kind::Tensor, {rows, columns}, elem}; }
  std::vector<int64_t> randomDims();

  Random &random;
  const std::vector<Callee> &pureCallees, &impureCallees;
  Flavour flavour;
  bool isForXLA;
  Type &globalType;
  std::string body;
  int64_t indent = 2, numNames = 0, numOps = 0;
  Values values, arguments, results;
  int64_t rows = 8, columns = 8;
  std::string elem = "f32";
};

} // namespace

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// A literal of the element type.
static std::string literal(const Type &type, int64_t number) {
  if (type.isComplex())
    return "(" + std::to_string(number) + ".0, 1.0)";
  if (type.elem == "i1")
    return number % 2 ? "true" : "false";
  if (type.elem == "i4")
    return std::to_string(number % 8);
  return std::to_string(number) + (type.isFloat() ? ".0" : "");
}

Value FunctionWriter::constant(const Type &type) {
  int64_t number = random.between(0, 7);
  std::string text = literal(type, number);
  if (type.isTensor() && useStableHLO())
    return generic("stablehlo.constant", {}, {type}, "value = dense<" + text + "> : " + type.text())
        .front();
  if (type.isTensor())
    return define(type, "arith.constant dense<" + text + "> : " + type.text());
  if (type.isComplex())
    return define(type, "complex.constant [" + std::to_string(number) +
                            ".0 : f32, 1.0 : f32] : " + type.text());
  return define(type, "arith.constant " + text + (type.elem == "i1" ? "" : " : " + type.text()));
}

/// Program data: distinct elements, from few different ones so that equal data
/// occurs.
Value FunctionWriter::denseConstant(const Type &type) {
  int64_t first = random.between(0, 3);
  std::function<std::string(size_t, int64_t &)> list = [&](size_t depth, int64_t &next) {
    if (depth == type.dims.size())
      return literal(type, next++ % 5);
    std::string text = "[";
    for (int64_t index = 0; index < type.dims[depth]; ++index)
      text += (index ? ", " : "") + list(depth + 1, next);
    return text + "]";
  };
  int64_t next = first;
  std::string text = type.numElements() == 0 ? "" : list(0, next);
  std::string value = "dense<" + text + "> : " + type.text();
  if (useStableHLO())
    return generic("stablehlo.constant", {}, {type}, "value = " + value).front();
  return define(type, "arith.constant " + value);
}

Value FunctionWriter::indexConstant(int64_t number) {
  return define({Type::Kind::Scalar, {}, "index"},
                "arith.constant " + std::to_string(number) + " : index");
}

Value FunctionWriter::unary(const Value &x) {
  const Type &type = x.type;
  if (type.kind == Type::Kind::Opaque || (type.isTensor() && useFuzz()))
    return generic("fuzz.pure", {x}, {type}).front();
  if (type.isTensor() && useStableHLO()) {
    StringRef name =
        type.isInteger()
            ? random.pick<StringRef>({"stablehlo.not", "stablehlo.abs"})
            : random.pick<StringRef>({"stablehlo.exponential", "stablehlo.negate", "stablehlo.tanh",
                                      "stablehlo.logistic", "stablehlo.rsqrt", "stablehlo.abs"});
    return generic(name, {x}, {type}).front();
  }
  if (type.isFloat()) {
    if (type.isTensor() && type.isStatic() && random.chance(15))
      return elementwiseGeneric({x}, type);
    StringRef name = random.pick<StringRef>({"math.exp", "math.tanh", "math.absf", "math.sqrt",
                                             "arith.negf", "math.sin", "math.log1p"});
    StringRef flags = random.chance(10) ? " fastmath<fast>" : "";
    return define(type, name + " " + x.name + flags + " : " + type.text());
  }
  if (type.isComplex())
    return type.isTensor() ? generic("fuzz.pure", {x}, {type}).front()
                           : define(type, "complex.neg " + x.name + " : " + type.text());
  return binary(x, x);
}

Value FunctionWriter::binary(const Value &x, const Value &y) {
  const Type &type = x.type;
  if (type.kind == Type::Kind::Opaque || (type.isTensor() && useFuzz()))
    return generic("fuzz.pure", {x, y}, {type}).front();
  if (type.isTensor() && useStableHLO()) {
    StringRef name =
        random.pick<StringRef>({"stablehlo.add", "stablehlo.multiply", "stablehlo.subtract",
                                "stablehlo.maximum", "stablehlo.divide"});
    return generic(name, {x, y}, {type}).front();
  }
  if (type.isFloat()) {
    if (type.isTensor() && type.isStatic() && random.chance(15))
      return elementwiseGeneric({x, y}, type);
    StringRef name = random.pick<StringRef>(
        {"arith.addf", "arith.mulf", "arith.subf", "arith.maximumf", "arith.divf"});
    return define(type, name + " " + x.name + ", " + y.name + " : " + type.text());
  }
  if (type.isComplex())
    return type.isTensor()
               ? generic("fuzz.pure", {x, y}, {type}).front()
               : define(type, "complex.mul " + x.name + ", " + y.name + " : " + type.text());
  StringRef name = random.pick<StringRef>(
      {"arith.addi", "arith.muli", "arith.xori", "arith.andi", "arith.maxsi"});
  return define(type, name + " " + x.name + ", " + y.name + " : " + type.text());
}

Value FunctionWriter::empty(const Type &type) {
  std::string sizes;
  if (!type.isStatic()) {
    Values dynamic;
    for (int64_t dim : type.dims)
      if (dim < 0)
        dynamic.push_back(indexConstant(random.between(1, 9)));
    sizes = names(dynamic);
  }
  return define(type, "tensor.empty(" + sizes + ") : " + type.text());
}

Value FunctionWriter::fill(const Type &type) {
  std::optional<Value> scalar;
  if (random.chance(30))
    scalar = pickOf(type.scalar());
  if (!scalar)
    scalar = constant(type.scalar());
  if (type.isStatic() && random.chance(15))
    return define(type, "tensor.splat " + scalar->name + " : " + type.text());
  Value init = empty(type);
  return define(type, "linalg.fill ins(" + scalar->name + " : " + scalar->type.text() + ") outs(" +
                          init.name + " : " + type.text() + ") -> " + type.text());
}

static std::string identityMap(int64_t rank) {
  std::string dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims += (dim ? ", d" : "d") + std::to_string(dim);
  return "affine_map<(" + dims + ") -> (" + dims + ")>";
}

static std::string iterators(int64_t rank, int64_t firstReduction) {
  std::string text;
  for (int64_t dim = 0; dim < rank; ++dim)
    text +=
        std::string(dim ? ", " : "") + (dim < firstReduction ? "\"parallel\"" : "\"reduction\"");
  return text;
}

/// A linalg.generic over floating-point inputs of the result's shape.
Value FunctionWriter::elementwiseGeneric(const Values &inputs, const Type &type, bool readsInit) {
  Value init = readsInit ? fill(type) : empty(type);
  std::string maps, blockArguments;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    maps += identityMap(type.rank()) + ", ";
    blockArguments += "%in" + std::to_string(index) + ": " + type.elem + ", ";
  }
  Value result{fresh(), type};
  line(result.name + " = linalg.generic {indexing_maps = [" + maps + identityMap(type.rank()) +
       "], iterator_types = [" + iterators(type.rank(), type.rank()) + "]} ins(" + names(inputs) +
       " : " + typesOf(inputs) + ") outs(" + init.name + " : " + type.text() + ") {");
  line("^bb0(" + blockArguments + "%out: " + type.elem + "):");
  std::string inner = fresh();
  // An input that is not read gives the loops their ranges only.
  bool readsFirst = inputs.size() == 1 || random.chance(85);
  std::string left = readsFirst ? "%in0" : "%in1";
  std::string right = readsInit ? "%out" : inputs.size() > 1 ? "%in1" : "%in0";
  // The body may read a value from outside.
  std::optional<Value> captured;
  if (random.chance(10))
    captured = pickOf(type.scalar());
  if (captured)
    right = captured->name;
  line("  " + inner + " = arith.mulf " + left + ", " + right + " : " + type.elem);
  line("  linalg.yield " + inner + " : " + type.elem);
  line("} -> " + type.text());
  ++numOps;
  values.push_back(result);
  return result;
}

/// A generic with two outputs of different types.
FunctionWriter::Values FunctionWriter::twoOutputs(const Value &x) {
  const Type &type = x.type;
  Type second = type.withElem(type.elem == "f32" ? "f16" : "f32");
  Value init = empty(type), secondInit = random.chance(50) ? empty(second) : fill(second);
  std::string map = identityMap(type.rank());
  std::string base = fresh();
  line(base + ":2 = linalg.generic {indexing_maps = [" + map + ", " + map + ", " + map +
       "], iterator_types = [" + iterators(type.rank(), type.rank()) + "]} ins(" + x.name + " : " +
       type.text() + ") outs(" + init.name + ", " + secondInit.name + " : " + type.text() + ", " +
       second.text() + ") {");
  line("^bb0(%in: " + type.elem + ", %out0: " + type.elem + ", %out1: " + second.elem + "):");
  std::string square = fresh();
  line("  " + square + " = arith.mulf %in, %in : " + type.elem);
  bool readsInit = random.chance(50);
  line("  linalg.yield " + square + ", %out1 : " + type.elem + ", " + second.elem);
  (void)readsInit;
  line("} -> (" + type.text() + ", " + second.text() + ")");
  ++numOps;
  Values results = {{base + "#0", type}, {base + "#1", second}};
  values.push_back(results[0]);
  values.push_back(results[1]);
  return results;
}

/// `x` along the last dimensions of `type`, of a rank that is larger by one.
Value FunctionWriter::broadcast(const Value &x, const Type &type) {
  int64_t extra = type.rank() - x.type.rank();
  std::string kept, added;
  for (int64_t dim = 0; dim < type.rank(); ++dim) {
    std::string &list = dim < extra ? added : kept;
    list += (list.empty() ? "" : ", ") + std::to_string(dim);
  }
  if (useStableHLO())
    return generic("stablehlo.broadcast_in_dim", {x}, {type},
                   "broadcast_dimensions = array<i64" + (kept.empty() ? "" : ": " + kept) + ">")
        .front();
  if (useFuzz())
    return generic("fuzz.pure", {x}, {type}).front();
  Value init = empty(type);
  return define(type, "linalg.broadcast ins(" + x.name + " : " + x.type.text() + ") outs(" +
                          init.name + " : " + type.text() + ") dimensions = [" + added + "]");
}

/// The sum over the first dimension.
Value FunctionWriter::reduce(const Value &x) {
  Type type = x.type.withDims({x.type.dims.begin() + 1, x.type.dims.end()});
  if (useStableHLO()) {
    Value zero = constant(type.withDims({}));
    Type cell = type.withDims({});
    Value result{fresh(), type};
    std::string left = fresh(), right = fresh(), sum = fresh();
    line(result.name + " = \"stablehlo.reduce\"(" + x.name + ", " + zero.name +
         ") <{dimensions = array<i64: 0>}> ({");
    line("^bb0(" + left + ": " + cell.text() + ", " + right + ": " + cell.text() + "):");
    line("  " + sum + " = \"stablehlo.add\"(" + left + ", " + right + ") : (" + cell.text() + ", " +
         cell.text() + ") -> " + cell.text());
    line("  \"stablehlo.return\"(" + sum + ") : (" + cell.text() + ") -> ()");
    line("}) : (" + x.type.text() + ", " + cell.text() + ") -> " + type.text());
    ++numOps;
    values.push_back(result);
    return result;
  }
  if (useFuzz() || !x.type.isFloat())
    return generic("fuzz.pure", {x}, {type}).front();
  Value init = fill(type);
  return define(type, "linalg.reduce { arith.addf } ins(" + x.name + " : " + x.type.text() +
                          ") outs(" + init.name + " : " + type.text() + ") dimensions = [0]");
}

Value FunctionWriter::matmul(const Value &x, const Value &y) {
  Type type = x.type.withDims({x.type.dims[0], y.type.dims[1]});
  if (useStableHLO())
    return generic("stablehlo.dot_general", {x, y}, {type},
                   "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
                   "rhs_contracting_dimensions = [0]>")
        .front();
  if (useFuzz() || !type.isFloat())
    return generic("fuzz.pure", {x, y}, {type}).front();
  Value init = fill(type);
  return define(type, "linalg.matmul ins(" + x.name + ", " + y.name + " : " + x.type.text() + ", " +
                          y.type.text() + ") outs(" + init.name + " : " + type.text() + ") -> " +
                          type.text());
}

Value FunctionWriter::transpose(const Value &x) {
  Type type = x.type.withDims({x.type.dims[1], x.type.dims[0]});
  if (useStableHLO())
    return generic("stablehlo.transpose", {x}, {type}, "permutation = array<i64: 1, 0>").front();
  if (useFuzz())
    return generic("fuzz.pure", {x}, {type}).front();
  Value init = empty(type);
  return define(type, "linalg.transpose ins(" + x.name + " : " + x.type.text() + ") outs(" +
                          init.name + " : " + type.text() + ") permutation = [1, 0]");
}

static int64_t widthOf(StringRef elem) {
  if (elem == "f64")
    return 64;
  if (elem == "f32" || elem == "i32")
    return 32;
  if (elem == "i1")
    return 1;
  if (elem == "i4")
    return 4;
  if (elem == "i8")
    return 8;
  return 16;
}

/// A conversion between types of different widths.
Value FunctionWriter::convert(const Value &x, StringRef elem) {
  Type type = x.type.withElem(elem);
  if (widthOf(elem) == widthOf(x.type.elem) || x.type.isComplex() || x.type.elem == "index" ||
      useFuzz())
    return generic("fuzz.pure", {x}, {type}).front();
  if (useStableHLO())
    return generic("stablehlo.convert", {x}, {type}).front();
  StringRef name;
  bool wider = widthOf(elem) > widthOf(x.type.elem);
  if (x.type.isFloat())
    name = type.isFloat() ? (wider ? "arith.extf" : "arith.truncf") : "arith.fptosi";
  else
    name = type.isFloat() ? "arith.sitofp" : (wider ? "arith.extui" : "arith.trunci");
  return define(type, name + " " + x.name + " : " + x.type.text() + " to " + type.text());
}

/// Splits the first dimension in two, or joins the first two.
Value FunctionWriter::reshape(const Value &x, std::vector<int64_t> dims) {
  Type type = x.type.withDims(std::move(dims));
  if (useStableHLO())
    return generic("stablehlo.reshape", {x}, {type}).front();
  if (useFuzz())
    return generic("fuzz.view", {x}, {type}).front();
  bool expands = type.rank() > x.type.rank();
  int64_t smaller = std::min(type.rank(), x.type.rank());
  std::string groups = "[[0, 1]";
  for (int64_t dim = 1; dim < smaller; ++dim)
    groups += ", [" + std::to_string(dim + 1) + "]";
  groups += "]";
  if (!expands)
    return define(type, "tensor.collapse_shape " + x.name + " " + groups + " : " + x.type.text() +
                            " into " + type.text());
  std::string shape;
  for (int64_t dim : type.dims)
    shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  return define(type, "tensor.expand_shape " + x.name + " " + groups + " output_shape [" + shape +
                          "] : " + x.type.text() + " into " + type.text());
}

/// Some rows, which are one piece of memory, or some columns, which are not.
Value FunctionWriter::slice(const Value &x, bool contiguous) {
  std::vector<int64_t> offsets(x.type.rank(), 0), sizes = x.type.dims, strides(x.type.rank(), 1);
  int64_t dim = contiguous ? 0 : x.type.rank() - 1;
  sizes[dim] = std::max<int64_t>(x.type.dims[dim] / 2, std::min<int64_t>(x.type.dims[dim], 1));
  offsets[dim] = random.between(0, x.type.dims[dim] - sizes[dim]);
  Type type = x.type.withDims(sizes);
  auto list = [](const std::vector<int64_t> &numbers) {
    return llvm::join(llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }), ", ");
  };
  if (useStableHLO()) {
    std::vector<int64_t> limits;
    for (auto [offset, size] : llvm::zip_equal(offsets, sizes))
      limits.push_back(offset + size);
    return generic("stablehlo.slice", {x}, {type},
                   "start_indices = array<i64: " + list(offsets) +
                       ">, limit_indices = array<i64: " + list(limits) +
                       ">, strides = array<i64: " + list(strides) + ">")
        .front();
  }
  return define(type, "tensor.extract_slice " + x.name + "[" + list(offsets) + "] [" + list(sizes) +
                          "] [" + list(strides) + "] : " + x.type.text() + " to " + type.text());
}

/// `x` at row `offset` of `destination`.
Value FunctionWriter::insertSlice(const Value &x, const Value &destination, int64_t offset) {
  std::string offsets = std::to_string(offset), sizes = std::to_string(x.type.dims[0]),
              strides = "1";
  for (int64_t dim = 1; dim < x.type.rank(); ++dim) {
    offsets += ", 0";
    sizes += ", " + std::to_string(x.type.dims[dim]);
    strides += ", 1";
  }
  return define(destination.type, "tensor.insert_slice " + x.name + " into " + destination.name +
                                      "[" + offsets + "] [" + sizes + "] [" + strides +
                                      "] : " + x.type.text() + " into " + destination.type.text());
}

/// A condition, and two branches that read `x` and perhaps something else.
Value FunctionWriter::ifOp(const Value &x, bool hasEffects) {
  Type bit{Type::Kind::Scalar, {}, "i1"};
  std::optional<Value> condition = pickOf(bit);
  if (!condition || random.chance(30))
    condition = constant(bit);
  std::optional<Value> other = pickOf(x.type);
  Value result{fresh(), x.type};
  line(result.name + " = scf.if " + condition->name + " -> (" + x.type.text() + ") {");
  indent += 2;
  Values saved = values;
  Value inner = binary(unary(x), *other);
  if (hasEffects)
    sideEffect(inner);
  line("scf.yield " + inner.name + " : " + x.type.text());
  values = saved;
  indent -= 2;
  line("} else {");
  indent += 2;
  Value second = random.chance(30) ? x : unary(x);
  line("scf.yield " + second.name + " : " + x.type.text());
  values = saved;
  indent -= 2;
  line("}");
  values.push_back(result);
  return result;
}

Value FunctionWriter::forOp(const Value &x, bool hasEffects) {
  int64_t low = random.between(0, 3), step = random.between(1, 3);
  int64_t high = low + random.between(0, 9);
  Value from = indexConstant(low), to = indexConstant(high), by = indexConstant(step);
  // Sometimes a number of trips that nobody knows.
  if (random.chance(15))
    if (std::optional<Value> unknown = pickOf({Type::Kind::Scalar, {}, "index"}))
      to = *unknown;
  std::optional<Value> other = pickOf(x.type);
  Value result{fresh(), x.type};
  std::string induction = fresh(), carried = fresh();
  line(result.name + " = scf.for " + induction + " = " + from.name + " to " + to.name + " step " +
       by.name + " iter_args(" + carried + " = " + x.name + ") -> (" + x.type.text() + ") {");
  indent += 2;
  Values saved = values;
  Value inner = binary({carried, x.type}, *other);
  if (random.chance(30))
    inner = unary(inner);
  if (hasEffects)
    sideEffect(inner);
  line("scf.yield " + inner.name + " : " + x.type.text());
  values = saved;
  indent -= 2;
  line("}");
  values.push_back(result);
  return result;
}

/// Trips that nobody knows, and a body of two values.
Value FunctionWriter::whileOp(const Value &x) {
  Type index{Type::Kind::Scalar, {}, "index"};
  Value zero = indexConstant(0), one = indexConstant(1);
  std::optional<Value> limit = pickOf(index);
  std::string base = fresh(), i = fresh(), y = fresh(), condition = fresh(), next = fresh();
  std::string types = "(index, " + x.type.text() + ")";
  line(base + ":2 = scf.while (" + i + " = " + zero.name + ", " + y + " = " + x.name +
       ") : " + types + " -> " + types + " {");
  line("  " + condition + " = arith.cmpi slt, " + i + ", " + limit->name + " : index");
  line("  scf.condition(" + condition + ") " + i + ", " + y + " : index, " + x.type.text());
  line("} do {");
  std::string j = fresh(), z = fresh();
  line("^bb0(" + j + ": index, " + z + ": " + x.type.text() + "):");
  indent += 2;
  Values saved = values;
  Value inner = unary({z, x.type});
  line(next + " = arith.addi " + j + ", " + one.name + " : index");
  line("scf.yield " + next + ", " + inner.name + " : index, " + x.type.text());
  values = saved;
  indent -= 2;
  line("}");
  ++numOps;
  values.push_back({base + "#1", x.type});
  return values.back();
}

/// A branch in an operation that is not registered, so that nobody checks what
/// its regions see.
Value FunctionWriter::unregisteredIf(const Value &x, bool hasEffects) {
  Value condition = constant({Type::Kind::Tensor, {}, "i1"});
  std::optional<Value> other = pickOf(x.type);
  std::string text = x.type.text();
  std::string inner = fresh(), second = fresh();
  Value result{fresh(), x.type};
  line(result.name + " = \"stablehlo.if\"(" + condition.name + ") ({");
  line("  " + inner + " = \"stablehlo.multiply\"(" + x.name + ", " + other->name + ") : (" + text +
       ", " + text + ") -> " + text);
  if (hasEffects)
    line("  \"stablehlo.custom_call\"(" + inner +
         ") <{call_target_name = \"record\", has_side_effect = true}> : (" + text + ") -> ()");
  line("  \"stablehlo.return\"(" + inner + ") : (" + text + ") -> ()");
  line("}, {");
  line("  " + second + " = \"stablehlo.negate\"(" + x.name + ") : (" + text + ") -> " + text);
  line("  \"stablehlo.return\"(" + second + ") : (" + text + ") -> ()");
  line("}) : (tensor<i1>) -> " + text);
  ++numOps;
  values.push_back(result);
  return result;
}

void FunctionWriter::allReduce(const Value &x) {
  std::string a = fresh(), b = fresh(), sum = fresh();
  std::string cell = x.type.withDims({}).text(), text = x.type.text();
  Value result{fresh(), x.type};
  line(result.name + " = \"stablehlo.all_reduce\"(" + x.name +
       ") <{replica_groups = dense<0> : tensor<1x1xi64>}> ({");
  line("^bb0(" + a + ": " + cell + ", " + b + ": " + cell + "):");
  line("  " + sum + " = \"stablehlo.add\"(" + a + ", " + b + ") : (" + cell + ", " + cell +
       ") -> " + cell);
  line("  \"stablehlo.return\"(" + sum + ") : (" + cell + ") -> ()");
  line("}) : (" + text + ") -> " + text);
  ++numOps;
  values.push_back(result);
}

/// What training steps seldom have.
void FunctionWriter::rare(const Value &x) {
  const Type type = x.type;
  if (!type.isTensor() || !type.isStatic() || type.rank() == 0 || type.numElements() == 0)
    return;
  std::string zeros;
  for (int64_t dim = 0; dim < type.rank(); ++dim)
    zeros += dim ? ", 0" : "0";
  switch (random.below(11)) {
  case 0:
    whileOp(x);
    return;
  case 1:
    unregisteredIf(x, random.chance(40));
    return;
  case 2:
    return allReduce(x);
  case 3: { // Tokens have no size.
    Type token{Type::Kind::Opaque, {}, "!stablehlo.token"};
    std::optional<Value> before = pickOf(token);
    if (!before)
      before = generic("stablehlo.create_token", {}, {token}).front();
    generic("stablehlo.outfeed", {x, *before}, {token}, "outfeed_config = \"\"");
    return;
  }
  case 4: {
    std::vector<int64_t> dims = type.dims;
    dims.front() += 2;
    std::string high = "2", indices;
    for (int64_t dim = 0; dim < type.rank(); ++dim) {
      high += dim ? ", 0" : "";
      indices += (dim ? ", " : "") + fresh() + ": index";
    }
    Value zero = constant(type.scalar());
    Type padded = type.withDims(dims);
    Value result{fresh(), padded};
    line(result.name + " = tensor.pad " + x.name + " low[" + zeros + "] high[" + high + "] {");
    line("^bb0(" + indices + "):");
    line("  tensor.yield " + zero.name + " : " + type.elem);
    line("} : " + type.text() + " to " + padded.text());
    ++numOps;
    values.push_back(result);
    return;
  }
  case 5: {
    std::vector<int64_t> dims = type.dims;
    dims.front() *= 2;
    std::optional<Value> other = pickOf(type);
    if (useStableHLO())
      generic("stablehlo.concatenate", {x, *other}, {type.withDims(dims)}, "dimension = 0 : i64");
    else
      define(type.withDims(dims), "tensor.concat dim(0) " + x.name + ", " + other->name + " : (" +
                                      type.text() + ", " + type.text() + ") -> " +
                                      type.withDims(dims).text());
    return;
  }
  case 6:
  case 7: { // One element out and in again.
    Value zero = indexConstant(0);
    std::string indices;
    for (int64_t dim = 0; dim < type.rank(); ++dim)
      indices += (dim ? ", " : "") + zero.name;
    Value element =
        define(type.scalar(), "tensor.extract " + x.name + "[" + indices + "] : " + type.text());
    std::optional<Value> destination = pickOf(type);
    if (random.chance(60))
      define(type, "tensor.insert " + element.name + " into " + destination->name + "[" + indices +
                       "] : " + type.text());
    else
      define(type.withDims({2}), "tensor.from_elements " + element.name + ", " + element.name +
                                     " : " + type.withDims({2}).text());
    return;
  }
  case 8: { // A choice between values, by bits.
    Type bits = type.withElem("i1");
    std::optional<Value> other = pickOf(type);
    if (!type.isFloat())
      return;
    if (useStableHLO()) {
      Value mask = generic("stablehlo.compare", {x, *other}, {bits},
                           "comparison_direction = #stablehlo<comparison_direction LT>")
                       .front();
      generic("stablehlo.select", {mask, x, *other}, {type});
      return;
    }
    Value mask =
        define(bits, "arith.cmpf olt, " + x.name + ", " + other->name + " : " + type.text());
    define(type, "arith.select " + mask.name + ", " + x.name + ", " + other->name + " : " +
                     bits.text() + ", " + type.text());
    return;
  }
  case 9:
    if (type.isFloat()) {
      Value init = empty(type);
      define(type, "linalg.map { math.absf } ins(" + x.name + " : " + type.text() + ") outs(" +
                       init.name + " : " + type.text() + ")");
    }
    return;
  default: // Three results; two of them a row.
    if (type.rank() == 2 && type.isFloat()) {
      Type row = type.withDims({type.dims[1]});
      Value scale = fill(row), offset = fill(row);
      Values all = generic("stablehlo.batch_norm_training", {x, scale, offset}, {type, row, row},
                           "epsilon = 1.0 : f32, feature_index = 1 : i64");
      result(all[1]);
    }
    return;
  }
}

Value FunctionWriter::barrier(const Values &inputs, const Value &after) {
  std::vector<Type> inputTypes;
  for (const Value &input : inputs)
    inputTypes.push_back(input.type);
  if (useStableHLO()) {
    Values operands = inputs;
    operands.push_back(after);
    inputTypes.push_back(after.type);
    return generic("stablehlo.optimization_barrier", operands, inputTypes).front();
  }
  std::string text = "remat.barrier " + names(inputs) + " after " + after.name + " : " +
                     types(inputTypes) + " after " + after.type.text();
  return inputs.size() == 1 ? define(inputTypes.front(), text)
                            : defineMany(inputTypes, text).front();
}

/// `x` with `part` in place of some of its elements.
Value FunctionWriter::update(const Value &x, const Value &part) {
  Values operands = {x, part};
  for (int64_t dim = 0; dim < x.type.rank(); ++dim)
    operands.push_back(constant({Type::Kind::Tensor, {}, "i32"}));
  return generic("stablehlo.dynamic_update_slice", operands, {x.type}).front();
}

Value FunctionWriter::dynamicSlice(const Value &x, const Type &type) {
  Values operands = {x};
  for (int64_t dim = 0; dim < x.type.rank(); ++dim)
    operands.push_back(constant({Type::Kind::Tensor, {}, "i32"}));
  std::string sizes = llvm::join(
      llvm::map_range(type.dims, [](int64_t size) { return std::to_string(size); }), ", ");
  return generic("stablehlo.dynamic_slice", operands, {type},
                 "slice_sizes = array<i64: " + sizes + ">")
      .front();
}

/// Rows of `x` at places that are not known, as the gradient of a table has them.
Value FunctionWriter::scatterIntoZeros(const Value &x) {
  Value zero = generic("stablehlo.constant", {}, {x.type.withDims({})},
                       "value = dense<0.0> : " + x.type.withDims({}).text())
                   .front();
  Value zeros =
      generic("stablehlo.broadcast_in_dim", {zero}, {x.type}, "broadcast_dimensions = array<i64>")
          .front();
  Value rows = generic("stablehlo.iota", {}, {{Type::Kind::Tensor, {x.type.dims[0], 1}, "i32"}},
                       "iota_dimension = 0 : i64")
                   .front();
  std::string cell = x.type.withDims({}).text(), a = fresh(), b = fresh(), sum = fresh();
  Value result{fresh(), x.type};
  line(result.name + " = \"stablehlo.scatter\"(" + zeros.name + ", " + rows.name + ", " + x.name +
       ") <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
       "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
       "({");
  line("^bb0(" + a + ": " + cell + ", " + b + ": " + cell + "):");
  line("  " + sum + " = \"stablehlo.add\"(" + a + ", " + b + ") : (" + cell + ", " + cell +
       ") -> " + cell);
  line("  \"stablehlo.return\"(" + sum + ") : (" + cell + ") -> ()");
  line("}) : (" + typesOf({zeros, rows, x}) + ") -> " + x.type.text());
  ++numOps;
  values.push_back(result);
  return result;
}

/// A loop that carries a counter, what it computes, and something that it only reads.
Value FunctionWriter::stableHLOLoop(const Value &x, const Value &unchanged) {
  Type counter{Type::Kind::Tensor, {}, "i32"};
  Value start = constant(counter);
  std::string i = counter.text(), text = x.type.text(), other = unchanged.type.text();
  std::string types = i + ", " + text + ", " + other;
  std::string base = fresh(), limit = fresh(), isLess = fresh(), last = fresh();
  Value count{fresh(), counter}, carried{fresh(), x.type}, constantly{fresh(), unchanged.type};
  line(base + ":3 = \"stablehlo.while\"(" + start.name + ", " + x.name + ", " + unchanged.name +
       ") ({");
  line("^bb0(" + last + ": " + i + ", " + fresh() + ": " + text + ", " + fresh() + ": " + other +
       "):");
  line("  " + limit + " = \"stablehlo.constant\"() <{value = dense<4> : " + i + "}> : () -> " + i);
  line("  " + isLess + " = \"stablehlo.compare\"(" + last + ", " + limit +
       ") <{comparison_direction = #stablehlo<comparison_direction LT>}> : (" + i + ", " + i +
       ") -> tensor<i1>");
  line("  \"stablehlo.return\"(" + isLess + ") : (tensor<i1>) -> ()");
  line("}, {");
  line("^bb0(" + count.name + ": " + i + ", " + carried.name + ": " + text + ", " +
       constantly.name + ": " + other + "):");
  indent += 2;
  Values saved = values;
  Value one = constant(counter);
  Value next = generic("stablehlo.add", {count, one}, {counter}).front();
  Value inner = binary(random.chance(50) ? unary(carried) : carried, constantly);
  line("\"stablehlo.return\"(" + next.name + ", " + inner.name + ", " + constantly.name + ") : (" +
       types + ") -> ()");
  values = saved;
  indent -= 2;
  line("}) : (" + types + ") -> (" + types + ")");
  ++numOps;
  values.push_back({base + "#1", x.type});
  return values.back();
}

/// Something that must happen once, and in order.
void FunctionWriter::sideEffect(const Value &x) {
  switch (random.below(5)) {
  case 0:
    return effect("\"test.print\"(" + x.name + ") : (" + x.type.text() + ") -> ()");
  case 1:
    return effect("\"fuzz.ordered\"(" + x.name + ") : (" + x.type.text() + ") -> ()");
  case 2: {
    if (x.type.kind == Type::Kind::MemRef)
      break;
    generic("test.exchange", {x}, {x.type});
    return;
  }
  case 3:
    if (x.type.isTensor() && useStableHLO()) {
      generic("stablehlo.custom_call", {x}, {x.type},
              "call_target_name = \"record\", has_side_effect = true");
      return;
    }
    break;
  default:
    break;
  }
  for (const Callee &callee : impureCallees) {
    if (callee.arguments.front() == x.type) {
      define(callee.results.front(), "func.call @" + callee.name + "(" + x.name + ") : (" +
                                         x.type.text() + ") -> " + callee.results.front().text());
      return;
    }
  }
  effect("\"test.print\"(" + x.name + ") : (" + x.type.text() + ") -> ()");
}

/// Reads and writes of buffers.
void FunctionWriter::memory(const Value &x) {
  if (!x.type.isTensor() || !x.type.isStatic() || x.type.numElements() == 0)
    return;
  Type type = x.type;
  type.kind = Type::Kind::MemRef;
  std::optional<Value> buffer = pickOf(type);
  if (!buffer && random.chance(50))
    buffer = define(type, "memref.alloc() : " + type.text());
  if (!buffer)
    buffer = argument(type);
  std::string indices;
  Value zero = indexConstant(0);
  for (int64_t dim = 0; dim < type.rank(); ++dim)
    indices += (dim ? ", " : "") + zero.name;
  switch (random.below(9)) {
  case 6: { // A part of it.
    if (type.rank() == 0 || type.dims[0] < 2)
      return;
    std::vector<int64_t> dims = type.dims;
    dims[0] /= 2;
    std::string offsets, sizes, strides, layout;
    int64_t stride = 1;
    for (int64_t dim = type.rank() - 1; dim >= 0; --dim) {
      bool isLast = dim == type.rank() - 1;
      offsets += isLast ? "0" : ", 0";
      strides += isLast ? "1" : ", 1";
      sizes = std::to_string(dims[dim]) + (isLast ? "" : ", ") + sizes;
      layout = std::to_string(stride) + (isLast ? "" : ", ") + layout;
      stride *= type.dims[dim];
    }
    std::string part = type.withDims(dims).text();
    part.insert(part.size() - 1, ", strided<[" + layout + "]>");
    Value view{fresh(), {Type::Kind::Opaque, {}, part}};
    line(view.name + " = memref.subview " + buffer->name + "[" + offsets + "] [" + sizes + "] [" +
         strides + "] : " + type.text() + " to " + part);
    Value scalar = constant(type.scalar());
    return effect("memref.store " + scalar.name + ", " + view.name + "[" + indices + "] : " + part);
  }
  case 7:
    if (std::optional<Value> other = pickOf(type); other && other->name != buffer->name)
      effect("memref.copy " + buffer->name + ", " + other->name + " : " + type.text() + " to " +
             type.text());
    return;
  case 8: // Constant data; only one type of it in a module.
    if (globalType.elem.empty())
      globalType = type;
    if (globalType == type)
      define(type, "memref.get_global @global : " + type.text());
    return;
  case 0:
  case 1: {
    Value loaded =
        define(type.scalar(), "memref.load " + buffer->name + "[" + indices + "] : " + type.text());
    // Sometimes the next reader comes behind a write.
    if (random.chance(50))
      effect("memref.store " + loaded.name + ", " + buffer->name + "[" + indices +
             "] : " + type.text());
    Value init = empty(x.type);
    define(x.type, "linalg.fill ins(" + loaded.name + " : " + loaded.type.text() + ") outs(" +
                       init.name + " : " + x.type.text() + ") -> " + x.type.text());
    return;
  }
  case 2: {
    Value scalar = constant(type.scalar());
    return effect("memref.store " + scalar.name + ", " + buffer->name + "[" + indices +
                  "] : " + type.text());
  }
  case 3:
    define(x.type, "bufferization.to_tensor " + buffer->name + " : " + type.text() + " to " +
                       x.type.text());
    return;
  case 4:
    return effect("bufferization.materialize_in_destination " + x.name + " in writable " +
                  buffer->name + " : (" + x.type.text() + ", " + type.text() + ") -> ()");
  default: {
    Value scalar = constant(type.scalar());
    return effect("linalg.fill ins(" + scalar.name + " : " + scalar.type.text() + ") outs(" +
                  buffer->name + " : " + type.text() + ")");
  }
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// Appends the forward part of a layer from `x` to a value of the same type.
std::pair<Value, FunctionWriter::Backward> FunctionWriter::layer(const Value &x,
                                                                 const Values &earlier) {
  Type type = x.type;
  if (isForXLA && type.isFloat() && random.chance(60))
    return layerForXLA(x);
  switch (random.below(19)) {
  case 0:
  case 1: { // An activation that reads its operand again.
    Value y = unary(x);
    return {y, [=](const Value &g) { return binary(g, unary(x)); }};
  }
  case 2: { // An activation that reads its result again.
    Value y = unary(unary(x));
    return {y, [=](const Value &g) { return binary(g, binary(y, x)); }};
  }
  case 3: { // A chain of which the backward part reads every link.
    Value a = unary(x), b = binary(a, x), c = unary(b);
    return {c, [=](const Value &g) {
              Value db = binary(g, c), da = binary(db, b);
              return binary(binary(da, a), x);
            }};
  }
  case 4:
  case 5: { // A product with a weight.
    Value w = argument(type.withDims({columns, columns}));
    Value y = matmul(x, w);
    return {y, [=](const Value &g) {
              Value dw = matmul(transpose(x), g);
              result(random.chance(50) ? dw : binary(w, dw));
              return matmul(g, transpose(w));
            }};
  }
  case 6: { // A bias.
    Value b = argument(type.withDims({columns}));
    Value y = binary(x, broadcast(b, type));
    return {y, [=](const Value &g) {
              result(reduce(g));
              return g;
            }};
  }
  case 7: { // A normalization.
    Value m = broadcast(reduce(x), type);
    Value y = binary(x, m);
    return {y, [=](const Value &g) { return binary(binary(g, y), m); }};
  }
  case 8: { // A mask from an explicit state.
    Type bits = type.withElem("i32"), state{Type::Kind::Tensor, {2}, "i64"};
    Value seed = argument(state);
    Values drawn = generic("stablehlo.rng_bit_generator", {seed}, {state, bits},
                           "rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>");
    if (random.chance(50))
      result(drawn[0]);
    Value mask = convert(drawn[1], type.elem == "f32" ? "f64" : "f32");
    mask = convert(mask, type.elem);
    Value y = binary(x, mask);
    return {y, [=](const Value &g) { return binary(g, mask); }};
  }
  case 9: { // Something wide inside.
    std::vector<int64_t> dims = type.dims;
    dims.insert(dims.begin(), random.between(2, 5));
    Value wide = broadcast(x, type.withDims(dims));
    Value u = unary(wide), y = reduce(u);
    return {y, [=](const Value &g) {
              Value dg = broadcast(g, wide.type);
              return reduce(binary(binary(dg, u), wide));
            }};
  }
  case 10: { // Views.
    if (rows % 2 || rows == 0)
      break;
    Value e = reshape(x, {2, rows / 2, columns});
    Value u = unary(e), y = reshape(u, type.dims);
    return {y, [=](const Value &g) {
              Value dg = reshape(g, e.type.dims);
              return reshape(binary(binary(dg, u), e), type.dims);
            }};
  }
  case 11: { // A narrower type inside.
    StringRef narrow = type.elem == "f32" ? "bf16" : "f32";
    Value h = convert(x, narrow);
    Value n = unary(h), y = convert(n, type.elem);
    return {y, [=](const Value &g) {
              Value dg = convert(g, narrow);
              return convert(binary(binary(dg, n), h), type.elem);
            }};
  }
  case 12: { // A call.
    for (const Callee &callee : pureCallees) {
      if (callee.arguments.size() != 1 || !(callee.arguments.front() == type))
        continue;
      std::vector<Type> types = callee.results;
      std::string text = "func.call @" + callee.name + "(" + x.name + ") : (" + type.text() +
                         ") -> (" + FunctionWriter::types(types) + ")";
      Value y = types.size() == 1 ? define(types.front(), text) : defineMany(types, text).front();
      return {y, [=](const Value &g) { return binary(g, binary(x, y)); }};
    }
    break;
  }
  case 13: { // Control flow.
    bool hasEffects = random.chance(15);
    Value y = random.chance(50) ? ifOp(x, hasEffects) : forOp(x, hasEffects);
    return {y, [=](const Value &g) {
              return random.chance(30) ? ifOp(binary(g, y), false) : binary(g, y);
            }};
  }
  case 14: { // A skip connection.
    Value other = earlier[random.below(earlier.size())];
    Value y = binary(x, other);
    return {y, [=](const Value &g) { return random.chance(50) ? binary(g, other) : g; }};
  }
  case 15: { // Rows written one piece after the other.
    if (rows < 2 || rows % 2 || !useNative())
      break;
    Value destination = random.chance(60) ? empty(type) : fill(type);
    Value first = slice(x, /*contiguous=*/true);
    Value u = unary(first);
    Value filled = insertSlice(u, destination, 0);
    Value y = insertSlice(first, filled, rows / 2);
    return {y, [=](const Value &g) {
              Value part = slice(g, /*contiguous=*/true);
              return insertSlice(binary(part, u), g, 0);
            }};
  }
  case 16: { // Two results.
    if (!type.isFloat() || !useNative())
      break;
    Values both = twoOutputs(x);
    return {both[0], [=](const Value &g) { return binary(g, convert(both[1], type.elem)); }};
  }
  case 17: { // Of the fuzzer's own dialect: scratch memory, destinations, many results.
    Value destination = unary(x);
    Value y = generic("fuzz.reuse", {x, destination}, {type}).front();
    Values many = generic("fuzz.scratch", {y, x}, {type, type.withDims({columns})});
    return {many[0],
            [=](const Value &g) { return generic("fuzz.pure", {g, many[1], y}, {type}).front(); }};
  }
  default: { // Something that is executed once.
    if (random.chance(60))
      break;
    Value y = random.chance(50) ? generic("test.exchange", {x}, {type}).front()
                                : generic("fuzz.random", {x}, {type}).front();
    return {y, [=](const Value &g) { return binary(g, y); }};
  }
  }
  Value y = unary(x);
  return {y, [=](const Value &g) { return binary(g, y); }};
}

/// A layer of what XLA does in place, of what it moves around, and of products: what they
/// read is in memory.
std::pair<Value, FunctionWriter::Backward> FunctionWriter::layerForXLA(const Value &x) {
  Type type = x.type;
  switch (random.below(12)) {
  case 0: { // A row is written, and read again.
    Type row = type.withDims({1, columns});
    Value part = dynamicSlice(x, row);
    Value y = update(unary(x), part);
    return {y, [=](const Value &g) { return update(binary(g, y), dynamicSlice(g, row)); }};
  }
  case 1: { // A table.
    Value y = unary(x);
    return {y, [=](const Value &g) {
              Value scattered = scatterIntoZeros(binary(g, y));
              return generic("stablehlo.add", {x, scattered}, {type}).front();
            }};
  }
  case 2: { // A loop over something that stays.
    Value w = random.chance(50) ? argument(type) : unary(x);
    Value y = stableHLOLoop(x, w);
    return {y, [=](const Value &g) { return stableHLOLoop(binary(g, y), w); }};
  }
  case 3: { // Halves side by side.
    std::vector<int64_t> dims = type.dims;
    dims.front() *= 2;
    Value both = generic("stablehlo.concatenate", {x, unary(x)}, {type.withDims(dims)},
                         "dimension = 0 : i64")
                     .front();
    Value u = unary(both), y = slice(u, /*contiguous=*/true);
    return {y, [=](const Value &g) { return binary(g, slice(binary(u, both), true)); }};
  }
  case 4: { // A choice by sign.
    Type bits = type.withElem("i1");
    Value zeros = broadcast(constant(type.withDims({})), type);
    Value mask = generic("stablehlo.compare", {x, zeros}, {bits},
                         "comparison_direction = #stablehlo<comparison_direction GT>")
                     .front();
    Value y = generic("stablehlo.select", {mask, x, zeros}, {type}).front();
    return {y, [=](const Value &g) {
              return generic("stablehlo.select", {mask, g, zeros}, {type}).front();
            }};
  }
  default: { // A product of an activation.
    Value w = argument(type.withDims({columns, columns}));
    Value a = unary(x), y = matmul(a, w);
    return {y, [=](const Value &g) {
              result(matmul(transpose(a), g));
              return binary(matmul(g, transpose(w)), a);
            }};
  }
  }
}

/// Something that has nothing to do with what is around it.
void FunctionWriter::noise() {
  std::optional<Value> x = pickTensor();
  if (!x)
    return;
  switch (random.below(10)) {
  case 9:
    return rare(*x);
  case 0:
    return sideEffect(*x);
  case 1:
  case 2:
    return memory(*x);
  case 3:
    unary(*x); // Dead, unless something picks it.
    return;
  case 4: {
    std::optional<Value> after = pickTensor();
    if (useNative() || random.chance(30))
      barrier({*x}, *after);
    return;
  }
  case 5:
    if (x->type.isStatic() && x->type.rank() > 0 && x->type.numElements() <= 256) {
      Value data = denseConstant(x->type);
      result(binary(*x, data));
    }
    return;
  case 6:
    if (x->type.isStatic() && x->type.rank() > 0) {
      Value zero = indexConstant(0);
      Value dim = define({Type::Kind::Scalar, {}, "index"},
                         "tensor.dim " + x->name + ", " + zero.name + " : " + x->type.text());
      effect("\"test.print\"(" + dim.name + ") : (index) -> ()");
    }
    return;
  case 7:
    // Scalar arithmetic.
    if (std::optional<Value> scalar = pickIf([](const Value &value) {
          return value.type.kind == Type::Kind::Scalar && value.type.isFloat();
        }))
      unary(binary(*scalar, *scalar));
    return;
  default:
    result(*x);
    return;
  }
}

void FunctionWriter::training(int64_t maxOps) {
  Type type = mainType();
  Value x = argument(type);
  std::vector<Backward> backward;
  Values earlier = {x};
  int64_t noisePercent = random.pick({0, 0, 5, 15});
  while (numOps < maxOps * 2 / 5 || backward.size() < 2) {
    auto [y, back] = layer(x, earlier);
    x = y;
    earlier.push_back(x);
    backward.push_back(std::move(back));
    if (random.chance(noisePercent))
      noise();
  }
  // The loss, and the gradient of the last value.
  Value loss = reduce(x);
  if (loss.type.rank() > 0)
    loss = reduce(loss);
  result(loss);
  Value g = random.chance(70) ? broadcast(loss, type) : generic("fuzz.pure", {loss}, {type})[0];
  for (Backward &back : llvm::reverse(backward)) {
    g = back(g);
    if (random.chance(noisePercent))
      noise();
  }
  result(g);
}

std::vector<int64_t> FunctionWriter::randomDims() {
  switch (random.below(6)) {
  case 0:
    return {columns};
  case 1:
    return {};
  case 2:
    return {2, rows, columns};
  case 3:
    return {columns, columns};
  case 4:
    if (random.chance(20))
      return {0, columns};
    return {rows, columns};
  default:
    return {rows, columns};
  }
}

/// Appends one operation of any kind on values of any type.
void FunctionWriter::randomOperation() {
  std::optional<Value> x = random.chance(90) ? pickTensor() : pickIf([](const Value &v) {
    return v.type.kind == Type::Kind::Scalar || v.type.isTensor();
  });
  if (!x)
    return;
  const Type type = x->type;
  bool isShaped = type.isTensor() && type.isStatic();
  switch (random.below(24)) {
  case 21:
  case 22:
    return rare(*x);
  case 0:
  case 1:
    unary(*x);
    return;
  case 2:
  case 3:
  case 4:
    binary(*x, *pickOf(type));
    return;
  case 5:
    if (isShaped && type.isFloat()) {
      std::optional<Value> y = pickOf(type);
      elementwiseGeneric({*x, *y}, type, random.chance(50));
    }
    return;
  case 6:
    if (isShaped && type.isFloat())
      twoOutputs(*x);
    return;
  case 7:
    if (isShaped && type.rank() < 3) {
      std::vector<int64_t> dims = type.dims;
      dims.insert(dims.begin(), random.between(1, 4));
      broadcast(*x, type.withDims(dims));
    }
    return;
  case 8:
    if (isShaped && type.rank() > 0)
      reduce(*x);
    return;
  case 9:
    if (isShaped && type.rank() == 2) {
      std::optional<Value> y = pickIf([&](const Value &value) {
        return value.type.isTensor() && value.type.rank() == 2 && value.type.elem == type.elem &&
               value.type.dims[0] == type.dims[1] && value.type.isStatic();
      });
      if (y)
        matmul(*x, *y);
    }
    return;
  case 10:
    if (isShaped && type.rank() == 2)
      transpose(*x);
    return;
  case 11:
    if (isShaped)
      convert(*x, random.pick<StringRef>({"f32", "f16", "bf16", "f64", "i1", "i4", "i8", "i32"}));
    return;
  case 12:
    if (isShaped && type.rank() >= 2 && random.chance(50)) {
      std::vector<int64_t> dims = {type.dims[0] * type.dims[1]};
      dims.insert(dims.end(), type.dims.begin() + 2, type.dims.end());
      reshape(*x, dims);
    } else if (isShaped && type.rank() >= 1 && type.dims[0] % 2 == 0 && type.dims[0] > 0) {
      std::vector<int64_t> dims = {2, type.dims[0] / 2};
      dims.insert(dims.end(), type.dims.begin() + 1, type.dims.end());
      reshape(*x, dims);
    }
    return;
  case 13:
    if (isShaped && type.rank() >= 1 && type.numElements() > 0)
      slice(*x, random.chance(60));
    return;
  case 14:
    if (isShaped && type.rank() >= 1 && type.numElements() > 0) {
      Value part = slice(*x, /*contiguous=*/true);
      std::optional<Value> destination = pickOf(type);
      insertSlice(part, *destination, random.between(0, type.dims[0] - part.type.dims[0]));
    }
    return;
  case 15:
    if (random.chance(50))
      ifOp(*x, random.chance(30));
    else
      forOp(*x, random.chance(30));
    return;
  case 16: {
    std::vector<Type> types;
    for (int64_t number = random.between(1, 3); number > 0; --number)
      types.push_back({Type::Kind::Tensor, randomDims(), type.elem});
    StringRef name = random.pick<StringRef>(
        {"fuzz.pure", "fuzz.scratch", "fuzz.random", "test.exchange", "fuzz.talk"});
    Values operands = {*x};
    if (random.chance(50))
      operands.push_back(*pickTensor());
    generic(name, operands, types);
    return;
  }
  case 17: {
    std::optional<Value> destination = pickOf(type);
    generic("fuzz.reuse", {*x, *destination}, {type});
    return;
  }
  case 18:
    generic(random.chance(50) ? "fuzz.copy" : "fuzz.view", {*x}, {type});
    return;
  case 19:
    if (isShaped) {
      StringRef extra = random.chance(50) ? ", has_side_effect = false" : "";
      if (random.chance(30))
        extra = ", has_side_effect = true";
      generic("stablehlo.custom_call", {*x}, {type}, ("call_target_name = \"work\"" + extra).str());
    }
    return;
  case 20:
    if (isShaped) {
      if (random.chance(50))
        fill(type);
      else
        generic("stablehlo.iota", {}, {type}, "iota_dimension = 0 : i64");
    }
    return;
  default:
    return noise();
  }
}

void FunctionWriter::mixed(int64_t maxOps) {
  for (int64_t number = random.between(1, 4); number > 0; --number)
    argument({Type::Kind::Tensor, randomDims(), elem});
  if (random.chance(30))
    argument({Type::Kind::Scalar, {}, "i1"});
  if (random.chance(30))
    argument({Type::Kind::Scalar, {}, random.pick<StringRef>({"index", "f32", "i32"}).str()});
  if (random.chance(15))
    argument({Type::Kind::Tensor, {rows, columns}, "complex<f32>"});
  if (random.chance(15))
    argument({Type::Kind::Tensor,
              {rows, 3},
              random.pick<StringRef>({"i1", "i4", "i8", "f16", "f64", "index"}).str()});
  if (random.chance(6))
    argument({Type::Kind::Tensor, {-1, columns}, elem});
  if (random.chance(6))
    argument({Type::Kind::Opaque, {}, "!fuzz.handle"});
  while (numOps < maxOps)
    randomOperation();
  for (int64_t number = random.between(0, 3); number > 0; --number)
    if (std::optional<Value> value = pickTensor())
      result(*value);
}

/// For each argument the attribute that donates it, or nothing: as JAX writes it, for a
/// certain result or for whichever has the type.
std::vector<std::string> FunctionWriter::donate() {
  std::vector<std::string> attributes(arguments.size());
  std::vector<bool> isTaken(results.size(), false);
  for (auto [index, value] : llvm::enumerate(arguments)) {
    if (!isForXLA || !random.chance(40))
      continue;
    for (auto [number, result] : llvm::enumerate(results)) {
      if (isTaken[number] || !(result.type == value.type))
        continue;
      isTaken[number] = true;
      attributes[index] = random.chance(70)
                              ? " {tf.aliasing_output = " + std::to_string(number) + " : i32}"
                              : " {jax.buffer_donor = true}";
      break;
    }
  }
  return attributes;
}

/// Graphs that are the worst of some kind.
void FunctionWriter::extreme(int64_t maxOps) {
  Type type = mainType();
  Value x = argument(type);
  switch (random.below(6)) {
  case 0: { // A chain whose links are all read again, the last one first.
    Values links = {x};
    for (int64_t number = maxOps / 2; number > 0; --number)
      links.push_back(unary(links.back()));
    Value g = generic("fuzz.pure", {links.back()}, {type}).front();
    for (const Value &link : llvm::reverse(links))
      g = binary(g, link);
    return result(g);
  }
  case 1: { // One operation that reads everything.
    Values branches;
    for (int64_t number = maxOps / 2; number > 0; --number)
      branches.push_back(unary(x));
    return result(generic("fuzz.pure", branches, {type}).front());
  }
  case 2: { // A wide value at the start and the end only.
    Type wide = type.withDims({8 * rows, columns});
    Value w = generic("fuzz.pure", {x}, {wide}).front();
    Value narrow = generic("fuzz.pure", {w}, {type}).front();
    for (int64_t number = maxOps - 3; number > 0; --number)
      narrow = unary(narrow);
    return result(generic("fuzz.pure", {narrow, w}, {type}).front());
  }
  case 3: { // One value with many consumers, each with a peak of its own.
    Value saved = unary(x);
    Value g = x;
    for (int64_t number = maxOps / 3; number > 0; --number) {
      Value wide = generic("fuzz.pure", {g}, {type.withDims({4 * rows, columns})}).front();
      Value narrow = generic("fuzz.pure", {wide}, {type}).front();
      g = binary(narrow, saved);
    }
    return result(g);
  }
  case 4: { // Ladders: each rung reads the same one of the other side.
    Values rungs = {x};
    Value a = x;
    for (int64_t number = maxOps / 2; number > 0; --number) {
      a = unary(a);
      rungs.push_back(random.chance(70) ? a : unary(a));
    }
    Value b = a;
    for (const Value &rung : llvm::reverse(rungs)) {
      b = binary(b, rung);
      if (random.chance(20))
        result(b);
    }
    return result(b);
  }
  default: { // Nothing to do.
    if (random.chance(50))
      result(x);
    if (random.chance(50))
      result(x);
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::string FunctionWriter::writeMain(StringRef name, int64_t maxOps) {
  rows = random.pick<int64_t>({1, 2, 4, 6, 8, 8, 16, 16, 32, 64});
  columns = random.pick<int64_t>({1, 3, 4, 8, 8, 10, 16, 33, 64});
  if (random.chance(20))
    elem = random.pick<StringRef>({"bf16", "f16", "f64"}).str();
  if (!pureCallees.empty() && random.chance(50)) {
    // So that calls occur.
    const Type &type = pureCallees.front().arguments.front();
    rows = type.dims[0];
    columns = type.dims[1];
    elem = type.elem;
  }
  int64_t limit = random.between(std::min<int64_t>(maxOps, 4), maxOps);
  // Without products, XLA keeps little of which something could be recomputed.
  int64_t others = isForXLA ? 8 : 17;
  switch (random.pickWeighted({100 - 2 * others, others + 3, others - 3})) {
  case 0:
    training(limit);
    break;
  case 1:
    mixed(limit);
    break;
  default:
    extreme(limit);
    break;
  }
  // Results that are arguments, views or named twice.
  if (random.chance(10) && !arguments.empty())
    result(arguments[random.below(arguments.size())]);
  if (random.chance(10) && !results.empty())
    result(results[random.below(results.size())]);

  std::string text = ("  func.func @" + name + "(").str();
  std::vector<std::string> donations = donate();
  for (auto [index, value] : llvm::enumerate(arguments))
    text += (index ? ", " : "") + value.name + ": " + value.type.text() + donations[index];
  text += ")";
  if (!results.empty())
    text += " -> (" + typesOf(results) + ")";
  text += " {\n" + body + "    return";
  if (!results.empty())
    text += " " + names(results) + " : " + typesOf(results);
  return text + "\n  }\n";
}

std::string FunctionWriter::writeCallee(const Callee &callee, bool hasEffects) {
  flavour = random.chance(30) ? flavour : Flavour::Native;
  Value x = argument(callee.arguments.front());
  Value y = unary(x);
  if (random.chance(40))
    y = binary(y, random.chance(50) ? denseConstant(y.type) : constant(y.type));
  if (random.chance(40))
    y = binary(unary(y), x);
  if (hasEffects)
    effect("\"test.print\"(" + y.name + ") : (" + y.type.text() + ") -> ()");
  Values returned = {y};
  for (size_t index = 1; index < callee.results.size(); ++index)
    returned.push_back(random.chance(50) ? x : unary(x));
  return "  func.func private @" + callee.name + "(" + x.name + ": " + x.type.text() + ") -> (" +
         typesOf(returned) + ") {\n" + body + "    return " + names(returned) + " : " +
         typesOf(returned) + "\n  }\n";
}

std::string mlir::remat::fuzz::generateModule(Random &random, int64_t maxOps, bool isForXLA) {
  Flavour flavour =
      isForXLA ? Flavour::StableHLO : static_cast<Flavour>(random.pickWeighted({35, 25, 10, 30}));
  Type type;
  type.dims = {random.pick<int64_t>({2, 4, 8}), random.pick<int64_t>({3, 4, 8})};
  Type globalType{Type::Kind::MemRef, {}, ""};
  std::vector<Callee> pure, impure;
  std::string callees;
  if (random.chance(30)) {
    pure.push_back({"pure0", {type}, {type}});
    if (random.chance(40))
      pure.back().results.push_back(type);
    callees += FunctionWriter(random, {}, {}, flavour, isForXLA, globalType)
                   .writeCallee(pure.back(), false);
    impure.push_back({"impure0", {type}, {type}});
    callees += FunctionWriter(random, {}, {}, flavour, isForXLA, globalType)
                   .writeCallee(impure.back(), true);
    impure.push_back({"external", {type}, {type}});
    if (random.chance(50))
      std::swap(impure[0], impure[1]);
    callees += "  func.func private @external(" + type.text() + ") -> " + type.text() + "\n";
  }
  std::string text = "module";
  if (random.chance(5))
    text += " attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>}";
  text += " {\n";
  text +=
      FunctionWriter(random, pure, impure, flavour, isForXLA, globalType).writeMain("main", maxOps);
  if (random.chance(8))
    text += FunctionWriter(random, pure, impure, flavour, isForXLA, globalType)
                .writeMain("other", maxOps / 2 + 1);
  if (!globalType.elem.empty())
    callees += "  memref.global \"private\" constant @global : " + globalType.text() + " = dense<" +
               literal(globalType, 1) + ">\n";
  return text + callees + "}\n";
}

std::string mlir::remat::fuzz::getModelsText(bool liesAboutViews) {
  std::string copyStorage =
      liesAboutViews ? R"json(, "storage": [{"result": 0, "kind": "view", "operand": 0}])json" : "";
  return R"json({
  "version": 1,
  "operations": [
    {"names": ["fuzz.pure"], "effects": "pure", "cost": "elementwise"},
    {"names": ["fuzz.copy"], "effects": "pure", "cost": "data_movement")json" +
         copyStorage + R"json(},
    {"names": ["fuzz.view"], "effects": "pure", "cost": "none",
     "storage": [{"result": 0, "kind": "view", "operand": 0}]},
    {"names": ["fuzz.reuse"], "effects": "pure", "cost": "elementwise",
     "storage": [{"result": 0, "kind": "reuse", "operand": 1}]},
    {"names": ["fuzz.scratch"], "effects": "pure", "cost": "elementwise",
     "workspace": "bytes(result 0)"},
    {"names": ["fuzz.random"], "effects": "ordered", "why_not": "draws from hidden state"},
    {"names": ["fuzz.ordered"], "effects": "ordered", "why_not": "has side effects"},
    {"names": ["fuzz.talk"], "effects": "ordered", "why_not": "talks", "overridable": true}
  ]
}
)json";
}
