//===- ApplyPlan.cpp - Rewriting a function as a plan says ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/ApplyPlan.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "Remat/Planner/Simulator.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::remat;
using planner::kBoundary;
using planner::kNoValue;
using planner::OpIndex;
using planner::Placement;
using planner::Plan;
using planner::StepIndex;
using planner::ValueIndex;

static constexpr llvm::StringLiteral kMark = "rematerialized";

/// Where a new operation is that stands for one at `loc`.
static Location getMarked(Location loc) {
  MLIRContext *context = loc.getContext();
  return FusedLoc::get(context, loc, StringAttr::get(context, kMark));
}

bool mlir::remat::isRematerialized(Operation *op) {
  auto loc = dyn_cast<FusedLoc>(op->getLoc());
  auto mark = loc ? dyn_cast_or_null<StringAttr>(loc.getMetadata()) : nullptr;
  return mark && mark.getValue() == kMark;
}

namespace {
class PlanApplier {
public:
  PlanApplier(const FunctionProblem &problem, const Plan &plan, const ModelTable &models)
      : problem(problem), plan(plan), models(models), terminator(problem.operations.back()),
        builder(terminator), stepOps(plan.steps.size()) {
    if (problem.fusion == Fusion::XLA)
      simulation = planner::simulate(problem.problem, plan);
    for (Operation &op : *terminator->getBlock()) {
      positions[&op] = input.size();
      input.push_back(&op);
    }
  }

  void run() {
    auto region = plan.regions.begin();
    for (StepIndex step = 0, e = plan.steps.size(); step < e;) {
      if (region != plan.regions.end() && region->begin == step) {
        emitRegion(*region);
        step = region->end;
        firstUnfenced = step;
        ++region;
      } else {
        placeOriginal(step);
        ++step;
      }
    }
    // Only now: a clone is made from its original's operands in the input.
    for (StepIndex step = 0, e = plan.steps.size(); step < e; ++step)
      if (!plan.steps[step].isClone)
        redirectOriginal(step);
    eraseDead();
  }

private:
  /// The value that `read` of the step's operation refers to.
  Value getInstance(Value read, StepIndex step) const {
    if (step == kBoundary)
      return read;
    return stepOps[step]->getResult(cast<OpResult>(read).getResultNumber());
  }

  /// What `instance` is called at a step, behind the barriers that it has passed.
  Value getFenced(Value instance, StepIndex step) const {
    auto it = fences.find(instance);
    if (it != fences.end())
      for (auto [begin, result] : llvm::reverse(it->second))
        if (begin < step)
          return result;
    return instance;
  }

  /// Calls `visit` with each value that a step reads or needs the shape of, and
  /// with the value it refers to.
  template <typename Fn>
  void forEachUse(StepIndex index, Fn visit) const {
    const planner::Step &step = plan.steps[index];
    const planner::Operation &operation = problem.problem.operations[step.op];
    for (auto [value, from] : llvm::zip_equal(operation.reads, step.reads))
      if (Value read = problem.values[value])
        visit(read, getInstance(read, from));
    for (auto [value, from] : llvm::zip_equal(operation.dependences, step.dependences))
      if (Value read = problem.values[value])
        visit(read, getInstance(read, from));
  }

  /// What a step computes where it reads it.
  ArrayRef<Operation *> getInlined(StepIndex step) const {
    return problem.inlined[plan.steps[step].op];
  }

  void placeOriginal(StepIndex index);
  void redirectOriginal(StepIndex index);
  void emitRegion(const planner::Region &region);
  void eraseDead();

  bool isInRegion(StepIndex step, const planner::Region &region) const {
    return step >= region.begin && step < region.end;
  }
  /// A constant that readers make anew, so that its place never matters.
  bool isConstant(ValueIndex value) const {
    OpIndex producer = problem.problem.values[value].producer;
    if (producer == kBoundary)
      return false;
    Operation *op = problem.operations[producer];
    return op->hasTrait<OpTrait::ConstantLike>() ||
           (!op->isRegistered() && problem.problem.values[value].placement == Placement::None);
  }
  /// The beginning of a destination-passing chain, which is no result in the place of an
  /// argument: those are computed once.
  bool isInit(ValueIndex value) const {
    const planner::Value &info = problem.problem.values[value];
    return info.placement == Placement::None && !isConstant(value) &&
           (info.producer == kBoundary || problem.problem.operations[info.producer].recomputable);
  }
  bool fitsBarrier(Value value) const { return !isa<BaseMemRefType>(value.getType()); }

  Operation *cloneMarked(Operation *op, IRMapping &mapping);
  Operation *cloneStep(StepIndex index, IRMapping &mapping);
  SmallVector<Value> createBarrier(ArrayRef<Value> inputs, ArrayRef<Value> after, StringRef name,
                                   Location loc);
  SmallVector<Value> getUnfenced(const planner::Region &region) const;
  StringRef getBarrierName(const planner::Region &region) const;

  const FunctionProblem &problem;
  const Plan &plan;
  const ModelTable &models;
  Operation *terminator;
  OpBuilder builder;
  /// For XLA, which has an order of its own: when values are live. And the first step that
  /// no barrier is behind.
  std::optional<planner::Simulation> simulation;
  StepIndex firstUnfenced = 0;
  /// For XLA, by value: the beginnings of regions whose barriers it has passed, with the
  /// results. What is behind the beginning reads these: XLA drops from a barrier what
  /// nobody reads behind it, and executes what waits for nothing when it likes.
  llvm::DenseMap<Value, SmallVector<std::pair<StepIndex, Value>, 2>> fences;
  /// The operations of the body as it came in, and their positions.
  std::vector<Operation *> input;
  llvm::DenseMap<Operation *, int64_t> positions;
  /// Operations inside of others that have been put in front of one that reads them.
  llvm::DenseSet<Operation *> placed;
  /// The operation that each step has become.
  std::vector<Operation *> stepOps;
};
} // namespace

void PlanApplier::placeOriginal(StepIndex index) {
  Operation *op = problem.operations[plan.steps[index].op];
  stepOps[index] = op;
  for (Operation *inlined : getInlined(index))
    if (placed.insert(inlined).second)
      inlined->moveBefore(terminator);
  if (op != terminator)
    op->moveBefore(terminator);
}

/// Lets an original read the instances that the plan says.
void PlanApplier::redirectOriginal(StepIndex index) {
  Operation *op = stepOps[index];
  IRMapping changed;
  // What is computed from a value that was computed again.
  llvm::SmallPtrSet<Value, 8> recomputed;
  // Sums stay as they are: XLA adds in another order where it cannot see the transposes in
  // front of them.
  bool isSum = !fences.empty() && lookupModel(op, models).value_or(OperationModel()).fusionRole ==
                                      FusionRole::Reduction;
  forEachUse(index, [&](Value read, Value instance) {
    Value fenced = isSum ? instance : getFenced(instance, index);
    if (read != fenced)
      changed.map(read, fenced);
    if (read != instance)
      recomputed.insert(read);
  });
  if (changed.getValueMap().empty())
    return;
  // Others may still compute what is inside of it from the values as they were.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  for (Operation *inlined : getInlined(index)) {
    if (llvm::none_of(inlined->getOperands(), [&](Value v) { return changed.contains(v); }))
      continue;
    if (llvm::none_of(inlined->getOperands(), [&](Value v) { return recomputed.contains(v); })) {
      builder.clone(*inlined, changed);
      continue;
    }
    cloneMarked(inlined, changed);
    recomputed.insert(inlined->result_begin(), inlined->result_end());
  }
  for (auto [read, instance] : changed.getValueMap()) {
    op->replaceUsesOfWith(read, instance);
    for (Region &region : op->getRegions())
      replaceAllUsesInRegionWith(read, instance, region);
  }
}

/// A copy of an operation that reads what `mapping` says, marked as a clone.
Operation *PlanApplier::cloneMarked(Operation *op, IRMapping &mapping) {
  Operation *clone = builder.clone(*op, mapping);
  clone->setLoc(getMarked(clone->getLoc()));
  clone->setDiscardableAttr(RematDialect::getCloneOfAttrName(),
                            builder.getI64IntegerAttr(positions.at(op)));
  return clone;
}

/// A copy of an original, and of what it computes, at the end of the block.
Operation *PlanApplier::cloneStep(StepIndex index, IRMapping &mapping) {
  for (Operation *inlined : getInlined(index))
    cloneMarked(inlined, mapping);
  return cloneMarked(problem.operations[plan.steps[index].op], mapping);
}

/// The barrier of the dialect of the region's operations, if it has one.
StringRef PlanApplier::getBarrierName(const planner::Region &region) const {
  for (StepIndex step = region.begin; step < region.end; ++step) {
    StringRef dialect = problem.operations[plan.steps[step].op]->getName().getDialectNamespace();
    if (StringRef name = models.getBarrierName(dialect); !name.empty())
      return name;
  }
  // Operations beside a dialect with a barrier, as those of CHLO beside StableHLO.
  if (!problem.operations[plan.steps[region.begin].op]->isRegistered())
    for (Operation *op : input)
      if (StringRef name = models.getBarrierName(op->getName().getDialectNamespace());
          !name.empty())
        return name;
  return {};
}

/// The results stand for the inputs; if the barrier has a name also for `after`.
SmallVector<Value> PlanApplier::createBarrier(ArrayRef<Value> inputs, ArrayRef<Value> after,
                                              StringRef name, Location loc) {
  if (name.empty())
    return llvm::to_vector_of<Value>(BarrierOp::create(builder, loc, inputs, after).getResults());
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, after);
  OperationState state(loc, name, operands, ValueRange(operands).getTypes());
  return llvm::to_vector_of<Value>(builder.create(state)->getResults());
}

/// What is computed between the last barrier and a region, and read behind it, and what the
/// region does not wait for anyway: if it waits for all of it, it is not computed while what
/// that is computed from is still in memory.
SmallVector<Value> PlanApplier::getUnfenced(const planner::Region &region) const {
  std::vector<bool> isAwaited(region.end - firstUnfenced);
  auto await = [&](StepIndex step) {
    if (step >= firstUnfenced)
      isAwaited[step - firstUnfenced] = true;
  };
  if (region.after.value != kNoValue)
    await(region.after.step);
  for (StepIndex step = region.begin; step < region.end; ++step)
    await(step);
  for (StepIndex step = region.end - 1; step >= firstUnfenced; --step) {
    if (!isAwaited[step - firstUnfenced])
      continue;
    llvm::for_each(plan.steps[step].reads, await);
    llvm::for_each(plan.steps[step].dependences, await);
  }
  // By storage: what it holds.
  llvm::MapVector<planner::StorageIndex, Value> contents;
  for (StepIndex step = firstUnfenced; step < region.begin; ++step) {
    if (isAwaited[step - firstUnfenced])
      continue;
    const planner::Operation &operation = problem.problem.operations[plan.steps[step].op];
    for (auto [number, value] : llvm::enumerate(operation.writes)) {
      planner::StorageIndex index = simulation->storageOf[simulation->firstWrite[step] + number];
      if (problem.problem.values[value].placement == Placement::View ||
          index == planner::kNoStorage || simulation->storages[index].bytes == 0 ||
          simulation->storages[index].end <= region.begin)
        continue;
      contents[index] = stepOps[step]->getResult(number);
    }
  }
  return llvm::map_to_vector(contents, [](const auto &entry) { return entry.second; });
}

/// Emits the clones of a region behind one barrier over everything they read
/// from outside. Constants stay outside of it, so that readers still see that
/// they are constant, except where an operation reads nothing else: it would be
/// merged with its original.
void PlanApplier::emitRegion(const planner::Region &region) {
  llvm::SetVector<Value> inputs, inits;
  // Steps of the region that depend on an input.
  llvm::SmallPtrSet<Operation *, 16> tied;
  std::vector<bool> isTied(region.end - region.begin);
  llvm::DenseMap<std::pair<StepIndex, Value>, bool> takesConstant;
  for (StepIndex index = region.begin; index < region.end; ++index) {
    const planner::Step &step = plan.steps[index];
    const planner::Operation &operation = problem.problem.operations[step.op];
    Value constant, init;
    bool isHeld = false;
    auto look = [&](ValueIndex value, StepIndex from) {
      Value read = problem.values[value];
      if (!read)
        return;
      if (isInRegion(from, region)) {
        isHeld |= isTied[from - region.begin];
        return;
      }
      Value instance = getFenced(getInstance(read, from), index);
      if (isConstant(value)) {
        // A scalar rather than a tensor.
        if (!constant ||
            (isa<ShapedType>(constant.getType()) && !isa<ShapedType>(instance.getType())))
          constant = instance;
      } else if (isInit(value)) {
        inits.insert(instance);
        init = instance;
      } else if (fitsBarrier(instance)) {
        inputs.insert(instance);
        isHeld = true;
      }
    };
    // What is only asked for its shape stays outside: the barrier would read it.
    for (auto [value, from] : llvm::zip_equal(operation.reads, step.reads))
      look(value, from);
    if (!isHeld && (constant || init)) {
      Value held = constant ? constant : init;
      if (constant)
        inputs.insert(held);
      takesConstant[{index, held}] = true;
      isHeld = true;
    }
    isTied[index - region.begin] = isHeld;
  }

  Location loc = getMarked(problem.operations[plan.steps[region.begin].op]->getLoc());
  // Destinations begin anew in the region; their sizes come from outside.
  IRMapping initMapping;
  for (Value init : inits)
    builder.clone(*init.getDefiningOp(), initMapping)->setLoc(loc);
  SmallVector<Value> held(inputs.getArrayRef());
  SmallVector<Value> heldInits;
  for (Value init : inits) {
    bool isHeld =
        llvm::any_of(takesConstant, [&](const auto &entry) { return entry.first.second == init; });
    if (isHeld)
      heldInits.push_back(init);
  }
  for (Value init : heldInits)
    held.push_back(initMapping.lookup(init));

  IRMapping inputMapping, heldInitMapping;
  if (!held.empty()) {
    llvm::SetVector<Value> awaited;
    if (region.after.value != kNoValue)
      awaited.insert(getInstance(problem.values[region.after.value], region.after.step));
    if (simulation)
      awaited.insert_range(getUnfenced(region));
    SmallVector<Value> after, passing;
    for (Value value : awaited)
      if (Value fenced = getFenced(value, region.begin); !llvm::is_contained(held, fenced)) {
        after.push_back(fenced);
        passing.push_back(value);
      }
    if (after.empty())
      after.push_back(held.front());
    SmallVector<Value> results = createBarrier(held, after, getBarrierName(region), loc);
    if (simulation && results.size() > held.size())
      for (auto [value, result] : llvm::zip(passing, ArrayRef(results).drop_front(held.size())))
        fences[value].push_back({region.begin, result});
    for (auto [input, result] : llvm::zip(inputs, results))
      inputMapping.map(input, result);
    for (auto [init, result] : llvm::zip(heldInits, ArrayRef(results).drop_front(inputs.size())))
      heldInitMapping.map(init, result);
  }

  for (StepIndex index = region.begin; index < region.end; ++index) {
    IRMapping mapping;
    const planner::Step &step = plan.steps[index];
    const planner::Operation &operation = problem.problem.operations[step.op];
    auto map = [&](ValueIndex value, StepIndex from) {
      Value read = problem.values[value];
      if (!read)
        return;
      Value instance = getFenced(getInstance(read, from), index);
      if (isInRegion(from, region))
        mapping.map(read, instance);
      else if (isConstant(value))
        mapping.map(read, takesConstant.contains({index, instance}) ? inputMapping.lookup(instance)
                                                                    : instance);
      else if (isInit(value) && inits.contains(instance))
        mapping.map(read, takesConstant.contains({index, instance})
                              ? heldInitMapping.lookup(instance)
                              : initMapping.lookup(instance));
      else
        mapping.map(read, inputMapping.lookupOrDefault(instance));
    };
    for (auto [value, from] : llvm::zip_equal(operation.reads, step.reads))
      map(value, from);
    for (auto [value, from] : llvm::zip_equal(operation.dependences, step.dependences))
      map(value, from);
    stepOps[index] = cloneStep(index, mapping);
  }
  // An init whose readers all take it through the barrier has no other use.
  for (Value init : inits)
    if (Value copy = initMapping.lookup(init); copy.use_empty())
      copy.getDefiningOp()->erase();
}

/// Erases the originals that the plan no longer executes, last ones first, and
/// what takes no memory and has lost its readers with them: constants, inits, views,
/// and what readers compute.
void PlanApplier::eraseDead() {
  std::vector<bool> isKept(problem.operations.size());
  for (const planner::Step &step : plan.steps)
    if (!step.isClone)
      isKept[step.op] = true;
  std::vector<bool> hadReaders(problem.operations.size());
  for (const planner::Operation &operation : problem.problem.operations)
    for (ValueIndex value : operation.reads)
      if (OpIndex producer = problem.problem.values[value].producer; producer != kBoundary)
        hadReaders[producer] = true;
  auto lostReaders = [&](OpIndex index) {
    const planner::Operation &operation = problem.problem.operations[index];
    return hadReaders[index] && operation.effect == planner::Effect::Pure &&
           problem.operations[index]->use_empty() &&
           llvm::all_of(operation.writes, [&](ValueIndex value) {
             const planner::Value &info = problem.problem.values[value];
             // Program constants are counted as long as the function has them.
             bool isProgramConstant =
                 info.placement == Placement::View && !problem.values[info.source];
             return info.placement == Placement::None ||
                    (info.placement == Placement::View && !isProgramConstant);
           });
  };
  OpIndex index = problem.operations.size() - 1;
  for (Operation *op : llvm::reverse(input)) {
    bool isStep = index >= 0 && op == problem.operations[index];
    if (isStep ? !isKept[index] || lostReaders(index) : op->use_empty())
      op->erase();
    index -= isStep;
  }
}

void mlir::remat::applyPlan(const FunctionProblem &problem, const Plan &plan,
                            const ModelTable &models) {
  PlanApplier(problem, plan, models).run();
}
