//===- Equivalence.cpp - Proof that a rewrite kept the meaning --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Equivalence.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Interfaces/ModelTable.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::remat;

namespace {
/// Values of both versions with the same number are the same value.
using Number = int64_t;

class ValueNumbering {
public:
  explicit ValueNumbering(const ModelTable &models) : models(models) {}

  void addArguments(Block &block) {
    for (BlockArgument argument : block.getArguments())
      numbers[argument] = -1 - static_cast<Number>(argument.getArgNumber());
  }

  /// Numbers the results of a barrier like its inputs. False for any other
  /// operation.
  bool addBarrier(Operation *op) {
    if (!isa<BarrierOp>(op) &&
        models.getBarrierName(op->getName().getDialectNamespace()) != op->getName().getStringRef())
      return false;
    for (OpResult result : op->getResults())
      numbers[result] = lookup(op->getOperand(result.getResultNumber()));
    return true;
  }

  /// Adds a pure operation of the original, giving equal ones equal numbers.
  void addPure(Operation *op) {
    auto &bucket = table[getHash(op)];
    for (Operation *other : bucket)
      if (isSame(other, op))
        return copyNumbers(other, op);
    bucket.push_back(op);
    addNew(op);
  }

  /// Numbers a pure operation of the rewritten version. False when the original
  /// has no such operation.
  bool findPure(Operation *op) {
    auto it = table.find(getHash(op));
    if (it == table.end())
      return false;
    for (Operation *other : it->second) {
      if (isSame(other, op)) {
        copyNumbers(other, op);
        return true;
      }
    }
    return false;
  }

  void addNew(Operation *op) {
    for (OpResult result : op->getResults())
      numbers[result] = next++;
  }

  void copyNumbers(Operation *from, Operation *to) {
    for (auto [source, target] : llvm::zip_equal(from->getResults(), to->getResults()))
      numbers[target] = lookup(source);
  }

  bool isSame(Operation *a, Operation *b);

private:
  /// Values from elsewhere are told apart by identity.
  Number lookup(Value value) {
    auto [it, isNew] = numbers.try_emplace(value, next);
    if (isNew)
      ++next;
    return it->second;
  }

  /// Only looked up, never printed: may depend on addresses.
  llvm::hash_code getHash(Operation *op) {
    llvm::hash_code hash = llvm::hash_combine(op->getName(), op->getNumResults());
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, lookup(operand));
    return llvm::hash_combine(hash, op->hashProperties());
  }

  const ModelTable &models;
  llvm::DenseMap<Value, Number> numbers;
  llvm::DenseMap<llvm::hash_code, llvm::SmallVector<Operation *, 1>> table;
  Number next = 0;
};
} // namespace

/// The attributes of `op` that mean something to its own dialect.
static SmallVector<NamedAttribute> getOwnAttributes(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() != RematDialect::getCloneOfAttrName())
      attributes.push_back(attribute);
  return attributes;
}

bool ValueNumbering::isSame(Operation *a, Operation *b) {
  // Values defined inside `b`'s regions are paired with those inside `a`'s.
  llvm::DenseMap<Value, Value> inner;
  if (getOwnAttributes(a) != getOwnAttributes(b))
    return false;
  return OperationEquivalence::isEquivalentTo(
      a, b,
      [&](Value left, Value right) {
        if (auto it = inner.find(right); it != inner.end())
          return success(it->second == left);
        return success(lookup(left) == lookup(right));
      },
      [&](Value left, Value right) { inner[right] = left; },
      OperationEquivalence::Flags::IgnoreLocations |
          OperationEquivalence::Flags::IgnoreDiscardableAttrs);
}

FunctionVersion mlir::remat::getVersion(const FunctionProblem &problem, Block *block) {
  FunctionVersion version;
  version.block = block;
  version.isPure.assign(block->getOperations().size(), true);
  for (auto [position, operation] : llvm::zip_equal(problem.positions, problem.problem.operations))
    version.isPure[position] = operation.effect == planner::Effect::Pure;
  return version;
}

LogicalResult mlir::remat::verifyEquivalence(const FunctionVersion &original,
                                             const FunctionVersion &rewritten,
                                             const ModelTable &models) {
  ValueNumbering numbering(models);
  numbering.addArguments(*original.block);
  numbering.addArguments(*rewritten.block);

  SmallVector<Operation *> effects;
  for (auto [op, isPure] : llvm::zip_equal(*original.block, original.isPure)) {
    if (numbering.addBarrier(&op))
      continue;
    if (isPure) {
      numbering.addPure(&op);
    } else {
      numbering.addNew(&op);
      effects.push_back(&op);
    }
  }

  auto fail = [](Operation *op, Operation *expected) {
    InFlightDiagnostic error = emitError(op->getLoc(), "internal error: '")
                               << op->getName()
                               << "' does not compute what the original function does";
    if (expected)
      error.attachNote(expected->getLoc()) << "expected this operation here: " << *expected;
    else
      error.attachNote() << "found this operation, which the original does not have: " << *op;
    return failure();
  };
  size_t nextEffect = 0;
  for (auto [op, isPure] : llvm::zip_equal(*rewritten.block, rewritten.isPure)) {
    if (numbering.addBarrier(&op))
      continue;
    if (isPure) {
      if (!numbering.findPure(&op))
        return fail(&op, nullptr);
      continue;
    }
    Operation *expected = nextEffect < effects.size() ? effects[nextEffect++] : nullptr;
    if (!expected || !numbering.isSame(expected, &op))
      return fail(&op, expected);
    numbering.copyNumbers(expected, &op);
  }
  if (nextEffect != effects.size())
    return fail(&rewritten.block->back(), effects[nextEffect]);
  return success();
}
