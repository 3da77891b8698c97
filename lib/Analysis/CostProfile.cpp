//===- CostProfile.cpp - Measured times of a function's operations ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/CostProfile.h"

#include "Remat/Support/Error.h"
#include "Remat/Support/JSON.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;

static constexpr int64_t kVersion = 1;
/// Where costs saturate.
static constexpr int64_t kMaxPicoseconds = int64_t(1) << 53;

/// The last note of errors about other programs.
static constexpr StringLiteral kHint =
    "a profile is of the operations that 'remat-run' executes: the input behind "
    "'--inline --symbol-dce --canonicalize --cse', and '--remat-fuse' unless it was run with "
    "'--fusion=none'";

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// What there is where a number is expected.
static std::string describe(const llvm::json::Value *value) {
  if (!value)
    return "nothing";
  std::optional<int64_t> number = value->getAsInteger();
  return number ? std::to_string(*number) : getKindName(*value).str();
}

/// Reads the operation at `index`.
static Expected<OperationTime> parseOperation(StringRef text, size_t index) {
  Expected<llvm::json::Value> value = parseJSON(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return makeError("expected an object, but got {0}", getKindName(*value));
  OperationTime operation;
  std::optional<StringRef> name = object->getString("name");
  if (!name)
    return makeError("expected the key 'name' with a string");
  operation.name = name->str();
  if (object->getInteger("index") != static_cast<int64_t>(index))
    return makeError("expected the key 'index' with {0}, but got {1}", index,
                     describe(object->get("index")));
  struct Key {
    const char *name;
    int64_t *number;
    int64_t largest;
  };
  for (const Key &key :
       {Key{"picoseconds", &operation.picoseconds, kMaxPicoseconds},
        Key{"executions", &operation.executions, std::numeric_limits<int64_t>::max()}}) {
    std::optional<int64_t> number = object->getInteger(key.name);
    if (!number || *number < 0 || *number > key.largest)
      return makeError("expected the key '{0}' with an integer from 0 to {1}, but got {2}",
                       key.name, key.largest, describe(object->get(key.name)));
    *key.number = *number;
  }
  return operation;
}

Expected<CostProfile> CostProfile::parse(StringRef text) {
  // Long arrays are read element by element: parsed objects are large.
  std::optional<JSONMembers> members = splitJSONObject(text);
  if (!members) {
    Expected<llvm::json::Value> value = parseJSON(text);
    if (!value)
      return value.takeError();
    return makeError("expected an object, but got {0}", getKindName(*value));
  }
  auto get = [&](StringRef key) {
    std::optional<StringRef> member = members->find(key);
    return member ? parseJSON(*member) : Expected<llvm::json::Value>(nullptr);
  };
  Expected<llvm::json::Value> version = get("version");
  if (!version)
    return version.takeError();
  Expected<llvm::json::Value> function = get("function");
  if (!function)
    return function.takeError();
  std::optional<StringRef> operations = members->find("operations");
  if (version->getAsInteger() != kVersion || !function->getAsString() || !operations ||
      !operations->ltrim().starts_with("["))
    return makeError("expected an object with \"version\": {0}, the name of a \"function\", and "
                     "an array \"operations\"",
                     kVersion);
  CostProfile profile;
  profile.function = function->getAsString()->str();
  Error error = Error::success();
  bool isArray = forEachJSONElement(*operations, [&](StringRef element) {
    size_t index = profile.operations.size();
    Expected<OperationTime> operation = parseOperation(element, index);
    if (!operation) {
      error = makeError("operations[{0}]: {1}", index, toString(operation.takeError()));
      return false;
    }
    profile.operations.push_back(std::move(*operation));
    return true;
  });
  if (error)
    return error;
  if (!isArray)
    return makeError("the array 'operations' ends too early");
  return profile;
}

Expected<CostProfile> CostProfile::read(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return makeError("cannot read the profile '{0}': {1}", path, buffer.getError().message());
  Expected<CostProfile> profile = parse((*buffer)->getBuffer());
  if (!profile)
    return makeError("the profile '{0}': {1}", path, toString(profile.takeError()));
  return profile;
}

void CostProfile::print(llvm::raw_ostream &os) const {
  os << llvm::formatv("{{\"version\": {0}, \"function\": {1}, \"operations\": [", kVersion,
                      llvm::json::Value(function));
  llvm::ListSeparator separator(",");
  for (auto [index, operation] : llvm::enumerate(operations))
    os << separator
       << llvm::formatv("\n  {{\"index\": {0}, \"name\": {1}, \"picoseconds\": {2}, "
                        "\"executions\": {3}}",
                        index, llvm::json::Value(operation.name), operation.picoseconds,
                        operation.executions);
  os << "]}\n";
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

FailureOr<llvm::DenseMap<Operation *, int64_t>>
mlir::remat::getMeasuredCosts(FunctionOpInterface function, const CostProfile &profile) {
  llvm::DenseMap<Operation *, int64_t> costs;
  if (function.getName() != profile.function || function.isExternal())
    return costs;
  auto &operations = function.getFunctionBody().front().getOperations();
  if (operations.size() != profile.operations.size()) {
    InFlightDiagnostic error = emitError(function.getLoc(), "the profile of function '")
                               << profile.function << "' has " << profile.operations.size()
                               << " operations, but the function has " << operations.size();
    error.attachNote() << kHint;
    return error;
  }
  for (auto [index, op, time] : llvm::enumerate(operations, profile.operations)) {
    if (op.getName().getStringRef() != time.name) {
      InFlightDiagnostic error = op.emitError("operation ")
                                 << index << " of function '" << profile.function << "' is '"
                                 << op.getName() << "', but '" << time.name << "' in its profile";
      error.attachNote() << kHint;
      return error;
    }
    if (time.executions != 0)
      costs[&op] = time.picoseconds;
  }
  return costs;
}
