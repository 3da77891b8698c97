//===- ModelTableReader.cpp - Reads models files ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the JSON text of a models file into entries, and says what is wrong with
// a text that is not one. docs/models-file.md is the reference of the format.
//
//===----------------------------------------------------------------------===//

#include "ModelTableEntry.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "Remat/Support/JSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::remat;
namespace json = llvm::json;

/// The keys of `object` in alphabetical order, so that of several errors it is
/// always the same that is reported.
static SmallVector<StringRef> getSortedKeys(const json::Object &object) {
  SmallVector<StringRef> keys;
  for (const auto &item : object)
    keys.push_back(item.first);
  llvm::sort(keys);
  return keys;
}

static std::string quoteAll(ArrayRef<StringRef> names) {
  std::string text;
  for (auto [index, name] : llvm::enumerate(names)) {
    if (index != 0)
      text += index + 1 == names.size() ? " or " : ", ";
    text += "'" + name.str() + "'";
  }
  return text;
}

llvm::Error ModelTableReader::makeError(const llvm::Twine &what) const {
  return llvm::createStringError("models file '" + fileName +
                                 "': " + (place.empty() ? "" : place + ": ") + what);
}

#define RETURN_IF_ERROR(expression)                                                                \
  do {                                                                                             \
    if (llvm::Error error = (expression))                                                          \
      return error;                                                                                \
  } while (false)

//===----------------------------------------------------------------------===//
// The whole file
//===----------------------------------------------------------------------===//

llvm::Error ModelTableReader::read(StringRef text) {
  llvm::Expected<json::Value> file = parseJSON(text);
  if (!file)
    return makeError("not JSON: " + llvm::toString(file.takeError()));
  const json::Object *object = file->getAsObject();
  if (!object)
    return makeError("expected an object, but got " + getKindName(*file));
  for (StringRef key : getSortedKeys(*object)) {
    const json::Value &value = *object->get(key);
    place.clear();
    if (key == "operations") {
      RETURN_IF_ERROR(readOperations(value));
    } else if (key == "types") {
      RETURN_IF_ERROR(readTypes(value));
    } else if (key == "version") {
      if (value.getAsInteger() != 1)
        return makeError("expected 'version' to be 1");
    } else if (key != "comment") {
      return makeError("unknown key '" + key +
                       "', expected 'comment', 'operations', 'types' or 'version'");
    }
  }
  return llvm::Error::success();
}

/// The dialect of `name`, empty when it is no name of an operation or a type.
static StringRef getDialect(StringRef name) {
  auto [dialect, rest] = name.split('.');
  return rest.empty() ? StringRef() : dialect;
}

llvm::Error ModelTableReader::readTypes(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return makeError("expected 'types' to be an object, but got " + getKindName(value));
  for (StringRef name : getSortedKeys(*object)) {
    place = "type '" + name.str() + "'";
    if (getDialect(name).empty())
      return makeError("expected a name with a dialect, like 'mine.token'");
    const json::Object *type = object->get(name)->getAsObject();
    if (!type)
      return makeError("expected an object, but got " + getKindName(*object->get(name)));
    std::optional<int64_t> bytes;
    for (StringRef key : getSortedKeys(*type)) {
      const json::Value &item = *type->get(key);
      if (key != "bytes")
        return makeError("unknown key '" + key + "', expected 'bytes'");
      bytes = item.getAsInteger();
      if (!item.getAsNull() && (!bytes || *bytes < 0))
        return makeError("expected 'bytes' to be null or an integer, at least 0");
    }
    table.types[name] = bytes;
    table.dialects.insert(getDialect(name));
  }
  return llvm::Error::success();
}

llvm::Error ModelTableReader::readOperations(const json::Value &value) {
  const json::Array *groups = value.getAsArray();
  if (!groups)
    return makeError("expected 'operations' to be an array, but got " + getKindName(value));
  for (auto [index, group] : llvm::enumerate(*groups)) {
    place = ("operations[" + llvm::Twine(index) + "]").str();
    RETURN_IF_ERROR(readGroup(group));
  }
  return llvm::Error::success();
}

llvm::Error ModelTableReader::readGroup(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return makeError("expected an object, but got " + getKindName(value));
  const json::Array *names = object->getArray("names");
  if (!names || names->empty())
    return makeError("expected 'names' to be an array of names of operations");
  for (const json::Value &name : *names)
    if (!name.getAsString() || getDialect(*name.getAsString()).empty())
      return makeError("expected 'names' to hold names with a dialect, like 'mine.add'");
  place += " ('" + names->front().getAsString()->str() + "')";

  ModelTableEntry entry;
  RETURN_IF_ERROR(readKeys(*object, entry, /*isVariant=*/false));
  if (entry.barrier) {
    entry.effects = EffectKind::Ordered;
    entry.whyNot = "is a barrier";
    entry.cost = ModelTableEntry::Cost::None;
    entry.storage = {{StorageRule::Kind::View, std::nullopt, std::nullopt, ""}};
  } else if (!object->get("effects")) {
    return makeError("expected the key 'effects'");
  }
  for (const json::Value &item : *names) {
    StringRef name = *item.getAsString();
    table.entries[name] = std::make_unique<ModelTableEntry>(entry);
    table.dialects.insert(getDialect(name));
    if (entry.barrier)
      table.barriers[getDialect(name)] = name.str();
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

llvm::Error ModelTableReader::readKeys(const json::Object &object, ModelTableEntry &entry,
                                       bool isVariant) {
  for (StringRef key : getSortedKeys(object))
    if (key != "when")
      RETURN_IF_ERROR(readKey(key, *object.get(key), entry, isVariant));
  // Variants start from all that the entry says, so they come last.
  if (const json::Value *when = object.get("when")) {
    if (isVariant)
      return makeError("expected no 'when' inside of 'when'");
    RETURN_IF_ERROR(readVariants(*when, entry));
  }
  // A reason that nobody gave.
  if (entry.whyNot.empty() && entry.effects == EffectKind::Ordered)
    entry.whyNot = "has side effects";
  if (entry.whyNot.empty() && entry.effects == EffectKind::Reads)
    entry.whyNot = "reads state that may change";
  if (entry.effects == EffectKind::Pure)
    entry.whyNot.clear();
  return llvm::Error::success();
}

llvm::Error ModelTableReader::readKey(StringRef key, const json::Value &value,
                                      ModelTableEntry &entry, bool isVariant) {
  auto readBool = [&](bool &flag) -> llvm::Error {
    std::optional<bool> read = value.getAsBoolean();
    if (!read)
      return makeError("expected '" + key + "' to be a boolean, but got " + getKindName(value));
    flag = *read;
    return llvm::Error::success();
  };
  auto expectString = [&](ArrayRef<StringRef> allowed) {
    return makeError("expected '" + key + "' to be " + quoteAll(allowed) +
                     (value.getAsString() ? ", but got '" + *value.getAsString() + "'"
                                          : ", but got " + getKindName(value)));
  };

  if (key == "names" || key == "comment" ||
      (isVariant && (key == "attribute" || key == "equals" || key == "default")))
    return llvm::Error::success();
  if (key == "effects") {
    auto effects = llvm::StringSwitch<std::optional<EffectKind>>(value.getAsString().value_or(""))
                       .Case("pure", EffectKind::Pure)
                       .Case("reads", EffectKind::Reads)
                       .Case("ordered", EffectKind::Ordered)
                       .Default(std::nullopt);
    if (!effects)
      return expectString({"pure", "reads", "ordered"});
    entry.effects = *effects;
    return llvm::Error::success();
  }
  if (key == "fusion") {
    auto role = llvm::StringSwitch<std::optional<FusionRole>>(value.getAsString().value_or(""))
                    .Case("none", FusionRole::None)
                    .Case("elementwise", FusionRole::Elementwise)
                    .Case("costly", FusionRole::CostlyElementwise)
                    .Case("movement", FusionRole::Movement)
                    .Case("reduction", FusionRole::Reduction)
                    .Case("product", FusionRole::Product)
                    .Case("convolution", FusionRole::Convolution)
                    .Case("update", FusionRole::Update)
                    .Case("iota", FusionRole::Iota)
                    .Case("loop", FusionRole::Loop)
                    .Default(std::nullopt);
    if (!role)
      return expectString({"none", "elementwise", "costly", "movement", "reduction", "product",
                           "convolution", "update", "iota", "loop"});
    entry.fusionRole = *role;
    return llvm::Error::success();
  }
  if (key == "why_not") {
    if (!value.getAsString())
      return makeError("expected 'why_not' to be a string, but got " + getKindName(value));
    entry.whyNot = value.getAsString()->str();
    return llvm::Error::success();
  }
  if (key == "recursive")
    return readBool(entry.recursive);
  if (key == "per_element_regions")
    return readBool(entry.perElementRegions);
  if (key == "overridable")
    return readBool(entry.overridable);
  if (key == "barrier" && !isVariant)
    return readBool(entry.barrier);
  if (key == "cost")
    return readCost(value, entry);
  if (key == "flops")
    return readFormula(key, value, entry.flops);
  if (key == "bytes")
    return readFormula(key, value, entry.bytes);
  if (key == "workspace")
    return readFormula(key, value, entry.workspace);
  if (key == "trip_count")
    return readFormula(key, value, entry.tripCount);
  if (key == "storage")
    return readStorage(value, entry);
  if (key == "unread") {
    entry.unread.clear();
    const json::Array *array = value.getAsArray();
    for (const json::Value &item : array ? *array : json::Array()) {
      std::optional<uint64_t> number = item.getAsUINT64();
      if (!number || *number > UINT16_MAX)
        array = nullptr;
      else
        entry.unread.push_back(*number);
    }
    if (!array)
      return makeError("expected 'unread' to be an array of operand numbers");
    llvm::sort(entry.unread);
    entry.unread.erase(llvm::unique(entry.unread), entry.unread.end());
    return llvm::Error::success();
  }
  if (key == "flops_type") {
    auto [what, number] = value.getAsString().value_or("").split(' ');
    unsigned index;
    if ((what != "operand" && what != "result") || number.getAsInteger(10, index))
      return makeError("expected 'flops_type' to be 'operand N' or 'result N'");
    entry.flopsType = {what == "operand", index};
    return llvm::Error::success();
  }
  return makeError("unknown key '" + key + "'");
}

llvm::Error ModelTableReader::readCost(const json::Value &value, ModelTableEntry &entry) {
  using Cost = ModelTableEntry::Cost;
  if (const json::Object *object = value.getAsObject()) {
    std::optional<int64_t> weight = object->getInteger("elementwise");
    if (object->size() != 1 || !weight || *weight < 0)
      return makeError("expected 'cost' to be an object with an integer 'elementwise', at least 0");
    entry.cost = Cost::Elementwise;
    entry.weight = *weight;
    return llvm::Error::success();
  }
  auto cost = llvm::StringSwitch<std::optional<Cost>>(value.getAsString().value_or(""))
                  .Case("none", Cost::None)
                  .Case("elementwise", Cost::Elementwise)
                  .Case("data_movement", Cost::DataMovement)
                  .Case("unknown", Cost::Unknown)
                  .Default(std::nullopt);
  if (!cost)
    return makeError("expected 'cost' to be 'elementwise', 'data_movement', 'none', 'unknown' or "
                     "an object");
  entry.cost = *cost;
  entry.weight = 1;
  return llvm::Error::success();
}

llvm::Error ModelTableReader::readFormula(StringRef key, const json::Value &value,
                                          std::optional<CostFormula> &formula) {
  if (std::optional<int64_t> number = value.getAsInteger()) {
    if (*number < 0)
      return makeError("expected '" + key + "' to be at least 0");
    formula = CostFormula(*number);
    return llvm::Error::success();
  }
  if (!value.getAsString())
    return makeError("expected '" + key + "' to be a formula or an integer, but got " +
                     getKindName(value));
  llvm::Expected<CostFormula> parsed = CostFormula::parse(*value.getAsString());
  if (!parsed)
    return makeError("'" + key + "': " + llvm::toString(parsed.takeError()));
  formula = std::move(*parsed);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Storage and variants
//===----------------------------------------------------------------------===//

llvm::Error ModelTableReader::readStorage(const json::Value &value, ModelTableEntry &entry) {
  entry.storage.clear();
  const json::Array *array = value.getAsArray();
  if (!array)
    return makeError("expected 'storage' to be an array, but got " + getKindName(value));
  for (const json::Value &item : *array) {
    const json::Object *object = item.getAsObject();
    if (!object)
      return makeError("expected 'storage' to hold objects, but got " + getKindName(item));
    RETURN_IF_ERROR(readStorageRule(*object, entry));
  }
  return llvm::Error::success();
}

llvm::Error ModelTableReader::readStorageRule(const json::Object &object, ModelTableEntry &entry) {
  using Kind = StorageRule::Kind;
  for (StringRef key : getSortedKeys(object))
    if (key != "kind" && key != "result" && key != "operand" && key != "attribute")
      return makeError("unknown key '" + key + "' in 'storage'");

  StorageRule rule;
  auto kind = llvm::StringSwitch<std::optional<Kind>>(object.getString("kind").value_or(""))
                  .Case("view", Kind::View)
                  .Case("reuse", Kind::Reuse)
                  .Case("none", Kind::None)
                  .Case("constant", Kind::Constant)
                  .Case("contiguous_slice", Kind::ContiguousSlice)
                  .Default(std::nullopt);
  if (!kind)
    return makeError("expected 'kind' of 'storage' to be 'view', 'reuse', 'none', 'constant' or "
                     "'contiguous_slice'");
  rule.kind = *kind;

  // A number, or a word for "no particular one".
  auto readNumber = [&](StringRef key, StringRef word,
                        std::optional<unsigned> &number) -> llvm::Error {
    const json::Value *value = object.get(key);
    if (!value || (value->getAsString() && *value->getAsString() == word))
      return llvm::Error::success();
    std::optional<uint64_t> read = value->getAsUINT64();
    if (!read || *read > UINT16_MAX)
      return makeError("expected '" + key + "' of 'storage' to be a number or '" + word + "'");
    number = unsigned(*read);
    return llvm::Error::success();
  };
  RETURN_IF_ERROR(readNumber("result", "all", rule.result));
  RETURN_IF_ERROR(readNumber("operand", "same", rule.operand));
  if (const json::Value *attribute = object.get("attribute")) {
    if (!attribute->getAsString())
      return makeError("expected 'attribute' of 'storage' to be a string");
    rule.attribute = attribute->getAsString()->str();
  }
  if (rule.attribute.empty() && rule.kind == Kind::Constant)
    return makeError("expected 'attribute' beside 'kind' 'constant' in 'storage'");
  entry.storage.push_back(std::move(rule));
  return llvm::Error::success();
}

llvm::Error ModelTableReader::readVariants(const json::Value &value, ModelTableEntry &entry) {
  const json::Array *array = value.getAsArray();
  if (!array)
    return makeError("expected 'when' to be an array, but got " + getKindName(value));
  for (const json::Value &item : *array) {
    const json::Object *object = item.getAsObject();
    if (!object)
      return makeError("expected 'when' to hold objects, but got " + getKindName(item));
    RETURN_IF_ERROR(readVariant(*object, entry));
  }
  return llvm::Error::success();
}

llvm::Error ModelTableReader::readVariant(const json::Object &object, ModelTableEntry &entry) {
  // Booleans and integers compare as integers, all else by its text.
  using Constant = std::variant<int64_t, std::string>;
  auto readConstant = [&](StringRef key) -> std::optional<Constant> {
    const json::Value *value = object.get(key);
    if (!value)
      return std::nullopt;
    if (std::optional<bool> flag = value->getAsBoolean())
      return Constant(int64_t(*flag));
    if (std::optional<int64_t> number = value->getAsInteger())
      return Constant(*number);
    if (std::optional<StringRef> text = value->getAsString())
      return Constant(text->str());
    return std::nullopt;
  };

  ModelTableEntry::Variant variant;
  std::optional<StringRef> attribute = object.getString("attribute");
  std::optional<Constant> equals = readConstant("equals");
  variant.missing = readConstant("default");
  if (!attribute || !equals || (object.get("default") && !variant.missing))
    return makeError("expected 'when' to hold 'attribute' (a string) and 'equals' (a boolean, an "
                     "integer or a string, as 'default' is)");
  variant.attribute = attribute->str();
  variant.equals = *equals;

  ModelTableEntry changed = entry;
  changed.when.clear();
  // A reason belongs to the effects that it was given for.
  if (object.get("effects"))
    changed.whyNot.clear();
  RETURN_IF_ERROR(readKeys(object, changed, /*isVariant=*/true));
  variant.entry = std::make_shared<const ModelTableEntry>(std::move(changed));
  entry.when.push_back(std::move(variant));
  return llvm::Error::success();
}
