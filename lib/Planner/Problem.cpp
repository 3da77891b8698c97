//===- Problem.cpp - A training step as a planner sees it -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which problems make sense, and the facts about a problem alone that
// several solvers use. Everything here is linear in the size of the problem.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Problem.h"
#include "Detail.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

/// Walks over a problem once and reports the first thing that is wrong.
class Checker {
public:
  explicit Checker(const Problem &input)
      : problem(input), numOperations(input.operations.size()), numValues(input.values.size()),
        readBy(numValues, kBoundary), awaitedBy(numValues, kBoundary),
        writtenBy(numValues, kBoundary) {}

  llvm::Error run() {
    if (problem.alignment < 1 || (problem.alignment & (problem.alignment - 1)) ||
        problem.alignment > kMaxAlignment)
      return makeError("expected an alignment that is a power of two up to {0}, but got {1}",
                       kMaxAlignment, problem.alignment);
    // Sizes first: the operations may then add them up freely.
    for (ValueIndex value = 0; value < numValues; ++value)
      if (llvm::Error error = checkValue(value))
        return error;
    for (OpIndex op = 0; op < numOperations; ++op)
      if (llvm::Error error = checkOperation(op))
        return error;
    for (ValueIndex value = 0; value < numValues; ++value)
      if (problem.values[value].producer != kBoundary && writtenBy[value] == kBoundary)
        return valueError(value, "is not among the writes of its producer, operation {0}",
                          problem.values[value].producer);
    return llvm::Error::success();
  }

private:
  template <typename... Ts>
  llvm::Error valueError(ValueIndex value, const char *format, Ts &&...values) const {
    return makeError("value {0} ('{1}') {2}", value, problem.values[value].name,
                     llvm::formatv(format, std::forward<Ts>(values)...).str());
  }
  template <typename... Ts>
  llvm::Error opError(OpIndex op, const char *format, Ts &&...values) const {
    return makeError("operation {0} ('{1}') {2}", op, problem.operations[op].name,
                     llvm::formatv(format, std::forward<Ts>(values)...).str());
  }
  bool isValue(ValueIndex value) const { return 0 <= value && value < numValues; }

  /// Adds to a sum of the problem; false when that exceeds the limit.
  static bool add(int64_t &sum, int64_t term) {
    if (term > kMaxProblemSum - sum)
      return false;
    sum += term;
    return true;
  }
  bool addBytes(int64_t bytes) {
    return bytes <= kMaxProblemSum && add(totalBytes, align(bytes, problem.alignment));
  }

  llvm::Error checkValue(ValueIndex index) {
    const Value &value = problem.values[index];
    if (value.bytes < 0)
      return valueError(index, "has a negative size of {0} bytes", value.bytes);
    if (!addBytes(value.bytes))
      return valueError(index, "brings the sum of all aligned bytes above {0}", kMaxProblemSum);
    if (value.producer < kBoundary || value.producer >= numOperations)
      return valueError(index, "names operation {0} as its producer, which does not exist",
                        value.producer);
    bool hasSource = value.placement == Placement::View || value.placement == Placement::Reuse;
    if (!hasSource) {
      if (value.source != kNoValue)
        return valueError(index, "has a source, but is neither a view nor a reuse");
      return llvm::Error::success();
    }
    if (value.producer == kBoundary)
      return valueError(index, "is a boundary value, and so can be neither a view nor a reuse");
    if (!isValue(value.source))
      return valueError(index, "names value {0} as its source, which does not exist", value.source);
    return llvm::Error::success();
  }

  /// Checks one entry of `reads` or `dependences`; `seen` notes who named it last.
  llvm::Error checkUse(OpIndex op, ValueIndex value, const char *verb, std::vector<OpIndex> &seen) {
    if (!isValue(value))
      return opError(op, "{0} value {1}, which does not exist", verb, value);
    if (problem.values[value].producer >= op)
      return opError(op, "{0} value {1} ('{2}') before it is computed", verb, value,
                     problem.values[value].name);
    if (seen[value] == op)
      return opError(op, "{0} value {1} ('{2}') twice", verb, value, problem.values[value].name);
    seen[value] = op;
    return llvm::Error::success();
  }

  llvm::Error checkOperation(OpIndex index) {
    const Operation &op = problem.operations[index];
    if (op.cost < 0)
      return opError(index, "has a negative cost of {0} picoseconds", op.cost);
    int64_t highestCost = op.cost;
    for (auto [number, variant] : llvm::enumerate(op.variants)) {
      if (variant.cost < op.cost)
        return opError(index, "has a cost of {0} picoseconds, but variant {1} costs only {2}",
                       op.cost, number + 1, variant.cost);
      if (variant.workspace < 0)
        return opError(index, "has a negative workspace of {0} bytes in variant {1}",
                       variant.workspace, number + 1);
      if (variant.workspace >= op.workspace)
        return opError(index, "has a workspace of {0} bytes, and variant {1} takes no fewer: {2}",
                       op.workspace, number + 1, variant.workspace);
      highestCost = std::max(highestCost, variant.cost);
    }
    if (!add(totalCost, highestCost))
      return opError(index, "brings the sum of all costs above {0} picoseconds", kMaxProblemSum);
    if (op.workspace < 0)
      return opError(index, "has a negative workspace of {0} bytes", op.workspace);
    if (!addBytes(op.workspace))
      return opError(index, "brings the sum of all aligned bytes above {0}", kMaxProblemSum);
    if (op.recomputable && op.effect != Effect::Pure)
      return opError(index, "is recomputable, but not pure");
    if (op.policy == Policy::MustRecompute && !op.recomputable)
      return opError(index, "must be recomputed, but is not recomputable");

    for (ValueIndex value : op.reads)
      if (llvm::Error error = checkUse(index, value, "reads", readBy))
        return error;
    for (ValueIndex value : op.dependences)
      if (llvm::Error error = checkUse(index, value, "depends on", awaitedBy))
        return error;
    for (ValueIndex value : op.writes) {
      if (!isValue(value))
        return opError(index, "writes value {0}, which does not exist", value);
      if (problem.values[value].producer != index)
        return opError(index, "writes value {0} ('{1}'), whose producer is {2}", value,
                       problem.values[value].name,
                       problem.values[value].producer == kBoundary
                           ? std::string("the boundary")
                           : llvm::formatv("operation {0}", problem.values[value].producer).str());
      if (writtenBy[value] != kBoundary)
        return opError(index, "writes value {0} ('{1}') twice", value, problem.values[value].name);
      writtenBy[value] = index;
      ValueIndex source = problem.values[value].source;
      if (source != kNoValue && readBy[source] != index)
        return valueError(value, "has value {0} as its source, which its producer does not read",
                          source);
    }
    return llvm::Error::success();
  }

  const Problem &problem;
  int64_t numOperations, numValues;
  int64_t totalBytes = 0, totalCost = 0;
  std::vector<OpIndex> readBy, awaitedBy, writtenBy;
};

} // namespace

llvm::Error mlir::remat::planner::check(const Problem &problem) { return Checker(problem).run(); }

std::vector<int64_t> detail::writePositions(const Problem &problem) {
  std::vector<int64_t> positions(problem.values.size(), 0);
  for (const Operation &op : problem.operations)
    for (int64_t k = 0, e = op.writes.size(); k < e; ++k)
      positions[op.writes[k]] = k;
  return positions;
}

std::vector<int64_t> detail::sourcePositions(const Problem &problem) {
  std::vector<int64_t> positions(problem.values.size(), 0), readAt(problem.values.size(), 0);
  for (const Operation &op : problem.operations) {
    for (int64_t k = 0, e = op.reads.size(); k < e; ++k)
      readAt[op.reads[k]] = k;
    for (ValueIndex value : op.writes)
      if (problem.values[value].source != kNoValue)
        positions[value] = readAt[problem.values[value].source];
  }
  return positions;
}

std::vector<ValueIndex> detail::viewRoots(const Problem &problem) {
  std::vector<ValueIndex> roots(problem.values.size());
  for (ValueIndex value = 0, e = problem.values.size(); value < e; ++value)
    roots[value] = value;
  // In the order of definition, so that the source's root is known.
  for (const Operation &op : problem.operations)
    for (ValueIndex value : op.writes)
      if (problem.values[value].placement == Placement::View)
        roots[value] = roots[problem.values[value].source];
  return roots;
}

int64_t detail::boundaryBytes(const Problem &problem, int64_t alignment) {
  int64_t sum = 0;
  for (const Value &value : problem.values)
    if (value.producer == kBoundary && value.placement != Placement::None)
      sum += align(value.bytes, alignment);
  return sum;
}

std::vector<int64_t> detail::pinnedBefore(const Problem &problem) {
  std::vector<int64_t> before;
  before.reserve(problem.operations.size());
  int64_t count = 0;
  for (const Operation &operation : problem.operations) {
    before.push_back(count);
    count += operation.effect == Effect::Pinned;
  }
  return before;
}

std::vector<bool> detail::neededOperations(const Problem &problem) {
  std::vector<bool> needed(problem.operations.size(), false);
  for (OpIndex index = int64_t(problem.operations.size()) - 1; index >= 0; --index) {
    const Operation &op = problem.operations[index];
    if (op.effect != Effect::Pure)
      needed[index] = true;
    if (!needed[index])
      continue;
    for (auto *values : {static_cast<const llvm::SmallVectorImpl<ValueIndex> *>(&op.reads),
                         static_cast<const llvm::SmallVectorImpl<ValueIndex> *>(&op.dependences)})
      for (ValueIndex value : *values)
        if (problem.values[value].producer != kBoundary)
          needed[problem.values[value].producer] = true;
  }
  return needed;
}

int64_t detail::leastWorkspace(const Operation &operation) {
  int64_t least = operation.workspace;
  for (const Variant &variant : operation.variants)
    least = std::min(least, variant.workspace);
  return least;
}

WorkingSets::WorkingSets(const Problem &input, int64_t roundTo)
    : problem(input), alignment(roundTo), roots(viewRoots(input)), numReads(input.values.size(), 0),
      numReuses(input.values.size(), 0) {}

int64_t WorkingSets::bytes(OpIndex index) {
  const Operation &op = problem.operations[index];
  for (ValueIndex root : operands)
    numReads[root] = numReuses[root] = 0;
  operands.clear();

  auto isTemporary = [&](ValueIndex root) {
    return problem.values[root].producer != kBoundary &&
           problem.values[root].placement != Placement::None;
  };
  auto bytesOf = [&](ValueIndex root) { return align(problem.values[root].bytes, alignment); };
  int64_t sum = align(leastWorkspace(op), alignment);
  for (ValueIndex value : op.reads) {
    ValueIndex root = roots[value];
    if (!isTemporary(root))
      continue;
    if (numReads[root]++ == 0)
      operands.push_back(root);
  }
  for (ValueIndex value : op.writes) {
    // A view shows a storage that is an operand's or a boundary value's.
    if (roots[value] != value || !isTemporary(value))
      continue;
    const Value &result = problem.values[value];
    ValueIndex source = result.placement == Placement::Reuse ? roots[result.source] : kNoValue;
    if (source != kNoValue && isTemporary(source) && problem.values[source].bytes == result.bytes)
      ++numReuses[source];
    else
      sum += bytesOf(value);
  }
  for (ValueIndex root : operands) {
    // A storage is taken over once, and only if it is read once. Several reads
    // of one root may be of instances of their own, or of one that then stays.
    int64_t count = 1;
    if (numReuses[root] > 0)
      count = numReads[root] == 1
                  ? numReuses[root]
                  : std::min(std::max(numReads[root], numReuses[root]), 1 + numReuses[root]);
    sum += count * bytesOf(root);
  }
  return sum;
}
