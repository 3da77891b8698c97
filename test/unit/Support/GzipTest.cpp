//===- GzipTest.cpp - Compressed files --------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/Gzip.h"
#include "gtest/gtest.h"
#include <zlib.h>

using namespace mlir::remat;

namespace {

std::string compress(std::string text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(text.data());
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<Bytef *>(bytes.data());
  stream.avail_out = bytes.size();
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(bytes.size() - stream.avail_out);
  deflateEnd(&stream);
  return bytes;
}

std::string inflated(llvm::StringRef bytes, int64_t maxBytes = kMaxInflatedBytes) {
  llvm::Expected<std::string> text = gunzip(bytes, maxBytes);
  return text ? *text : "error: " + llvm::toString(text.takeError());
}

TEST(GzipTest, RoundTrip) {
  std::string large;
  for (int64_t k = 0; k < 100'000; ++k)
    large += std::to_string(k * k);
  for (const std::string &text :
       {std::string(), std::string("a"), std::string(1 << 16, 'x'), large}) {
    std::string bytes = compress(text);
    EXPECT_TRUE(isGzip(bytes));
    EXPECT_TRUE(inflated(bytes) == text);
  }
  EXPECT_FALSE(isGzip(""));
  EXPECT_FALSE(isGzip("{}"));
}

TEST(GzipTest, SeveralMembers) {
  EXPECT_EQ(inflated(compress("one ") + compress("") + compress("two")), "one two");
}

TEST(GzipTest, Limit) {
  std::string bytes = compress(std::string(1'000'000, 'x'));
  EXPECT_LT(bytes.size(), 2000u);
  EXPECT_EQ(inflated(bytes, 1'000'000).size(), 1'000'000u);
  EXPECT_EQ(inflated(bytes, 999'999), "error: the gzip file holds more than 999999 bytes");
  EXPECT_EQ(inflated(bytes, 0), "error: the gzip file holds more than 0 bytes");
}

// Cut off anywhere, or with any byte behind the header inverted.
TEST(GzipTest, Damaged) {
  std::string bytes = compress("a text that is not short");
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(inflated(llvm::StringRef(bytes).take_front(length)),
              "error: the gzip file is cut off");
  EXPECT_EQ(inflated(bytes + "x"), "error: the gzip file is cut off");
  EXPECT_EQ(inflated(bytes + "xyz"), "error: the gzip file is damaged");
  // The header has 10 bytes.
  for (size_t place = 10; place < bytes.size(); ++place) {
    std::string damaged = bytes;
    damaged[place] = ~damaged[place];
    EXPECT_TRUE(llvm::StringRef(inflated(damaged)).starts_with("error: the gzip file is "))
        << place;
  }
}

} // namespace
