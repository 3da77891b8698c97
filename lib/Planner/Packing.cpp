//===- Packing.cpp - Offsets for live ranges in one arena -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides at which offset each buffer lies. Two allocators, and a local search
// over the order in which the first of them places the buffers:
//
//   offline   Buffers in some order; each at the lowest offset that is free
//             during its whole live range. Best where a few large buffers
//             matter, as in training steps: usually optimal by decreasing size.
//   online    Buffers in the order of time, forwards or backwards, with a free
//             list; best fit. O(n log n), for any number of live buffers, and
//             the better one for many buffers of random sizes.
//   promote   When the offline allocator fails to stay below the best arena so
//             far, the buffer that stuck out moves to half its position in the
//             order, and placement starts again. A few hundred rounds bring
//             hard instances from 30 % above the bound to 10 %.
//
// Work is limited by counting visited neighbours, never by a clock.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Packing.h"
#include "Detail.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>
#include <set>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

/// A buffer with a position in time that counts distinct begins only: two
/// buffers overlap in these units if and only if they do in steps.
struct Interval {
  int64_t begin;
  int64_t end;
  /// Rounded up to the alignment, above 0.
  int64_t bytes;
};

/// The offline allocator. Time is cut into columns; each holds the intervals
/// placed so far that touch it, by offset, so that a placement looks at the
/// columns of its interval only.
class OfflineAllocator {
public:
  OfflineAllocator(llvm::ArrayRef<Interval> input, int64_t numTimes) : intervals(input) {
    // As wide as an interval is long on average: wider columns make short
    // intervals look at more that does not overlap, narrower ones make long
    // intervals look at what overlaps several times.
    int64_t length = 0;
    for (const Interval &interval : intervals)
      length += interval.end - interval.begin;
    columnWidth = std::max<int64_t>(length / std::max<int64_t>(intervals.size(), 1), 32);
    columns.resize(numTimes / columnWidth + 1);
  }

  /// Places the intervals in `order`, the first `numKept` of which are where the
  /// last call placed them. Returns the position in `order` of the first that
  /// does not end below `limit`, or the number of intervals. Gives up when
  /// `maxVisits` is used up, and returns -1.
  int64_t place(llvm::ArrayRef<int64_t> order, int64_t numKept, int64_t limit,
                std::vector<int64_t> &offsets) {
    for (std::vector<Entry> &column : columns)
      llvm::erase_if(column, [&](const Entry &entry) { return entry.position >= numKept; });
    for (int64_t position = numKept, e = order.size(); position < e; ++position) {
      if (maxVisits <= 0)
        return -1;
      const Interval &interval = intervals[order[position]];
      int64_t offset = firstFit(interval);
      if (offset + interval.bytes >= limit)
        return position;
      offsets[order[position]] = offset;
      insert(interval, offset, position);
    }
    return order.size();
  }

  /// Visits that are still allowed.
  int64_t maxVisits = 0;

private:
  struct Entry {
    int64_t offset, offsetEnd;
    int64_t begin, end;
    /// In the order of placement.
    int64_t position;
  };

  /// Moves up from offset 0. What was passed once never matters again, so each
  /// column is read once from below, and not beyond the answer.
  int64_t firstFit(const Interval &interval) {
    int64_t first = interval.begin / columnWidth, last = (interval.end - 1) / columnWidth;
    cursors.assign(last - first + 1, 0);
    int64_t offset = 0;
    bool moved = true;
    while (moved) {
      moved = false;
      for (int64_t number = first; number <= last; ++number) {
        const std::vector<Entry> &column = columns[number];
        size_t start = cursors[number - first], cursor = start;
        int64_t before = offset;
        for (; cursor < column.size() && column[cursor].offset < offset + interval.bytes;
             ++cursor) {
          const Entry &entry = column[cursor];
          bool overlaps = (entry.begin < interval.end) & (interval.begin < entry.end);
          offset = std::max(offset, overlaps ? entry.offsetEnd : 0);
        }
        cursors[number - first] = cursor;
        maxVisits -= cursor - start + 1;
        moved |= offset != before;
      }
    }
    return offset;
  }

  void insert(const Interval &interval, int64_t offset, int64_t position) {
    Entry entry{offset, offset + interval.bytes, interval.begin, interval.end, position};
    for (int64_t number = interval.begin / columnWidth, last = (interval.end - 1) / columnWidth;
         number <= last; ++number) {
      std::vector<Entry> &column = columns[number];
      column.insert(
          llvm::upper_bound(column, offset,
                            [](int64_t value, const Entry &other) { return value < other.offset; }),
          entry);
    }
  }

  llvm::ArrayRef<Interval> intervals;
  int64_t columnWidth;
  std::vector<std::vector<Entry>> columns;
  std::vector<size_t> cursors;
};

/// Free ranges of an arena that grows at its end: best fit, the lowest offset
/// of equal ones, neighbours merged.
class FreeList {
public:
  int64_t allocate(int64_t bytes) {
    auto best = bySize.lower_bound({bytes, 0});
    if (best != bySize.end()) {
      auto [size, offset] = *best;
      erase(offset, size);
      if (size > bytes)
        insert(offset + bytes, size - bytes);
      return offset;
    }
    int64_t offset = end;
    if (!byOffset.empty()) {
      auto [lastOffset, lastBytes] = *byOffset.rbegin();
      if (lastOffset + lastBytes == end) {
        offset = lastOffset;
        erase(lastOffset, lastBytes);
      }
    }
    end = offset + bytes;
    return offset;
  }

  void release(int64_t offset, int64_t bytes) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && next->first == offset + bytes) {
      bytes += next->second;
      auto following = std::next(next);
      erase(next->first, next->second);
      next = following;
    }
    if (next != byOffset.begin()) {
      auto [previous, previousBytes] = *std::prev(next);
      if (previous + previousBytes == offset) {
        offset = previous;
        bytes += previousBytes;
        erase(previous, previousBytes);
      }
    }
    insert(offset, bytes);
  }

  /// End of the arena so far, in bytes.
  int64_t end = 0;

private:
  void insert(int64_t offset, int64_t bytes) {
    byOffset.emplace(offset, bytes);
    bySize.emplace(bytes, offset);
  }
  void erase(int64_t offset, int64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }

  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
};

class Packer {
public:
  Packer(llvm::ArrayRef<Buffer> buffers, int64_t roundTo) : alignment(roundTo) {
    for (int64_t index = 0, e = buffers.size(); index < e; ++index)
      if (buffers[index].bytes > 0)
        members.push_back(index);
    compressTime(buffers);
    measure();
    best.arenaBytes = std::numeric_limits<int64_t>::max();
    best.offsets.assign(buffers.size(), 0);
  }

  /// The largest sum of live aligned bytes.
  int64_t getLowerBound() const { return lowerBound; }

  /// Whether careful placement would take too long.
  bool isTooMany(int64_t maxVisits) const { return numPairs > 3 * maxVisits; }

  Packing run(int64_t maxVisits) {
    if (members.empty())
      return {std::move(best.offsets), 0};
    // A placement visits a part of all pairs, because it stops at the first fit.
    bool offline = !isTooMany(maxVisits);
    OfflineAllocator allocator(
        offline ? llvm::ArrayRef<Interval>(intervals) : llvm::ArrayRef<Interval>(), numTimes);
    allocator.maxVisits = maxVisits;
    std::vector<int64_t> bySize = sorted([](const Interval &interval) -> Key {
      return {-interval.bytes, interval.begin - interval.end};
    });
    if (offline)
      promote(allocator, bySize, /*maxRounds=*/1);
    placeOnline(/*backwards=*/false);
    placeOnline(/*backwards=*/true);
    if (!offline || isCloseEnough())
      return std::move(best);

    // Whatever is left of the work is shared among the orders.
    int64_t shift = std::max<int64_t>(int64_t(llvm::Log2_64(lowerBound)) - 39, 0);
    std::vector<int64_t> orders[] = {
        std::move(bySize), sorted([shift](const Interval &interval) -> Key {
          // Bytes squared times length. Scaled down to 40 bits, so that it fits.
          __int128 bytes = interval.bytes >> shift;
          __int128 weight = bytes * bytes * (interval.end - interval.begin);
          return {-int64_t(weight >> 62), -int64_t(weight & ((__int128(1) << 62) - 1))};
        }),
        sorted([](const Interval &interval) -> Key {
          return {interval.begin - interval.end, -interval.bytes};
        }),
        sorted([](const Interval &interval) -> Key { return {interval.begin, -interval.bytes}; })};
    int64_t share = allocator.maxVisits / int64_t(std::size(orders));
    for (std::vector<int64_t> &order : orders) {
      allocator.maxVisits = share;
      promote(allocator, order);
    }
    return std::move(best);
  }

private:
  /// Smaller keys come first, then smaller indices.
  using Key = std::pair<int64_t, int64_t>;

  void compressTime(llvm::ArrayRef<Buffer> buffers) {
    std::vector<int64_t> begins;
    for (int64_t index : members)
      begins.push_back(buffers[index].begin);
    llvm::sort(begins);
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    numTimes = begins.size();
    auto rank = [&](int64_t time) { return llvm::lower_bound(begins, time) - begins.begin(); };
    for (int64_t index : members)
      intervals.push_back({rank(buffers[index].begin), rank(buffers[index].end),
                           align(buffers[index].bytes, alignment)});
  }

  /// The lower bound of all arenas, and the number of overlapping pairs.
  void measure() {
    std::vector<int64_t> bytes(numTimes + 1, 0), count(numTimes + 1, 0), begun(numTimes, 0);
    for (const Interval &interval : intervals) {
      bytes[interval.begin] += interval.bytes;
      bytes[interval.end] -= interval.bytes;
      ++count[interval.begin];
      --count[interval.end];
      ++begun[interval.begin];
    }
    int64_t liveBytes = 0, liveCount = 0;
    for (int64_t time = 0; time < numTimes; ++time) {
      liveBytes += bytes[time];
      lowerBound = std::max(lowerBound, liveBytes);
      liveCount += count[time];
      numPairs += begun[time] * (liveCount - begun[time]) + begun[time] * (begun[time] - 1) / 2;
    }
  }

  template <typename KeyOf>
  std::vector<int64_t> sorted(KeyOf keyOf) const {
    std::vector<std::pair<Key, int64_t>> keyed;
    keyed.reserve(intervals.size());
    for (int64_t index = 0, e = intervals.size(); index < e; ++index)
      keyed.push_back({keyOf(intervals[index]), index});
    llvm::sort(keyed);
    std::vector<int64_t> order;
    order.reserve(keyed.size());
    for (const auto &[key, index] : keyed)
      order.push_back(index);
    return order;
  }

  /// The intervals by a time in [0, numTimes], those of one time by index.
  template <typename TimeOf>
  std::vector<int64_t> sortedByTime(TimeOf timeOf) const {
    std::vector<int64_t> next(numTimes + 2, 0), order(intervals.size());
    for (int64_t index = 0, e = intervals.size(); index < e; ++index)
      ++next[timeOf(index) + 1];
    for (int64_t time = 0; time <= numTimes; ++time)
      next[time + 1] += next[time];
    for (int64_t index = 0, e = intervals.size(); index < e; ++index)
      order[next[timeOf(index)]++] = index;
    return order;
  }

  bool isOptimal() const { return best.arenaBytes == lowerBound; }

  /// Whether more work is not worth it: a 4096th above the bound.
  bool isCloseEnough() const { return best.arenaBytes - lowerBound <= lowerBound >> 12; }

  void keep(llvm::ArrayRef<int64_t> offsets) {
    int64_t arena = 0;
    for (auto [interval, offset] : llvm::zip_equal(intervals, offsets))
      arena = std::max(arena, offset + interval.bytes);
    if (arena >= best.arenaBytes)
      return;
    best.arenaBytes = arena;
    for (auto [member, offset] : llvm::zip_equal(members, offsets))
      best.offsets[member] = offset;
  }

  void placeOnline(bool backwards) {
    if (isOptimal())
      return;
    // Backwards is forwards on the mirrored intervals.
    auto begin = [&](int64_t index) {
      return backwards ? numTimes - intervals[index].end : intervals[index].begin;
    };
    auto end = [&](int64_t index) {
      return backwards ? numTimes - intervals[index].begin : intervals[index].end;
    };
    std::vector<int64_t> starts = sortedByTime(begin), ends = sortedByTime(end);
    // Of those that begin together the largest goes first.
    for (auto first = starts.begin(); first != starts.end();) {
      auto last = std::find_if(first, starts.end(),
                               [&](int64_t index) { return begin(index) != begin(*first); });
      std::sort(first, last, [&](int64_t a, int64_t b) {
        return intervals[a].bytes != intervals[b].bytes ? intervals[a].bytes > intervals[b].bytes
                                                        : a < b;
      });
      first = last;
    }
    std::vector<int64_t> offsets(intervals.size());
    FreeList list;
    size_t nextEnd = 0;
    for (int64_t index : starts) {
      for (; end(ends[nextEnd]) <= begin(index); ++nextEnd)
        list.release(offsets[ends[nextEnd]], intervals[ends[nextEnd]].bytes);
      offsets[index] = list.allocate(intervals[index].bytes);
    }
    keep(offsets);
  }

  /// Places in `order` and improves it, until the work is used up.
  void promote(OfflineAllocator &allocator, std::vector<int64_t> &order,
               int64_t maxRounds = std::numeric_limits<int64_t>::max()) {
    std::vector<int64_t> offsets(intervals.size());
    int64_t numKept = 0;
    for (int64_t round = 0; round < maxRounds && !isCloseEnough(); ++round) {
      int64_t position = allocator.place(order, numKept, best.arenaBytes, offsets);
      if (position < 0)
        return;
      if (position == int64_t(order.size())) {
        keep(offsets);
        // The same again, to see what sticks out now.
        numKept = 0;
        continue;
      }
      if (position == 0)
        return; // One buffer alone is the arena.
      numKept = position / 2;
      auto first = order.begin() + numKept;
      std::rotate(first, order.begin() + position, order.begin() + position + 1);
    }
  }

  int64_t alignment;
  /// The buffers that are not empty, and the same as intervals.
  std::vector<int64_t> members;
  std::vector<Interval> intervals;
  int64_t numTimes = 0, lowerBound = 0, numPairs = 0;
  Packing best;
};

/// Buffers in an order and at times that only depend on who overlaps whom, so that the same
/// buffers are placed the same way in a plan, in the function that it leads to, and in the
/// code that becomes of that, which have more operations in between.
struct OrderedBuffers {
  /// Without the empty ones. Times count the sets of buffers, one after the other, that are
  /// all live at once and that no other is live with all of.
  std::vector<Buffer> buffers;
  /// Of each: its place in the list that was given.
  std::vector<int64_t> places;

  explicit OrderedBuffers(llvm::ArrayRef<Buffer> given) {
    std::vector<int64_t> ends;
    for (auto [place, buffer] : llvm::enumerate(given)) {
      if (buffer.bytes == 0)
        continue;
      places.push_back(place);
      ends.push_back(buffer.end);
    }
    llvm::sort(ends);
    llvm::sort(places, [&](int64_t a, int64_t b) {
      return std::make_tuple(given[a].begin, a) < std::make_tuple(given[b].begin, b);
    });
    // A set is complete when a buffer ends.
    std::vector<int64_t> firstBegins;
    auto nextEnd = ends.begin();
    for (int64_t place : places) {
      auto passed = std::upper_bound(nextEnd, ends.end(), given[place].begin);
      if (firstBegins.empty() || passed != nextEnd)
        firstBegins.push_back(given[place].begin);
      nextEnd = passed;
      buffers.push_back(
          {static_cast<int64_t>(firstBegins.size()) - 1, given[place].end, given[place].bytes});
    }
    for (Buffer &buffer : buffers)
      buffer.end = llvm::lower_bound(firstBegins, buffer.end) - firstBegins.begin();
    std::vector<int64_t> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](int64_t a, int64_t b) {
      auto key = [&](int64_t k) {
        return std::make_tuple(buffers[k].begin, buffers[k].end, buffers[k].bytes, places[k]);
      };
      return key(a) < key(b);
    });
    std::vector<Buffer> unordered = std::move(buffers);
    std::vector<int64_t> unorderedPlaces = std::move(places);
    buffers.clear();
    places.clear();
    for (int64_t k : order) {
      buffers.push_back(unordered[k]);
      places.push_back(unorderedPlaces[k]);
    }
  }
};

Packing packOrdered(llvm::ArrayRef<Buffer> buffers, int64_t alignment, int64_t maxVisits) {
  Packer packer(buffers, alignment);
  bool isTooMany = packer.isTooMany(maxVisits);
  Packing best = packer.run(maxVisits);
  if (!isTooMany)
    return best;

  // Too many pairs for careful placement: place the few large buffers carefully,
  // and the small ones above them.
  int64_t largest = 0;
  for (const Buffer &buffer : buffers)
    largest = std::max(largest, buffer.bytes);
  std::vector<Buffer> parts[2];
  std::vector<int64_t> members[2];
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    bool isSmall = buffer.bytes < largest / 1024;
    parts[isSmall].push_back(buffer);
    members[isSmall].push_back(index);
  }
  if (parts[1].empty())
    return best;
  Packing split;
  split.offsets.resize(buffers.size());
  for (int part = 0; part < 2; ++part) {
    Packing packing = Packer(parts[part], alignment).run(maxVisits);
    for (auto [index, offset] : llvm::zip_equal(members[part], packing.offsets))
      split.offsets[index] = buffers[index].bytes ? split.arenaBytes + offset : 0;
    split.arenaBytes += packing.arenaBytes;
  }
  return split.arenaBytes < best.arenaBytes ? split : best;
}

} // namespace

Packing mlir::remat::planner::packBestFit(llvm::ArrayRef<Buffer> buffers, int64_t alignment,
                                          int64_t maxVisits) {
  OrderedBuffers ordered(buffers);
  Packing packing = packOrdered(ordered.buffers, alignment, maxVisits), result;
  result.arenaBytes = packing.arenaBytes;
  result.offsets.resize(buffers.size());
  for (auto [place, offset] : llvm::zip_equal(ordered.places, packing.offsets))
    result.offsets[place] = offset;
  return result;
}

llvm::Error mlir::remat::planner::verifyPacking(llvm::ArrayRef<Buffer> buffers, int64_t alignment,
                                                const Packing &packing) {
  if (packing.offsets.size() != buffers.size())
    return makeError("expected {0} offsets, but got {1}", buffers.size(), packing.offsets.size());
  if (packing.arenaBytes < 0 || packing.arenaBytes % alignment)
    return makeError("the arena of {0} bytes is not a multiple of {1} bytes", packing.arenaBytes,
                     alignment);
  for (auto [number, offset] : llvm::enumerate(packing.offsets)) {
    if (offset < 0 || offset % alignment)
      return makeError("buffer {0} is at offset {1}, which is not a multiple of {2} bytes", number,
                       offset, alignment);
    if (offset > packing.arenaBytes || buffers[number].bytes > packing.arenaBytes - offset)
      return makeError("buffer {0} of {1} bytes at offset {2} exceeds the arena of {3} bytes",
                       number, buffers[number].bytes, offset, packing.arenaBytes);
  }

  // Sweeps over time with the live buffers by offset: whoever overlaps somebody
  // overlaps a neighbour, because the others do not overlap each other.
  std::vector<int64_t> starts, ends;
  for (int64_t index = 0, e = buffers.size(); index < e; ++index)
    if (buffers[index].bytes > 0)
      starts.push_back(index);
  ends = starts;
  llvm::stable_sort(starts,
                    [&](int64_t a, int64_t b) { return buffers[a].begin < buffers[b].begin; });
  llvm::stable_sort(ends, [&](int64_t a, int64_t b) { return buffers[a].end < buffers[b].end; });
  std::map<int64_t, int64_t> live;
  size_t nextEnd = 0;
  for (int64_t index : starts) {
    for (; buffers[ends[nextEnd]].end <= buffers[index].begin; ++nextEnd)
      live.erase(packing.offsets[ends[nextEnd]]);
    int64_t offset = packing.offsets[index];
    auto next = live.lower_bound(offset);
    int64_t other = -1;
    if (next != live.end() && next->first < offset + buffers[index].bytes)
      other = next->second;
    else if (next != live.begin() &&
             packing.offsets[std::prev(next)->second] + buffers[std::prev(next)->second].bytes >
                 offset)
      other = std::prev(next)->second;
    if (other >= 0)
      return makeError("buffers {0} and {1} overlap at offset {2}", std::min(index, other),
                       std::max(index, other), std::max(offset, packing.offsets[other]));
    live.emplace(offset, index);
  }
  return llvm::Error::success();
}

/// Best fit, and for few buffers a short exact search where that is clearly above
/// the lower bound.
static Packing packShortly(llvm::ArrayRef<Buffer> buffers, int64_t alignment, int64_t maxVisits) {
  constexpr size_t kMaxExactBuffers = 128;
  Packing packing = packBestFit(buffers, alignment, maxVisits);
  if (buffers.size() > kMaxExactBuffers)
    return packing;
  int64_t bound = Packer(buffers, alignment).getLowerBound();
  if (bound > kMaxPackingCapacity || packing.arenaBytes - bound <= bound >> 12)
    return packing;
  std::optional<Packing> exact = packWithin(buffers, alignment, bound, maxVisits / 8);
  return exact ? std::move(*exact) : packing;
}

PackedPlan mlir::remat::planner::pack(const Problem &problem, const Plan &plan,
                                      const Simulation &simulation, int64_t maxVisits) {
  std::vector<Buffer> buffers;
  for (const Storage &storage : simulation.storages)
    if (!storage.isBoundary)
      buffers.push_back({storage.begin, storage.end, storage.bytes});
  auto getWorkspace = [&](const Step &step) {
    return getVariant(problem.operations[step.op], step.variant).workspace;
  };
  for (StepIndex index = 0, e = plan.steps.size(); index < e; ++index)
    if (int64_t bytes = getWorkspace(plan.steps[index]))
      buffers.push_back({index, index + 1, bytes});
  Packing packing = packShortly(buffers, problem.alignment, maxVisits);

  PackedPlan result;
  auto next = packing.offsets.begin();
  for (const Storage &storage : simulation.storages)
    result.offsets.push_back(storage.isBoundary ? 0 : *next++);
  for (const Step &step : plan.steps)
    result.workspaceOffsets.push_back(getWorkspace(step) ? *next++ : 0);
  result.arenaBytes = packing.arenaBytes;
  result.packedBytes = simulation.boundaryBytes + packing.arenaBytes;
  return result;
}
