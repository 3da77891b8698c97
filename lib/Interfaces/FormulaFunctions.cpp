//===- FormulaFunctions.cpp - Functions that formulas call ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FormulaFunctions.h"

#include "Remat/Interfaces/Count.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;
using namespace mlir::remat;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::string remat::getAttributeText(Attribute attribute) {
  if (auto opaque = dyn_cast<OpaqueAttr>(attribute))
    return opaque.getAttrData().str();
  if (auto string = dyn_cast<StringAttr>(attribute))
    return string.getValue().str();
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

/// The value as a number; booleans are 0 and 1.
static std::optional<int64_t> readInteger(const APInt &value, Type type) {
  if (type.isInteger(1))
    return value.getBoolValue() ? 1 : 0;
  if (type.isUnsignedInteger())
    return value.getActiveBits() < 64 ? std::optional<int64_t>(value.getZExtValue()) : std::nullopt;
  return value.getSignificantBits() <= 64 ? std::optional<int64_t>(value.getSExtValue())
                                          : std::nullopt;
}

std::optional<IntegerList> remat::readIntegers(Attribute attribute) {
  IntegerList list;
  auto append = [&](const APInt &value, Type type) {
    std::optional<int64_t> number = readInteger(value, type);
    list.push_back(number.value_or(0));
    return number.has_value();
  };
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute))
    return append(integer.getValue(), integer.getType()) ? std::optional(list) : std::nullopt;
  if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
    for (Attribute element : array) {
      auto integer = dyn_cast<IntegerAttr>(element);
      if (!integer || !append(integer.getValue(), integer.getType()))
        return std::nullopt;
    }
    return list;
  }
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    for (const APInt &value : elements.getValues<APInt>())
      if (!append(value, elements.getElementType()))
        return std::nullopt;
    return list;
  }
  auto copy = [&](auto array) {
    list.assign(array.asArrayRef().begin(), array.asArrayRef().end());
    return list;
  };
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return copy(array);
  if (auto array = dyn_cast_or_null<DenseI32ArrayAttr>(attribute))
    return copy(array);
  if (auto array = dyn_cast_or_null<DenseBoolArrayAttr>(attribute))
    return copy(array);
  return std::nullopt;
}

/// What follows `name =` in `text`, where `name` is a whole word.
static std::optional<StringRef> findField(StringRef text, StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos; at = text.find(name, at + 1)) {
    StringRef rest = text.drop_front(at + name.size()).ltrim();
    bool isWhole = at == 0 || !isWord(text[at - 1]);
    if (isWhole && rest.consume_front("="))
      return rest.ltrim();
  }
  return std::nullopt;
}

std::optional<IntegerList> remat::readField(StringRef text, StringRef name) {
  std::optional<StringRef> found = findField(text, name);
  if (!found)
    return IntegerList();
  StringRef rest = *found;
  IntegerList list;
  bool isList = rest.consume_front("[");
  while (true) {
    rest = rest.ltrim();
    if (isList && rest.starts_with("]"))
      return list;
    int64_t number;
    if (rest.consumeInteger(10, number))
      return std::nullopt;
    list.push_back(number);
    if (!isList)
      return list;
    rest = rest.ltrim();
    if (!rest.consume_front(",") && !rest.starts_with("]"))
      return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// Positions of the dimensions of one array of a convolution.
struct ArrayLayout {
  /// Batch of input and output, output feature of the kernel.
  int64_t outer = -1;
  /// Feature of input and output, input feature of the kernel.
  int64_t feature = -1;
  IntegerList spatial;
};

/// One spatial dimension of a convolution.
struct WindowDimension {
  int64_t input, kernel, output;
  int64_t stride, padding, inputDilation, kernelDilation;
};
} // namespace

/// Reads `b, 0, 1, f` (or `0, 1, i, o`): for each dimension what it is.
static std::optional<ArrayLayout> readArrayLayout(StringRef text) {
  ArrayLayout layout;
  SmallVector<StringRef> labels;
  text.split(labels, ',');
  SmallVector<std::pair<int64_t, int64_t>> spatial;
  for (auto [position, label] : llvm::enumerate(labels)) {
    label = label.trim();
    int64_t number;
    if (label == "b" || label == "o")
      layout.outer = position;
    else if (label == "f" || label == "i")
      layout.feature = position;
    else if (!label.getAsInteger(10, number))
      spatial.emplace_back(number, position);
    else if (label != "?")
      return std::nullopt;
  }
  llvm::sort(spatial);
  for (auto [number, position] : spatial)
    layout.spatial.push_back(position);
  return layout;
}

/// Reads `conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>` or the long form
/// `conv<raw input_batch_dimension = 0, ...>`: input, kernel, output.
static std::optional<std::array<ArrayLayout, 3>> readConvolutionLayout(StringRef text) {
  std::array<ArrayLayout, 3> layouts;
  if (text.contains("input_batch_dimension")) {
    auto read = [&](StringRef outer, StringRef feature, StringRef spatial) {
      ArrayLayout layout;
      std::optional<IntegerList> positions = readField(text, outer);
      if (positions && positions->size() == 1)
        layout.outer = positions->front();
      positions = readField(text, feature);
      if (positions && positions->size() == 1)
        layout.feature = positions->front();
      layout.spatial = readField(text, spatial).value_or(IntegerList());
      return layout;
    };
    layouts[0] =
        read("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions");
    layouts[1] = read("kernel_output_feature_dimension", "kernel_input_feature_dimension",
                      "kernel_spatial_dimensions");
    layouts[2] =
        read("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions");
    return layouts;
  }
  for (ArrayLayout &layout : layouts) {
    auto [before, rest] = text.split('[');
    auto [labels, after] = rest.split(']');
    std::optional<ArrayLayout> read = readArrayLayout(labels);
    if (!read)
      return std::nullopt;
    layout = *read;
    text = after;
  }
  return layouts;
}

/// Pairs (o, k) of an output and a kernel position whose product is with an
/// element of the input: with `x = o * stride + k * kernelDilation - padding`, x
/// is within the dilated input and hits no hole. For each k the o are an interval
/// of an arithmetic progression, so that this takes kernel times dilation steps.
static std::optional<int64_t> countWindowPairs(const WindowDimension &window) {
  constexpr int64_t maxSteps = 1 << 22;
  constexpr int64_t maxValue = int64_t(1) << 31;
  for (int64_t size : {window.input, window.kernel, window.output, window.stride,
                       window.inputDilation, window.kernelDilation})
    if (size < 0 || size > maxValue)
      return std::nullopt;
  if (std::abs(window.padding) > maxValue || window.stride < 1 || window.inputDilation < 1 ||
      window.kernelDilation < 1 || window.inputDilation > 1024 ||
      window.kernel * window.inputDilation > maxSteps)
    return std::nullopt;
  if (window.input == 0)
    return 0;

  int64_t dilatedInput = (window.input - 1) * window.inputDilation + 1;
  // Output positions that hit an element are this far apart.
  int64_t distance = window.inputDilation / std::gcd(window.stride, window.inputDilation);
  int64_t pairs = 0;
  for (int64_t k = 0; k < window.kernel; ++k) {
    int64_t base = k * window.kernelDilation - window.padding;
    // The o with 0 <= o * stride + base < dilatedInput.
    int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(-base, window.stride));
    int64_t end = std::min<int64_t>(window.output,
                                    llvm::divideCeilSigned(dilatedInput - base, window.stride));
    // The first of them that hits an element, if one does.
    int64_t limit = std::min(end, first + distance);
    while (first < limit && (first * window.stride + base) % window.inputDilation != 0)
      ++first;
    if (first < limit)
      pairs += llvm::divideCeil(end - first, distance);
  }
  return pairs;
}

std::optional<int64_t> remat::countConvolutionProducts(Operation *op) {
  Attribute numbers = getInherentOrDiscardableAttr(op, "dimension_numbers");
  if (!numbers || op->getNumOperands() < 2 || op->getNumResults() != 1)
    return std::nullopt;
  auto input = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto kernel = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  auto output = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<std::array<ArrayLayout, 3>> layouts =
      readConvolutionLayout(getAttributeText(numbers));
  if (!input || !kernel || !output || !layouts)
    return std::nullopt;

  auto getSize = [](RankedTensorType type, int64_t position) {
    return position >= 0 && position < type.getRank() ? Count(type.getDimSize(position))
                                                      : Count::unknown();
  };
  auto getEntry = [&](StringRef name, size_t index, int64_t missing) -> std::optional<int64_t> {
    Attribute attribute = getInherentOrDiscardableAttr(op, name);
    if (!attribute)
      return missing;
    std::optional<IntegerList> list = readIntegers(attribute);
    return list && index < list->size() ? std::optional<int64_t>((*list)[index]) : std::nullopt;
  };

  const auto &[in, ker, out] = *layouts;
  if (ker.spatial.size() != in.spatial.size() || ker.spatial.size() != out.spatial.size())
    return std::nullopt;
  Count products =
      getSize(output, out.outer) * getSize(output, out.feature) * getSize(kernel, ker.feature);
  for (size_t i = 0, e = ker.spatial.size(); i < e; ++i) {
    Count inputSize = getSize(input, in.spatial[i]);
    Count kernelSize = getSize(kernel, ker.spatial[i]);
    Count outputSize = getSize(output, out.spatial[i]);
    if (op->getNumOperands() > 2) {
      // The padding is an operand: count every pair.
      products *= kernelSize * outputSize;
      continue;
    }
    std::optional<int64_t> stride = getEntry("window_strides", i, 1);
    std::optional<int64_t> padding = getEntry("padding", 2 * i, 0);
    std::optional<int64_t> inputDilation = getEntry("lhs_dilation", i, 1);
    std::optional<int64_t> kernelDilation = getEntry("rhs_dilation", i, 1);
    if (!inputSize.isKnown() || !kernelSize.isKnown() || !outputSize.isKnown() || !stride ||
        !padding || !inputDilation || !kernelDilation)
      return std::nullopt;
    products *= Count(countWindowPairs({inputSize.get(), kernelSize.get(), outputSize.get(),
                                        *stride, *padding, *inputDilation, *kernelDilation}));
  }
  return products.asOptional();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// Reads the pattern of a counting loop.
class WhileLoop {
public:
  explicit WhileLoop(Operation *op) : op(op), dialect(op->getName().getDialectNamespace()) {}

  std::optional<int64_t> countTrips();

private:
  /// Whether `candidate` is the operation `name` of the loop's dialect.
  bool isNamed(Operation *candidate, StringRef name) const {
    StringRef full = candidate->getName().getStringRef();
    return full.consume_front(dialect) && full.consume_front(".") && full == name;
  }

  /// The integer that all elements of `value` are, seen through operations that
  /// keep it and through values that the loop does not change.
  std::optional<int64_t> getConstant(Value value) const;

  /// What the body adds to loop-carried value `number` each time.
  std::optional<int64_t> getStep(unsigned number) const;

  Operation *op;
  StringRef dialect;
  Block *condition = nullptr, *body = nullptr;
};
} // namespace

std::optional<int64_t> WhileLoop::getConstant(Value value) const {
  // A bounded walk: nobody chains more than a few of these around a scalar.
  for (int step = 0; step < 16; ++step) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Block *owner = argument.getOwner();
      unsigned number = argument.getArgNumber();
      if ((owner != condition && owner != body) || number >= op->getNumOperands() ||
          number >= body->getNumArguments() || number >= body->back().getNumOperands() ||
          body->back().getOperand(number) != body->getArgument(number))
        return std::nullopt;
      value = op->getOperand(number);
      continue;
    }
    Operation *producer = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (isNamed(producer, "constant")) {
      auto elements =
          dyn_cast_or_null<DenseIntElementsAttr>(getInherentOrDiscardableAttr(producer, "value"));
      if (!elements || !elements.isSplat())
        return std::nullopt;
      return readInteger(elements.getSplatValue<APInt>(), elements.getElementType());
    }
    if (isNamed(producer, "optimization_barrier") && number < producer->getNumOperands())
      value = producer->getOperand(number);
    else if ((isNamed(producer, "broadcast_in_dim") || isNamed(producer, "reshape")) &&
             producer->getNumOperands() == 1)
      value = producer->getOperand(0);
    else
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> WhileLoop::getStep(unsigned number) const {
  if (number >= body->getNumArguments() || number >= body->back().getNumOperands())
    return std::nullopt;
  Value counter = body->getArgument(number);
  Operation *update = body->back().getOperand(number).getDefiningOp();
  if (!update || update->getNumOperands() != 2)
    return std::nullopt;
  Value lhs = update->getOperand(0), rhs = update->getOperand(1);
  if (isNamed(update, "add") && lhs == counter)
    return getConstant(rhs);
  if (isNamed(update, "add") && rhs == counter)
    return getConstant(lhs);
  if (isNamed(update, "subtract") && lhs == counter) {
    std::optional<int64_t> step = getConstant(rhs);
    return step ? llvm::checkedSub(int64_t(0), *step) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<int64_t> WhileLoop::countTrips() {
  if (op->getNumRegions() != 2 || !op->getRegion(0).hasOneBlock() ||
      !op->getRegion(1).hasOneBlock())
    return std::nullopt;
  condition = &op->getRegion(0).front();
  body = &op->getRegion(1).front();
  if (condition->empty() || body->empty() || condition->back().getNumOperands() != 1)
    return std::nullopt;
  Operation *compare = condition->back().getOperand(0).getDefiningOp();
  if (!compare || !isNamed(compare, "compare") || compare->getNumOperands() != 2)
    return std::nullopt;
  Attribute directionAttr = getInherentOrDiscardableAttr(compare, "comparison_direction");
  if (!directionAttr)
    return std::nullopt;
  // "comparison_direction LT", or the same inside "#stablehlo<...>".
  std::string text = getAttributeText(directionAttr);
  StringRef direction = StringRef(text).rsplit(' ').second;
  direction = (direction.empty() ? StringRef(text) : direction).take_while(llvm::isAlpha);

  // The side that is no constant is the counter.
  Value counter = compare->getOperand(0);
  std::optional<int64_t> limit = getConstant(compare->getOperand(1));
  if (!limit) {
    counter = compare->getOperand(1);
    limit = getConstant(compare->getOperand(0));
    direction = llvm::StringSwitch<StringRef>(direction)
                    .Case("LT", "GT")
                    .Case("LE", "GE")
                    .Case("GT", "LT")
                    .Case("GE", "LE")
                    .Default(direction);
  }
  auto argument = dyn_cast<BlockArgument>(counter);
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(counter.getType()));
  if (!limit || !argument || argument.getOwner() != condition || !type || type.getWidth() > 64 ||
      argument.getArgNumber() >= op->getNumOperands())
    return std::nullopt;
  std::optional<int64_t> start = getConstant(op->getOperand(argument.getArgNumber()));
  std::optional<int64_t> step = getStep(argument.getArgNumber());
  if (!start || !step)
    return std::nullopt;

  // Counting down is counting up with all signs turned.
  if (direction == "GT" || direction == "GE") {
    direction = direction == "GT" ? "LT" : "LE";
    start = llvm::checkedSub(int64_t(0), *start);
    step = llvm::checkedSub(int64_t(0), *step);
    limit = llvm::checkedSub(int64_t(0), *limit);
    if (!start || !step || !limit)
      return std::nullopt;
  }
  std::optional<int64_t> distance = llvm::checkedSub(*limit, *start);
  if (!distance)
    return std::nullopt;
  int64_t trips;
  if (direction == "NE") {
    if (*distance == 0)
      return 0;
    if (*step == 0 || *distance == INT64_MIN || *distance % *step != 0 || *distance / *step < 0)
      return std::nullopt;
    return *distance / *step;
  }
  if (direction == "LT")
    trips = *distance <= 0 ? 0 : *step <= 0 ? -1 : llvm::divideCeilSigned(*distance, *step);
  else if (direction == "LE")
    trips = *distance < 0 ? 0 : *step <= 0 ? -1 : *distance / *step + 1;
  else
    return std::nullopt;
  // The counter must reach its last value without wrapping around.
  std::optional<int64_t> travelled =
      trips < 0 ? std::nullopt : llvm::checkedMulAdd(trips, *step, *start);
  if (!travelled)
    return std::nullopt;
  unsigned bits = type.isUnsigned() ? type.getWidth() : type.getWidth() - 1;
  int64_t largest = bits >= 63 ? INT64_MAX : (int64_t(1) << bits) - 1;
  if (trips != 0 && (*travelled > largest || *travelled < -largest))
    return std::nullopt;
  return trips;
}

std::optional<int64_t> remat::countWhileTrips(Operation *op) { return WhileLoop(op).countTrips(); }
