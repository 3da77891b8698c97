//===- Serialization.cpp - Problems and plans as text -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the format of docs/problem-format.md. Reading only decides
// whether the text has the right form; whether the data make sense is decided
// by `check` and `verify`, which are always called.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Serialization.h"
#include "Detail.h"
#include "Remat/Support/JSON.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::remat;
using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;
namespace json = llvm::json;

namespace {

constexpr int64_t kVersion = 1;

llvm::StringRef toString(Effect effect) {
  switch (effect) {
  case Effect::Pure:
    return "pure";
  case Effect::Ordered:
    return "ordered";
  case Effect::Pinned:
    return "pinned";
  }
  llvm_unreachable("unknown effect");
}

llvm::StringRef toString(Policy policy) {
  switch (policy) {
  case Policy::None:
    return "none";
  case Policy::MustSave:
    return "must_save";
  case Policy::MustRecompute:
    return "must_recompute";
  }
  llvm_unreachable("unknown policy");
}

llvm::StringRef toString(Placement placement) {
  switch (placement) {
  case Placement::Own:
    return "own";
  case Placement::View:
    return "view";
  case Placement::Reuse:
    return "reuse";
  case Placement::None:
    return "none";
  }
  llvm_unreachable("unknown placement");
}

json::Array toArray(llvm::ArrayRef<int64_t> numbers) {
  json::Array array;
  array.reserve(numbers.size());
  for (int64_t number : numbers)
    array.push_back(number);
  return array;
}

/// Names come from anywhere; JSON is UTF-8.
std::string validUTF8(llvm::StringRef name) {
  return json::isUTF8(name) ? name.str() : json::fixUTF8(name);
}

json::Value toObject(const Value &value) {
  json::Object object{{"bytes", value.bytes}};
  if (!value.name.empty())
    object["name"] = validUTF8(value.name);
  if (value.placement != Placement::Own)
    object["placement"] = toString(value.placement);
  if (value.source != kNoValue)
    object["source"] = value.source;
  if (!value.isAwaitable)
    object["awaitable"] = false;
  return object;
}

json::Value toObject(const Operation &op) {
  json::Object object{{"cost", op.cost}};
  if (!op.name.empty())
    object["name"] = validUTF8(op.name);
  if (!op.reads.empty())
    object["reads"] = toArray(op.reads);
  if (!op.dependences.empty())
    object["dependences"] = toArray(op.dependences);
  if (!op.writes.empty())
    object["writes"] = toArray(op.writes);
  if (op.workspace)
    object["workspace"] = op.workspace;
  if (op.effect != Effect::Pure)
    object["effect"] = toString(op.effect);
  if (op.recomputable != (op.effect == Effect::Pure))
    object["recomputable"] = op.recomputable;
  if (op.policy != Policy::None)
    object["policy"] = toString(op.policy);
  if (!op.variants.empty()) {
    json::Array variants;
    for (const Variant &variant : op.variants)
      variants.push_back(json::Object{{"cost", variant.cost}, {"workspace", variant.workspace}});
    object["variants"] = std::move(variants);
  }
  return object;
}

/// The texts of long arrays in an object, by key; their elements are parsed one at
/// a time.
struct ArrayTexts {
  llvm::StringMap<llvm::StringRef> texts;
  /// Set when an element is not JSON.
  bool isMalformed = false;
};

/// Reads the keys of one object and remembers the first error with its place.
/// After an error everything reads as its default.
class ObjectReader {
public:
  /// `path` names the object in messages; empty for the whole text.
  /// `texts` has the elements of arrays that are empty in `value`.
  ObjectReader(const json::Value &value, std::string path, std::string &firstError,
               ArrayTexts *texts = nullptr)
      : object(value.getAsObject()), where(std::move(path)), error(firstError), arrays(texts) {
    if (!object)
      fail(where, "expected an object, but got {0}", getKindName(value));
  }

  int64_t integer(llvm::StringRef key, std::optional<int64_t> byDefault = std::nullopt) {
    const json::Value *value = get(key, byDefault.has_value());
    if (!value)
      return byDefault.value_or(0);
    std::optional<int64_t> result = value->getAsInteger();
    if (!result)
      fail(pathTo(key), "expected an integer, but got {0}", getKindName(*value));
    return result.value_or(0);
  }

  bool boolean(llvm::StringRef key, bool byDefault) {
    const json::Value *value = get(key, /*isOptional=*/true);
    if (!value)
      return byDefault;
    std::optional<bool> result = value->getAsBoolean();
    if (!result)
      fail(pathTo(key), "expected a boolean, but got {0}", getKindName(*value));
    return result.value_or(byDefault);
  }

  std::string string(llvm::StringRef key, llvm::StringRef byDefault = "") {
    const json::Value *value = get(key, /*isOptional=*/true);
    if (!value)
      return byDefault.str();
    std::optional<llvm::StringRef> result = value->getAsString();
    if (!result)
      fail(pathTo(key), "expected a string, but got {0}", getKindName(*value));
    return result.value_or(byDefault).str();
  }

  /// One of `values`, which `toString` names; the first one by default.
  template <typename Enum>
  Enum oneOf(llvm::StringRef key, std::initializer_list<Enum> values) {
    std::string text = string(key, toString(*values.begin()));
    std::string expected;
    for (Enum value : values) {
      if (text == toString(value))
        return value;
      expected += (expected.empty() ? "'" : ", '") + toString(value).str() + "'";
    }
    fail(pathTo(key), "expected one of {0}, but got '{1}'", expected, text);
    return *values.begin();
  }

  /// Appends the elements of an optional array.
  template <unsigned N>
  void integers(llvm::StringRef key, llvm::SmallVector<int64_t, N> &result) {
    const json::Array *elements = array(key, /*isOptional=*/true);
    if (!elements)
      return;
    for (const auto &[index, element] : llvm::enumerate(*elements)) {
      std::optional<int64_t> number = element.getAsInteger();
      if (!number)
        return fail(pathTo(key, index), "expected an integer, but got {0}", getKindName(element));
      result.push_back(*number);
    }
  }

  /// Calls `visit` with a reader of each element of an array of objects.
  template <typename Visit>
  void forEach(llvm::StringRef key, bool isOptional, Visit visit) {
    const json::Array *elements = array(key, isOptional);
    if (!elements)
      return;
    size_t index = 0;
    auto visitElement = [&](const json::Value &element) {
      ObjectReader reader(element, pathTo(key, index++), error);
      visit(reader);
      reader.finish();
      return error.empty();
    };
    if (!arrays || !arrays->texts.contains(key)) {
      llvm::all_of(*elements, visitElement);
      return;
    }
    bool isComplete = forEachJSONElement(arrays->texts.lookup(key), [&](llvm::StringRef text) {
      llvm::Expected<json::Value> element = parseJSON(text);
      if (element)
        return visitElement(*element);
      llvm::consumeError(element.takeError());
      return false;
    });
    if (!isComplete && error.empty()) {
      arrays->isMalformed = true;
      fail(pathTo(key), "is not JSON");
    }
  }

  /// Calls `visit` with a reader of an optional object.
  template <typename Visit>
  void optionalObject(llvm::StringRef key, Visit visit) {
    const json::Value *value = get(key, /*isOptional=*/true);
    if (!value)
      return;
    ObjectReader reader(*value, pathTo(key), error);
    visit(reader);
    reader.finish();
  }

  void version() {
    int64_t version = integer("version");
    if (version != kVersion)
      fail(pathTo("version"), "expected {0}, but got {1}", kVersion, version);
  }

  /// Complains about keys that nobody asked for. Call it last.
  void finish() {
    if (!object || !error.empty())
      return;
    // The first in alphabetical order: the order in the object is arbitrary.
    std::optional<llvm::StringRef> unknown;
    for (const auto &[key, value] : *object) {
      llvm::StringRef name = key;
      if (!llvm::is_contained(known, name) && (!unknown || name < *unknown))
        unknown = name;
    }
    if (unknown)
      fail(where, "unknown key '{0}'", *unknown);
  }

private:
  template <typename... Ts>
  void fail(const std::string &path, const char *format, Ts &&...values) {
    if (!error.empty())
      return;
    error = path.empty() ? "" : path + ": ";
    error += llvm::formatv(format, std::forward<Ts>(values)...).str();
  }

  std::string pathTo(llvm::StringRef key) const {
    return where.empty() ? key.str() : where + "." + key.str();
  }
  std::string pathTo(llvm::StringRef key, size_t index) const {
    return pathTo(key) + "[" + std::to_string(index) + "]";
  }

  /// The value of `key`, or null; it must exist unless it is optional.
  const json::Value *get(llvm::StringRef key, bool isOptional) {
    known.push_back(key);
    if (!error.empty() || !object)
      return nullptr;
    const json::Value *value = object->get(key);
    if (!value && !isOptional)
      fail(where, "missing key '{0}'", key);
    return value;
  }

  const json::Array *array(llvm::StringRef key, bool isOptional) {
    const json::Value *value = get(key, isOptional);
    if (!value)
      return nullptr;
    const json::Array *elements = value->getAsArray();
    if (!elements)
      fail(pathTo(key), "expected an array, but got {0}", getKindName(*value));
    return elements;
  }

  const json::Object *object;
  std::string where;
  std::string &error;
  ArrayTexts *arrays;
  /// The keys that were asked for.
  llvm::SmallVector<llvm::StringRef, 12> known;
};

/// Calls `visit` with a reader of the object `root`.
template <typename Visit>
llvm::Error read(const json::Value &root, ArrayTexts *arrays, Visit visit) {
  std::string error;
  ObjectReader reader(root, "", error, arrays);
  reader.version();
  visit(reader);
  reader.finish();
  if (!error.empty())
    return makeError("{0}", error);
  return llvm::Error::success();
}

/// The members of an object, without the elements of its arrays: these are left as
/// text in `arrays`. Nothing when the object is not JSON.
std::optional<json::Value> readOutline(const JSONMembers &members, ArrayTexts &arrays) {
  json::Object root;
  for (const auto &[key, text] : members.members) {
    if (text.ltrim(" \t\r\n").starts_with("[")) {
      arrays.texts[key] = text;
      root[key] = json::Array();
      continue;
    }
    llvm::Expected<json::Value> value = parseJSON(text);
    if (!value) {
      llvm::consumeError(value.takeError());
      return std::nullopt;
    }
    root[key] = std::move(*value);
  }
  return json::Value(std::move(root));
}

/// Parses `text` and calls `visit` with a reader of the object that it is, and a
/// `result` to fill in. Elements of the object's arrays are parsed one at a time, as
/// long as they are JSON; only the whole text says where it is not.
template <typename Result, typename Visit>
llvm::Expected<Result> read(llvm::StringRef text, Visit visit) {
  if (std::optional<JSONMembers> members = splitJSONObject(text)) {
    ArrayTexts arrays;
    if (std::optional<json::Value> root = readOutline(*members, arrays)) {
      Result result;
      llvm::Error error =
          read(*root, &arrays, [&](ObjectReader &reader) { visit(reader, result); });
      if (!error)
        return result;
      if (!arrays.isMalformed)
        return error;
      llvm::consumeError(std::move(error));
    }
  }
  llvm::Expected<json::Value> root = parseJSON(text);
  if (!root)
    return root.takeError();
  Result result;
  if (llvm::Error error =
          read(*root, nullptr, [&](ObjectReader &reader) { visit(reader, result); }))
    return error;
  return result;
}

void readValue(ObjectReader &reader, Value &value) {
  value.name = reader.string("name");
  value.bytes = reader.integer("bytes");
  value.placement = reader.oneOf(
      "placement", {Placement::Own, Placement::View, Placement::Reuse, Placement::None});
  value.source = reader.integer("source", kNoValue);
  value.isAwaitable = reader.boolean("awaitable", true);
}

void readOperation(ObjectReader &reader, Operation &op) {
  op.name = reader.string("name");
  reader.integers("reads", op.reads);
  reader.integers("dependences", op.dependences);
  reader.integers("writes", op.writes);
  op.cost = reader.integer("cost");
  op.workspace = reader.integer("workspace", 0);
  op.effect = reader.oneOf("effect", {Effect::Pure, Effect::Ordered, Effect::Pinned});
  op.recomputable = reader.boolean("recomputable", op.effect == Effect::Pure);
  op.policy = reader.oneOf("policy", {Policy::None, Policy::MustSave, Policy::MustRecompute});
  reader.forEach("variants", /*isOptional=*/true, [&](ObjectReader &variant) {
    int64_t cost = variant.integer("cost"), workspace = variant.integer("workspace", 0);
    op.variants.push_back({cost, workspace});
  });
}

void readProblem(ObjectReader &root, Problem &problem) {
  problem.alignment = root.integer("alignment", 1);
  root.forEach("values", /*isOptional=*/false,
               [&](ObjectReader &reader) { readValue(reader, problem.values.emplace_back()); });
  root.forEach("operations", /*isOptional=*/false, [&](ObjectReader &reader) {
    OpIndex index = problem.operations.size();
    Operation &op = problem.operations.emplace_back();
    readOperation(reader, op);
    // The first one counts; `check` complains about another one.
    for (ValueIndex value : op.writes)
      if (0 <= value && value < int64_t(problem.values.size()) &&
          problem.values[value].producer == kBoundary)
        problem.values[value].producer = index;
  });
}

void readPlan(ObjectReader &root, Plan &plan) {
  root.forEach("steps", /*isOptional=*/false, [&](ObjectReader &reader) {
    Step &step = plan.steps.emplace_back();
    step.op = reader.integer("op");
    step.isClone = reader.boolean("clone", false);
    reader.integers("reads", step.reads);
    reader.integers("dependences", step.dependences);
    step.variant = reader.integer("variant", 0);
  });
  root.forEach("regions", /*isOptional=*/true, [&](ObjectReader &reader) {
    Region &region = plan.regions.emplace_back();
    region.begin = reader.integer("begin");
    region.end = reader.integer("end");
    reader.optionalObject("after", [&](ObjectReader &after) {
      region.after.value = after.integer("value");
      region.after.step = after.integer("step");
    });
  });
}

/// How people read a value: its name, or its index.
std::string nameOf(const Problem &problem, ValueIndex value) {
  const std::string &name = problem.values[value].name;
  return name.empty() ? "%" + std::to_string(value) : name;
}

std::string nameOf(const Problem &problem, const ValueInstance &instance) {
  std::string name = nameOf(problem, instance.value);
  return instance.step == kBoundary ? name : name + "@" + std::to_string(instance.step);
}

} // namespace

json::Value mlir::remat::planner::toJSON(const Problem &problem) {
  json::Array values, operations;
  values.reserve(problem.values.size());
  for (const Value &value : problem.values)
    values.push_back(toObject(value));
  operations.reserve(problem.operations.size());
  for (const Operation &op : problem.operations)
    operations.push_back(toObject(op));
  return json::Object{{"version", kVersion},
                      {"alignment", problem.alignment},
                      {"values", std::move(values)},
                      {"operations", std::move(operations)}};
}

void mlir::remat::planner::writeJSON(const Problem &problem, llvm::raw_ostream &os) {
  os << "{\"alignment\":" << problem.alignment << ",\n\"operations\":[";
  llvm::interleave(
      problem.operations, os, [&](const Operation &op) { os << '\n'
                                                            << toObject(op); }, ",");
  os << "],\n\"values\":[";
  llvm::interleave(
      problem.values, os, [&](const Value &value) { os << '\n'
                                                       << toObject(value); }, ",");
  os << "],\n\"version\":" << kVersion << "}\n";
}

json::Value mlir::remat::planner::toJSON(const Plan &plan) {
  json::Array steps;
  steps.reserve(plan.steps.size());
  for (const Step &step : plan.steps) {
    json::Object object{{"op", step.op}};
    if (step.isClone)
      object["clone"] = true;
    if (!step.reads.empty())
      object["reads"] = toArray(step.reads);
    if (!step.dependences.empty())
      object["dependences"] = toArray(step.dependences);
    if (step.variant)
      object["variant"] = step.variant;
    steps.push_back(std::move(object));
  }
  json::Array regions;
  regions.reserve(plan.regions.size());
  for (const Region &region : plan.regions) {
    json::Object object{{"begin", region.begin}, {"end", region.end}};
    if (region.after.value != kNoValue)
      object["after"] = json::Object{{"value", region.after.value}, {"step", region.after.step}};
    regions.push_back(std::move(object));
  }
  return json::Object{
      {"version", kVersion}, {"steps", std::move(steps)}, {"regions", std::move(regions)}};
}

llvm::Expected<Problem> mlir::remat::planner::parseProblem(llvm::StringRef text) {
  llvm::Expected<Problem> problem = read<Problem>(text, readProblem);
  if (!problem)
    return problem.takeError();
  if (llvm::Error invalid = check(*problem))
    return invalid;
  return problem;
}

llvm::Expected<Plan> mlir::remat::planner::parsePlan(llvm::StringRef text, const Problem &problem) {
  llvm::Expected<Plan> plan = read<Plan>(text, readPlan);
  if (!plan)
    return plan.takeError();
  if (llvm::Error invalid = verify(problem, *plan))
    return invalid;
  return plan;
}

void mlir::remat::planner::print(const Problem &problem, const Plan &plan, llvm::raw_ostream &os) {
  Simulation simulation = simulate(problem, plan);
  PackedPlan packed = pack(problem, plan, simulation);
  auto region = plan.regions.begin();
  for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index) {
    if (region != plan.regions.end() && region->begin == index) {
      os << "region of " << region->end - region->begin << " steps";
      if (region->after.value != kNoValue)
        os << " after " << nameOf(problem, region->after);
      os << '\n';
      ++region;
    }
    const Step &step = plan.steps[index];
    const Operation &op = problem.operations[step.op];
    os << index << ": " << (step.isClone ? "clone " : "");
    if (step.variant)
      os << "variant " << step.variant << " of ";
    os << (op.name.empty() ? "op" + std::to_string(step.op) : op.name) << '(';
    llvm::interleaveComma(llvm::zip_equal(op.reads, step.reads), os, [&](auto read) {
      os << nameOf(problem, ValueInstance{std::get<0>(read), std::get<1>(read)});
    });
    os << ')';
    if (!op.writes.empty()) {
      os << " -> ";
      llvm::interleaveComma(op.writes, os, [&](ValueIndex value) { os << nameOf(problem, value); });
    }
    os << ", live " << simulation.liveBytes[index] << " bytes\n";
  }
  os << "peak " << simulation.livePeak << " bytes";
  if (!plan.steps.empty())
    os << " at step " << simulation.peakStep;
  os << ", cost " << simulation.cost << " ps, packed " << packed.packedBytes << " bytes\n";
}
