//===- PackExactTest.cpp - Exact search for offsets -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "Remat/Planner/Packing.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

using Buffers = std::vector<Buffer>;

bool overlap(const Buffer &a, const Buffer &b) {
  return a.bytes > 0 && b.bytes > 0 && a.begin < b.end && b.begin < a.end;
}

/// The smallest arena: first fit in the best of all orders.
int64_t optimalArena(const Buffers &buffers, int64_t alignment) {
  std::vector<size_t> order;
  for (size_t k = 0; k < buffers.size(); ++k)
    order.push_back(k);
  int64_t best = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> ends(buffers.size(), -1);
    int64_t arena = 0;
    for (size_t k : order) {
      int64_t bytes = align(buffers[k].bytes, alignment), offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t other = 0; other < buffers.size(); ++other)
          if (ends[other] > offset && overlap(buffers[k], buffers[other]) &&
              ends[other] - align(buffers[other].bytes, alignment) < offset + bytes) {
            offset = ends[other];
            moved = true;
          }
      }
      ends[k] = offset + bytes;
      if (bytes > 0)
        arena = std::max(arena, ends[k]);
    }
    best = std::min(best, arena);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

enum class Answer { Fits, Proof, Limit };

/// What the search says; checks the packing.
Answer search(const Buffers &buffers, int64_t alignment, int64_t capacity,
              int64_t maxVisits = 10'000'000) {
  bool isComplete = false;
  std::optional<Packing> packing = packWithin(buffers, alignment, capacity, maxVisits, &isComplete);
  if (!packing)
    return isComplete ? Answer::Proof : Answer::Limit;
  EXPECT_EQ(llvm::toString(verifyPacking(buffers, alignment, *packing)), "");
  EXPECT_LE(packing->arenaBytes, capacity);
  EXPECT_TRUE(isComplete);
  return Answer::Fits;
}

/// Rectangles that fill `width` steps by `height` bytes: random guillotine cuts.
void cut(Random &random, Buffers &buffers, int64_t begin, int64_t end, int64_t height,
         int64_t depth) {
  if (depth > 0 && random.below(2) && end - begin > 1) {
    int64_t middle = random.between(begin + 1, end - 1);
    cut(random, buffers, begin, middle, height, depth - 1);
    cut(random, buffers, middle, end, height, depth - 1);
  } else if (depth > 0 && height > 1) {
    int64_t middle = random.between(1, height - 1);
    cut(random, buffers, begin, end, middle, depth - 1);
    cut(random, buffers, begin, end, height - middle, depth - 1);
  } else {
    buffers.push_back({begin, end, height});
  }
}

TEST(PackExactTest, SmallestCapacityIsTheOptimum) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    int64_t count = random.between(1, 7), alignment = seed % 3 ? 1 : int64_t(1) << random.below(4);
    Buffers buffers;
    int64_t maxBytes = random.between(1, 30);
    for (int64_t k = 0; k < count; ++k) {
      int64_t begin = random.below(6);
      buffers.push_back({begin, begin + random.between(1, 4), random.below(maxBytes + 1)});
    }
    int64_t optimum = optimalArena(buffers, alignment);
    EXPECT_EQ(search(buffers, alignment, optimum), Answer::Fits) << "seed " << seed;
    if (optimum > 0) {
      EXPECT_EQ(search(buffers, alignment, optimum - 1), Answer::Proof) << "seed " << seed;
    }
  }
}

/// Whether `buffers` fit in `capacity`: all orders of placement by offset, those
/// with the same offset by index, each buffer on what is below it.
bool fits(const Buffers &buffers, int64_t capacity, std::vector<int64_t> &offsets, int64_t last,
          size_t lastIndex, size_t numPlaced) {
  if (numPlaced == buffers.size())
    return true;
  for (size_t k = 0; k < buffers.size(); ++k) {
    if (offsets[k] >= 0)
      continue;
    int64_t offset = 0;
    for (size_t other = 0; other < buffers.size(); ++other)
      if (offsets[other] >= 0 && overlap(buffers[k], buffers[other]))
        offset = std::max(offset, offsets[other] + buffers[other].bytes);
    if (offset < last || (offset == last && k < lastIndex) || offset + buffers[k].bytes > capacity)
      continue;
    offsets[k] = offset;
    if (fits(buffers, capacity, offsets, offset, k, numPlaced + 1))
      return true;
    offsets[k] = -1;
  }
  return false;
}

// Few random instances need more than their live bytes. Here all times have
// equally many, so that nothing may be wasted.
TEST(PackExactTest, AgreesWithTheSlowOneOnFullSections) {
  int64_t numProofs = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    int64_t numTimes = random.between(5, 6);
    Buffers buffers;
    std::vector<int64_t> live(numTimes, 0);
    for (int64_t k = 0; k < 5; ++k) {
      int64_t begin = random.below(numTimes);
      buffers.push_back({begin, random.between(begin + 1, numTimes), random.between(1, 8)});
      for (int64_t time = begin; time < buffers.back().end; ++time)
        live[time] += buffers.back().bytes;
    }
    int64_t bound = *std::max_element(live.begin(), live.end());
    for (int64_t time = 0; time < numTimes; ++time)
      if (live[time] < bound)
        buffers.push_back({time, time + 1, bound - live[time]});
    for (int64_t capacity = bound; capacity < bound + 3; ++capacity) {
      std::vector<int64_t> offsets(buffers.size(), -1);
      bool isPossible = fits(buffers, capacity, offsets, 0, 0, 0);
      EXPECT_EQ(search(buffers, 1, capacity), isPossible ? Answer::Fits : Answer::Proof)
          << "seed " << seed << ", capacity " << capacity;
      numProofs += !isPossible;
    }
  }
  EXPECT_GE(numProofs, 10);
}

// Capacities around what best fit needs, for more buffers than the slow one can
// do. With little work best fit is not always optimal.
TEST(PackExactTest, AgreesWithBestFit) {
  int64_t numBetter = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    Buffers buffers;
    for (int64_t k = 0; k < 14; ++k) {
      int64_t begin = random.below(10);
      buffers.push_back({begin, begin + random.between(1, 6), random.between(1, 40)});
    }
    int64_t arena = packBestFit(buffers, 1, /*maxVisits=*/200).arenaBytes;
    EXPECT_EQ(search(buffers, 1, arena), Answer::Fits) << "seed " << seed;
    // Once it does not fit, it never does below.
    Answer last = Answer::Fits;
    for (int64_t capacity = arena - 1; capacity >= arena - 8; --capacity) {
      Answer answer = search(buffers, 1, capacity);
      EXPECT_NE(answer, Answer::Limit) << "seed " << seed;
      EXPECT_FALSE(last == Answer::Proof && answer == Answer::Fits) << "seed " << seed;
      numBetter += answer == Answer::Fits;
      last = answer;
    }
  }
  EXPECT_GT(numBetter, 0);
}

// No byte may be wasted, and best fit with little work does waste some.
TEST(PackExactTest, FullRectangles) {
  int64_t numMissed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Buffers buffers;
    cut(random, buffers, 0, 300, 1000, /*depth=*/6);
    EXPECT_EQ(search(buffers, 1, 1000, 200'000'000), Answer::Fits) << "seed " << seed;
    EXPECT_EQ(search(buffers, 1, 999), Answer::Proof) << "seed " << seed;
    numMissed += packBestFit(buffers, 1, /*maxVisits=*/10'000).arenaBytes > 1000;
  }
  EXPECT_GT(numMissed, 0);
}

TEST(PackExactTest, PlansArePackedNoWorse) {
  int64_t numBetter = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = 40;
    Problem problem = randomProblem(random, options);
    Plan plan = randomPlan(random, problem);
    Simulation simulation = simulate(problem, plan);
    Buffers buffers;
    for (const Storage &storage : simulation.storages)
      if (!storage.isBoundary)
        buffers.push_back({storage.begin, storage.end, storage.bytes});
    for (auto [index, step] : llvm::enumerate(plan.steps))
      if (int64_t bytes = problem.operations[step.op].workspace)
        buffers.push_back({int64_t(index), int64_t(index) + 1, bytes});
    int64_t arena = packBestFit(buffers, problem.alignment).arenaBytes;
    PackedPlan packed = pack(problem, plan, simulation);
    EXPECT_LE(packed.arenaBytes, arena) << "seed " << seed;
    numBetter += packed.arenaBytes < arena;
  }
  EXPECT_GT(numBetter, 0);
}

TEST(PackExactTest, NothingToPack) {
  EXPECT_EQ(search({}, 64, 0), Answer::Fits);
  EXPECT_EQ(search({{0, 2, 0}, {1, 3, 0}}, 64, 0), Answer::Fits);
  EXPECT_EQ(search({{0, 2, 0}, {1, 3, 1}}, 64, 63), Answer::Proof);
  EXPECT_EQ(search({{0, 2, 0}, {1, 3, 1}}, 64, 64), Answer::Fits);
}

TEST(PackExactTest, Alignment) {
  Buffers buffers{{0, 2, 1}, {0, 2, 65}, {1, 2, 64}, {3, 4, 0}};
  EXPECT_EQ(search(buffers, 64, 256), Answer::Fits);
  EXPECT_EQ(search(buffers, 64, 255), Answer::Proof);
  EXPECT_EQ(search(buffers, 1, 130), Answer::Fits);
  EXPECT_EQ(search(buffers, 1, 129), Answer::Proof);
}

// 7 bytes are live at all times, and 7 do not do.
TEST(PackExactTest, ProofBeyondLiveBytes) {
  Buffers buffers{{2, 3, 1}, {1, 4, 2}, {0, 3, 2}, {2, 5, 2},
                  {0, 1, 5}, {1, 2, 3}, {3, 4, 3}, {4, 5, 5}};
  EXPECT_EQ(optimalArena(buffers, 1), 8);
  EXPECT_EQ(search(buffers, 1, 8), Answer::Fits);
  EXPECT_EQ(search(buffers, 1, 7), Answer::Proof);
}

TEST(PackExactTest, LargeNumbers) {
  int64_t large = kMaxPackingCapacity / 2;
  EXPECT_EQ(search({{0, 3, large}, {1, 2, large}, {2, 3, 1}, {0, 1, 1}}, 1, 2 * large),
            Answer::Fits);
  EXPECT_EQ(search({{0, 3, large}, {1, 2, large}, {0, 2, 1}}, 1, 2 * large), Answer::Proof);
  int64_t huge = std::numeric_limits<int64_t>::max();
  Buffers buffers(100, {-huge, huge, huge});
  EXPECT_EQ(search(buffers, 1, kMaxPackingCapacity), Answer::Proof);
  EXPECT_EQ(search({{-huge, 0, 7}, {-1, huge, 7}}, 4, 16), Answer::Fits);
  // Small steps towards a far limit end with the work.
  Buffers wide{{0, 2, large}, {1, 3, large - 1}, {0, 1, 3}, {2, 3, 3}, {1, 2, 1}};
  EXPECT_EQ(search(wide, 1, 2 * large),
            optimalArena(wide, 1) <= 2 * large ? Answer::Fits : Answer::Proof);
}

TEST(PackExactTest, Limits) {
  Random random(1);
  Buffers buffers;
  cut(random, buffers, 0, 500, 100'000, /*depth=*/7);
  EXPECT_EQ(search(buffers, 1, 100'000, /*maxVisits=*/0), Answer::Limit);
  EXPECT_EQ(search(buffers, 1, 100'000, /*maxVisits=*/5000), Answer::Limit);
  // The sum of live bytes takes no search.
  EXPECT_EQ(search(buffers, 1, 99'999, /*maxVisits=*/0), Answer::Proof);
  // More overlaps than memory is spent on.
  Buffers dense;
  for (int64_t k = 0; k < 10'000; ++k)
    dense.push_back({k, k + 5000, 1});
  EXPECT_EQ(search(dense, 1, 5000, std::numeric_limits<int64_t>::max()), Answer::Limit);
  // A long chain does not take a deep stack.
  Buffers chain;
  for (int64_t k = 0; k < 100'000; ++k)
    chain.push_back({k, k + 2, 1});
  EXPECT_NE(search(chain, 1, 2, /*maxVisits=*/20'000'000), Answer::Proof);
}

TEST(PackExactTest, Deterministic) {
  Random random(2);
  Buffers buffers;
  cut(random, buffers, 0, 300, 5000, /*depth=*/6);
  std::optional<Packing> one = packWithin(buffers, 1, 5000), two = packWithin(buffers, 1, 5000);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->offsets, two->offsets);
}

} // namespace
