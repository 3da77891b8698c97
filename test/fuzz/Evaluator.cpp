//===- Evaluator.cpp - What a training step computes ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

#include "Remat/Support/Error.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::fuzz;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// To the nearest number that a type has. Sums, products, quotients and roots that were
/// computed as doubles come out as if they had been rounded once.
static Number round(Type type, Number number) {
  if (auto floating = dyn_cast<FloatType>(type)) {
    if (floating.isF64())
      return number;
    APFloat value(number.real);
    bool losesInfo = false;
    value.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return {value.convertToDouble(), 0};
  }
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  return {0, llvm::SignExtend64(uint64_t(number.integer), width)};
}

static Number toNumber(TypedAttr attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return round(real.getType(), {real.getValueAsDouble(), 0});
  return round(attribute.getType(), {0, cast<IntegerAttr>(attribute).getValue().getSExtValue()});
}

/// Bits in memory.
static int64_t getBytes(Type element) {
  return isa<IndexType>(element) ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Array mlir::remat::fuzz::readArray(Type element, ArrayRef<int64_t> shape, const char *data) {
  Array array{element, SmallVector<int64_t>(shape), {}};
  int64_t bytes = getBytes(element);
  for (int64_t i = 0; i < ShapedType::getNumElements(shape); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + i * bytes, bytes);
    if (auto floating = dyn_cast<FloatType>(element)) {
      APFloat value(floating.getFloatSemantics(), APInt(floating.getWidth(), bits));
      bool losesInfo = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      array.numbers.push_back({value.convertToDouble(), 0});
    } else {
      array.numbers.push_back(round(element, {0, int64_t(bits)}));
    }
  }
  return array;
}

void mlir::remat::fuzz::writeArray(const Array &array, char *data) {
  int64_t bytes = getBytes(array.element);
  for (const Number &number : array.numbers) {
    uint64_t bits = number.integer;
    if (auto floating = dyn_cast<FloatType>(array.element)) {
      APFloat value(number.real);
      bool losesInfo = false;
      value.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      bits = value.bitcastToAPInt().getZExtValue();
    } else if (array.element.isInteger(1)) {
      bits &= 1;
    }
    std::memcpy(data, &bits, bytes);
    data += bytes;
  }
}

std::optional<int64_t> mlir::remat::fuzz::findDifference(const Array &expected,
                                                         const Array &actual) {
  if (expected.precision == Precision::Unknown)
    return std::nullopt;
  bool isExact = expected.precision == Precision::Exact;
  double scale = 1;
  for (const Number &number : expected.numbers)
    if (std::isfinite(number.real))
      scale = std::max(scale, std::abs(number.real));
  // Eight bits of bf16, and a few operations.
  constexpr double kTolerance = 0x1p-4;
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(expected.numbers, actual.numbers))) {
    auto [a, b] = pair;
    if (isExact) {
      bool areNaN = std::isnan(a.real) && std::isnan(b.real);
      if (a.integer != b.integer || (!areNaN && a.real != b.real))
        return index;
    } else if (std::isfinite(a.real) && !(std::abs(a.real - b.real) <= kTolerance * scale)) {
      return index;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static bool compareFloats(arith::CmpFPredicate predicate, double a, double b) {
  switch (predicate) {
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  default:
    llvm_unreachable("not written by the generator");
  }
}

static bool compareIntegers(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::ult:
    return uint64_t(a) < uint64_t(b);
  case arith::CmpIPredicate::slt:
    return a < b;
  default:
    llvm_unreachable("not written by the generator");
  }
}

/// NaN if one is.
static double maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}
static double minimum(double a, double b) { return -maximum(-a, -b); }

/// One element of the result of an operation of arith or math; nothing if it is not known.
/// `types` are those of an element of each operand.
static std::optional<Number> compute(Operation *op, ArrayRef<Number> x) {
  auto real = [](double value) { return std::optional<Number>({value, 0}); };
  // Without undefined overflow.
  auto integer = [](uint64_t value) { return std::optional<Number>({0, int64_t(value)}); };
  using Result = std::optional<Number>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddFOp) { return real(x[0].real + x[1].real); })
      .Case([&](arith::SubFOp) { return real(x[0].real - x[1].real); })
      .Case([&](arith::MulFOp) { return real(x[0].real * x[1].real); })
      .Case([&](arith::DivFOp) { return real(x[0].real / x[1].real); })
      .Case([&](arith::MaximumFOp) { return real(maximum(x[0].real, x[1].real)); })
      .Case([&](arith::MinimumFOp) { return real(minimum(x[0].real, x[1].real)); })
      .Case([&](arith::NegFOp) { return real(-x[0].real); })
      .Case([&](math::AbsFOp) { return real(std::abs(x[0].real)); })
      .Case([&](math::FloorOp) { return real(std::floor(x[0].real)); })
      .Case([&](math::TanhOp) { return real(std::tanh(x[0].real)); })
      .Case([&](math::SinOp) { return real(std::sin(x[0].real)); })
      .Case([&](math::CosOp) { return real(std::cos(x[0].real)); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](Operation *) { return real(x[0].real); })
      .Case([&](arith::SIToFPOp) { return real(double(x[0].integer)); })
      .Case([&](arith::UIToFPOp cast) {
        unsigned width = getElementTypeOrSelf(cast.getIn().getType()).getIntOrFloatBitWidth();
        return real(double(uint64_t(x[0].integer) & llvm::maskTrailingOnes<uint64_t>(width)));
      })
      .Case([&](arith::AddIOp) { return integer(uint64_t(x[0].integer) + x[1].integer); })
      .Case([&](arith::SubIOp) { return integer(uint64_t(x[0].integer) - x[1].integer); })
      .Case([&](arith::MulIOp) { return integer(uint64_t(x[0].integer) * x[1].integer); })
      .Case([&](arith::XOrIOp) { return integer(x[0].integer ^ x[1].integer); })
      .Case([&](arith::OrIOp) { return integer(x[0].integer | x[1].integer); })
      .Case([&](arith::AndIOp) { return integer(x[0].integer & x[1].integer); })
      .Case([&](arith::MaxSIOp) { return integer(std::max(x[0].integer, x[1].integer)); })
      .Case([&](arith::MinSIOp) { return integer(std::min(x[0].integer, x[1].integer)); })
      .Case(
          [&](arith::RemUIOp) { return integer(uint64_t(x[0].integer) % uint64_t(x[1].integer)); })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](Operation *) { return integer(x[0].integer); })
      .Case([&](arith::ExtUIOp cast) {
        unsigned width = getElementTypeOrSelf(cast.getIn().getType()).getIntOrFloatBitWidth();
        return integer(uint64_t(x[0].integer) & llvm::maskTrailingOnes<uint64_t>(width));
      })
      .Case([&](arith::CmpFOp compare) {
        return integer(compareFloats(compare.getPredicate(), x[0].real, x[1].real));
      })
      .Case([&](arith::CmpIOp compare) {
        return integer(compareIntegers(compare.getPredicate(), x[0].integer, x[1].integer));
      })
      .Case([&](arith::SelectOp) { return Result(x[0].integer ? x[1] : x[2]); })
      .Default(Result());
}

/// Whether the rounding of some number, to eight bits and a few times, is as large as a good
/// part of a period.
static bool isLarge(const Array &array) {
  constexpr double kLargeAngle = 2;
  return llvm::any_of(array.numbers,
                      [](const Number &number) { return !(std::abs(number.real) < kLargeAngle); });
}

/// What an operation on elements makes of the precision of what it reads.
static Precision getPrecision(Operation *op, ArrayRef<Array *> operands) {
  Precision worst = Precision::Exact;
  for (const Array *operand : operands)
    worst = std::max(worst, operand->precision);
  bool isDecision = isa<arith::CmpFOp, math::FloorOp>(op) ||
                    // A choice between values is as good as the worst of them; that of
                    // which one depends on all bits.
                    (isa<arith::SelectOp>(op) && operands[0]->precision != Precision::Exact);
  if (isDecision && worst == Precision::Rounded)
    return Precision::Unknown;
  if (isa<math::SinOp, math::CosOp>(op) && worst == Precision::Rounded &&
      isLarge(*operands.front()))
    return Precision::Unknown;
  bool isFunction = isa<math::TanhOp, math::SinOp, math::CosOp>(op);
  return isFunction ? std::max(worst, Precision::Rounded) : worst;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
class Evaluator {
public:
  explicit Evaluator(ModuleOp module) : module(module) {}

  Expected<std::vector<Array>> call(func::FuncOp function, std::vector<Array> arguments) {
    return evaluateBlock(function.getBody().front(), std::move(arguments));
  }

private:
  using Arrays = std::vector<Array>;
  using Point = SmallVector<int64_t>;

  /// Binds the arguments, evaluates the operations, and returns what the terminator reads.
  Expected<Arrays> evaluateBlock(Block &block, Arrays arguments) {
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      values[argument] = std::move(value);
    for (Operation &op : block.without_terminator())
      if (Error error = evaluateOperation(&op))
        return error;
    Arrays yielded;
    for (Value operand : block.getTerminator()->getOperands())
      yielded.push_back(values.at(operand));
    return yielded;
  }

  static Array makeArray(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Array array{getElementTypeOrSelf(type), {}, {}};
    if (tensor)
      array.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    array.numbers.resize(ShapedType::getNumElements(array.shape));
    return array;
  }

  static void advance(Point &point, ArrayRef<int64_t> shape) {
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      if (++point[dim] < shape[dim])
        return;
      point[dim] = 0;
    }
  }
  static int64_t linearize(ArrayRef<int64_t> point, ArrayRef<int64_t> shape) {
    int64_t index = 0;
    for (auto [position, size] : llvm::zip_equal(point, shape))
      index = index * size + position;
    return index;
  }
  /// Calls with every point of a box in row order.
  static Error forEach(ArrayRef<int64_t> shape,
                       llvm::function_ref<Error(ArrayRef<int64_t>)> visit) {
    Point point(shape.size());
    for (int64_t count = ShapedType::getNumElements(shape); count > 0; --count) {
      if (Error error = visit(point))
        return error;
      advance(point, shape);
    }
    return Error::success();
  }

  Error set(Operation *op, Arrays results) {
    for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
      values[result] = std::move(value);
    return Error::success();
  }
  Error set(Operation *op, Array result) {
    values[op->getResult(0)] = std::move(result);
    return Error::success();
  }
  int64_t getIndex(Value value) { return values.at(value).numbers[0].integer; }
  /// Of a list of constants and values. Values that are not exact make `precision` worse.
  Point getIndices(ArrayRef<OpFoldResult> list, Precision &precision) {
    Point point;
    for (OpFoldResult entry : list) {
      if (auto value = dyn_cast<Value>(entry)) {
        note(values.at(value), precision);
        point.push_back(getIndex(value));
      } else {
        point.push_back(*getConstantIntValue(entry));
      }
    }
    return point;
  }
  /// Something is decided by a value: nothing is known if that is not exact.
  static void note(const Array &decision, Precision &precision) {
    if (decision.precision != Precision::Exact)
      precision = Precision::Unknown;
  }

  Error evaluateOperation(Operation *op) {
    return llvm::TypeSwitch<Operation *, Error>(op)
        .Case([&](arith::ConstantOp constant) { return evaluateConstant(constant); })
        .Case([&](linalg::IndexOp index) {
          return set(index, Array{index.getType(), {}, {{0, point[index.getDim()]}}});
        })
        .Case([&](linalg::LinalgOp structured) { return evaluateStructured(structured); })
        .Case([&](tensor::EmptyOp empty) { return set(empty, makeArray(empty.getType())); })
        .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](Operation *reshape) {
          Array array = makeArray(reshape->getResult(0).getType());
          const Array &source = values.at(reshape->getOperand(0));
          array.numbers = source.numbers;
          array.precision = source.precision;
          return set(reshape, std::move(array));
        })
        .Case([&](tensor::PadOp pad) { return evaluatePad(pad); })
        .Case([&](tensor::ConcatOp concat) { return evaluateConcat(concat); })
        .Case([&](tensor::ExtractSliceOp slice) { return evaluateSlice(slice); })
        .Case([&](tensor::InsertSliceOp slice) { return evaluateInsertSlice(slice); })
        .Case([&](tensor::ExtractOp extract) {
          const Array &source = values.at(extract.getTensor());
          Array array = makeArray(extract.getType());
          array.precision = source.precision;
          Point place = getIndices(getAsOpFoldResult(extract.getIndices()), array.precision);
          array.numbers[0] = source.numbers[linearize(place, source.shape)];
          return set(extract, std::move(array));
        })
        .Case([&](tensor::InsertOp insert) {
          Array array = values.at(insert.getDest());
          const Array &element = values.at(insert.getScalar());
          array.precision = std::max(array.precision, element.precision);
          Point place = getIndices(getAsOpFoldResult(insert.getIndices()), array.precision);
          array.numbers[linearize(place, array.shape)] = element.numbers[0];
          return set(insert, std::move(array));
        })
        .Case<tensor::FromElementsOp, tensor::SplatOp>([&](Operation *make) {
          Array array = makeArray(make->getResult(0).getType());
          for (auto [index, number] : llvm::enumerate(array.numbers)) {
            const Array &element =
                values.at(make->getOperand(isa<tensor::SplatOp>(make) ? 0 : index));
            array.precision = std::max(array.precision, element.precision);
            number = element.numbers[0];
          }
          return set(make, std::move(array));
        })
        .Case([&](scf::ForOp loop) { return evaluateFor(loop); })
        .Case([&](scf::WhileOp loop) { return evaluateWhile(loop); })
        .Case([&](scf::IfOp branch) { return evaluateIf(branch); })
        .Case([&](func::CallOp call) -> Error {
          Arrays arguments;
          for (Value operand : call.getOperands())
            arguments.push_back(values.at(operand));
          auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
          Expected<Arrays> results = Evaluator(module).call(callee, std::move(arguments));
          return results ? set(call, std::move(*results)) : results.takeError();
        })
        .Default([&](Operation *) { return evaluateElements(op); });
  }

  Error evaluateConstant(arith::ConstantOp constant) {
    Array array = makeArray(constant.getType());
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue())) {
      for (auto [index, value] : llvm::enumerate(elements.getValues<Attribute>()))
        array.numbers[index] = toNumber(cast<TypedAttr>(value));
    } else {
      array.numbers[0] = toNumber(constant.getValue());
    }
    return set(constant, std::move(array));
  }

  Error evaluateElements(Operation *op) {
    if (op->getNumResults() != 1)
      return makeError("'{0}' cannot be evaluated", op->getName().getStringRef());
    Array array = makeArray(op->getResult(0).getType());
    SmallVector<Array *> operands;
    for (Value operand : op->getOperands())
      operands.push_back(&values.at(operand));
    array.precision = getPrecision(op, operands);
    for (auto [index, number] : llvm::enumerate(array.numbers)) {
      SmallVector<Number> elements;
      for (const Array *operand : operands)
        elements.push_back(operand->numbers[operand->numbers.size() == 1 ? 0 : index]);
      std::optional<Number> result = compute(op, elements);
      if (!result)
        return makeError("'{0}' cannot be evaluated", op->getName().getStringRef());
      number = round(array.element, *result);
    }
    return set(op, std::move(array));
  }

  /// The results, and how precise the body is at worst, with the points of the iteration
  /// space in row order or from the last to the first.
  Expected<std::pair<Arrays, Precision>> iterate(linalg::LinalgOp op, bool isReversed) {
    Arrays results;
    Precision precision = Precision::Exact;
    for (Value init : op.getDpsInits())
      results.push_back(values.at(init));
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    Point outer = point;
    Block &body = *op.getBlock();
    Error error = forEach(ranges, [&](ArrayRef<int64_t> iteration) -> Error {
      point.assign(iteration.begin(), iteration.end());
      if (isReversed)
        for (auto [coordinate, range] : llvm::zip_equal(point, ranges))
          coordinate = range - 1 - coordinate;
      SmallVector<int64_t> places;
      Arrays elements;
      for (auto [number, map] : llvm::enumerate(maps)) {
        unsigned numInputs = op.getNumDpsInputs();
        const Array &array =
            number < numInputs ? values.at(op->getOperand(number)) : results[number - numInputs];
        places.push_back(linearize(map.compose(point), array.shape));
        elements.push_back(Array{array.element, {}, {array.numbers[places.back()]}});
      }
      Expected<Arrays> yielded = evaluateBlock(body, std::move(elements));
      if (!yielded)
        return yielded.takeError();
      for (auto [number, value] : llvm::enumerate(*yielded)) {
        results[number].numbers[places[op.getNumDpsInputs() + number]] = value.numbers[0];
        precision = std::max(precision, value.precision);
      }
      return Error::success();
    });
    point = outer;
    if (error)
      return error;
    return std::make_pair(std::move(results), precision);
  }

  Error evaluateStructured(linalg::LinalgOp op) {
    Precision precision = Precision::Exact;
    for (OpOperand &operand : op->getOpOperands())
      if (op.payloadUsesValueFromOperand(&operand))
        precision = std::max(precision, values.at(operand.get()).precision);
    Expected<std::pair<Arrays, Precision>> iterated = iterate(op, /*isReversed=*/false);
    if (!iterated)
      return iterated.takeError();
    Arrays results = std::move(iterated->first);
    precision = std::max(precision, iterated->second);
    // A sum is exact if its terms may come in any order.
    if (precision == Precision::Exact && op.getNumReductionLoops() != 0) {
      Expected<std::pair<Arrays, Precision>> reversed = iterate(op, /*isReversed=*/true);
      if (!reversed)
        return reversed.takeError();
      for (auto [result, other] : llvm::zip_equal(results, reversed->first))
        if (findDifference(result, other))
          precision = Precision::Rounded;
    }
    bool isFloat = isa<FloatType>(results[0].element);
    if (isFloat && linalg::isaContractionOpInterface(op))
      precision = std::max(precision, Precision::Rounded);
    // What the body decides by numbers that are not exact is not known; it was told that
    // they are.
    bool decides = op.getBlock()
                       ->walk([](Operation *nested) {
                         return isa<arith::CmpFOp, math::FloorOp, arith::IndexCastOp>(nested)
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       })
                       .wasInterrupted();
    bool isPeriodic = llvm::any_of(*op.getBlock(), llvm::IsaPred<math::SinOp, math::CosOp>);
    decides |= isPeriodic && llvm::any_of(op.getDpsInputs(),
                                          [&](Value input) { return isLarge(values.at(input)); });
    if (precision == Precision::Rounded && decides)
      precision = Precision::Unknown;
    for (Array &result : results)
      result.precision = precision;
    return set(op, std::move(results));
  }

  Error evaluatePad(tensor::PadOp pad) {
    Array array = makeArray(pad.getType());
    const Array &source = values.at(pad.getSource());
    const Array &element = values.at(pad.getConstantPaddingValue());
    array.precision = std::max(source.precision, element.precision);
    for (Number &number : array.numbers)
      number = element.numbers[0];
    ArrayRef<int64_t> low = pad.getStaticLow();
    Error error = forEach(source.shape, [&](ArrayRef<int64_t> from) {
      Point to(from);
      for (auto [position, shift] : llvm::zip_equal(to, low))
        position += shift;
      array.numbers[linearize(to, array.shape)] = source.numbers[linearize(from, source.shape)];
      return Error::success();
    });
    return error ? std::move(error) : set(pad, std::move(array));
  }

  Error evaluateConcat(tensor::ConcatOp concat) {
    Array array = makeArray(concat.getType());
    int64_t shift = 0;
    for (Value input : concat.getInputs()) {
      const Array &source = values.at(input);
      array.precision = std::max(array.precision, source.precision);
      Error error = forEach(source.shape, [&](ArrayRef<int64_t> from) {
        Point to(from);
        to[concat.getDim()] += shift;
        array.numbers[linearize(to, array.shape)] = source.numbers[linearize(from, source.shape)];
        return Error::success();
      });
      if (error)
        return error;
      shift += source.shape[concat.getDim()];
    }
    return set(concat, std::move(array));
  }

  /// Pairs of places, in the slice and in the whole tensor, both in row order.
  template <typename SliceOp>
  std::vector<std::pair<int64_t, int64_t>> pairSlice(SliceOp slice, ArrayRef<int64_t> whole,
                                                     Precision &precision) {
    Point offsets = getIndices(slice.getMixedOffsets(), precision),
          sizes = getIndices(slice.getMixedSizes(), precision),
          strides = getIndices(slice.getMixedStrides(), precision);
    std::vector<std::pair<int64_t, int64_t>> pairs;
    llvm::cantFail(forEach(sizes, [&](ArrayRef<int64_t> at) {
      Point place;
      for (auto [position, offset, stride] : llvm::zip_equal(at, offsets, strides))
        place.push_back(offset + position * stride);
      pairs.emplace_back(pairs.size(), linearize(place, whole));
      return Error::success();
    }));
    return pairs;
  }

  Error evaluateSlice(tensor::ExtractSliceOp slice) {
    Array array = makeArray(slice.getType());
    const Array &source = values.at(slice.getSource());
    array.precision = source.precision;
    for (auto [to, from] : pairSlice(slice, source.shape, array.precision))
      array.numbers[to] = source.numbers[from];
    return set(slice, std::move(array));
  }

  Error evaluateInsertSlice(tensor::InsertSliceOp slice) {
    Array array = values.at(slice.getDest());
    const Array &source = values.at(slice.getSource());
    array.precision = std::max(array.precision, source.precision);
    for (auto [from, to] : pairSlice(slice, array.shape, array.precision))
      array.numbers[to] = source.numbers[from];
    return set(slice, std::move(array));
  }

  Error evaluateFor(scf::ForOp loop) {
    Precision precision = Precision::Exact;
    Arrays carried;
    for (Value init : loop.getInitArgs())
      carried.push_back(values.at(init));
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      note(values.at(bound), precision);
    for (int64_t i = getIndex(loop.getLowerBound()); i < getIndex(loop.getUpperBound());
         i += getIndex(loop.getStep())) {
      Arrays arguments{Array{loop.getInductionVar().getType(), {}, {{0, i}}}};
      arguments.insert(arguments.end(), carried.begin(), carried.end());
      Expected<Arrays> next = evaluateBlock(*loop.getBody(), std::move(arguments));
      if (!next)
        return next.takeError();
      carried = std::move(*next);
    }
    for (Array &array : carried)
      array.precision = std::max(array.precision, precision);
    return set(loop, std::move(carried));
  }

  Error evaluateWhile(scf::WhileOp loop) {
    Precision precision = Precision::Exact;
    Arrays carried;
    for (Value init : loop.getInits())
      carried.push_back(values.at(init));
    while (true) {
      Expected<Arrays> before = evaluateBlock(loop.getBefore().front(), std::move(carried));
      if (!before)
        return before.takeError();
      note(before->front(), precision);
      bool goesOn = before->front().numbers[0].integer;
      Arrays passed(before->begin() + 1, before->end());
      if (!goesOn) {
        for (Array &array : passed)
          array.precision = std::max(array.precision, precision);
        return set(loop, std::move(passed));
      }
      Expected<Arrays> after = evaluateBlock(loop.getAfter().front(), std::move(passed));
      if (!after)
        return after.takeError();
      carried = std::move(*after);
    }
  }

  Error evaluateIf(scf::IfOp branch) {
    const Array condition = values.at(branch.getCondition());
    Precision precision = Precision::Exact;
    note(condition, precision);
    Region &region = condition.numbers[0].integer ? branch.getThenRegion() : branch.getElseRegion();
    if (region.empty())
      return Error::success();
    Expected<Arrays> results = evaluateBlock(region.front(), {});
    if (!results)
      return results.takeError();
    for (Array &array : *results)
      array.precision = std::max(array.precision, precision);
    return set(branch, std::move(*results));
  }

  ModuleOp module;
  llvm::DenseMap<Value, Array> values;
  /// Of the structured operation around.
  Point point;
};
} // namespace

Expected<std::vector<Array>> mlir::remat::fuzz::evaluate(func::FuncOp function,
                                                         std::vector<Array> arguments) {
  return Evaluator(function->getParentOfType<ModuleOp>()).call(function, std::move(arguments));
}
