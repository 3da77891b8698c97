//===- PackExact.cpp - Exact search for offsets within a capacity -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether buffers with fixed live ranges fit in a capacity. After
// Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
// Machine Learning" (ASPLOS 2023): buffers are placed from below, lower bounds
// per section of time prune after every placement, and parts of the time that
// no open buffer connects are solved on their own.
//
// A section is a largest set of buffers that are live together. Each has a
// floor, below which no open buffer of it may lie:
//
//   offset  ^  capacity ------------------------------
//           |           open buffers of the section
//           |     ______ floor      ______
//           |    | a    |__________| c    |
//           |    |______| b        |______|     -> time
//
// If anything fits, then also a solution in which no buffer can be moved down.
// Looking for that one, each decision takes a section: either one of the open
// buffers that may begin at the floor does, or none does, and then each of them
// lies on an open buffer. A section may be taken if none of these buffers can
// have an open buffer below it.
//
// Each section is a machine with jobs: the sizes are times, and the least
// offsets release times. Where the jobs end too late, the decision is wrong; and
// a job after which a set of other jobs would end too late is not before all of
// them ("not first": Carlier and Pinson, "An algorithm for solving the job-shop
// problem", Management Science 1989; here with one deadline for all jobs).
//
// The section with the fewest options is taken, and of equal ones the one whose
// bound failed most often (Boussemart et al., "Boosting systematic search by
// weighting constraints", ECAI 2004). The search starts again with a larger
// limit, another order of the options and the weights learned so far, until it
// ends or the work is used up.
//
//===----------------------------------------------------------------------===//

#include "Detail.h"
#include "Remat/Planner/Packing.h"
#include <array>
#include <numeric>
#include <random>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();
/// Members of all sections together, and decisions that build on each other:
/// limits of memory.
constexpr int64_t kMaxMembers = int64_t(1) << 24, kMaxDepth = int64_t(1) << 20;

/// A buffer that is not empty: live in the sections [begin, end).
struct Block {
  int64_t begin;
  int64_t end;
  /// In units of the alignment, from 1 to the capacity.
  int64_t size;
  /// In units of time.
  double length;
};

enum class Outcome { Yes, No, Limit };

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

/// Floors, least offsets and open blocks, with the bounds that follow from them.
/// Everything can be undone, the last change first.
class Sections {
public:
  /// The blocks of each section must add up to at most `capacity`.
  Sections(llvm::ArrayRef<Block> input, int64_t count, int64_t maxSize)
      : blocks(input), capacity(maxSize), floor(count, 0), openSize(count, 0), numOpen(count, 0),
        weight(count, 1), first(count + 1, 0), leastEnds(count), isQueued(count, false) {
    for (const Block &block : blocks)
      for (int64_t section = block.begin; section < block.end; ++section)
        ++first[section + 1];
    for (int64_t section = 0; section < count; ++section)
      first[section + 1] += first[section];
    members.resize(first.back());
    position.reserve(members.size());
    for (int64_t index = 0, e = blocks.size(); index < e; ++index) {
      firstPosition.push_back(position.size());
      for (int64_t section = blocks[index].begin; section < blocks[index].end; ++section) {
        position.push_back(numOpen[section]);
        members[first[section] + numOpen[section]++] = index;
        openSize[section] += blocks[index].size;
      }
    }
    offset.assign(blocks.size(), 0);
    for (int64_t section = 0; section < count; ++section)
      enqueue(section);
  }

  int64_t numSections() const { return floor.size(); }
  llvm::ArrayRef<int64_t> openBlocks(int64_t section) const {
    return {members.data() + first[section], size_t(numOpen[section])};
  }
  /// What may be wasted above the floor.
  int64_t slack(int64_t section) const { return capacity - floor[section] - openSize[section]; }

  /// Number of changes so far, and back to that number.
  size_t mark() const { return trail.size(); }
  void undo(size_t mark);

  /// Places a block at its least offset: no open block can be below it.
  void place(int64_t index);
  /// Raises the least offset of an open block.
  void raise(int64_t index, int64_t least);
  /// Draws all conclusions: No if no solution is left.
  Outcome propagate();

  /// Smallest sums of least offset and size of the open blocks of a section.
  struct LeastEnds {
    int64_t smallest = kInfinity, second = kInfinity, block = -1;
  };
  void findLeastEnds(int64_t section);
  /// Whether no open block can be below this one at its least offset.
  bool isSafe(int64_t index) const;
  /// The least offset on top of another open block, kInfinity without one.
  int64_t leastOffsetAbove(int64_t index) const;

  llvm::ArrayRef<Block> blocks;
  const int64_t capacity;
  /// By section.
  std::vector<int64_t> floor, openSize, numOpen;
  /// One more than the number of failures of the section's bounds.
  std::vector<int64_t> weight;
  /// By block: the least offset, or the final one of a placed block.
  std::vector<int64_t> offset;
  /// Looks at members of sections that are still allowed.
  int64_t maxVisits = 0;

private:
  enum class Change { Offset, Floor, Placement };
  struct Entry {
    Change change;
    int64_t index, before;
  };

  void enqueue(int64_t section) {
    if (isQueued[section])
      return;
    isQueued[section] = true;
    queue.push_back(section);
  }
  void raiseFloor(int64_t section, int64_t least);
  bool checkSection(int64_t section);
  bool raiseThoseNotFirst(int64_t section);

  /// The members of a section, the open ones first; where a block is in each of
  /// its sections.
  std::vector<int64_t> first, members, firstPosition, position;
  std::vector<LeastEnds> leastEnds;
  std::vector<Entry> trail;
  std::vector<int64_t> queue;
  std::vector<bool> isQueued;
  /// Scratch of checkSection: end or offset and block, in order; sums of sizes.
  std::vector<std::pair<int64_t, int64_t>> order;
  std::vector<int64_t> sums;
};

void Sections::undo(size_t mark) {
  for (; trail.size() > mark; trail.pop_back()) {
    const Entry &entry = trail.back();
    if (entry.change == Change::Offset) {
      offset[entry.index] = entry.before;
    } else if (entry.change == Change::Floor) {
      floor[entry.index] = entry.before;
    } else {
      // It is directly behind the open ones.
      const Block &block = blocks[entry.index];
      for (int64_t section = block.begin; section < block.end; ++section) {
        ++numOpen[section];
        openSize[section] += block.size;
      }
    }
  }
}

void Sections::raise(int64_t index, int64_t least) {
  if (least <= offset[index])
    return;
  trail.push_back({Change::Offset, index, offset[index]});
  offset[index] = least;
  const Block &block = blocks[index];
  maxVisits -= block.end - block.begin;
  for (int64_t section = block.begin; section < block.end; ++section)
    enqueue(section);
}

void Sections::raiseFloor(int64_t section, int64_t least) {
  if (least <= floor[section])
    return;
  trail.push_back({Change::Floor, section, floor[section]});
  floor[section] = least;
  maxVisits -= numOpen[section];
  for (int64_t index : openBlocks(section))
    raise(index, least);
}

void Sections::place(int64_t index) {
  trail.push_back({Change::Placement, index, 0});
  const Block &block = blocks[index];
  auto positionIn = [&](int64_t member, int64_t section) -> int64_t & {
    return position[firstPosition[member] + section - blocks[member].begin];
  };
  maxVisits -= block.end - block.begin;
  for (int64_t section = block.begin; section < block.end; ++section) {
    int64_t here = positionIn(index, section), last = --numOpen[section];
    int64_t other = members[first[section] + last];
    std::swap(members[first[section] + here], members[first[section] + last]);
    positionIn(other, section) = here;
    positionIn(index, section) = last;
    openSize[section] -= block.size;
    enqueue(section);
  }
  for (int64_t section = block.begin; section < block.end; ++section)
    raiseFloor(section, offset[index] + block.size);
}

Outcome Sections::propagate() {
  Outcome outcome = Outcome::Yes;
  size_t next = 0;
  while (next < queue.size() && outcome == Outcome::Yes) {
    int64_t section = queue[next++];
    isQueued[section] = false;
    if (maxVisits < 0) {
      outcome = Outcome::Limit;
    } else if (!checkSection(section)) {
      outcome = Outcome::No;
      ++weight[section];
    }
  }
  for (; next < queue.size(); ++next)
    isQueued[queue[next]] = false;
  queue.clear();
  return outcome;
}

/// Raises the floor, and the blocks that cannot be the first above it. Returns
/// false if the open blocks do not fit.
bool Sections::checkSection(int64_t section) {
  if (numOpen[section] == 0)
    return true;
  int64_t least = kInfinity;
  for (int64_t index : openBlocks(section))
    least = std::min(least, offset[index]);
  raiseFloor(section, least);
  if (slack(section) < 0)
    return false;

  // One above the other, those with the least offset first.
  maxVisits -= 2 * numOpen[section];
  order.clear();
  for (int64_t index : openBlocks(section))
    order.push_back({offset[index], index});
  llvm::sort(order);
  int64_t top = 0;
  for (auto [start, index] : order) {
    top = std::max(top, start) + blocks[index].size;
    if (top > capacity)
      return false;
  }
  return raiseThoseNotFirst(section);
}

/// A block is not below all blocks of a set if they would not fit above it. Then
/// it is above one of them, at least above the lowest end of the set. The set
/// that says most has the highest ends.
bool Sections::raiseThoseNotFirst(int64_t section) {
  order.clear();
  for (int64_t index : openBlocks(section))
    order.push_back({-(offset[index] + blocks[index].size), index});
  llvm::sort(order);
  sums.assign(1, 0);
  for (auto [end, index] : order)
    sums.push_back(sums.back() + blocks[index].size);
  for (auto [number, entry] : llvm::enumerate(order)) {
    int64_t index = entry.second, size = blocks[index].size;
    // The shortest prefix without the block itself that exceeds this.
    int64_t room = capacity - offset[index] - size;
    auto own = sums.begin() + number + 1;
    auto found = std::upper_bound(sums.begin(), own, room);
    if (found == own)
      found = std::upper_bound(own, sums.end(), room + size);
    if (found == sums.end())
      continue;
    if (found == sums.begin())
      return false;
    raise(index, -order[found - sums.begin() - 1].first);
  }
  return true;
}

void Sections::findLeastEnds(int64_t section) {
  LeastEnds ends;
  for (int64_t index : openBlocks(section)) {
    int64_t end = offset[index] + blocks[index].size;
    if (end < ends.smallest) {
      ends.second = ends.smallest;
      ends.smallest = end;
      ends.block = index;
    } else {
      ends.second = std::min(ends.second, end);
    }
  }
  leastEnds[section] = ends;
}

bool Sections::isSafe(int64_t index) const {
  for (int64_t section = blocks[index].begin; section < blocks[index].end; ++section)
    if (leastEnds[section].smallest <= offset[index])
      return false;
  return true;
}

int64_t Sections::leastOffsetAbove(int64_t index) const {
  int64_t least = kInfinity;
  for (int64_t section = blocks[index].begin; section < blocks[index].end; ++section) {
    const LeastEnds &ends = leastEnds[section];
    least = std::min(least, ends.block == index ? ends.second : ends.smallest);
  }
  return least;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

class Search {
public:
  Search(Sections &state) : sections(state) {
    for (const Block &block : sections.blocks) {
      auto live =
          llvm::ArrayRef<int64_t>(sections.openSize).slice(block.begin, block.end - block.begin);
      largestLive.push_back(*std::max_element(live.begin(), live.end()));
    }
  }

  Outcome run() {
    Outcome outcome = sections.propagate();
    if (outcome != Outcome::Yes)
      return outcome;
    size_t root = sections.mark();
    // Orders and rules take turns; the limit grows by a tenth each time around.
    int64_t limit = 4 * sections.blocks.size();
    for (int64_t round = 0;; ++round) {
      rankBlocks(round);
      prefersWeight = round % 2 == 1;
      numNodesLeft = limit;
      outcome = searchOnce();
      if (outcome != Outcome::Limit || sections.maxVisits < 0)
        return outcome;
      sections.undo(root);
      if ((round + 1) % kNumTurns == 0)
        limit += limit / 10 + 1;
    }
  }

private:
  static constexpr int64_t kNumTurns = 8;
  /// The option that no block begins at the floor.
  static constexpr int64_t kNoBlock = -1;

  /// The sections [begin, end), connected by open blocks.
  struct Part {
    int64_t begin, end;
    /// The decision that separated it, -1 for the start.
    int64_t decision;
    /// The next part to solve, -1 for none.
    int64_t next;
  };
  struct Decision {
    Part part;
    int64_t section = -1;
    llvm::SmallVector<int64_t, 4> options;
    size_t nextOption = 0;
    /// The state before it.
    size_t mark, numParts;
  };

  void rankBlocks(int64_t round);
  Outcome searchOnce();
  Outcome tryNext(int64_t number);
  void excludeAll(const Part &part, int64_t section);
  int64_t addParts(int64_t begin, int64_t end, int64_t decision, int64_t next);
  void choose(Decision &decision);

  Sections &sections;
  /// By block: the largest size of what is live together with it.
  std::vector<int64_t> largestLive;
  /// By block: the position in the order in which options are tried.
  std::vector<int64_t> rank;
  /// Whether failures count only between sections with equally many options.
  bool prefersWeight = false;
  int64_t numNodesLeft = 0;
  std::vector<Decision> decisions;
  /// The parts still to solve are a list from `nextPart`.
  std::vector<Part> parts;
  int64_t nextPart = -1;
};

/// By length, total and area, as MiniMalloc does; with up to 5 % of noise from
/// the second time around, so that no two rounds are alike.
void Search::rankBlocks(int64_t round) {
  std::minstd_rand random(round + 1);
  auto disturb = [&](double value) {
    return round < kNumTurns ? value : value * double(950 + random() % 101);
  };
  std::vector<std::pair<std::array<double, 3>, int64_t>> keyed;
  for (auto [index, block] : llvm::enumerate(sections.blocks)) {
    double length = disturb(-block.length), total = disturb(-double(largestLive[index]));
    double area = disturb(-block.length * double(block.size));
    std::array<double, 3> keys[] = {
        {length, area, total}, {total, area, length}, {total, length, area}, {area, length, total}};
    keyed.push_back({keys[round / 2 % 4], index});
  }
  llvm::sort(keyed);
  rank.resize(keyed.size());
  for (auto [position, entry] : llvm::enumerate(keyed))
    rank[entry.second] = position;
}

Outcome Search::searchOnce() {
  decisions.clear();
  parts.clear();
  nextPart = addParts(0, sections.numSections(), /*decision=*/-1, /*next=*/-1);
  while (nextPart >= 0) {
    if (int64_t(decisions.size()) == kMaxDepth) {
      sections.maxVisits = -1;
      return Outcome::Limit;
    }
    Decision decision;
    decision.part = parts[nextPart];
    decision.mark = sections.mark();
    decision.numParts = parts.size();
    choose(decision);
    decisions.push_back(std::move(decision));
    // Back to the last decision that can be made otherwise. Parts that were
    // solved in between have nothing to do with a part that failed.
    for (int64_t number = decisions.size() - 1;;) {
      Outcome outcome = tryNext(number);
      if (outcome == Outcome::Yes)
        break;
      if (outcome == Outcome::Limit)
        return outcome;
      if (decisions[number].nextOption == decisions[number].options.size())
        number = decisions[number].part.decision;
      if (number < 0)
        return Outcome::No;
    }
  }
  return Outcome::Yes;
}

/// Takes the next option of a decision, and takes back what came after the last
/// one.
Outcome Search::tryNext(int64_t number) {
  decisions.resize(number + 1);
  Decision &decision = decisions[number];
  sections.undo(decision.mark);
  parts.resize(decision.numParts);
  if (decision.nextOption == decision.options.size())
    return Outcome::No;
  if (--numNodesLeft < 0 || sections.maxVisits < 0)
    return Outcome::Limit;
  int64_t option = decision.options[decision.nextOption++];
  if (option == kNoBlock)
    excludeAll(decision.part, decision.section);
  else
    sections.place(option);
  Outcome outcome = sections.propagate();
  if (outcome == Outcome::Yes)
    nextPart = addParts(decision.part.begin, decision.part.end, number, decision.part.next);
  return outcome;
}

/// No open block begins at the floor of the section: each that could lies on an
/// open block instead.
void Search::excludeAll(const Part &part, int64_t section) {
  for (int64_t other = part.begin; other < part.end; ++other) {
    sections.maxVisits -= sections.numOpen[other];
    sections.findLeastEnds(other);
  }
  int64_t floor = sections.floor[section];
  for (int64_t index : sections.openBlocks(section))
    if (sections.offset[index] == floor)
      sections.raise(index, sections.leastOffsetAbove(index));
}

/// Cuts [begin, end) where no open block goes across, and puts the parts before
/// `next`, the one with the least slack first. Returns the first.
int64_t Search::addParts(int64_t begin, int64_t end, int64_t decision, int64_t next) {
  llvm::SmallVector<std::pair<int64_t, Part>, 4> found;
  for (int64_t section = begin; section < end;) {
    if (sections.numOpen[section] == 0) {
      ++section;
      continue;
    }
    Part part{section, section + 1, decision, -1};
    int64_t slack = kInfinity;
    for (; section < part.end; ++section) {
      sections.maxVisits -= sections.numOpen[section];
      slack = std::min(slack, sections.slack(section));
      for (int64_t index : sections.openBlocks(section))
        part.end = std::max(part.end, sections.blocks[index].end);
    }
    found.push_back({slack, part});
  }
  llvm::stable_sort(found, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (auto &[slack, part] : found) {
    part.next = next;
    next = parts.size();
    parts.push_back(part);
  }
  return next;
}

/// Finds a section for the next decision, and its options. There is one: that
/// with the lowest floor can be taken.
void Search::choose(Decision &decision) {
  const Part &part = decision.part;
  for (int64_t section = part.begin; section < part.end; ++section) {
    sections.maxVisits -= 2 * sections.numOpen[section];
    sections.findLeastEnds(section);
  }
  int64_t bestCount = kInfinity, bestWeight = 0, bestSlack = 0;
  llvm::SmallVector<int64_t, 16> options;
  for (int64_t section = part.begin; section < part.end; ++section) {
    if (sections.numOpen[section] == 0)
      continue;
    int64_t floor = sections.floor[section], nextFloor = kInfinity;
    options.clear();
    bool isSafe = true;
    for (int64_t index : sections.openBlocks(section)) {
      int64_t least = sections.offset[index];
      if (least == floor) {
        sections.maxVisits -= sections.blocks[index].end - sections.blocks[index].begin;
        isSafe = sections.isSafe(index);
        if (!isSafe)
          break;
        options.push_back(index);
        least = sections.leastOffsetAbove(index);
      }
      nextFloor = std::min(nextFloor, least);
    }
    if (!isSafe)
      continue;
    if (nextFloor <= sections.capacity - sections.openSize[section])
      options.push_back(kNoBlock);

    int64_t count = options.size(), weight = sections.weight[section];
    int64_t slack = sections.slack(section);
    // Ties: less slack, then the earlier section.
    bool isBetter;
    if (count == 1 || bestCount == 1)
      isBetter = count < bestCount;
    else if (bestCount == kInfinity)
      isBetter = true;
    else if (prefersWeight)
      isBetter = std::make_tuple(count, -weight, slack) <
                 std::make_tuple(bestCount, -bestWeight, bestSlack);
    else
      isBetter =
          std::make_pair(count * bestWeight, slack) < std::make_pair(bestCount * weight, bestSlack);
    if (!isBetter)
      continue;
    bestCount = count;
    bestWeight = weight;
    bestSlack = slack;
    decision.section = section;
    decision.options.assign(options.begin(), options.end());
    if (count == 1)
      break;
  }
  // Blocks by rank, then none.
  llvm::sort(decision.options, [&](int64_t a, int64_t b) {
    return a != kNoBlock && (b == kNoBlock || rank[a] < rank[b]);
  });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The buffers that are not empty as blocks, with time cut into sections.
class Sectioning {
public:
  Sectioning(llvm::ArrayRef<Buffer> buffers, int64_t alignment) {
    // Of a section that is part of its neighbour, nothing has to be known: a
    // section ends where a buffer ends after one has begun.
    std::vector<std::tuple<int64_t, bool, int64_t>> events;
    for (auto [index, buffer] : llvm::enumerate(buffers)) {
      if (buffer.bytes == 0)
        continue;
      events.push_back({buffer.begin, true, int64_t(members.size())});
      events.push_back({buffer.end, false, int64_t(members.size())});
      members.push_back(index);
      blocks.push_back(
          {0, 0, (buffer.bytes - 1) / alignment + 1, double(buffer.end) - double(buffer.begin)});
    }
    llvm::sort(events);
    bool hasBegun = false;
    for (auto [time, begins, index] : events) {
      numSections += !begins && hasBegun;
      hasBegun = begins;
      (begins ? blocks[index].begin : blocks[index].end) = numSections;
    }
  }

  /// Whether the live blocks add up to more than `capacity` at some time.
  bool exceeds(int64_t capacity) const {
    std::vector<int64_t> begun(blocks.size());
    std::iota(begun.begin(), begun.end(), 0);
    std::vector<int64_t> ended = begun;
    llvm::sort(begun, [&](int64_t a, int64_t b) { return blocks[a].begin < blocks[b].begin; });
    llvm::sort(ended, [&](int64_t a, int64_t b) { return blocks[a].end < blocks[b].end; });
    int64_t live = 0;
    size_t nextEnd = 0;
    for (int64_t index : begun) {
      for (; blocks[ended[nextEnd]].end <= blocks[index].begin; ++nextEnd)
        live -= blocks[ended[nextEnd]].size;
      if (blocks[index].size > capacity - live)
        return true;
      live += blocks[index].size;
    }
    return false;
  }

  /// Members of all sections together, at most a little above `limit`.
  int64_t countMembers(int64_t limit) const {
    int64_t count = 0;
    for (const Block &block : blocks) {
      if (count > limit)
        break;
      count += block.end - block.begin;
    }
    return count;
  }

  /// By block: its buffer.
  std::vector<int64_t> members;
  std::vector<Block> blocks;
  int64_t numSections = 0;
};

} // namespace

std::optional<Packing> mlir::remat::planner::packWithin(llvm::ArrayRef<Buffer> buffers,
                                                        int64_t alignment, int64_t capacity,
                                                        int64_t maxVisits, bool *isComplete) {
  assert(alignment > 0 && capacity >= 0 && capacity <= kMaxPackingCapacity);
  bool ignored;
  bool &complete = isComplete ? *isComplete : ignored;
  complete = true;
  Sectioning sectioning(buffers, alignment);
  int64_t numUnits = capacity / alignment;
  if (sectioning.exceeds(numUnits))
    return std::nullopt;
  int64_t maxMembers = std::min(maxVisits, kMaxMembers);
  if (sectioning.countMembers(maxMembers) > maxMembers) {
    complete = false;
    return std::nullopt;
  }
  Sections sections(sectioning.blocks, sectioning.numSections, numUnits);
  sections.maxVisits = maxVisits;
  Outcome outcome = Search(sections).run();
  complete = outcome != Outcome::Limit;
  if (outcome != Outcome::Yes)
    return std::nullopt;

  Packing packing;
  packing.offsets.assign(buffers.size(), 0);
  int64_t top = 0;
  for (auto [number, index] : llvm::enumerate(sectioning.members)) {
    int64_t offset = sections.offset[number];
    packing.offsets[index] = offset * alignment;
    top = std::max(top, offset + sectioning.blocks[number].size);
  }
  packing.arenaBytes = top * alignment;
  return packing;
}
