//===- XLAFusion.cpp - Which values XLA never writes to memory --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts what XLA's fusion makes of a function, by the rules of docs/memory-model.md,
// which come from what XLA writes in compiled training steps.
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/FusionModel.h"

#include "Remat/Interfaces/RematOpInterface.h"
#include "Remat/Interfaces/TypeSize.h"

using namespace mlir;
using namespace mlir::remat;

/// The most operations, with repetitions, that one value is computed by where it is read.
static constexpr int64_t kMaxKernelOperations = 128;

Fusion mlir::remat::resolveFusion(Fusion fusion, Operation *module) {
  if (fusion != Fusion::Auto)
    return fusion;
  WalkResult found = module->walk([](Operation *op) {
    return op->getName().getDialectNamespace() == "stablehlo" ? WalkResult::interrupt()
                                                              : WalkResult::advance();
  });
  return found.wasInterrupted() ? Fusion::XLA : Fusion::None;
}

StringRef mlir::remat::getFusionName(Fusion fusion) {
  switch (fusion) {
  case Fusion::None:
    return "none";
  case Fusion::Kernels:
    return "kernels";
  case Fusion::XLA:
    return "xla";
  case Fusion::Auto:
    return "auto";
  }
  llvm_unreachable("unknown fusion");
}

/// Whether `value` is zero in all elements.
static bool isZero(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && op->getName().getStringRef() == "stablehlo.broadcast_in_dim")
    op = op->getOperand(0).getDefiningOp();
  auto elements =
      op ? dyn_cast_or_null<DenseElementsAttr>(getInherentOrDiscardableAttr(op, "value")) : nullptr;
  if (!elements || !elements.isSplat())
    return false;
  if (auto number = dyn_cast<FloatAttr>(elements.getSplatValue<Attribute>()))
    return number.getValue().isZero();
  auto number = dyn_cast<IntegerAttr>(elements.getSplatValue<Attribute>());
  return number && number.getValue().isZero();
}

/// Whether `value` is scattered into zeros, for one reader.
static bool isScatteredIntoZeros(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == "stablehlo.scatter" && op->getNumResults() == 1 &&
         value.hasOneUse() && isZero(op->getOperand(0));
}

Value mlir::remat::getUpdatedValue(Operation *op, SummaryAnalysis &summaries) {
  if (op->getNumResults() != 1)
    return nullptr;
  if (summaries.summarize(op).model.fusionRole == FusionRole::Update && op->getNumOperands() != 0)
    return op->getOperand(0);
  if (op->getName().getStringRef() != "stablehlo.add" || op->getNumOperands() != 2)
    return nullptr;
  for (unsigned number : {0, 1})
    if (isScatteredIntoZeros(op->getOperand(number)) &&
        op->getOperand(number).getDefiningOp()->getBlock() == op->getBlock())
      return op->getOperand(1 - number);
  return nullptr;
}

namespace {
class VirtualFinder {
public:
  VirtualFinder(Block &block, SummaryAnalysis &summaries)
      : block(block), summaries(summaries), layout(DataLayout::closest(block.getParentOp())) {}

  llvm::DenseSet<Operation *> run() {
    // Readers first.
    for (Operation &op : llvm::reverse(block))
      lookAtReaders(&op);
    for (Operation &op : block)
      decide(&op);
    return std::move(virtuals);
  }

private:
  /// The most readers that are told apart.
  static constexpr size_t kMaxReaders = 8;
  /// Operations that read elements of a result, itself or through reshapes.
  using Readers = SmallVector<Operation *, 2>;

  static void addReader(Readers &readers, Operation *reader) {
    if (readers.size() < kMaxReaders && !llvm::is_contained(readers, reader))
      readers.push_back(reader);
  }

  const OperationModel &getModel(Operation *op) { return summaries.summarize(op).model; }

  /// Whether an operation shows its first operand under another type.
  bool isReshape(Operation *op) {
    const OperationModel &model = getModel(op);
    return op->getNumResults() == 1 && op->getNumRegions() == 0 && model.isPure() &&
           model.fusionRole == FusionRole::None && model.storage.size() == 1 &&
           model.storage.front().kind == ResultStorage::Kind::View;
  }

  bool isElementwise(Operation *op) { return getModel(op).fusionRole == FusionRole::Elementwise; }

  bool readsElements(Operation *op) {
    FusionRole role = getModel(op).fusionRole;
    return role != FusionRole::None && role != FusionRole::Product &&
           role != FusionRole::Convolution && role != FusionRole::Iota && role != FusionRole::Loop;
  }

  /// Whether the elements of a result can be computed anywhere.
  bool isComputedByElement(Operation *op) {
    const OperationSummary &summary = summaries.summarize(op);
    FusionRole role = summary.model.fusionRole;
    return (role == FusionRole::Elementwise || role == FusionRole::CostlyElementwise ||
            role == FusionRole::Movement) &&
           op->getNumResults() == 1 && op->getNumRegions() == 0 &&
           summary.effects == EffectKind::Pure && summary.whyNot.empty() &&
           (role == FusionRole::Movement || summary.model.storage.empty()) && !hasUserWord(op) &&
           getStorageBytes(op->getResult(0).getType(), layout);
  }

  /// Whether the only reader of a scatter adds it to another value.
  bool isAdded(Operation *op) {
    const OperationSummary &summary = summaries.summarize(op);
    return op->getNumResults() == 1 && summary.effects == EffectKind::Pure &&
           summary.whyNot.empty() && isScatteredIntoZeros(op->getResult(0)) &&
           op->user_begin()->getBlock() == &block && getUpdatedValue(*op->user_begin(), summaries);
  }

  void lookAtReaders(Operation *op) {
    bool isSum = isElementwise(op) && getUpdatedValue(op, summaries);
    bool mayVanish = !isSum && (isReshape(op) || isComputedByElement(op) || isAdded(op));
    if (!mayVanish || op->use_empty())
      return;
    Readers found;
    for (Operation *user : op->getUsers()) {
      // A sum with what is scattered is a scatter into this value.
      bool isAddedTo = isElementwise(user) && getUpdatedValue(user, summaries) == op->getResult(0);
      if (user->getBlock() != &block || isAddedTo)
        return;
      if (auto it = readers.find(user); isReshape(user) && it != readers.end())
        for (Operation *reader : Readers(it->second))
          addReader(found, reader);
      else if (!isReshape(user) && readsElements(user))
        addReader(found, user);
      else
        return;
    }
    readers[op] = std::move(found);
  }

  /// Whether readers take longer with the result in memory than if each computes it. In
  /// memory it is written once, from what is read once, and read by all.
  bool isWorthRepeating(Operation *op, int64_t numReaders) {
    if (numReaders == 1)
      return true;
    if (getModel(op).fusionRole == FusionRole::CostlyElementwise)
      return false;
    int64_t sources = getReadBytes(op, getInlined(op, virtuals), summaries);
    int64_t result = getStorageBytes(op->getResult(0).getType(), layout).value_or(0);
    return multiplyCosts(sources, numReaders - 1) < multiplyCosts(result, numReaders + 1);
  }

  void decide(Operation *op) {
    auto it = readers.find(op);
    if (it == readers.end())
      return;
    bool isVirtual = isReshape(op) ? virtuals.contains(op->getOperand(0).getDefiningOp())
                                   : isWorthRepeating(op, it->second.size());
    int64_t size = 1;
    for (Value operand : op->getOperands())
      if (auto inner = sizes.find(operand.getDefiningOp()); inner != sizes.end())
        size += inner->second;
    if (!isVirtual || size > kMaxKernelOperations)
      return;
    virtuals.insert(op);
    sizes[op] = size;
  }

  Block &block;
  SummaryAnalysis &summaries;
  DataLayout layout;
  /// Of the results that are only read by element.
  llvm::DenseMap<Operation *, Readers> readers;
  llvm::DenseSet<Operation *> virtuals;
  /// Operations by which a virtual result is computed.
  llvm::DenseMap<Operation *, int64_t> sizes;
};
} // namespace

llvm::DenseSet<Operation *> mlir::remat::findVirtualOperations(Block &block,
                                                               SummaryAnalysis &summaries) {
  return VirtualFinder(block, summaries).run();
}

int64_t mlir::remat::getReadBytes(Operation *op, ArrayRef<Operation *> inlined,
                                  SummaryAnalysis &summaries) {
  DataLayout layout = DataLayout::closest(op);
  llvm::SmallDenseSet<Operation *, 8> isInlined(inlined.begin(), inlined.end());
  llvm::SmallMapVector<Value, int64_t, 8> most;
  auto add = [&](Operation *member) {
    FusionRole role = summaries.summarize(member).model.fusionRole;
    bool readsPart = member->getNumResults() == 1 && role != FusionRole::Reduction;
    for (Value operand : member->getOperands()) {
      if (isInlined.contains(operand.getDefiningOp()))
        continue;
      int64_t bytes = getStorageBytes(operand.getType(), layout).value_or(0);
      if (readsPart)
        bytes = std::min(bytes,
                         getStorageBytes(member->getResult(0).getType(), layout).value_or(bytes));
      int64_t &entry = most[operand];
      entry = std::max(entry, bytes);
    }
  };
  llvm::for_each(inlined, add);
  add(op);
  int64_t sum = 0;
  for (auto [value, bytes] : most)
    sum = addCosts(sum, bytes);
  return sum;
}

SmallVector<Operation *> mlir::remat::getInlined(Operation *op,
                                                 const llvm::DenseSet<Operation *> &virtuals) {
  SmallVector<Operation *> inlined;
  if (virtuals.empty())
    return inlined;
  // Depth first; sizes of kernels bound the stack.
  llvm::DenseSet<Operation *> seen;
  SmallVector<std::pair<Operation *, unsigned>> stack{{op, 0}};
  while (!stack.empty()) {
    auto &[user, next] = stack.back();
    if (next == user->getNumOperands()) {
      if (user != op)
        inlined.push_back(user);
      stack.pop_back();
      continue;
    }
    Operation *producer = user->getOperand(next++).getDefiningOp();
    if (producer && virtuals.contains(producer) && seen.insert(producer).second)
      stack.push_back({producer, 0});
  }
  return inlined;
}
