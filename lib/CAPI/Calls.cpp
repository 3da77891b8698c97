//===- Calls.cpp - Functions of a C API -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

using namespace mlir::remat;
using namespace mlir::remat::capi;
using llvm::Error;
using llvm::Expected;

void rematStringFree(char *string) { std::free(string); }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

char *capi::copyText(llvm::StringRef text) {
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copy)
    return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

bool capi::attempt(char **message, llvm::function_ref<Error()> action) {
  if (message)
    *message = nullptr;
  auto fail = [&](llvm::StringRef text) {
    if (message)
      *message = copyText(text);
    return false;
  };
  try {
    Error error = action();
    return error ? fail(llvm::toString(std::move(error))) : true;
  } catch (const std::bad_alloc &) {
    return fail("out of memory");
  } catch (const std::exception &exception) {
    return fail(exception.what());
  } catch (...) {
    return fail("unknown exception");
  }
}

//===----------------------------------------------------------------------===//
// Structs that grow
//===----------------------------------------------------------------------===//

Error capi::requirePointer(const void *pointer, const char *name) {
  if (!pointer)
    return makeError("'{0}' is null", name);
  return Error::success();
}

/// The size that the caller was compiled with.
static Expected<size_t> readStructSize(size_t firstSize, const void *data, const char *name) {
  // More than any version will ever have: whoever says so has forgotten to say anything.
  constexpr size_t kMaxStructSize = 4096;
  if (Error error = requirePointer(data, name))
    return error;
  size_t structSize;
  std::memcpy(&structSize, data, sizeof(structSize));
  if (structSize < firstSize || structSize > kMaxStructSize)
    return makeError("expected 'structSize' of '{0}' to be the size of the struct, at least {1} "
                     "bytes, but got {2}",
                     name, firstSize, structSize);
  return structSize;
}

Error capi::readStruct(void *result, size_t size, size_t firstSize, const void *input,
                       const char *name) {
  Expected<size_t> structSize = readStructSize(firstSize, input, name);
  if (!structSize)
    return structSize.takeError();
  const char *data = static_cast<const char *>(input);
  for (size_t position = size; position < *structSize; ++position)
    if (data[position])
      return makeError("'{0}' sets a field that this version of the library does not have", name);
  std::memcpy(result, input, std::min(size, *structSize));
  return Error::success();
}

Error capi::writeStruct(const void *value, size_t size, size_t firstSize, void *output,
                        const char *name) {
  Expected<size_t> structSize = readStructSize(firstSize, output, name);
  if (!structSize)
    return structSize.takeError();
  std::memset(output, 0, *structSize);
  std::memcpy(output, value, std::min(size, *structSize));
  std::memcpy(output, &*structSize, sizeof(*structSize));
  return Error::success();
}
