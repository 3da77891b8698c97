//===- PackingTest.cpp - Offsets for live ranges ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Packing.h"
#include "RandomProblem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

using Buffers = std::vector<Buffer>;

/// The largest sum of live aligned bytes.
int64_t lowerBound(llvm::ArrayRef<Buffer> buffers, int64_t alignment) {
  int64_t largest = 0;
  for (const Buffer &at : buffers) {
    int64_t live = 0;
    for (const Buffer &buffer : buffers)
      if (buffer.begin <= at.begin && at.begin < buffer.end)
        live += align(buffer.bytes, alignment);
    largest = std::max(largest, live);
  }
  return largest;
}

/// Whether `packing` is right, by looking at all pairs.
bool isValid(llvm::ArrayRef<Buffer> buffers, int64_t alignment, const Packing &packing) {
  if (packing.offsets.size() != buffers.size() || packing.arenaBytes % alignment != 0)
    return false;
  for (size_t i = 0; i < buffers.size(); ++i) {
    int64_t offset = packing.offsets[i], end = offset + buffers[i].bytes;
    if (offset < 0 || offset % alignment != 0 || end > packing.arenaBytes)
      return false;
    for (size_t j = 0; j < i; ++j)
      if (buffers[i].bytes > 0 && buffers[j].bytes > 0 && buffers[i].begin < buffers[j].end &&
          buffers[j].begin < buffers[i].end && offset < packing.offsets[j] + buffers[j].bytes &&
          packing.offsets[j] < end)
        return false;
  }
  return true;
}

Packing packAndVerify(llvm::ArrayRef<Buffer> buffers, int64_t alignment) {
  Packing packing = packBestFit(buffers, alignment);
  EXPECT_EQ(llvm::toString(verifyPacking(buffers, alignment, packing)), "");
  return packing;
}

Buffers randomBuffers(Random &random, int64_t count, int64_t maxLength, int64_t maxBytes) {
  Buffers buffers;
  for (int64_t k = 0; k < count; ++k) {
    int64_t begin = random.below(count);
    buffers.push_back({begin, begin + random.between(1, maxLength), random.below(maxBytes + 1)});
  }
  return buffers;
}

TEST(PackingTest, NothingToPack) {
  EXPECT_EQ(packAndVerify({}, 64).arenaBytes, 0);
  Packing packing = packAndVerify(Buffers{{0, 2, 0}, {1, 3, 0}}, 64);
  EXPECT_EQ(packing.arenaBytes, 0);
  EXPECT_EQ(packing.offsets, std::vector<int64_t>({0, 0}));
}

TEST(PackingTest, HalfOpenRanges) {
  Packing packing = packAndVerify(Buffers{{0, 1, 10}, {1, 2, 10}, {2, 3, 10}}, 1);
  EXPECT_EQ(packing.arenaBytes, 10);
  EXPECT_EQ(packing.offsets, std::vector<int64_t>({0, 0, 0}));
}

TEST(PackingTest, Alignment) {
  Packing packing = packAndVerify(Buffers{{0, 2, 1}, {0, 2, 65}, {1, 2, 64}, {3, 4, 0}}, 64);
  EXPECT_EQ(packing.arenaBytes, 256);
}

// The two at the ends are live with each other only in the middle: by size
// alone a hole remains.
TEST(PackingTest, Holes) {
  Buffers buffers{{0, 3, 4}, {2, 5, 4}, {0, 2, 6}, {3, 5, 6}, {2, 3, 2}};
  EXPECT_EQ(packAndVerify(buffers, 1).arenaBytes, 10);
}

TEST(PackingTest, VerifyFindsErrors) {
  Buffers buffers{{0, 2, 10}, {1, 3, 10}, {2, 4, 10}, {0, 4, 0}};
  auto message = [&](std::vector<int64_t> offsets, int64_t arena, int64_t alignment = 2) {
    return llvm::toString(verifyPacking(buffers, alignment, {std::move(offsets), arena}));
  };
  EXPECT_EQ(message({0, 10, 0, 4}, 20), "");
  EXPECT_EQ(message({0, 10, 0}, 20), "expected 4 offsets, but got 3");
  EXPECT_EQ(message({0, 10, 0, 0}, 21), "the arena of 21 bytes is not a multiple of 2 bytes");
  EXPECT_EQ(message({0, 10, 0, 0}, -2), "the arena of -2 bytes is not a multiple of 2 bytes");
  EXPECT_EQ(message({0, 11, 0, 0}, 22),
            "buffer 1 is at offset 11, which is not a multiple of 2 bytes");
  EXPECT_EQ(message({-2, 10, 0, 0}, 20),
            "buffer 0 is at offset -2, which is not a multiple of 2 bytes");
  EXPECT_EQ(message({0, 12, 0, 0}, 20),
            "buffer 1 of 10 bytes at offset 12 exceeds the arena of 20 bytes");
  EXPECT_EQ(message({0, 10, 0, 22}, 20),
            "buffer 3 of 0 bytes at offset 22 exceeds the arena of 20 bytes");
  EXPECT_EQ(message({0, 8, 0, 0}, 20), "buffers 0 and 1 overlap at offset 8");
  EXPECT_EQ(message({0, 10, 4, 0}, 20), "buffers 1 and 2 overlap at offset 10");
  EXPECT_EQ(message({10, 10, 0, 0}, 20), "buffers 0 and 1 overlap at offset 10");
}

// verifyPacking sweeps over time; this looks at all pairs.
TEST(PackingTest, VerifyAgreesWithTheSlowOne) {
  int64_t numValid = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Buffers buffers = randomBuffers(random, random.between(1, 8), 3, 4);
    Packing packing;
    packing.arenaBytes = 12;
    for (size_t k = 0; k < buffers.size(); ++k)
      packing.offsets.push_back(random.below(9));
    bool valid = isValid(buffers, 1, packing);
    EXPECT_EQ(llvm::toString(verifyPacking(buffers, 1, packing)).empty(), valid) << "seed " << seed;
    numValid += valid;
  }
  EXPECT_GT(numValid, 100);
  EXPECT_LT(numValid, 2900);
}

TEST(PackingTest, RandomOnesAreValid) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    int64_t count = random.between(1, 200), alignment = int64_t(1) << random.below(8);
    Buffers buffers = randomBuffers(random, count, random.between(1, count), 1000);
    for (int64_t maxVisits : {int64_t(0), int64_t(1000), int64_t(100'000)}) {
      Packing packing = packBestFit(buffers, alignment, maxVisits);
      EXPECT_TRUE(isValid(buffers, alignment, packing)) << "seed " << seed;
      EXPECT_EQ(llvm::toString(verifyPacking(buffers, alignment, packing)), "") << "seed " << seed;
      EXPECT_GE(packing.arenaBytes, lowerBound(buffers, alignment)) << "seed " << seed;
    }
  }
}

/// The smallest arena: first fit in the best of all orders.
int64_t optimalArena(llvm::ArrayRef<Buffer> buffers) {
  std::vector<size_t> order;
  for (size_t k = 0; k < buffers.size(); ++k)
    order.push_back(k);
  int64_t best = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> offsets(buffers.size(), -1);
    int64_t arena = 0;
    for (size_t k : order) {
      int64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t other = 0; other < buffers.size(); ++other)
          if (offsets[other] >= 0 && buffers[k].begin < buffers[other].end &&
              buffers[other].begin < buffers[k].end &&
              offset < offsets[other] + buffers[other].bytes &&
              offsets[other] < offset + buffers[k].bytes) {
            offset = offsets[other] + buffers[other].bytes;
            moved = true;
          }
      }
      offsets[k] = offset;
      arena = std::max(arena, offset + buffers[k].bytes);
    }
    best = std::min(best, arena);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(PackingTest, SmallOnesAreNearlyOptimal) {
  int64_t numOptimal = 0, count = 300;
  for (uint64_t seed = 0; seed < uint64_t(count); ++seed) {
    Random random(seed);
    Buffers buffers = randomBuffers(random, 6, 5, 20);
    for (Buffer &buffer : buffers)
      ++buffer.bytes;
    int64_t arena = packAndVerify(buffers, 1).arenaBytes, optimum = optimalArena(buffers);
    EXPECT_GE(arena, optimum) << "seed " << seed;
    EXPECT_LE(arena * 10, optimum * 13) << "seed " << seed;
    numOptimal += arena == optimum;
  }
  EXPECT_GE(numOptimal * 100, count * 98);
}

TEST(PackingTest, Deterministic) {
  Random random(1);
  Buffers buffers = randomBuffers(random, 500, 100, 1000);
  EXPECT_EQ(packAndVerify(buffers, 8).offsets, packAndVerify(buffers, 8).offsets);
}

// Nested live ranges, as activations have, and many short ones: no waste.
TEST(PackingTest, TrainingStep) {
  Random random(1);
  Buffers buffers;
  int64_t numLayers = 500;
  for (int64_t layer = 0; layer < numLayers; ++layer) {
    int64_t forward = 4 * layer, backward = 8 * numLayers - 4 * layer;
    buffers.push_back({forward, backward, 1000 * random.between(1, 20)});
    for (int64_t time : {forward, backward})
      for (int64_t k = 0; k < 3; ++k)
        buffers.push_back({time + k, time + k + 2, 1000 * random.between(1, 20)});
  }
  int64_t bound = lowerBound(buffers, 64);
  EXPECT_LE(packAndVerify(buffers, 64).arenaBytes, bound + bound / 1000);
}

// Too many pairs for anything but the order of time.
TEST(PackingTest, VeryManyBuffers) {
  Random random(1);
  Buffers buffers = randomBuffers(random, 30'000, 60'000, 1000);
  EXPECT_GT(packAndVerify(buffers, 64).arenaBytes, 0);
}

TEST(PackingTest, LargeNumbers) {
  int64_t large = int64_t(1) << 54;
  EXPECT_EQ(packAndVerify(Buffers{{0, 3, large}, {1, 2, large}, {0, 1, 1}}, 1).arenaBytes,
            2 * large);
}

TEST(PackingTest, PublicInstances) {
  const char *folder = std::getenv("REMAT_SHARED_DATA");
  if (!folder)
    GTEST_SKIP() << "REMAT_SHARED_DATA does not name the folder with the public instances";
  for (char letter = 'A'; letter <= 'F'; ++letter) {
    std::string path = std::string(folder) + "/arena/" + letter + ".1048576.csv";
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!file)
      GTEST_SKIP() << "no file " << path;
    llvm::SmallVector<llvm::StringRef> lines;
    (*file)->getBuffer().split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    Buffers buffers;
    for (llvm::StringRef line : llvm::drop_begin(lines)) {
      // id,lower,upper,size
      llvm::SmallVector<llvm::StringRef> fields;
      line.rtrim('\r').split(fields, ',');
      ASSERT_EQ(fields.size(), 4u) << path;
      Buffer buffer;
      ASSERT_FALSE(fields[1].getAsInteger(10, buffer.begin) ||
                   fields[2].getAsInteger(10, buffer.end) ||
                   fields[3].getAsInteger(10, buffer.bytes))
          << path;
      buffers.push_back(buffer);
    }
    // Each fits in 1,048,576 bytes, which heuristics do not find.
    int64_t arena = packAndVerify(buffers, 1).arenaBytes;
    EXPECT_GE(arena, 1'048'576) << path;
    EXPECT_LE(arena, 1'048'576 * 5 / 4) << path;
  }
}

TEST(PackingTest, PackedPlan) {
  ProblemBuilder builder;
  builder.problem.alignment = 16;
  ValueIndex x = builder.boundary(20);
  ValueIndex a = builder.value({x}, 10);
  builder.last().workspace = 33;
  ValueIndex b = builder.value({a}, 30);
  builder.terminator({b});
  Plan plan = identityPlan(builder.problem);
  Simulation simulation = simulate(builder.problem, plan);
  PackedPlan packed = pack(builder.problem, plan, simulation);
  ASSERT_EQ(packed.offsets.size(), 3u);
  ASSERT_EQ(packed.workspaceOffsets.size(), 3u);
  EXPECT_EQ(packed.offsets[0], 0);
  EXPECT_NE(packed.offsets[1], packed.workspaceOffsets[0]);
  EXPECT_EQ(packed.arenaBytes, 64);
  EXPECT_EQ(packed.packedBytes, 96);
}

TEST(PackingTest, RandomPlans) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    RandomProblemOptions options = RandomProblemOptions::any(random);
    options.numOperations = random.between(1, 30);
    Problem problem = randomProblem(random, options);
    Plan plan = randomPlan(random, problem);
    Simulation simulation = simulate(problem, plan);
    PackedPlan packed = pack(problem, plan, simulation);
    EXPECT_GE(packed.packedBytes, simulation.livePeak) << "seed " << seed;
    EXPECT_GE(packed.packedBytes, workingSetBytes(problem)) << "seed " << seed;
    Buffers buffers;
    Packing packing;
    packing.arenaBytes = packed.arenaBytes;
    for (auto [storage, offset] : llvm::zip_equal(simulation.storages, packed.offsets)) {
      if (storage.isBoundary)
        continue;
      buffers.push_back({storage.begin, storage.end, storage.bytes});
      packing.offsets.push_back(offset);
    }
    for (auto [index, step] : llvm::enumerate(plan.steps)) {
      buffers.push_back(
          {int64_t(index), int64_t(index) + 1, problem.operations[step.op].workspace});
      packing.offsets.push_back(packed.workspaceOffsets[index]);
    }
    EXPECT_TRUE(isValid(buffers, problem.alignment, packing)) << "seed " << seed;
  }
}

} // namespace
