//===- Trace.cpp - Logs of tensor programs ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name in a log stands for a tensor, a tensor for some of the bytes of a storage.
// A storage has a current version: the value that holds all of its contents. A
// mutation makes a new version. A tensor that is a part of the storage becomes a view
// of a version when it is read. Every value is thus written once, and a clone that
// needs old contents names the version that it needs.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Trace.h"
#include "Detail.h"
#include "Remat/Support/JSON.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir::remat;
using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;
namespace json = llvm::json;

/// Whether an operation of PyTorch draws from the hidden state of a generator, as far
/// as its name says.
static bool drawsRandomNumbers(llvm::StringRef name) {
  // "droupout" is how PyTorch 1.7 and the logs spell it.
  static constexpr llvm::StringLiteral parts[] = {
      "bernoulli",  "cauchy",      "dropout", "droupout", "exponential", "geometric",
      "log_normal", "multinomial", "poisson", "rand",     "rrelu",       "uniform"};
  // Gradients read what was drawn.
  if (name.contains("backward"))
    return false;
  return name == "normal" || name == "normal_" ||
         llvm::any_of(parts, [&](llvm::StringRef part) { return name.contains(part); });
}

namespace {

class TraceReader {
public:
  llvm::Expected<Problem> read(llvm::StringRef text) {
    for (int64_t number = 1; !text.empty(); ++number) {
      auto [line, rest] = text.split('\n');
      text = rest;
      if (line.trim().empty())
        continue;
      llvm::Error error = readLine(line);
      if (error)
        return makeError("line {0}: {1}", number, toString(std::move(error)));
    }
    if (llvm::Error error = finishDefinitions())
      return makeError("at the end: {0}", toString(std::move(error)));
    addEnd();
    if (llvm::Error error = check(problem))
      return error;
    return std::move(problem);
  }

private:
  using TensorIndex = int64_t;
  using StorageIndex = int64_t;

  struct Tensor {
    std::string name;
    int64_t bytes = -1;
    StorageIndex storage = -1;
    /// Whether it shows a part of a storage; otherwise it is all of one.
    bool isView = false;
    /// Of a view: the argument of its call that it is an alias of, until this call is
    /// complete, and the call's name.
    int64_t aliased = -1;
    std::string callName;
    /// Of a view: its last value, and the version of the storage that this shows.
    ValueIndex value = kNoValue;
    int64_t version = -1;
  };
  struct Storage {
    /// The tensor that is all of it.
    TensorIndex root;
    /// The contents, and how often they were mutated.
    ValueIndex value;
    int64_t version = 0;
    /// By the operation that is being read.
    bool isMutated = false;
  };

  //===--------------------------------------------------------------------===//
  // Lines
  //===--------------------------------------------------------------------===//

  llvm::Error readLine(llvm::StringRef line) {
    llvm::Expected<json::Value> root = parseJSON(line);
    if (!root)
      return root.takeError();
    const json::Object *object = root->getAsObject();
    if (!object)
      return makeError("expected an object, but got {0}", getKindName(*root));
    llvm::Expected<llvm::StringRef> kind = getString(*object, "INSTRUCTION");
    if (!kind)
      return kind.takeError();
    if (*kind == "MEMORY")
      return readMemory(*object);
    if (*kind == "ALIAS")
      return readAlias(*object);
    if (llvm::Error error = finishDefinitions())
      return error;
    if (*kind == "CONSTANT")
      return readConstant(*object);
    if (*kind == "CALL")
      return readCall(*object);
    if (*kind == "COPY")
      return readCopy(*object);
    if (*kind == "MUTATE")
      return readMutate(*object);
    if (*kind == "RELEASE")
      return readRelease(*object);
    if (*kind == "ANNOTATE")
      return llvm::Error::success();
    return makeError("unknown instruction '{0}'", *kind);
  }

  static llvm::Expected<llvm::StringRef> getString(const json::Object &object,
                                                   llvm::StringRef key) {
    if (std::optional<llvm::StringRef> text = object.getString(key))
      return *text;
    return makeError("expected a string as '{0}'", key);
  }

  /// A number, as the logs write it: in quotes or without.
  static std::optional<int64_t> toInteger(const json::Value &value) {
    int64_t number;
    if (std::optional<llvm::StringRef> text = value.getAsString())
      return llvm::to_integer(*text, number, 10) ? std::optional(number) : std::nullopt;
    return value.getAsInteger();
  }

  static llvm::Expected<int64_t> getInteger(const json::Object &object, llvm::StringRef key,
                                            int64_t least, int64_t most) {
    const json::Value *value = object.get(key);
    std::optional<int64_t> number = value ? toInteger(*value) : std::nullopt;
    if (number && least <= *number && *number <= most)
      return *number;
    return makeError("expected an integer from {0} to {1} as '{2}'", least, most, key);
  }

  static llvm::Expected<const json::Array *> getArray(const json::Object &object,
                                                      llvm::StringRef key) {
    if (const json::Array *array = object.getArray(key))
      return array;
    return makeError("expected an array as '{0}'", key);
  }

  llvm::Expected<TensorIndex> lookUp(llvm::StringRef name) const {
    auto it = tensorOf.find(name);
    if (it == tensorOf.end())
      return makeError("there is no tensor '{0}'", name);
    return it->second;
  }
  llvm::Expected<TensorIndex> getTensor(const json::Object &object, llvm::StringRef key) const {
    llvm::Expected<llvm::StringRef> name = getString(object, key);
    if (!name)
      return name.takeError();
    return lookUp(*name);
  }

  llvm::Error addName(llvm::StringRef name, TensorIndex tensor) {
    if (tensorOf.try_emplace(name, tensor).second)
      return llvm::Error::success();
    return makeError("there is a tensor '{0}' already", name);
  }

  llvm::Error addTensor(llvm::StringRef name) {
    TensorIndex tensor = tensors.size();
    if (llvm::Error error = addName(name, tensor))
      return error;
    tensors.emplace_back().name = name.str();
    described.push_back(tensor);
    return llvm::Error::success();
  }

  llvm::Error readConstant(const json::Object &object) {
    llvm::Expected<llvm::StringRef> name = getString(object, "NAME");
    if (!name)
      return name.takeError();
    return addTensor(*name);
  }

  /// The tensor of the last constant or call that a line says more about.
  llvm::Expected<TensorIndex> getDescribed(const json::Object &object) const {
    llvm::Expected<TensorIndex> tensor = getTensor(object, "NAME");
    if (tensor && (described.empty() || *tensor < described.front()))
      return makeError("'{0}' is no result of the line that it belongs to", tensors[*tensor].name);
    return tensor;
  }

  llvm::Error readMemory(const json::Object &object) {
    llvm::Expected<TensorIndex> tensor = getDescribed(object);
    if (!tensor)
      return tensor.takeError();
    llvm::Expected<int64_t> bytes = getInteger(object, "MEMORY", 0, kMaxProblemSum);
    if (!bytes)
      return bytes.takeError();
    tensors[*tensor].bytes = *bytes;
    return llvm::Error::success();
  }

  llvm::Error readAlias(const json::Object &object) {
    llvm::Expected<TensorIndex> tensor = getDescribed(object);
    if (!tensor)
      return tensor.takeError();
    llvm::Expected<int64_t> argument =
        getInteger(object, "ALIAS", -1, static_cast<int64_t>(arguments.size()) - 1);
    if (!argument)
      return argument.takeError();
    tensors[*tensor].aliased = *argument;
    tensors[*tensor].isView = *argument >= 0;
    return llvm::Error::success();
  }

  llvm::Error readCopy(const json::Object &object) {
    llvm::Expected<TensorIndex> source = getTensor(object, "SRC");
    if (!source)
      return source.takeError();
    llvm::Expected<llvm::StringRef> name = getString(object, "DST");
    if (!name)
      return name.takeError();
    return addName(*name, *source);
  }

  llvm::Error readRelease(const json::Object &object) {
    llvm::Expected<llvm::StringRef> name = getString(object, "NAME");
    if (!name)
      return name.takeError();
    if (tensorOf.erase(*name))
      return llvm::Error::success();
    return makeError("there is no tensor '{0}'", *name);
  }

  /// Reads name, time and arguments of an operation.
  llvm::Expected<Operation> readOperation(const json::Object &object) {
    llvm::Expected<llvm::StringRef> name = getString(object, "NAME");
    if (!name)
      return name.takeError();
    llvm::Expected<int64_t> nanoseconds = getInteger(object, "TIME", 0, kMaxProblemSum / 1000);
    if (!nanoseconds)
      return nanoseconds.takeError();
    llvm::Expected<const json::Array *> names = getArray(object, "ARGS");
    if (!names)
      return names.takeError();
    for (const json::Value &element : **names) {
      std::optional<llvm::StringRef> argument = element.getAsString();
      if (!argument)
        return makeError("expected a string in 'ARGS', but got {0}", getKindName(element));
      llvm::Expected<TensorIndex> tensor = lookUp(*argument);
      if (!tensor)
        return tensor.takeError();
      arguments.push_back(*tensor);
    }
    Operation op;
    op.name = name->str();
    op.cost = *nanoseconds * 1000;
    if (drawsRandomNumbers(op.name))
      setOrdered(op);
    return op;
  }

  llvm::Error readCall(const json::Object &object) {
    llvm::Expected<Operation> op = readOperation(object);
    if (!op)
      return op.takeError();
    llvm::Expected<const json::Array *> results = getArray(object, "RESULT");
    if (!results)
      return results.takeError();
    // Whatever an operation without results is good for, it is an effect.
    if ((*results)->empty())
      setOrdered(*op);
    for (const json::Value &element : **results) {
      std::optional<llvm::StringRef> name = element.getAsString();
      if (!name)
        return makeError("expected a string in 'RESULT', but got {0}", getKindName(element));
      if (llvm::Error error = addTensor(*name))
        return error;
    }
    call = std::move(*op);
    return llvm::Error::success();
  }

  llvm::Error readMutate(const json::Object &object) {
    llvm::Expected<Operation> op = readOperation(object);
    if (!op)
      return op.takeError();
    llvm::Expected<const json::Array *> positions = getArray(object, "MUTATE");
    if (!positions)
      return positions.takeError();
    llvm::SmallVector<StorageIndex> mutated;
    for (const json::Value &element : **positions) {
      std::optional<int64_t> position = toInteger(element);
      if (!position || *position < 0 || *position >= static_cast<int64_t>(arguments.size()))
        return makeError("expected 'MUTATE' to hold positions in 'ARGS'");
      StorageIndex storage = tensors[arguments[*position]].storage;
      if (!storages[storage].isMutated)
        mutated.push_back(storage);
      storages[storage].isMutated = true;
    }
    addMutation(std::move(*op), mutated);
    arguments.clear();
    return llvm::Error::success();
  }

  //===--------------------------------------------------------------------===//
  // The problem
  //===--------------------------------------------------------------------===//

  static void setOrdered(Operation &op) {
    op.effect = Effect::Ordered;
    op.recomputable = false;
  }

  OpIndex addOperation(Operation op) {
    problem.operations.push_back(std::move(op));
    return static_cast<OpIndex>(problem.operations.size()) - 1;
  }

  /// Adds a value that the operation `producer` defines, or the boundary.
  ValueIndex addValue(OpIndex producer, std::string name, int64_t bytes, Placement placement,
                      ValueIndex source) {
    ValueIndex index = problem.values.size();
    Value value;
    value.name = std::move(name);
    value.bytes = bytes;
    value.placement = placement;
    value.source = source;
    value.producer = producer;
    problem.values.push_back(std::move(value));
    readBy.push_back(kBoundary);
    if (producer != kBoundary)
      problem.operations[producer].writes.push_back(index);
    return index;
  }

  /// Adds a value to the reads of the operation that is added next, once.
  void addRead(Operation &op, ValueIndex value) {
    OpIndex next = problem.operations.size();
    if (readBy[value] != next)
      op.reads.push_back(value);
    readBy[value] = next;
  }

  /// Adds the values of `arguments` to the reads of the operation that is added next.
  void addReads(Operation &op) {
    // First all views that are not there yet, which are operations, too.
    for (TensorIndex tensor : arguments)
      if (!storages[tensors[tensor].storage].isMutated)
        argumentValues.push_back(getValue(tensor));
    for (ValueIndex value : argumentValues)
      addRead(op, value);
  }

  /// The value of a tensor as its storage is now; adds an operation when that is a view
  /// that is not there yet.
  ValueIndex getValue(TensorIndex index) {
    Tensor &tensor = tensors[index];
    const Storage &storage = storages[tensor.storage];
    if (!tensor.isView)
      return storage.value;
    if (tensor.version == storage.version)
      return tensor.value;
    Operation op;
    op.name = tensor.callName;
    addRead(op, storage.value);
    tensor.value = addValue(addOperation(std::move(op)), getName(tensor, storage.version),
                            tensor.bytes, Placement::View, storage.value);
    tensor.version = storage.version;
    return tensor.value;
  }

  static std::string getName(const Tensor &tensor, int64_t version) {
    return version == 0 ? tensor.name : tensor.name + "#" + std::to_string(version);
  }

  /// Adds an operation that defines new contents of the storages `mutated`.
  void addMutation(Operation op, llvm::ArrayRef<StorageIndex> mutated) {
    if (mutated.empty())
      setOrdered(op);
    addReads(op);
    // What it does not overwrite stays, so it reads all of a storage; it reads no view
    // of one beside that.
    for (StorageIndex storage : mutated)
      addRead(op, storages[storage].value);
    OpIndex producer = addOperation(std::move(op));
    for (StorageIndex index : mutated) {
      Storage &storage = storages[index];
      const Tensor &root = tensors[storage.root];
      storage.value = addValue(producer, getName(root, ++storage.version), root.bytes,
                               Placement::Reuse, storage.value);
      storage.isMutated = false;
    }
    argumentValues.clear();
  }

  /// Completes the last constant or the last call, about whose results MEMORY and ALIAS
  /// have said everything.
  llvm::Error finishDefinitions() {
    for (TensorIndex index : described)
      if (tensors[index].bytes < 0)
        return makeError("nothing says how many bytes '{0}' has", tensors[index].name);
    auto isView = [&](TensorIndex index) { return tensors[index].isView; };
    bool computes = call && (described.empty() || !llvm::all_of(described, isView));
    OpIndex producer = kBoundary;
    std::string name = call ? call->name : "";
    if (computes) {
      addReads(*call);
      producer = addOperation(std::move(*call));
    }
    for (TensorIndex index : described) {
      Tensor &tensor = tensors[index];
      if (!tensor.isView) {
        tensor.storage = storages.size();
        storages.push_back(
            {index, addValue(producer, tensor.name, tensor.bytes, Placement::Own, kNoValue)});
        continue;
      }
      tensor.storage = tensors[arguments[tensor.aliased]].storage;
      tensor.callName = name;
      if (!computes)
        continue;
      tensor.version = storages[tensor.storage].version;
      tensor.value = addValue(producer, getName(tensor, tensor.version), tensor.bytes,
                              Placement::View, argumentValues[tensor.aliased]);
    }
    described.clear();
    arguments.clear();
    argumentValues.clear();
    call.reset();
    return llvm::Error::success();
  }

  /// Adds the terminator.
  void addEnd() {
    std::vector<bool> isResult(tensors.size());
    for (const auto &entry : tensorOf)
      isResult[entry.second] = true;
    std::vector<ValueIndex> results;
    for (TensorIndex tensor = 0, e = tensors.size(); tensor < e; ++tensor)
      if (isResult[tensor])
        results.push_back(getValue(tensor));
    Operation end;
    end.name = "end";
    end.effect = Effect::Pinned;
    end.recomputable = false;
    for (ValueIndex value : results)
      if (problem.values[value].producer != kBoundary)
        addRead(end, value);
    auto isUnread = [&](ValueIndex value) { return readBy[value] == kBoundary; };
    for (const Operation &op : problem.operations)
      if (!op.writes.empty() && llvm::all_of(op.writes, isUnread))
        end.dependences.push_back(op.writes.front());
    addOperation(std::move(end));
  }

  Problem problem;
  std::vector<Tensor> tensors;
  std::vector<Storage> storages;
  llvm::StringMap<TensorIndex> tensorOf;
  /// By value: the last operation that reads it.
  std::vector<OpIndex> readBy;

  /// The last constant or call, until it is complete: the operation of a call, its
  /// arguments and their values, and the tensors that it defines.
  std::optional<Operation> call;
  std::vector<TensorIndex> arguments;
  std::vector<ValueIndex> argumentValues;
  std::vector<TensorIndex> described;
};

} // namespace

bool mlir::remat::planner::isTrace(llvm::StringRef text) {
  llvm::StringRef line = text.ltrim().split('\n').first;
  std::optional<JSONMembers> members = splitJSONObject(line);
  return members && members->find("INSTRUCTION");
}

llvm::Expected<Problem> mlir::remat::planner::parseTrace(llvm::StringRef text) {
  return TraceReader().read(text);
}
