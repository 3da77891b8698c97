//===- PlanFamily.cpp - Candidate plans that do not depend on the budget ----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detail.h"
#include "PlanFamilyImpl.h"
#include "RecomputeRule.h"
#include "Remat/Planner/Variants.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;

Solution mlir::remat::planner::evaluate(const Problem &problem, Plan plan) {
  Solution solution;
  solution.plan = std::move(plan);
  solution.simulation = simulate(problem, solution.plan);
  solution.packing = pack(problem, solution.plan, solution.simulation);
  solution.requiredBytes = solution.packing.packedBytes;
  return solution;
}

/// Peaks up to which states of the greedy run are pruned.
static constexpr int64_t kNumLevels = 32;

/// Limits up to which the variants of one plan are chosen, beside the lowest.
static constexpr int64_t kNumVariantLevels = 16;

PlanFamily::Impl::Impl(const Problem &problem, const FamilyOptions &options)
    : problem(problem), options(options), graph(problem, options.minBytes),
      singleSchedule(problem, graph, options.reorder),
      greedySchedule(problem, graph, options.reorder),
      singleMoves(problem, graph, singleSchedule, options.reorder),
      identity(evaluate(problem, identityPlan(problem))) {
  if (singleSchedule.getNumForbidden() > 0) {
    if (llvm::Error error = prepare())
      conflict = llvm::toString(std::move(error));
    else
      identity = evaluate(problem, singleSchedule.toPlan());
  }
  identity.requiredBytes = getPeak(identity);
}

llvm::Error PlanFamily::Impl::prepare() {
  isPrepared = true;
  singleSchedule.removeUnread();
  unchangedCost = singleSchedule.getCost();
  if (llvm::Error error = recomputeBehindTurn(problem, graph, singleSchedule))
    return error;
  startState = singleSchedule.getState();
  greedySchedule = singleSchedule.snapshot();
  return llvm::Error::success();
}

void PlanFamily::Impl::build() {
  if (isBuilt || !conflict.empty())
    return;
  isBuilt = true;
  if (!isPrepared)
    llvm::cantFail(prepare());
  addSingles();
  std::vector<GreedyState> states = runGreedy(problem, graph, greedySchedule, options.reorder);
  for (const GreedyState &state : states)
    members.push_back({state.cost, graph.boundaryBytes + state.peak, std::nullopt, state.state});
  addPruned(states);
  if (hasVariants(problem) && graph.turn == kNone)
    addVariants();
  llvm::stable_sort(members, [](const Member &a, const Member &b) {
    return std::make_pair(a.cost, a.peak) < std::make_pair(b.cost, b.peak);
  });
  // A member that costs no less and peaks no lower than an earlier one is
  // never the answer.
  int64_t lowest = std::numeric_limits<int64_t>::max();
  llvm::erase_if(members, [&](const Member &member) {
    if (member.peak >= lowest)
      return true;
    lowest = member.peak;
    return false;
  });
}

void PlanFamily::Impl::addSingles() {
  NodeIndex peakNode = singleSchedule.getPeakPlace().node;
  if (peakNode == kNone)
    return; // Nothing is ever live.
  int64_t peak = singleSchedule.getPeak();
  llvm::SmallVector<Gap, 0> gaps;
  for (InstanceIndex instance = 0, e = singleSchedule.getNumInstances(); instance < e; ++instance)
    singleMoves.forEachGap(instance, [&](const Gap &gap) { gaps.push_back(gap); });
  for (const Gap &gap : gaps) {
    std::optional<Closure> closure = singleMoves.findClosure(gap, peakNode);
    if (!closure)
      continue;
    singleMoves.apply(gap, *closure);
    if (singleSchedule.getNumForbidden() == 0 && singleSchedule.getPeak() < peak)
      members.push_back(
          {singleSchedule.getCost(), graph.boundaryBytes + singleSchedule.getPeak(), gap});
    singleSchedule.restore(startState);
    singleSchedule.forgetUndone();
  }
}

/// Prunes the states of the greedy run up to peaks that don't depend on any budget:
/// some between the first and the last of them, where the run has no state nearby.
void PlanFamily::Impl::addPruned(llvm::ArrayRef<GreedyState> states) {
  int64_t highest = states.front().peak, lowest = states.back().peak;
  for (int64_t level = 0; level < kNumLevels; ++level) {
    int64_t peak =
        lowest + static_cast<int64_t>(static_cast<__int128>(highest - lowest) * level / kNumLevels);
    const GreedyState &state =
        *llvm::partition_point(states, [&](const GreedyState &state) { return state.peak > peak; });
    if (kNumLevels * 4 * (peak - state.peak) < highest - lowest)
      continue;
    Schedule pruned = prunedSchedule(state.state, peak);
    if (pruned.getCost() < state.cost)
      members.push_back({pruned.getCost(), graph.boundaryBytes + pruned.getPeak(), std::nullopt,
                         state.state, peak});
  }
}

/// Adds the members of the family with the smallest workspaces, each with several
/// choices of variants: the cheapest up to limits that don't depend on any budget.
void PlanFamily::Impl::addVariants() {
  leastProblem = withLeastWorkspaces(problem);
  least = std::make_unique<Impl>(*leastProblem, options);
  least->build();
  for (int64_t index = 0, e = least->members.size(); index < e; ++index)
    addVariants(index);
}

void PlanFamily::Impl::addVariants(int64_t index) {
  const Member &member = least->members[index];
  Plan plan = least->toPlan(member);
  std::vector<int64_t> live = detail::liveBytesOfStorages(problem, plan, problem.alignment);
  auto bytesWith = [&](StepIndex step, int64_t variant) {
    const Operation &operation = problem.operations[plan.steps[step].op];
    return live[step] + align(getVariant(operation, variant).workspace, problem.alignment);
  };
  // No step of the others is above the peak with the smallest workspaces.
  std::vector<StepIndex> steps;
  std::vector<int64_t> limits{member.peak};
  for (StepIndex step = 0, e = plan.steps.size(); step < e; ++step) {
    int64_t numVariants = problem.operations[plan.steps[step].op].variants.size();
    if (numVariants > 0)
      steps.push_back(step);
    for (int64_t variant = 0; numVariants > 0 && variant <= numVariants; ++variant)
      if (int64_t bytes = bytesWith(step, variant); bytes > member.peak)
        limits.push_back(bytes);
  }
  llvm::sort(limits);
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  int64_t last = limits.size() - 1, numLevels = std::min(last, kNumVariantLevels);
  for (int64_t level = 0; level <= numLevels; ++level) {
    Member chosen = {member.cost, member.peak, std::nullopt};
    chosen.least = index;
    chosen.limit = limits[numLevels == 0 ? 0 : last * level / numLevels];
    for (StepIndex step : steps) {
      const Operation &operation = problem.operations[plan.steps[step].op];
      int64_t variant =
          detail::chooseVariant(operation, chosen.limit - live[step], problem.alignment);
      chosen.cost += getVariant(operation, variant).cost - operation.cost;
      chosen.peak = std::max(chosen.peak, bytesWith(step, variant));
    }
    members.push_back(chosen);
  }
}

Schedule PlanFamily::Impl::prunedSchedule(int64_t state, int64_t peak) {
  greedySchedule.restore(state);
  Schedule schedule = greedySchedule.snapshot();
  prune(problem, graph, schedule, options.reorder, peak);
  return schedule;
}

Schedule PlanFamily::Impl::toSchedule(const Member &member) {
  if (member.gap) {
    NodeIndex peakNode = singleSchedule.getPeakPlace().node;
    singleMoves.apply(*member.gap, *singleMoves.findClosure(*member.gap, peakNode));
    Schedule schedule = singleSchedule.snapshot();
    singleSchedule.restore(startState);
    singleSchedule.forgetUndone();
    return schedule;
  }
  if (member.level)
    return prunedSchedule(member.state, *member.level);
  greedySchedule.restore(member.state);
  return greedySchedule.snapshot();
}

Plan PlanFamily::Impl::toPlan(const Member &member) {
  if (!member.least)
    return toSchedule(member).toPlan();
  Plan plan = least->toPlan(least->members[*member.least]);
  chooseVariants(problem, plan, member.limit, problem.alignment);
  return plan;
}

Solution PlanFamily::Impl::materialize(Member &member) {
  Solution solution = evaluate(problem, toPlan(member));
  // Counting a member as no smaller than the search saw it keeps the answers
  // monotone even where the search was too careful.
  solution.requiredBytes = isAllowed(solution.plan) ? std::max(member.peak, getPeak(solution))
                                                    : std::numeric_limits<int64_t>::max();
  member.requiredBytes = solution.requiredBytes;
  return solution;
}

Schedule PlanFamily::Impl::findStart(int64_t budget) {
  build();
  const Member *start = nullptr;
  for (const Member &member : members) {
    if (member.least)
      continue;
    start = &member;
    if (member.peak <= budget)
      break;
  }
  // Ordered by falling peaks.
  if (start)
    return toSchedule(*start);
  greedySchedule.restore(0);
  return greedySchedule.snapshot();
}

PlanFamily::PlanFamily(const Problem &problem, const FamilyOptions &options)
    : impl(std::make_unique<Impl>(problem, options)) {}
PlanFamily::~PlanFamily() = default;

llvm::Error PlanFamily::checkPolicies() const {
  if (impl->conflict.empty())
    return llvm::Error::success();
  return detail::makeError("{0}", impl->conflict);
}

const Solution &PlanFamily::getIdentity() const { return impl->identity; }

std::optional<Solution> PlanFamily::findCheapest(int64_t budget) {
  if (!impl->conflict.empty())
    return std::nullopt;
  std::optional<Solution> identity;
  int64_t identityCost = std::numeric_limits<int64_t>::max();
  if (impl->identity.requiredBytes <= budget) {
    identityCost = addedCost(impl->problem, impl->identity.plan);
    // Nothing is cheaper than the problem as it is.
    if (identityCost == 0)
      return impl->identity;
    identity = impl->identity;
  }
  impl->build();
  for (Member &member : impl->members) {
    if (member.cost - impl->unchangedCost >= identityCost)
      break;
    if (member.peak > budget || (member.requiredBytes && *member.requiredBytes > budget))
      continue;
    Solution solution = impl->materialize(member);
    if (*member.requiredBytes <= budget)
      return solution;
  }
  return identity;
}

Solution PlanFamily::findSmallest(int64_t maxAddedCost) {
  impl->build();
  // In order of the bound, until no bound is below the best.
  llvm::SmallVector<Member *, 0> order;
  for (Member &member : impl->members)
    if (member.cost - impl->unchangedCost <= maxAddedCost)
      order.push_back(&member);
  llvm::stable_sort(order, [](Member *a, Member *b) { return a->peak < b->peak; });
  Member *best = nullptr;
  for (Member *member : order) {
    if (best && member->peak > *best->requiredBytes)
      break;
    if (!member->requiredBytes)
      impl->materialize(*member);
    if (!best || std::make_pair(*member->requiredBytes, member->cost) <
                     std::make_pair(*best->requiredBytes, best->cost))
      best = member;
  }
  // The identity is a member, but may have been pruned.
  int64_t added = addedCost(impl->problem, impl->identity.plan);
  if (!best || (added <= maxAddedCost &&
                std::make_pair(impl->identity.requiredBytes, added) <=
                    std::make_pair(*best->requiredBytes, best->cost - impl->unchangedCost)))
    return impl->identity;
  return impl->materialize(*best);
}
