//===- Rematerialize.cpp - Planning and rewriting functions -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Transforms/Rematerialize.h"

#include "ExecutionReport.h"
#include "PlanReport.h"
#include "Remat/Analysis/FusionModel.h"
#include "Remat/Interfaces/RematOpInterface.h"
#include "Remat/Transforms/ApplyPlan.h"
#include "Remat/Transforms/Equivalence.h"
#include "Remat/Transforms/PassUtils.h"
#include "Remat/Transforms/SinkClones.h"
#include "Remat/Transforms/SymbolReferences.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::remat;

/// Rows of an error; the rest is summed up.
static constexpr size_t kMaxNotes = 16;

static const ModelTable &getModels(const RematerializeOptions &options) {
  return options.models ? *options.models : ModelTable::getBuiltin();
}

/// With the costs of `profile`, if there is one.
static FailureOr<FunctionProblem> buildProblem(FunctionOpInterface function,
                                               const RematerializeOptions &options,
                                               SymbolTableCollection &symbols,
                                               ArrayRef<unsigned> kept = {},
                                               const CostProfile *profile = nullptr) {
  SummaryAnalysis summaries(getModels(options), options.target, symbols, options.fusion);
  if (profile && failed(summaries.useProfile(*profile, function)))
    return failure();
  return buildProblem(function, summaries,
                      {options.scope, options.alignment, llvm::to_vector(kept)});
}

namespace {
/// A function as it stands: what it takes when it is executed.
struct Measurement {
  FunctionProblem problem;
  planner::Solution solution;

  Peaks peaks() const { return {solution.simulation.livePeak, solution.packing.packedBytes}; }
};
} // namespace

static FailureOr<Measurement> measure(FunctionOpInterface function,
                                      const RematerializeOptions &options,
                                      SymbolTableCollection &symbols) {
  SummaryAnalysis summaries(getModels(options), options.target, symbols, options.fusion);
  FailureOr<FunctionProblem> problem =
      buildProblem(function, summaries,
                   {options.scope, options.alignment, /*kept=*/{}, ExecutionOrder::Scheduled});
  if (failed(problem))
    return failure();
  planner::Solution solution =
      planner::evaluate(problem->problem, planner::identityPlan(problem->problem));
  return Measurement{std::move(*problem), std::move(solution)};
}

FailureOr<Peaks> mlir::remat::measurePeaks(FunctionOpInterface function,
                                           const RematerializeOptions &options,
                                           SymbolTableCollection &symbols, bool warn) {
  FailureOr<Measurement> measured = measure(function, options, symbols);
  if (failed(measured))
    return failure();
  if (warn)
    warnAboutUncounted(function, measured->problem);
  return measured->peaks();
}

/// Whether something other than a call refers to a function, and so may call it.
static bool hasAddressTaken(const SymbolTable::UseRange &uses) {
  return llvm::any_of(uses, [](const SymbolTable::SymbolUse &use) {
    auto call = dyn_cast<CallOpInterface>(use.getUser());
    return !call || !isa<SymbolRefAttr>(call.getCallableForCallee());
  });
}

std::optional<std::string> mlir::remat::getSkipReason(FunctionOpInterface function,
                                                      Operation *symbolScope) {
  if (function.isExternal())
    return "it has no body";
  if (!function.isPrivate())
    return std::nullopt;
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function, symbolScope);
  if (uses && hasAddressTaken(*uses))
    return std::nullopt;
  if (uses && uses->empty() && !listHiddenReferences(symbolScope).contains(function.getName()))
    return std::nullopt;
  return "it is private and counts inside its callers";
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Whether a plan executes everything once, in the order of the problem.
static bool isIdentity(const planner::Plan &plan) {
  return llvm::all_of(llvm::enumerate(plan.steps), [](auto indexed) {
    auto [index, step] = indexed;
    return !step.isClone && step.op == static_cast<planner::OpIndex>(index);
  });
}

/// Values below this size matter to nobody: 2^-20 of the peak.
static int64_t getMinBytes(const RematerializeOptions &options, int64_t packedPeak) {
  return options.minBytes.value_or(packedPeak >> 20);
}

/// Whether the plan of a file is within the budget with `packedBytes`.
static LogicalResult checkReplayed(PlannedFunction &planned, int64_t packedBytes) {
  const FunctionReport &report = planned.report;
  if (packedBytes <= report.budgetBytes.value_or(packedBytes))
    return success();
  return mlir::emitError(planned.function.getLoc())
         << "the plan for function '" << report.name << "' takes " << packedBytes
         << " bytes, but the budget is " << *report.budgetBytes;
}

/// Takes the plan of the file.
static LogicalResult replay(const RematerializeOptions &options, PlannedFunction &planned,
                            planner::Solution &inEffect) {
  FunctionReport &report = planned.report;
  const planner::Problem &problem = planned.problem.problem;
  llvm::Expected<planner::Plan> plan = options.plans->get(report.name, problem);
  if (!plan)
    return mlir::emitError(planned.function.getLoc()) << llvm::toString(plan.takeError());
  planner::Solution solution = planner::evaluate(problem, std::move(*plan));
  int64_t packed = solution.packing.packedBytes;
  // What it takes with XLA is counted in a rewritten copy.
  if (options.fusion != Fusion::XLA && failed(checkReplayed(planned, packed)))
    return failure();
  int64_t added = planner::addedCost(problem, solution.plan);
  if (int64_t limit = options.maxOverhead.resolve(report.cost); added > limit)
    return mlir::emitError(planned.function.getLoc())
           << "the plan for function '" << report.name << "' adds " << added
           << " picoseconds, but 'max-overhead' allows " << limit;
  report.minimumKnownBytes = std::min(report.minimumKnownBytes, packed);
  if (isIdentity(solution.plan))
    return success();
  report.status = PlanStatus::Met;
  inEffect = std::move(solution);
  planned.solution = inEffect;
  return success();
}

/// Peaks, from the unchanged one to the smallest known, at which the front is asked for.
static constexpr int64_t kNumFrontPoints = 20;

namespace {
/// What else to search for.
struct SearchedPlans {
  /// Whether the plan that the smallest budget known is of is wanted, and it.
  bool wantsSmallest = false;
  std::optional<planner::Plan> smallest = {};
  /// With RematerializeOptions::wantsFront: peaks fall, costs rise.
  std::vector<planner::Answer> front = {};
};
} // namespace

/// Searches for the answers to all questions that the options ask.
static LogicalResult search(const RematerializeOptions &options, int64_t minBytes,
                            PlannedFunction &planned, planner::Solution &inEffect,
                            SearchedPlans &others) {
  FunctionReport &report = planned.report;
  const planner::Problem &problem = planned.problem.problem;
  planner::SolveOptions solving = options.search;
  solving.reorder = options.reorder;
  solving.minBytes = minBytes;
  solving.isPacked = true;
  solving.onlyImprovesFamily = true;
  auto emit = [&](llvm::Error error) {
    return mlir::emitError(planned.function.getLoc(), "cannot plan function '")
           << report.name << "': " << llvm::toString(std::move(error));
  };

  llvm::SmallVector<int64_t, 2> budgets;
  if (report.budgetBytes)
    budgets.push_back(*report.budgetBytes);
  if (others.wantsSmallest)
    budgets.push_back(0);
  llvm::Expected<std::vector<planner::Answer>> answers =
      options.wantsFront ? planner::solveFront(problem, kNumFrontPoints, budgets, solving)
                         : planner::solveAll(problem, budgets, solving);
  if (!answers)
    return emit(answers.takeError());
  if (options.wantsFront)
    others.front.assign(std::make_move_iterator(answers->begin()),
                        std::make_move_iterator(answers->begin() + kNumFrontPoints));
  if (others.wantsSmallest) {
    others.smallest = std::move(answers->back().solution.plan);
    answers->pop_back();
  }
  planner::Answer answer;
  if (report.budgetBytes) {
    answer = std::move(answers->back());
  } else if (options.maxOverhead.amount) {
    llvm::Expected<planner::Answer> smallest =
        planner::solveForCost(problem, options.maxOverhead.resolve(report.cost), solving);
    if (!smallest)
      return emit(smallest.takeError());
    answer = std::move(*smallest);
  } else {
    return success();
  }
  report.minimumKnownBytes = answer.minimumKnownBytes;
  // What nobody reads may be left out; that is no saving of ours.
  report.addedCostLowerBound =
      answer.status == planner::Status::Infeasible
          ? std::nullopt
          : std::optional<int64_t>(std::max<int64_t>(answer.addedCostLowerBound, 0));
  bool isMet =
      answer.status == planner::Status::Optimal || answer.status == planner::Status::Feasible;
  if (isMet && isIdentity(answer.solution.plan))
    return success();
  report.status = isMet ? PlanStatus::Met : PlanStatus::Infeasible;
  inEffect = std::move(answer.solution);
  if (isMet || options.onInfeasible == OnInfeasible::Warn)
    planned.solution = inEffect;
  return success();
}

/// Adds to the report what the cost model says of a plan that was found with measured costs.
static LogicalResult predictCosts(const RematerializeOptions &options, const planner::Plan &plan,
                                  PlannedFunction &planned, SymbolTableCollection &symbols) {
  FailureOr<FunctionProblem> built = ::buildProblem(planned.function, options, symbols);
  if (failed(built))
    return failure();
  int64_t cost = 0;
  for (const planner::Operation &operation : built->problem.operations)
    cost += operation.cost;
  planned.report.predicted = {cost, planner::addedCost(built->problem, plan)};
  return success();
}

namespace {
/// A plan for some choice of arguments that are overwritten.
struct Attempt {
  PlannedFunction planned;
  /// Arguments that are read behind their writers by the plan, or by the smallest one if
  /// nothing fits; and by the plan that the smallest budget known is of.
  std::optional<unsigned> read, readBySmallest;
  SearchedPlans others = {};
  SmallVector<unsigned, 2> kept = {};
};
} // namespace

/// Those of some points, in the order of their costs, whose peaks are below all before.
static std::vector<FrontPoint> listFront(ArrayRef<FrontPoint> points) {
  std::vector<FrontPoint> front;
  for (const FrontPoint &point : points)
    if (front.empty() || point.packedBytes < front.back().packedBytes)
      front.push_back(point);
  return front;
}

/// What happens in memory when an unchanged function is executed.
static ExecutionReport describeUnchanged(const FunctionProblem &problem,
                                         const planner::Solution &solution,
                                         const std::vector<Category> &categories) {
  return describeExecution(problem, solution, categories,
                           getLeastDescribedBytes(solution.simulation.livePeak),
                           [](planner::StorageIndex) { return std::string(); });
}

/// Plans a function that `problem` is of.
static FailureOr<Attempt> planProblem(FunctionOpInterface function, FunctionProblem built,
                                      bool wantsSmallest, const RematerializeOptions &options,
                                      SymbolTableCollection &symbols) {
  Attempt attempt{{function, std::move(built), std::nullopt, {}, {}, {}}, {}, {}, {wantsSmallest}};
  PlannedFunction &planned = attempt.planned;
  const planner::Problem &problem = planned.problem.problem;

  planner::Solution identity = planner::evaluate(problem, planner::identityPlan(problem));
  int64_t baseline = identity.packing.packedBytes;

  FunctionReport &report = planned.report;
  report.name = function.getName().str();
  report.fusion = getFusionName(options.fusion).str();
  report.baselinePeakBytes = identity.simulation.livePeak;
  report.baselinePackedBytes = report.minimumKnownBytes = baseline;
  report.workingSetBytes = planner::workingSetBytes(problem);
  report.argumentBytes = planned.problem.argumentBytes;
  report.resultBytes = planned.problem.resultBytes;
  report.constantBytes = planned.problem.constantBytes;
  report.cost = identity.simulation.cost;
  report.status = PlanStatus::Unchanged;
  if (options.budget.kind != Budget::Kind::None)
    report.budgetBytes = options.budget.resolve(baseline);

  std::vector<Category> categories = categorize(planned.problem, options.roles);
  if (options.wantsDetails)
    report.before = describeUnchanged(planned.problem, identity, categories);

  planner::Solution inEffect = std::move(identity);
  int64_t minBytes = getMinBytes(options, baseline);
  if (failed(options.plans ? replay(options, planned, inEffect)
                           : search(options, minBytes, planned, inEffect, attempt.others)))
    return failure();
  attempt.read = findReadBehindWriter(planned.problem, inEffect.plan);
  if (attempt.others.smallest)
    attempt.readBySmallest = findReadBehindWriter(planned.problem, *attempt.others.smallest);
  planned.front =
      listFront(llvm::map_to_vector<0>(attempt.others.front, [](const planner::Answer &answer) {
        return FrontPoint{answer.solution.packing.packedBytes, answer.addedCost};
      }));
  planned.peaks = {inEffect.simulation.livePeak, inEffect.packing.packedBytes};
  report.addedCost = planner::addedCost(problem, inEffect.plan);
  if (options.profile && options.profile->function == report.name)
    if (failed(predictCosts(options, inEffect.plan, planned, symbols)))
      return failure();
  describePlan(planned.problem, inEffect, categories, minBytes, report);
  return attempt;
}

/// Plans with the donated arguments that are not in `kept`.
static FailureOr<Attempt> planWithout(ArrayRef<unsigned> kept, FunctionOpInterface function,
                                      const RematerializeOptions &options,
                                      SymbolTableCollection &symbols) {
  FailureOr<FunctionProblem> built =
      ::buildProblem(function, options, symbols, kept, options.profile);
  if (failed(built))
    return failure();
  bool wantsSmallest = !built->overwritten.empty();
  FailureOr<Attempt> attempt =
      planProblem(function, std::move(*built), wantsSmallest, options, symbols);
  if (succeeded(attempt))
    attempt->kept = llvm::to_vector<2>(kept);
  return attempt;
}

/// A plan that recomputes from an argument behind the result that is written over it needs
/// the argument as it was: such arguments are kept, and everything is planned again.
static FailureOr<Attempt> planAround(FunctionOpInterface function,
                                     const RematerializeOptions &options,
                                     SymbolTableCollection &symbols) {
  RematerializeOptions how = options;
  FailureOr<Attempt> first = planWithout({}, function, how, symbols);
  if (failed(first) || !first->read)
    return first;
  // The unchanged function is what it is: it reads nothing behind its writer.
  const FunctionReport &unchanged = first->planned.report;
  if (unchanged.budgetBytes)
    how.budget = {Budget::Kind::Bytes, *unchanged.budgetBytes};
  SmallVector<unsigned> kept{*first->read};
  FailureOr<Attempt> attempt = planWithout(kept, function, how, symbols);
  while (succeeded(attempt) && attempt->read) {
    kept.push_back(*attempt->read);
    attempt = planWithout(kept, function, how, symbols);
  }
  if (failed(attempt))
    return failure();
  FunctionReport &report = attempt->planned.report;
  report.baselinePeakBytes = unchanged.baselinePeakBytes;
  report.baselinePackedBytes = unchanged.baselinePackedBytes;
  report.before = unchanged.before;
  report.minimumKnownBytes = std::min(report.minimumKnownBytes, unchanged.baselinePackedBytes);
  return attempt;
}

/// Makes good that the smallest budget known is that of a plan that reads what is
/// overwritten: by the arguments that the smallest plan without that keeps.
static LogicalResult improveByKeeping(Attempt &attempt, const RematerializeOptions &options,
                                      SymbolTableCollection &symbols) {
  FunctionOpInterface function = attempt.planned.function;
  FunctionReport &report = attempt.planned.report;
  RematerializeOptions how = options;
  how.budget = {Budget::Kind::Bytes, 1};
  how.maxOverhead = {};
  how.wantsFront = how.wantsDetails = false;
  how.search.effort = 0;
  FailureOr<Attempt> smallest = planAround(function, how, symbols);
  if (failed(smallest))
    return failure();
  int64_t leastBytes = std::min(smallest->planned.report.packedBytes, report.packedBytes);
  if (report.status == PlanStatus::Infeasible && report.budgetBytes &&
      leastBytes <= *report.budgetBytes)
    for (int64_t bytes : {*report.budgetBytes, leastBytes}) {
      how = options;
      how.budget = {Budget::Kind::Bytes, bytes};
      FailureOr<Attempt> other = planWithout(smallest->kept, function, how, symbols);
      if (failed(other))
        return failure();
      if (other->read || other->planned.report.status == PlanStatus::Infeasible)
        continue;
      FunctionReport before = report;
      attempt = std::move(*other);
      report.baselinePeakBytes = before.baselinePeakBytes;
      report.baselinePackedBytes = before.baselinePackedBytes;
      report.before = before.before;
      report.budgetBytes = before.budgetBytes;
      break;
    }
  report.minimumKnownBytes = std::min(leastBytes, report.packedBytes);
  return success();
}

/// A copy of a function in front of it.
static FunctionOpInterface insertCopy(FunctionOpInterface function) {
  auto copy = cast<FunctionOpInterface>(function->clone());
  function->getBlock()->getOperations().insert(Block::iterator(function), copy);
  return copy;
}

/// Describes what `rewritten` takes as it stands as the outcome of `planned`.
static LogicalResult describeAsItStands(FunctionOpInterface rewritten, PlannedFunction &planned,
                                        const RematerializeOptions &options,
                                        SymbolTableCollection &symbols) {
  FailureOr<Measurement> measured = measure(rewritten, options, symbols);
  if (failed(measured))
    return failure();
  planned.peaks = measured->peaks();
  FunctionReport now = planned.report;
  describePlan(measured->problem, measured->solution, categorize(measured->problem, options.roles),
               getMinBytes(options, now.baselinePackedBytes), now);
  now.recomputed = std::move(planned.report.recomputed);
  now.moved = std::move(planned.report.moved);
  planned.report = std::move(now);
  return success();
}

/// Calls `look` with a copy of a function that is rewritten as `plan` says.
static LogicalResult lookAtRewritten(FunctionOpInterface function, const planner::Plan &plan,
                                     const RematerializeOptions &options,
                                     SymbolTableCollection &symbols,
                                     llvm::function_ref<LogicalResult(FunctionOpInterface)> look) {
  FunctionOpInterface copy = insertCopy(function);
  llvm::scope_exit erase([&] { copy->erase(); });
  FailureOr<FunctionProblem> problem = ::buildProblem(copy, options, symbols);
  if (failed(problem))
    return failure();
  applyPlan(*problem, plan, getModels(options));
  return look(copy);
}

/// Makes what the function is with `plan` the outcome of `planned`: what clones are computed
/// inside of is only known of a rewritten copy.
static LogicalResult describeRewritten(PlannedFunction &planned, const planner::Plan &plan,
                                       const RematerializeOptions &options,
                                       SymbolTableCollection &symbols) {
  return lookAtRewritten(planned.function, plan, options, symbols, [&](FunctionOpInterface copy) {
    return describeAsItStands(copy, planned, options, symbols);
  });
}

//===----------------------------------------------------------------------===//
// Planning for XLA
//===----------------------------------------------------------------------===//

namespace {
/// XLA executes operations in an order of its own and computes clones where they are read:
/// what a plan takes is only known of a rewritten copy. The target of the search is
/// corrected by that, with the family of plans alone; the search for better ones follows
/// at the target that was found.
class XLAPlanner {
public:
  XLAPlanner(FunctionOpInterface function, const RematerializeOptions &options,
             SymbolTableCollection &symbols)
      : function(function), options(options), symbols(symbols) {}

  FailureOr<PlannedFunction> run();

private:
  /// Times that the target of a search is corrected.
  static constexpr int kMaxCorrections = 4;
  /// The part of a budget that a plan may leave unused.
  static constexpr int64_t kUnusedPart = 50;
  /// The part of the cost of the function that a plan may add to leave products alone:
  /// libraries reach less than the peak rates that costs are made with, and need scratch
  /// memory.
  static constexpr int64_t kProductsPart = 100;

  /// How to search.
  struct Question {
    /// Bytes in the order of the program.
    int64_t target;
    /// Whether no product may be computed again.
    bool keepsProducts = false;
    /// Whether the smallest plan and the front are wanted, too.
    bool isFirst = false;
    /// Whether to search beyond the family of plans.
    bool isThorough = false;
  };
  /// A plan within the budget.
  struct Found {
    PlannedFunction planned;
    Question question;
  };

  LogicalResult measureUnchanged();
  FailureOr<Attempt> plan(const Question &question);
  FailureOr<std::optional<Found>> search(Attempt attempt, Question question);
  LogicalResult improve(Found &found);
  LogicalResult describe(PlannedFunction &planned);
  LogicalResult keepUnchanged(PlannedFunction &planned);
  FailureOr<PlannedFunction> describeSmallest(PlannedFunction planned, planner::Plan plan);
  FailureOr<PlannedFunction> replay(PlannedFunction planned);
  LogicalResult recountFront(Attempt &attempt);
  bool isProduct(Operation *op) const;
  bool recomputesProducts(const PlannedFunction &planned) const;
  LogicalResult preferProducts(Found &found);

  FunctionOpInterface function;
  const RematerializeOptions &options;
  SymbolTableCollection &symbols;
  /// Of the unchanged function.
  Peaks baseline = {};
  std::optional<ExecutionReport> before;
  /// The function in the order of the program.
  FunctionProblem program;
  /// What the order of the program takes more than XLA's, in packed bytes.
  int64_t programBytes = 0;
  std::optional<int64_t> budget;
};
} // namespace

LogicalResult XLAPlanner::measureUnchanged() {
  FailureOr<Measurement> unchanged = measure(function, options, symbols);
  FailureOr<FunctionProblem> built =
      ::buildProblem(function, options, symbols, {}, options.profile);
  if (failed(unchanged) || failed(built))
    return failure();
  baseline = unchanged->peaks();
  program = std::move(*built);
  planner::Solution inOrder =
      planner::evaluate(program.problem, planner::identityPlan(program.problem));
  programBytes = inOrder.packing.packedBytes - baseline.packedBytes;
  if (options.budget.kind != Budget::Kind::None)
    budget = options.budget.resolve(baseline.packedBytes);
  if (options.wantsDetails)
    before = describeUnchanged(unchanged->problem, unchanged->solution,
                               categorize(unchanged->problem, options.roles));
  return success();
}

/// Searches in the order of the program.
FailureOr<Attempt> XLAPlanner::plan(const Question &question) {
  FunctionProblem problem = program;
  for (auto [index, op] : llvm::enumerate(problem.operations))
    if (planner::Operation &operation = problem.problem.operations[index];
        question.keepsProducts && operation.recomputable && isProduct(op) &&
        operation.policy != planner::Policy::MustRecompute) {
      operation.recomputable = false;
      problem.whyNot[index] = "is a product, which would save little";
    }
  RematerializeOptions how = options;
  if (budget)
    how.budget = {Budget::Kind::Bytes, std::max<int64_t>(question.target, 1)};
  how.wantsDetails = false;
  how.wantsFront &= question.isFirst;
  // Without a budget nothing is corrected.
  if (!question.isThorough && budget && !how.wantsFront)
    how.search.effort = 0;
  bool wantsSmallest = question.isFirst && !options.plans && (budget || options.maxOverhead.amount);
  FailureOr<Attempt> attempt =
      planProblem(function, std::move(problem), wantsSmallest, how, symbols);
  if (failed(attempt))
    return failure();
  FunctionReport &report = attempt->planned.report;
  report.baselinePeakBytes = baseline.liveBytes;
  report.baselinePackedBytes = baseline.packedBytes;
  report.budgetBytes = budget;
  report.before = before;
  return attempt;
}

/// What the function takes with its plan, if it has one.
LogicalResult XLAPlanner::describe(PlannedFunction &planned) {
  return planned.solution ? describeRewritten(planned, planned.solution->plan, options, symbols)
                          : describeAsItStands(function, planned, options, symbols);
}

/// Corrects the target of the search by what rewritten copies take, until one is within
/// the budget and leaves little of it unused. Nothing if none is.
FailureOr<std::optional<XLAPlanner::Found>> XLAPlanner::search(Attempt attempt, Question question) {
  int64_t limit = budget.value_or(baseline.packedBytes);
  std::optional<Found> best;
  // Targets that led to less than the limit and to more.
  int64_t low = 0, high = std::numeric_limits<int64_t>::max();
  for (int correction = 0; attempt.planned.report.status != PlanStatus::Infeasible; ++correction) {
    PlannedFunction &planned = attempt.planned;
    if (failed(describe(planned)))
      return failure();
    int64_t unused = limit - planned.peaks.packedBytes, addedCost = planned.report.addedCost;
    if (unused >= 0 && (!best || addedCost < best->planned.report.addedCost))
      best = Found{std::move(planned), question};
    bool isGood = unused >= 0 && (addedCost <= 0 || unused <= limit / kUnusedPart);
    if (isGood || !budget || correction == kMaxCorrections)
      break;
    (unused >= 0 ? low : high) = question.target;
    question.target += unused;
    if (question.target <= low || question.target >= high)
      question.target = low + (high - low) / 2;
    question.isFirst = false;
    FailureOr<Attempt> next = plan(question);
    if (failed(next))
      return failure();
    attempt = std::move(*next);
  }
  return best;
}

/// Searches for a cheaper plan with the same target.
LogicalResult XLAPlanner::improve(Found &found) {
  Question question = found.question;
  question.isFirst = false;
  question.isThorough = true;
  FailureOr<Attempt> better = plan(question);
  if (failed(better))
    return failure();
  PlannedFunction &planned = better->planned;
  if (planned.report.status == PlanStatus::Infeasible)
    return success();
  if (failed(describe(planned)))
    return failure();
  if (planned.peaks.packedBytes <= *budget &&
      planned.report.addedCost < found.planned.report.addedCost)
    found.planned = std::move(planned);
  return success();
}

/// Leaves the function as it is.
LogicalResult XLAPlanner::keepUnchanged(PlannedFunction &planned) {
  planned.solution.reset();
  planned.report.status = PlanStatus::Unchanged;
  planned.report.addedCost = 0;
  planned.report.recomputed.clear();
  planned.report.moved.clear();
  return describe(planned);
}

/// The smallest plan known, as the answer where no other is within the budget.
FailureOr<PlannedFunction> XLAPlanner::describeSmallest(PlannedFunction planned,
                                                        planner::Plan plan) {
  FunctionReport &report = planned.report;
  const planner::Problem &problem = planned.problem.problem;
  planner::Solution solution = planner::evaluate(problem, std::move(plan));
  report.addedCost = planner::addedCost(problem, solution.plan);
  describePlan(planned.problem, solution, categorize(planned.problem, options.roles),
               getMinBytes(options, report.baselinePackedBytes), report);
  if (failed(describeRewritten(planned, solution.plan, options, symbols)))
    return failure();
  // Applied, it may take more than it says, and more than the function as it is.
  bool isWorse = planned.peaks.packedBytes > baseline.packedBytes;
  if (isWorse && failed(keepUnchanged(planned)))
    return failure();
  bool fits = planned.peaks.packedBytes <= budget.value_or(baseline.packedBytes);
  planned.report.status = !fits     ? PlanStatus::Infeasible
                          : isWorse ? PlanStatus::Unchanged
                                    : PlanStatus::Met;
  planned.solution.reset();
  if (!isWorse && (fits || options.onInfeasible == OnInfeasible::Warn))
    planned.solution = std::move(solution);
  return planned;
}

/// The plan of a file.
FailureOr<PlannedFunction> XLAPlanner::replay(PlannedFunction planned) {
  if (failed(describe(planned)) || failed(checkReplayed(planned, planned.peaks.packedBytes)))
    return failure();
  return planned;
}

/// Replaces a front by what rewritten copies take.
LogicalResult XLAPlanner::recountFront(Attempt &attempt) {
  std::vector<FrontPoint> points;
  for (const planner::Answer &answer : attempt.others.front) {
    auto count = [&](FunctionOpInterface copy) -> LogicalResult {
      FailureOr<Peaks> peaks = measurePeaks(copy, options, symbols);
      if (succeeded(peaks))
        points.push_back({peaks->packedBytes, answer.addedCost});
      return peaks;
    };
    if (failed(lookAtRewritten(function, answer.solution.plan, options, symbols, count)))
      return failure();
  }
  llvm::sort(points, [](const FrontPoint &a, const FrontPoint &b) {
    return std::tie(a.addedCost, a.packedBytes) < std::tie(b.addedCost, b.packedBytes);
  });
  attempt.planned.front = listFront(points);
  return success();
}

bool XLAPlanner::isProduct(Operation *op) const {
  FusionRole role = lookupModel(op, getModels(options)).value_or(OperationModel()).fusionRole;
  return role == FusionRole::Product || role == FusionRole::Convolution;
}

bool XLAPlanner::recomputesProducts(const PlannedFunction &planned) const {
  return planned.solution &&
         llvm::any_of(planned.solution->plan.steps, [&](const planner::Step &step) {
           return step.isClone && isProduct(planned.problem.operations[step.op]);
         });
}

/// Takes a plan that leaves products alone instead if it adds little more.
LogicalResult XLAPlanner::preferProducts(Found &found) {
  Question question{*budget + programBytes, /*keepsProducts=*/true};
  FailureOr<Attempt> kept = plan(question);
  if (failed(kept))
    return failure();
  FailureOr<std::optional<Found>> other = search(std::move(*kept), question);
  if (failed(other))
    return failure();
  const FunctionReport &report = found.planned.report;
  if (*other &&
      (*other)->planned.report.addedCost <= addCosts(report.addedCost, report.cost / kProductsPart))
    found = std::move(**other);
  return success();
}

FailureOr<PlannedFunction> XLAPlanner::run() {
  if (failed(measureUnchanged()))
    return failure();
  Question question{budget.value_or(0) + programBytes};
  question.isFirst = true;
  FailureOr<Attempt> first = plan(question);
  if (failed(first))
    return failure();
  if (options.plans)
    return replay(std::move(first->planned));
  if (options.wantsFront && failed(recountFront(*first)))
    return failure();
  PlannedFunction answer = first->planned;
  std::vector<FrontPoint> front = answer.front;
  // The smallest budget known is that of the smallest plan, whatever was asked for.
  std::optional<PlannedFunction> smallest;
  if (first->others.smallest) {
    FailureOr<PlannedFunction> described =
        describeSmallest(answer, std::move(*first->others.smallest));
    if (failed(described))
      return failure();
    smallest = std::move(*described);
  }
  bool isRefused = answer.report.status == PlanStatus::Infeasible;
  // Below it nothing is tried, so that it does not depend on the budget.
  bool isBelowSmallest = budget && smallest && *budget < smallest->peaks.packedBytes;
  FailureOr<std::optional<Found>> found = std::optional<Found>();
  if (!isBelowSmallest)
    found = search(std::move(*first), question);
  if (failed(found))
    return failure();
  if (*found) {
    if (budget && (*found)->planned.solution)
      if ((recomputesProducts((*found)->planned) && failed(preferProducts(**found))) ||
          (options.search.effort > 0 && failed(improve(**found))))
        return failure();
    answer = std::move((*found)->planned);
  } else if (budget) {
    answer = *smallest;
  } else if (!isRefused) {
    if (failed(keepUnchanged(answer)))
      return failure();
  } else if (answer.solution && failed(describe(answer))) {
    return failure();
  }
  answer.front = std::move(front);
  FunctionReport &report = answer.report;
  report.minimumKnownBytes = std::min(report.baselinePackedBytes, report.packedBytes);
  if (smallest)
    report.minimumKnownBytes = std::min(report.minimumKnownBytes, smallest->peaks.packedBytes);
  // Bounds are those of plans whose clones are all in memory: here they prove nothing.
  report.addedCostLowerBound = 0;
  report.workingSetBytes = std::min(report.workingSetBytes, report.minimumKnownBytes);
  return answer;
}

FailureOr<PlannedFunction> mlir::remat::planFunction(FunctionOpInterface function,
                                                     const RematerializeOptions &options,
                                                     SymbolTableCollection &symbols) {
  if (options.fusion == Fusion::XLA) {
    FailureOr<PlannedFunction> planned = XLAPlanner(function, options, symbols).run();
    if (succeeded(planned))
      warnAboutUncounted(function, planned->problem);
    return planned;
  }
  FailureOr<Attempt> attempt = planAround(function, options, symbols);
  if (failed(attempt))
    return failure();
  bool isRefused = attempt->planned.report.status == PlanStatus::Infeasible;
  if (attempt->readBySmallest || (isRefused && !attempt->kept.empty()))
    if (failed(improveByKeeping(*attempt, options, symbols)))
      return failure();
  warnAboutUncounted(function, attempt->planned.problem);
  return std::move(attempt->planned);
}

/// The peaks after common subexpression elimination; fails where that changes
/// nothing.
static FailureOr<Peaks> measureAfterCSE(FunctionOpInterface function,
                                        const RematerializeOptions &options,
                                        SymbolTableCollection &symbols) {
  FunctionOpInterface copy = insertCopy(function);
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(copy);
  bool changed = false;
  eliminateCommonSubExpressions(rewriter, dominance, copy, &changed);
  FailureOr<Peaks> peaks = failure();
  if (changed)
    peaks = measurePeaks(copy, options, symbols);
  copy->erase();
  return peaks;
}

void mlir::remat::warnAboutCSE(const PlannedFunction &planned, const RematerializeOptions &options,
                               SymbolTableCollection &symbols) {
  const FunctionReport &report = planned.report;
  if (report.status == PlanStatus::Infeasible || !report.budgetBytes)
    return;
  FunctionOpInterface function = planned.function;
  FailureOr<Peaks> peaks = measureAfterCSE(function, options, symbols);
  if (succeeded(peaks) && peaks->packedBytes > *report.budgetBytes)
    mlir::emitWarning(function.getLoc(), "function '")
        << function.getName() << "' would exceed its budget of " << *report.budgetBytes
        << " bytes after common subexpression elimination, with a packed peak of "
        << peaks->packedBytes << " bytes: run cse before rematerialize";
}

void mlir::remat::diagnoseInfeasible(const PlannedFunction &planned,
                                     const RematerializeOptions &options,
                                     SymbolTableCollection &symbols) {
  const FunctionReport &report = planned.report;
  Location peakLoc = *report.peakOperation.loc;
  InFlightDiagnostic diagnostic = options.onInfeasible == OnInfeasible::Error
                                      ? mlir::emitError(peakLoc)
                                      : mlir::emitWarning(peakLoc);
  if (!report.budgetBytes) {
    diagnostic << "function '" << report.name << "' may add "
               << options.maxOverhead.resolve(report.cost)
               << " picoseconds, but what must be recomputed adds " << report.addedCost
               << " in the cheapest plan that is known";
    return;
  }
  diagnostic << "function '" << report.name << "' does not fit into the budget of "
             << *report.budgetBytes << " bytes: the smallest budget known to be feasible is "
             << report.minimumKnownBytes << " bytes";
  if (!report.addedCostLowerBound)
    diagnostic << "; no order of execution fits";
  if (options.scope == Scope::Total &&
      report.argumentBytes + report.resultBytes > *report.budgetBytes)
    diagnostic << "; arguments and results alone exceed the budget";
  FailureOr<Peaks> merged = measureAfterCSE(planned.function, options, symbols);
  if (succeeded(merged) && merged->packedBytes < report.minimumKnownBytes)
    diagnostic.attachNote(planned.function->getLoc())
        << "common subexpression elimination alone leads to a packed peak of "
        << merged->packedBytes << " bytes: run cse before rematerialize";
  diagnostic.attachNote() << "arguments take " << report.argumentBytes << " bytes, results "
                          << report.resultBytes << " bytes";
  diagnostic.attachNote(peakLoc) << "the packed peak of " << report.packedBytes << " bytes is at '"
                                 << report.peakOperation.name << "' (operation "
                                 << report.peakOperation.index << "), where these are live:";
  for (auto [index, row] : llvm::enumerate(report.liveAtPeak)) {
    if (index == kMaxNotes && report.liveAtPeak.size() > kMaxNotes + 1) {
      int64_t rest = 0;
      for (const LiveValueReport &other : ArrayRef(report.liveAtPeak).drop_front(index))
        rest += other.bytes;
      diagnostic.attachNote() << rest << " bytes: " << report.liveAtPeak.size() - index
                              << " smaller rows (all of them are in the report)";
      break;
    }
    Diagnostic &note = diagnostic.attachNote(row.loc);
    note << row.bytes << " bytes: ";
    if (row.value.empty() || row.producer == row.reason)
      note << (row.value.empty() ? row.producer : row.value);
    else
      note << row.value << " of " << row.producer;
    note << ", " << row.reason;
  }
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

/// Counts the memory of the rewritten function again and compares.
static LogicalResult verifyBytes(const PlannedFunction &planned,
                                 const RematerializeOptions &options,
                                 SymbolTableCollection &symbols) {
  FailureOr<Peaks> recount = measurePeaks(planned.function, options, symbols);
  if (failed(recount))
    return failure();
  const Peaks &promised = planned.peaks;
  auto [live, packed] = *recount;
  int64_t limit = std::max(promised.packedBytes, planned.report.budgetBytes.value_or(0));
  if (live <= promised.liveBytes && packed <= limit)
    return success();
  FunctionOpInterface function = planned.function;
  return mlir::emitError(function.getLoc(), "internal error: the plan for function '")
         << function.getName() << "' has a live peak of " << promised.liveBytes
         << " bytes and a packed peak of " << promised.packedBytes
         << " bytes, but the rewritten function has " << live << " and " << packed;
}

void mlir::remat::emitRemarks(const PlannedFunction &planned) {
  const FunctionReport &report = planned.report;
  Location loc = planned.function->getLoc();
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("remat").function(report.name);
  };
  remark::analysis(loc, options("Peak"))
      << llvm::formatv("packed peak {0} bytes before, {1} bytes after", report.baselinePackedBytes,
                       report.packedBytes)
             .str();
  if (!planned.solution)
    return;
  for (const RecomputedReport &row : report.recomputed)
    remark::passed(row.loc, options("Rematerialized"))
        << llvm::formatv("{0} is computed again {1} {2}", row.producer, row.clones,
                         row.clones == 1 ? "time" : "times")
               .str();
  for (const LiveValueReport &row : report.liveAtPeak)
    if (!row.value.empty())
      remark::missed(row.loc.value_or(loc), options("Kept"))
          << llvm::formatv("{0} of {1} keeps {2} bytes at the peak: {3}", row.value, row.producer,
                           row.bytes, row.reason)
                 .str();
}

/// Sinks clones into branches where the peaks stay what the report says.
static void sinkClones(FunctionOpInterface function, const FunctionReport &report,
                       const RematerializeOptions &options, SymbolTableCollection &symbols) {
  FunctionOpInterface copy = insertCopy(function);
  SummaryAnalysis summaries(getModels(options), options.target, symbols, options.fusion);
  if (sinkClonesIntoBranches(copy.getFunctionBody().front(), summaries) != 0) {
    FailureOr<Peaks> peaks = measurePeaks(copy, options, symbols);
    if (succeeded(peaks) && peaks->liveBytes == report.peakBytes &&
        peaks->packedBytes == report.packedBytes)
      function.getFunctionBody().takeBody(copy.getFunctionBody());
  }
  copy->erase();
}

LogicalResult mlir::remat::applyPlannedFunction(PlannedFunction &planned,
                                                const RematerializeOptions &options,
                                                SymbolTableCollection &symbols) {
  if (!planned.solution)
    return success();
  FunctionOpInterface function = planned.function;
  const ModelTable &models = getModels(options);
  OwningOpRef<Operation *> reference(function->clone());
  FunctionVersion original =
      getVersion(planned.problem, &cast<FunctionOpInterface>(*reference).getFunctionBody().front());

  applyPlan(planned.problem, planned.solution->plan, models);

  FailureOr<FunctionProblem> rewritten = ::buildProblem(function, options, symbols);
  if (failed(rewritten) || failed(verifyBytes(planned, options, symbols)) ||
      failed(verifyEquivalence(
          original, getVersion(*rewritten, &function.getFunctionBody().front()), models)))
    return failure();
  sinkClones(function, planned.report, options, symbols);
  return success();
}

void mlir::remat::describeAgain(PlannedFunction &planned, const RematerializeOptions &options,
                                SymbolTableCollection &symbols) {
  (void)describeAsItStands(planned.function, planned, options, symbols);
}

FailureOr<FunctionReport> mlir::remat::rematerialize(FunctionOpInterface function,
                                                     const RematerializeOptions &options) {
  SymbolTableCollection symbols;
  FailureOr<PlannedFunction> planned = planFunction(function, options, symbols);
  if (failed(planned))
    return failure();
  if (planned->report.status == PlanStatus::Infeasible) {
    diagnoseInfeasible(*planned, options, symbols);
    if (options.onInfeasible == OnInfeasible::Error)
      return failure();
  }
  if (failed(applyPlannedFunction(*planned, options, symbols)))
    return failure();
  emitRemarks(*planned);
  warnAboutCSE(*planned, options, symbols);
  return std::move(planned->report);
}
