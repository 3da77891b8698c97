//===- Results.cpp - What the variants have computed ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results.h"

#include "Inputs.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace mlir::remat;

Expected<Comparison> mlir::remat::compareResults(const Variant &first, const Variant &second) {
  Expected<std::unique_ptr<MemoryBuffer>> a = readFile(first.spec.resultsFile);
  if (!a)
    return a.takeError();
  Expected<std::unique_ptr<MemoryBuffer>> b = readFile(second.spec.resultsFile);
  if (!b)
    return b.takeError();
  Comparison comparison;
  size_t offset = 0;
  for (auto [index, result] : enumerate(first.spec.step.results)) {
    const char *left = (*a)->getBufferStart() + offset, *right = (*b)->getBufferStart() + offset;
    offset += result.bytes;
    if (std::memcmp(left, right, result.bytes) == 0)
      continue;
    double difference = getLargestDifference(result, left, right);
    if (!comparison.result || difference > comparison.maxDifference)
      comparison = {difference, index};
  }
  return comparison;
}

static Error writeFolder(ArrayRef<NumPyArray> arrays, StringRef folder) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return makeError("cannot make the folder '{0}': {1}", folder, code.message());
  for (const NumPyArray &array : arrays) {
    SmallString<128> path(folder);
    sys::path::append(path, array.name + ".npy");
    if (Error error = writeOutputFile(path, [&](raw_ostream &os) {
          os << makeNumPyHeader(array.type, array.shape) << array.data;
        }))
      return error;
  }
  return Error::success();
}

Error mlir::remat::writeResults(const Variant &variant, StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> data = readFile(variant.spec.resultsFile);
  if (!data)
    return data.takeError();
  StringRef rest = (*data)->getBuffer();
  std::vector<NumPyArray> arrays;
  for (auto [index, result] : enumerate(variant.spec.step.results)) {
    arrays.push_back({"result" + std::to_string(index), getNumPyTypes(result.element).front().str(),
                      result.shape, rest.take_front(result.bytes)});
    rest = rest.drop_front(result.bytes);
  }
  if (!path.ends_with(".npz"))
    return writeFolder(arrays, path);
  if (Error error = writeNumPyArchive(path, arrays))
    return makeError("cannot write '{0}': {1}", path, toString(std::move(error)));
  return Error::success();
}
