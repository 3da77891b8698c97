//===- JSON.cpp - Reading JSON from files that anybody wrote ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Support/JSON.h"

using namespace llvm;

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
