//===- JSONTest.cpp - Reading JSON from files that anybody wrote ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace mlir::remat;
namespace json = llvm::json;

namespace {

/// Takes a text apart and puts what its pieces parse to together; nothing where one
/// does not.
std::optional<json::Value> parseInPieces(llvm::StringRef text) {
  auto parse = [](llvm::StringRef piece) -> std::optional<json::Value> {
    llvm::Expected<json::Value> value = json::parse(piece);
    if (value)
      return *value;
    llvm::consumeError(value.takeError());
    return std::nullopt;
  };
  json::Array array;
  bool isArray = forEachJSONElement(text, [&](llvm::StringRef piece) {
    std::optional<json::Value> value = parse(piece);
    if (value)
      array.push_back(*value);
    return value.has_value();
  });
  if (isArray)
    return json::Value(std::move(array));
  std::optional<JSONMembers> members = splitJSONObject(text);
  if (!members)
    return std::nullopt;
  json::Object object;
  for (const auto &[key, piece] : members->members) {
    std::optional<json::Value> value = parse(piece);
    if (!value)
      return std::nullopt;
    object[key] = *value;
  }
  return json::Value(std::move(object));
}

TEST(JSONTest, Split) {
  std::optional<JSONMembers> members =
      splitJSONObject(" { \"a\" : [1, {\"x\": \"]}\"}] , \"b\\n\":\"\\\\\\\"\" ,\"\": {} } ");
  ASSERT_TRUE(members);
  ASSERT_EQ(members->members.size(), 3u);
  EXPECT_EQ(members->members[0].key, "a");
  EXPECT_EQ(members->members[0].value.trim(), "[1, {\"x\": \"]}\"}]");
  EXPECT_EQ(members->find("b\n")->trim(), "\"\\\\\\\"\"");
  EXPECT_EQ(members->find("")->trim(), "{}");
  EXPECT_FALSE(members->find("c"));
  for (const char *text : {"", "[]", "3", "{", "{\"a\"}", "{\"a\" 1}", "{\"a\": 1", "{a: 1}",
                           "{\"a\": 1}}", "{\"a\": 1} 2", "{\"a\": 1, \"a\": 2}", "{\"\\x\": 1}"})
    EXPECT_FALSE(splitJSONObject(text)) << text;
}

TEST(JSONTest, ManyMembers) {
  std::string text = "{";
  for (int64_t k = 0; k < 65; ++k)
    text += (k ? ",\"" : "\"") + std::to_string(k) + "\": 0";
  EXPECT_FALSE(splitJSONObject(text + "}"));
}

TEST(JSONTest, Elements) {
  std::vector<std::string> elements;
  auto collect = [&](llvm::StringRef text) {
    elements.push_back(text.trim().str());
    return elements.size() < 4;
  };
  EXPECT_TRUE(forEachJSONElement(" [1 , [2, 3],{\"a\": [\"]\"]} ] ", collect));
  EXPECT_EQ(elements, (std::vector<std::string>{"1", "[2, 3]", "{\"a\": [\"]\"]}"}));
  EXPECT_FALSE(forEachJSONElement("[1, 2]", collect));
  EXPECT_TRUE(forEachJSONElement("[ ]", collect));
  EXPECT_FALSE(forEachJSONElement("{}", collect));
  EXPECT_FALSE(forEachJSONElement("[1", [](llvm::StringRef) { return true; }));
}

// In pieces or at once, texts are the same or no JSON. Damaged ones too.
TEST(JSONTest, PiecesAreTheWhole) {
  const llvm::StringRef tokens[] = {
      "{",      "}",        "[",         "]",      ",",    ":",    "\"a\"",
      "\"b\"",  "\"\\\"\"", "1",         "-2.5e3", "true", "null", " ",
      "\"",     "\\",       "{\"a\":1}", "[1,2]",  "\n",   "\xc3", "{\"a\":[{}],\"b\":",
      "[[],{},"};
  uint64_t state = 1;
  auto below = [&](uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
  };
  int64_t accepted = 0;
  for (int64_t round = 0; round < 200'000; ++round) {
    std::string text = below(2) ? "{" : "[";
    for (uint64_t k = below(8); k > 0; --k)
      text += tokens[below(std::size(tokens))];
    text += text[0] == '{' ? "}" : "]";
    llvm::Expected<json::Value> whole = json::parse(text);
    std::optional<json::Value> pieces = parseInPieces(text);
    if (!whole) {
      llvm::consumeError(whole.takeError());
      EXPECT_FALSE(pieces) << text;
      continue;
    }
    ++accepted;
    // Pieces may be refused only for a key that is there twice.
    if (pieces)
      EXPECT_EQ(*pieces, *whole) << text;
    else
      EXPECT_TRUE(whole->getAsObject() &&
                  llvm::StringRef(text).count("\"a\"") + llvm::StringRef(text).count("\"b\"") >
                      whole->getAsObject()->size())
          << text;
  }
  EXPECT_GT(accepted, 1000);
}

} // namespace
