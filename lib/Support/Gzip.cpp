//===- Gzip.cpp - Compressed files ------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/Gzip.h"
#include "llvm/ADT/ScopeExit.h"
#include <algorithm>
#include <limits>
#include <vector>
#include <zlib.h>

using namespace llvm;

/// What zlib inflates at a time.
static constexpr size_t kChunkBytes = size_t(1) << 16;

bool mlir::remat::isGzip(StringRef bytes) { return bytes.starts_with("\x1f\x8b"); }

Expected<std::string> mlir::remat::gunzip(StringRef bytes, int64_t maxBytes) {
  z_stream stream = {};
  // 16 more than the logarithm of the window: a gzip header, and no other.
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
    return createStringError("zlib cannot be set up");
  scope_exit end([&] { inflateEnd(&stream); });

  std::string text;
  std::vector<char> chunk(kChunkBytes);
  const char *next = bytes.begin();
  while (true) {
    if (stream.avail_in == 0) {
      size_t length = std::min<size_t>(bytes.end() - next,
                                       std::numeric_limits<decltype(stream.avail_in)>::max());
      // zlib does not write there; its type has no const.
      stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(next));
      stream.avail_in = length;
      next += length;
    }
    stream.next_out = reinterpret_cast<Bytef *>(chunk.data());
    stream.avail_out = chunk.size();
    int status = inflate(&stream, Z_NO_FLUSH);
    size_t length = chunk.size() - stream.avail_out;
    if (length > static_cast<uint64_t>(maxBytes) - text.size())
      return createStringError("the gzip file holds more than %lld bytes",
                               static_cast<long long>(maxBytes));
    text.append(chunk.data(), length);
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0 && next == bytes.end())
        return text;
      status = inflateReset(&stream);
    } else if (status == Z_BUF_ERROR) {
      return createStringError("the gzip file is cut off");
    }
    if (status != Z_OK)
      return createStringError("the gzip file is damaged");
  }
}
