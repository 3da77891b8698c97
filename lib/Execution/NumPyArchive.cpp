//===- NumPyArchive.cpp - Several arrays in one file ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/NumPy.h"

#include "Remat/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <zip.h>

using namespace llvm;
using namespace mlir::remat;

static constexpr StringLiteral kExtension = ".npy";

/// The error of opening an archive.
static Error makeOpenError(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  scope_exit end([&] { zip_error_fini(&error); });
  return makeError("{0}", zip_error_strerror(&error));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

NumPyArchive::NumPyArchive(zip_t *archive) : archive(archive, zip_discard) {}

Expected<NumPyArchive> NumPyArchive::open(StringRef path) {
  int code = 0;
  zip_t *archive = zip_open(path.str().c_str(), ZIP_RDONLY, &code);
  if (!archive)
    return makeOpenError(code);
  return NumPyArchive(archive);
}

std::vector<std::string> NumPyArchive::getNames() const {
  std::vector<std::string> names;
  for (zip_int64_t index = 0; index < zip_get_num_entries(archive.get(), 0); ++index) {
    StringRef name = zip_get_name(archive.get(), index, ZIP_FL_ENC_RAW);
    name.consume_back(kExtension);
    names.push_back(name.str());
  }
  return names;
}

/// Reads up to `size` bytes: fewer at the end of the member only.
static Expected<int64_t> readMember(zip_file_t *member, char *data, int64_t size) {
  int64_t done = 0;
  while (done < size) {
    zip_int64_t count = zip_fread(member, data + done, size - done);
    if (count < 0)
      return makeError("{0}", zip_file_strerror(member));
    if (count == 0)
      break;
    done += count;
  }
  return done;
}

Error NumPyArchive::read(StringRef name, NumPyDestination getDestination) const {
  zip_int64_t index =
      zip_name_locate(archive.get(), (name + kExtension).str().c_str(), ZIP_FL_ENC_RAW);
  if (index < 0)
    return makeError("there is no array '{0}'", name);
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> member(
      zip_fopen_index(archive.get(), index, 0), zip_fclose);
  if (!member)
    return makeError("{0}", zip_strerror(archive.get()));

  std::vector<char> start(kMaxNumPyHeaderBytes);
  Expected<int64_t> count = readMember(member.get(), start.data(), start.size());
  if (!count)
    return count.takeError();
  start.resize(*count);
  Expected<NumPyHeader> header = parseNumPyHeader(toStringRef(ArrayRef(start)));
  if (!header)
    return header.takeError();
  Expected<MutableArrayRef<char>> destination = getDestination(*header);
  if (!destination)
    return destination.takeError();

  ArrayRef<char> begin = ArrayRef(start).drop_front(header->bytes);
  int64_t size = destination->size(), taken = std::min<int64_t>(begin.size(), size);
  llvm::copy(begin.take_front(taken), destination->begin());
  count = readMember(member.get(), destination->data() + taken, size - taken);
  if (!count)
    return count.takeError();
  // What is behind the array; at the end, the checksum is compared.
  char more = 0;
  Expected<int64_t> rest = readMember(member.get(), &more, 1);
  if (!rest)
    return rest.takeError();
  if (taken + *count < size)
    return makeError("expected {0} bytes of data, but got {1}", size, taken + *count);
  if (*rest != 0 || static_cast<int64_t>(begin.size()) > size)
    return makeError("expected {0} bytes of data, but got more", size);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Error mlir::remat::writeNumPyArchive(StringRef path, ArrayRef<NumPyArray> arrays) {
  // The archive refers to them until it is closed.
  std::vector<std::string> headers;
  for (const NumPyArray &array : arrays)
    headers.push_back(makeNumPyHeader(array.type, array.shape));
  int code = 0;
  zip_t *archive = zip_open(path.str().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive)
    return makeOpenError(code);
  auto fail = [&]() -> Error {
    Error error = makeError("{0}", zip_strerror(archive));
    zip_discard(archive);
    return error;
  };
  for (auto [array, header] : zip_equal(arrays, headers)) {
    auto asFragment = [](StringRef bytes) {
      // libzip does not write there; its type has no const.
      return zip_buffer_fragment_t{
          reinterpret_cast<zip_uint8_t *>(const_cast<char *>(bytes.data())), bytes.size()};
    };
    zip_buffer_fragment_t fragments[] = {asFragment(header), asFragment(array.data)};
    zip_source_t *source = zip_source_buffer_fragment(archive, fragments, 2, /*freep=*/0);
    if (!source)
      return fail();
    zip_int64_t index = zip_file_add(archive, (array.name + kExtension).str().c_str(), source, 0);
    if (index < 0) {
      zip_source_free(source);
      return fail();
    }
    // The first day that there is: January 1, 1980.
    constexpr zip_uint16_t kDate = (1 << 5) | 1;
    if (zip_set_file_compression(archive, index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive, index, 0, kDate, 0) != 0)
      return fail();
  }
  if (zip_close(archive) != 0)
    return fail();
  return Error::success();
}
