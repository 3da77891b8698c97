//===- JSON.cpp - Reading JSON from files that anybody wrote ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/JSON.h"

using namespace llvm;
using namespace mlir::remat;

static constexpr int64_t kMaxDepth = 16;

Expected<json::Value> mlir::remat::parseJSON(StringRef text) {
  int64_t depth = 0;
  bool isInString = false;
  for (size_t position = 0; position < text.size(); ++position) {
    char c = text[position];
    if (isInString) {
      if (c == '\\')
        ++position;
      else if (c == '"')
        isInString = false;
      continue;
    }
    if (c == '"')
      isInString = true;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (depth > kMaxDepth)
      return createStringError("brackets are nested more than " + Twine(kMaxDepth) + " deep");
  }
  return json::parse(text);
}

static constexpr size_t kMaxMembers = 64;
static constexpr StringLiteral kSpace = " \t\r\n";

/// The length of the string literal that a text begins with, quotes included, or
/// npos.
static size_t getStringLength(StringRef text) {
  if (!text.starts_with("\""))
    return StringRef::npos;
  for (size_t position = 1; position < text.size(); ++position) {
    if (text[position] == '\\')
      ++position;
    else if (text[position] == '"')
      return position + 1;
  }
  return StringRef::npos;
}

/// The length of what a text begins with up to a comma or closing bracket that is
/// outside of strings and of all brackets opened in it; npos when there is none.
static size_t getValueLength(StringRef text) {
  int64_t depth = 0;
  for (size_t position = 0; position < text.size(); ++position) {
    switch (text[position]) {
    case '"': {
      size_t length = getStringLength(text.substr(position));
      if (length == StringRef::npos)
        return StringRef::npos;
      position += length - 1;
      break;
    }
    case '[':
    case '{':
      ++depth;
      break;
    case ']':
    case '}':
      if (depth == 0)
        return position;
      --depth;
      break;
    case ',':
      if (depth == 0)
        return position;
      break;
    }
  }
  return StringRef::npos;
}

/// Calls `visit` at the begin of each of the entries between two brackets; it removes
/// the entry, up to the comma or bracket behind it, and returns whether to go on.
static bool forEachEntry(StringRef text, char open, char close,
                         function_ref<bool(StringRef &)> visit) {
  text = text.trim(kSpace);
  if (!text.consume_front(StringRef(&open, 1)))
    return false;
  text = text.ltrim(kSpace);
  if (text == StringRef(&close, 1))
    return true;
  while (true) {
    if (!visit(text) || text.empty())
      return false;
    if (text == StringRef(&close, 1))
      return true;
    if (!text.consume_front(","))
      return false;
    text = text.ltrim(kSpace);
  }
}

std::optional<StringRef> JSONMembers::find(StringRef key) const {
  for (const Member &member : members)
    if (member.key == key)
      return member.value;
  return std::nullopt;
}

std::optional<JSONMembers> mlir::remat::splitJSONObject(StringRef text) {
  JSONMembers result;
  bool isObject = forEachEntry(text, '{', '}', [&](StringRef &rest) {
    size_t length = getStringLength(rest);
    if (length == StringRef::npos)
      return false;
    Expected<json::Value> key = json::parse(rest.take_front(length));
    if (!key) {
      consumeError(key.takeError());
      return false;
    }
    rest = rest.drop_front(length).ltrim(kSpace);
    if (!rest.consume_front(":"))
      return false;
    length = getValueLength(rest);
    if (length == StringRef::npos || result.find(*key->getAsString()) ||
        result.members.size() == kMaxMembers)
      return false;
    result.members.push_back({key->getAsString()->str(), rest.take_front(length)});
    rest = rest.drop_front(length);
    return true;
  });
  return isObject ? std::optional(std::move(result)) : std::nullopt;
}

bool mlir::remat::forEachJSONElement(StringRef text, function_ref<bool(StringRef)> visit) {
  return forEachEntry(text, '[', ']', [&](StringRef &rest) {
    size_t length = getValueLength(rest);
    if (length == StringRef::npos || !visit(rest.take_front(length)))
      return false;
    rest = rest.drop_front(length);
    return true;
  });
}

StringRef mlir::remat::getKindName(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Null:
    return "null";
  case json::Value::Boolean:
    return "a boolean";
  case json::Value::Number:
    return value.getAsInteger() ? "a number" : "a number that is not a 64-bit integer";
  case json::Value::String:
    return "a string";
  case json::Value::Array:
    return "an array";
  case json::Value::Object:
    return "an object";
  }
  llvm_unreachable("unknown kind");
}
