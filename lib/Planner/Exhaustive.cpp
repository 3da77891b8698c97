//===- Exhaustive.cpp - The best plan, by trying all ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shortest path search. A state is what is in memory after a step, as groups
// of values that share bytes by views; a transition executes one operation, and
// decides before it which groups are dropped, from which group each operand is
// read, and during it which results take over an operand's storage.
//
//   - A group that is dropped is not read again. So the bytes counted here are
//     an upper bound of what the simulator counts, and equal for the best
//     choice of what to drop.
//   - Groups are dropped as late as possible: before a step that does not fit
//     otherwise, and then no more of them than needed. Whoever drops more, or
//     earlier, has fewer choices and gains nothing.
//   - During the step before a region of clones, a group with a value that an
//     original computed has to be in memory: the region waits for it.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Exhaustive.h"
#include "Detail.h"
#include "RecomputeRule.h"
#include "Remat/Planner/Simulator.h"
#include "llvm/ADT/bit.h"
#include <deque>
#include <map>
#include <queue>
#include <tuple>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

/// A set of operations or values, by index.
using Set = uint64_t;
[[maybe_unused]] constexpr int64_t kMaxSetSize = 64;
Set bit(int64_t index) { return Set(1) << index; }
bool contains(Set set, int64_t index) { return set & bit(index); }

/// Values that are in memory and share bytes by views.
struct Group {
  /// The value that is no view.
  ValueIndex root;
  /// Those that have been computed.
  Set values = 0;
  /// One that an original computed; no value if there is none.
  ValueInstance anchor;
  /// By value: the step that computed it, where it is in `values`.
  llvm::SmallVector<int16_t, 16> stepOf;

  bool hasAnchor() const { return anchor.value != kNoValue; }
  std::tuple<ValueIndex, Set, bool> key() const { return {root, values, hasAnchor()}; }
};

/// A sequence of steps, as its last step and the node before.
struct Node {
  /// Groups of boundary values come first and are always there.
  std::vector<Group> groups;
  /// Operations whose original was executed, and those executed at all.
  Set originals = 0, executed = 0;
  /// All values in the groups.
  Set inMemory = 0;
  bool endsInClone = false;

  int64_t cost = 0;
  int64_t numSteps = 0;
  int64_t parent = -1;
  /// The last step, what its region waits for if it begins one, and by
  /// operation the last step that executed it.
  Step step;
  ValueInstance after;
  llvm::SmallVector<int16_t, 8> lastStepOf;
};

class Search {
public:
  Search(const Problem &input, const ExhaustiveOptions &limits)
      : problem(input), options(limits), numOperations(input.operations.size()),
        numValues(input.values.size()), roots(viewRoots(input)), rule(input) {
    assert(numOperations <= kMaxSetSize && numValues <= kMaxSetSize && "a problem too large");
    std::vector<bool> isNeeded = neededOperations(problem);
    for (OpIndex op = 0; op < numOperations; ++op) {
      if (problem.operations[op].effect != Effect::Pure)
        effects |= bit(op);
      if (problem.operations[op].effect == Effect::Pinned)
        pinned |= bit(op);
      if (isNeeded[op])
        needed |= bit(op);
      for (ValueIndex value : problem.operations[op].writes)
        if (canAnchor(value))
          anchoring |= bit(op);
    }
  }

  /// Clears `isComplete` when it gives up.
  std::optional<Plan> run(bool &isComplete) {
    Node start;
    start.lastStepOf.assign(numOperations, -1);
    for (ValueIndex value = 0; value < numValues; ++value) {
      if (problem.values[value].producer != kBoundary)
        continue;
      start.groups.push_back(newGroup(value));
      if (problem.values[value].placement != Placement::None)
        boundaryBytes += problem.values[value].bytes;
      ++numBoundary;
    }
    if (boundaryBytes > options.budget)
      return std::nullopt;
    push(std::move(start));

    while (!queue.empty()) {
      if (int64_t(nodes.size()) > options.maxStates) {
        isComplete = false;
        return std::nullopt;
      }
      int64_t index = std::get<2>(queue.top());
      queue.pop();
      if (isDominated(nodes[index]))
        continue;
      visited[{nodes[index].originals, nodes[index].executed}].push_back(index);
      if ((effects & ~nodes[index].originals) == 0 && isTurnDone(nodes[index]))
        return planOf(index);
      if (nodes[index].numSteps == options.maxSteps)
        continue;
      for (OpIndex op = 0; op < numOperations; ++op) {
        if (isOriginalAllowed(nodes[index], op))
          expandVariants(index, op, /*isClone=*/false);
        if (contains(needed, op) && isCloneAllowed(op) &&
            (op != rule.turn || isTurnDone(nodes[index])) &&
            (!options.originalsFirst || contains(nodes[index].executed, op)))
          expandVariants(index, op, /*isClone=*/true);
      }
    }
    return std::nullopt;
  }

private:
  /// Whether the turn is over, if there is one.
  bool isTurnDone(const Node &node) const {
    return rule.turn == kBoundary || contains(node.originals, rule.turn);
  }
  bool isInMemory(ValueIndex root) const {
    return problem.values[root].placement != Placement::None;
  }
  /// Whether a region can wait for `value`.
  bool canAnchor(ValueIndex value) const {
    return problem.values[value].isAwaitable && isInMemory(value) && isInMemory(roots[value]);
  }
  /// Bytes of a group beside those of the boundary.
  int64_t bytesOf(const Group &group) const {
    const Value &root = problem.values[group.root];
    return root.producer == kBoundary || root.placement == Placement::None ? 0 : root.bytes;
  }

  Group newGroup(ValueIndex root) const {
    Group group;
    group.root = root;
    group.values = bit(root);
    group.stepOf.assign(numValues, -1);
    return group;
  }

  bool isOriginalAllowed(const Node &node, OpIndex op) const {
    Set before = bit(op) - 1;
    // An operation is executed once as the original, and then as clones.
    if (contains(node.executed, op))
      return false;
    if (contains(effects, op) && (effects & before & ~node.originals))
      return false;
    if (llvm::popcount(pinned & before) != llvm::popcount(pinned & node.originals))
      return false;
    return options.reorder || (node.originals & ~before) == 0;
  }
  bool isCloneAllowed(OpIndex op) const {
    return problem.operations[op].recomputable && problem.operations[op].policy != Policy::MustSave;
  }

  void push(Node node) {
    // What is certainly still to come, a consistent lower bound: what was not
    // executed yet, and what has to be executed again because its results are
    // gone.
    for (const Group &group : node.groups)
      node.inMemory |= group.values;
    Set missing = needed & ~node.executed;
    int64_t cost = node.cost, numSteps = node.numSteps;
    for (OpIndex op = numOperations - 1; op >= 0; --op) {
      if (!contains(missing, op))
        continue;
      if (contains(node.executed, op) && !isCloneAllowed(op))
        return;
      cost += problem.operations[op].cost;
      ++numSteps;
      for (ValueIndex value : problem.operations[op].reads)
        if (!contains(node.inMemory, value))
          missing |= bit(problem.values[value].producer);
    }
    if (numSteps > options.maxSteps || isDominated(node))
      return;
    queue.push({cost, node.numSteps, int64_t(nodes.size())});
    nodes.push_back(std::move(node));
  }

  void expandVariants(int64_t index, OpIndex op, bool isClone) {
    int64_t numVariants = problem.operations[op].variants.size();
    for (variant = 0; variant <= numVariants; ++variant)
      expand(index, op, isClone);
  }

  /// Tries all ways to execute the chosen variant of `op` next.
  void expand(int64_t index, OpIndex opIndex, bool isClone) {
    const Operation &op = problem.operations[opIndex];
    for (ValueIndex value : op.dependences)
      if (problem.values[value].producer != kBoundary &&
          !contains(nodes[index].executed, problem.values[value].producer))
        return;
    // The groups that each operand can be read from; all combinations.
    llvm::SmallVector<llvm::SmallVector<int64_t, 2>> choices;
    for (ValueIndex value : op.reads) {
      choices.emplace_back();
      for (auto [number, group] : llvm::enumerate(nodes[index].groups))
        if (contains(group.values, value))
          choices.back().push_back(number);
      if (choices.back().empty())
        return;
    }
    llvm::SmallVector<int64_t> digits(op.reads.size(), 0);
    while (true) {
      llvm::SmallVector<int64_t> sources;
      for (auto [choice, digit] : llvm::zip_equal(choices, digits))
        sources.push_back(choice[digit]);
      chooseTakeovers(index, opIndex, isClone, sources);
      int64_t position = 0, e = digits.size();
      while (position < e && ++digits[position] == int64_t(choices[position].size()))
        digits[position++] = 0;
      if (position == e)
        return;
    }
  }

  /// Tries all sets of results that take over the storage of an operand.
  void chooseTakeovers(int64_t index, OpIndex opIndex, bool isClone,
                       llvm::ArrayRef<int64_t> sources) {
    const Operation &op = problem.operations[opIndex];
    int64_t numWrites = op.writes.size();
    for (Set takeovers = 0; takeovers < bit(numWrites); ++takeovers) {
      Set taken = 0;
      bool isPossible = true;
      for (int64_t k = 0; k < numWrites && isPossible; ++k) {
        if (!contains(takeovers, k))
          continue;
        const Value &value = problem.values[op.writes[k]];
        isPossible = value.placement == Placement::Reuse;
        if (!isPossible)
          break;
        int64_t source = sources[llvm::find(op.reads, value.source) - op.reads.begin()];
        const Value &root = problem.values[nodes[index].groups[source].root];
        isPossible = root.producer != kBoundary && root.placement != Placement::None &&
                     root.bytes == value.bytes && !contains(taken, source) &&
                     llvm::count(sources, source) == 1;
        taken |= bit(source);
      }
      if (isPossible)
        chooseDrops(index, opIndex, isClone, sources, takeovers, taken);
    }
  }

  /// Tries all smallest sets of groups to drop before the step.
  void chooseDrops(int64_t index, OpIndex opIndex, bool isClone, llvm::ArrayRef<int64_t> sources,
                   Set takeovers, Set taken) {
    const Operation &op = problem.operations[opIndex];
    const std::vector<Group> &groups = nodes[index].groups;
    assert(int64_t(groups.size()) <= kMaxSetSize && "too many groups");
    int64_t live = boundaryBytes + getVariant(op, variant).workspace;
    for (auto [k, value] : llvm::enumerate(op.writes))
      if (roots[value] == value && isInMemory(value) && !contains(takeovers, k))
        live += problem.values[value].bytes;
    Set candidates = 0;
    for (auto [number, group] : llvm::enumerate(groups)) {
      live += bytesOf(group);
      if (bytesOf(group) > 0 && !llvm::is_contained(sources, int64_t(number)))
        candidates |= bit(number);
    }
    // All subsets of the candidates, from the empty one.
    for (Set dropped = 0;; dropped = (dropped - candidates) & candidates) {
      int64_t excess = live - options.budget;
      int64_t smallest = std::numeric_limits<int64_t>::max();
      for (auto [number, group] : llvm::enumerate(groups)) {
        if (!contains(dropped, number))
          continue;
        excess -= bytesOf(group);
        smallest = std::min(smallest, bytesOf(group));
      }
      // Enough, and not without any one of them.
      if (excess <= 0 && (dropped == 0 || excess + smallest > 0))
        execute(index, opIndex, isClone, sources, takeovers, taken, dropped);
      if (dropped == candidates)
        return;
    }
  }

  void execute(int64_t index, OpIndex opIndex, bool isClone, llvm::ArrayRef<int64_t> sources,
               Set takeovers, Set taken, Set dropped) {
    const Operation &op = problem.operations[opIndex];
    const Node &before = nodes[index];
    Node after;
    after.originals = before.originals | (isClone ? 0 : bit(opIndex));
    after.executed = before.executed | bit(opIndex);
    after.endsInClone = isClone;
    after.cost = before.cost + getVariant(op, variant).cost;
    after.numSteps = before.numSteps + 1;
    after.parent = index;
    after.lastStepOf = before.lastStepOf;
    int64_t stepIndex = before.numSteps;
    after.lastStepOf[opIndex] = stepIndex;

    if (isClone && !before.endsInClone) {
      // In memory during the step before, also if it is dropped now.
      for (const Group &group : before.groups)
        if (group.hasAnchor() && group.anchor.step > after.after.step)
          after.after = group.anchor;
      if (after.after.value == kNoValue && (before.originals & anchoring))
        return;
    }

    after.step.op = opIndex;
    after.step.isClone = isClone;
    after.step.variant = variant;
    for (auto [value, source] : llvm::zip_equal(op.reads, sources))
      after.step.reads.push_back(before.groups[source].stepOf[value]);
    for (ValueIndex value : op.dependences) {
      OpIndex producer = problem.values[value].producer;
      after.step.dependences.push_back(producer == kBoundary ? kBoundary
                                                             : before.lastStepOf[producer]);
    }

    std::vector<Group> groups = before.groups;
    auto define = [&](Group &group, ValueIndex value) {
      group.values |= bit(value);
      group.stepOf[value] = stepIndex;
      if (!isClone && canAnchor(value))
        group.anchor = {value, stepIndex};
    };
    for (ValueIndex value : op.writes) {
      if (problem.values[value].placement != Placement::View)
        continue;
      int64_t source =
          sources[llvm::find(op.reads, problem.values[value].source) - op.reads.begin()];
      define(groups[source], value);
    }
    bool isTurn = opIndex == rule.turn && !isClone;
    for (auto [number, group] : llvm::enumerate(groups))
      if (!contains(dropped | taken, number) && !(isTurn && rule.appliesTo[group.root]))
        after.groups.push_back(std::move(group));
    for (ValueIndex value : op.writes) {
      if (problem.values[value].placement == Placement::View)
        continue;
      after.groups.push_back(newGroup(value));
      define(after.groups.back(), value);
    }
    // Values that nobody can read any more are of no use, except to wait for.
    Set useful = usefulValues(after.executed);
    for (Group &group : after.groups)
      group.values &= useful;
    normalize(after.groups);
    push(std::move(after));
  }

  /// The values that some operation that matters may read from now on.
  Set usefulValues(Set executed) const {
    Set useful = 0;
    for (OpIndex op = 0; op < numOperations; ++op)
      if (contains(needed, op) && (!contains(executed, op) || isCloneAllowed(op)))
        for (ValueIndex value : problem.operations[op].reads)
          useful |= bit(value);
    return useful;
  }

  /// Whether nothing is lost when `a` is dropped and `b` stays.
  bool isCoveredBy(const Group &a, const Group &b) const {
    return (a.values & ~b.values) == 0 && bytesOf(b) <= bytesOf(a) &&
           (b.hasAnchor() || !a.hasAnchor());
  }

  /// Whether some node has gone on with everything that `node` has in memory, at
  /// no higher cost and after no more steps. If it has more in memory, it drops
  /// that when `node` would not fit otherwise.
  bool isDominated(const Node &node) const {
    auto it = visited.find({node.originals, node.executed});
    if (it == visited.end())
      return false;
    return llvm::any_of(it->second, [&](int64_t index) {
      const Node &other = nodes[index];
      return other.cost <= node.cost && other.numSteps <= node.numSteps &&
             (node.inMemory & ~other.inMemory) == 0 && (other.endsInClone || !node.endsInClone) &&
             llvm::all_of(node.groups, [&](const Group &group) {
               return llvm::any_of(other.groups,
                                   [&](const Group &cover) { return isCoveredBy(group, cover); });
             });
    });
  }

  /// Drops groups that another one covers, and sorts those behind the boundary.
  void normalize(std::vector<Group> &groups) const {
    for (size_t number = groups.size(); number-- > size_t(numBoundary);) {
      bool isCovered = groups[number].values == 0 && !groups[number].hasAnchor();
      for (size_t other = 0; other < groups.size() && !isCovered; ++other)
        isCovered = other != number && isCoveredBy(groups[number], groups[other]);
      if (isCovered)
        groups.erase(groups.begin() + number);
    }
    std::stable_sort(groups.begin() + numBoundary, groups.end(),
                     [](const Group &a, const Group &b) { return a.key() < b.key(); });
  }

  Plan planOf(int64_t index) const {
    Plan plan;
    std::vector<ValueInstance> after;
    for (; nodes[index].parent >= 0; index = nodes[index].parent) {
      plan.steps.push_back(nodes[index].step);
      after.push_back(nodes[index].after);
    }
    std::reverse(plan.steps.begin(), plan.steps.end());
    std::reverse(after.begin(), after.end());
    // The usual choice of what regions wait for, or the one found here where
    // that is too large.
    assignRegions(problem, plan);
    if (simulate(problem, plan).livePeak > options.budget)
      for (Region &region : plan.regions)
        region.after = after[region.begin];
    return plan;
  }

  const Problem &problem;
  const ExhaustiveOptions &options;
  int64_t numOperations, numValues;
  std::vector<ValueIndex> roots;
  RecomputeRule rule;
  /// How the operation is executed with which a node is expanded.
  int64_t variant = 0;
  /// Operations that are not pure, that are pinned, that every plan executes,
  /// and that write something that a region can wait for.
  Set effects = 0, pinned = 0, needed = 0, anchoring = 0;
  int64_t boundaryBytes = 0, numBoundary = 0;

  /// A deque, because nodes are added while one is looked at.
  std::deque<Node> nodes;
  /// Lower bound of the cost, steps so far, node: the smallest first.
  using Entry = std::tuple<int64_t, int64_t, int64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  /// Nodes from which the search went on, by originals and executed operations.
  std::map<std::pair<Set, Set>, std::vector<int64_t>> visited;
};

} // namespace

std::optional<Plan> mlir::remat::planner::solveExhaustive(const Problem &problem,
                                                          const ExhaustiveOptions &options,
                                                          bool *isComplete) {
  bool ignored;
  bool &complete = isComplete ? *isComplete : ignored;
  complete = true;
  return Search(problem, options).run(complete);
}
