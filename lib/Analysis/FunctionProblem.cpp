//===- FunctionProblem.cpp - A function as a planning problem ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/FunctionProblem.h"

#include "Remat/Analysis/FusionModel.h"
#include "Remat/Analysis/XLASchedule.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "Remat/Interfaces/TypeSize.h"
#include "Remat/Planner/Simulator.h"
#include "XLAStorage.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::remat;
using planner::Effect;
using planner::kBoundary;
using planner::kNoValue;
using planner::OpIndex;
using planner::Placement;
using planner::ValueIndex;

ValueIndex mlir::remat::getRoot(const planner::Problem &problem, ValueIndex value) {
  while (problem.values[value].placement == Placement::View)
    value = problem.values[value].source;
  return value;
}

std::vector<ValueIndex> mlir::remat::listRoots(const planner::Problem &problem) {
  std::vector<ValueIndex> roots;
  for (auto [index, value] : llvm::enumerate(problem.values))
    roots.push_back(value.placement == Placement::View ? roots[value.source] : ValueIndex(index));
  return roots;
}

/// With Fusion::XLA: the operations of a block that are computed by their readers.
static llvm::DenseSet<Operation *> findVirtuals(Block &block, SummaryAnalysis &summaries) {
  return summaries.getFusion() == Fusion::XLA ? findVirtualOperations(block, summaries)
                                              : llvm::DenseSet<Operation *>();
}

namespace {
/// Translates the operations of one block.
class BlockTranslator {
public:
  /// `virtuals` are what `findVirtuals` says of the block.
  BlockTranslator(Block &block, const llvm::DenseSet<Operation *> &virtuals,
                  SummaryAnalysis &summaries, FunctionProblem &result)
      : summaries(summaries), result(result), dataLayout(DataLayout::closest(block.getParentOp())),
        virtuals(virtuals) {}

  bool isForXLA() const { return summaries.getFusion() == Fusion::XLA; }

  /// Adds a value that is there from the start.
  ValueIndex addBoundary(Value value, int64_t bytes, std::string name) {
    ValueIndex index = result.values.size();
    result.values.push_back(value);
    result.problem.values.push_back({std::move(name), bytes, Placement::Own, kNoValue, kBoundary});
    if (value)
      result.valueIndex[value] = index;
    return index;
  }

  ValueIndex addConstant(const void *data, int64_t bytes, Location loc) {
    auto [it, isNew] = constants.try_emplace(data, kNoValue);
    if (isNew) {
      it->second = addBoundary(Value(), bytes, "constant");
      result.constantLocs.try_emplace(it->second, loc);
    }
    return it->second;
  }

  /// A value whose bytes are known to be 2^63 or more.
  Value getTooLarge() const { return tooLarge; }

  /// Bytes of a value; 0, and a note of it, when they are not known.
  int64_t getBytes(Value value, ValueIndex index) {
    std::optional<int64_t> bytes = getStorageBytes(value.getType(), layout());
    if (!bytes)
      bytes = summaries.getModels().getTypeBytes(value.getType());
    if (!bytes)
      result.unknownSizes.push_back(index);
    if (!bytes && !tooLarge && isTooLarge(value.getType()))
      tooLarge = value;
    return bytes.value_or(0);
  }

  /// `position` is the number of the operation in the block.
  LogicalResult addOperation(Operation *op, int64_t position);

  /// Constants and destinations are made by their readers; what a caller or a callee
  /// gets of them is in memory. A caller gets copies of program data, a callee copies of
  /// parts of a storage.
  void addHandedOver(planner::Operation &operation, bool isCall) {
    const std::vector<planner::Value> &values = result.problem.values;
    for (ValueIndex read : operation.reads) {
      ValueIndex root = getRoot(result.problem, read);
      bool isCopied =
          isCall ? isPart(read, root) : read != root && result.constantLocs.contains(root);
      if (values[root].placement == Placement::None || isCopied)
        operation.workspace += values[read].bytes;
    }
  }

  const DataLayout &layout() { return dataLayout; }

private:
  /// Whether a value is smaller than the one whose storage it shows.
  bool isPart(ValueIndex value, ValueIndex root) const {
    // Where `root` is from outside, it counts 0 bytes.
    int64_t rootBytes = result.problem.values[root].bytes;
    if (Value stored = result.values[root])
      rootBytes = getStorageBytes(stored.getType(), dataLayout).value_or(rootBytes);
    return result.problem.values[value].bytes < rootBytes;
  }

  /// The index of a value that is read; values from outside the block, or not
  /// yet defined in it, count as there from the start and as 0 bytes.
  ValueIndex getIndex(Value value) {
    if (auto it = result.valueIndex.find(value); it != result.valueIndex.end())
      return it->second;
    return addBoundary(value, 0, "outside");
  }

  /// Whether the bytes of a type are known, but overflow.
  bool isTooLarge(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding())
      return false;
    std::optional<int64_t> bytes = getStorageBytes(tensor.getElementType(), layout());
    bool overflows = false;
    for (int64_t dim : tensor.getShape())
      overflows |= bytes && llvm::MulOverflow(*bytes, dim, *bytes);
    return overflows;
  }

  void addReads(Operation *op, ArrayRef<Operation *> inlined, const OperationModel &model,
                planner::Operation &operation);
  int64_t getKernelCost(Operation *op, ArrayRef<Operation *> inlined);
  LogicalResult applyPolicy(Operation *op, planner::Operation &operation, std::string &whyNot,
                            bool sizesKnown);

  SummaryAnalysis &summaries;
  FunctionProblem &result;
  DataLayout dataLayout;
  const llvm::DenseSet<Operation *> &virtuals;
  llvm::DenseMap<const void *, ValueIndex> constants;
  Value tooLarge;
};
} // namespace

void BlockTranslator::addReads(Operation *op, ArrayRef<Operation *> inlined,
                               const OperationModel &model, planner::Operation &operation) {
  llvm::SmallPtrSet<Value, 8> seen;
  auto addRead = [&](Value value) {
    Operation *producer = value.getDefiningOp();
    if (!(producer && virtuals.contains(producer)) && seen.insert(value).second)
      operation.reads.push_back(getIndex(value));
  };
  auto isStorageSource = [&](unsigned operand) {
    return llvm::any_of(model.storage, [&](const ResultStorage &entry) {
      return (entry.kind == ResultStorage::Kind::View ||
              entry.kind == ResultStorage::Kind::Reuse) &&
             entry.operand == operand;
    });
  };
  SmallVector<Value> shapesOnly;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    // A buffer that is written must be there.
    bool isWritten = isa<BaseMemRefType>(operand.get().getType()) && !model.isPure();
    if (llvm::is_contained(model.unreadOperands, number) && !isStorageSource(number) && !isWritten)
      shapesOnly.push_back(operand.get());
    else
      addRead(operand.get());
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Operation *inner : inlined) {
    for (Value operand : inner->getOperands())
      addRead(operand);
    getUsedValuesDefinedAbove(inner->getRegions(), captured);
  }
  for (Value value : captured)
    if (seen.insert(value).second)
      operation.reads.push_back(getIndex(value));
  for (Value value : shapesOnly)
    if (seen.insert(value).second)
      operation.dependences.push_back(getIndex(value));
}

LogicalResult BlockTranslator::applyPolicy(Operation *op, planner::Operation &operation,
                                           std::string &whyNot, bool sizesKnown) {
  auto policy = op->getAttrOfType<PolicyAttr>(RematDialect::getPolicyAttrName());
  if (!policy)
    return success();
  if (policy.getValue() == remat::Policy::MustSave) {
    if (!sizesKnown)
      return op->emitError("'") << op->getName()
                                << "' must be saved, but the size of its result is not known";
    operation.policy = planner::Policy::MustSave;
    whyNot = "must be saved";
    return success();
  }
  if (!whyNot.empty())
    return op->emitError("'") << op->getName() << "' must be recomputed, but it " << whyNot;
  operation.policy = planner::Policy::MustRecompute;
  return success();
}

/// Whether `op` reads `value` through several operands, or also from a region.
static bool isReadTwice(Operation *op, Value value) {
  int64_t numReads = llvm::count(op->getOperands(), value);
  for (OpOperand &use : value.getUses())
    if (numReads == 1 && use.getOwner() != op && op->isProperAncestor(use.getOwner()))
      ++numReads;
  return numReads > 1;
}

/// Picoseconds of an operation with all that it computes where it reads it: their
/// arithmetic, and the bytes that come from memory and go there.
int64_t BlockTranslator::getKernelCost(Operation *op, ArrayRef<Operation *> inlined) {
  const OperationSummary &summary = summaries.summarize(op);
  bool isMovement = isForXLA() && summary.model.fusionRole == FusionRole::Movement;
  if ((inlined.empty() && !isMovement) || op->hasAttr(RematDialect::getCostAttrName()))
    return summary.cost;
  const Target &target = summaries.getTarget();
  int64_t arithmetic = 0;
  auto add = [&](Operation *member) {
    const OperationModel &model = summaries.summarize(member).model;
    arithmetic = addCosts(arithmetic, target.getCost(model.flops, model.flopsType, /*bytes=*/0));
  };
  llvm::for_each(inlined, add);
  add(op);
  int64_t bytes = getReadBytes(op, inlined, summaries);
  for (Value value : op->getResults())
    bytes = addCosts(bytes, getStorageBytes(value.getType(), dataLayout).value_or(0));
  return std::max(arithmetic, target.getCost(/*flops=*/0, Type(), bytes));
}

LogicalResult BlockTranslator::addOperation(Operation *op, int64_t position) {
  if (virtuals.contains(op))
    return success();
  SmallVector<Operation *> inlined = getInlined(op, virtuals);
  const OperationSummary &summary = summaries.summarize(op);
  const OperationModel &model = summary.model;
  OpIndex index = result.operations.size();
  planner::Operation operation;
  operation.name = op->getName().getStringRef().str();
  operation.cost = getKernelCost(op, inlined);
  operation.workspace = summary.workspace;
  std::string whyNot = summary.whyNot;
  addReads(op, inlined, model, operation);
  if (isa<CallOpInterface>(op))
    addHandedOver(operation, /*isCall=*/true);

  bool sizesKnown = true;
  for (OpResult opResult : op->getResults()) {
    ValueIndex valueIndex = result.values.size();
    planner::Value value;
    value.producer = index;
    value.isAwaitable = !isa<BaseMemRefType>(opResult.getType());
    size_t numUnknown = result.unknownSizes.size();
    value.bytes = getBytes(opResult, valueIndex);
    const ResultStorage *entry = model.findStorage(opResult.getResultNumber());
    // A slice is no view for XLA.
    if (isForXLA() && model.fusionRole == FusionRole::Movement)
      entry = nullptr;
    if (entry) {
      switch (entry->kind) {
      case ResultStorage::Kind::View:
        // Nothing shows more than there is.
        if (std::optional<int64_t> viewed =
                getStorageBytes(op->getOperand(entry->operand).getType(), layout());
            viewed && value.bytes > *viewed)
          break;
        value.source = getIndex(op->getOperand(entry->operand));
        // What readers make is made in memory for a barrier of XLA, and anew for a reshape.
        if (isForXLA() && result.problem.values[value.source].placement == Placement::None) {
          value.source = kNoValue;
          value.placement = model.isPure() ? Placement::None : Placement::Own;
          break;
        }
        value.placement = Placement::View;
        break;
      case ResultStorage::Kind::Reuse:
        // A destination that is an operand twice cannot be overwritten.
        if (isReadTwice(op, op->getOperand(entry->operand)))
          break;
        value.placement = Placement::Reuse;
        value.source = getIndex(op->getOperand(entry->operand));
        break;
      case ResultStorage::Kind::None:
        value.placement = Placement::None;
        break;
      case ResultStorage::Kind::Constant:
        value.placement = Placement::View;
        value.source = addConstant(entry->data, value.bytes, op->getLoc());
        operation.reads.push_back(value.source);
        break;
      }
      // The boundary values that the lines above may have added come first.
      valueIndex = result.values.size();
    } else if (isForXLA() && model.fusionRole == FusionRole::Iota) {
      value.placement = Placement::None;
    }
    // A value without a storage of its own has no size of its own to know.
    if (value.placement == Placement::None || value.placement == Placement::View)
      result.unknownSizes.resize(numUnknown);
    else if (result.unknownSizes.size() > numUnknown)
      sizesKnown = false, result.unknownSizes.back() = valueIndex;
    operation.writes.push_back(valueIndex);
    result.values.push_back(opResult);
    result.problem.values.push_back(std::move(value));
    result.valueIndex[opResult] = valueIndex;
  }

  if (whyNot.empty() && !sizesKnown)
    whyNot = "has a result whose size is not known";
  if (op->hasTrait<OpTrait::IsTerminator>() || op == &op->getBlock()->back())
    operation.effect = Effect::Pinned;
  else
    operation.effect = summary.effects == EffectKind::Pure ? Effect::Pure : Effect::Ordered;
  if (failed(applyPolicy(op, operation, whyNot, sizesKnown)))
    return failure();
  operation.recomputable = operation.effect == Effect::Pure && whyNot.empty();
  if (summary.unknownSize)
    result.innerUnknownSizes[op] = summary.unknownSize;
  if (summary.isRecursive)
    result.recursiveCalls.push_back(op);
  result.operations.push_back(op);
  result.inlined.emplace_back(inlined.begin(), inlined.end());
  result.positions.push_back(position);
  result.problem.operations.push_back(std::move(operation));
  result.whyNot.push_back(std::move(whyNot));
  return success();
}

/// Whether a region belongs to a loop that changes its operands in their place.
static bool isLoop(Region &region, SummaryAnalysis &summaries) {
  return lookupModel(region.getParentOp(), summaries.getModels())
             .value_or(OperationModel())
             .fusionRole == FusionRole::Loop;
}

int64_t mlir::remat::getInnerPeak(Region &region, SummaryAnalysis &summaries) {
  if (region.empty())
    return 0;
  DataLayout layout = DataLayout::closest(region.getParentOp());
  if (!region.hasOneBlock()) {
    int64_t sum = 0;
    region.walk([&](Operation *op) {
      for (Value value : op->getResults())
        sum = addCosts(sum, getStorageBytes(value.getType(), layout).value_or(0));
    });
    return sum;
  }
  FunctionProblem inner;
  llvm::DenseSet<Operation *> virtuals = findVirtuals(region.front(), summaries);
  BlockTranslator translator(region.front(), virtuals, summaries, inner);
  for (Value argument : region.front().getArguments())
    translator.addBoundary(argument, 0, "argument");
  for (auto [position, op] : llvm::enumerate(region.front()))
    if (failed(translator.addOperation(&op, position)))
      return 0;
  if (translator.isForXLA() && !inner.operations.empty())
    shareBuffers(inner, summaries, isLoop(region, summaries));
  for (planner::Value &value : inner.problem.values)
    if (value.producer == kBoundary)
      value.bytes = 0;
  if (llvm::Error error = planner::check(inner.problem)) {
    llvm::consumeError(std::move(error));
    return 0;
  }
  return planner::simulate(inner.problem, planner::identityPlan(inner.problem)).livePeak;
}

/// Tensors that share a buffer with a memref change when the buffer is written.
/// Operations that read such a storage, or a memref, keep their place if a write
/// may follow them.
static void keepReadsBeforeWrites(FunctionProblem &result, SummaryAnalysis &summaries) {
  planner::Problem &problem = result.problem;
  std::vector<ValueIndex> root = listRoots(problem);
  std::vector<bool> hasMemRef(problem.values.size());
  for (auto [index, value] : llvm::enumerate(result.values))
    if (value && isa<BaseMemRefType>(value.getType()))
      hasMemRef[root[index]] = true;
  bool isWriteBehind = false;
  for (OpIndex index = problem.operations.size() - 1; index >= 0; --index) {
    planner::Operation &operation = problem.operations[index];
    bool isView =
        !operation.writes.empty() && llvm::all_of(operation.writes, [&](ValueIndex value) {
          return problem.values[value].placement == Placement::View;
        });
    if (operation.effect == Effect::Ordered)
      isWriteBehind |=
          !isView && summaries.summarize(result.operations[index]).effects == EffectKind::Ordered;
    if (operation.effect != Effect::Pure || isView || !isWriteBehind ||
        llvm::none_of(operation.reads, [&](ValueIndex read) { return hasMemRef[root[read]]; }))
      continue;
    operation.effect = Effect::Ordered;
    operation.recomputable = false;
    if (result.whyNot[index].empty())
      result.whyNot[index] = "reads memory that may be overwritten later";
  }
}

static bool isDiscrete(Value value) {
  Type type = value ? getElementTypeOrSelf(value.getType()) : Type();
  return isa_and_nonnull<IntegerType, IndexType>(type);
}

/// A discrete decision (a comparison, an argmax, a count) that sizes depend on is
/// saved: computed again with another rounding it would change shapes.
static void saveDecisionsAboutShapes(FunctionProblem &result) {
  planner::Problem &problem = result.problem;
  std::vector<bool> decides(problem.operations.size());
  for (OpIndex index = problem.operations.size() - 1; index >= 0; --index) {
    planner::Operation &operation = problem.operations[index];
    bool isDynamic = llvm::any_of(result.operations[index]->getResultTypes(), [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped && shaped.hasRank() && !shaped.hasStaticShape();
    });
    for (ValueIndex read : operation.reads) {
      OpIndex producer = problem.values[read].producer;
      Value value = result.values[read];
      if (producer == kBoundary || !value)
        continue;
      bool isSize = isDynamic && value.getType().isIndex();
      if (isSize || (decides[index] && isDiscrete(value)))
        decides[producer] = true;
    }
    if (decides[index] && operation.recomputable) {
      operation.recomputable = false;
      result.whyNot[index] = "decides the shape of other values";
    }
  }
}

/// Emits an error at an operation that must be recomputed where that has turned out to
/// be impossible.
static LogicalResult checkPolicies(const FunctionProblem &result) {
  for (auto [index, operation] : llvm::enumerate(result.problem.operations))
    if (operation.policy == planner::Policy::MustRecompute && !operation.recomputable) {
      Operation *op = result.operations[index];
      return op->emitError("'") << op->getName() << "' must be recomputed, but it "
                                << (result.whyNot[index].empty() ? "has effects"
                                                                 : result.whyNot[index].c_str());
    }
  return success();
}

/// Emits an error at an operation in a region of `op` that must be recomputed: such
/// operations are no steps of a plan.
static LogicalResult checkNestedPolicies(Operation &op) {
  WalkResult result = op.walk([&](Operation *nested) {
    auto policy = nested->getAttrOfType<PolicyAttr>(RematDialect::getPolicyAttrName());
    if (nested == &op || !policy || policy.getValue() != remat::Policy::MustRecompute)
      return WalkResult::advance();
    nested->emitError("'") << nested->getName()
                           << "' must be recomputed, but it is in a region of '" << op.getName()
                           << "', which is executed as a whole";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// For each boundary value, the operations that read it or a view of it, in order.
static std::vector<SmallVector<OpIndex, 4>> listReadersOfBoundary(const planner::Problem &problem) {
  std::vector<SmallVector<OpIndex, 4>> readers(problem.values.size());
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    for (ValueIndex read : operation.reads)
      if (ValueIndex root = getRoot(problem, read); problem.values[root].producer == kBoundary)
        readers[root].push_back(index);
  return readers;
}

/// Finds the results that take the place of donated arguments: destination passing into an
/// argument of the same size by the last operation that reads it, which reads it once.
/// They are no memory of their own; the operation is executed once, behind all other
/// readers.
static void overwriteDonated(FunctionOpInterface function, FunctionProblem &result,
                             ArrayRef<unsigned> kept) {
  planner::Problem &problem = result.problem;
  std::vector<SmallVector<OpIndex, 4>> readers = listReadersOfBoundary(problem);
  auto isViewOnly = [&](OpIndex index) {
    return llvm::all_of(problem.operations[index].writes, [&](ValueIndex value) {
      return problem.values[value].placement == Placement::View;
    });
  };
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    if (!function.getArgAttr(argument, RematDialect::getDonatedAttrName()) ||
        llvm::is_contained(kept, argument) || readers[argument].empty())
      continue;
    OpIndex writer = readers[argument].back();
    planner::Operation &operation = problem.operations[writer];
    const auto *written = llvm::find_if(operation.writes, [&](ValueIndex value) {
      const planner::Value &info = problem.values[value];
      return info.placement == Placement::Reuse && info.bytes == problem.values[argument].bytes &&
             getRoot(problem, info.source) == ValueIndex(argument);
    });
    if (operation.effect != Effect::Pure || written == operation.writes.end() ||
        llvm::count(readers[argument], writer) != 1 ||
        operation.policy == planner::Policy::MustRecompute)
      continue;
    planner::Value &value = problem.values[*written];
    value.placement = Placement::None;
    value.source = kNoValue;
    operation.recomputable = false;
    result.whyNot[writer] = "overwrites an argument";
    for (OpIndex reader : ArrayRef(readers[argument]).drop_back())
      if (const auto &writes = problem.operations[reader].writes;
          !writes.empty() && !isViewOnly(reader) &&
          !llvm::is_contained(operation.reads, writes.front()) &&
          !llvm::is_contained(operation.dependences, writes.front()))
        operation.dependences.push_back(writes.front());
    result.overwritten.push_back({argument, writer});
  }
}

std::optional<unsigned> mlir::remat::findReadBehindWriter(const FunctionProblem &input,
                                                          const planner::Plan &plan) {
  const planner::Problem &problem = input.problem;
  llvm::DenseMap<ValueIndex, OpIndex> writerOf;
  for (const OverwrittenArgument &overwritten : input.overwritten)
    writerOf[overwritten.argument] = overwritten.writer;
  std::vector<bool> isExecuted(problem.operations.size());
  for (const planner::Step &step : plan.steps) {
    for (ValueIndex read : problem.operations[step.op].reads)
      if (auto it = writerOf.find(getRoot(problem, read));
          it != writerOf.end() && it->second != step.op && isExecuted[it->second])
        return it->first;
    isExecuted[step.op] = true;
  }
  return std::nullopt;
}

/// Sets the bytes of the arguments and of the results to 0, and those of the
/// destinations that only a result is written to: no region waits for these, which would
/// read them. Whatever else a result might be written over keeps a storage of its own, in
/// every plan.
static void dropArgumentsAndResults(FunctionProblem &result, unsigned numArguments) {
  planner::Problem &problem = result.problem;
  std::vector<int64_t> numReaders(problem.values.size());
  for (const planner::Operation &operation : problem.operations)
    for (ValueIndex value : operation.reads)
      ++numReaders[value];
  for (unsigned argument = 0; argument < numArguments; ++argument)
    problem.values[argument].bytes = 0;
  for (auto [buffer, value] : result.resultBuffers)
    problem.values[buffer].bytes = 0;
  for (ValueIndex read : problem.operations.back().reads) {
    ValueIndex value = getRoot(problem, read);
    while (value != kNoValue && problem.values[value].producer != kBoundary) {
      planner::Value &info = problem.values[value];
      OpIndex producer = info.producer;
      // Computed again, it would be no result, and would have to be counted.
      if (problem.operations[producer].recomputable && info.placement != Placement::None) {
        problem.operations[producer].recomputable = false;
        if (problem.operations[producer].policy == planner::Policy::MustRecompute)
          problem.operations[producer].policy = planner::Policy::None;
        result.whyNot[producer] = "computes a result, which the scope leaves out";
      }
      bool isOnlyDestination = info.placement == Placement::Reuse && numReaders[info.source] == 1 &&
                               problem.values[info.source].placement != Placement::View &&
                               problem.values[info.source].bytes == info.bytes;
      info.bytes = 0;
      value = isOnlyDestination ? info.source : kNoValue;
      if (isOnlyDestination)
        problem.values[value].isAwaitable = false;
    }
  }
  problem.operations.back().workspace = 0;
}

/// Costs saturate, one by one; so does their sum, as the planner wants it.
static void limitCosts(planner::Problem &problem) {
  int64_t largest = planner::kMaxProblemSum / problem.operations.size();
  for (planner::Operation &operation : problem.operations)
    operation.cost = std::min(operation.cost, largest);
}

/// Operations of a block with their positions.
using PlacedOperations = std::vector<std::pair<Operation *, int64_t>>;

/// Translates the operations of a function, executed in an order of their own.
static FailureOr<FunctionProblem> translate(FunctionOpInterface function,
                                            const PlacedOperations &operations,
                                            const llvm::DenseSet<Operation *> &virtuals,
                                            SummaryAnalysis &summaries, int64_t alignment) {
  FunctionProblem result;
  result.problem.alignment = alignment;
  result.fusion = summaries.getFusion();
  Block &block = function.getFunctionBody().front();
  BlockTranslator translator(block, virtuals, summaries, result);
  for (BlockArgument argument : block.getArguments()) {
    int64_t bytes = translator.getBytes(argument, argument.getArgNumber());
    translator.addBoundary(argument, bytes, "%arg" + std::to_string(argument.getArgNumber()));
  }
  for (auto [op, position] : operations) {
    // Program data of regions and callees is live throughout, too.
    for (const auto &[data, constant] : summaries.summarize(op).innerConstants)
      translator.addConstant(data, constant.bytes, constant.loc);
    if (failed(translator.addOperation(op, position)))
      return failure();
  }
  if (result.operations.empty())
    return emitError(function.getLoc(), "cannot analyze function '")
           << function.getName() << "': its body is empty";
  if (Value value = translator.getTooLarge())
    return emitError(value.getLoc(), "cannot analyze function '")
           << function.getName() << "': a value of type " << value.getType()
           << " has 2^63 bytes or more";
  translator.addHandedOver(result.problem.operations.back(), /*isCall=*/false);
  if (translator.isForXLA())
    shareBuffers(result, summaries, /*isLoopBody=*/false);
  limitCosts(result.problem);
  if (llvm::Error error = planner::check(result.problem))
    return emitError(function.getLoc(), "cannot analyze function '")
           << function.getName() << "': " << llvm::toString(std::move(error));
  return result;
}

/// The same operations in the order in which XLA would execute them.
static FailureOr<FunctionProblem> scheduleForXLA(FunctionOpInterface function,
                                                 const FunctionProblem &input,
                                                 const llvm::DenseSet<Operation *> &virtuals,
                                                 SummaryAnalysis &summaries) {
  std::optional<FunctionProblem> best;
  int64_t leastBytes = 0;
  for (const OperationOrder &order : listXLAOrders(input.problem)) {
    PlacedOperations operations;
    for (OpIndex op : order)
      operations.push_back({input.operations[op], input.positions[op]});
    FailureOr<FunctionProblem> scheduled =
        translate(function, operations, virtuals, summaries, input.problem.alignment);
    if (failed(scheduled))
      return failure();
    int64_t bytes =
        planner::simulate(scheduled->problem, planner::identityPlan(scheduled->problem)).livePeak;
    if (best && bytes >= leastBytes)
      continue;
    best = std::move(*scheduled);
    leastBytes = bytes;
  }
  return std::move(*best);
}

FailureOr<FunctionProblem> mlir::remat::buildProblem(FunctionOpInterface function,
                                                     SummaryAnalysis &summaries,
                                                     const ProblemOptions &options) {
  Region &body = function.getFunctionBody();
  if (!body.hasOneBlock())
    return emitError(function.getLoc(), "cannot analyze function '")
           << function.getName()
           << "': its body has several blocks; lift control flow to scf first";
  Block &block = body.front();
  PlacedOperations operations;
  for (auto [position, op] : llvm::enumerate(block)) {
    if (failed(checkNestedPolicies(op)))
      return failure();
    operations.push_back({&op, position});
  }
  bool isForXLA = summaries.getFusion() == Fusion::XLA;
  llvm::DenseSet<Operation *> virtuals = findVirtuals(block, summaries);
  FailureOr<FunctionProblem> built =
      translate(function, operations, virtuals, summaries, options.alignment);
  if (succeeded(built) && isForXLA && options.order == ExecutionOrder::Scheduled)
    built = scheduleForXLA(function, *built, virtuals, summaries);
  if (failed(built))
    return failure();
  FunctionProblem &result = *built;
  if (isForXLA)
    addResultBuffers(function, result);

  keepReadsBeforeWrites(result, summaries);
  saveDecisionsAboutShapes(result);
  if (failed(checkPolicies(result)))
    return failure();
  if (!isForXLA)
    overwriteDonated(function, result, options.kept);
  if (llvm::Error error = planner::check(result.problem))
    return emitError(function.getLoc(), "cannot analyze function '")
           << function.getName() << "': " << llvm::toString(std::move(error));

  for (auto [index, value] : llvm::enumerate(result.problem.values)) {
    if (value.producer != kBoundary)
      continue;
    bool isArgument = index < block.getNumArguments();
    bool isResult = result.resultBuffers.contains(index);
    (isArgument ? result.argumentBytes
     : isResult ? result.resultBytes
                : result.constantBytes) += value.bytes;
  }
  planner::Simulation simulation =
      planner::simulate(result.problem, planner::identityPlan(result.problem));
  planner::StepIndex numSteps = result.operations.size();
  for (const planner::Storage &storage : simulation.storages) {
    // The terminator is last: what is live there and computed here is a result.
    bool isRead = storage.end == numSteps && !storage.isBoundary;
    if (isRead)
      result.resultBytes += storage.bytes;
  }
  result.resultBytes += result.problem.operations.back().workspace;
  if (options.scope == Scope::Temporaries)
    dropArgumentsAndResults(result, block.getNumArguments());
  return built;
}
