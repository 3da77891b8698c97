//===- Inline.cpp - Bodies in place of calls of private functions -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes from what stays to what it calls: a call becomes a copy of the body as it was in
// the input, and the calls in that copy come next. So every operation of the result is
// made once, however deep the calls are, and nothing recurses over them. What a call
// becomes in the end is counted before, from callees to callers.
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Inline.h"

#include "Remat/Interfaces/RematOpInterface.h"
#include "Remat/Transforms/SymbolReferences.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/GraphTraits.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

using namespace mlir;
using namespace mlir::remat;

/// Larger numbers of operations are not told apart.
static constexpr int64_t kUncountableOperations = int64_t(1) << 40;

/// Attributes that say nothing of a private function once it is a part of its caller.
static bool isHarmless(NamedAttribute attribute) {
  StringRef name = attribute.getName();
  return name.starts_with("jax.") || name == "tf.aliasing_output";
}

static bool isHarmless(ArrayAttr attributesOfEach) {
  return !attributesOfEach || llvm::all_of(attributesOfEach, [](Attribute attributes) {
    return llvm::all_of(cast<DictionaryAttr>(attributes),
                        [](NamedAttribute attribute) { return isHarmless(attribute); });
  });
}

static bool mayBeInlined(func::FuncOp function) {
  return function.isPrivate() && !function.getNoInline() && function.getBody().hasOneBlock() &&
         isa<func::ReturnOp>(function.getBody().front().back()) &&
         llvm::all_of(function->getDiscardableAttrs(),
                      [](NamedAttribute attribute) { return isHarmless(attribute); }) &&
         isHarmless(function.getArgAttrsAttr()) && isHarmless(function.getResAttrsAttr());
}

static bool mayBeReplaced(func::CallOp call) {
  // In a region without an order, an operand may be the call's own result.
  return !call.getNoInline() && isHarmless(call.getArgAttrsAttr()) &&
         isHarmless(call.getResAttrsAttr()) &&
         llvm::all_of(call->getDiscardableAttrs(),
                      [](NamedAttribute attribute) { return isHarmless(attribute); }) &&
         llvm::none_of(call.getOperands(),
                       [&](Value operand) { return operand.getDefiningOp() == call; });
}

/// Whether names inside of `op` may be those of other symbols.
static bool isSymbolTable(Operation *op) {
  if (op->isRegistered())
    return op->hasTrait<OpTrait::SymbolTable>();
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      if (getInherentOrDiscardableAttr(&nested, SymbolTable::getSymbolAttrName()))
        return true;
  return false;
}

namespace {
/// A call, and the number of regions around it within the function that it is in.
struct NestedCall {
  func::CallOp call;
  int64_t depth;
};

/// A function of the module, with what a call of it becomes.
struct Node {
  func::FuncOp function;
  SmallVector<Node *> callees;
  bool isInlinable = false;
  /// Operations of the body, then with those in place of calls.
  int64_t numOperations = 0;
  /// Regions inside of each other, in the same way.
  int64_t depth = 0;
  bool isInlined = false;
  bool isVisited = false;
  SmallVector<NestedCall> calls;
};
} // namespace

template <>
struct llvm::GraphTraits<Node *> {
  using NodeRef = Node *;
  using ChildIteratorType = SmallVector<Node *>::iterator;
  static NodeRef getEntryNode(NodeRef node) { return node; }
  static ChildIteratorType child_begin(NodeRef node) { return node->callees.begin(); }
  static ChildIteratorType child_end(NodeRef node) { return node->callees.end(); }
};

namespace {
class CallInliner {
public:
  explicit CallInliner(ModuleOp module)
      : module(module), interface(module.getContext()),
        references([this](StringRef name) { enqueue(name); }) {}

  bool run() {
    for (auto function : module.getOps<func::FuncOp>()) {
      Node &node = nodes.emplace_back();
      node.function = function;
      byName[function.getName()] = &node;
    }
    measure();

    llvm::StringSet<> referenced;
    SymbolReferences everywhere([&](StringRef name) { referenced.insert(name); });
    everywhere.visit(module);
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (function && function.isPrivate() && referenced.contains(function.getName()))
        continue;
      if (function)
        enqueue(function.getName());
      else
        process(&op);
      processQueue();
    }
    // Functions that nothing calls but each other.
    for (Node &node : nodes)
      if (!node.isVisited && !node.isInlined) {
        enqueue(node.function.getName());
        processQueue();
      }
    for (Node &node : nodes)
      if (!node.isVisited)
        node.function.erase();
    return llvm::any_of(nodes, [](const Node &node) { return node.isInlined; });
  }

private:
  /// The function that a call names, if it is one of the module.
  Node *getCallee(func::CallOp call) { return byName.lookup(call.getCallee()); }

  /// Works out what becomes of calls, callees first.
  void measure() {
    Node all;
    for (Node &node : nodes) {
      all.callees.push_back(&node);
      visitCalls(node.function.getOperation(), /*depth=*/0, node.calls, &node);
      for (auto [call, depth] : node.calls)
        if (Node *callee = getCallee(call))
          node.callees.push_back(callee);
    }
    for (auto component = llvm::scc_begin(&all); !component.isAtEnd(); ++component)
      for (Node *node : *component)
        if (node != &all)
          addCallees(*node, component.hasCycle());
  }

  void addCallees(Node &node, bool isRecursive) {
    node.isInlinable = !isRecursive && mayBeInlined(node.function);
    // Neither the terminator nor calls that are replaced come along.
    --node.numOperations;
    for (auto [call, depth] : node.calls)
      if (Node *callee = getCallee(call); callee && callee->isInlinable && mayBeReplaced(call)) {
        node.numOperations =
            std::min(node.numOperations + callee->numOperations - 1, kUncountableOperations);
        node.depth = std::max(node.depth, depth + callee->depth);
      }
  }

  /// Lists the calls inside of `op`, and counts into `sizes` what is there.
  static void visitCalls(Operation *op, int64_t depth, SmallVectorImpl<NestedCall> &calls,
                         Node *sizes = nullptr) {
    for (Region &region : op->getRegions())
      for (Operation &nested : region.getOps()) {
        if (sizes) {
          ++sizes->numOperations;
          sizes->depth = std::max(sizes->depth, depth);
        }
        if (auto call = dyn_cast<func::CallOp>(nested))
          calls.push_back({call, depth});
        if (!isSymbolTable(&nested))
          visitCalls(&nested, depth + 1, calls, sizes);
      }
  }

  void enqueue(StringRef name) {
    Node *node = byName.lookup(name);
    if (!node || node->isVisited)
      return;
    node->isVisited = true;
    queue.push_back(node->function);
  }

  void processQueue() {
    for (; !queue.empty(); queue.pop_front())
      process(queue.front());
  }

  /// Replaces the calls in an operation that stays, and enqueues the functions that it
  /// refers to afterwards.
  void process(Operation *op) {
    SmallVector<NestedCall> calls;
    if (!isSymbolTable(op))
      visitCalls(op, /*depth=*/0, calls);
    llvm::erase_if(calls, [&](NestedCall nested) {
      Node *callee = getCallee(nested.call);
      return !callee || !callee->isInlinable || !mayBeReplaced(nested.call) ||
             nested.depth + callee->depth > kMaxInlinedDepth;
    });
    // All calls of a function from another one, or none.
    llvm::MapVector<Node *, int64_t> added;
    for (auto [call, depth] : calls) {
      Node *callee = getCallee(call);
      added[callee] += callee->numOperations;
    }
    added.remove_if([&](auto &entry) {
      bool isTooLarge = entry.second > kMaxInlinedOperations - numInlined;
      numInlined += isTooLarge ? 0 : entry.second;
      return isTooLarge;
    });
    for (auto [call, depth] : calls) {
      if (!added.contains(getCallee(call)))
        continue;
      std::deque<func::CallOp> pending{call};
      for (; !pending.empty(); pending.pop_front())
        replace(pending.front(), pending);
    }
    references.visit(op);
  }

  /// Puts a copy of the callee's body in place of a call if that can be done, and appends
  /// the calls in it to `pending`.
  void replace(func::CallOp call, std::deque<func::CallOp> &pending) {
    Node *callee = getCallee(call);
    if (!callee || !callee->isInlinable || !mayBeReplaced(call))
      return;
    IRMapping mapping;
    Region &body = callee->function.getBody();
    mapping.map(body.getArguments(), call.getOperands());
    if (!isLegal(body, call->getParentRegion(), mapping))
      return;
    callee->isInlined = true;

    llvm::DenseMap<Location, Location> locations;
    auto placeAt = [&](Location loc) {
      auto it = locations.try_emplace(loc, loc).first;
      if (it->second == loc)
        it->second = CallSiteLoc::get(loc, call.getLoc());
      return it->second;
    };
    OpBuilder builder(call);
    for (Operation &op : body.front().without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      copy->walk([&](Operation *nested) {
        nested->setLoc(placeAt(nested->getLoc()));
        for (Region &region : nested->getRegions())
          for (BlockArgument argument : region.getArguments())
            argument.setLoc(placeAt(argument.getLoc()));
      });
      SmallVector<NestedCall> calls;
      if (auto nested = dyn_cast<func::CallOp>(copy))
        pending.push_back(nested);
      else if (!isSymbolTable(copy))
        visitCalls(copy, /*depth=*/0, calls);
      for (const NestedCall &nested : calls)
        pending.push_back(nested.call);
    }
    for (auto [result, returned] :
         llvm::zip_equal(call.getResults(), body.front().back().getOperands()))
      result.replaceAllUsesWith(mapping.lookup(returned));
    call.erase();
  }

  /// Whether the registered dialects allow that operations are put into a region.
  bool isLegal(Region &body, Region *destination, IRMapping &mapping) {
    return (!hasSay(destination->getParentOp()) ||
            interface.isLegalToInline(destination, &body, /*wouldBeCloned=*/true, mapping)) &&
           areLegal(body, destination, mapping);
  }

  bool areLegal(Region &region, Region *destination, IRMapping &mapping) {
    return llvm::all_of(region.getOps(), [&](Operation &op) {
      if (hasSay(&op)) {
        if (!interface.isLegalToInline(&op, destination, /*wouldBeCloned=*/true, mapping))
          return false;
        if (!interface.shouldAnalyzeRecursively(&op))
          return true;
      }
      return llvm::all_of(op.getRegions(),
                          [&](Region &nested) { return areLegal(nested, destination, mapping); });
    });
  }

  /// What `func` says comes with an extension that need not be there.
  static bool hasSay(Operation *op) {
    return op->isRegistered() && !isa<func::FuncDialect>(op->getDialect());
  }

  ModuleOp module;
  InlinerInterface interface;
  SymbolReferences references;
  /// In the order of the module; addresses stay.
  std::deque<Node> nodes;
  llvm::StringMap<Node *> byName;
  /// Functions that stay and have not been processed.
  std::deque<Operation *> queue;
  int64_t numInlined = 0;
};
} // namespace

bool mlir::remat::inlineCalls(ModuleOp module) { return CallInliner(module).run(); }

void mlir::remat::eraseUnusedFunctions(ModuleOp module) {
  llvm::StringMap<func::FuncOp> unused;
  SmallVector<Operation *> queue;
  for (Operation &op : *module.getBody())
    if (auto function = dyn_cast<func::FuncOp>(op); function && function.isPrivate())
      unused[function.getName()] = function;
    else
      queue.push_back(&op);
  SymbolReferences references([&](StringRef name) {
    if (auto it = unused.find(name); it != unused.end()) {
      queue.push_back(it->second);
      unused.erase(it);
    }
  });
  while (!queue.empty())
    references.visit(queue.pop_back_val());
  for (auto &[name, function] : unused)
    function.erase();
}
