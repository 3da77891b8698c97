//===- Solve.h - One question, one answer -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry of the planner: picks a solver, lets it improve on the family of
// plans that does not depend on the budget, verifies and judges the result. An
// answer never costs more than the family's plan for the same budget. Counts of
// iterations end a search, so that an answer is the same on every machine and
// with any number of threads; `timeLimitSeconds` and `shouldStop` give that up.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_SOLVE_H
#define REMAT_PLANNER_SOLVE_H

#include "Remat/Planner/LinearProgram.h"
#include "Remat/Planner/PlanFamily.h"
#include <functional>

namespace mlir::remat::planner {

enum class Solver : uint8_t {
  /// Chosen by size and structure.
  Auto,
  /// The family of plans alone.
  Greedy,
  /// Dynamic programming; for chains only.
  Chain,
  /// Local search from several seeds.
  Anneal,
  /// Branch and bound; for small problems only.
  Exact,
};

/// "auto", "greedy", "chain", "anneal" or "exact".
llvm::StringRef getName(Solver solver);
std::optional<Solver> parseSolver(llvm::StringRef name);

/// A plan fits if its peak is within the budget, or its added cost within the limit.
enum class Status : uint8_t {
  /// It fits, and no plan that fits costs less, or has a smaller peak where the limit is
  /// one of cost.
  Optimal,
  /// It fits.
  Feasible,
  /// No plan that fits was found; perhaps there is one.
  NotFound,
  /// No plan fits.
  Infeasible,
};

/// "optimal", "feasible", "not-found" or "infeasible".
llvm::StringRef getName(Status status);

/// How far a search is.
struct Progress {
  int64_t iteration;
  int64_t numIterations;
  /// Picoseconds that the best plan so far adds; -1 while there is none.
  int64_t addedCost;
};

constexpr int64_t kMaxEffort = 10;

struct SolveOptions : FamilyOptions {
  Solver solver = Solver::Auto;
  /// Independent runs of the local search.
  int64_t numSeeds = 2;
  /// Work of each run, 0 to kMaxEffort: none, or some seconds for 1 and four times as
  /// much for each step more.
  int64_t effort = 2;
  /// Whether a budget that no plan of the family meets counts as not met, so that the
  /// smallest known budget depends on nothing but the problem; and whether results are
  /// never computed twice, as in the family.
  bool onlyImprovesFamily = false;
  /// Steps of each run, instead of what follows from the effort; if above 0.
  int64_t numIterations = 0;
  /// Runs at a time; does not change the answer.
  int64_t numThreads = 1;
  /// After this the best plan so far is the answer; none if 0.
  double timeLimitSeconds = 0;
  /// Raises lower bounds, if there is one. What it finds decides the answer, which is as
  /// reproducible as it is.
  LinearProgramSolver solveLinearProgram = nullptr;
  /// Asked now and then from any thread; the best plan so far is the answer once
  /// it says true.
  std::function<bool()> shouldStop;
  /// Told now and then from any thread, one call at a time.
  std::function<void(const Progress &)> onProgress;
};

struct Answer {
  Status status = Status::NotFound;
  /// The cheapest plan found within the budget, or the smallest one within the limit of
  /// cost; if none is known, the smallest one, or the problem as it is.
  Solution solution;
  /// Picoseconds beyond one execution of each operation, and what every plan within the
  /// budget, or with no larger a peak than this one, adds at least; the latter is of no
  /// meaning when the status is Infeasible.
  int64_t addedCost = 0;
  int64_t addedCostLowerBound = 0;
  /// The smallest budget, in bytes, that this search knows to be feasible, at whatever
  /// cost. With `onlyImprovesFamily`, and where no plan within the budget is known, it does
  /// not depend on the budget.
  int64_t minimumKnownBytes = 0;
};

/// The cheapest plan whose peak (packed or live, as the options say) is at most
/// `budget` bytes. `problem` must have passed `check`. An error when the solver
/// asked for cannot take the problem: it is no chain, or too large.
llvm::Expected<Answer> solve(const Problem &problem, int64_t budget,
                             const SolveOptions &options = {});

/// The plan with the smallest peak among those that add at most `maxAddedCost`
/// picoseconds.
llvm::Expected<Answer> solveForCost(const Problem &problem, int64_t maxAddedCost,
                                    const SolveOptions &options = {});

/// Answers for several budgets, in their order, with one run that starts each search
/// from what others have found: a smaller budget never gets a cheaper plan.
llvm::Expected<std::vector<Answer>>
solveAll(const Problem &problem, llvm::ArrayRef<int64_t> budgets, const SolveOptions &options = {});

/// The front: answers for `numPoints` budgets, at least two, in even steps from the
/// unchanged peak down to the smallest one that the search finds, or with
/// `onlyImprovesFamily` that of the family, followed by those for `others`; all in one run
/// as above.
llvm::Expected<std::vector<Answer>> solveFront(const Problem &problem, int64_t numPoints,
                                               llvm::ArrayRef<int64_t> others = {},
                                               const SolveOptions &options = {});

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_SOLVE_H
