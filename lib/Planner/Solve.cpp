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
#include "PlanFamilyImpl.h"
#include "Remat/Planner/Bounds.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::remat::planner;

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

/// The answer that a solution is to a budget.
static Answer judge(const Problem &problem, int64_t budget, Solution solution, bool fits) {
  Answer answer;
  answer.addedCost = addedCost(problem, solution.plan);
  answer.addedCostLowerBound = addedCostLowerBound(problem, budget);
  answer.solution = std::move(solution);
  if (fits)
    answer.status =
        answer.addedCost <= answer.addedCostLowerBound ? Status::Optimal : Status::Feasible;
  else if (answer.addedCostLowerBound == std::numeric_limits<int64_t>::max())
    answer.status = Status::Infeasible;
  return answer;
}

static std::optional<Solution> improve(const Problem &problem, int64_t budget, PlanFamily &family,
                                       const SolveOptions &options) {
  PlanFamily::Impl &impl = family.getImpl();
  Schedule start = impl.findStart(budget);
  std::optional<Schedule> best;
  for (int64_t seed = 0; seed < options.numSeeds; ++seed) {
    AnnealOptions anneal{budget - impl.graph.boundaryBytes, options.reorder,
                         static_cast<uint64_t>(seed), options.numIterations, nullptr};
    std::optional<Schedule> found =
        mlir::remat::planner::anneal(problem, impl.graph, start, anneal);
    if (found)
      llvm::errs() << "seed " << seed << " cost " << found->getCost() << "\n";
    if (found && (!best || found->getCost() < best->getCost()))
      best = std::move(found);
  }
  if (!best)
    return std::nullopt;
  return evaluate(problem, best->toPlan());
}

llvm::Expected<Answer> mlir::remat::planner::solve(const Problem &problem, int64_t budget,
                                                   const SolveOptions &options) {
  PlanFamily family(problem, options);
  std::optional<Solution> found = family.findCheapest(budget);
  if (options.solver == Solver::Anneal)
    if (std::optional<Solution> better = improve(problem, budget, family, options))
      found = std::move(better);
  return judge(problem, budget, found ? std::move(*found) : family.findSmallest(),
               found.has_value());
}

llvm::Expected<Answer> mlir::remat::planner::solveForCost(const Problem &problem,
                                                          int64_t maxAddedCost,
                                                          const SolveOptions &options) {
  PlanFamily family(problem, options);
  Solution solution = family.findSmallest(maxAddedCost);
  int64_t peak = solution.requiredBytes;
  return judge(problem, peak, std::move(solution), /*fits=*/true);
}

llvm::Expected<std::vector<Answer>> mlir::remat::planner::solveAll(const Problem &problem,
                                                                   llvm::ArrayRef<int64_t> budgets,
                                                                   const SolveOptions &options) {
  PlanFamily family(problem, options);
  std::vector<Answer> answers;
  for (int64_t budget : budgets) {
    std::optional<Solution> found = family.findCheapest(budget);
    answers.push_back(judge(problem, budget, found ? std::move(*found) : family.findSmallest(),
                            found.has_value()));
  }
  return answers;
}
