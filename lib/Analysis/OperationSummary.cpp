//===- OperationSummary.cpp - Operations with their regions and callees -----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/OperationSummary.h"

#include "Remat/Analysis/CostProfile.h"
#include "Remat/Analysis/FunctionProblem.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::remat;

/// The stronger of two effects.
static EffectKind join(EffectKind a, EffectKind b) { return std::max(a, b); }

static std::string describeEffects(EffectKind effects) {
  return effects == EffectKind::Reads ? "reads memory" : "has side effects";
}

FunctionOpInterface SummaryAnalysis::resolveCallee(Operation *op) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return nullptr;
  auto symbol = dyn_cast<SymbolRefAttr>(call.getCallableForCallee());
  if (!symbol)
    return nullptr;
  return dyn_cast_or_null<FunctionOpInterface>(symbols.lookupNearestSymbolFrom(op, symbol));
}

LogicalResult SummaryAnalysis::useProfile(const CostProfile &profile,
                                          FunctionOpInterface function) {
  FailureOr<llvm::DenseMap<Operation *, int64_t>> costs = getMeasuredCosts(function, profile);
  if (failed(costs))
    return failure();
  measuredCosts = std::move(*costs);
  return success();
}

const OperationSummary &SummaryAnalysis::summarize(Operation *op) {
  if (auto it = summaries.find(op); it != summaries.end())
    return *it->second;
  auto summary = std::make_unique<OperationSummary>(compute(op));
  return *(summaries[op] = std::move(summary));
}

OperationSummary SummaryAnalysis::compute(Operation *op) {
  OperationSummary summary;
  if (std::optional<OperationModel> model = lookupModel(op, models)) {
    summary.model = std::move(*model);
    summary.hasModel = true;
  } else {
    summary.model.whyNot = "is not described by any model";
  }
  const OperationModel &model = summary.model;
  summary.effects = model.effects;
  summary.whyNot = model.whyNot;
  if (summary.whyNot.empty() && !model.isPure())
    summary.whyNot = describeEffects(model.effects);
  summary.cost = target.getCost(model.flops, model.flopsType, model.bytesMoved);
  summary.workspace = model.workspaceBytes;
  if (auto workspace = op->getAttrOfType<IntegerAttr>(RematDialect::getWorkspaceAttrName()))
    summary.workspace = std::min(workspace.getInt(), addCosts(workspace.getInt(), 0));

  // Effects inside regions count in any case; cost and memory where the model
  // does not already speak for the regions.
  int64_t innerPeak = 0;
  CalleeSummary inside;
  inside.effects = EffectKind::Pure;
  for (Region &region : op->getRegions()) {
    addRegion(region, model.perElementRegions, inside);
    if (!model.perElementRegions)
      innerPeak = std::max(innerPeak, getInnerPeak(region, *this));
  }
  if (!model.perElementRegions) {
    int64_t trips = model.tripCount.value_or(kUnknownTripCount);
    summary.cost = addCosts(summary.cost, multiplyCosts(inside.cost, trips));
  }
  summary.workspace += innerPeak;
  summary.innerConstants = std::move(inside.constants);
  summary.unknownSize = inside.unknownSize;
  summary.isRecursive = inside.isRecursive;
  summary.effects = join(summary.effects, inside.effects);
  if (summary.whyNot.empty())
    summary.whyNot = inside.whyNot;

  addCallees(op, summary);
  if (summary.whyNot.empty() && !model.costIsKnown)
    summary.whyNot = "has a cost that is not known";

  if (auto cost = measuredCosts.find(op); cost != measuredCosts.end())
    summary.cost = cost->second;
  if (auto cost = op->getAttrOfType<IntegerAttr>(RematDialect::getCostAttrName()))
    summary.cost = std::min(cost.getInt(), addCosts(cost.getInt(), 0));
  if (auto word = op->getAttrOfType<BoolAttr>(RematDialect::getRecomputableAttrName())) {
    if (!word.getValue()) {
      summary.whyNot = "carries 'remat.recomputable = false'";
    } else {
      summary.whyNot.clear();
      summary.effects = EffectKind::Pure;
    }
  }
  // A second operation of the same name or on the same channel is another program.
  if (getInherentOrDiscardableAttr(op, SymbolTable::getSymbolAttrName()))
    summary.whyNot = "has a name of its own";
  else if (getInherentOrDiscardableAttr(op, "channel_handle") ||
           getInherentOrDiscardableAttr(op, "channel_id"))
    summary.whyNot = "has a channel of its own";
  return summary;
}

/// A result with a storage of its own whose size is not known; null if there is
/// none.
static Value findUnknownSize(Operation *op, const OperationModel &model, const DataLayout &layout,
                             const ModelTable &models) {
  for (OpResult result : op->getResults()) {
    const ResultStorage *entry = model.findStorage(result.getResultNumber());
    bool isCounted = !entry || entry->kind == ResultStorage::Kind::Reuse;
    if (isCounted && !getStorageBytes(result.getType(), layout) &&
        !models.getTypeBytes(result.getType()))
      return result;
  }
  return nullptr;
}

void SummaryAnalysis::addRegion(Region &region, bool perElement, CalleeSummary &summary) {
  DataLayout layout = DataLayout::closest(region.getParentOp());
  for (Block &block : region) {
    for (Operation &op : block) {
      const OperationSummary &inner = summarize(&op);
      for (const ResultStorage &entry : inner.model.storage)
        if (entry.kind == ResultStorage::Kind::Constant)
          summary.constants.insert(
              {entry.data,
               {getStorageBytes(op.getResult(entry.result).getType(), layout).value_or(0),
                op.getLoc()}});
      for (const auto &constant : inner.innerConstants)
        summary.constants.insert(constant);
      if (!perElement && !summary.unknownSize)
        summary.unknownSize = inner.unknownSize ? inner.unknownSize
                                                : findUnknownSize(&op, inner.model, layout, models);
      summary.isRecursive |= inner.isRecursive;
      summary.effects = join(summary.effects, inner.effects);
      if (!perElement)
        summary.cost = addCosts(summary.cost, inner.cost);
      if (summary.whyNot.empty() && !inner.whyNot.empty())
        summary.whyNot =
            ("contains '" + op.getName().getStringRef() + "', which " + inner.whyNot).str();
    }
  }
}

void SummaryAnalysis::addCallees(Operation *op, OperationSummary &summary) {
  auto call = dyn_cast<CallOpInterface>(op);
  if (!call)
    return;
  FunctionOpInterface callee = resolveCallee(op);
  if (!callee || callee.isExternal()) {
    summary.effects = EffectKind::Ordered;
    summary.whyNot = "calls a function without a body";
    return;
  }
  const CalleeSummary &inner = summarizeCallee(callee);
  summary.effects = join(summary.effects, inner.effects);
  summary.cost = addCosts(summary.cost, inner.cost);
  summary.workspace += inner.workspace;
  for (const auto &constant : inner.constants)
    summary.innerConstants.insert(constant);
  if (!summary.unknownSize)
    summary.unknownSize = inner.unknownSize;
  summary.isRecursive |= inner.isRecursive;
  if (summary.whyNot.empty() && !inner.whyNot.empty())
    summary.whyNot = "calls '" + callee.getName().str() + "', which " + inner.whyNot;
}

const SummaryAnalysis::CalleeSummary &SummaryAnalysis::summarizeCallee(FunctionOpInterface root) {
  if (auto it = callees.find(root); it != callees.end())
    return it->second;
  // Callees first, with an explicit stack: chains of calls may be long. A
  // function that is reached while it waits for its callees is recursive; the
  // entry made here, "calls itself", is what its caller then sees.
  struct Frame {
    FunctionOpInterface function;
    SmallVector<FunctionOpInterface> pending;
  };
  auto open = [&](FunctionOpInterface function) {
    CalleeSummary &placeholder = callees[function];
    placeholder.effects = EffectKind::Ordered;
    placeholder.whyNot = "calls itself";
    placeholder.isRecursive = true;
    llvm::SetVector<Operation *> called;
    function.getFunctionBody().walk([&](Operation *op) {
      if (FunctionOpInterface callee = resolveCallee(op); callee && !callee.isExternal())
        called.insert(callee);
    });
    Frame frame{function, {}};
    for (Operation *callee : called)
      frame.pending.push_back(cast<FunctionOpInterface>(callee));
    return frame;
  };

  SmallVector<Frame> stack;
  stack.push_back(open(root));
  while (!stack.empty()) {
    Frame &frame = stack.back();
    if (!frame.pending.empty()) {
      FunctionOpInterface callee = frame.pending.pop_back_val();
      if (!callees.contains(callee))
        stack.push_back(open(callee));
      continue;
    }
    CalleeSummary summary;
    summary.effects = EffectKind::Pure;
    addRegion(frame.function.getFunctionBody(), /*perElement=*/false, summary);
    summary.workspace = getInnerPeak(frame.function.getFunctionBody(), *this);
    callees[frame.function] = std::move(summary);
    stack.pop_back();
  }
  return callees.find(root)->second;
}
