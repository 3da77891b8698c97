//===- Anneal.cpp - Local search from a plan that is known ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The energy of a schedule is its cost plus a price for every byte above the limit
// in every slot. Moves are aimed at where memory is above the limit, or else at
// where it is highest. All arithmetic is in integers, so that a seed leads to the
// same schedule on every machine.
//
//===----------------------------------------------------------------------===//

#include "Anneal.h"
#include "NodeMoves.h"
#include "Random.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;

namespace {
/// Picoseconds, in units of 2^-kScale.
using Energy = __int128;
constexpr int kScale = 16;

/// Edits in the log, for each node, after which it is forgotten.
constexpr int64_t kLogPerNode = 4;

/// Iterations between two looks at the price of excess.
constexpr int64_t kPricePeriod = 64;

/// Iterations between two reports, or fewer: a part of the whole.
constexpr int64_t kReportPeriod = 256;

/// The unit of the progress of a search.
constexpr int64_t kWhole = int64_t(1) << 20;

/// By how many powers of two the temperature falls in a cycle. Each cycle begins at half
/// the temperature of the one before, up to a number of cycles.
constexpr int64_t kNumHalvings = 12, kNumStarts = 4;

/// The temperature that a hot run begins with is that of a move that costs four times as
/// much as a mean unit; others begin with one that is lower by so many powers of two.
constexpr int64_t kHot = 2, kColder = 4;

/// Tries to find a storage that is live at some place.
constexpr int kNumDraws = 48;

/// Blocks that one move changes.
constexpr int64_t kMaxBlocks = 64;

class Annealer {
public:
  Annealer(const Problem &problem, const StorageGraph &graph, const UnitClasses &classes,
           Schedule start, const AnnealOptions &options)
      : graph(graph), options(options), classes(classes), schedule(std::move(start)),
        gaps(problem, graph, schedule, options.reorder),
        nodes(problem, graph, schedule, options.reorder), random(options.seed) {
    weighRoots();
    int64_t numCosts = 0, sumOfCosts = 0, sumOfBytes = 0;
    for (const Unit &unit : graph.units)
      if (unit.isCloneable && unit.cost > 0) {
        ++numCosts;
        sumOfCosts += unit.cost;
      }
    for (const Root &root : graph.roots)
      sumOfBytes += root.bytes;
    int64_t numRoots = graph.roots.size();
    int64_t meanBytes = std::max<int64_t>(sumOfBytes / std::max<int64_t>(numRoots, 1), 1);
    meanCost = std::max<int64_t>(sumOfCosts / std::max<int64_t>(numCosts, 1), 1);
    price = std::max<Energy>((Energy(meanCost) << (kScale + kScale)) / meanBytes / 8, 1);
  }

  std::optional<Schedule> run() {
    schedule.compact();
    firstEdit = schedule.getNumExecuted();
    excess = schedule.getExcess(options.limit);
    note();
    for (int64_t i = 0; i < options.numIterations; ++i) {
      if (i % kPricePeriod == 0) {
        adaptPrice();
        if (!setTemperature(i))
          break;
      }
      step();
      if (schedule.getState() > kLogPerNode * (schedule.getNumNodes() + 64))
        forget();
    }
    saveBest();
    if (best)
      settle();
    return std::move(best);
  }

private:
  //===--------------------------------------------------------------------===//
  // Energy
  //===--------------------------------------------------------------------===//

  Energy getEnergy(int64_t cost, __int128 bytes) const {
    return (Energy(cost) << kScale) +
           ((price * std::min<__int128>(bytes, int64_t(1) << 60)) >> kScale);
  }

  /// Falls within each cycle. False when the search has to end.
  bool setTemperature(int64_t iteration) {
    // Parts of 2^20: of the iterations or the edits, whichever end first.
    int64_t edits = std::min(schedule.getNumExecuted() - firstEdit, options.maxEdits);
    int64_t done =
        std::max(getPart(iteration, options.numIterations), getPart(edits, options.maxEdits));
    if (done >= kWhole || (hasBest && bestCost <= options.leastCost))
      return false;
    if (done >> 10 != lastReported || iteration % kReportPeriod == 0) {
      lastReported = done >> 10;
      if (options.onProgress &&
          !options.onProgress(getShare(options.numIterations, done), hasBest ? bestCost : -1))
        return false;
    }
    int64_t newCycle = done * options.numCycles / kWhole;
    if (newCycle != cycle)
      returnToBest();
    cycle = newCycle;
    int64_t place = done * options.numCycles % kWhole;
    int64_t numHalvings = kNumHalvings * place / kWhole;
    int64_t rest = kNumHalvings * place % kWhole;
    int64_t colder = options.isHot ? 0 : kColder;
    temperature =
        ((Energy(meanCost) << (kScale + kHot)) >> (colder + cycle % kNumStarts + numHalvings)) *
        (2 * kWhole - rest) / (2 * kWhole);
    return true;
  }

  static int64_t getPart(int64_t part, int64_t whole) {
    return static_cast<int64_t>(static_cast<__int128>(part) * kWhole / std::max<int64_t>(whole, 1));
  }
  static int64_t getShare(int64_t whole, int64_t part) {
    return static_cast<int64_t>(static_cast<__int128>(whole) * part / kWhole);
  }

  void adaptPrice() {
    // Above the limit most of the time, or hardly ever.
    if (numAbove > kPricePeriod * 3 / 4)
      price += price / 8 + 1;
    else if (numAbove < kPricePeriod / 4)
      price -= price / 8;
    price = std::max<Energy>(price, 1);
    price = std::min<Energy>(price, Energy(1) << 60);
    numAbove = 0;
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  void step() {
    int64_t state = schedule.getState(), cost = schedule.getCost();
    bool isMade = makeMove();
    __int128 newExcess = excess;
    bool isAccepted = false;
    if (isMade && schedule.getNumForbidden() == 0) {
      newExcess = schedule.getExcess(options.limit);
      Energy delta = getEnergy(schedule.getCost(), newExcess) - getEnergy(cost, excess);
      isAccepted = delta <= 0 || (delta << 16) <= temperature * random.exponential();
    }
    if (isAccepted) {
      excess = newExcess;
      if (excess == 0)
        note();
    } else {
      schedule.restore(state);
      schedule.forgetUndone();
    }
    numAbove += excess > 0;
  }

  /// Notes the current schedule when it is the best so far.
  void note() {
    if (excess > 0 || (hasBest && schedule.getCost() >= bestCost))
      return;
    hasBest = true;
    bestCost = schedule.getCost();
    bestState = schedule.getState();
    bestIsInLog = true;
  }

  /// Keeps a copy of the best schedule.
  void saveBest() {
    if (!bestIsInLog)
      return;
    int64_t state = schedule.getState();
    schedule.restore(bestState);
    best = schedule.snapshot();
    schedule.restore(state);
    bestIsInLog = false;
  }

  void forget() {
    saveBest();
    schedule.compact();
  }

  void returnToBest() {
    if (!hasBest)
      return;
    saveBest();
    // What was executed since then counts all the same.
    firstEdit += best->getNumExecuted() - schedule.getNumExecuted();
    schedule = *best;
    schedule.compact();
    excess = 0;
  }

  /// Lets originals that have moved for nothing run where they were.
  void settle() {
    schedule = *best;
    schedule.compact();
    for (NodeIndex node = 0, e = schedule.getNumOriginals(); node < e; ++node) {
      if (!nodes.isMovable(node) || schedule.getNode(node).isClone)
        continue;
      int64_t state = schedule.getState();
      bool isBack = nodes.relocate(node, nodes.getFirst(schedule.findSlotBehind(node))) &&
                    schedule.getPeak() <= options.limit;
      if (!isBack)
        schedule.restore(state);
      schedule.forgetUndone();
    }
    best = schedule.snapshot();
  }

  bool makeMove() {
    int64_t kind = random.below(100);
    if (excess > 0) {
      choosePlace();
      if (kind < 50)
        return closeGap();
      if (kind < 55)
        return takeBack();
      if (kind < 75)
        return options.reorder ? relocate() : shift();
      if (kind < 85)
        return shift();
      return swap();
    }
    if (kind < 25)
      return takeBack();
    if (kind < 40)
      return shift();
    if (kind < 50 || (kind < 55 && !classes.hasBlocks())) {
      choosePlace();
      return dropTogether();
    }
    if (kind < 55)
      return changeBlocks();
    if (kind < 72)
      return options.reorder ? relocate() : swap();
    return swap();
  }

  /// Where moves are aimed at: a slot above the limit, or the highest.
  void choosePlace() {
    place = schedule.getPeakPlace();
    if (excess == 0 || random.chance(50))
      return;
    uint64_t bits = random.next();
    place = schedule.getPeakPlace(schedule.findSlotAbove(options.limit, [&] {
      bits = bits >> 1 | bits << 63;
      return bits & 1;
    }));
  }

  /// A gap around the place; nothing where none was found.
  std::optional<Gap> drawGap() {
    for (int draw = 0; draw < kNumDraws && place.node != kNone; ++draw) {
      RootIndex root = drawRoot();
      if (root == kNone)
        return std::nullopt;
      if (std::optional<Gap> gap = findGap(root))
        return gap;
    }
    return std::nullopt;
  }

  /// The gap of a root around the place; nothing where it is not live, or read.
  std::optional<Gap> findGap(RootIndex root) const {
    for (InstanceIndex instance : llvm::reverse(schedule.getInstances(root))) {
      const Schedule::Instance &info = schedule.getInstance(instance);
      if (!schedule.isBefore(info.definition, place.node))
        continue;
      auto next = llvm::partition_point(
          info.uses, [&](NodeIndex use) { return !schedule.isBefore(place.node, use); });
      NodeIndex previous = next == info.uses.begin() ? info.definition : *std::prev(next);
      if (next == info.uses.end() || previous == place.node)
        return std::nullopt;
      return Gap{instance, previous, *next};
    }
    return std::nullopt;
  }

  bool closeGap() {
    std::optional<Gap> gap = drawGap();
    return gap && closeGap(*gap);
  }

  bool closeGap(const Gap &gap) { return closeGap(gap, random); }

  bool closeGap(const Gap &gap, Random &choices) {
    static constexpr int kChances[] = {0, 20, 50, 80, 100};
    int chance = kChances[choices.below(5)];
    std::optional<Closure> closure =
        gaps.findClosure(gap, place.node,
                         {[&] { return choices.chance(chance); }, choices.chance(50),
                          size_t(1) << choices.below(7)});
    if (!closure)
      return false;
    gaps.apply(gap, *closure);
    return true;
  }

  /// Drops storages that are computed from one source together: what keeps the source
  /// for longer pays when it does so for several. Then takes clones back where that
  /// brings memory no higher than before.
  bool dropTogether() {
    std::optional<Gap> gap = drawGap();
    if (!gap)
      return false;
    llvm::ArrayRef<RootRead> reads =
        graph.units[graph.roots[schedule.getInstance(gap->instance).root].unit].reads;
    if (reads.empty())
      return false;
    RootIndex source = reads[random.below(reads.size())].root;
    bool isAny = false;
    for (UnitIndex reader : graph.readersOf[source])
      for (RootIndex root : graph.units[reader].outputs)
        if (std::optional<Gap> other = findGap(root))
          isAny |= closeGap(*other);
    if (!isAny)
      return false;
    takeBackFitting(/*numBlocks=*/1);
    return true;
  }

  bool changeBlocks() {
    bool isDrop = random.chance(50);
    choosePlace();
    return isDrop ? dropInBlocks() : takeBackInBlocks();
  }

  /// Drops what has the same role in several blocks, and takes clones back then.
  bool dropInBlocks() {
    std::optional<Gap> gap = drawGap();
    if (!gap)
      return false;
    RootIndex root = schedule.getInstance(gap->instance).root;
    UnitIndex unit = graph.roots[root].unit;
    const auto &outputs = graph.units[unit].outputs;
    size_t output = llvm::find(outputs, root) - outputs.begin();
    int64_t numBlocks = changeBlocks(unit, [&](const Unit &member, Random choices) {
      std::optional<Gap> alike = findGap(member.outputs[output]);
      return alike && closeGap(*alike, choices);
    });
    if (numBlocks > 0)
      takeBackFitting(numBlocks);
    return numBlocks > 0;
  }

  /// Takes clones with the same role in several blocks back, and closes gaps then.
  bool takeBackInBlocks() {
    NodeIndex drawn = drawClone();
    if (drawn == kNone)
      return false;
    int64_t numBlocks =
        changeBlocks(schedule.getNode(drawn).unit, [&](const Unit &member, const Random &) {
          NodeIndex clone = findClone(member);
          return clone != kNone && gaps.takeBack(clone);
        });
    if (numBlocks > 0)
      closeGapsUntil(excess, numBlocks);
    return numBlocks > 0;
  }

  /// Asks `change` for what has the role of `unit` in several blocks, each time with the
  /// same random numbers; it says whether it has changed anything. Returns how many blocks
  /// those are, or 0 where nothing has changed.
  int64_t changeBlocks(UnitIndex unit, llvm::function_ref<bool(const Unit &, Random)> change) {
    llvm::ArrayRef<UnitIndex> members = classes.getMembers(unit);
    int64_t numMembers = members.size();
    int64_t numBlocks = 1 + random.below(std::min(numMembers, kMaxBlocks));
    int64_t first = random.below(numMembers);
    Random choices(random.next());
    bool isAny = false;
    for (int64_t i = 0; i < numBlocks; ++i)
      isAny |= change(graph.units[members[(first + i) % numMembers]], choices);
    return isAny ? numBlocks : 0;
  }

  /// The last clone of a unit; kNone if there is none.
  NodeIndex findClone(const Unit &unit) const {
    for (RootIndex root : unit.outputs)
      for (InstanceIndex instance : llvm::reverse(schedule.getInstances(root)))
        if (NodeIndex node = schedule.getInstance(instance).definition;
            schedule.getNode(node).isClone)
          return node;
    return kNone;
  }

  /// Takes back clones that leave memory no higher than the search is now.
  void takeBackFitting(int64_t numBlocks) {
    __int128 before = excess;
    int64_t numTries = 1 + random.below(6 * numBlocks);
    for (int64_t i = 0; i < numTries; ++i) {
      int64_t state = schedule.getState();
      if (takeBack() && schedule.getExcess(options.limit) <= before)
        continue;
      schedule.restore(state);
      schedule.forgetUndone();
    }
  }

  NodeIndex drawClone() {
    int64_t numOriginals = schedule.getNumOriginals();
    int64_t numOthers = schedule.getNumKnownNodes() - numOriginals;
    for (int draw = 0; draw < kNumDraws && numOthers > 0; ++draw) {
      NodeIndex node = numOriginals + random.below(numOthers);
      if (schedule.getNode(node).slot != kNone && schedule.getNode(node).isClone)
        return node;
    }
    return kNone;
  }

  bool takeBack() {
    NodeIndex clone = drawClone();
    return clone != kNone && gaps.takeBack(clone);
  }

  bool shift() {
    NodeIndex clone = drawClone();
    if (clone == kNone)
      return false;
    switch (random.below(3)) {
    case 0:
      return nodes.serveEarlier(clone);
    case 1:
      return nodes.serveLater(clone);
    default:
      return relocate(clone);
    }
  }

  /// Takes a clone back and closes gaps until memory is as low as before.
  bool swap() {
    if (!takeBack())
      return false;
    closeGapsUntil(excess, /*numBlocks=*/1);
    return true;
  }

  /// Closes gaps until memory is as low as `before`, or some have been tried.
  void closeGapsUntil(__int128 before, int64_t numBlocks) {
    int64_t numTries = 1 + random.below(4 * numBlocks);
    for (int64_t i = 0; i < numTries; ++i) {
      excess = schedule.getExcess(options.limit);
      if (excess <= before)
        break;
      choosePlace();
      closeGap();
    }
    excess = before;
  }

  bool relocate() {
    int64_t numNodes = schedule.getNumKnownNodes();
    for (int draw = 0; draw < kNumDraws; ++draw) {
      NodeIndex node = random.below(numNodes);
      if (nodes.isMovable(node))
        return relocate(node);
    }
    return false;
  }

  bool relocate(NodeIndex node) {
    NodeIndex reader = nodes.getFirstReader(node), source = nodes.getLastSource(node);
    if (reader == kNone)
      return false;
    NodeIndex earliest = source == kNone ? nodes.getFirst(0) : nodes.getNext(source);
    switch (random.below(4)) {
    case 0:
      return nodes.relocate(node, reader);
    case 1:
      return nodes.relocate(node, earliest);
    case 2: {
      // Behind the reader before it of something that it reads last.
      const Schedule::Node &info = schedule.getNode(node);
      if (info.reads.empty())
        return false;
      InstanceIndex read = info.reads[random.below(info.reads.size())];
      const auto &uses = schedule.getInstance(read).uses;
      auto use = llvm::find(uses, node);
      NodeIndex previous = use == uses.begin() ? schedule.getReady(read) : *std::prev(use);
      NodeIndex before = nodes.getNext(previous);
      return before != kNone && nodes.relocate(node, before);
    }
    default: {
      int64_t first = schedule.getNode(earliest).slot, last = schedule.getNode(reader).slot;
      NodeIndex before = nodes.getFirst(first + random.below(last - first + 1));
      return before != kNone && nodes.relocate(node, before);
    }
    }
  }

  //===--------------------------------------------------------------------===//
  // Drawing storages
  //===--------------------------------------------------------------------===//

  /// By the square roots of their bytes: large ones matter more, small ones are many.
  void weighRoots() {
    int64_t sum = 0;
    for (auto [index, root] : llvm::enumerate(graph.roots)) {
      const Unit &unit = graph.units[root.unit];
      if (!root.isDroppable || !(unit.isCloneable || (options.reorder && unit.isMovable)))
        continue;
      int64_t weight = 1;
      while (weight * weight < root.bytes && weight < (int64_t(1) << 31))
        weight += weight;
      sum += weight;
      weighed.push_back({sum, static_cast<RootIndex>(index)});
    }
  }

  RootIndex drawRoot() {
    if (weighed.empty())
      return kNone;
    int64_t place = random.below(weighed.back().first);
    return llvm::partition_point(weighed, [&](auto &entry) { return entry.first <= place; })
        ->second;
  }

  const StorageGraph &graph;
  const AnnealOptions &options;
  const UnitClasses &classes;
  Schedule schedule;
  GapMoves gaps;
  NodeMoves nodes;
  Random random;
  /// Roots that may be dropped, with the sum of weights up to each.
  std::vector<std::pair<int64_t, RootIndex>> weighed;
  int64_t meanCost;
  /// Of a byte above the limit in one slot, in units of 2^-kScale.
  Energy price;
  Energy temperature = 0;
  __int128 excess = 0;
  int64_t numAbove = 0;
  int64_t firstEdit = 0, cycle = 0, lastReported = -1;
  Schedule::PeakPlace place;
  bool hasBest = false, bestIsInLog = false;
  int64_t bestCost = 0, bestState = 0;
  std::optional<Schedule> best;
};
} // namespace

std::optional<Schedule> mlir::remat::planner::anneal(const Problem &problem,
                                                     const StorageGraph &graph,
                                                     const UnitClasses &classes, Schedule schedule,
                                                     const AnnealOptions &options) {
  return Annealer(problem, graph, classes, std::move(schedule), options).run();
}
