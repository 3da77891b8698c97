//===- Inputs.cpp - Values for the arguments of a training step -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "Remat/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace mlir::remat;

Expected<std::unique_ptr<MemoryBuffer>> mlir::remat::readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return makeError("cannot read '{0}': {1}", path, file.getError().message());
  return std::move(*file);
}

static std::string getArrayName(int64_t index) { return "arg" + std::to_string(index); }

Expected<InputFiles> InputFiles::open(StringRef path, size_t numArguments) {
  InputFiles files;
  files.path = path.str();
  if (path.empty() || sys::fs::is_directory(path))
    return files;
  if (!sys::fs::exists(path))
    return makeError("there is no folder or file '{0}'", path);
  Expected<NumPyArchive> archive = NumPyArchive::open(path);
  if (!archive)
    return makeError("'{0}' is no archive of NumPy: {1}", path, toString(archive.takeError()));
  files.names = archive->getNames();
  files.archive = std::move(*archive);
  std::vector<std::string> expected;
  for (size_t index = 0; index < numArguments; ++index)
    expected.push_back(getArrayName(index));
  for (const std::string &name : files.names)
    if (!is_contained(expected, name))
      return makeError("'{0}': expected arrays 'arg0' to 'arg{1}', but got '{2}'", path,
                       int64_t(numArguments) - 1, name);
  return files;
}

/// Where the elements of an argument go, if a file has this argument.
static Expected<MutableArrayRef<char>> getDestination(const NumPyHeader &header,
                                                      const ArgumentInfo &argument, char *data) {
  ArrayRef<StringRef> types = getNumPyTypes(argument.element);
  if (is_contained(types, StringRef(header.type)) && header.shape == argument.shape)
    return MutableArrayRef(data, argument.bytes);
  auto toText = [](ArrayRef<int64_t> shape) {
    return join(map_range(shape, [](int64_t size) { return std::to_string(size); }), ", ");
  };
  return makeError("expected {0} of shape ({1}), but got {2} of shape ({3})", types.front(),
                   toText(argument.shape), header.type, toText(header.shape));
}

/// Reads a file with one array.
static Error readArray(StringRef path, NumPyDestination getDestination) {
  Expected<std::unique_ptr<MemoryBuffer>> file = readFile(path);
  if (!file)
    return file.takeError();
  Expected<NumPyHeader> header = parseNumPyHeader((*file)->getBuffer());
  Expected<MutableArrayRef<char>> destination =
      header ? getDestination(*header) : header.takeError();
  if (!destination)
    return makeError("'{0}': {1}", path, toString(destination.takeError()));
  StringRef elements = (*file)->getBuffer().drop_front(header->bytes);
  if (elements.size() != destination->size())
    return makeError("'{0}': expected {1} bytes of data, but got {2}", path, destination->size(),
                     elements.size());
  llvm::copy(elements, destination->begin());
  return Error::success();
}

Error InputFiles::fill(int64_t index, const ArgumentInfo &argument, int64_t seed,
                       char *data) const {
  auto getPlace = [&](const NumPyHeader &header) { return getDestination(header, argument, data); };
  std::string name = getArrayName(index);
  if (archive && is_contained(names, name)) {
    if (Error error = archive->read(name, getPlace))
      return makeError("'{0}', array '{1}': {2}", path, name, toString(std::move(error)));
    return Error::success();
  }
  if (!archive && !path.empty()) {
    SmallString<128> file(path);
    sys::path::append(file, name + ".npy");
    if (sys::fs::exists(file))
      return readArray(file, getPlace);
  }
  fillRandomly(argument, argument.isNonNegative, seed, index, data);
  return Error::success();
}
