//===- Windows.cpp - Exact search on parts of a plan ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each window is around a clone, since nothing else can get cheaper. It is either a run
// of steps, or the operations near the cloned one in the graph wherever they run. Its
// size follows what the exact search has managed so far.
//
//===----------------------------------------------------------------------===//

#include "Windows.h"
#include "Random.h"
#include "Remat/Planner/Variants.h"
#include "WindowProblem.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

/// Steps that improve the bound of a window.
static constexpr int64_t kNumBoundSteps = 100;

/// Operations of the largest windows of the two kinds.
static constexpr int64_t kMaxRun = 48, kMaxNeighbours = 24;

/// Windows without success, for each clone and beside, after which the search ends.
static constexpr int64_t kPatiencePerClone = 4, kPatience = 16;

/// Work of making a window and of replacing it, for each step of the plan, and of a
/// window at least.
static constexpr int64_t kWorkOfWindow = 10, kWorkOfReplacement = 1000, kLeastWork = 1000;

namespace {
/// How many operations a window has.
class WindowSize {
public:
  explicit WindowSize(int64_t largest) : most(largest * kUnit) {}

  int64_t draw(Random &random) const {
    int64_t mean = size / kUnit;
    return mean / 2 + 1 + random.below(mean);
  }
  /// `isComplete`: whether the last window was searched to the end.
  void adapt(bool isComplete) {
    size = isComplete ? std::min(size + size / 16, most) : std::max(size - size / 4, 2 * kUnit);
  }

private:
  static constexpr int64_t kUnit = 64;
  int64_t size = 8 * kUnit, most;
};

class Improver {
public:
  Improver(const Problem &problem, Plan plan, const WindowOptions &options)
      : problem(problem), options(options),
        mustKeepOrder(!options.reorder && keepsOrder(problem, plan)), budget(options.budget),
        facts(std::make_unique<PlanFacts>(problem, std::move(plan), options.alignment)),
        readers(problem.values.size()) {
    for (auto [index, op] : llvm::enumerate(problem.operations))
      for (ValueIndex value : op.reads)
        readers[value].push_back(index);
    findClones();
  }

  Plan run() {
    int64_t numFailures = 0;
    for (bool isRun = false; !clones.empty() && work < options.maxWork; isRun = !isRun) {
      if (options.shouldStop && options.shouldStop())
        break;
      if (numFailures > kPatience + kPatiencePerClone * int64_t(clones.size()))
        break;
      StepIndex clone = nextClone();
      bool isCheaper = isRun ? improveRun(clone) : improveNeighbours(clone);
      numFailures = isCheaper ? 0 : numFailures + 1;
    }
    return std::move(facts->plan);
  }

private:
  void findClones() {
    clones.clear();
    numDrawn = 0;
    for (auto [index, step] : llvm::enumerate(facts->plan.steps))
      if (step.isClone && problem.operations[step.op].cost > 0)
        clones.push_back(index);
  }
  /// All of them in turn, in any order.
  StepIndex nextClone() {
    if (numDrawn == int64_t(clones.size()))
      numDrawn = 0;
    std::swap(clones[numDrawn], clones[numDrawn + random.below(clones.size() - numDrawn)]);
    return clones[numDrawn++];
  }

  /// A run of steps, in which operations may also change places.
  bool improveRun(StepIndex clone) {
    int64_t size = runSize.draw(random), numSteps = facts->plan.steps.size();
    StepIndex begin = std::max<StepIndex>(0, clone - random.below(size));
    Window window{begin, std::min(begin + size, numSteps), {}};
    for (StepIndex step = window.begin; step < window.end; ++step)
      window.free.push_back(facts->plan.steps[step].op);
    return improve(window, options.reorder, runSize);
  }

  /// The operations around that of a clone, in the graph; their first executions keep
  /// their order.
  bool improveNeighbours(StepIndex clone) {
    Window window{0, static_cast<StepIndex>(facts->plan.steps.size()), {}};
    std::vector<OpIndex> &found = window.free;
    int64_t size = neighbourSize.draw(random);
    std::vector<bool> isFound(problem.operations.size(), false);
    auto add = [&](OpIndex op) {
      if (op == kBoundary || isFound[op] || int64_t(found.size()) >= size ||
          !problem.operations[op].recomputable)
        return;
      isFound[op] = true;
      found.push_back(op);
    };
    add(facts->plan.steps[clone].op);
    for (size_t index = 0; index < found.size() && int64_t(found.size()) < size; ++index) {
      const Operation &op = problem.operations[found[index]];
      for (ValueIndex value : op.reads)
        add(problem.values[value].producer);
      for (ValueIndex value : op.writes)
        llvm::for_each(readers[value], add);
    }
    return improve(window, /*reorder=*/false, neighbourSize);
  }

  bool improve(const Window &window, bool reorder, WindowSize &size) {
    work += kLeastWork + kWorkOfWindow * int64_t(facts->plan.steps.size());
    std::optional<WindowProblem> part =
        makeWindowProblem(*facts, window, budget, /*keepsOrder=*/!options.reorder, kMaxExactSize);
    if (!part) {
      size.adapt(/*isComplete=*/false);
      return false;
    }
    ExactOptions exact;
    exact.reorder = reorder;
    exact.maxStates = options.maxStates;
    exact.upperBound = part->addedCost;
    exact.shouldStop = options.shouldStop;
    exact.surroundings = part->surroundings;
    exact.numBoundSteps = kNumBoundSteps;
    ExactResult result;
    result.isComplete = part->addedCost <= 0;
    if (!result.isComplete)
      result = solveExact(part->problem, budget, exact);
    work += result.work;
    size.adapt(result.isComplete || result.plan);
    return result.plan && accept(replaceWindow(*facts, *part, *result.plan));
  }

  /// Whether a plan is better; it is the plan from then on.
  bool accept(Plan plan) {
    work += kWorkOfReplacement * int64_t(plan.steps.size());
    if (llvm::Error error = verify(problem, plan)) {
      llvm::consumeError(std::move(error));
      return false;
    }
    if (mustKeepOrder && !keepsOrder(problem, plan))
      return false;
    auto next = std::make_unique<PlanFacts>(problem, std::move(plan), options.alignment);
    if (next->livePeak > budget || next->simulation.cost >= facts->simulation.cost)
      return false;
    int64_t overshoot = options.getOvershoot ? options.getOvershoot(next->plan) : 0;
    if (overshoot > 0) {
      // An arena is larger than what lives in it.
      budget = std::max(std::min(budget, facts->livePeak), budget - overshoot);
      return false;
    }
    facts = std::move(next);
    findClones();
    return true;
  }

  const Problem &problem;
  const WindowOptions &options;
  bool mustKeepOrder;
  int64_t budget;
  int64_t work = 0;
  std::unique_ptr<PlanFacts> facts;
  Random random{1};
  WindowSize runSize{kMaxRun}, neighbourSize{kMaxNeighbours};
  /// Steps that cost something, those first that were drawn.
  std::vector<StepIndex> clones;
  int64_t numDrawn = 0;
  /// By value.
  std::vector<llvm::SmallVector<OpIndex, 4>> readers;
};
} // namespace

Plan mlir::remat::planner::improveWindows(const Problem &problem, Plan plan,
                                          const WindowOptions &options) {
  if (hasVariants(problem) || findTurn(problem) != kBoundary)
    return plan;
  return Improver(problem, std::move(plan), options).run();
}
