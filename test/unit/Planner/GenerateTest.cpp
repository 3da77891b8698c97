//===- GenerateTest.cpp - Families of problems ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Generate.h"
#include "Remat/Planner/Serialization.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;

namespace {

template <typename Shape>
Problem make(const Shape &shape) {
  return llvm::cantFail(generate(shape));
}

template <typename Shape>
std::string errorOf(const Shape &shape) {
  llvm::Expected<Problem> problem = generate(shape);
  return problem ? "" : llvm::toString(problem.takeError());
}

/// FNV-1a of the text, which has the same bytes on every machine.
template <typename Shape>
std::string hashOf(const Shape &shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writeJSON(make(shape), os);
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3u;
  return llvm::formatv("{0:x-}", hash).str();
}

int64_t livePeak(const Problem &problem) {
  return simulate(problem, identityPlan(problem)).livePeak;
}

const Operation &findOperation(const Problem &problem, llvm::StringRef name) {
  return *llvm::find_if(problem.operations, [&](const Operation &op) { return op.name == name; });
}

// The same bytes on every machine, and in every release: results name their inputs by these
// arguments.
TEST(GenerateTest, Fingerprints) {
  EXPECT_EQ(hashOf(ChainShape()), "ba1de8f11b3eb1f2");
  ChainShape heterogeneous;
  heterogeneous.isHeterogeneous = true;
  EXPECT_EQ(hashOf(heterogeneous), "ffd31e9b6254fa5b");
  EXPECT_EQ(hashOf(LadderShape()), "cec24a2433845f81");
  RandomLayeredShape layered;
  EXPECT_EQ(hashOf(layered), "1667032a8cbd02dc");
  layered.seed = 2;
  EXPECT_EQ(hashOf(layered), "1bc3c53c4767beda");
  EXPECT_EQ(hashOf(TransformerShape()), "bc36f16f399f9d9e");
  EXPECT_EQ(hashOf(ResNetShape()), "a07fe2be704fc815");
  EXPECT_EQ(hashOf(UNetShape()), "d157a1e8ec0fda3e");
}

// Edges i -> i+1, and i -> 2L-i for i < L.
TEST(GenerateTest, Chain) {
  for (int64_t numLayers : {1, 2, 3, 17}) {
    ChainShape shape;
    shape.numLayers = numLayers;
    Problem problem = make(shape);
    ASSERT_EQ(int64_t(problem.operations.size()), 2 * numLayers + 2);
    for (int64_t node = 0; node <= 2 * numLayers; ++node) {
      std::vector<ValueIndex> expected;
      if (node > 0)
        expected.push_back(node - 1);
      if (node > numLayers)
        expected.push_back(2 * numLayers - node);
      const Operation &op = problem.operations[node];
      EXPECT_EQ(std::vector<ValueIndex>(op.reads.begin(), op.reads.end()), expected);
      EXPECT_EQ(op.cost, 1);
      EXPECT_EQ(problem.values[node].bytes, 1);
    }
    EXPECT_EQ(livePeak(problem), numLayers == 1 ? 3 : numLayers + 2);
  }
}

TEST(GenerateTest, Ladder) {
  for (int64_t numRungs : {1, 2, 16}) {
    LadderShape shape;
    shape.numRungs = numRungs;
    EXPECT_EQ(livePeak(make(shape)), 10 * (numRungs + 1));
  }
}

TEST(GenerateTest, RandomLayered) {
  for (int64_t numNodes : {3, 4, 5, 30, 1000, 20000}) {
    RandomLayeredShape shape;
    shape.numNodes = numNodes;
    Problem problem = make(shape);
    ASSERT_EQ(int64_t(problem.operations.size()), numNodes + 1);
    std::vector<int64_t> numReaders(numNodes), layers(numNodes);
    int64_t numLinks = 0, numSkips = 0;
    for (int64_t node = 0; node < numNodes; ++node) {
      const Operation &op = problem.operations[node];
      numLinks += op.reads.size();
      for (ValueIndex read : op.reads) {
        ++numReaders[read];
        layers[node] = std::max(layers[node], layers[read] + 1);
      }
      EXPECT_EQ(op.reads.empty(), node == 0);
      EXPECT_EQ(problem.values[node].bytes % 10, 0);
      EXPECT_GT(problem.values[node].bytes, 0);
    }
    for (int64_t node = 0; node < numNodes; ++node) {
      EXPECT_EQ(numReaders[node] == 0, node == numNodes - 1);
      for (ValueIndex read : problem.operations[node].reads)
        numSkips += layers[node] - layers[read] > 1;
    }
    if (numNodes < 1000)
      continue;
    // About 5 links for each node, one of seven over more than one layer.
    EXPECT_GT(numLinks, 4 * numNodes);
    EXPECT_LT(numLinks, 11 * numNodes);
    EXPECT_NEAR(100.0 * numSkips / numLinks, 14, 3);
  }
}

TEST(GenerateTest, RandomLayeredExtremes) {
  RandomLayeredShape shape;
  shape.numNodes = 300;
  for (int64_t width : {1, 2, 1000})
    for (int64_t density : {0, 100})
      for (int64_t skips : {0, 50}) {
        shape.width = width;
        shape.density = density;
        shape.skips = skips;
        EXPECT_EQ(errorOf(shape), "");
      }
}

// The roofline, and what the backward pass reads.
TEST(GenerateTest, Transformer) {
  TransformerShape shape;
  shape.numLayers = 2;
  shape.batch = 2;
  shape.sequence = 32;
  shape.modelSize = 64;
  shape.numHeads = 4;
  shape.vocabulary = 100;
  Problem problem = make(shape);
  auto namesOf = [&](llvm::ArrayRef<ValueIndex> values) {
    std::string names;
    for (ValueIndex value : values)
      names += (names.empty() ? "" : " ") + problem.values[value].name;
    return names;
  };
  const Operation &expand = findOperation(problem, "l0_expand");
  EXPECT_EQ(namesOf(expand.reads), "l0_norm2 l0_expand_weight");
  EXPECT_EQ(problem.values[expand.writes[0]].bytes, 2 * 64 * 256);
  // 64 x 64 x 256 products and sums take less than 2 x (64 x 64 + 64 x 256 + 64 x 256) bytes.
  EXPECT_EQ(expand.cost, (2 * (64 * 64 + 2 * 64 * 256) + 2) / 3);
  EXPECT_EQ(namesOf(findOperation(problem, "d0_l0_expand").reads), "d0_l0_gelu l0_expand_weight");
  EXPECT_EQ(namesOf(findOperation(problem, "d1_l0_expand").reads), "d0_l0_gelu l0_norm2");
  EXPECT_EQ(namesOf(findOperation(problem, "d0_l0_gelu").reads), "d0_l0_contract l0_expand");
  EXPECT_EQ(namesOf(findOperation(problem, "d0_l0_softmax").reads), "d0_l0_attention l0_softmax");
  // The loss and a gradient of each parameter are results.
  size_t numParameters = 1 + 2 * 8 + 2;
  EXPECT_EQ(problem.operations.back().reads.size(), 1 + numParameters);
  // Larger products are bound by arithmetic.
  shape.modelSize = 4096;
  shape.sequence = 1024;
  problem = make(shape);
  EXPECT_EQ(findOperation(problem, "l1_query").cost, 2 * 2048 * int64_t(4096) * 4096 / 800 + 1);
}

TEST(GenerateTest, ResNet) {
  Problem problem = make(ResNetShape());
  // ResNet-50 has 53 convolutions and a dense layer, and 53 normalizations.
  EXPECT_EQ(problem.operations.back().reads.size(), 1u + 54 + 53);
  int64_t parameters = 0;
  for (const Value &value : problem.values)
    if (llvm::StringRef(value.name).ends_with("_weight"))
      parameters += value.bytes / 2;
  EXPECT_NEAR(parameters / 1e6, 25.5, 0.1);
  EXPECT_EQ(findOperation(problem, "g3b2_sum").reads.size(), 2u);
  EXPECT_EQ(problem.values[findOperation(problem, "g3b2_relu3").writes[0]].bytes,
            2 * 64 * 2048 * 7 * 7);
}

TEST(GenerateTest, UNet) {
  Problem problem = make(UNetShape());
  EXPECT_EQ(problem.values[findOperation(problem, "bottom_relu2").writes[0]].bytes,
            2 * 4 * 1024 * 32 * 32);
  EXPECT_EQ(problem.values[findOperation(problem, "up0_concat").writes[0]].bytes,
            2 * int64_t(4) * 128 * 512 * 512);
  // The link from the encoder: its last activation waits for the decoder.
  EXPECT_EQ(problem.values[findOperation(problem, "up0_concat").reads[0]].name, "down0_relu2");
}

TEST(GenerateTest, Errors) {
  ChainShape chain;
  chain.numLayers = 0;
  EXPECT_EQ(errorOf(chain), "expected from 1 to 500000 as layers, but got 0");
  LadderShape ladder;
  ladder.numRungs = 500'001;
  EXPECT_EQ(errorOf(ladder), "expected from 1 to 500000 as rungs, but got 500001");
  RandomLayeredShape layered;
  layered.numNodes = 2;
  EXPECT_EQ(errorOf(layered), "expected from 3 to 1000000 as nodes, but got 2");
  layered = {};
  layered.width = 1001;
  EXPECT_EQ(errorOf(layered), "expected from 0 to 1000 as width, but got 1001");
  layered = {};
  layered.density = -1;
  EXPECT_EQ(errorOf(layered), "expected from 0 to 100 as density, but got -1");
  layered = {};
  layered.skips = 51;
  EXPECT_EQ(errorOf(layered), "expected from 0 to 50 as skips, but got 51");
  TransformerShape transformer;
  transformer.numHeads = 7;
  EXPECT_EQ(errorOf(transformer),
            "expected a model size that is a multiple of the 7 heads, but got 768");
  transformer = {};
  transformer.batch = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(errorOf(transformer),
            "expected from 1 to 16777216 as batch, but got 9223372036854775807");
  ResNetShape resnet;
  resnet.numBlocks = {};
  EXPECT_EQ(errorOf(resnet), "expected from 1 to 8 as groups of blocks, but got 0");
  resnet.numBlocks = {3, 0};
  EXPECT_EQ(errorOf(resnet), "expected from 1 to 10000 as blocks, but got 0");
  UNetShape unet;
  unet.image = 500;
  EXPECT_EQ(errorOf(unet), "expected an image that is a multiple of 16, but got 500");
}

// Within the ranges, and still more than a problem may have.
TEST(GenerateTest, TooLarge) {
  TransformerShape transformer;
  transformer.numLayers = 1;
  transformer.batch = transformer.sequence = transformer.vocabulary = 1 << 24;
  EXPECT_NE(errorOf(transformer).find("the problem is too large: value"), std::string::npos);
  transformer.modelSize = transformer.numHeads = 1 << 24;
  EXPECT_NE(errorOf(transformer).find("the problem is too large: value"), std::string::npos);
  ResNetShape resnet;
  resnet.batch = resnet.image = 1 << 24;
  EXPECT_NE(errorOf(resnet).find("the problem is too large: value"), std::string::npos);
  UNetShape unet;
  unet.batch = unet.image = unet.channels = 1 << 24;
  unet.numLevels = 12;
  EXPECT_NE(errorOf(unet).find("the problem is too large: value"), std::string::npos);
}

} // namespace
