//===- Inputs.cpp - Values for the arguments of a training step -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "Remat/Support/Error.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace mlir::remat;

namespace {
/// A type of elements: how it is stored, and what NumPy calls it.
struct Element {
  StringRef name;
  int64_t bytes;
  const fltSemantics *semantics;
  /// The first is written, any is read.
  std::vector<StringRef> numpy;
};
} // namespace

static const Element *findElement(StringRef name) {
  // NumPy has no bfloat16.
  static const Element elements[] = {
      {"f32", 4, &APFloat::IEEEsingle(), {"<f4"}},
      {"f64", 8, &APFloat::IEEEdouble(), {"<f8"}},
      {"f16", 2, &APFloat::IEEEhalf(), {"<f2"}},
      {"bf16", 2, &APFloat::BFloat(), {"<u2", "|V2", "<i2"}},
      {"i1", 1, nullptr, {"|b1", "|u1", "|i1"}},
      {"i8", 1, nullptr, {"|i1", "|u1"}},
      {"i16", 2, nullptr, {"<i2", "<u2"}},
      {"i32", 4, nullptr, {"<i4", "<u4"}},
      {"i64", 8, nullptr, {"<i8", "<u8"}},
      {"index", 8, nullptr, {"<i8", "<u8"}},
  };
  const auto *found =
      find_if(elements, [&](const Element &element) { return element.name == name; });
  return found == std::end(elements) ? nullptr : found;
}

Expected<std::unique_ptr<MemoryBuffer>> mlir::remat::readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError("cannot read '{0}': {1}", path, file.getError().message());
  return std::move(*file);
}

bool mlir::remat::isKnownElement(StringRef element) { return findElement(element) != nullptr; }

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static uint64_t readBits(const Element &element, const char *data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, element.bytes);
  return bits;
}

static double readNumber(const Element &element, const char *data) {
  uint64_t bits = readBits(element, data);
  if (!element.semantics)
    return double(SignExtend64(bits, element.bytes * 8));
  if (element.bytes == 8)
    return bit_cast<double>(bits);
  APFloat number(*element.semantics, APInt(element.bytes * 8, bits));
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

static void writeFloat(const Element &element, double value, char *data) {
  APFloat number(value);
  bool losesInfo = false;
  number.convert(*element.semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  uint64_t bits = number.bitcastToAPInt().getZExtValue();
  std::memcpy(data, &bits, element.bytes);
}

double mlir::remat::readFirst(const TensorInfo &tensor, const char *data) {
  return tensor.count == 0 ? std::numeric_limits<double>::quiet_NaN()
                           : readNumber(*findElement(tensor.element), data);
}

double mlir::remat::getLargestDifference(const TensorInfo &tensor, const char *a, const char *b) {
  const Element &element = *findElement(tensor.element);
  double largest = 0;
  for (int64_t index = 0; index < tensor.count; ++index) {
    const char *left = a + index * element.bytes, *right = b + index * element.bytes;
    if (readBits(element, left) == readBits(element, right))
      continue;
    double difference = std::abs(readNumber(element, left) - readNumber(element, right));
    largest = std::max(largest, std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                                       : difference);
  }
  return largest;
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014).
static uint64_t mix(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void fillRandomly(const Element &element, const ArgumentInfo &argument, uint64_t state,
                         char *data) {
  constexpr uint64_t kIntegerLimit = 8;
  for (int64_t number = 0; number < argument.count; ++number, data += element.bytes) {
    uint64_t bits = mix(state);
    if (element.semantics) {
      double fraction = double(bits >> 11) * 0x1p-53;
      writeFloat(element, argument.isNonNegative ? fraction / 4 : fraction - 0.5, data);
      continue;
    }
    bits %= element.name == "i1" ? 2 : kIntegerLimit;
    std::memcpy(data, &bits, element.bytes);
  }
}

//===----------------------------------------------------------------------===//
// NumPy
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kMagic = "\x93NUMPY";

/// The text behind `'key':` in the header of a file, which is a literal of Python.
static Expected<StringRef> findMember(StringRef header, StringRef key) {
  size_t begin = header.find(("'" + key + "':").str());
  if (begin == StringRef::npos)
    return makeError("the header has no '{0}'", key);
  return header.substr(begin + key.size() + 3).ltrim();
}

Expected<NumPyArray> mlir::remat::parseNumPy(StringRef file) {
  StringRef rest = file;
  if (!rest.consume_front(kMagic) || rest.size() < 4)
    return makeError("this is no file of NumPy");
  uint8_t version = rest[0];
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || rest.size() < 2 + lengthBytes)
    return makeError("version {0} of NumPy's format is not known", int(version));
  rest = rest.drop_front(2);
  uint64_t length = version == 1 ? support::endian::read16le(rest.data())
                                 : support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthBytes);
  if (rest.size() < length)
    return makeError("the file ends in its header");
  StringRef header = rest.take_front(length);
  NumPyArray array;
  array.data = rest.drop_front(length);

  Expected<StringRef> type = findMember(header, "descr");
  if (!type)
    return type.takeError();
  Expected<StringRef> order = findMember(header, "fortran_order");
  if (!order)
    return order.takeError();
  Expected<StringRef> shape = findMember(header, "shape");
  if (!shape)
    return shape.takeError();
  if (!type->consume_front("'") || !order->starts_with("False") || !shape->consume_front("("))
    return makeError("expected an array of numbers in row order");
  array.type = type->take_until([](char c) { return c == '\''; }).str();
  StringRef sizes = shape->take_until([](char c) { return c == ')'; });
  SmallVector<StringRef> parts;
  sizes.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t size = 0;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, size) || size < 0)
      return makeError("expected sizes in the shape, but got '{0}'", part.trim());
    array.shape.push_back(size);
  }
  return array;
}

void mlir::remat::writeNumPy(const TensorInfo &tensor, const char *data, raw_ostream &os) {
  std::string shape;
  for (int64_t size : tensor.shape)
    shape += std::to_string(size) + ", ";
  std::string header = formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': ({1}), }",
                               findElement(tensor.element)->numpy.front(), shape)
                           .str();
  // The data begins at a multiple of 64.
  constexpr size_t kPrefix = 10, kAlignment = 64;
  header.resize(alignTo(kPrefix + header.size() + 1, kAlignment) - kPrefix - 1, ' ');
  header += '\n';
  os << kMagic << '\x01' << '\0' << char(header.size() & 0xff) << char(header.size() >> 8)
     << header;
  os.write(data, tensor.bytes);
}

/// Reads the file of an argument.
static Error readArgument(StringRef path, const Element &element, const ArgumentInfo &argument,
                          char *data) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readFile(path);
  if (!file)
    return file.takeError();
  Expected<NumPyArray> array = parseNumPy((*file)->getBuffer());
  if (!array)
    return makeError("'{0}': {1}", path, toString(array.takeError()));
  if (!is_contained(element.numpy, StringRef(array->type)) || array->shape != argument.shape)
    return makeError(
        "'{0}': expected {1} of shape ({2}), but got {3} of shape ({4})", path,
        element.numpy.front(),
        join(map_range(argument.shape, [](int64_t size) { return std::to_string(size); }), ", "),
        array->type,
        join(map_range(array->shape, [](int64_t size) { return std::to_string(size); }), ", "));
  if (int64_t(array->data.size()) != argument.bytes)
    return makeError("'{0}': expected {1} bytes of data, but got {2}", path, argument.bytes,
                     array->data.size());
  std::memcpy(data, array->data.data(), argument.bytes);
  return Error::success();
}

Error mlir::remat::fillArgument(int64_t index, const ArgumentInfo &argument, int64_t seed,
                                StringRef inputs, char *data) {
  const Element &element = *findElement(argument.element);
  if (!inputs.empty()) {
    SmallString<128> path(inputs);
    sys::path::append(path, ("arg" + Twine(index) + ".npy").str());
    if (sys::fs::exists(path))
      return readArgument(path, element, argument, data);
  }
  uint64_t state = static_cast<uint64_t>(seed);
  state = mix(state) + static_cast<uint64_t>(index);
  fillRandomly(element, argument, mix(state), data);
  return Error::success();
}
