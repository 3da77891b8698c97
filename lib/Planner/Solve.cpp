//===- Solve.cpp - One question, one answer ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asks the family of plans first, then the solver; what comes out is verified,
// replayed and compared with the lower bound.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Solve.h"
#include "Anneal.h"
#include "Detail.h"
#include "PlanFamilyImpl.h"
#include "Remat/Planner/Bounds.h"
#include "Remat/Planner/Chain.h"
#include "Remat/Planner/Exact.h"
#include "Remat/Planner/Variants.h"
#include "Windows.h"
#include "llvm/ADT/StringSwitch.h"
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

using namespace mlir::remat::planner;

/// Edits of a run with an effort of 1, times a quarter: a million take some tenths of
/// a second, and the longer the larger the problem. So there are fewer for larger ones,
/// until these need more to get anywhere.
static int64_t getEditsOfEffort(int64_t numOperations) {
  constexpr int64_t kMost = 13 << 18, kLeast = 7 << 16, kLargeSize = 10'000;
  return kLeast + (kMost - kLeast) * std::max(kLargeSize - numOperations, int64_t(0)) / kLargeSize +
         8 * std::max(numOperations - kLargeSize, int64_t(0));
}

/// Restarts find more than longer runs, once these are long enough.
static int64_t getNumCycles(int64_t effort) {
  constexpr int64_t kMaxEffortOfRestarts = 5;
  return int64_t(1) << (2 * std::clamp<int64_t>(effort, 1, kMaxEffortOfRestarts));
}

/// States of an exact search with an effort of 1, times a quarter; and of one that
/// only adds a proof to what a local search has found.
static constexpr int64_t kStatesOfEffort = 1 << 16, kProofStatesOfEffort = 1 << 10;

/// States of an exact search with any effort: a few gigabytes.
static constexpr int64_t kMaxStates = 1 << 23;

/// Work on windows of a plan with an effort of 1, times a quarter: less than a tenth of
/// that of the annealing; and states on each window, times a half.
static constexpr int64_t kWindowWorkOfEffort = 4'000'000, kWindowStatesOfEffort = 512;

/// Operations up to which the exact search comes first.
static constexpr int64_t kMaxTinySize = 16;

/// Nothing fits in this, nor in less.
static constexpr int64_t kNoBudget = -1;

/// Searches for a plan whose arena fits.
static constexpr int kNumPackingRounds = 8;

/// The part of the budget by which they aim lower at least.
static constexpr int64_t kLimitStep = 512;

/// Budgets that are tried between the smallest plan known and a budget that is missed.
static constexpr int kNumDescents = 4;

/// Budgets that are tried for the smallest peak within a limit of cost.
static constexpr int kNumTrials = 10;

llvm::StringRef mlir::remat::planner::getName(Solver solver) {
  switch (solver) {
  case Solver::Auto:
    return "auto";
  case Solver::Greedy:
    return "greedy";
  case Solver::Chain:
    return "chain";
  case Solver::Anneal:
    return "anneal";
  case Solver::Exact:
    return "exact";
  }
  llvm_unreachable("all solvers are named");
}

std::optional<Solver> mlir::remat::planner::parseSolver(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Solver>>(name)
      .Case("auto", Solver::Auto)
      .Case("greedy", Solver::Greedy)
      .Case("chain", Solver::Chain)
      .Case("anneal", Solver::Anneal)
      .Case("exact", Solver::Exact)
      .Default(std::nullopt);
}

llvm::StringRef mlir::remat::planner::getName(Status status) {
  switch (status) {
  case Status::Optimal:
    return "optimal";
  case Status::Feasible:
    return "feasible";
  case Status::NotFound:
    return "not-found";
  case Status::Infeasible:
    return "infeasible";
  }
  llvm_unreachable("all statuses are named");
}

namespace {
/// Ends all runs of a search, and says how far they are.
class Supervisor {
public:
  explicit Supervisor(const SolveOptions &options)
      : options(options), started(std::chrono::steady_clock::now()) {}

  /// False once the search has to end.
  bool report(const Progress &progress) {
    std::lock_guard<std::mutex> lock(mutex);
    if (progress.addedCost >= 0)
      best = best < 0 ? progress.addedCost : std::min(best, progress.addedCost);
    if (options.onProgress)
      options.onProgress({progress.iteration, progress.numIterations, best});
    return !hasToStop();
  }
  bool hasToStop() const {
    if (options.shouldStop && options.shouldStop())
      return true;
    std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    return options.timeLimitSeconds > 0 && elapsed.count() >= options.timeLimitSeconds;
  }

private:
  const SolveOptions &options;
  std::chrono::steady_clock::time_point started;
  std::mutex mutex;
  int64_t best = -1;
};

/// Runs `task(0)` to `task(numTasks - 1)`, some at a time.
void runAll(int64_t numTasks, int64_t numThreads, llvm::function_ref<void(int64_t)> task) {
  std::atomic<int64_t> next = 0;
  auto work = [&] {
    for (int64_t index; (index = next++) < numTasks;)
      task(index);
  };
  std::vector<std::thread> threads;
  for (int64_t i = 1, e = std::min(numThreads, numTasks); i < e; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

/// A plan that is known, with the schedule from which a search can go on.
struct Known {
  Solution solution;
  int64_t addedCost;
  std::optional<Schedule> schedule;
};

/// The problem for solvers that don't know of these rules themselves: what is smaller
/// than `minBytes` is not dropped, and with `keepsResults` what the terminator reads is
/// not computed twice. Nothing when that changes nothing.
std::optional<Problem> restrict(const Problem &problem, int64_t minBytes, bool keepsResults) {
  std::vector<bool> isKept(problem.operations.size());
  auto keep = [&](ValueIndex value) {
    OpIndex producer = problem.values[value].producer;
    if (producer != kBoundary)
      isKept[producer] = true;
  };
  std::vector<ValueIndex> roots = detail::viewRoots(problem);
  if (keepsResults && !problem.operations.empty() &&
      problem.operations.back().effect == Effect::Pinned)
    for (ValueIndex value : problem.operations.back().reads)
      keep(roots[value]);
  for (auto [index, value] : llvm::enumerate(problem.values))
    if (value.bytes > 0 && value.bytes < minBytes &&
        (value.placement == Placement::Own || value.placement == Placement::Reuse))
      keep(index);
  std::optional<Problem> restricted;
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (!isKept[index] || !operation.recomputable || operation.policy != Policy::None)
      continue;
    if (!restricted)
      restricted = problem;
    restricted->operations[index].policy = Policy::MustSave;
  }
  return restricted;
}

/// The problem with sizes rounded up to its alignment: a plan's live bytes are then no
/// more than its packed bytes in `problem`, and no fewer than its live bytes there.
Problem withAlignedSizes(const Problem &problem) {
  Problem aligned = problem;
  std::vector<ValueIndex> roots = detail::viewRoots(problem);
  for (Value &value : aligned.values) {
    // Sizes that become equal don't make a place that can be taken.
    if (value.placement == Placement::Reuse &&
        problem.values[roots[value.source]].bytes != value.bytes) {
      value.placement = Placement::Own;
      value.source = kNoValue;
    }
    value.bytes = align(value.bytes, problem.alignment);
  }
  // Variants have to differ.
  for (Operation &operation : aligned.operations)
    if (operation.variants.empty())
      operation.workspace = align(operation.workspace, problem.alignment);
  return aligned;
}

class Solving {
public:
  Solving(const Problem &problem, const SolveOptions &options)
      : problem(problem), options(options),
        restricted(restrict(problem, options.minBytes, options.onlyImprovesFamily)),
        family(problem, options), supervisor(options) {
    // The turn depends on sizes.
    if (options.isPacked && problem.alignment > 1 && findTurn(problem) == kBoundary) {
      alignedProblem = withAlignedSizes(problem);
      if (restricted)
        restricted = withAlignedSizes(*restricted);
    }
    if (!hasVariants(problem) || findTurn(problem) != kBoundary)
      return;
    leastProblem = withLeastWorkspaces(problem);
    leastOptions = options;
    leastOptions.onProgress = nullptr;
    least = std::make_unique<Solving>(*leastProblem, leastOptions);
  }

  /// Looks for plans within `budget`, and keeps what it finds.
  void search(int64_t budget, int64_t effort);
  /// The same, and step by step where the budget is not met at once.
  void searchDown(int64_t budget);
  /// The cheapest plan known within `budget`; nothing if there is none.
  std::optional<Solution> findKnown(int64_t budget);
  bool isSettled(int64_t budget);
  bool isOptimal(int64_t budget, int64_t cost) const;
  /// The plan with the smallest required bytes.
  Solution findSmallest();
  Answer answer(int64_t budget);
  /// Searches from the largest budget to the smallest, and answers in the given order.
  std::vector<Answer> answerAll(llvm::ArrayRef<int64_t> budgets);
  /// The other question.
  Answer answerForCost(int64_t maxAddedCost);

  /// Says why the solver that was asked for does not take the problem.
  llvm::Error checkSolver();
  PlanFamily &getFamily() { return family; }

private:
  int64_t getPeak(const Solution &solution) const {
    return options.isPacked ? solution.packing.packedBytes : solution.simulation.livePeak;
  }
  /// No plan's peak is below this.
  int64_t getLeastPeak() const {
    return workingSetBytes(problem, options.isPacked ? problem.alignment : 1);
  }
  bool hasToStop() const { return supervisor.hasToStop(); }
  bool uses(Solver solver) const {
    return options.solver == solver || options.solver == Solver::Auto;
  }
  void keep(Solution solution, std::optional<Schedule> schedule);
  void keepSmallest();
  bool isSmall() const {
    return int64_t(problem.operations.size()) <= kMaxExactSize &&
           int64_t(problem.values.size()) <= kMaxExactSize;
  }
  /// What chains and exact searches work on.
  const Problem &getRestricted() const { return restricted ? *restricted : getAligned(); }
  /// What bounds are about.
  const Problem &getAligned() const { return alignedProblem ? *alignedProblem : problem; }
  bool isTiny() const { return int64_t(problem.operations.size()) <= kMaxTinySize; }
  int64_t getLowerBound(int64_t budget);
  const std::optional<Solution> &findMember(int64_t budget);
  std::optional<Solution> withBestVariants(Plan plan, int64_t budget) const;
  void keepWithBestVariants(std::optional<Solution> found, int64_t budget);
  void runSolvers(int64_t budget, int64_t effort);
  void searchLeast(int64_t budget, int64_t effort);
  void searchChain(int64_t budget);
  void searchExactly(int64_t budget, int64_t effort);
  void anneal(int64_t budget, int64_t effort);
  void improveWindows(int64_t budget, int64_t effort);
  void searchLocally(int64_t budget, int64_t effort);
  std::vector<Schedule> annealAll(llvm::ArrayRef<Schedule> starts, int64_t limit, int64_t leastCost,
                                  int64_t effort);

  const Problem &problem;
  const SolveOptions &options;
  std::optional<Problem> restricted, alignedProblem;
  PlanFamily family;
  /// Of the family's units; once a local search has asked for them.
  std::optional<UnitClasses> classes;
  Supervisor supervisor;
  std::vector<Known> known;
  /// For problems with variants: how to solve them with the smallest workspaces.
  std::optional<Problem> leastProblem;
  SolveOptions leastOptions;
  std::unique_ptr<Solving> least;
  /// The family's answer to the last budget that it was asked for.
  std::optional<Solution> member;
  std::optional<int64_t> memberBudget;
  bool isSmallestKept = false;
  /// The largest budget that was not met step by step either.
  int64_t missedBudget = kNoBudget;
  /// On the added cost, by budget.
  std::map<int64_t, int64_t> lowerBounds;
};
} // namespace

/// The smallest plan may need less than the family counts it with.
void Solving::keepSmallest() {
  if (isSmallestKept)
    return;
  isSmallestKept = true;
  keep(family.findSmallest(), std::nullopt);
}

/// Keeps the schedule of the last plan only, and no plan that is not allowed.
void Solving::keep(Solution solution, std::optional<Schedule> schedule) {
  if (!family.getImpl().isAllowed(solution.plan))
    return;
  if (!known.empty())
    known.back().schedule.reset();
  solution.requiredBytes = getPeak(solution);
  int64_t added = addedCost(problem, solution.plan);
  known.push_back({std::move(solution), added, std::move(schedule)});
}

llvm::Error Solving::checkSolver() {
  if (llvm::Error error = family.checkPolicies())
    return error;
  if (options.solver == Solver::Exact && findTurn(problem) != kBoundary)
    return detail::makeError("the exact solver takes no operations that must be recomputed");
  if (options.solver == Solver::Exact && !isSmall())
    return detail::makeError("the exact solver takes up to {0} operations and values, but there "
                             "are {1} and {2}",
                             kMaxExactSize, problem.operations.size(), problem.values.size());
  if (options.solver != Solver::Chain)
    return llvm::Error::success();
  ChainResult result;
  solveChain(getRestricted(), {std::numeric_limits<int64_t>::max(), options.reorder}, &result);
  if (result.isChain)
    return llvm::Error::success();
  return detail::makeError("the problem is no chain: {0}", result.reason);
}

/// What every plan within `budget` adds at least.
int64_t Solving::getLowerBound(int64_t budget) {
  auto it = lowerBounds.find(budget);
  if (it != lowerBounds.end())
    return it->second;
  BoundOptions bounds;
  bounds.reorder = options.reorder;
  bounds.solveLinearProgram = options.solveLinearProgram;
  return lowerBounds[budget] = addedCostLowerBound(getAligned(), budget, bounds);
}

/// The plan with the cheapest variants that fit; nothing where none does.
std::optional<Solution> Solving::withBestVariants(Plan plan, int64_t budget) const {
  int64_t limit = budget;
  for (int round = 0; round < kNumPackingRounds && limit >= 0; ++round) {
    chooseVariants(problem, plan, limit, options.isPacked ? problem.alignment : 1);
    Solution solution = evaluate(problem, plan);
    int64_t overshoot = getPeak(solution) - budget;
    if (overshoot <= 0)
      return solution;
    limit -= overshoot;
  }
  return std::nullopt;
}

void Solving::keepWithBestVariants(std::optional<Solution> found, int64_t budget) {
  if (!found)
    return;
  if (std::optional<Solution> solution = withBestVariants(std::move(found->plan), budget))
    keep(std::move(*solution), std::nullopt);
}

/// Looks for plans as if every workspace were the smallest, and chooses variants then.
void Solving::searchLeast(int64_t budget, int64_t effort) {
  least->search(budget, effort);
  keepWithBestVariants(least->findKnown(budget), budget);
}

void Solving::searchExactly(int64_t budget, int64_t effort) {
  ExactOptions exact;
  exact.reorder = options.reorder;
  bool isProof = options.solver == Solver::Auto && !isTiny();
  exact.maxStates =
      std::min(kMaxStates, (isProof ? kProofStatesOfEffort : kStatesOfEffort) << (2 * effort));
  exact.shouldStop = [this] { return hasToStop(); };
  if (std::optional<Solution> best = findKnown(budget))
    exact.upperBound = addedCost(problem, best->plan);
  ExactResult result = solveExact(getRestricted(), budget, exact);
  int64_t &bound = lowerBounds[budget];
  if (!restricted)
    bound = std::max(bound, result.lowerBound);
  if (result.plan)
    keep(evaluate(problem, std::move(*result.plan)), std::nullopt);
}

void Solving::searchChain(int64_t budget) {
  ChainResult result;
  std::optional<Plan> plan = solveChain(getRestricted(), {budget, options.reorder}, &result);
  // What it proves is about aligned sizes, and the problem that it was given.
  if (!restricted && !hasVariants(problem) && (options.isPacked || problem.alignment == 1)) {
    if (plan && result.isOptimal)
      lowerBounds[budget] = addedCost(problem, *plan);
    else if (result.isInfeasible)
      lowerBounds[budget] = std::numeric_limits<int64_t>::max();
  }
  if (plan)
    keep(evaluate(problem, std::move(*plan)), std::nullopt);
}

/// The results of several runs from the given starts in turn, the cheapest first. Where
/// many plans cost nearly the same, only hot runs get far enough away from their start;
/// where good ones are rare, or the run is short, only the others stay near them.
std::vector<Schedule> Solving::annealAll(llvm::ArrayRef<Schedule> starts, int64_t limit,
                                         int64_t leastCost, int64_t effort) {
  int64_t scale = int64_t(1) << (2 * effort);
  int64_t numIterations = (20'000 + 480 * int64_t(problem.operations.size())) * scale;
  int64_t maxEdits = getEditsOfEffort(problem.operations.size()) * scale;
  if (options.numIterations > 0) {
    numIterations = options.numIterations;
    maxEdits = std::numeric_limits<int64_t>::max();
  }
  if (!classes)
    classes.emplace(family.getImpl().graph);
  int64_t unchanged = family.getImpl().unchangedCost;
  std::vector<std::optional<Schedule>> found(options.numSeeds);
  // The first run that finds the cheapest ends those behind it: whether they have begun
  // depends on the number of threads, so that what they find does not count.
  std::atomic<int64_t> winner = options.numSeeds;
  runAll(options.numSeeds, options.numThreads, [&](int64_t seed) {
    AnnealOptions annealing{
        limit,
        options.reorder,
        /*isHot=*/seed % 2 == 0 && effort > 1,
        static_cast<uint64_t>(seed),
        numIterations,
        getNumCycles(effort),
        maxEdits,
        leastCost,
        [&](int64_t iteration, int64_t cost) {
          bool goesOn = supervisor.report(
              {iteration, numIterations, cost < 0 ? -1 : std::max<int64_t>(cost - unchanged, 0)});
          return goesOn && winner > seed;
        }};
    found[seed] = mlir::remat::planner::anneal(problem, family.getImpl().graph, *classes,
                                               starts[seed % starts.size()], annealing);
    if (!found[seed] || found[seed]->getCost() > leastCost)
      return;
    for (int64_t last = winner; seed < last && !winner.compare_exchange_weak(last, seed);)
      ;
  });
  found.resize(std::min(winner + 1, options.numSeeds));
  std::vector<Schedule> schedules;
  for (std::optional<Schedule> &schedule : found)
    if (schedule)
      schedules.push_back(std::move(*schedule));
  llvm::stable_sort(schedules,
                    [](const Schedule &a, const Schedule &b) { return a.getCost() < b.getCost(); });
  return schedules;
}

void Solving::anneal(int64_t budget, int64_t effort) {
  PlanFamily::Impl &impl = family.getImpl();
  std::vector<Schedule> starts{impl.findStart(budget)};
  // What was found last, for a larger budget.
  for (const Known &last : llvm::reverse(known)) {
    if (!last.schedule)
      continue;
    starts.push_back(*last.schedule);
    break;
  }
  int64_t limit = budget - impl.graph.boundaryBytes;
  int64_t leastCost = impl.unchangedCost + getLowerBound(budget);
  // Where arenas did, and did not, fit: an arena may be larger than what lives in it,
  // so the search aims lower then, from what it has found.
  std::optional<int64_t> fitting, failing;
  for (int round = 0; round < kNumPackingRounds && limit >= 0; ++round) {
    std::vector<Schedule> results = annealAll(starts, limit, leastCost, effort);
    if (results.empty())
      return;
    int64_t overshoot = std::numeric_limits<int64_t>::max();
    for (const Schedule &schedule : llvm::reverse(results)) {
      Solution solution = evaluate(problem, schedule.toPlan());
      if (!impl.isAllowed(solution.plan))
        continue;
      overshoot = std::min(overshoot, getPeak(solution) - budget);
      keep(std::move(solution), schedule);
    }
    bool isAnyAllowed = overshoot < std::numeric_limits<int64_t>::max();
    if (!isAnyAllowed || (round == 0 && overshoot <= 0) || supervisor.hasToStop())
      return;
    (overshoot <= 0 ? fitting : failing) = limit;
    int64_t step = budget / kLimitStep + 1;
    if (fitting && *failing - *fitting < step)
      return;
    limit = fitting ? *fitting + (*failing - *fitting) / 2 : limit - std::max(overshoot / 2, step);
    starts = std::move(results);
    effort = std::max<int64_t>(effort - 1, 0);
  }
}

/// Searches parts of the cheapest plan exactly.
void Solving::improveWindows(int64_t budget, int64_t effort) {
  std::optional<Solution> best = findKnown(budget);
  if (!best)
    return;
  // What the plan computes again may be computed again elsewhere.
  Problem rules = getRestricted();
  for (const Step &step : best->plan.steps)
    if (step.isClone)
      rules.operations[step.op].policy = problem.operations[step.op].policy;
  WindowOptions windows;
  windows.budget = budget;
  windows.alignment = options.isPacked ? problem.alignment : 1;
  windows.reorder = options.reorder;
  windows.maxWork = kWindowWorkOfEffort << (2 * effort);
  windows.maxStates = kWindowStatesOfEffort << effort;
  windows.shouldStop = [this] { return hasToStop(); };
  if (options.isPacked)
    windows.getOvershoot = [&](const Plan &plan) {
      return getPeak(evaluate(problem, plan)) - budget;
    };
  int64_t added = addedCost(problem, best->plan);
  Plan plan = mlir::remat::planner::improveWindows(rules, std::move(best->plan), windows);
  if (addedCost(problem, plan) >= added)
    return;
  // Whoever goes on searching goes on from the same schedule.
  std::optional<Schedule> schedule;
  if (!known.empty())
    schedule = std::move(known.back().schedule);
  keep(evaluate(problem, std::move(plan)), std::move(schedule));
}

void Solving::searchLocally(int64_t budget, int64_t effort) {
  // Where little is missing, this is enough.
  if (!isSettled(budget))
    improveWindows(budget, effort - 1);
  if (!isSettled(budget))
    anneal(budget, effort);
  if (!isSettled(budget))
    improveWindows(budget, effort);
}

void Solving::search(int64_t budget, int64_t effort) {
  budget = std::max(budget, kNoBudget);
  runSolvers(budget, effort);
  if (least)
    keepWithBestVariants(findKnown(budget), budget);
}

/// Each step begins with what the one before has found. What is found on the way is the
/// smallest known, if the budget is not met.
void Solving::searchDown(int64_t budget) {
  budget = std::max(budget, kNoBudget);
  search(budget, options.effort);
  if (!uses(Solver::Anneal) || options.effort == 0 || options.onlyImprovesFamily ||
      budget < missedBudget || findKnown(budget))
    return;
  int64_t low = std::max(budget, getLeastPeak()), high = findSmallest().requiredBytes;
  for (int trial = 0; trial < kNumDescents && low < high && !hasToStop(); ++trial) {
    int64_t middle = low + (high - low) / 2;
    search(middle, std::max<int64_t>(options.effort - 1, 1));
    if (findKnown(middle))
      high = findSmallest().requiredBytes;
    else
      low = middle + 1;
  }
  if (low == budget && !hasToStop())
    search(budget, options.effort);
  if (!findKnown(budget))
    missedBudget = budget;
}

void Solving::runSolvers(int64_t budget, int64_t effort) {
  const Solution &identity = family.getIdentity();
  if (identity.requiredBytes <= budget && addedCost(problem, identity.plan) == 0)
    return;
  if (options.onlyImprovesFamily && !findMember(budget))
    return;
  if (options.solver == Solver::Chain || (uses(Solver::Chain) && effort > 0))
    searchChain(budget);
  if (!findKnown(budget))
    keepSmallest();
  if (least)
    searchLeast(budget, effort);
  if (options.solver == Solver::Greedy || isSettled(budget))
    return;
  if (uses(Solver::Exact) && isTiny() && effort > 0)
    searchExactly(budget, effort);
  if (uses(Solver::Anneal) && effort > 0)
    searchLocally(budget, effort);
  if (uses(Solver::Exact) && !isTiny() && isSmall() && effort > 0 && !isSettled(budget))
    searchExactly(budget, effort);
}

/// Whether nothing is left to look for: the bound is reached, or nothing fits.
bool Solving::isSettled(int64_t budget) {
  int64_t bound = getLowerBound(budget);
  if (bound == std::numeric_limits<int64_t>::max())
    return true;
  std::optional<Solution> best = findKnown(budget);
  return best && addedCost(problem, best->plan) <= bound;
}

/// The family's answer. It is written as a plan anew each time that the family is asked,
/// so the last one is kept.
const std::optional<Solution> &Solving::findMember(int64_t budget) {
  if (budget != memberBudget) {
    member = family.findCheapest(budget);
    memberBudget = budget;
  }
  return member;
}

std::optional<Solution> Solving::findKnown(int64_t budget) {
  const Known *best = nullptr;
  for (const Known &other : known)
    if (other.solution.requiredBytes <= budget && (!best || other.addedCost < best->addedCost))
      best = &other;
  if (best && isOptimal(budget, best->addedCost))
    return best->solution;
  const std::optional<Solution> &member = findMember(budget);
  if (best && (!member || best->addedCost < addedCost(problem, member->plan)))
    return best->solution;
  return member;
}

/// Whether it is known already that no plan within `budget` costs less.
bool Solving::isOptimal(int64_t budget, int64_t cost) const {
  auto it = lowerBounds.find(budget);
  return it != lowerBounds.end() && cost <= it->second;
}

Solution Solving::findSmallest() {
  Solution smallest = family.findSmallest();
  if (options.onlyImprovesFamily)
    return smallest;
  for (const Known &other : known)
    if (other.solution.requiredBytes < smallest.requiredBytes)
      smallest = other.solution;
  return smallest;
}

Answer Solving::answer(int64_t budget) {
  budget = std::max(budget, kNoBudget);
  Answer answer;
  std::optional<Solution> found = findKnown(budget);
  // The family is large, and not needed where a chain is solved.
  if (found && isOptimal(budget, addedCost(problem, found->plan)) && !family.getImpl().isBuilt) {
    answer.minimumKnownBytes = found->requiredBytes;
    answer.solution = std::move(*found);
  } else {
    Solution smallest = findSmallest();
    answer.minimumKnownBytes = smallest.requiredBytes;
    answer.solution = found ? std::move(*found) : std::move(smallest);
  }
  answer.addedCost = addedCost(problem, answer.solution.plan);
  answer.addedCostLowerBound = getLowerBound(budget);
  if (found)
    answer.status =
        answer.addedCost <= answer.addedCostLowerBound ? Status::Optimal : Status::Feasible;
  else if (answer.addedCostLowerBound == std::numeric_limits<int64_t>::max())
    answer.status = Status::Infeasible;
  return answer;
}

llvm::Expected<Answer> mlir::remat::planner::solve(const Problem &problem, int64_t budget,
                                                   const SolveOptions &options) {
  Solving solving(problem, options);
  if (llvm::Error error = solving.checkSolver())
    return error;
  solving.searchDown(budget);
  return solving.answer(budget);
}

std::vector<Answer> Solving::answerAll(llvm::ArrayRef<int64_t> budgets) {
  std::vector<int64_t> order(budgets.begin(), budgets.end());
  llvm::sort(order, std::greater<>());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  for (int64_t budget : order)
    if (!hasToStop())
      searchDown(budget);
  std::vector<Answer> answers;
  for (int64_t budget : budgets)
    answers.push_back(answer(budget));
  return answers;
}

llvm::Expected<std::vector<Answer>> mlir::remat::planner::solveAll(const Problem &problem,
                                                                   llvm::ArrayRef<int64_t> budgets,
                                                                   const SolveOptions &options) {
  Solving solving(problem, options);
  if (llvm::Error error = solving.checkSolver())
    return error;
  return solving.answerAll(budgets);
}

llvm::Expected<std::vector<Answer>> mlir::remat::planner::solveFront(const Problem &problem,
                                                                     int64_t numPoints,
                                                                     llvm::ArrayRef<int64_t> others,
                                                                     const SolveOptions &options) {
  Solving solving(problem, options);
  if (llvm::Error error = solving.checkSolver())
    return error;
  int64_t most = solving.getFamily().getIdentity().requiredBytes;
  if (!options.onlyImprovesFamily)
    solving.searchDown(kNoBudget);
  int64_t least = solving.findSmallest().requiredBytes;
  std::vector<int64_t> budgets;
  budgets.reserve(numPoints + others.size());
  for (int64_t point = 0; point < numPoints; ++point)
    budgets.push_back(
        most - static_cast<int64_t>(static_cast<__int128>(most - least) * point / (numPoints - 1)));
  llvm::append_range(budgets, others);
  return solving.answerAll(budgets);
}

/// Bisection between what no plan undercuts and what is known.
Answer Solving::answerForCost(int64_t maxAddedCost) {
  // The bound that stands for no plan at all is above every limit.
  maxAddedCost = std::min(maxAddedCost, std::numeric_limits<int64_t>::max() - 1);
  Solution best = family.findSmallest(maxAddedCost);
  int64_t least = getLeastPeak(), low = least, high = getPeak(best);
  for (int trial = 1; trial <= kNumTrials && low < high && !hasToStop(); ++trial) {
    // The last one is for the proof that one byte less is not enough.
    int64_t budget = trial < kNumTrials ? low + (high - low) / 2 : high - 1;
    std::optional<Solution> found;
    if (getLowerBound(budget) <= maxAddedCost) {
      search(budget, std::max<int64_t>(options.effort - 1, 0));
      found = findKnown(budget);
    }
    if (found && addedCost(problem, found->plan) <= maxAddedCost) {
      best = std::move(*found);
      high = getPeak(best);
    } else {
      low = budget + 1;
    }
  }
  // The cheapest of the smallest ones.
  if (!hasToStop())
    search(high, std::max<int64_t>(options.effort - 1, 0));
  if (std::optional<Solution> found = findKnown(high);
      found && addedCost(problem, found->plan) < addedCost(problem, best.plan))
    best = std::move(*found);
  Answer answer;
  answer.addedCost = addedCost(problem, best.plan);
  answer.addedCostLowerBound = getLowerBound(high);
  if (answer.addedCost <= maxAddedCost) {
    bool isSmallest = high <= least || getLowerBound(high - 1) > maxAddedCost;
    answer.status = isSmallest ? Status::Optimal : Status::Feasible;
  } else if (getLowerBound(std::numeric_limits<int64_t>::max()) > maxAddedCost) {
    // What must be recomputed costs more already.
    answer.status = Status::Infeasible;
  }
  answer.minimumKnownBytes = std::min(best.requiredBytes, findSmallest().requiredBytes);
  answer.solution = std::move(best);
  return answer;
}

llvm::Expected<Answer> mlir::remat::planner::solveForCost(const Problem &problem,
                                                          int64_t maxAddedCost,
                                                          const SolveOptions &options) {
  Solving solving(problem, options);
  if (llvm::Error error = solving.checkSolver())
    return error;
  return solving.answerForCost(maxAddedCost);
}
