//===- ModelTable.h - Models of dialects that are not linked in -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A models file describes operations as data: name -> effects, aliasing, cost
// formulas. The format is documented in docs/models-file.md; the table for
// StableHLO is built in.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_MODELTABLE_H
#define REMAT_INTERFACES_MODELTABLE_H

#include "Remat/Interfaces/OperationModel.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir::remat {

struct ModelTableEntry;

class ModelTable {
public:
  /// A table without entries.
  ModelTable();
  ~ModelTable();
  ModelTable(ModelTable &&) noexcept;
  ModelTable &operator=(ModelTable &&) noexcept;

  /// The table of the dialects that the project knows without linking them.
  static const ModelTable &getBuiltin();

  /// A copy of the built-in table, to read a user's models file into.
  static ModelTable createBuiltin();

  /// Reads the JSON text of a models file on top of the entries that are
  /// already there; a later entry for the same operation replaces the earlier.
  /// `name` is the file's name for errors, which say line and column where the
  /// text is not JSON, and the operation and key where its content is wrong. A
  /// wrong file changes nothing.
  llvm::Error parse(StringRef text, StringRef name);

  /// Reads the models file at `path`, as `parse` does.
  llvm::Error parseFile(StringRef path);

  /// Evaluates the entry for the name of `op`, if there is one. A formula that
  /// has no value (dynamic shapes, overflow) leaves the cost or the trip count
  /// unknown, and the rest of the model as it is.
  std::optional<OperationModel> lookup(Operation *op) const;

  /// Whether `value` is a constant with one value in all its elements, of a
  /// registered dialect or as an entry says.
  bool isSplatConstant(Value value) const;

  /// Bytes of a value of a type that the table describes; nothing for other
  /// types and for those of unknown size.
  std::optional<int64_t> getTypeBytes(Type type) const;

  /// Whether some entry or type of the table belongs to `dialect`.
  bool describesDialect(StringRef dialect) const;

  /// The names of those dialects, which live as long as the table, sorted.
  llvm::SmallVector<StringRef> getDialects() const;

  /// The operation of `dialect` that acts as a barrier (results equal operands,
  /// never merged or moved), or an empty string.
  StringRef getBarrierName(StringRef dialect) const;

private:
  llvm::StringMap<std::unique_ptr<ModelTableEntry>> entries;
  llvm::StringMap<std::optional<int64_t>> types;
  llvm::StringSet<> dialects;
  llvm::StringMap<std::string> barriers;

  friend class ModelTableReader;
};

} // namespace mlir::remat

#endif // REMAT_INTERFACES_MODELTABLE_H
