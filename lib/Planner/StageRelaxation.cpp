//===- StageRelaxation.cpp - A lower bound over all times at once ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Why the constraints hold with views and destinations: a storage stands for what
// one value, the root, and its views hold. Two roots that are both read after a
// milestone have two storages while it runs, and neither is an operand's or a
// result's: a result takes over a storage only when what it held is not read
// again. To read a view, its root has to be there; that views are shown again as
// well is ignored, except where they cannot be.
//
//===----------------------------------------------------------------------===//

#include "StageRelaxation.h"
#include "Detail.h"
#include "Remat/Planner/Simulator.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

/// No transition; far from an overflow when added to.
template <typename T>
static T getImpossible();
template <>
double getImpossible() {
  return 1e300;
}
template <>
Price getImpossible() {
  return Price(1) << 125;
}

static bool isCloneable(const Operation &op) {
  return op.recomputable && op.policy != Policy::MustSave;
}

StageRelaxation::StageRelaxation(const Problem &problem, int64_t budget, bool reorder,
                                 int64_t maxCells, const Surroundings *surroundings)
    : problem(problem), budget(budget), surroundings(surroundings),
      needed(neededOperations(problem)), roots(viewRoots(problem)) {
  int64_t size = 1;
  for (const Operation &op : problem.operations)
    size += 1 + op.reads.size() + op.writes.size();
  chooseMilestones(reorder, std::max<int64_t>(1, maxCells / size));
  findStages(reorder);
  addItems();
  startStates = findStartStates();
  markCells(reorder);
  startPrices();
  freeze();
}

//===----------------------------------------------------------------------===//
// The relaxation
//===----------------------------------------------------------------------===//

/// Calls `visit` with each operation that is executed before `index` in every plan;
/// `previousEffect` is the last one before it that is not pure.
template <typename Visit>
static void forEachPredecessor(const Problem &problem, OpIndex index, OpIndex previousEffect,
                               Visit visit) {
  const Operation &op = problem.operations[index];
  auto visitProducer = [&](ValueIndex value) {
    if (problem.values[value].producer != kBoundary)
      visit(problem.values[value].producer);
  };
  llvm::for_each(op.reads, visitProducer);
  llvm::for_each(op.dependences, visitProducer);
  if (op.effect != Effect::Pure && previousEffect != kBoundary)
    visit(previousEffect);
}

/// The chain of needed operations, each dependent on the one before, with the most
/// live bytes in sum.
std::vector<OpIndex> StageRelaxation::findLongestChain() const {
  int64_t numOperations = problem.operations.size();
  std::vector<int64_t> live = simulate(problem, identityPlan(problem)).liveBytes;
  std::vector<__int128> weight(numOperations, 0);
  std::vector<OpIndex> previous(numOperations, kBoundary);
  OpIndex lastEffect = kBoundary, end = kBoundary;
  for (OpIndex op = 0; op < numOperations; ++op) {
    forEachPredecessor(problem, op, lastEffect, [&](OpIndex other) {
      if (isMilestone(other) && (previous[op] == kBoundary || weight[other] > weight[previous[op]]))
        previous[op] = other;
    });
    weight[op] = __int128(live[op]) + 1 + (previous[op] == kBoundary ? 0 : weight[previous[op]]);
    if (problem.operations[op].effect != Effect::Pure)
      lastEffect = op;
    if (isMilestone(op) && (end == kBoundary || weight[op] > weight[end]))
      end = op;
  }
  std::vector<OpIndex> chain;
  for (; end != kBoundary; end = previous[end])
    chain.push_back(end);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void StageRelaxation::chooseMilestones(bool reorder, int64_t maxMilestones) {
  if (reorder) {
    milestones = findLongestChain();
  } else {
    for (OpIndex op = 0, e = problem.operations.size(); op < e; ++op)
      if (isMilestone(op))
        milestones.push_back(op);
  }
  if (int64_t(milestones.size()) <= maxMilestones)
    return;
  std::vector<int64_t> live = simulate(problem, identityPlan(problem)).liveBytes;
  llvm::stable_sort(milestones, [&](OpIndex a, OpIndex b) { return live[a] > live[b]; });
  milestones.resize(maxMilestones);
  llvm::sort(milestones);
}

void StageRelaxation::findStages(bool reorder) {
  int64_t numOperations = problem.operations.size(), numMilestones = milestones.size();
  stageOf.assign(numOperations, -1);
  firstStage.assign(numOperations, 0);
  lastStage.assign(numOperations, numMilestones);
  for (auto [stage, op] : llvm::enumerate(milestones))
    stageOf[op] = stage;
  for (OpIndex op = 0; op < numOperations; ++op)
    if (isExecutedBefore(op))
      lastStage[op] = 0;
  if (!reorder) {
    int64_t stage = 0;
    for (OpIndex op = 0; op < numOperations; ++op) {
      firstStage[op] = lastStage[op] = stage;
      stage += stageOf[op] >= 0;
    }
    return;
  }
  std::vector<OpIndex> previousEffect(numOperations, kBoundary);
  for (OpIndex op = 1; op < numOperations; ++op)
    previousEffect[op] =
        problem.operations[op - 1].effect == Effect::Pure ? previousEffect[op - 1] : op - 1;
  for (OpIndex op = 0; op < numOperations; ++op) {
    forEachPredecessor(problem, op, previousEffect[op], [&](OpIndex other) {
      firstStage[op] = std::max(firstStage[op], firstStage[other] + (stageOf[other] >= 0));
    });
    if (stageOf[op] >= 0)
      firstStage[op] = stageOf[op];
  }
  for (OpIndex op = numOperations - 1; op >= 0; --op) {
    if (stageOf[op] >= 0)
      lastStage[op] = stageOf[op];
    if (needed[op])
      forEachPredecessor(problem, op, previousEffect[op], [&](OpIndex other) {
        lastStage[other] = std::min(lastStage[other], lastStage[op]);
      });
  }
}

void StageRelaxation::addItems() {
  int64_t numOperations = problem.operations.size();
  itemsOf.resize(numOperations);
  itemOf.assign(problem.values.size(), -1);
  for (OpIndex index = 0; index < numOperations; ++index) {
    if (!needed[index])
      continue;
    const Operation &op = problem.operations[index];
    costOfItems += op.cost;
    if (!isExecutedBefore(index))
      neededCost += op.cost;
    auto add = [&](ValueIndex root) {
      if (root != kNoValue)
        itemOf[root] = items.size();
      itemsOf[index].push_back(items.size());
      items.push_back({index, root, root == kNoValue ? 0 : problem.values[root].bytes,
                       /*cost=*/0, isCloneable(op), firstStage[index], lastStage[index],
                       lastStage[index], /*firstCell=*/0});
    };
    for (ValueIndex value : op.writes)
      if (roots[value] == value && problem.values[value].placement != Placement::None)
        add(value);
    if (itemsOf[index].empty())
      add(kNoValue);
    // However many of the results are computed again, together they cost no more
    // than the operation.
    int64_t share = op.cost / itemsOf[index].size();
    for (int64_t item : itemsOf[index])
      items[item].cost = share;
    items[itemsOf[index].front()].cost += op.cost - share * itemsOf[index].size();

    llvm::SmallVector<int64_t> sources;
    for (ValueIndex value : op.reads)
      if (int64_t source = itemOf[roots[value]];
          source >= 0 && !llvm::is_contained(sources, source))
        sources.push_back(source);
    for (int64_t reader : itemsOf[index])
      for (int64_t source : sources)
        reads.push_back({reader, source, /*first=*/0, /*end=*/0, /*firstPrice=*/0});
  }
  // Readers come later than what they read.
  for (const Read &read : llvm::reverse(reads)) {
    const Item &reader = items[read.reader];
    items[read.source].end = std::max(items[read.source].end, reader.end);
  }
  int64_t numPrices = 0;
  for (Read &read : reads) {
    const Item &reader = items[read.reader];
    // A milestone's first execution is no choice.
    read.first = reader.first + (stageOf[reader.op] >= 0);
    read.end = reader.isCloneable ? reader.end : reader.last;
    read.firstPrice = numPrices;
    numPrices += std::max<int64_t>(0, read.end + 1 - read.first);
  }
  int64_t numStages = 0;
  for (Item &item : items) {
    item.firstCell = numStages;
    // One more for the state after the last stage.
    numStages += item.end + 2 - item.first;
  }
  cells.resize(numStages);
  numCells = numStages + numPrices + 1;
  best.reads.assign(numPrices, 0);
  best.memory.assign(milestones.size(), 0);
}

/// In which state each item is before the first stage.
std::vector<StageRelaxation::State> StageRelaxation::findStartStates() const {
  std::vector<State> states;
  states.reserve(items.size());
  for (const Item &item : items)
    states.push_back(isExecutedBefore(item.op) ? Gone : Unexecuted);
  if (surroundings)
    for (auto [value, isReadable] : llvm::enumerate(surroundings->isReadable))
      if (int64_t item = itemOf[roots[value]]; isReadable && item >= 0)
        states[item] = InMemory;
  return states;
}

/// By milestone: the bytes that others hold at least while it runs.
std::vector<int64_t> StageRelaxation::findHeldBytes(bool reorder) const {
  std::vector<int64_t> held(milestones.size(), 0);
  if (!surroundings)
    return held;
  llvm::ArrayRef<int64_t> heldBytes = surroundings->heldBytes;
  int64_t least = *llvm::min_element(heldBytes), numEffects = 0;
  for (auto [index, op] : llvm::enumerate(problem.operations)) {
    bool isPure = op.effect == Effect::Pure;
    if (isPure && stageOf[index] >= 0)
      held[stageOf[index]] = reorder ? least : heldBytes[numEffects];
    numEffects += !isPure;
  }
  return held;
}

void StageRelaxation::markCells(bool reorder) {
  auto markCell = [&](int64_t item, int64_t stage) -> Cell * {
    const Item &info = items[item];
    return stage < info.first || stage > info.end ? nullptr
                                                  : &cells[info.firstCell + stage - info.first];
  };
  int64_t boundaryBytes = detail::boundaryBytes(problem, /*alignment=*/1);
  WorkingSets sets(problem, /*roundTo=*/1);
  std::vector<int64_t> held = findHeldBytes(reorder);
  for (auto [stage, index] : llvm::enumerate(milestones)) {
    const Operation &op = problem.operations[index];
    capacity.push_back(budget - boundaryBytes - held[stage] - sets.bytes(index));
    infeasible |= capacity.back() < 0;
    for (ValueIndex root : sets.operandRoots())
      if (Cell *cell = itemOf[root] < 0 ? nullptr : markCell(itemOf[root], stage))
        cell->isRead = cell->isExempt = true;
    for (ValueIndex value : op.writes)
      if (itemOf[value] >= 0)
        if (Cell *cell = markCell(itemOf[value], stage))
          cell->isExempt = true;
  }
  infeasible |= boundaryBytes > budget;

  // The one instance of a view that is not shown again keeps its root.
  std::vector<int64_t> shownUntil(problem.values.size(), -1);
  for (OpIndex index = 0, e = problem.operations.size(); index < e; ++index) {
    const Operation &op = problem.operations[index];
    if (needed[index])
      for (ValueIndex value : op.reads)
        if (int64_t item = itemOf[roots[value]]; item >= 0 && shownUntil[value] >= 0)
          for (int64_t stage = shownUntil[value] + 1; stage <= firstStage[index]; ++stage)
            if (Cell *cell = markCell(item, stage))
              cell->isRetained = true;
    for (ValueIndex value : op.writes) {
      if (problem.values[value].placement != Placement::View)
        continue;
      shownUntil[value] = shownUntil[problem.values[value].source];
      if (!isCloneable(op) && shownUntil[value] < 0)
        shownUntil[value] = lastStage[index];
    }
  }
  // So does what is computed once.
  for (const Read &read : reads) {
    const Item &source = items[read.source];
    if (source.isCloneable)
      continue;
    for (int64_t stage = source.last + 1; stage <= firstStage[items[read.reader].op]; ++stage)
      if (Cell *cell = markCell(read.source, stage))
        cell->isRetained = true;
  }
  // What has no room beside all that is dropped.
  std::vector<int64_t> room = capacity;
  auto forEachCrossing = [&](auto visit) {
    for (const Item &item : items)
      for (int64_t stage = item.first, e = std::min<int64_t>(item.end + 1, milestones.size());
           stage < e; ++stage)
        if (int64_t cell = item.firstCell + stage - item.first; !cells[cell].isExempt)
          visit(item, stage, cells[cell], cells[cell + 1]);
  };
  forEachCrossing([&](const Item &item, int64_t stage, const Cell &, const Cell &after) {
    if (after.isRetained)
      room[stage] -= item.bytes;
  });
  forEachCrossing([&](const Item &item, int64_t stage, Cell &cell, const Cell &after) {
    cell.isDropped = !after.isRetained && item.bytes > std::max<int64_t>(0, room[stage]);
  });
  infeasible |= llvm::any_of(room, [](int64_t bytes) { return bytes < 0; });
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// The price of memory at one milestone that makes the most of what crosses it.
void StageRelaxation::startPrices() {
  double sum = 0;
  int64_t count = 0;
  for (const Item &item : items) {
    sum += double(item.bytes);
    count += item.bytes > 0;
  }
  bytesScale = std::max(1.0, sum / std::max<int64_t>(count, 1));

  // By item: the first stage after which nobody is sure to read it.
  std::vector<int64_t> crossedUntil(items.size(), 0);
  for (const Read &read : reads)
    crossedUntil[read.source] =
        std::max(crossedUntil[read.source], firstStage[items[read.reader].op]);
  double most = 0;
  for (int64_t stage = 0, e = milestones.size(); stage < e; ++stage) {
    llvm::SmallVector<int64_t> crossing;
    double excess = -double(capacity[stage]);
    for (auto [index, item] : llvm::enumerate(items)) {
      if (item.last > stage || crossedUntil[index] <= stage || item.bytes == 0 ||
          item.end < stage || cells[item.firstCell + stage - item.first].isExempt)
        continue;
      excess += double(item.bytes);
      if (item.isCloneable)
        crossing.push_back(index);
    }
    if (excess <= 0)
      continue;
    llvm::sort(crossing, [&](int64_t a, int64_t b) {
      __int128 left = __int128(items[a].cost) * items[b].bytes;
      __int128 right = __int128(items[b].cost) * items[a].bytes;
      return left != right ? left < right : a < b;
    });
    double cost = 0;
    for (int64_t index : crossing) {
      double ratio = double(items[index].cost) / double(items[index].bytes);
      double bytes = std::min(excess, double(items[index].bytes));
      cost += bytes * ratio;
      excess -= bytes;
      if (excess > 0)
        continue;
      if (cost > most) {
        most = cost;
        best.memory.assign(milestones.size(), 0);
        best.memory[stage] = ratio * bytesScale;
      }
      break;
    }
  }
}

/// The cost of an execution and the gain of being there in every cell, and the least
/// that is still to pay in every state; of a picosecond `unit`.
template <typename T>
void StageRelaxation::setPrices(const Prices<T> &prices, T unit, std::vector<T> &ownCost,
                                std::vector<T> &gain, std::vector<T> &toGo, int64_t peak,
                                bool isKept) const {
  ownCost.assign(cells.size(), 0);
  gain.assign(cells.size(), 0);
  toGo.assign(cells.size() * kNumStates, 0);
  for (const Read &read : reads) {
    int64_t reader = items[read.reader].firstCell - items[read.reader].first;
    int64_t source = items[read.source].firstCell - items[read.source].first;
    for (int64_t stage = read.first; stage <= read.end; ++stage) {
      T price = prices.reads[read.firstPrice + stage - read.first];
      ownCost[reader + stage] += price;
      gain[source + stage] += price;
    }
  }
  T impossible = getImpossible<T>();
  for (const Item &item : items) {
    T bytes = T(item.bytes), cost = T(item.cost) * unit;
    T *after = &toGo[(item.firstCell + item.end + 1 - item.first) * kNumStates];
    after[Unexecuted] = impossible;
    for (int64_t stage = item.end; stage >= item.first; --stage, after -= kNumStates) {
      int64_t index = item.firstCell + stage - item.first;
      const Cell &cell = cells[index];
      bool isPeak = stage == peak && !cell.isExempt && item.bytes > 0;
      bool mustStay = cells[index + 1].isRetained || (isPeak && isKept);
      T keep = after[InMemory];
      if (!cell.isExempt && stage < int64_t(milestones.size()))
        keep += prices.memory[stage] * bytes;
      if (cell.isDropped || (isPeak && !isKept))
        keep = impossible;
      T present = std::min(keep, mustStay ? impossible : after[Gone]) - gain[index];
      T execute = cost + ownCost[index] + present;
      T *before = after - kNumStates;
      before[InMemory] = present;
      before[Gone] = cell.isRead || mustStay ? impossible : after[Gone];
      if (item.isCloneable)
        before[Gone] = std::min(before[Gone], execute);
      before[Unexecuted] = stage < item.last && !cell.isRead && !mustStay
                               ? std::min(after[Unexecuted], execute)
                               : execute;
      for (int state = 0; state < kNumStates; ++state)
        before[state] = std::min(before[state], impossible);
    }
  }
}

/// The bound in picoseconds, and how it changes with each price.
double StageRelaxation::evaluate(const Prices<double> &prices, Prices<double> &slope) {
  std::vector<double> ownCost, gain, toGo;
  Prices<double> perByte = prices;
  for (double &price : perByte.memory)
    price /= bytesScale;
  setPrices(perByte, 1.0, ownCost, gain, toGo);
  slope.memory.assign(milestones.size(), 0);
  double bound = -double(neededCost);
  for (int64_t stage = 0, e = milestones.size(); stage < e; ++stage) {
    slope.memory[stage] = -double(capacity[stage]) / bytesScale;
    bound -= perByte.memory[stage] * double(capacity[stage]);
  }
  // Follow the best path of each item.
  std::vector<bool> isExecuted(cells.size(), false), isThere(cells.size(), false);
  for (auto [number, item] : llvm::enumerate(items)) {
    State state = startStates[number];
    bound += toGo[item.firstCell * kNumStates + state];
    double cost = double(item.cost);
    for (int64_t stage = item.first; stage <= item.end; ++stage) {
      int64_t index = item.firstCell + stage - item.first;
      const double *after = &toGo[(index + 1) * kNumStates];
      double stay = state == InMemory ? getImpossible<double>() : after[state];
      if (cells[index].isRead || cells[index + 1].isRetained ||
          (state == Unexecuted && stage >= item.last))
        stay = getImpossible<double>();
      double keep = after[InMemory];
      if (!cells[index].isExempt && stage < int64_t(milestones.size()))
        keep += perByte.memory[stage] * double(item.bytes);
      if (cells[index].isDropped)
        keep = getImpossible<double>();
      double drop = cells[index + 1].isRetained ? getImpossible<double>() : after[Gone];
      double execute = cost + ownCost[index] - gain[index] + std::min(keep, drop);
      if (state == Gone && !item.isCloneable)
        execute = getImpossible<double>();
      if (state != InMemory && stay <= execute)
        continue;
      isThere[index] = true;
      isExecuted[index] = state != InMemory;
      state = drop <= keep ? Gone : InMemory;
      if (state == InMemory && !cells[index].isExempt && stage < int64_t(milestones.size()))
        slope.memory[stage] += double(item.bytes) / bytesScale;
    }
  }
  slope.reads.assign(prices.reads.size(), 0);
  for (const Read &read : reads) {
    int64_t reader = items[read.reader].firstCell - items[read.reader].first;
    int64_t source = items[read.source].firstCell - items[read.source].first;
    for (int64_t stage = read.first; stage <= read.end; ++stage)
      slope.reads[read.firstPrice + stage - read.first] =
          double(isExecuted[reader + stage]) - double(isThere[source + stage]);
  }
  return bound;
}

int64_t StageRelaxation::improve(int64_t numIterations, int64_t target) {
  if (infeasible || milestones.empty())
    return 0;
  // Steps towards a level above the best bound; the level comes down when it is not
  // reached (Bertsekas, Nonlinear Programming, 1999, section 6.3).
  constexpr int64_t kPatience = 20;
  constexpr double kSmallestGap = 0.25;
  double gap = std::max(1.0, double(costOfItems)) / 16;
  Prices<double> prices = best, slope;
  int64_t numFailures = 0;
  double levelBase = bestBound;
  // Rounding takes a little of the bound.
  double enough = double(target) * (1 + 1e-6) + 1;
  int64_t iteration = 0;
  for (; iteration < numIterations && gap > kSmallestGap && gap > bestBound * 1e-5; ++iteration) {
    double bound = evaluate(prices, slope);
    if (bound > bestBound || iteration == 0) {
      bestBound = bound;
      best = prices;
    }
    if (bestBound > 2 * double(getLargestCost()) || bestBound > enough)
      break;
    if (bestBound >= levelBase + gap / 2) {
      levelBase = bestBound;
      numFailures = 0;
      gap *= 1.5;
    } else if (++numFailures > kPatience) {
      numFailures = 0;
      levelBase = bestBound;
      gap /= 2;
      prices = best;
      continue;
    }
    double norm = 0;
    auto addNorm = [&](llvm::ArrayRef<double> values, llvm::MutableArrayRef<double> slopes) {
      for (auto [price, value] : llvm::zip_equal(values, slopes)) {
        // A price of zero does not fall.
        if (price <= 0 && value < 0)
          value = 0;
        norm += value * value;
      }
    };
    addNorm(prices.memory, slope.memory);
    addNorm(prices.reads, slope.reads);
    if (norm == 0)
      break;
    double length = (levelBase + gap - bound) / norm;
    for (auto [price, value] : llvm::zip_equal(prices.memory, slope.memory))
      price = std::max(0.0, price + length * value);
    for (auto [price, value] : llvm::zip_equal(prices.reads, slope.reads))
      price = std::max(0.0, price + length * value);
  }
  freeze();
  return iteration;
}

/// Rounds the best prices to integers and evaluates the bound with them. Any prices
/// that are not negative do; they are limited so that no sum overflows.
void StageRelaxation::freeze() {
  if (infeasible)
    return;
  double highest = 1, highestRead = double(costOfItems) + 1;
  for (double price : best.memory)
    highest = std::max(highest, price / bytesScale);
  for (double price : best.reads)
    highestRead = std::max(highestRead, price);
  int64_t allBytes = 1;
  for (const Value &value : problem.values)
    allBytes += value.bytes;
  allBytes = std::max(allBytes, budget);
  // Of the integer part.
  constexpr int64_t kMostBits = 200;
  auto bitsOf = [](double value) -> int64_t {
    if (value < 1)
      return 0;
    return value < std::ldexp(1.0, kMostBits) ? std::ilogb(value) + 1 : kMostBits;
  };
  constexpr int64_t kBits = 118;
  int64_t memoryBits = bitsOf(highest) + bitsOf(double(allBytes)) + bitsOf(double(cells.size()));
  int64_t readBits = bitsOf(highestRead) + bitsOf(double(best.reads.size() + cells.size()));
  fractionBits = std::min<int64_t>(48, kBits - std::max(memoryBits, readBits));
  frozen = {};
  bool isTooLarge = fractionBits < 0;
  fractionBits = std::max<int64_t>(fractionBits, 0);
  double unit = double(int64_t(1) << fractionBits);
  for (double price : best.memory)
    frozen.memory.push_back(isTooLarge ? 0 : Price(price / bytesScale * unit));
  for (double price : best.reads)
    frozen.reads.push_back(isTooLarge ? 0 : Price(price * unit));

  std::vector<Price> ownCost, gain;
  setPrices(frozen, Price(1) << fractionBits, ownCost, gain, costToGo);
  memoryToGo.assign(milestones.size() + 1, 0);
  for (int64_t stage = int64_t(milestones.size()) - 1; stage >= 0; --stage)
    memoryToGo[stage] = memoryToGo[stage + 1] - frozen.memory[stage] * capacity[stage];
  infeasible = evaluateFrozen() > getLargestCost();
}

int64_t StageRelaxation::getAddedCost() const {
  if (infeasible)
    return std::numeric_limits<int64_t>::max();
  Price cost = evaluateFrozen();
  return int64_t(std::clamp<Price>(cost, 0, kMaxPlanSum));
}

/// The bound in picoseconds, rounded up: costs are integers.
Price StageRelaxation::evaluateFrozen() const {
  Price sum = memoryToGo[0] - (Price(neededCost) << fractionBits);
  for (auto [index, item] : llvm::enumerate(items)) {
    Price cost = costToGo[item.firstCell * kNumStates + startStates[index]];
    if (cost >= kImpossiblePrice)
      return kImpossiblePrice >> fractionBits;
    sum += cost;
  }
  return (sum + (Price(1) << fractionBits) - 1) >> fractionBits;
}

Price StageRelaxation::getCostToGo(int64_t stage, int64_t item, State state) const {
  return getCostToGo(costToGo, stage, item, state);
}

Price StageRelaxation::getCostToGo(const std::vector<Price> &costs, int64_t stage, int64_t index,
                                   State state) const {
  const Item &item = items[index];
  if (stage > item.end)
    return 0;
  int64_t cell = item.firstCell + std::max(stage, item.first) - item.first;
  return costs[cell * kNumStates + state];
}

StageRelaxation::Peak StageRelaxation::getPeak(int64_t stage) const {
  Peak peak;
  peak.stage = stage;
  peak.capacity = capacity[stage];
  peak.memory = frozen.memory[stage] * capacity[stage];
  Prices<Price> prices = frozen;
  prices.memory[stage] = 0;
  std::vector<Price> ownCost, gain;
  Price unit = Price(1) << fractionBits;
  setPrices(prices, unit, ownCost, gain, peak.retained, stage, /*isKept=*/true);
  setPrices(prices, unit, ownCost, gain, peak.dropped, stage, /*isKept=*/false);
  return peak;
}

bool StageRelaxation::isCounted(int64_t stage, int64_t index) const {
  const Item &item = items[index];
  return item.bytes > 0 && item.first <= stage && stage <= item.end &&
         !cells[item.firstCell + stage - item.first].isExempt;
}
