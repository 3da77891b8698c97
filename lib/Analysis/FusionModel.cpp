//===- FusionModel.cpp - Which values are never written to memory -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/FusionModel.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelCosts.h"
#include "Remat/Interfaces/ModelTable.h"
#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::remat;

/// How often simple arithmetic may be repeated for an element.
static constexpr int64_t kMaxRepetitions = 4;
/// Scalar operations of the largest kernel that is put together.
static constexpr int64_t kMaxScalarOperations = 512;

bool mlir::remat::hasUserWord(Operation *op) {
  return llvm::any_of(op->getDiscardableAttrs(), [](NamedAttribute attribute) {
    return llvm::is_contained({RematDialect::getPolicyAttrName(), RematDialect::getCostAttrName(),
                               RematDialect::getRecomputableAttrName()},
                              attribute.getName().strref());
  });
}

namespace {
/// One buffer, live in the closed range of positions [first, last].
struct Buffer {
  int64_t bytes;
  int64_t first, last;
};

/// Decides from the last operation to the first, so that where a value is read is known
/// when its producer is looked at.
class InliningDecider {
public:
  InliningDecider(Block &block, SummaryAnalysis &summaries, Inlining inlining)
      : summaries(summaries), inlining(inlining), layout(DataLayout::closest(block.getParentOp())) {
    for (Operation &op : block) {
      positions[&op] = operations.size();
      operations.push_back(&op);
    }
    states.resize(operations.size());
    for (auto [position, op] : llvm::enumerate(operations)) {
      states[position].scalarOperations = getModel(op).kernel.scalarOperations;
      addBuffers(position);
    }
    countLiveBytes();
  }

  SmallVector<Operation *> run() {
    SmallVector<Operation *> inlined;
    for (int64_t position = operations.size() - 1; position >= 0; --position)
      if (tryInline(position))
        inlined.push_back(operations[position]);
    std::reverse(inlined.begin(), inlined.end());
    return inlined;
  }

private:
  struct State {
    bool isInlined = false;
    /// Of an inlined operation: elements that its readers compute; whether some kernel
    /// that it is in takes the shape of its loops from operands.
    int64_t evaluations = 0;
    bool needsShape = false;
    /// Of an inlined operation: the kernels that it is in, and how often.
    llvm::SmallMapVector<int64_t, int64_t, 2> kernels;
    /// Scalar operations of the kernel with all that is inlined.
    int64_t scalarOperations = 0;
  };

  const OperationModel &getModel(Operation *op) { return summaries.summarize(op).model; }

  //===--------------------------------------------------------------------===//
  // Live ranges
  //===--------------------------------------------------------------------===//

  /// The buffer that a value is in; nothing for what is there from outside of the block or
  /// never in memory.
  std::optional<int64_t> findBuffer(Value value) const {
    auto it = bufferOf.find(value);
    return it == bufferOf.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }

  SmallVector<Value> getReadValues(Operation *op) {
    const OperationModel &model = getModel(op);
    llvm::SetVector<Value> read;
    for (OpOperand &operand : op->getOpOperands())
      if (!llvm::is_contained(model.unreadOperands, operand.getOperandNumber()))
        read.insert(operand.get());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    return read.takeVector();
  }

  void addBuffers(int64_t position) {
    Operation *op = operations[position];
    const OperationModel &model = getModel(op);
    for (Value value : getReadValues(op))
      if (std::optional<int64_t> buffer = findBuffer(value))
        buffers[*buffer].last = position;
    for (OpResult result : op->getResults()) {
      const ResultStorage *entry = model.findStorage(result.getResultNumber());
      std::optional<int64_t> source;
      if (entry) {
        if (entry->kind == ResultStorage::Kind::None ||
            entry->kind == ResultStorage::Kind::Constant)
          continue;
        source = findBuffer(op->getOperand(entry->operand));
        // A view of what is outside takes nothing here.
        if (entry->kind == ResultStorage::Kind::View && !source)
          continue;
      }
      if (source) {
        buffers[*source].last = position;
        bufferOf[result] = *source;
        continue;
      }
      bufferOf[result] = buffers.size();
      buffers.push_back(
          {getStorageBytes(result.getType(), layout).value_or(0), position, position});
    }
  }

  void countLiveBytes() {
    live.assign(operations.size() + 1, 0);
    for (const Buffer &buffer : buffers) {
      live[buffer.first] += buffer.bytes;
      live[buffer.last + 1] -= buffer.bytes;
    }
    for (size_t position = 1; position < live.size(); ++position)
      live[position] += live[position - 1];
    peak = *std::max_element(live.begin(), live.end());
  }

  /// Whether live bytes stay below the peak if the buffer `removed` goes and others live up
  /// to `last`; makes it so, if that is the case.
  bool tryExtend(int64_t removed, ArrayRef<int64_t> extended, int64_t last) {
    const Buffer &result = buffers[removed];
    SmallVector<int64_t> difference(last + 2 - result.first, 0);
    auto add = [&](int64_t from, int64_t to, int64_t bytes) {
      difference[from - result.first] += bytes;
      difference[to + 1 - result.first] -= bytes;
    };
    add(result.first, result.last, -result.bytes);
    for (int64_t buffer : extended)
      add(buffers[buffer].last + 1, last, buffers[buffer].bytes);
    int64_t sum = 0;
    for (int64_t position = result.first; position <= last; ++position) {
      sum += difference[position - result.first];
      difference[position - result.first] = sum;
      if (sum > 0 && live[position] + sum > peak)
        return false;
    }
    for (int64_t position = result.first; position <= last; ++position)
      live[position] += difference[position - result.first];
    for (int64_t buffer : extended)
      buffers[buffer].last = last;
    buffers[removed].bytes = 0;
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Decisions
  //===--------------------------------------------------------------------===//

  /// Collects where the result of an operation is computed if it is inlined; false if a
  /// reader cannot do it. Reshapes of a slice show it in pieces, too.
  bool collectReaders(Operation *op, bool isSlice, State &state) {
    SmallVector<Operation *> shown{op};
    while (!shown.empty())
      for (OpOperand &use : shown.pop_back_val()->getResult(0).getUses()) {
        auto it = positions.find(use.getOwner());
        if (it == positions.end())
          return false;
        if (isSlice && getModel(use.getOwner()).kernel.keepsStrides)
          shown.push_back(use.getOwner());
        else if (!addReader(use, it->second, isSlice, state))
          return false;
      }
    return !state.kernels.empty();
  }

  bool addReader(OpOperand &use, int64_t position, bool isSlice, State &state) {
    const KernelModel &kernel = getModel(use.getOwner()).kernel;
    const auto *entry =
        llvm::find_if(kernel.inlineOperands, [&](const KernelModel::InlineOperand &inlined) {
          return inlined.operand == use.getOperandNumber();
        });
    if (entry == kernel.inlineOperands.end() ||
        (inlining == Inlining::Elementwise && kernel.needsShapeFromOperands && !isSlice))
      return false;
    const State &reader = states[position];
    state.evaluations =
        addCosts(state.evaluations, reader.isInlined ? reader.evaluations : entry->evaluations);
    state.needsShape |= reader.isInlined ? reader.needsShape : kernel.needsShapeFromOperands;
    if (!reader.isInlined)
      ++state.kernels[position];
    for (auto [kernelPosition, times] : reader.kernels)
      state.kernels[kernelPosition] += times;
    return true;
  }

  /// Whether elements may be computed as often as they are read.
  static bool isWorthRepeating(KernelModel::Elements elements, int64_t evaluations, int64_t count) {
    switch (elements) {
    case KernelModel::Elements::Whole:
      return false;
    case KernelModel::Elements::Moved:
      return true;
    case KernelModel::Elements::Cheap:
      return evaluations / kMaxRepetitions <= count;
    case KernelModel::Elements::Costly:
      return evaluations <= count;
    }
    llvm_unreachable("unknown price of elements");
  }

  bool tryInline(int64_t position) {
    Operation *op = operations[position];
    const OperationSummary &summary = summaries.summarize(op);
    const KernelModel &kernel = summary.model.kernel;
    if (kernel.elements == KernelModel::Elements::Whole || summary.effects != EffectKind::Pure ||
        hasUserWord(op))
      return false;
    State state;
    Count elements = getNumElements(op->getResult(0).getType());
    if (!elements.isKnown() || !collectReaders(op, kernel.isSlice, state) ||
        !isWorthRepeating(kernel.elements, state.evaluations, elements.get()) ||
        (state.needsShape && !kernel.hasShapeInOperands))
      return false;
    int64_t last = position;
    for (auto [kernelPosition, times] : state.kernels) {
      if (states[kernelPosition].scalarOperations + times * kernel.scalarOperations >
          kMaxScalarOperations)
        return false;
      last = std::max(last, kernelPosition);
    }

    llvm::SetVector<int64_t> extended;
    int64_t extendedBytes = 0;
    for (Value value : getReadValues(op))
      if (std::optional<int64_t> buffer = findBuffer(value);
          buffer && buffers[*buffer].last < last && extended.insert(*buffer))
        extendedBytes += buffers[*buffer].bytes;
    std::optional<int64_t> own = findBuffer(op->getResult(0));
    // Vectors that go with a value make no difference.
    bool isLarger = own && extendedBytes - extendedBytes / 8 > buffers[*own].bytes;
    if (!own || (state.evaluations > elements.get() && isLarger) ||
        !tryExtend(*own, extended.getArrayRef(), last))
      return false;
    for (auto [kernelPosition, times] : state.kernels)
      states[kernelPosition].scalarOperations += times * kernel.scalarOperations;
    state.isInlined = true;
    states[position] = std::move(state);
    return true;
  }

  SummaryAnalysis &summaries;
  Inlining inlining;
  DataLayout layout;
  std::vector<Operation *> operations;
  llvm::DenseMap<Operation *, int64_t> positions;
  /// By position.
  std::vector<State> states;
  std::vector<Buffer> buffers;
  llvm::DenseMap<Value, int64_t> bufferOf;
  /// Live bytes at each position, of what is computed in the block.
  std::vector<int64_t> live;
  int64_t peak = 0;
};
} // namespace

SmallVector<Operation *>
mlir::remat::findInlinedOperations(Block &block, SummaryAnalysis &summaries, Inlining inlining) {
  return InliningDecider(block, summaries, inlining).run();
}
