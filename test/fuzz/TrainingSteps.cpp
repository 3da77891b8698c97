//===- TrainingSteps.cpp - Random training steps to execute -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text only, no MLIR: every function appends operations to the body that is being written
// and returns the value that they define. Numbers stay small, and what is not defined for
// all numbers (divisions, indices, conversions to integers) is guarded.
//
//===----------------------------------------------------------------------===//

#include "TrainingSteps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <vector>

using namespace mlir::remat::fuzz;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// A static tensor.
struct Type {
  std::vector<int64_t> dims;
  std::string elem;

  std::string text() const {
    std::string result = "tensor<";
    for (int64_t dim : dims)
      result += std::to_string(dim) + "x";
    return result + elem + ">";
  }
  bool operator==(const Type &other) const { return dims == other.dims && elem == other.elem; }
  bool isFloat() const { return elem.find('f') != std::string::npos; }
  int64_t rank() const { return dims.size(); }
  int64_t numElements() const {
    int64_t product = 1;
    for (int64_t dim : dims)
      product *= dim;
    return product;
  }
  Type withElem(StringRef newElem) const { return {dims, newElem.str()}; }
  Type withDims(std::vector<int64_t> newDims) const { return {std::move(newDims), elem}; }
};

struct Value {
  std::string name;
  Type type;
};

/// A private function that can be called.
struct Callee {
  std::string name;
  std::vector<Type> arguments, results;
};

class StepWriter {
public:
  explicit StepWriter(Random &random) : random(random) {}

  std::string writeModule(int64_t numLayers);

private:
  using Values = std::vector<Value>;

  //===--------------------------------------------------------------------===//
  // Text
  //===--------------------------------------------------------------------===//

  std::string fresh() { return "%v" + std::to_string(numNames++); }
  void line(const Twine &text) {
    body.append(indent, ' ');
    body += text.str();
    body += '\n';
  }
  /// An operation with one result that is no tensor.
  std::string scalar(const Twine &text) {
    std::string name = fresh();
    line(name + " = " + text);
    return name;
  }
  Value define(Type type, const Twine &text) {
    values.push_back({scalar(text), std::move(type)});
    return values.back();
  }
  std::string index(int64_t number) {
    return scalar("arith.constant " + Twine(number) + " : index");
  }
  /// Writes a region; what it defines is not visible behind it.
  void nest(llvm::function_ref<void()> write) {
    size_t numVisible = values.size();
    indent += 2;
    write();
    indent -= 2;
    values.resize(numVisible);
  }

  //===--------------------------------------------------------------------===//
  // Choices
  //===--------------------------------------------------------------------===//

  Value any() { return values[random.below(values.size())]; }
  /// One of the last few, more often.
  Value recent() {
    int64_t numRecent = std::min<int64_t>(values.size(), 6);
    return random.chance(60) ? values[values.size() - 1 - random.below(numRecent)] : any();
  }
  std::string anyElement() {
    return random
        .pick<StringRef>(
            {"f32", "f32", "f32", "f32", "f64", "bf16", "f16", "i32", "i64", "i8", "i1"})
        .str();
  }
  Type anyType() {
    Type type{{}, anyElement()};
    int64_t rank = random.pick<int64_t>({0, 1, 1, 2, 2, 2, 2, 3});
    for (int64_t dim = 0; dim < rank; ++dim)
      type.dims.push_back(random.pick<int64_t>({1, 2, 3, 4, 5, 7, 8, 16, 24}));
    return type;
  }
  std::string number(StringRef elem) {
    if (elem == "i1")
      return random.chance(50) ? "true" : "false";
    if (elem.starts_with("i"))
      return std::to_string(random.between(-7, 7));
    int64_t eighths = random.between(-16, 16);
    return (eighths < 0 ? "-" : "") + std::to_string(std::abs(eighths) / 8) + "." +
           llvm::utostr(1000 + std::abs(eighths) % 8 * 125).substr(1);
  }

  //===--------------------------------------------------------------------===//
  // Constants and destinations
  //===--------------------------------------------------------------------===//

  std::string denseText(const Type &type, size_t dim) {
    if (dim == type.dims.size())
      return number(type.elem);
    std::vector<std::string> parts;
    for (int64_t i = 0; i < type.dims[dim]; ++i)
      parts.push_back(denseText(type, dim + 1));
    return "[" + llvm::join(parts, ", ") + "]";
  }
  Value constant(const Type &type, int64_t splatPercent = 50) {
    bool isSplat = random.chance(splatPercent);
    return define(type, "arith.constant dense<" +
                            (isSplat ? number(type.elem) : denseText(type, 0)) +
                            "> : " + type.text());
  }
  std::string scalarConstant(StringRef elem, StringRef text) {
    return scalar("arith.constant " + text + (elem == "i1" ? "" : " : " + elem.str()));
  }
  std::string zero(StringRef elem) {
    return elem == "i1" ? "false" : elem.starts_with("i") ? "0" : "0.0";
  }
  /// What an operation writes to without reading it.
  Value destination(const Type &type) {
    if (random.chance(15))
      for (const Value &value : llvm::reverse(values))
        if (value.type == type)
          return value;
    if (random.chance(10))
      return constant(type, 100);
    // Not to be found by others: reading it is undefined.
    return {scalar("tensor.empty() : " + type.text()), type};
  }
  Value filled(const Type &type, StringRef text) {
    if (random.chance(30))
      return define(type, "arith.constant dense<" + text + "> : " + type.text());
    std::string element = scalarConstant(type.elem, text);
    Value empty = destination(type);
    return define(type, "linalg.fill ins(" + Twine(element) + " : " + type.elem + ") outs(" +
                            empty.name + " : " + type.text() + ") -> " + type.text());
  }

  //===--------------------------------------------------------------------===//
  // Elementwise
  //===--------------------------------------------------------------------===//

  /// Operations of arith and math on one type, of a scalar as of a tensor.
  std::string unaryText(StringRef x, const Type &type, StringRef text) {
    if (type.isFloat()) {
      StringRef op = random.pick<StringRef>({"math.tanh", "math.tanh", "arith.negf", "math.absf",
                                             "math.sin", "math.floor", "math.cos"});
      return (op + " " + x + " : " + text).str();
    }
    return ("arith." + random.pick<StringRef>({"xori", "ori", "andi"}) + " " + x + ", " + x +
            " : " + text)
        .str();
  }
  std::string binaryText(StringRef x, StringRef y, const Type &type, StringRef text) {
    StringRef op =
        type.isFloat()
            ? random.pick<StringRef>({"addf", "subf", "mulf", "mulf", "maximumf", "minimumf"})
        : type.elem == "i1"
            ? random.pick<StringRef>({"xori", "ori", "andi"})
            : random.pick<StringRef>({"addi", "subi", "muli", "xori", "maxsi", "minsi", "andi"});
    return ("arith." + op + " " + x + ", " + y + " : " + text).str();
  }

  static std::string dimsText(int64_t rank) {
    std::vector<std::string> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      dims.push_back("d" + std::to_string(dim));
    return llvm::join(dims, ", ");
  }
  static std::string mapText(int64_t rank, StringRef results) {
    return ("affine_map<(" + dimsText(rank) + ") -> (" + results + ")>").str();
  }
  static std::string namesText(const Values &list) {
    return llvm::join(llvm::map_range(list, [](const Value &value) { return value.name; }), ", ");
  }
  static std::string typesText(const Values &list) {
    return llvm::join(llvm::map_range(list, [](const Value &value) { return value.type.text(); }),
                      ", ");
  }

  /// A linalg.generic. `write` gets the names of the elements and returns that of the result.
  Value generic(const Type &type, const Values &inputs, std::vector<std::string> maps,
                StringRef outputMap, StringRef iterators, const Value &init,
                llvm::function_ref<std::string(const std::vector<std::string> &)> write) {
    maps.push_back(outputMap.str());
    std::string result = fresh(), ins;
    if (!inputs.empty())
      ins = " ins(" + namesText(inputs) + " : " + typesText(inputs) + ")";
    line(result + " = linalg.generic {indexing_maps = [" + llvm::join(maps, ", ") +
         "], iterator_types = [" + iterators + "]}" + ins + " outs(" + init.name + " : " +
         type.text() + ") {");
    std::vector<std::string> elements, declared;
    for (const Value &input : inputs) {
      elements.push_back(fresh());
      declared.push_back(elements.back() + ": " + input.type.elem);
    }
    elements.push_back(fresh());
    declared.push_back(elements.back() + ": " + type.elem);
    line("^bb0(" + Twine(llvm::join(declared, ", ")) + "):");
    nest([&] {
      std::string yielded = write(elements);
      line("linalg.yield " + Twine(yielded) + " : " + type.elem);
    });
    line("} -> " + Twine(type.text()));
    values.push_back({result, type});
    return values.back();
  }
  static std::string parallel(int64_t rank) {
    return llvm::join(std::vector<std::string>(rank, "\"parallel\""), ", ");
  }

  Value unary(const Value &x) {
    const Type &type = x.type;
    std::string text = type.text();
    int64_t rank = type.rank();
    std::string identity = mapText(rank, dimsText(rank));
    switch (random.below(4)) {
    case 0:
      if (type.isFloat()) {
        StringRef op = random.pick<StringRef>({"tanh", "negf", "abs", "square", "floor"});
        Value init = destination(type);
        return define(type, "linalg." + op + " ins(" + x.name + " : " + text + ") outs(" +
                                init.name + " : " + text + ") -> " + text);
      }
      [[fallthrough]];
    case 1: {
      Value init = destination(type);
      return generic(type, {x}, {identity}, identity, parallel(rank), init,
                     [&](const std::vector<std::string> &elements) {
                       std::string y = scalar(unaryText(elements[0], type, type.elem));
                       if (type.elem != "i1" && rank > 0 && random.chance(20)) {
                         std::string position =
                             scalar("linalg.index " + Twine(random.below(rank)) + " : index");
                         std::string wide =
                             scalar("arith.index_cast " + Twine(position) + " : index to i64");
                         std::string same =
                             type.elem == "i64" ? wide : scalar(castText(wide, "i64", type.elem));
                         y = scalar(binaryText(y, same, type, type.elem));
                       }
                       return scalar(binaryText(y, elements[0], type, type.elem));
                     });
    }
    default:
      return define(type, unaryText(x.name, type, text));
    }
  }

  Value binary(const Value &x, const Value &y) {
    const Type &type = x.type;
    std::string text = type.text();
    int64_t rank = type.rank();
    std::string identity = mapText(rank, dimsText(rank));
    switch (random.below(5)) {
    case 0:
      if (type.elem != "i1") {
        StringRef op = random.pick<StringRef>({"add", "sub", "mul", "max", "min"});
        Value init = destination(type);
        return define(type, "linalg." + op + " ins(" + x.name + ", " + y.name + " : " + text +
                                ", " + text + ") outs(" + init.name + " : " + text + ") -> " +
                                text);
      }
      [[fallthrough]];
    case 1: {
      Value init = destination(type);
      return generic(type, {x, y}, {identity, identity}, identity, parallel(rank), init,
                     [&](const std::vector<std::string> &elements) {
                       std::string z = scalar(unaryText(elements[1], type, type.elem));
                       return scalar(binaryText(elements[0], z, type, type.elem));
                     });
    }
    case 2:
      if (type.isFloat()) {
        // A divisor of at least one.
        Value one = constantOf(type, "1.0");
        Value square = define(type, "arith.mulf " + Twine(y.name) + ", " + y.name + " : " + text);
        Value divisor =
            define(type, "arith.addf " + Twine(square.name) + ", " + one.name + " : " + text);
        return define(type, "arith.divf " + Twine(x.name) + ", " + divisor.name + " : " + text);
      }
      [[fallthrough]];
    case 3: {
      // The condition comes from numbers that are exact in every order of sums.
      Value condition = adapt(random.chance(50) ? any() : x, type.withElem("i1"));
      return define(type, "arith.select " + Twine(condition.name) + ", " + x.name + ", " + y.name +
                              " : " + type.withElem("i1").text() + ", " + text);
    }
    default:
      return define(type, binaryText(x.name, y.name, type, text));
    }
  }

  Value constantOf(const Type &type, StringRef text) {
    return define(type, "arith.constant dense<" + text + "> : " + type.text());
  }

  //===--------------------------------------------------------------------===//
  // Other types
  //===--------------------------------------------------------------------===//

  static int64_t width(StringRef elem) {
    int64_t bits = 0;
    elem.drop_while([](char c) { return !llvm::isDigit(c); }).getAsInteger(10, bits);
    return bits;
  }
  /// From integers, or between floats of different widths; on scalars or, with `shape`, tensors.
  static std::string castText(StringRef x, StringRef from, StringRef to, StringRef fromText = {},
                              StringRef toText = {}) {
    bool isFrom = from.contains('f'), isTo = to.contains('f');
    StringRef op = isFrom                    ? (width(from) < width(to) ? "extf" : "truncf")
                   : isTo                    ? (from == "i1" ? "uitofp" : "sitofp")
                   : from == "i1"            ? "extui"
                   : width(from) < width(to) ? "extsi"
                                             : "trunci";
    return ("arith." + op + " " + x + " : " + (fromText.empty() ? from : fromText) + " to " +
            (toText.empty() ? to : toText))
        .str();
  }

  Value cast(const Value &x, StringRef elem) {
    if (x.type.elem == elem)
      return x;
    Type type = x.type.withElem(elem);
    if (x.type.isFloat() && !type.isFloat()) {
      Value zeros = constantOf(x.type, "0.0");
      Value sign = define(x.type.withElem("i1"), "arith.cmpf ogt, " + Twine(x.name) + ", " +
                                                     zeros.name + " : " + x.type.text());
      return cast(sign, elem);
    }
    if (x.type.isFloat() && width(x.type.elem) == width(elem))
      return cast(cast(x, "f32"), elem);
    return define(type, castText(x.name, x.type.elem, elem, x.type.text(), type.text()));
  }

  /// Any value as one of any type.
  Value adapt(const Value &x, const Type &type) {
    if (x.type.elem != type.elem)
      return adapt(cast(x, type.elem), type);
    if (x.type == type)
      return x;
    if (x.type.numElements() == type.numElements())
      return reshape(x, type.dims);
    if (x.type.rank() > type.rank())
      return adapt(reduce(x), type);
    if (x.type.rank() < type.rank()) {
      int64_t size = type.dims[random.below(type.rank())];
      return adapt(broadcast(x, size), type);
    }
    bool isPadded = false, isSliced = false;
    for (auto [from, to] : llvm::zip_equal(x.type.dims, type.dims)) {
      isPadded |= from < to;
      isSliced |= from > to;
    }
    Value y = isPadded ? pad(x, type.dims) : x;
    return isSliced ? slice(y, type.dims) : y;
  }

  Value reshape(const Value &x, const std::vector<int64_t> &dims) {
    auto whole = [](size_t rank) {
      if (rank == 0)
        return std::string("[]");
      std::vector<std::string> numbers;
      for (size_t dim = 0; dim < rank; ++dim)
        numbers.push_back(std::to_string(dim));
      return "[[" + llvm::join(numbers, ", ") + "]]";
    };
    Value flat = x;
    // One dimension, or none of a single element.
    if (x.type.rank() != 1) {
      Type type = x.type.withDims({x.type.numElements()});
      if (x.type.rank() == 0)
        flat = define(type, "tensor.expand_shape " + Twine(x.name) +
                                " [] output_shape [1] : " + x.type.text() + " into " + type.text());
      else
        flat = define(type, "tensor.collapse_shape " + Twine(x.name) + " " + whole(x.type.rank()) +
                                " : " + x.type.text() + " into " + type.text());
    }
    if (dims.size() == 1)
      return flat;
    Type type = x.type.withDims(dims);
    if (dims.empty())
      return define(type, "tensor.collapse_shape " + Twine(flat.name) +
                              " [] : " + flat.type.text() + " into " + type.text());
    std::string shape =
        llvm::join(llvm::map_range(dims, [](int64_t dim) { return std::to_string(dim); }), ", ");
    return define(type, "tensor.expand_shape " + Twine(flat.name) + " " + whole(dims.size()) +
                            " output_shape [" + shape + "] : " + flat.type.text() + " into " +
                            type.text());
  }

  /// With one dimension less.
  Value reduce(const Value &x) {
    Type type = x.type;
    int64_t dim = random.below(type.rank());
    type.dims.erase(type.dims.begin() + dim);
    bool isMax = random.chance(25);
    StringRef op = type.isFloat()      ? (isMax ? "arith.maximumf" : "arith.addf")
                   : type.elem == "i1" ? (isMax ? "arith.andi" : "arith.xori")
                                       : (isMax ? "arith.maxsi" : "arith.addi");
    Value init = filled(type, zero(type.elem));
    if (random.chance(60))
      return define(type, "linalg.reduce { " + op + " } ins(" + x.name + " : " + x.type.text() +
                              ") outs(" + init.name + " : " + type.text() + ") dimensions = [" +
                              Twine(dim) + "]");
    std::vector<std::string> kept, iterators;
    for (int64_t d = 0; d < x.type.rank(); ++d) {
      if (d != dim)
        kept.push_back("d" + std::to_string(d));
      iterators.push_back(d == dim ? "\"reduction\"" : "\"parallel\"");
    }
    return generic(type, {x}, {mapText(x.type.rank(), dimsText(x.type.rank()))},
                   mapText(x.type.rank(), llvm::join(kept, ", ")), llvm::join(iterators, ", "),
                   init, [&](const std::vector<std::string> &elements) {
                     return scalar(op + " " + elements[0] + ", " + elements[1] + " : " + type.elem);
                   });
  }

  /// With a new dimension of `size`.
  Value broadcast(const Value &x, int64_t size) {
    Type type = x.type;
    int64_t dim = random.below(type.rank() + 1);
    type.dims.insert(type.dims.begin() + dim, size);
    Value init = destination(type);
    if (random.chance(60))
      return define(type, "linalg.broadcast ins(" + Twine(x.name) + " : " + x.type.text() +
                              ") outs(" + init.name + " : " + type.text() + ") dimensions = [" +
                              Twine(dim) + "]");
    std::vector<std::string> kept;
    for (int64_t d = 0; d < type.rank(); ++d)
      if (d != dim)
        kept.push_back("d" + std::to_string(d));
    return generic(type, {x}, {mapText(type.rank(), llvm::join(kept, ", "))},
                   mapText(type.rank(), dimsText(type.rank())), parallel(type.rank()), init,
                   [&](const std::vector<std::string> &elements) { return elements[0]; });
  }

  Value transpose(const Value &x) {
    std::vector<int64_t> order;
    for (int64_t dim = 0; dim < x.type.rank(); ++dim)
      order.insert(order.begin() + random.below(dim + 1), dim);
    Type type = x.type;
    std::vector<std::string> text;
    for (auto [dim, from] : llvm::enumerate(order)) {
      type.dims[dim] = x.type.dims[from];
      text.push_back(std::to_string(from));
    }
    Value init = destination(type);
    return define(type, "linalg.transpose ins(" + Twine(x.name) + " : " + x.type.text() +
                            ") outs(" + init.name + " : " + type.text() + ") permutation = [" +
                            llvm::join(text, ", ") + "]");
  }

  /// At least as large as `dims` everywhere.
  Value pad(const Value &x, const std::vector<int64_t> &dims) {
    Type type = x.type;
    std::vector<std::string> low, high, names;
    for (auto [size, wanted] : llvm::zip_equal(type.dims, dims)) {
      int64_t added = std::max<int64_t>(wanted - size, 0), before = random.below(added + 1);
      low.push_back(std::to_string(before));
      high.push_back(std::to_string(added - before));
      names.push_back(fresh() + ": index");
      size += added;
    }
    std::string element = scalarConstant(type.elem, number(type.elem)), result = fresh();
    line(result + " = tensor.pad " + x.name + " low[" + llvm::join(low, ", ") + "] high[" +
         llvm::join(high, ", ") + "] {");
    line("^bb0(" + Twine(llvm::join(names, ", ")) + "):");
    line("  tensor.yield " + Twine(element) + " : " + type.elem);
    line("} : " + Twine(x.type.text()) + " to " + type.text());
    values.push_back({result, type});
    return values.back();
  }

  /// Offsets, sizes and strides of a slice of a tensor.
  std::string sliceText(const Type &whole, const std::vector<int64_t> &dims) {
    std::vector<std::string> offsets, sizes, strides;
    for (auto [all, size] : llvm::zip_equal(whole.dims, dims)) {
      int64_t stride = size > 1 && 2 * (size - 1) < all && random.chance(25) ? 2 : 1;
      int64_t offset = random.below(all - stride * (size - 1));
      offsets.push_back(std::to_string(offset));
      sizes.push_back(std::to_string(size));
      strides.push_back(std::to_string(stride));
    }
    return "[" + llvm::join(offsets, ", ") + "] [" + llvm::join(sizes, ", ") + "] [" +
           llvm::join(strides, ", ") + "]";
  }

  /// At most as large as `dims` everywhere.
  Value slice(const Value &x, const std::vector<int64_t> &dims) {
    Type type = x.type;
    for (auto [size, wanted] : llvm::zip_equal(type.dims, dims))
      size = std::min(size, wanted);
    return define(type, "tensor.extract_slice " + Twine(x.name) + sliceText(x.type, type.dims) +
                            " : " + x.type.text() + " to " + type.text());
  }

  std::vector<int64_t> partOf(const Type &type) {
    std::vector<int64_t> dims = type.dims;
    for (int64_t &dim : dims)
      dim = random.chance(50) ? dim : random.between(1, dim);
    return dims;
  }

  Value insertSlice(const Value &source, const Value &x) {
    Value part = adapt(source, x.type.withDims(partOf(x.type)));
    return define(x.type, "tensor.insert_slice " + Twine(part.name) + " into " + x.name +
                              sliceText(x.type, part.type.dims) + " : " + part.type.text() +
                              " into " + x.type.text());
  }

  Value concat(const Value &x) {
    int64_t dim = random.below(x.type.rank());
    Type other = x.type;
    other.dims[dim] = random.between(1, 4);
    Values parts{x, adapt(any(), other)};
    if (random.chance(30))
      parts.push_back(x);
    Type type = x.type;
    type.dims[dim] = 0;
    for (const Value &part : parts)
      type.dims[dim] += part.type.dims[dim];
    return define(type, "tensor.concat dim(" + Twine(dim) + ") " + namesText(parts) + " : (" +
                            typesText(parts) + ") -> " + type.text());
  }

  Value product(const Value &x) {
    // An accumulator in another type is what mixed precision does.
    Type type = x.type;
    bool isMixed = (type.elem == "bf16" || type.elem == "f16") && random.chance(60);
    std::string elem = isMixed ? "f32" : type.elem;
    bool isBatched = type.rank() == 3;
    int64_t m = type.dims[isBatched], k = type.dims[isBatched + 1], n = random.between(1, 9);
    bool isTransposed = random.chance(40);
    std::vector<int64_t> right =
        isTransposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n};
    std::vector<int64_t> result{m, n};
    std::string d = "d0, d1, d2", maps;
    if (isBatched) {
      right.insert(right.begin(), type.dims[0]);
      result.insert(result.begin(), type.dims[0]);
      d = "d0, d1, d2, d3";
    }
    if (isTransposed) {
      std::string prefix = isBatched ? "d0, " : "", row = isBatched ? "d1" : "d0",
                  column = isBatched ? "d2" : "d1", sum = isBatched ? "d3" : "d2";
      auto map = [&](StringRef a, StringRef b) {
        return ("affine_map<(" + d + ") -> (" + prefix + a + ", " + b + ")>").str();
      };
      maps = " indexing_maps = [" + map(row, sum) + ", " + map(column, sum) + ", " +
             map(row, column) + "]";
    }
    Value y = adapt(any(), type.withDims(right));
    Type resultType{result, elem};
    Value init = random.chance(70) ? filled(resultType, zero(elem)) : adapt(any(), resultType);
    return define(resultType, Twine(isBatched ? "linalg.batch_matmul" : "linalg.matmul") + maps +
                                  " ins(" + x.name + ", " + y.name + " : " + type.text() + ", " +
                                  y.type.text() + ") outs(" + init.name + " : " +
                                  resultType.text() + ") -> " + resultType.text());
  }

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  std::string element(const Value &x) {
    std::vector<std::string> indices;
    for (int64_t dim : x.type.dims)
      indices.push_back(index(random.below(dim)));
    return scalar("tensor.extract " + Twine(x.name) + "[" + llvm::join(indices, ", ") +
                  "] : " + x.type.text());
  }

  /// Rows of a matrix chosen by a vector of integers.
  Value gather(const Value &source) {
    Type type = source.type.withDims({random.between(1, 6), random.between(1, 8)});
    Value x = adapt(source, type);
    Value rows = adapt(any(), {{random.between(1, 7)}, "i32"});
    Type result = type.withDims({rows.type.dims[0], type.dims[1]});
    std::string limit = index(type.dims[0]);
    Value init = destination(result);
    return generic(result, {rows}, {mapText(2, "d0")}, mapText(2, "d0, d1"), parallel(2), init,
                   [&](const std::vector<std::string> &elements) {
                     std::string wide =
                         scalar("arith.index_cast " + Twine(elements[0]) + " : i32 to index");
                     std::string row =
                         scalar("arith.remui " + Twine(wide) + ", " + limit + " : index");
                     std::string column = scalar("linalg.index 1 : index");
                     return scalar("tensor.extract " + Twine(x.name) + "[" + row + ", " + column +
                                   "] : " + type.text());
                   });
  }

  /// Adds vectors to rows of a matrix that a vector of integers chooses.
  Value scatter(const Value &source) {
    Type type = source.type.withDims({random.between(1, 5), random.between(1, 6)});
    Value init = random.chance(50) ? filled(type, zero(type.elem)) : adapt(source, type);
    Value rows = adapt(any(), {{random.between(1, 5)}, "i64"});
    Value updates = adapt(any(), type.withDims({rows.type.dims[0], type.dims[1]}));
    Type row = type.withDims({type.dims[1]});
    std::string begin = index(0), end = index(rows.type.dims[0]), step = index(1),
                limit = index(type.dims[0]), i = fresh();
    Value carried{fresh(), type}, result{fresh(), type};
    line(result.name + " = scf.for " + i + " = " + begin + " to " + end + " step " + step +
         " iter_args(" + carried.name + " = " + init.name + ") -> (" + type.text() + ") {");
    nest([&] {
      std::string raw =
          scalar("tensor.extract " + Twine(rows.name) + "[" + i + "] : " + rows.type.text());
      std::string wide = scalar("arith.index_cast " + Twine(raw) + " : i64 to index");
      std::string place = scalar("arith.remui " + Twine(wide) + ", " + limit + " : index");
      auto read = [&](const Value &from, StringRef at) {
        return define(row, "tensor.extract_slice " + Twine(from.name) + "[" + at + ", 0] [1, " +
                               Twine(type.dims[1]) + "] [1, 1] : " + from.type.text() + " to " +
                               row.text());
      };
      Value update = read(updates, i);
      if (random.chance(70))
        update = binary(update, read(carried, place));
      std::string inserted = scalar("tensor.insert_slice " + Twine(update.name) + " into " +
                                    carried.name + "[" + place + ", 0] [1, " + Twine(type.dims[1]) +
                                    "] [1, 1] : " + row.text() + " into " + type.text());
      line("scf.yield " + Twine(inserted) + " : " + type.text());
    });
    line("}");
    values.push_back(result);
    return result;
  }

  /// Tensors made of scalars, and single elements written.
  Value fromScalars(const Value &x) {
    std::string first = element(x), second = element(x);
    Type scalarType = x.type.withDims({});
    std::string sum = scalar(binaryText(first, second, scalarType, x.type.elem));
    switch (random.below(4)) {
    case 0: {
      Type type = x.type.withDims({3});
      return define(type, "tensor.from_elements " + Twine(first) + ", " + second + ", " + sum +
                              " : " + type.text());
    }
    case 1: {
      Type type = x.type.withDims({2, 3});
      return define(type, "tensor.splat " + Twine(sum) + " : " + type.text());
    }
    case 2: {
      std::vector<std::string> indices;
      for (int64_t dim : x.type.dims)
        indices.push_back(index(random.below(dim)));
      return define(x.type, "tensor.insert " + Twine(sum) + " into " + x.name + "[" +
                                llvm::join(indices, ", ") + "] : " + x.type.text());
    }
    default: {
      Value init = destination(x.type);
      int64_t rank = x.type.rank();
      std::string identity = mapText(rank, dimsText(rank));
      return generic(x.type, {x}, {identity}, identity, parallel(rank), init,
                     [&](const std::vector<std::string> &elements) {
                       return scalar(binaryText(elements[0], sum, x.type, x.type.elem));
                     });
    }
    }
  }

  //===--------------------------------------------------------------------===//
  // Control flow and calls
  //===--------------------------------------------------------------------===//

  /// A few operations that end in a value of a type.
  Value compute(const Value &from, const Type &type, int64_t depth) {
    Value x = from;
    for (int64_t count = random.between(0, 2); count > 0; --count)
      x = operation(x, depth + 1);
    return adapt(x, type);
  }

  Values results(const std::vector<Type> &types, const Twine &text) {
    std::string base = fresh();
    line(Twine(base) + ":" + Twine(types.size()) + " = " + text);
    Values list;
    for (auto [number, type] : llvm::enumerate(types))
      list.push_back({base + "#" + std::to_string(number), type});
    return list;
  }

  std::string typeList(const std::vector<Type> &types) {
    return llvm::join(llvm::map_range(types, [](const Type &type) { return type.text(); }), ", ");
  }

  /// What a region yields: new values, what it carries (perhaps exchanged), or what is outside.
  Values yielded(const std::vector<Type> &types, const Values &carried, int64_t depth) {
    Values list;
    for (const Type &type : types) {
      int64_t choice = random.below(10);
      if (choice < 6 || (choice < 8 && carried.empty()))
        list.push_back(compute(
            carried.empty() || random.chance(30) ? any() : carried[random.below(carried.size())],
            type, depth));
      else if (choice < 8)
        list.push_back(adapt(carried[random.below(carried.size())], type));
      else
        list.push_back(adapt(any(), type));
    }
    return list;
  }

  void yield(StringRef name, const Values &list) {
    line(name + " " + namesText(list) + " : " + typesText(list));
  }

  std::vector<Type> carriedTypes(const Value &x) {
    std::vector<Type> types{x.type};
    if (random.chance(50))
      types.push_back(random.chance(60) ? x.type : any().type);
    return types;
  }

  Value loop(const Value &x, int64_t depth) {
    std::vector<Type> types = carriedTypes(x);
    std::string begin = index(0), end = index(random.between(0, 3)), step = index(1);
    Values inits, carried;
    std::vector<std::string> pairs;
    for (const Type &type : types) {
      inits.push_back(adapt(inits.empty() || random.chance(30) ? x : any(), type));
      carried.push_back({fresh(), type});
      pairs.push_back(carried.back().name + " = " + inits.back().name);
    }
    Values outcome = results(types, "scf.for " + fresh() + " = " + begin + " to " + end + " step " +
                                        step + " iter_args(" + llvm::join(pairs, ", ") + ") -> (" +
                                        typeList(types) + ") {");
    nest([&] {
      values.insert(values.end(), carried.begin(), carried.end());
      yield("scf.yield", yielded(types, carried, depth));
    });
    line("}");
    values.insert(values.end(), outcome.begin(), outcome.end());
    return outcome[random.below(outcome.size())];
  }

  Value whileLoop(const Value &x, int64_t depth) {
    std::vector<Type> types = carriedTypes(x);
    std::string begin = index(0), end = index(random.between(0, 3)), step = index(1);
    std::string counter = fresh(), counterBehind = fresh();
    Values before, behind;
    std::vector<std::string> pairs;
    for (const Type &type : types) {
      before.push_back({fresh(), type});
      behind.push_back({fresh(), type});
      pairs.push_back(before.back().name + " = " + adapt(pairs.empty() ? x : any(), type).name);
    }
    std::string base = fresh(), list = typeList(types);
    line(base + ":" + std::to_string(types.size() + 1) + " = scf.while (" +
         llvm::join(pairs, ", ") + ", " + counter + " = " + begin + ") : (" + list +
         ", index) -> (" + list + ", index) {");
    nest([&] {
      values.insert(values.end(), before.begin(), before.end());
      std::string goesOn = scalar("arith.cmpi ult, " + Twine(counter) + ", " + end + " : index");
      Values passed = random.chance(70) ? before : yielded(types, before, depth);
      line("scf.condition(" + Twine(goesOn) + ") " + namesText(passed) + ", " + counter + " : " +
           list + ", index");
    });
    line("} do {");
    std::vector<std::string> declared;
    for (const Value &value : behind)
      declared.push_back(value.name + ": " + value.type.text());
    line("^bb0(" + Twine(llvm::join(declared, ", ")) + ", " + counterBehind + ": index):");
    nest([&] {
      values.insert(values.end(), behind.begin(), behind.end());
      Values next = yielded(types, behind, depth);
      std::string more = scalar("arith.addi " + Twine(counterBehind) + ", " + step + " : index");
      line("scf.yield " + Twine(namesText(next)) + ", " + more + " : " + list + ", index");
    });
    line("}");
    Values outcome;
    for (auto [number, type] : llvm::enumerate(types))
      outcome.push_back({base + "#" + std::to_string(number), type});
    values.insert(values.end(), outcome.begin(), outcome.end());
    return outcome[random.below(outcome.size())];
  }

  Value branch(const Value &x, int64_t depth) {
    std::vector<Type> types = carriedTypes(x);
    std::string condition = element(adapt(any(), {{}, "i1"}));
    Values outcome = results(types, "scf.if " + condition + " -> (" + typeList(types) + ") {");
    nest([&] { yield("scf.yield", yielded(types, {x}, depth)); });
    line("} else {");
    nest([&] { yield("scf.yield", yielded(types, {}, depth)); });
    line("}");
    values.insert(values.end(), outcome.begin(), outcome.end());
    return outcome[random.below(outcome.size())];
  }

  Value call() {
    const Callee callee = callees[random.below(callees.size())];
    Values arguments;
    for (const Type &type : callee.arguments)
      arguments.push_back(adapt(recent(), type));
    Values outcome = results(callee.results,
                             "func.call @" + callee.name + "(" + namesText(arguments) + ") : (" +
                                 typesText(arguments) + ") -> (" + typeList(callee.results) + ")");
    values.insert(values.end(), outcome.begin(), outcome.end());
    return outcome[random.below(outcome.size())];
  }

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  /// Anything, of `x` and others; the result is not too large.
  Value operation(const Value &x, int64_t depth = 0) {
    constexpr int64_t kMaxElements = 400;
    if (x.type.numElements() > kMaxElements)
      return slice(x, partOf(x.type.withDims(std::vector<int64_t>(x.type.rank(), 4))));
    int64_t rank = x.type.rank();
    switch (random.below(depth < 2 ? 24 : 18)) {
    case 0:
      return rank > 0 ? reduce(x) : unary(x);
    case 1:
      return rank < 3 ? broadcast(x, random.between(1, 6)) : reduce(x);
    case 2:
      return rank > 1 ? transpose(x) : unary(x);
    case 3: {
      std::vector<int64_t> dims = x.type.dims;
      for (int64_t &dim : dims)
        dim += random.below(3);
      return pad(x, dims);
    }
    case 4:
      return slice(x, partOf(x.type));
    case 5:
      return insertSlice(any(), x);
    case 6:
      return rank > 0 ? concat(x) : unary(x);
    case 7:
    case 8:
    case 9:
      return rank > 1 ? product(x) : binary(x, adapt(any(), x.type));
    case 10:
      return random.chance(50) ? gather(x) : scatter(x);
    case 11:
      return fromScalars(x);
    case 12:
      return binary(x, constant(x.type));
    case 13:
      return cast(x, anyElement());
    case 14:
    case 15:
    case 16:
      return binary(x, adapt(recent(), x.type));
    case 18:
      return loop(x, depth);
    case 19:
      return branch(x, depth);
    case 20:
      return whileLoop(x, depth);
    case 21:
    case 22:
      if (!callees.empty())
        return call();
      [[fallthrough]];
    default:
      return unary(x);
    }
  }

  /// The text of a function, whose body is written by `write`; it returns the results.
  std::string function(StringRef head, const Values &arguments, StringRef donated,
                       llvm::function_ref<Values()> write) {
    values = arguments;
    body.clear();
    indent = 2;
    Values returned = write();
    yield("return", returned);
    std::vector<std::string> declared;
    for (auto [number, argument] : llvm::enumerate(arguments))
      declared.push_back(
          argument.name + ": " + argument.type.text() +
          (number < donated.size() && donated[number] == '1' ? " {remat.donated}" : ""));
    lastResults.clear();
    for (const Value &value : returned)
      lastResults.push_back(value.type);
    return ("func.func " + head + "(" + llvm::join(declared, ", ") + ") -> (" +
            typesText(returned) + ") {\n" + body + "}\n")
        .str();
  }

  std::string writeCallee(StringRef name) {
    Values arguments;
    for (int64_t count = random.between(1, 2); count > 0; --count)
      arguments.push_back({fresh(), anyType()});
    std::string text = function(("private @" + name).str(), arguments, {}, [&] {
      Value x = arguments[0];
      for (int64_t count = random.between(1, 4); count > 0; --count)
        x = operation(x, 1);
      Values returned{x};
      if (random.chance(40))
        returned.push_back(any());
      return returned;
    });
    std::vector<Type> types;
    for (const Value &argument : arguments)
      types.push_back(argument.type);
    callees.push_back({name.str(), types, lastResults});
    return text;
  }

  Values writeStep(const Values &arguments, int64_t numLayers) {
    Value x = arguments[0];
    Values saved;
    for (int64_t layer = 0; layer < numLayers; ++layer) {
      x = operation(x);
      saved.push_back(x);
    }
    // Backward: what was computed first is read last.
    Value gradient = unary(x);
    Values returned;
    for (const Value &activation : llvm::reverse(saved)) {
      gradient = binary(adapt(gradient, activation.type), activation);
      if (random.chance(15))
        gradient = operation(gradient);
    }
    for (const Value &argument : arguments)
      if (random.chance(60)) {
        Value change = adapt(random.chance(70) ? gradient : recent(), argument.type);
        returned.push_back(binary(argument, change));
      }
    returned.push_back(adapt(x, {{}, "f32"}));
    // What is no result of a computation.
    while (random.chance(35)) {
      switch (random.below(4)) {
      case 0:
        returned.push_back(arguments[random.below(arguments.size())]);
        break;
      case 1:
        returned.push_back(constant(anyType()));
        break;
      case 2:
        returned.push_back(returned[random.below(returned.size())]);
        break;
      default:
        Value viewed = any();
        returned.push_back(
            viewed.type.numElements() > 0 ? reshape(viewed, {viewed.type.numElements()}) : viewed);
      }
    }
    return returned;
  }

  Random &random;
  Values values;
  std::vector<Callee> callees;
  std::vector<Type> lastResults;
  std::string body;
  int64_t indent = 2, numNames = 0;
};
} // namespace

std::string StepWriter::writeModule(int64_t numLayers) {
  std::string text;
  for (int64_t number = random.chance(40) ? random.between(1, 2) : 0; number > 0; --number)
    text += writeCallee("part" + std::to_string(number));
  Values arguments;
  std::string donated;
  for (int64_t count = random.between(2, 5); count > 0; --count) {
    arguments.push_back({fresh(), anyType()});
    donated += random.chance(35) ? '1' : '0';
  }
  text += function("@step", arguments, donated, [&] { return writeStep(arguments, numLayers); });
  return text;
}

std::string mlir::remat::fuzz::generateTrainingStep(Random &random, int64_t numLayers) {
  return StepWriter(random).writeModule(numLayers);
}
