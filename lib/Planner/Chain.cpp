//===- Chain.cpp - Plans of chains by dynamic programming -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which stages of a chain are executed again, by Revolve for unit chains and
// by dynamic programming for others, and writes down the plan. ChainStructure.cpp
// decides what the stages are.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Chain.h"
#include "ChainStructure.h"
#include "Detail.h"
#include "Remat/Planner/Simulator.h"
#include "Remat/Planner/Variants.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

//===----------------------------------------------------------------------===//
// Revolve
//===----------------------------------------------------------------------===//

namespace {
/// C(c + r, c) for consecutive r, from r = 0 up to the first that is at least `limit`:
/// the steps that can be reversed with c checkpoints if each is executed at most r
/// times beforehand.
class StepCounts {
public:
  StepCounts(int64_t numCheckpoints, int64_t limit) {
    // More checkpoints than steps are of no use.
    numCheckpoints = std::min(numCheckpoints, limit);
    while (current < limit) {
      ++repetitions;
      sum += current;
      beforePrevious = previous;
      previous = current;
      // C(c + r, c) = C(c + r - 1, c) * (c + r) / r = C(c + r - 1, c) + C(c + r - 1, c - 1).
      __int128 next = __int128(previous) * (numCheckpoints + repetitions) / repetitions;
      current = int64_t(std::min<__int128>(next, limit));
      withOneLess = int64_t(std::min<__int128>(next - previous, limit));
    }
  }

  /// The last r; the sum of C(c + i, c) over i < r, which is C(c + r, c + 1).
  int64_t repetitions = 0, sum = 0;
  /// C(c + r - 2, c), and C(c - 1 + r, c - 1) if that is below the limit.
  int64_t beforePrevious = 0, withOneLess = 1;

private:
  int64_t current = 1, previous = 0;
};
} // namespace

int64_t mlir::remat::planner::revolveCost(int64_t numSteps, int64_t numCheckpoints) {
  assert(numSteps >= 1 && numCheckpoints >= 1 && "nothing to reverse, or nowhere to begin");
  StepCounts counts(numCheckpoints, numSteps);
  return counts.repetitions * numSteps - counts.sum;
}

int64_t mlir::remat::planner::revolveSplit(int64_t numSteps, int64_t numCheckpoints) {
  assert(numSteps >= 2 && numCheckpoints >= 1 && "a single step needs no further checkpoint");
  // The part in front has numCheckpoints and one repetition less, the part behind it one
  // checkpoint less. Any split where neither has more steps than that allows is best.
  StepCounts counts(numCheckpoints, numSteps);
  return std::max({int64_t(1), counts.beforePrevious, numSteps - counts.withOneLess});
}

//===----------------------------------------------------------------------===//
// Dynamic programming
//===----------------------------------------------------------------------===//

namespace {

/// Bounds the points of all fronts that the dynamic program combines, up to a factor.
constexpr int64_t kMaxWork = int64_t(1) << 25;
/// Plans that cost more, in picoseconds, are not looked at, so that sums of a few
/// don't overflow.
constexpr int64_t kMaxCost = kMaxPlanSum / 8;

/// What plans of a range of stages need and cost.
struct Point {
  /// Bytes.
  int64_t need;
  /// Picoseconds.
  int64_t cost;
};
/// Ascending needs, descending costs.
using Front = std::vector<Point>;

/// Stages [first, last] and their backward parts, with the input of `first` in memory
/// all the time and not counted. If the output of `last` is held, the same holds for
/// that, until its own backward part is over.
struct Range {
  int64_t first, last;
  bool isOutputHeld;
};

/// How a range begins.
struct Choice {
  enum Kind : uint8_t { Replay, Record, Advance } kind = Replay;
  /// Advance: the stage whose input is kept, and whether that stays up to the backward
  /// part of the stage that computes it.
  int64_t stage = 0;
  bool isOutputHeld = false;
};

class Fronts {
public:
  /// Plans that need more than `limit` bytes beside boundary values are not looked at.
  Fronts(const Chain &chain, int64_t limit)
      : stages(chain.stages), numStages(chain.stages.size()), limit(limit),
        fronts(2 * numStages * numStages), lowers(numStages * numStages) {
    int64_t numMerges = std::max<int64_t>(numStages * numStages * numStages / 3, 1);
    maxPoints = std::clamp<int64_t>(kMaxWork / numMerges, 16, 2048);
  }

  void run() {
    for (int64_t length = 1; length <= numStages; ++length) {
      for (int64_t first = 0, e = numStages - length; first <= e; ++first) {
        int64_t last = first + length - 1;
        solve({first, last, false});
        if (stages[last].isOutputRead)
          solve({first, last, true});
        Front &lower = lowers[first * numStages + last];
        lower = front({first, last, false});
        Front held = front({first, last, true});
        shift(held, stages[last].outputBytes);
        addToFront(lower, held);
      }
    }
  }

  bool fits(int64_t memory) const { return find(front({0, numStages - 1, false}), memory); }

  /// The cheapest way to begin a range that fits into `memory`.
  Choice choose(const Range &range, int64_t memory) const {
    Choice best;
    int64_t bestCost = kMaxPlanSum;
    auto consider = [&](int64_t cost, const Choice &choice) {
      if (cost >= bestCost)
        return;
      bestCost = cost;
      best = choice;
    };
    int64_t first = range.first, last = range.last;
    bool isHeld = range.isOutputHeld;
    if (first == last)
      return best;
    const StageRun &record = recordRun(range);
    const Point *next =
        find(front({first + 1, last, isHeld}), memory - stages[first].recordedBytes);
    if (next && recordNeed(range) <= memory)
      consider(record.cost + next->cost, {Choice::Record});
    forEachAdvance(range, [&](int64_t stage, int64_t need, int64_t cost) {
      const Point *upper =
          find(front({stage, last, isHeld}), memory - stages[stage - 1].outputBytes);
      if (!upper || need > memory)
        return;
      for (bool isOutputHeld : {false, true}) {
        int64_t bytes = isOutputHeld ? stages[stage - 1].outputBytes : 0;
        if (const Point *lower =
                find(front({first, stage - 1, isOutputHeld}), memory + heldBytes(range) - bytes))
          consider(cost + upper->cost + lower->cost, {Choice::Advance, stage, isOutputHeld});
      }
    });
    assert(bestCost < kMaxPlanSum && "the range does not fit");
    return best;
  }

  int64_t heldBytes(const Range &range) const {
    return range.isOutputHeld ? stages[range.last].outputBytes : 0;
  }

private:
  int64_t index(const Range &range) const {
    return 2 * (range.first * numStages + range.last) + range.isOutputHeld;
  }
  Front &front(const Range &range) { return fronts[index(range)]; }
  const Front &front(const Range &range) const { return fronts[index(range)]; }

  /// The stages up to the last one are executed for the first time just when no
  /// backward part was.
  bool isFirst(const Range &range) const { return range.last == numStages - 1; }
  /// Live beside the forward values of a range; the first runs count that themselves.
  int64_t bytesBeside(const Range &range) const {
    return isFirst(range) ? 0 : stages[range.last].bytesBefore;
  }
  const StageRun &recordRun(const Range &range) const {
    const Stage &stage = stages[range.first];
    return isFirst(range) ? stage.firstRecord : stage.record;
  }
  int64_t recordNeed(const Range &range) const {
    // The output that is held is free when the backward part of the first stage runs.
    return std::max(bytesBeside(range) + recordRun(range).peak,
                    stages[range.first].backwardPeak - heldBytes(range));
  }

  /// Calls `visit` with each stage of a range but the first, and with what it needs and
  /// costs to compute its input from that of the first.
  template <typename Visit>
  void forEachAdvance(const Range &range, Visit visit) const {
    int64_t need = 0, cost = 0;
    for (int64_t stage = range.first; stage < range.last; ++stage) {
      const StageRun &run = isFirst(range) ? stages[stage].firstAdvance : stages[stage].advance;
      need = std::max(need, stage == range.first ? run.peak : run.peakWithInput);
      cost += run.cost;
      visit(stage + 1, bytesBeside(range) + need, cost);
    }
  }

  /// The cheapest point that needs at most `memory`, if there is one.
  static const Point *find(const Front &front, int64_t memory) {
    auto it = llvm::upper_bound(
        front, memory, [](int64_t bytes, const Point &point) { return bytes < point.need; });
    return it == front.begin() ? nullptr : &*std::prev(it);
  }

  static void shift(Front &front, int64_t bytes) {
    for (Point &point : front)
      point.need += bytes;
  }

  /// Adds a point that needs at least as much as all others.
  void append(Front &front, Point point) const {
    if (point.need > limit || point.cost > kMaxCost ||
        (!front.empty() && point.cost >= front.back().cost))
      return;
    if (!front.empty() && front.back().need == point.need)
      front.pop_back();
    front.push_back(point);
  }

  /// Keeps the points of both fronts that no other one undercuts.
  void addToFront(Front &front, const Front &other) {
    if (other.empty())
      return;
    merged.clear();
    size_t i = 0, j = 0;
    while (i < front.size() || j < other.size()) {
      bool takesOther =
          i == front.size() ||
          (j < other.size() && (other[j].need < front[i].need ||
                                (other[j].need == front[i].need && other[j].cost < front[i].cost)));
      append(merged, takesOther ? other[j++] : front[i++]);
    }
    std::swap(front, merged);
  }

  /// Plans of two ranges, one after the other: needs are the larger, costs add up. None
  /// when one that is known undercuts all of them.
  void combine(const Front &upper, int64_t upperBytes, const Front &lower, int64_t lowerBytes,
               int64_t need, int64_t cost, const Front &known, Front &result) const {
    result.clear();
    if (upper.empty() || lower.empty())
      return;
    need = std::max({need, upper[0].need + upperBytes, lower[0].need + lowerBytes});
    if (const Point *point = find(known, need);
        point && point->cost <= cost + upper.back().cost + lower.back().cost)
      return;
    for (size_t i = 0, j = 0; need <= limit;) {
      while (i + 1 < upper.size() && upper[i + 1].need + upperBytes <= need)
        ++i;
      while (j + 1 < lower.size() && lower[j + 1].need + lowerBytes <= need)
        ++j;
      append(result, {need, cost + upper[i].cost + lower[j].cost});
      if (i + 1 == upper.size() && j + 1 == lower.size())
        return;
      need = std::numeric_limits<int64_t>::max();
      if (i + 1 < upper.size())
        need = std::min(need, upper[i + 1].need + upperBytes);
      if (j + 1 < lower.size())
        need = std::min(need, lower[j + 1].need + lowerBytes);
    }
  }

  void solve(const Range &range) {
    int64_t first = range.first, last = range.last;
    bool isHeld = range.isOutputHeld;
    Front &result = front(range);
    const Stage &stage = stages[first];
    if (first == last) {
      const StageRun &run = isHeld ? stage.replayWithOutput : stage.replay;
      int64_t backwardPeak = isHeld ? stage.backwardPeakBesideOutput : stage.backwardPeak;
      append(result, {std::max(bytesBeside(range) + run.peak, backwardPeak), run.cost});
      return;
    }
    int64_t need = recordNeed(range), cost = recordRun(range).cost;
    for (const Point &point : front({first + 1, last, isHeld}))
      append(result, {std::max(need, point.need + stage.recordedBytes), cost + point.cost});
    forEachAdvance(range, [&](int64_t split, int64_t need, int64_t cost) {
      combine(front({split, last, isHeld}), stages[split - 1].outputBytes,
              lowers[first * numStages + split - 1], -heldBytes(range), need, cost, result,
              candidate);
      addToFront(result, candidate);
    });
    thin(result);
  }

  void thin(Front &front) const {
    int64_t size = front.size();
    if (size <= maxPoints)
      return;
    for (int64_t k = 0; k < maxPoints; ++k)
      front[k] = front[k * (size - 1) / (maxPoints - 1)];
    front.resize(maxPoints);
  }

  const std::vector<Stage> &stages;
  int64_t numStages, limit, maxPoints;
  /// By first and last stage, and whether the output is held.
  std::vector<Front> fronts;
  /// By first and last stage: of a range that comes second, whose output may be held at
  /// its own expense.
  std::vector<Front> lowers;
  Front merged, candidate;
};

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Writes a plan step by step.
class Emitter {
public:
  Emitter(const Problem &input, const Chain &chain, bool reorder)
      : problem(input), chain(chain), reorder(reorder), numPinnedBefore(pinnedBefore(input)),
        firstStep(input.operations.size(), kBoundary), lastStep(firstStep) {}

  /// Reverses the whole chain with what `choose` says for a range and its memory: in
  /// bytes, or checkpoints. False when the plan gets too large.
  template <typename Choose, typename Reduce>
  bool run(int64_t memory, Choose choose, Reduce reduce);

  Plan take() {
    dropUnreadClones(plan);
    hoistClones(problem, plan);
    assignRegions(problem, plan);
    return std::move(plan);
  }

private:
  struct Task {
    Range range;
    int64_t memory;
    /// Whether it is only the backward part of the first stage.
    bool isBackward;
  };

  void execute(const StageRun &run) {
    for (OpIndex op : run.operations)
      execute(op);
  }
  void executeBackward(const Stage &stage) {
    for (OpIndex op = stage.backwardBegin; op < stage.backwardEnd; ++op)
      execute(op);
  }
  void execute(OpIndex op);
  StepIndex find(ValueIndex value) const {
    OpIndex producer = problem.values[value].producer;
    if (producer == kBoundary)
      return kBoundary;
    return chain.isKept[value] ? firstStep[producer] : lastStep[producer];
  }

  const Problem &problem;
  const Chain &chain;
  bool reorder;
  std::vector<int64_t> numPinnedBefore;
  /// By operation.
  std::vector<StepIndex> firstStep, lastStep;
  OpIndex lastOriginal = -1;
  int64_t numPinned = 0, sumOfCosts = 0, sumOfBytes = 0;
  bool isTooLarge = false;
  Plan plan;
};

} // namespace

void Emitter::execute(OpIndex index) {
  const Operation &op = problem.operations[index];
  sumOfCosts += op.cost;
  sumOfBytes += align(op.workspace, problem.alignment);
  for (ValueIndex value : op.writes)
    sumOfBytes += align(problem.values[value].bytes, problem.alignment);
  isTooLarge |= sumOfCosts > kMaxPlanSum || sumOfBytes > kMaxPlanSum - chain.boundaryBytes ||
                int64_t(plan.steps.size()) >= kMaxChainSteps;
  if (isTooLarge)
    return;

  Step step;
  step.op = index;
  step.isClone = firstStep[index] != kBoundary || numPinned != numPinnedBefore[index] ||
                 (!reorder && index < lastOriginal);
  for (ValueIndex value : op.reads)
    step.reads.push_back(find(value));
  for (ValueIndex value : op.dependences)
    step.dependences.push_back(find(value));
  lastStep[index] = plan.steps.size();
  if (firstStep[index] == kBoundary)
    firstStep[index] = plan.steps.size();
  if (!step.isClone)
    lastOriginal = std::max(lastOriginal, index);
  numPinned += op.effect == Effect::Pinned;
  plan.steps.push_back(std::move(step));
}

template <typename Choose, typename Reduce>
bool Emitter::run(int64_t memory, Choose choose, Reduce reduce) {
  int64_t numStages = chain.stages.size();
  std::vector<Task> tasks{{{0, numStages - 1, false}, memory, false}};
  while (!tasks.empty() && !isTooLarge) {
    Task task = tasks.back();
    tasks.pop_back();
    auto [first, last, isHeld] = task.range;
    const Stage &stage = chain.stages[first];
    bool isFirst = last == numStages - 1;
    if (task.isBackward) {
      executeBackward(stage);
      continue;
    }
    Choice choice = choose(task.range, task.memory);
    switch (choice.kind) {
    case Choice::Replay:
      execute(isHeld ? stage.replayWithOutput : stage.replay);
      executeBackward(stage);
      break;
    case Choice::Record:
      execute(isFirst ? stage.firstRecord : stage.record);
      tasks.push_back({task.range, 0, true});
      tasks.push_back({{first + 1, last, isHeld}, task.memory - stage.recordedBytes, false});
      break;
    case Choice::Advance: {
      for (int64_t k = first; k < choice.stage; ++k)
        execute(isFirst ? chain.stages[k].firstAdvance : chain.stages[k].advance);
      auto [upper, lower] = reduce(task.range, choice, task.memory);
      tasks.push_back({{first, choice.stage - 1, choice.isOutputHeld}, lower, false});
      tasks.push_back({{choice.stage, last, isHeld}, upper, false});
      break;
    }
    }
  }
  return !isTooLarge;
}

/// The live peak of a plan in bytes, every storage and workspace aligned.
static int64_t alignedPeak(const Problem &problem, const Plan &plan) {
  std::vector<int64_t> live = liveBytesOfStorages(problem, plan, problem.alignment);
  int64_t peak = 0;
  for (auto [step, bytes] : llvm::zip_equal(plan.steps, live))
    peak = std::max(peak, bytes + align(problem.operations[step.op].workspace, problem.alignment));
  return peak;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

namespace {

class ChainSolver {
public:
  ChainSolver(const Problem &input, const ChainOptions &options, ChainResult &result)
      : problem(input), options(options), result(result) {}

  std::optional<Plan> run() {
    if (findTurn(problem) != kBoundary)
      return fail("it has operations that must be recomputed");
    std::optional<Chain> found = findChain(problem, kMaxChainStages, result.reason);
    if (!found)
      return std::nullopt;
    chain = std::move(*found);
    result.isChain = true;
    result.numStages = chain.stages.size();
    if (options.budget < workingSetBytes(problem)) {
      result.isInfeasible = true;
      return fail("the budget is smaller than what one operation needs at once");
    }
    int64_t memory = std::min(options.budget - chain.boundaryBytes, kMaxMemory);
    std::optional<Fronts> fronts;
    if (chain.unitBytes == 0)
      fronts.emplace(chain, memory).run();

    // Regions may hold values a little longer than counted, where what a stage computes
    // is nothing that they could wait for.
    for (int64_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
      std::optional<Plan> plan = fronts ? solveByFronts(*fronts, memory) : solveUnitChain(memory);
      if (!plan)
        return std::nullopt;
      int64_t peak = alignedPeak(problem, *plan);
      if (peak <= options.budget) {
        result.isOptimal = addedCost(problem, *plan) == 0 || (chain.unitBytes > 0 && attempt == 0);
        return plan;
      }
      memory -= peak - options.budget;
    }
    return fail("regions of recomputed operations have nothing near to wait for");
  }

private:
  static constexpr int64_t kMaxAttempts = 4;
  /// More than all values take several times, in bytes; sums of a few don't overflow.
  static constexpr int64_t kMaxMemory = kMaxPlanSum / 4;

  std::nullopt_t fail(const char *reason) {
    result.reason = reason;
    return std::nullopt;
  }
  std::nullopt_t failTooLarge() {
    return fail("the plan is too large: it executes some operations again and again");
  }

  std::optional<Plan> solveByFronts(const Fronts &fronts, int64_t memory) {
    if (!fronts.fits(memory))
      return fail("no plan fits that reverses the stages one after the other");
    Emitter emitter(problem, chain, options.reorder);
    bool isComplete = emitter.run(
        memory, [&](const Range &range, int64_t bytes) { return fronts.choose(range, bytes); },
        [&](const Range &range, const Choice &choice, int64_t bytes) {
          int64_t kept = chain.stages[choice.stage - 1].outputBytes;
          return std::pair(bytes - kept,
                           bytes + fronts.heldBytes(range) - (choice.isOutputHeld ? kept : 0));
        });
    if (!isComplete)
      return failTooLarge();
    return emitter.take();
  }

  /// One value is what the backward operation gets, and one what it computes or what a
  /// forward operation computes; all others are checkpoints. The initial state, which
  /// is one of them for Revolve, takes no memory here, but the latest state does.
  std::optional<Plan> solveUnitChain(int64_t memory) {
    int64_t numCheckpoints = memory / chain.unitBytes - 2;
    int64_t numStages = chain.stages.size();
    if (numCheckpoints < 1)
      return fail("no plan fits that reverses the stages one after the other");
    if (revolveCost(numStages, numCheckpoints) > kMaxChainSteps)
      return failTooLarge();
    Emitter emitter(problem, chain, options.reorder);
    bool isComplete = emitter.run(
        numCheckpoints,
        [&](const Range &range, int64_t number) -> Choice {
          if (range.first == range.last)
            return {};
          int64_t split = revolveSplit(range.last - range.first + 1, number);
          return {Choice::Advance, range.first + split, false};
        },
        [&](const Range &, const Choice &, int64_t number) {
          return std::pair(number - 1, number);
        });
    if (!isComplete)
      return failTooLarge();
    return emitter.take();
  }

  const Problem &problem;
  const ChainOptions &options;
  ChainResult &result;
  Chain chain;
};

} // namespace

std::optional<Plan> mlir::remat::planner::solveChain(const Problem &problem,
                                                     const ChainOptions &options,
                                                     ChainResult *result) {
  ChainResult ignored;
  ChainResult &target = result ? *result : ignored;
  target = {};
  if (!hasVariants(problem) || findTurn(problem) != kBoundary)
    return ChainSolver(problem, options, target).run();
  Problem least = withLeastWorkspaces(problem);
  std::optional<Plan> plan = ChainSolver(least, options, target).run();
  if (plan) {
    int64_t added = addedCost(problem, *plan);
    chooseVariants(problem, *plan, options.budget, problem.alignment);
    target.isOptimal &= addedCost(problem, *plan) == added;
  }
  return plan;
}
