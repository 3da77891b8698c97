//===- Categories.cpp - What the values of a training step are for ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several passes over the operations in order or backwards, each of which fills
// in one property of all values. Nothing here looks at the name of an operation
// or an argument.
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/Categories.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"
#include <numeric>

using namespace mlir;
using namespace mlir::remat;
using planner::kBoundary;
using planner::kNoValue;
using planner::OpIndex;
using planner::Placement;
using planner::ValueIndex;

/// Small results that are considered as the loss: one bit of a word each.
static constexpr size_t kMaxCandidates = 64;

ArrayRef<Category> mlir::remat::getAllCategories() {
  static constexpr Category all[] = {
      Category::Parameter,  Category::OptimizerState, Category::Input,   Category::Gradient,
      Category::Activation, Category::Temporary,      Category::Constant};
  return all;
}

StringRef mlir::remat::getCategoryName(Category category) {
  switch (category) {
  case Category::Parameter:
    return "parameters";
  case Category::OptimizerState:
    return "optimizer_state";
  case Category::Input:
    return "inputs";
  case Category::Gradient:
    return "gradients";
  case Category::Activation:
    return "activations";
  case Category::Temporary:
    return "temporaries";
  case Category::Constant:
    return "constants";
  }
  llvm_unreachable("unknown category");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Whether values of `type` have one element.
static bool isSmall(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.hasStaticShape() && shaped.getNumElements() == 1;
  return type.isIntOrIndexOrFloat() || isa<ComplexType>(type);
}

static bool isFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return isa<FloatType>(element);
}

/// A type that is equal for types of equal shape: casts of a gradient leave it
/// the gradient of its parameter.
static Type getShape(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return isSmall(type) ? IndexType::get(type.getContext()) : type;
  return RankedTensorType::get(shaped.getShape(), IndexType::get(type.getContext()));
}

//===----------------------------------------------------------------------===//
// RoleInference
//===----------------------------------------------------------------------===//

namespace {
class RoleInference {
public:
  RoleInference(const FunctionProblem &function, const RoleOptions &options)
      : function(function), problem(function.problem), options(options),
        numValues(problem.values.size()), numOperations(problem.operations.size()),
        numArguments(function.operations.front()->getBlock()->getNumArguments()) {
    if (static_cast<int64_t>(options.arguments.size()) < numArguments)
      this->options.arguments.clear();
  }

  ValueRoles run();

private:
  void findRoots();
  void findNearestArguments();
  void findLoss();
  void findLossPoints();
  void matchResults();
  void setArgumentRoles();
  void findGradients();
  void findLastReaders();
  Category getCategory(ValueIndex root) const;

  ArrayRef<ValueIndex> writesOf(OpIndex op) const { return problem.operations[op].writes; }
  ArrayRef<ValueIndex> readsOf(OpIndex op) const { return problem.operations[op].reads; }
  OpIndex producerOf(ValueIndex value) const { return problem.values[value].producer; }
  bool isArgument(ValueIndex value) const { return value < numArguments; }
  /// Null for program constants.
  Type typeOf(ValueIndex value) const {
    return function.values[value] ? function.values[value].getType() : Type();
  }
  bool isSmallValue(ValueIndex value) const {
    Type type = typeOf(value);
    return type && isSmall(type);
  }
  bool isBehindLoss(ValueIndex value) const {
    return !isForward[value] && producerOf(value) >= firstPoint;
  }
  bool isState(ValueIndex argument) const { return roles[argument] == Category::OptimizerState; }

  const FunctionProblem &function;
  const planner::Problem &problem;
  RoleOptions options;
  int64_t numValues, numOperations, numArguments;

  /// By value: the value that it shows.
  std::vector<ValueIndex> root;
  /// The results of the function.
  SmallVector<ValueIndex> results;

  /// By value: the argument of the same type from which it is computed in the
  /// fewest operations on that type, and their number.
  struct Nearest {
    ValueIndex argument = kNoValue;
    int64_t numSteps = 0;
  };
  std::vector<Nearest> nearest;
  /// All that are as near to a result, in the order of operands.
  SmallVector<Nearest> listNearest(ValueIndex result) const;

  std::optional<unsigned> loss;
  /// By value and operation: whether the loss depends on it.
  std::vector<bool> isForward, isForwardOp;
  /// By operation: loss points before it; one more entry for the end.
  std::vector<int64_t> pointsBefore;
  OpIndex firstPoint = kBoundary, lastPoint = kBoundary;

  /// By argument.
  std::vector<Category> roles;
  std::vector<bool> isReturned;
  /// By value that is a root: the argument that it is returned for, and whether
  /// a path leads from there.
  struct Return {
    ValueIndex argument = kNoValue;
    bool hasPath = false;
  };
  std::vector<Return> returns;

  /// By value: whether it depends on the forward pass; whether optimizer state
  /// that the loss does not depend on went into it; whether it leads to a returned value of a
  /// parameter's shape through values of that shape.
  std::vector<bool> isFromForward, isMixed, isUpdate;
  llvm::DenseSet<Type> parameterShapes;
  /// By root: the last operation that reads it or a view of it, that the loss
  /// does not depend on, and that is not the terminator.
  std::vector<OpIndex> lastReader;
};
} // namespace

void RoleInference::findRoots() {
  root = listRoots(problem);
  for (Value operand : function.operations.back()->getOperands())
    results.push_back(function.valueIndex.lookup(operand));
}

/// The values that a result is computed from, where the operation computes several, each
/// element for itself: those that its operand of the terminator depends on. Nothing where it
/// may be all.
static std::optional<llvm::SetVector<Value>> findSources(OpResult result) {
  Operation *op = result.getOwner();
  if (op->getNumResults() == 1 || op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return std::nullopt;
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != op->getNumOperands() || !body.mightHaveTerminator() ||
      body.getTerminator()->getNumOperands() != op->getNumResults())
    return std::nullopt;
  llvm::SetVector<Value> sources;
  llvm::SetVector<Value> pending;
  pending.insert(body.getTerminator()->getOperand(result.getResultNumber()));
  for (size_t index = 0; index < pending.size(); ++index) {
    Value value = pending[index];
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &body)
      sources.insert(op->getOperand(argument.getArgNumber()));
    else if (!body.getParent()->isAncestor(value.getParentRegion()))
      sources.insert(value);
    else if (Operation *producer = value.getDefiningOp())
      producer->walk([&](Operation *nested) {
        pending.insert(nested->operand_begin(), nested->operand_end());
      });
  }
  return sources;
}

SmallVector<RoleInference::Nearest> RoleInference::listNearest(ValueIndex result) const {
  SmallVector<Nearest> found;
  OpIndex op = producerOf(result);
  if (op == kBoundary)
    return found;
  std::optional<llvm::SetVector<Value>> sources =
      findSources(cast<OpResult>(function.values[result]));
  for (ValueIndex read : readsOf(op)) {
    const Nearest &other = nearest[read];
    if (other.argument == kNoValue || typeOf(read) != typeOf(result) ||
        (sources && !sources->contains(function.values[read])))
      continue;
    int64_t numSteps = other.numSteps + 1;
    if (!found.empty() && numSteps < found.front().numSteps)
      found.clear();
    if (found.empty() || numSteps == found.front().numSteps)
      found.push_back({other.argument, numSteps});
  }
  return found;
}

void RoleInference::findNearestArguments() {
  nearest.resize(numValues);
  for (ValueIndex argument = 0; argument < numArguments; ++argument)
    nearest[argument] = {argument, 0};
  for (OpIndex op = 0; op < numOperations; ++op)
    for (ValueIndex result : writesOf(op))
      if (SmallVector<Nearest> found = listNearest(result); !found.empty())
        nearest[result] = found.front();
}

void RoleInference::findLoss() {
  if (options.lossResult && *options.lossResult < results.size()) {
    if (producerOf(root[results[*options.lossResult]]) != kBoundary)
      loss = options.lossResult;
    return;
  }
  SmallVector<unsigned> candidates;
  llvm::DenseSet<Type> resultTypes;
  for (auto [number, result] : llvm::enumerate(results)) {
    Type type = typeOf(result);
    if (producerOf(root[result]) != kBoundary && isSmall(type) && isFloat(type) &&
        !isa<ComplexType>(getElementTypeOrSelf(type)))
      candidates.push_back(number);
    else
      resultTypes.insert(type);
  }
  auto isNewValue = [&](unsigned number) { return nearest[results[number]].argument != kNoValue; };
  if (!llvm::all_of(candidates, isNewValue))
    llvm::erase_if(candidates, isNewValue);
  if (candidates.size() > kMaxCandidates)
    candidates.erase(candidates.begin(), candidates.end() - kMaxCandidates);
  if (candidates.size() <= 1) {
    if (!candidates.empty())
      loss = candidates.front();
    return;
  }

  // By value: the candidates that depend on it.
  std::vector<uint64_t> dependents(numValues, 0);
  for (auto [bit, number] : llvm::enumerate(candidates))
    dependents[results[number]] |= uint64_t(1) << bit;
  for (OpIndex op = numOperations - 2; op >= 0; --op) {
    uint64_t bits = 0;
    for (ValueIndex value : writesOf(op))
      bits |= dependents[value];
    for (ValueIndex value : readsOf(op))
      dependents[value] |= bits;
  }
  struct Reach {
    int64_t inputs = 0, others = 0;
  };
  SmallVector<Reach> reach(candidates.size());
  for (ValueIndex argument = 0; argument < numArguments; ++argument) {
    bool isInput = !resultTypes.contains(typeOf(argument));
    for (size_t bit = 0; bit < candidates.size(); ++bit)
      if (dependents[argument] >> bit & 1)
        ++(isInput ? reach[bit].inputs : reach[bit].others);
  }
  int64_t mostInputs = 0, mostOthers = 0;
  for (const Reach &entry : reach)
    mostInputs = std::max(mostInputs, entry.inputs);
  for (const Reach &entry : reach)
    if (entry.inputs == mostInputs)
      mostOthers = std::max(mostOthers, entry.others);
  for (size_t bit = 0; bit < candidates.size(); ++bit) {
    if (reach[bit].inputs < mostInputs || 2 * reach[bit].others < mostOthers)
      continue;
    if (!loss || producerOf(results[candidates[bit]]) < producerOf(results[*loss]))
      loss = candidates[bit];
  }
}

void RoleInference::findLossPoints() {
  isForward.assign(numValues, false);
  isForwardOp.assign(numOperations, false);
  pointsBefore.assign(numOperations + 1, 0);
  if (!loss)
    return;
  isForward[results[*loss]] = true;
  for (OpIndex op = numOperations - 2; op >= 0; --op) {
    isForwardOp[op] = llvm::any_of(writesOf(op), [&](ValueIndex v) { return isForward[v]; });
    if (isForwardOp[op])
      for (ValueIndex value : readsOf(op))
        isForward[value] = true;
  }

  std::vector<bool> isPoint(numOperations, false), isSeen(numOperations, false);
  SmallVector<OpIndex> pending;
  auto visit = [&](ValueIndex value) {
    OpIndex op = producerOf(value);
    if (op == kBoundary || isSeen[op])
      return;
    isSeen[op] = true;
    pending.push_back(op);
  };
  visit(results[*loss]);
  while (!pending.empty()) {
    OpIndex op = pending.pop_back_val();
    if (llvm::all_of(readsOf(op), [&](ValueIndex value) { return isSmallValue(value); }))
      llvm::for_each(readsOf(op), visit);
    else
      isPoint[op] = true;
  }
  // All of it may be small.
  if (!llvm::is_contained(isPoint, true))
    isPoint[producerOf(root[results[*loss]])] = true;
  for (OpIndex op = 0; op < numOperations; ++op) {
    pointsBefore[op + 1] = pointsBefore[op] + isPoint[op];
    if (!isPoint[op])
      continue;
    if (firstPoint == kBoundary)
      firstPoint = op;
    lastPoint = op;
  }
}

void RoleInference::matchResults() {
  isReturned.assign(numArguments, false);
  returns.resize(numValues);
  auto canReturn = [&](ValueIndex argument) {
    return !isReturned[argument] &&
           (options.arguments.empty() || options.arguments[argument] != Category::Input);
  };
  auto match = [&](ValueIndex result, ValueIndex argument, bool hasPath) {
    isReturned[argument] = true;
    returns[root[result]] = {argument, hasPath};
  };
  auto isOpen = [&](ValueIndex result) {
    // An argument that is returned as it is depends on nothing.
    bool isUnchanged = isArgument(root[result]);
    return (isUnchanged || !isForward[result]) && returns[root[result]].argument == kNoValue;
  };
  for (ValueIndex result : results)
    if (isArgument(result) && isOpen(result) && canReturn(result))
      match(result, result, /*hasPath=*/true);
  // Those with the fewest choices first.
  SmallVector<std::pair<ValueIndex, SmallVector<Nearest>>> choices;
  for (ValueIndex result : results)
    choices.emplace_back(result, listNearest(result));
  llvm::stable_sort(choices,
                    [](const auto &a, const auto &b) { return a.second.size() < b.second.size(); });
  for (const auto &[result, found] : choices)
    for (const Nearest &entry : found)
      if (isOpen(result) && canReturn(entry.argument))
        match(result, entry.argument, /*hasPath=*/true);

  // Arguments of each type, first to last.
  llvm::DenseMap<Type, SmallVector<ValueIndex>> left;
  for (ValueIndex argument = numArguments - 1; argument >= 0; --argument)
    if (canReturn(argument))
      left[typeOf(argument)].push_back(argument);
  for (ValueIndex result : results) {
    if (!isOpen(result) || producerOf(root[result]) == kBoundary)
      continue;
    auto found = left.find(typeOf(result));
    if (found != left.end() && !found->second.empty())
      match(result, found->second.pop_back_val(), /*hasPath=*/false);
  }
}

void RoleInference::setArgumentRoles() {
  roles.assign(numArguments, Category::Input);
  if (!options.arguments.empty()) {
    roles.assign(options.arguments.begin(), options.arguments.begin() + numArguments);
  } else if (loss) {
    for (ValueIndex argument = 0; argument < numArguments; ++argument)
      if (isReturned[argument])
        roles[argument] = isForward[argument] && isFloat(typeOf(argument))
                              ? Category::Parameter
                              : Category::OptimizerState;
  }
  for (ValueIndex argument = 0; argument < numArguments; ++argument)
    if (roles[argument] == Category::Parameter)
      parameterShapes.insert(getShape(typeOf(argument)));
}

void RoleInference::findGradients() {
  isFromForward.assign(numValues, false);
  isMixed.assign(numValues, false);
  isUpdate.assign(numValues, false);
  for (ValueIndex argument = 0; argument < numArguments; ++argument) {
    isFromForward[argument] = roles[argument] == Category::Input;
    // The state of a random generator goes into the loss and hence into all
    // gradients; a step count or a learning rate only scales them.
    isMixed[argument] = roles[argument] == Category::OptimizerState && !isForward[argument] &&
                        !isSmallValue(argument);
  }
  for (OpIndex op = 0; op < numOperations; ++op) {
    bool fromForward = false, mixed = false;
    for (ValueIndex read : readsOf(op)) {
      fromForward |= isFromForward[read] || (isForwardOp[op] && isArgument(read));
      mixed |= isMixed[read];
    }
    for (ValueIndex result : writesOf(op)) {
      isFromForward[result] = fromForward;
      isMixed[result] = mixed;
    }
  }

  std::vector<Type> shapes(numValues);
  for (ValueIndex value = 0; value < numValues; ++value)
    if (Type type = typeOf(value))
      shapes[value] = getShape(type);
  for (ValueIndex value : results)
    isUpdate[value] =
        returns[root[value]].argument != kNoValue && parameterShapes.contains(shapes[value]);
  for (OpIndex op = numOperations - 2; op >= 0; --op) {
    for (ValueIndex result : writesOf(op)) {
      if (!isUpdate[result])
        continue;
      bool isView = problem.values[result].placement == Placement::View;
      for (ValueIndex read : readsOf(op))
        if (shapes[read] == shapes[result] || (isView && read == problem.values[result].source))
          isUpdate[read] = true;
    }
  }
}

void RoleInference::findLastReaders() {
  lastReader.assign(numValues, kBoundary);
  for (OpIndex op = 0; op < numOperations - 1; ++op)
    if (!isForwardOp[op])
      for (ValueIndex read : readsOf(op))
        lastReader[root[read]] = op;
}

Category RoleInference::getCategory(ValueIndex value) const {
  OpIndex producer = producerOf(value);
  if (producer == kBoundary)
    return isArgument(value) ? roles[value] : Category::Constant;
  bool isGradient = isBehindLoss(value) && isFromForward[value] && !isMixed[value];
  if (const Return &entry = returns[value]; loss && entry.argument != kNoValue) {
    bool isParameter = roles[entry.argument] == Category::Parameter;
    return isParameter && !entry.hasPath && isGradient ? Category::Gradient : roles[entry.argument];
  }
  if (!loss)
    return Category::Temporary;
  if (isGradient && isUpdate[value])
    return Category::Gradient;
  OpIndex reader = lastReader[value];
  if (reader != kBoundary && pointsBefore[reader] > pointsBefore[producer])
    return Category::Activation;
  return Category::Temporary;
}

ValueRoles RoleInference::run() {
  findRoots();
  findNearestArguments();
  findLoss();
  findLossPoints();
  matchResults();
  setArgumentRoles();
  findGradients();
  findLastReaders();

  ValueRoles result;
  result.lossResult = loss;
  if (loss)
    result.lossOperation = lastPoint;
  for (ValueIndex value = 0; value < numValues; ++value) {
    auto buffer = function.resultBuffers.find(value);
    ValueIndex shown =
        buffer == function.resultBuffers.end() ? value : function.valueIndex.lookup(buffer->second);
    result.categories.push_back(getCategory(root[shown]));
  }
  for (ValueIndex value : results) {
    const Return &entry = returns[root[value]];
    bool isUpdated = entry.argument != kNoValue && entry.hasPath;
    result.updatedArguments.push_back(isUpdated ? std::optional<unsigned>(entry.argument)
                                                : std::nullopt);
  }
  return result;
}

/// The operations of a function that is executed in another order, as they are written.
/// `order` becomes the indices that they had.
static FunctionProblem sortByPosition(const FunctionProblem &scheduled,
                                      std::vector<OpIndex> &order) {
  order.resize(scheduled.operations.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order,
             [&](OpIndex a, OpIndex b) { return scheduled.positions[a] < scheduled.positions[b]; });
  FunctionProblem sorted = scheduled;
  std::vector<OpIndex> newIndex(order.size());
  for (auto [index, old] : llvm::enumerate(order)) {
    newIndex[old] = index;
    sorted.operations[index] = scheduled.operations[old];
    sorted.inlined[index] = scheduled.inlined[old];
    sorted.positions[index] = scheduled.positions[old];
    sorted.problem.operations[index] = scheduled.problem.operations[old];
    sorted.whyNot[index] = scheduled.whyNot[old];
  }
  for (planner::Value &value : sorted.problem.values)
    if (value.producer != kBoundary)
      value.producer = newIndex[value.producer];
  return sorted;
}

ValueRoles mlir::remat::inferRoles(const FunctionProblem &problem, const RoleOptions &options) {
  if (llvm::is_sorted(problem.positions))
    return RoleInference(problem, options).run();
  // Which part of a step an operation is in follows from the order of the program.
  std::vector<OpIndex> order;
  FunctionProblem written = sortByPosition(problem, order);
  ValueRoles roles = RoleInference(written, options).run();
  if (roles.lossOperation)
    roles.lossOperation = order[*roles.lossOperation];
  return roles;
}

std::vector<Category> mlir::remat::categorize(const FunctionProblem &problem,
                                              const RoleOptions &options) {
  return inferRoles(problem, options).categories;
}
