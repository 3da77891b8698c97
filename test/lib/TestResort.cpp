//===- TestResort.cpp - Sorts blocks by dependences -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a compiler may do that trusts nothing but dependences: every operation is
// moved as far up as they allow. Upstream's -topological-sort leaves regions with
// SSA dominance alone, and a stable sort leaves every valid order alone.
//
//===----------------------------------------------------------------------===//

#include "TestResort.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

static bool isBarrier(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "remat.barrier" || name == "stablehlo.optimization_barrier";
}

/// Whether dependences alone say where the operation stands. Unregistered ones
/// state no effects; those of StableHLO that have none are the rule.
static bool isMovable(Operation *op) {
  if (isBarrier(op) || op->hasAttr("remat.clone_of"))
    return true;
  return isMemoryEffectFree(op);
}

/// Whether the operation exists only since values are recomputed: a clone, its
/// barrier, or the beginning of its destination.
static bool isRematerialized(Operation *op) {
  // Nothing could hold what reads nothing; compilers compute it where it is read.
  if (op->hasAttr("remat.clone_of"))
    return op->getNumOperands() != 0;
  if (!isBarrier(op) && !isa<tensor::EmptyOp>(op))
    return false;
  return !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user->hasAttr("remat.clone_of") || (!isBarrier(op) && isBarrier(user));
  });
}

/// Calls `visit` with the operations of the same block that define what `op` reads.
template <typename Fn>
static void forEachDependence(Operation *op, Fn visit) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value value : read)
    if (Operation *other = value.getDefiningOp(); other && other->getBlock() == op->getBlock())
      visit(other);
}

void remat::test::resortByDependences(Block &block) {
  Operation *lastEffect = nullptr;
  llvm::DenseMap<Operation *, int64_t> levels;
  SmallVector<Operation *> order;
  for (Operation &op : block.without_terminator()) {
    int64_t level = 0;
    auto dependOn = [&](Operation *other) { level = std::max(level, levels.lookup(other) + 1); };
    forEachDependence(&op, dependOn);
    if (!isMovable(&op)) {
      if (lastEffect)
        dependOn(lastEffect);
      lastEffect = &op;
    }
    levels[&op] = level;
    order.push_back(&op);
  }
  llvm::stable_sort(
      order, [&](Operation *a, Operation *b) { return levels.lookup(a) < levels.lookup(b); });
  for (Operation *op : order)
    op->moveBefore(&block, block.without_terminator().end());
}

void remat::test::hoistClones(Block &block) {
  SmallVector<Operation *> order;
  for (Operation &op : block.without_terminator())
    order.push_back(&op);
  // What an operation was put behind.
  llvm::DenseMap<Operation *, Operation *> anchors;
  Operation *previous = nullptr;
  for (Operation *op : order) {
    Operation *before = std::exchange(previous, op);
    if (!isRematerialized(op))
      continue;
    // The order within a region is kept.
    Operation *anchor = before && isRematerialized(before) && !isBarrier(op) ? before : nullptr;
    forEachDependence(op, [&](Operation *other) {
      if (!anchor || anchor->isBeforeInBlock(other))
        anchor = other;
    });
    auto isBehindAnchor = [&](Operation *other) {
      while (anchors.contains(other) && other != anchor)
        other = anchors.lookup(other);
      return other == anchor;
    };
    Operation *next = anchor ? anchor->getNextNode() : &block.front();
    while (next != op && anchors.contains(next) && isBehindAnchor(next))
      next = next->getNextNode();
    anchors[op] = anchor;
    if (next != op)
      op->moveBefore(next);
  }
}

namespace {
struct TestResortPass : public PassWrapper<TestResortPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestResortPass)

  TestResortPass() = default;
  TestResortPass(const TestResortPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-remat-resort"; }
  StringRef getDescription() const final {
    return "Run every operation as early as its operands allow";
  }
  void runOnOperation() final {
    getOperation().walk([&](FunctionOpInterface function) {
      for (Block &block : function.getFunctionBody())
        clonesOnly ? remat::test::hoistClones(block) : remat::test::resortByDependences(block);
    });
  }

  Option<bool> clonesOnly{*this, "clones-only", llvm::cl::init(false),
                          llvm::cl::desc("Leave all others where they are")};
};
} // namespace

namespace mlir::remat::test {
void registerTestResortPass() { PassRegistration<TestResortPass>(); }
} // namespace mlir::remat::test
