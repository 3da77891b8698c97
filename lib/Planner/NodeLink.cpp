//===- NodeLink.cpp - Graphs in networkx's node-link form -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/NodeLink.h"
#include "Detail.h"
#include "Remat/Support/JSON.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir::remat;
using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;
namespace json = llvm::json;

namespace {

/// An array, parsed or as text whose elements are parsed one at a time.
struct Elements {
  const json::Array *array = nullptr;
  llvm::StringRef text;
};

class NodeLinkReader {
public:
  llvm::Expected<NodeLinkGraph> read(const json::Value &root) {
    const json::Object *object = root.getAsObject();
    const json::Array *nodes = object ? object->getArray("nodes") : nullptr;
    const json::Array *links = object ? object->getArray("links") : nullptr;
    if (object && !links)
      links = object->getArray("edges");
    if (!nodes || !links)
      return makeError("expected an object with the arrays 'nodes' and 'links'");
    return read({nodes, ""}, {links, ""}, object->get("graph"));
  }

  /// The same for an object of which only the text is there. Nothing where a part of
  /// it has another form.
  std::optional<llvm::Expected<NodeLinkGraph>> read(const JSONMembers &object) {
    std::optional<llvm::StringRef> nodes, links;
    json::Object others;
    for (const auto &[key, text] : object.members) {
      bool isArray = text.ltrim(" \t\r\n").starts_with("[");
      if (isArray && key == "nodes") {
        nodes = text;
      } else if (isArray && key == "links") {
        links = text;
      } else {
        llvm::Expected<json::Value> value = parseJSON(text);
        if (value)
          others[key] = std::move(*value);
        else
          return llvm::consumeError(value.takeError()), std::nullopt;
      }
    }
    if (!nodes || !links)
      return std::nullopt;
    llvm::Expected<NodeLinkGraph> result =
        read({nullptr, *nodes}, {nullptr, *links}, others.get("graph"));
    if (!isMalformed)
      return result;
    llvm::consumeError(result.takeError());
    return std::nullopt;
  }

private:
  llvm::Expected<NodeLinkGraph> read(Elements nodes, Elements links, const json::Value *graphKey) {
    const json::Object *attributes = graphKey ? graphKey->getAsObject() : nullptr;
    if (llvm::Error error = readNodes(nodes, attributes ? attributes->get("order") : nullptr))
      return error;
    if (llvm::Error error = readLinks(links))
      return error;
    addEnd();
    if (llvm::Error error = check(graph.problem))
      return error;
    return std::move(graph);
  }

  /// Calls `visit` with the index of each element and the object that it is.
  llvm::Error forEach(const Elements &elements, const char *kind,
                      llvm::function_ref<llvm::Error(size_t, const json::Object &)> visit) {
    size_t index = 0;
    llvm::Error error = llvm::Error::success();
    auto visitElement = [&](const json::Value &element) {
      const json::Object *object = element.getAsObject();
      llvm::consumeError(std::move(error));
      error = object ? visit(index, *object) : makeError("{0} {1} is no object", kind, index);
      ++index;
      return !error;
    };
    if (elements.array) {
      llvm::all_of(*elements.array, visitElement);
      return error;
    }
    bool isComplete = forEachJSONElement(elements.text, [&](llvm::StringRef text) {
      llvm::Expected<json::Value> element = parseJSON(text);
      if (element)
        return visitElement(*element);
      llvm::consumeError(element.takeError());
      return false;
    });
    if (isComplete || error)
      return error;
    isMalformed = true;
    return makeError("{0} {1} is not JSON", kind, index);
  }

  /// An id: a string or an integer.
  static std::optional<std::string> toId(const json::Value *value) {
    if (!value)
      return std::nullopt;
    if (std::optional<llvm::StringRef> text = value->getAsString())
      return text->str();
    if (std::optional<int64_t> number = value->getAsInteger())
      return std::to_string(*number);
    return std::nullopt;
  }

  static std::optional<int64_t> getNumber(const json::Object &node,
                                          std::initializer_list<llvm::StringRef> keys) {
    for (llvm::StringRef key : keys)
      if (const json::Value *value = node.get(key)) {
        std::optional<int64_t> number = value->getAsInteger();
        return number && *number >= 0 ? number : std::nullopt;
      }
    return std::nullopt;
  }

  llvm::Error readNodes(const Elements &nodes, const json::Value *order) {
    struct Node {
      std::string id, name;
      int64_t bytes, cost;
    };
    std::vector<Node> unordered;
    llvm::StringMap<size_t> positions;
    auto readNode = [&](size_t index, const json::Object &object) -> llvm::Error {
      std::optional<std::string> id = toId(object.get("id")), name = toId(object.get("name"));
      std::optional<int64_t> bytes = getNumber(object, {"cost_ram", "out_cost"});
      std::optional<int64_t> cost = getNumber(object, {"cost_cpu", "duration"});
      if (!id)
        id = name;
      if (!id)
        return makeError("node {0} has no 'id'", index);
      if (!bytes || !cost)
        return makeError("node '{0}' needs {1}, an integer of at least 0", *id,
                         bytes ? "'cost_cpu' or 'duration'" : "'cost_ram' or 'out_cost'");
      if (!positions.try_emplace(*id, index).second)
        return makeError("node '{0}' is there twice", *id);
      unordered.push_back({*id, name.value_or(*id), *bytes, *cost});
      return llvm::Error::success();
    };
    if (llvm::Error error = forEach(nodes, "node", readNode))
      return error;

    std::vector<size_t> sequence;
    if (order) {
      const json::Array *ids = order->getAsArray();
      std::vector<bool> isListed(unordered.size());
      if (!ids || ids->size() != unordered.size())
        return makeError("expected 'graph.order' to list each of the {0} nodes once",
                         unordered.size());
      for (const json::Value &value : *ids) {
        std::optional<std::string> id = toId(&value);
        auto it = id ? positions.find(*id) : positions.end();
        if (it == positions.end() || isListed[it->second])
          return makeError("'graph.order' lists {0}, which is no node or is listed twice",
                           id.value_or("no id"));
        isListed[it->second] = true;
        sequence.push_back(it->second);
      }
    } else {
      for (size_t index = 0; index < unordered.size(); ++index)
        sequence.push_back(index);
    }

    Problem &problem = graph.problem;
    for (auto [index, position] : llvm::enumerate(sequence)) {
      const Node &node = unordered[position];
      indices[node.id] = index;
      Value value;
      value.name = node.name;
      value.bytes = node.bytes;
      value.producer = index;
      problem.values.push_back(std::move(value));
      Operation operation;
      operation.name = node.name;
      operation.cost = node.cost;
      operation.recomputable = true;
      operation.writes.push_back(index);
      problem.operations.push_back(std::move(operation));
      graph.ids.push_back(node.id);
    }
    return llvm::Error::success();
  }

  llvm::Error readLinks(const Elements &links) {
    llvm::DenseSet<std::pair<ValueIndex, OpIndex>> seen;
    return forEach(links, "link", [&](size_t index, const json::Object &object) -> llvm::Error {
      bool isNamed = object.get("source");
      std::optional<std::string> source = toId(object.get(isNamed ? "source" : "0"));
      std::optional<std::string> target = toId(object.get(isNamed ? "target" : "1"));
      auto from = source ? indices.find(*source) : indices.end();
      auto to = target ? indices.find(*target) : indices.end();
      if (from == indices.end() || to == indices.end())
        return makeError("link {0} has an end that is no node", index);
      if (from->second >= to->second)
        return makeError("the input order has node '{0}' before '{1}', which it reads", *target,
                         *source);
      if (seen.insert({from->second, to->second}).second)
        graph.problem.operations[to->second].reads.push_back(from->second);
      return llvm::Error::success();
    });
  }

  void addEnd() {
    Problem &problem = graph.problem;
    std::vector<bool> isRead(problem.values.size());
    for (const Operation &operation : problem.operations)
      for (ValueIndex value : operation.reads)
        isRead[value] = true;
    Operation end;
    end.name = "end";
    end.effect = Effect::Pinned;
    end.recomputable = false;
    for (ValueIndex value = 0, e = problem.values.size(); value < e; ++value)
      if (!isRead[value])
        end.dependences.push_back(value);
    problem.operations.push_back(std::move(end));
  }

  NodeLinkGraph graph;
  llvm::StringMap<ValueIndex> indices;
  /// Whether an element of an array in text is not JSON.
  bool isMalformed = false;
};
} // namespace

llvm::Expected<NodeLinkGraph> mlir::remat::planner::parseNodeLink(llvm::StringRef text) {
  // Elements are parsed one at a time where that is possible; only the whole text says
  // where it is no JSON.
  if (std::optional<JSONMembers> object = splitJSONObject(text))
    if (std::optional<llvm::Expected<NodeLinkGraph>> graph = NodeLinkReader().read(*object))
      return std::move(*graph);
  llvm::Expected<json::Value> root = parseJSON(text);
  if (!root)
    return root.takeError();
  return NodeLinkReader().read(*root);
}

bool mlir::remat::planner::isNodeLink(llvm::StringRef text) {
  std::optional<JSONMembers> object = splitJSONObject(text);
  return object && object->find("nodes");
}

std::vector<std::string> mlir::remat::planner::getSchedule(const NodeLinkGraph &graph,
                                                           const Plan &plan) {
  std::vector<std::string> schedule;
  for (const Step &step : plan.steps)
    if (step.op < OpIndex(graph.ids.size()))
      schedule.push_back(graph.ids[step.op]);
  return schedule;
}
