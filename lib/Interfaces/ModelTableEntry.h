//===- ModelTableEntry.h - One operation of a models file -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a models file says of an operation, read but not yet evaluated. The names
// of the members are those of the keys in docs/models-file.md.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_INTERFACES_MODELTABLEENTRY_H
#define REMAT_LIB_INTERFACES_MODELTABLEENTRY_H

#include "Remat/Interfaces/CostFormula.h"
#include "Remat/Interfaces/OperationModel.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace mlir::remat {

class ModelTable;

/// How some results are stored. Missing operands and attributes leave a result
/// with a storage of its own.
struct StorageRule {
  enum class Kind { View, Reuse, None, Constant, ContiguousSlice };

  Kind kind;
  /// The result, or all of them.
  std::optional<unsigned> result;
  /// The operand, or the one with the number of the result.
  std::optional<unsigned> operand;
  /// The value of a constant, the strides of a slice.
  std::string attribute;
};

/// The operand or result whose element type selects the rate of arithmetic.
struct TypeReference {
  bool isOperand;
  unsigned number;
};

struct ModelTableEntry {
  /// What is not said by a formula.
  enum class Cost { None, Elementwise, DataMovement, Unknown };

  /// An entry to use instead where an attribute has a value.
  struct Variant {
    std::string attribute;
    std::variant<int64_t, std::string> equals;
    std::optional<std::variant<int64_t, std::string>> missing;
    std::shared_ptr<const ModelTableEntry> entry;
  };

  EffectKind effects = EffectKind::Ordered;
  std::string whyNot;
  bool recursive = false, perElementRegions = false, overridable = false, barrier = false;
  FusionRole fusionRole = FusionRole::None;
  std::vector<StorageRule> storage;
  std::vector<unsigned> unread;
  Cost cost = Cost::DataMovement;
  int64_t weight = 0;
  std::optional<TypeReference> flopsType;
  std::optional<CostFormula> flops, bytes, workspace, tripCount;
  std::vector<Variant> when;

  /// The entry or the first of its variants whose condition holds for `op`.
  const ModelTableEntry &select(Operation *op) const;

  OperationModel evaluate(Operation *op, const ModelTable &table) const;
};

/// Reads a models file into a table.
class ModelTableReader {
public:
  ModelTableReader(ModelTable &table, StringRef fileName) : table(table), fileName(fileName) {}

  llvm::Error read(StringRef text);

private:
  llvm::Error readOperations(const llvm::json::Value &value);
  llvm::Error readTypes(const llvm::json::Value &value);
  llvm::Error readGroup(const llvm::json::Value &value);
  llvm::Error readKeys(const llvm::json::Object &object, ModelTableEntry &entry, bool isVariant);
  llvm::Error readKey(StringRef key, const llvm::json::Value &value, ModelTableEntry &entry,
                      bool isVariant);
  llvm::Error readCost(const llvm::json::Value &value, ModelTableEntry &entry);
  llvm::Error readFormula(StringRef key, const llvm::json::Value &value,
                          std::optional<CostFormula> &formula);
  llvm::Error readStorage(const llvm::json::Value &value, ModelTableEntry &entry);
  llvm::Error readStorageRule(const llvm::json::Object &object, ModelTableEntry &entry);
  llvm::Error readVariants(const llvm::json::Value &value, ModelTableEntry &entry);
  llvm::Error readVariant(const llvm::json::Object &object, ModelTableEntry &entry);

  /// An error about the content: the file, where in it, and what.
  llvm::Error makeError(const llvm::Twine &what) const;

  ModelTable &table;
  StringRef fileName;
  /// The operation or type that is being read, for errors.
  std::string place;
};

} // namespace mlir::remat

#endif // REMAT_LIB_INTERFACES_MODELTABLEENTRY_H
