//===- NumPy.cpp - Files of NumPy -------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/NumPy.h"

#include "Remat/Support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir::remat;

static constexpr StringLiteral kMagic = "\x93NUMPY";

/// The text behind `'key':` in the header of a file, which is a literal of Python.
static Expected<StringRef> findMember(StringRef header, StringRef key) {
  size_t begin = header.find(("'" + key + "':").str());
  if (begin == StringRef::npos)
    return makeError("the header has no '{0}'", key);
  return header.substr(begin + key.size() + 3).ltrim();
}

Expected<NumPyHeader> mlir::remat::parseNumPyHeader(StringRef file) {
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
  NumPyHeader result;
  result.bytes = header.end() - file.begin();

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
  result.type = type->take_until([](char c) { return c == '\''; }).str();
  StringRef sizes = shape->take_until([](char c) { return c == ')'; });
  SmallVector<StringRef> parts;
  sizes.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t size = 0;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, size) || size < 0)
      return makeError("expected sizes in the shape, but got '{0}'", part.trim());
    result.shape.push_back(size);
  }
  return result;
}

std::string mlir::remat::makeNumPyHeader(StringRef type, ArrayRef<int64_t> shape) {
  std::string sizes;
  for (int64_t size : shape)
    sizes += std::to_string(size) + ", ";
  std::string header =
      formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': ({1}), }", type, sizes).str();
  // The data begins at a multiple of 64.
  constexpr size_t kPrefix = 10, kAlignment = 64;
  header.resize(alignTo(kPrefix + header.size() + 1, kAlignment) - kPrefix - 1, ' ');
  header += '\n';
  std::string prefix = kMagic.str();
  prefix += '\x01';
  prefix += '\0';
  prefix += char(header.size() & 0xff);
  prefix += char(header.size() >> 8);
  return prefix + header;
}
