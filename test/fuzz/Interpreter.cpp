//===- Interpreter.cpp - Executes functions on symbols ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include "Random.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::remat::fuzz;

/// Iterations of a loop that are executed.
static constexpr int64_t kMaxTrips = 3;

//===----------------------------------------------------------------------===//
// What operations do
//===----------------------------------------------------------------------===//

bool mlir::remat::fuzz::isBarrier(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "remat.barrier" || name == "stablehlo.optimization_barrier";
}

static Attribute getAttribute(Operation *op, StringRef name) {
  if (Attribute attribute = op->getDiscardableAttr(name))
    return attribute;
  auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  return properties ? properties.get(name) : Attribute();
}

static bool isTrue(Attribute attribute) {
  auto flag = dyn_cast_or_null<BoolAttr>(attribute);
  return flag && flag.getValue();
}

EffectOf mlir::remat::fuzz::getEffect(Operation *op) {
  StringRef name = op->getName().getStringRef();
  auto [dialect, rest] = name.split('.');
  if (dialect == "memref") {
    // An allocation that nobody uses may go.
    if (rest == "load" || rest == "alloc")
      return EffectOf::Reading;
    bool isPure = rest == "cast" || rest == "subview" || rest == "dim" || rest == "get_global";
    return isPure ? EffectOf::Nothing : EffectOf::Everything;
  }
  if (dialect == "bufferization") {
    if (rest == "to_tensor" || rest == "to_buffer")
      return EffectOf::Reading;
    return op->getNumResults() == 0 ? EffectOf::Everything : EffectOf::Nothing;
  }
  if (dialect == "linalg") {
    bool touchesMemory =
        llvm::any_of(op->getOperandTypes(), [](Type type) { return isa<MemRefType>(type); });
    return touchesMemory ? EffectOf::Everything : EffectOf::Nothing;
  }
  if (dialect == "stablehlo") {
    static const llvm::StringSet<> ordered = {"rng",     "all_reduce", "infeed",
                                              "outfeed", "send",       "recv"};
    bool hasEffect = ordered.contains(rest) ||
                     (rest == "custom_call" && isTrue(getAttribute(op, "has_side_effect")));
    return hasEffect ? EffectOf::Everything : EffectOf::Nothing;
  }
  // The user's word counts where the generator gives it in good faith.
  bool isAllowed = isTrue(op->getDiscardableAttr("remat.recomputable"));
  if (name == "test.exchange" || name == "fuzz.talk")
    return isAllowed ? EffectOf::Nothing : EffectOf::Everything;
  if (dialect == "test" || name == "fuzz.random" || name == "fuzz.ordered")
    return EffectOf::Everything;
  return EffectOf::Nothing;
}

//===----------------------------------------------------------------------===//
// Hashes
//===----------------------------------------------------------------------===//

static uint64_t hashText(StringRef text) {
  uint64_t hash = text.size();
  for (char c : text)
    hash = combine(hash, static_cast<unsigned char>(c));
  return hash;
}

static uint64_t hashPointer(const void *pointer) {
  return mix(reinterpret_cast<uintptr_t>(pointer));
}

/// Name, types and all attributes but those of the remat dialect, which say
/// nothing about what is computed.
static uint64_t hashKind(Operation *op) {
  uint64_t hash = hashText(op->getName().getStringRef());
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!attribute.getName().strref().starts_with("remat."))
      hash = combine(hash, combine(hashText(attribute.getName()),
                                   hashPointer(attribute.getValue().getAsOpaquePointer())));
  if (Attribute properties = op->getPropertiesAsAttribute())
    hash = combine(hash, hashPointer(properties.getAsOpaquePointer()));
  for (Type type : op->getResultTypes())
    hash = combine(hash, hashPointer(type.getAsOpaquePointer()));
  return hash;
}

namespace {
class Interpreter {
public:
  explicit Interpreter(Execution &result) : result(result) {}

  /// Executes a block; returns the operands of its terminator.
  SmallVector<uint64_t> run(Block &block);

  void bind(Value value, uint64_t hash) { hashes[value] = hash; }

private:
  uint64_t lookup(Value value) {
    auto it = hashes.find(value);
    return it == hashes.end() ? hashPointer(value.getAsOpaquePointer()) : it->second;
  }
  std::optional<int64_t> getNumber(Value value) {
    if (auto it = numbers.find(value); it != numbers.end())
      return it->second;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue();
    return std::nullopt;
  }
  uint64_t hashOperands(Operation *op) {
    uint64_t hash = op->getNumOperands();
    for (Value operand : op->getOperands())
      hash = combine(hash, lookup(operand));
    return hash;
  }
  /// Whether something with effects is inside, or called from there.
  bool hasEffectInside(Operation *op);
  /// Everything in a region, where values defined inside are counted through
  /// and others are their hashes.
  uint64_t hashRegions(Operation *op);
  void record(Operation *op, uint64_t hash) {
    memory = combine(memory, hash);
    result.trace.push_back(hash);
    result.traceNames.push_back(op->getName().getStringRef().str());
  }

  void run(Operation *op);
  void runIf(Operation *op);
  void runFor(scf::ForOp op);
  void runCall(func::CallOp op);

  Execution &result;
  /// The state of the world: all effects so far.
  uint64_t memory = 0;
  llvm::DenseMap<Value, uint64_t> hashes;
  llvm::DenseMap<Value, int64_t> numbers;
};
} // namespace

/// Whether an operation may stand inside or outside of a region alike: a constant
/// or a destination that nobody has written.
static bool isSameEverywhere(Operation *op) {
  return op->getNumOperands() == 0 &&
         (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op));
}

uint64_t Interpreter::hashRegions(Operation *op) {
  uint64_t hash = op->getNumRegions();
  llvm::DenseMap<Value, uint64_t> inside;
  uint64_t next = 1;
  for (Region &region : op->getRegions()) {
    region.walk<WalkOrder::PreOrder>([&](Operation *nested) {
      Block *block = nested->getBlock();
      for (BlockArgument argument : block->getArguments())
        if (inside.try_emplace(argument, next).second)
          ++next;
      if (isSameEverywhere(nested))
        return run(nested);
      hash = combine(hash, hashKind(nested));
      for (Value operand : nested->getOperands()) {
        auto it = inside.find(operand);
        hash = combine(hash, it == inside.end() ? lookup(operand) : mix(it->second));
      }
      for (Value value : nested->getResults())
        inside[value] = next++;
    });
  }
  return hash;
}

bool Interpreter::hasEffectInside(Operation *op) {
  WalkResult walk = op->walk([&](Operation *nested) {
    if (nested != op && getEffect(nested) == EffectOf::Everything)
      return WalkResult::interrupt();
    auto call = dyn_cast<func::CallOp>(nested);
    if (!call)
      return WalkResult::advance();
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    bool isPure = callee && !callee.isExternal() && !hasEffectInside(callee);
    return isPure ? WalkResult::advance() : WalkResult::interrupt();
  });
  return walk.wasInterrupted();
}

/// `scf.if` or `stablehlo.if`.
void Interpreter::runIf(Operation *op) {
  std::optional<int64_t> number = getNumber(op->getOperand(0));
  bool condition = number ? *number != 0 : lookup(op->getOperand(0)) & 1;
  Region &region = op->getRegion(condition ? 0 : 1);
  if (region.empty())
    return;
  SmallVector<uint64_t> yielded = run(region.front());
  for (auto [value, hash] : llvm::zip_equal(op->getResults(), yielded))
    bind(value, combine(hash, 17));
}

void Interpreter::runFor(scf::ForOp op) {
  std::optional<int64_t> low = getNumber(op.getLowerBound()), high = getNumber(op.getUpperBound()),
                         step = getNumber(op.getStep());
  uint64_t bounds = combine(combine(lookup(op.getLowerBound()), lookup(op.getUpperBound())),
                            lookup(op.getStep()));
  bool isKnown = low && high && step && *step > 0;
  int64_t trips = isKnown ? std::max<int64_t>((*high - *low + *step - 1) / *step, 0)
                          : int64_t(bounds % (kMaxTrips + 1));
  SmallVector<uint64_t> carried;
  for (Value init : op.getInitArgs())
    carried.push_back(lookup(init));
  for (int64_t trip = 0; trip < std::min(trips, kMaxTrips); ++trip) {
    Value induction = op.getInductionVar();
    bind(induction, combine(bounds, trip));
    if (isKnown)
      numbers[induction] = *low + trip * *step;
    for (auto [argument, hash] : llvm::zip_equal(op.getRegionIterArgs(), carried))
      bind(argument, hash);
    carried = run(*op.getBody());
  }
  for (auto [value, hash] : llvm::zip_equal(op.getResults(), carried))
    bind(value, combine(hash, bounds));
}

void Interpreter::runCall(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee || callee.isExternal()) {
    uint64_t hash = combine(hashKind(op), hashOperands(op));
    record(op, hash);
    for (OpResult value : op->getResults())
      bind(value, combine(combine(hash, memory), value.getResultNumber()));
    return;
  }
  for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), op.getOperands()))
    bind(argument, lookup(operand));
  SmallVector<uint64_t> returned = run(callee.getBody().front());
  for (auto [value, hash] : llvm::zip_equal(op.getResults(), returned))
    bind(value, hash);
}

void Interpreter::run(Operation *op) {
  if (isa<scf::IfOp>(op) || op->getName().getStringRef() == "stablehlo.if")
    return runIf(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runFor(loop);
  if (auto call = dyn_cast<func::CallOp>(op))
    return runCall(call);
  if (isBarrier(op)) {
    for (auto [value, operand] : llvm::zip(op->getResults(), op->getOperands())) {
      bind(value, lookup(operand));
      if (std::optional<int64_t> number = getNumber(operand))
        numbers[value] = *number;
    }
    return;
  }
  EffectOf effect = getEffect(op);
  if (op->getNumRegions() != 0 && hasEffectInside(op))
    effect = EffectOf::Everything;
  uint64_t hash = combine(combine(hashKind(op), hashOperands(op)), hashRegions(op));
  if (effect == EffectOf::Reading)
    hash = combine(hash, memory);
  if (effect == EffectOf::Everything) {
    record(op, hash);
    hash = combine(hash, memory);
  }
  for (OpResult value : op->getResults())
    bind(value, combine(hash, value.getResultNumber()));
}

SmallVector<uint64_t> Interpreter::run(Block &block) {
  for (Operation &op : block.without_terminator())
    run(&op);
  SmallVector<uint64_t> returned;
  for (Value operand : block.getTerminator()->getOperands())
    returned.push_back(lookup(operand));
  return returned;
}

Execution mlir::remat::fuzz::execute(FunctionOpInterface function, uint64_t seed) {
  Execution execution;
  Interpreter interpreter(execution);
  for (BlockArgument argument : function.getArguments())
    interpreter.bind(argument, combine(seed, argument.getArgNumber()));
  SmallVector<uint64_t> results = interpreter.run(function.getFunctionBody().front());
  execution.results.assign(results.begin(), results.end());
  return execution;
}
