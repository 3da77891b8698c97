//===- Exact.cpp - The cheapest plan, and the proof --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state is the set of operations that have been executed, and the set of values
// that can be read: roots of storages in memory, and the views that are shown of
// them. A step executes one operation; what does not fit beside it is dropped just
// before, and then no more than needed, since whoever drops more or earlier has
// fewer choices and gains nothing. One instance of a storage is enough: two hold
// the bytes that an operation needs for a result of its own if it does not destroy
// its destination.
//
// What regions of clones wait for is not looked at. It keeps nothing alive where
// operations have results that can be waited for; if a plan does not fit for that
// reason, the search of solveExhaustive, which does look, takes over.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Exact.h"
#include "Detail.h"
#include "Knapsack.h"
#include "Remat/Planner/Exhaustive.h"
#include "Remat/Planner/Simulator.h"
#include "Remat/Planner/Variants.h"
#include "StageRelaxation.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <deque>
#include <queue>
#include <tuple>
#include <unordered_map>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

constexpr int64_t kInfeasible = std::numeric_limits<int64_t>::max();

/// The size of the bound.
constexpr int64_t kMaxBoundCells = 200'000;
/// Sets that the knapsack of a state looks at.
constexpr int64_t kMaxKnapsackSets = 200;
/// Problems of more operations are not given to solveExhaustive.
constexpr int64_t kMaxExhaustive = 10;
/// States of the same executed operations that a new one is compared with.
constexpr int64_t kMaxComparisons = 200;
/// Choices of what to drop that may be looked at for each state that may be made, and
/// between two questions whether to stop.
constexpr int64_t kChoicesPerState = 64, kChoicesPerQuestion = 1024;

/// A set of operations or values, by index.
struct Set {
  std::array<uint64_t, 2> words{0, 0};

  static Set of(int64_t index) {
    Set set;
    set.insert(index);
    return set;
  }
  void insert(int64_t index) { words[index / 64] |= uint64_t(1) << (index % 64); }
  bool contains(int64_t index) const { return words[index / 64] >> (index % 64) & 1; }
  bool empty() const { return (words[0] | words[1]) == 0; }
  bool covers(Set other) const { return (other - *this).empty(); }
  bool intersects(Set other) const { return !(*this & other).empty(); }

  Set operator|(Set other) const {
    return {{words[0] | other.words[0], words[1] | other.words[1]}};
  }
  Set operator&(Set other) const {
    return {{words[0] & other.words[0], words[1] & other.words[1]}};
  }
  Set operator-(Set other) const {
    return {{words[0] & ~other.words[0], words[1] & ~other.words[1]}};
  }
  bool operator==(const Set &other) const { return words == other.words; }

  template <typename Visit>
  void forEach(Visit visit) const {
    for (int64_t word = 0; word < 2; ++word)
      for (uint64_t rest = words[word]; rest != 0; rest &= rest - 1)
        visit(word * 64 + llvm::countr_zero(rest));
  }
};

/// What a plan has done so far.
struct State {
  Set executed, readable;
  bool operator==(const State &other) const {
    return executed == other.executed && readable == other.readable;
  }
};

/// A fixed hash.
struct Hash {
  static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
  }
  static uint64_t mix(uint64_t hash, const Set &set) {
    return mix(mix(hash, set.words[0]), set.words[1]);
  }
  size_t operator()(const Set &set) const { return mix(1, set); }
  size_t operator()(const State &state) const {
    return mix(mix(1, state.executed), state.readable);
  }
};

/// A sequence of steps, as its last step and the node before.
struct Node {
  State state;
  int64_t cost;
  int32_t parent;
  int16_t op;
  bool isClone;
  /// The first milestone that was not executed.
  int16_t stage;
  /// Results of the step that are those of an earlier one, which stayed in memory.
  Set kept;
};

class Search {
public:
  Search(const Problem &problem, int64_t budget, const ExactOptions &options,
         const StageRelaxation &bound)
      : problem(problem), budget(budget), options(options), bound(bound),
        numOperations(problem.operations.size()), numValues(problem.values.size()),
        roots(viewRoots(problem)), boundaryBytes(detail::boundaryBytes(problem, /*alignment=*/1)) {
    std::vector<bool> isNeeded = neededOperations(problem);
    if (const std::optional<Surroundings> &around = options.surroundings) {
      for (auto [index, isExecuted] : llvm::enumerate(around->isExecuted))
        if (isExecuted)
          start.executed.insert(index);
      for (auto [value, isReadable] : llvm::enumerate(around->isReadable))
        if (isReadable)
          start.readable.insert(value);
      heldBytes = around->heldBytes;
    }
    reads.resize(numOperations);
    producers.resize(numOperations);
    writes.resize(numOperations);
    for (OpIndex index = 0; index < numOperations; ++index) {
      const Operation &op = problem.operations[index];
      if (isNeeded[index]) {
        needed.insert(index);
        neededCost += start.executed.contains(index) ? 0 : op.cost;
      }
      if (op.effect != Effect::Pure)
        effects.insert(index);
      if (op.effect == Effect::Pinned)
        pinned.insert(index);
      if (isNeeded[index] && op.recomputable && op.policy != Policy::MustSave)
        cloneable.insert(index);
      for (ValueIndex value : op.reads)
        if (problem.values[value].producer != kBoundary)
          reads[index].insert(value);
      for (ValueIndex value : op.dependences)
        if (problem.values[value].producer != kBoundary)
          producers[index].insert(problem.values[value].producer);
      for (ValueIndex value : op.writes)
        writes[index].insert(value);
    }
    groupOf.resize(numValues);
    for (ValueIndex value = 0; value < numValues; ++value) {
      const Value &root = problem.values[roots[value]];
      if (problem.values[value].producer != kBoundary)
        groupOf[roots[value]].insert(value);
      if (roots[value] == value && root.producer != kBoundary && bytesOf(value) > 0)
        storages.push_back(value);
    }
    start.readable = start.readable & findUseful(start.executed);
    choosePeak();
  }

  int64_t getNeededCost() const { return neededCost; }
  int64_t getNumStates() const { return nodes.size(); }

  enum class Outcome : uint8_t { Found, None, Cut, GaveUp };

  /// Looks for the cheapest plan of at most `limit` picoseconds in all. Cut: there is
  /// none, but perhaps there is a more expensive one. `lowerBound` of all plans.
  Outcome run(int64_t limit, int64_t maxStates, int64_t &lowerBound) {
    nodes.clear();
    queue = {};
    known.clear();
    visited.clear();
    maxCost = limit;
    stateLimit = maxStates;
    numChoices = 0;
    isCut = false;
    lowerBound = kInfeasible;
    if (boundaryBytes > budget)
      return Outcome::None;
    push({start, /*cost=*/0, /*parent=*/-1, /*op=*/-1, /*isClone=*/false, /*stage=*/0,
          /*kept=*/{}});
    while (!queue.empty()) {
      lowerBound = std::get<0>(queue.top());
      int64_t index = -std::get<2>(queue.top());
      queue.pop();
      Node node = nodes[index];
      if (known[node.state] < node.cost || isDominated(node))
        continue;
      if (node.state.executed.covers(needed)) {
        goal = index;
        return Outcome::Found;
      }
      visited[node.state.executed].push_back(index);
      needed.forEach([&](OpIndex op) {
        if (isOriginalAllowed(node, op))
          expand(node, index, op, /*isClone=*/false);
        else if (isCloneAllowed(node, op))
          expand(node, index, op, /*isClone=*/true);
      });
      // Some of what comes behind the node may be missing.
      if (isOver())
        return Outcome::GaveUp;
    }
    lowerBound = isCut ? limit + 1 : kInfeasible;
    return isCut ? Outcome::Cut : Outcome::None;
  }

  /// The plan that was found.
  Plan getPlan() const {
    llvm::SmallVector<int64_t> path;
    for (int64_t index = goal; nodes[index].parent >= 0; index = nodes[index].parent)
      path.push_back(index);
    Plan plan;
    std::vector<StepIndex> lastStep(numOperations, kBoundary), stepOf(numValues, kBoundary);
    for (int64_t index : llvm::reverse(path)) {
      const Node &node = nodes[index];
      Step step;
      step.op = node.op;
      step.isClone = node.isClone;
      const Operation &op = problem.operations[step.op];
      for (ValueIndex value : op.reads)
        step.reads.push_back(stepOf[value]);
      for (ValueIndex value : op.dependences) {
        OpIndex producer = problem.values[value].producer;
        step.dependences.push_back(producer == kBoundary ? kBoundary : lastStep[producer]);
      }
      lastStep[step.op] = plan.steps.size();
      for (ValueIndex value : op.writes)
        if (!node.kept.contains(value))
          stepOf[value] = plan.steps.size();
      plan.steps.push_back(std::move(step));
    }
    return plan;
  }

private:
  bool isInMemory(ValueIndex root) const {
    return problem.values[root].placement != Placement::None;
  }
  /// Bytes of the storage that `root` begins, beside those of the boundary.
  int64_t bytesOf(ValueIndex root) const {
    const Value &value = problem.values[root];
    return value.producer == kBoundary || !isInMemory(root) ? 0 : value.bytes;
  }

  bool isOriginalAllowed(const Node &node, OpIndex op) const {
    const Set &executed = node.state.executed;
    if (executed.contains(op))
      return false;
    Set before, after;
    for (OpIndex other = 0; other < numOperations; ++other)
      (other < op ? before : after).insert(other);
    if (!options.reorder)
      return executed.covers(before & needed);
    // Nothing passes a pinned operation, and effects keep their order.
    return executed.covers(before & (effects.contains(op) ? effects : pinned)) &&
           !executed.intersects(after & pinned);
  }

  /// Clones, without an original or not, move past pinned operations.
  bool isCloneAllowed(const Node &node, OpIndex op) const {
    return cloneable.contains(op) && (options.reorder || node.state.executed.contains(op));
  }

  /// The values that some execution may read from now on.
  Set findUseful(const Set &executed) const {
    Set useful;
    for (OpIndex op = numOperations - 1; op >= 0; --op)
      if (needed.contains(op) &&
          (!executed.contains(op) || (cloneable.contains(op) && useful.intersects(writes[op]))))
        useful = useful | reads[op];
    return useful;
  }

  struct Candidate {
    ValueIndex root;
    int64_t bytes;
    /// What to pay later if it is dropped.
    Price penalty;
  };
  /// A step that is being put together.
  struct Expansion {
    const Node &before;
    int64_t index;
    OpIndex op;
    bool isClone;
    Set useful;
    /// Groups that a result takes over the storage of.
    Set taken;
    llvm::SmallVector<Candidate> candidates;
  };

  /// Tries all ways to execute `op` next.
  void expand(const Node &node, int64_t index, OpIndex op, bool isClone) {
    const State &state = node.state;
    if (!state.readable.covers(reads[op]) || !state.executed.covers(producers[op]))
      return;
    Expansion step{node, index, op, isClone, findUseful(state.executed | Set::of(op)), {}, {}};
    if (state.executed.contains(op) && state.readable.covers(writes[op] & step.useful))
      return;
    chooseTakeovers(step, /*firstWrite=*/0);
  }

  /// Tries to let each result take over the storage of its destination, or not.
  void chooseTakeovers(const Expansion &step, int64_t firstWrite) {
    const Operation &op = problem.operations[step.op];
    for (int64_t k = firstWrite, e = op.writes.size(); k < e; ++k) {
      const Value &value = problem.values[op.writes[k]];
      if (value.placement != Placement::Reuse || value.bytes == 0)
        continue;
      ValueIndex root = roots[value.source];
      auto isShown = [&](ValueIndex read) { return roots[read] == root; };
      if (bytesOf(root) != value.bytes || step.taken.contains(root) ||
          llvm::count_if(op.reads, isShown) != 1)
        continue;
      Expansion other = step;
      other.taken.insert(root);
      chooseTakeovers(other, k + 1);
    }
    if (firstWrite == 0 || !step.taken.empty())
      chooseDrops(step);
  }

  /// Tries all smallest sets of storages to drop before the step.
  void chooseDrops(Expansion step) {
    const Operation &op = problem.operations[step.op];
    const State &state = step.before.state;
    int64_t excess = boundaryBytes + op.workspace + getHeldBytes(step) - budget;
    for (ValueIndex value : op.writes)
      if (roots[value] == value)
        excess += bytesOf(value);
    // Each storage that is taken is one result less.
    step.taken.forEach([&](ValueIndex root) { excess -= bytesOf(root); });
    Set dropped;
    for (ValueIndex root : storages) {
      Set shown = groupOf[root] & state.readable;
      if (shown.empty())
        continue;
      excess += bytesOf(root);
      if (reads[step.op].intersects(groupOf[root]))
        continue;
      // What is computed again without views that are worth something replaces what
      // is there.
      bool isReplaced = writes[step.op].contains(root);
      Set worth = shown & step.useful;
      if (isReplaced)
        worth = worth - Set::of(root);
      if (worth.empty()) {
        excess -= bytesOf(root);
        dropped = dropped | groupOf[root];
        continue;
      }
      step.candidates.push_back({root, bytesOf(root), 0});
    }
    int64_t stage = getNextStage(step);
    for (Candidate &candidate : step.candidates)
      if (int64_t item = itemOf(candidate.root);
          item >= 0 && !writes[step.op].contains(candidate.root))
        candidate.penalty = bound.getCostToGo(stage, item, StageRelaxation::Gone) -
                            bound.getCostToGo(stage, item, StageRelaxation::InMemory);
    llvm::stable_sort(step.candidates,
                      [](const Candidate &a, const Candidate &b) { return a.bytes > b.bytes; });
    Price least = getBound(getStateAfter(step, dropped), stage) +
                  (Price(step.before.cost + op.cost) << bound.getFractionBits());
    chooseDropsFrom(step, 0, excess, least, dropped);
  }

  /// Bytes of others that are live beside the step.
  int64_t getHeldBytes(const Expansion &step) const {
    if (heldBytes.empty() || effects.contains(step.op))
      return 0;
    int64_t numEffects = 0;
    (effects & step.before.state.executed).forEach([&](OpIndex) { ++numEffects; });
    return heldBytes[numEffects];
  }

  int64_t getNextStage(const Expansion &step) const {
    int64_t stage = step.before.stage;
    const std::vector<OpIndex> &milestones = bound.getMilestones();
    return stage + (stage < int64_t(milestones.size()) && milestones[stage] == step.op);
  }

  State getStateAfter(const Expansion &step, const Set &dropped) const {
    State state = step.before.state;
    state.executed.insert(step.op);
    state.readable = (state.readable - dropped) | writes[step.op];
    step.taken.forEach([&](ValueIndex root) { state.readable = state.readable - groupOf[root]; });
    state.readable = state.readable & step.useful;
    return state;
  }

  /// The candidates come in the order of their bytes: the last one that is dropped is
  /// the smallest, and without it the others are not enough.
  void chooseDropsFrom(const Expansion &step, size_t first, int64_t excess, Price least,
                       const Set &dropped) {
    if (least >= kImpossiblePrice || isOver())
      return;
    if (least > (Price(maxCost) << bound.getFractionBits())) {
      isCut = true;
      return;
    }
    if (excess <= 0) {
      finish(step, dropped);
      return;
    }
    int64_t rest = 0;
    for (size_t number = first; number < step.candidates.size(); ++number)
      rest += step.candidates[number].bytes;
    for (size_t number = first; number < step.candidates.size() && rest >= excess; ++number) {
      const Candidate &candidate = step.candidates[number];
      rest -= candidate.bytes;
      chooseDropsFrom(step, number + 1, excess - candidate.bytes, least + candidate.penalty,
                      dropped | groupOf[candidate.root]);
    }
  }

  /// Whether the work is used up, or somebody wants the search to end.
  bool isOver() {
    if (++numChoices % kChoicesPerQuestion == 0 && options.shouldStop && options.shouldStop())
      isStopped = true;
    return isStopped || int64_t(nodes.size()) > stateLimit ||
           numChoices / kChoicesPerState > stateLimit;
  }

  void finish(const Expansion &step, const Set &dropped) {
    Node node;
    node.state = getStateAfter(step, dropped);
    node.cost = step.before.cost + problem.operations[step.op].cost;
    node.parent = step.index;
    node.op = step.op;
    node.isClone = step.isClone;
    node.stage = getNextStage(step);
    node.kept = (writes[step.op] & step.before.state.readable) - dropped;
    // Views are shown again, of what their operand shows.
    for (ValueIndex value : problem.operations[step.op].writes)
      if (roots[value] != value || bytesOf(value) == 0)
        node.kept = node.kept - Set::of(value);
    push(node);
  }

  void push(const Node &node) {
    auto [it, isNew] = known.try_emplace(node.state, node.cost);
    if (!isNew && it->second <= node.cost)
      return;
    Price later = getBound(node.state, node.stage);
    int64_t again = getCostOfMissing(node.state);
    if (again == kInfeasible || later >= kImpossiblePrice)
      return;
    later = std::max(later, getPeakBound(node.state, node.stage, peak));
    if (later >= kImpossiblePrice)
      return;
    Price unit = Price(1) << bound.getFractionBits();
    Price rounded = (later + unit - 1) >> bound.getFractionBits();
    Price total = node.cost + std::max<Price>(rounded, again);
    if (total > maxCost) {
      isCut = true;
      return;
    }
    it->second = node.cost;
    queue.push({int64_t(total), -node.stage, -int64_t(nodes.size())});
    nodes.push_back(node);
  }

  /// A lower bound of what is still to pay, see StageRelaxation.
  Price getBound(const State &state, int64_t stage) const {
    Price sum = bound.getMemoryToGo(stage);
    for (auto [index, item] : llvm::enumerate(bound.getItems())) {
      StageRelaxation::State itemState = getItemState(state, item);
      Price price = bound.getCostToGo(stage, index, itemState);
      if (price >= kImpossiblePrice)
        return kImpossiblePrice;
      sum += price;
    }
    return sum;
  }

  /// The same, where what is retained past the peak is chosen in integers.
  Price getPeakBound(const State &state, int64_t stage, const StageRelaxation::Peak &peak) const {
    if (stage > peak.stage)
      return 0;
    Price sum = bound.getMemoryToGo(stage) + peak.memory;
    int64_t excess = -peak.capacity, freeable = 0;
    std::vector<KnapsackItem> choices;
    for (auto [index, item] : llvm::enumerate(bound.getItems())) {
      StageRelaxation::State itemState = getItemState(state, item);
      Price dropped = bound.getCostToGo(peak.dropped, stage, index, itemState);
      if (!bound.isCounted(peak.stage, index)) {
        if (dropped >= kImpossiblePrice)
          return kImpossiblePrice;
        sum += dropped;
        continue;
      }
      Price retained = bound.getCostToGo(peak.retained, stage, index, itemState);
      if (std::min(retained, dropped) >= kImpossiblePrice)
        return kImpossiblePrice;
      sum += std::min(retained, dropped);
      if (dropped <= retained)
        continue;
      excess += item.bytes;
      if (dropped >= kImpossiblePrice)
        continue;
      Price penalty = (dropped - retained) >> getPenaltyShift();
      penalty = std::min<Price>(penalty, kMaxPlanSum / kMaxExactSize);
      choices.push_back({int64_t(penalty), item.bytes});
      freeable += item.bytes;
    }
    if (excess <= 0)
      return sum;
    if (freeable < excess)
      return kImpossiblePrice;
    return sum + (Price(solveKnapsack(std::move(choices), excess, kMaxKnapsackSets))
                  << getPenaltyShift());
  }
  /// Penalties in 64 bits lose their last fractions.
  int64_t getPenaltyShift() const { return std::max<int64_t>(0, bound.getFractionBits() - 4); }

  StageRelaxation::State getItemState(const State &state, const StageRelaxation::Item &item) const {
    if (!state.executed.contains(item.op))
      return StageRelaxation::Unexecuted;
    return item.root != kNoValue && groupOf[item.root].intersects(state.readable)
               ? StageRelaxation::InMemory
               : StageRelaxation::Gone;
  }

  /// The milestone at which the choice in integers bounds most.
  void choosePeak() {
    Price most = 0;
    for (int64_t stage = 0, e = bound.getMilestones().size(); stage < e; ++stage) {
      StageRelaxation::Peak candidate = bound.getPeak(stage);
      Price price = getPeakBound(start, 0, candidate);
      if (price <= most)
        continue;
      most = price;
      peak = std::move(candidate);
    }
  }

  /// The cost of what was not executed yet, and of what has to be executed again
  /// because its results are gone.
  int64_t getCostOfMissing(const State &state) const {
    Set missing = needed - state.executed;
    int64_t cost = 0;
    for (OpIndex op = numOperations - 1; op >= 0; --op) {
      if (!missing.contains(op))
        continue;
      if (state.executed.contains(op) && !cloneable.contains(op))
        return kInfeasible;
      cost += problem.operations[op].cost;
      (reads[op] - state.readable).forEach([&](ValueIndex value) {
        missing.insert(problem.values[value].producer);
      });
    }
    return cost;
  }

  /// Whether some node has gone on with everything that `node` can read, at no higher
  /// cost.
  bool isDominated(const Node &node) const {
    auto it = visited.find(node.state.executed);
    if (it == visited.end())
      return false;
    int64_t numComparisons = 0;
    for (int64_t index : llvm::reverse(it->second)) {
      if (++numComparisons > kMaxComparisons)
        return false;
      if (nodes[index].cost <= node.cost && nodes[index].state.readable.covers(node.state.readable))
        return true;
    }
    return false;
  }

  int64_t itemOf(ValueIndex root) const { return bound.getItem(root); }

  const Problem &problem;
  int64_t budget;
  const ExactOptions &options;
  const StageRelaxation &bound;
  int64_t numOperations, numValues;
  std::vector<ValueIndex> roots;
  /// By operation: values without those of the boundary, and producers of those that
  /// it depends on.
  std::vector<Set> reads, producers, writes;
  /// By root: itself and its views.
  std::vector<Set> groupOf;
  StageRelaxation::Peak peak;
  /// What others hold, see Surroundings.
  llvm::ArrayRef<int64_t> heldBytes;
  /// Before the first step.
  State start;
  /// The roots that take memory.
  std::vector<ValueIndex> storages;
  Set needed, effects, pinned, cloneable;
  int64_t neededCost = 0, boundaryBytes;

  /// A deque, because nodes are added while one is looked at.
  std::deque<Node> nodes;
  int64_t goal = -1;
  int64_t maxCost = 0;
  bool isCut = false, isStopped = false;
  int64_t stateLimit = 0;
  /// Of what to drop, looked at so far.
  int64_t numChoices = 0;
  /// Lower bound of the cost, minus the stage, minus the node: the smallest first, so
  /// that of equal bounds the one that came furthest goes on.
  using Entry = std::tuple<int64_t, int64_t, int64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  /// The lowest cost of each state.
  std::unordered_map<State, int64_t, Hash> known;
  /// Nodes from which the search went on, by what was executed.
  std::unordered_map<Set, std::vector<int64_t>, Hash> visited;
};

} // namespace

/// A plan that costs no more than with the smallest workspaces is the optimum.
static ExactResult solveWithVariants(const Problem &problem, int64_t budget,
                                     const ExactOptions &options) {
  if (findTurn(problem) != kBoundary)
    return {};
  Problem least = withLeastWorkspaces(problem);
  int64_t raised = raiseCosts(problem, budget, least);
  ExactOptions leastOptions = options;
  if (options.upperBound)
    leastOptions.upperBound = *options.upperBound - raised;
  ExactResult result = solveExact(least, budget, leastOptions);
  if (result.lowerBound != kInfeasible)
    result.lowerBound += raised;
  if (!result.plan)
    return result;
  int64_t leastAdded = addedCost(least, *result.plan) + raised;
  chooseVariants(problem, *result.plan, budget, /*alignment=*/1);
  int64_t added = addedCost(problem, *result.plan);
  result.isComplete &= added == leastAdded;
  if (options.upperBound && added >= *options.upperBound)
    result.plan.reset();
  return result;
}

ExactResult mlir::remat::planner::solveExact(const Problem &problem, int64_t budget,
                                             const ExactOptions &options) {
  ExactResult result;
  if (hasVariants(problem))
    return solveWithVariants(problem, budget, options);
  StageRelaxation bound(problem, budget, options.reorder, kMaxBoundCells,
                        options.surroundings ? &*options.surroundings : nullptr);
  int64_t numSteps = bound.improve(
      options.numBoundSteps, options.upperBound.value_or(std::numeric_limits<int64_t>::max()));
  result.work = numSteps * bound.getNumCells();
  result.lowerBound = bound.getAddedCost();
  if (bound.isInfeasible() || (options.upperBound && *options.upperBound <= result.lowerBound)) {
    result.isComplete = true;
    return result;
  }
  if (int64_t(problem.operations.size()) > kMaxExactSize ||
      int64_t(problem.values.size()) > kMaxExactSize || findTurn(problem) != kBoundary)
    return result;

  Search search(problem, budget, options, bound);
  int64_t neededCost = search.getNeededCost(), statesLeft = options.maxStates;
  int64_t most = options.upperBound ? *options.upperBound - 1 : kMaxPlanSum;
  // A limit that rises keeps the search from making states that it never looks at.
  int64_t slack = std::max<int64_t>(1, neededCost / 4096);
  int64_t limit = result.lowerBound;
  while (true) {
    limit = std::min(most, limit + slack);
    int64_t lowerBound = 0;
    Search::Outcome outcome = search.run(limit + neededCost, statesLeft, lowerBound);
    statesLeft -= search.getNumStates();
    result.work += search.getNumStates() * int64_t(bound.getItems().size());
    result.lowerBound = std::max(result.lowerBound,
                                 lowerBound == kInfeasible ? kInfeasible : lowerBound - neededCost);
    if (outcome == Search::Outcome::GaveUp || statesLeft <= 0)
      return result;
    if (outcome == Search::Outcome::Cut && limit < most) {
      slack = slack > kMaxPlanSum / 8 ? slack : slack * 4;
      continue;
    }
    result.isComplete = true;
    if (outcome != Search::Outcome::Found)
      return result;
    break;
  }
  Plan plan = search.getPlan();
  if (options.surroundings) {
    result.plan = std::move(plan);
    return result;
  }
  assignRegions(problem, plan);
  if (simulate(problem, plan).livePeak <= budget) {
    result.plan = std::move(plan);
    return result;
  }
  // Some region waits for what does not fit.
  result.isComplete = false;
  if (int64_t(problem.operations.size()) <= kMaxExhaustive) {
    ExhaustiveOptions exhaustive{budget, options.reorder, /*maxSteps=*/4 * kMaxExhaustive,
                                 std::min<int64_t>(options.maxStates, 100'000),
                                 /*originalsFirst=*/!options.reorder};
    result.plan = solveExhaustive(problem, exhaustive);
  }
  return result;
}
