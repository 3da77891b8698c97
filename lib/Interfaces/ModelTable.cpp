//===- ModelTable.cpp - Models of dialects that are not linked in -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the entry of an operation and evaluates it. What the text of a models
// file means is decided in ModelTableReader.cpp.
//
//===----------------------------------------------------------------------===//

#include "Remat/Interfaces/ModelTable.h"

#include "FormulaFunctions.h"
#include "ModelTableEntry.h"
#include "Remat/Interfaces/ModelCosts.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::remat;

static constexpr llvm::StringLiteral builtinText =
#include "StableHLO.json.inc"
    ;

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Whether `attribute` of `op` has the value that a variant asks for.
static bool matches(Operation *op, const ModelTableEntry::Variant &variant) {
  Attribute attribute = getInherentOrDiscardableAttr(op, variant.attribute);
  if (!attribute)
    return variant.missing && *variant.missing == variant.equals;
  if (const auto *text = std::get_if<std::string>(&variant.equals))
    return getAttributeText(attribute) == *text;
  std::optional<IntegerList> integers = readIntegers(attribute);
  return integers && integers->size() == 1 &&
         integers->front() == std::get<int64_t>(variant.equals);
}

const ModelTableEntry &ModelTableEntry::select(Operation *op) const {
  for (const Variant &variant : when)
    if (matches(op, variant))
      return *variant.entry;
  return *this;
}

/// Whether the result of a slicing operation is one piece of operand `operand`.
static bool isContiguousSliceOf(OpResult result, unsigned operand, StringRef stridesName) {
  auto source = dyn_cast<RankedTensorType>(result.getOwner()->getOperand(operand).getType());
  auto slice = dyn_cast<RankedTensorType>(result.getType());
  if (!source || !slice || source.getRank() != slice.getRank())
    return false;
  IntegerList strides(source.getRank(), 1);
  if (Attribute attribute = getInherentOrDiscardableAttr(result.getOwner(), stridesName)) {
    std::optional<IntegerList> list = readIntegers(attribute);
    if (!list || int64_t(list->size()) != source.getRank())
      return false;
    strides = *list;
  }
  return isContiguousSlice(source.getShape(), slice.getShape(), strides);
}

static void applyStorage(const StorageRule &rule, OpResult result, OperationModel &model) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  unsigned operand = rule.operand.value_or(number);
  bool hasOperand = operand < op->getNumOperands();
  switch (rule.kind) {
  case StorageRule::Kind::View:
    if (hasOperand)
      model.storage.push_back({number, ResultStorage::Kind::View, operand});
    return;
  case StorageRule::Kind::Reuse:
    if (hasOperand)
      model.storage.push_back({number, ResultStorage::Kind::Reuse, operand});
    return;
  case StorageRule::Kind::None:
    model.storage.push_back({number, ResultStorage::Kind::None});
    return;
  case StorageRule::Kind::Constant:
    if (Attribute value = getInherentOrDiscardableAttr(op, rule.attribute))
      model.storage.push_back(getConstantStorage(number, result.getType(), value));
    return;
  case StorageRule::Kind::ContiguousSlice:
    if (hasOperand && isContiguousSliceOf(result, operand, rule.attribute))
      model.storage.push_back({number, ResultStorage::Kind::View, operand});
    return;
  }
}

OperationModel ModelTableEntry::evaluate(Operation *op, const ModelTable &table) const {
  OperationModel model;
  model.effects = effects;
  model.recursive = recursive;
  model.perElementRegions = perElementRegions;
  model.overridable = overridable;
  model.fusionRole = fusionRole;
  model.whyNot = whyNot;
  for (const StorageRule &rule : storage)
    for (OpResult result : op->getResults())
      if (!rule.result || *rule.result == result.getResultNumber())
        applyStorage(rule, result, model);
  for (unsigned operand : unread)
    if (operand < op->getNumOperands())
      model.unreadOperands.push_back(operand);

  DataLayout layout = DataLayout::closest(op);
  FormulaContext context{op, layout, table};
  auto evaluate = [&](const std::optional<CostFormula> &formula) {
    return Count(formula->evaluate(context));
  };

  if (tripCount)
    model.tripCount = evaluate(tripCount).asOptional();
  // A view costs nothing, whatever a copy would.
  bool isView = !model.storage.empty() && model.storage.size() == op->getNumResults() &&
                llvm::all_of(model.storage, [](const ResultStorage &entry) {
                  return entry.kind == ResultStorage::Kind::View;
                });
  if (isView)
    return model;

  Count flopsCount = cost == Cost::Unknown ? Count::unknown() : Count(0);
  Count bytesCount = flopsCount;
  if (flops)
    flopsCount = evaluate(flops);
  else if (cost == Cost::Elementwise && op->getNumResults() != 0)
    flopsCount = Count(weight) * getNumElements(op->getResult(0).getType());
  if (bytes)
    bytesCount = evaluate(bytes);
  else if (cost == Cost::Elementwise || cost == Cost::DataMovement)
    bytesCount = getReadBytes(op->getOperands(), layout, &table) +
                 getBytes(op->getResultTypes(), layout, &table);
  Type type;
  if (!flopsType)
    type = getArithmeticType(op);
  else if (flopsType->isOperand && flopsType->number < op->getNumOperands())
    type = getSlowerArithmeticType(op->getOperand(flopsType->number).getType(), {});
  else if (!flopsType->isOperand && flopsType->number < op->getNumResults())
    type = getSlowerArithmeticType(op->getResult(flopsType->number).getType(), {});
  setCost(model, flopsCount, type, bytesCount);

  if (workspace) {
    Count scratch = evaluate(workspace);
    if (scratch.isKnown())
      model.workspaceBytes = scratch.get();
    else
      model.costIsKnown = false;
  }
  return model;
}

//===----------------------------------------------------------------------===//
// ModelTable
//===----------------------------------------------------------------------===//

ModelTable::ModelTable() = default;
ModelTable::~ModelTable() = default;
ModelTable::ModelTable(ModelTable &&) noexcept = default;
ModelTable &ModelTable::operator=(ModelTable &&) noexcept = default;

ModelTable ModelTable::createBuiltin() {
  ModelTable table;
  llvm::cantFail(table.parse(builtinText, "StableHLO.json"));
  return table;
}

const ModelTable &ModelTable::getBuiltin() {
  static const ModelTable table = createBuiltin();
  return table;
}

llvm::Error ModelTable::parse(StringRef text, StringRef name) {
  // Aside first, so that a wrong file changes nothing.
  ModelTable file;
  if (llvm::Error error = ModelTableReader(file, name).read(text))
    return error;
  for (auto &entry : file.entries)
    entries[entry.getKey()] = std::move(entry.getValue());
  for (auto &type : file.types)
    types[type.getKey()] = type.getValue();
  for (auto &dialect : file.dialects)
    dialects.insert(dialect.getKey());
  for (auto &barrier : file.barriers)
    barriers[barrier.getKey()] = barrier.getValue();
  return llvm::Error::success();
}

llvm::Error ModelTable::parseFile(StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (std::error_code error = buffer.getError())
    return llvm::createStringError(error,
                                   "cannot read models file '" + path + "': " + error.message());
  return parse((*buffer)->getBuffer(), path);
}

std::optional<OperationModel> ModelTable::lookup(Operation *op) const {
  auto found = entries.find(op->getName().getStringRef());
  if (found == entries.end())
    return std::nullopt;
  return found->second->select(op).evaluate(op, *this);
}

bool ModelTable::isSplatConstant(Value value) const {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  if (remat::isSplatConstant(value))
    return true;
  auto found = entries.find(result.getOwner()->getName().getStringRef());
  if (found == entries.end())
    return false;
  for (const StorageRule &rule : found->second->select(result.getOwner()).storage) {
    if (rule.kind != StorageRule::Kind::Constant ||
        (rule.result && *rule.result != result.getResultNumber()))
      continue;
    Attribute attribute = getInherentOrDiscardableAttr(result.getOwner(), rule.attribute);
    if (attribute && isSplatOrScalar(attribute, value.getType()))
      return true;
  }
  return false;
}

std::optional<int64_t> ModelTable::getTypeBytes(Type type) const {
  std::string name;
  if (auto opaque = dyn_cast<OpaqueType>(type)) {
    StringRef data = opaque.getTypeData().take_until([](char c) { return c == '<'; });
    name = (opaque.getDialectNamespace().strref() + "." + data).str();
  } else {
    name = type.getAbstractType().getName().str();
  }
  auto found = types.find(name);
  return found == types.end() ? std::nullopt : found->second;
}

bool ModelTable::describesDialect(StringRef dialect) const { return dialects.contains(dialect); }

llvm::SmallVector<StringRef> ModelTable::getDialects() const {
  llvm::SmallVector<StringRef> names(dialects.keys());
  llvm::sort(names);
  return names;
}

StringRef ModelTable::getBarrierName(StringRef dialect) const {
  auto found = barriers.find(dialect);
  return found == barriers.end() ? StringRef() : StringRef(found->second);
}
