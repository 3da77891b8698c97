//===- JSON.h - Reading JSON from files that anybody wrote ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_SUPPORT_JSON_H
#define REMAT_SUPPORT_JSON_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::remat {

/// Parses a text. LLVM's parser recurses, so brackets may be nested 16 deep at
/// most; files of ours need fewer.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

/// An object as text: its members, whose values are text that nobody has looked
/// into. For large files, since a parsed object takes 4 KiB in memory.
struct JSONMembers {
  struct Member {
    std::string key;
    /// A piece of the text; perhaps no JSON.
    llvm::StringRef value;
  };
  /// In the order of the text; no two have one key.
  std::vector<Member> members;

  /// The text of a member's value, or nothing.
  std::optional<llvm::StringRef> find(llvm::StringRef key) const;
};

/// Takes an object apart; nothing for other texts, where a key is there twice, and
/// for more than 64 members.
/// When every value parses, so does the whole text, to an object with these members.
std::optional<JSONMembers> splitJSONObject(llvm::StringRef text);

/// Calls `visit` with the text of each element of an array, until it returns
/// false. False as well when the text is no array. When every element parses, so
/// does the whole text, to an array with these elements.
bool forEachJSONElement(llvm::StringRef text, llvm::function_ref<bool(llvm::StringRef)> visit);

/// What a value is, with its article: `an array`.
llvm::StringRef getKindName(const llvm::json::Value &value);

} // namespace mlir::remat

#endif // REMAT_SUPPORT_JSON_H
