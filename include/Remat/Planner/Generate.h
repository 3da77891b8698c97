//===- Generate.h - Families of problems ------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Problems of any size, for experiments and for tests. The same arguments give the
// same problem on every machine. Every problem passes `check` and ends in a pinned
// operation that needs all others; arguments out of range, or a step with more bytes
// or more work than a problem may have, are errors.
//
// The models (transformer, ResNet, U-Net) compute in 16-bit numbers, forward and
// backward; gradients of parameters are results. An operation costs the larger of its
// multiplications and additions at 800 per picosecond and of the bytes of its operands
// and results at 3 per picosecond, rounded up: 800 TFLOP/s and 3 TB/s.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_PLANNER_GENERATE_H
#define REMAT_PLANNER_GENERATE_H

#include "Remat/Planner/Problem.h"

namespace mlir::remat::planner {

/// A chain forwards and backwards: node i reads node i-1, and node 2L-i reads node i
/// for i < L. L nodes are forward, L+1 backward.
struct ChainShape {
  /// L, from 1 to 500,000.
  int64_t numLayers = 16;
  /// Whether bytes and costs are random, from 1 to 100, instead of 1.
  bool isHeterogeneous = false;
  uint64_t seed = 1;
};

/// a1 to aN, each read by the next one, then bN down to b1, where bI reads aI and
/// b(I+1). All values have 10 bytes, all costs are 1.
struct LadderShape {
  /// N, from 1 to 500,000.
  int64_t numRungs = 16;
};

/// A random layered graph in the manner of Gagrani et al., "Neural Topological Ordering
/// for Computation Graphs", NeurIPS 2022: a source, layers of random widths from a
/// quarter of `width` to seven quarters, a sink. A node reads one of the layer before it
/// and each other one with a probability of `density` percent; what no node of the next
/// layer reads gets one reader there. About `skips` percent of all links come from any of
/// the layers before that. Nodes cost 0 to 999; their bytes are multiples of 10, up to
/// 2,200 for two thirds of them and around 4,000 for the others. Source and sink cost
/// nothing.
struct RandomLayeredShape {
  /// From 3 to 1,000,000, source and sink included.
  int64_t numNodes = 1000;
  /// From 1 to 1,000; chosen by the number of nodes if 0: 20 for 1000, 32 at most.
  int64_t width = 0;
  /// Percent, from 0 to 100, and from 0 to 50.
  int64_t density = 20;
  int64_t skips = 14;
  uint64_t seed = 1;
};

/// A decoder with layer normalization before attention and before the feed-forward
/// layer, which is four times as wide as the model, and logits over a vocabulary.
struct TransformerShape {
  /// From 1 to 10,000.
  int64_t numLayers = 12;
  int64_t batch = 8;
  int64_t sequence = 1024;
  int64_t modelSize = 768;
  int64_t numHeads = 12;
  int64_t vocabulary = 50257;
};

/// A residual network of bottleneck blocks (He et al., "Deep Residual Learning for Image
/// Recognition", CVPR 2016), with batch normalization.
struct ResNetShape {
  /// Blocks of each group; a group has half the resolution of the one before it and
  /// twice the channels. 1 to 8 groups, 1 to 10,000 blocks each.
  std::vector<int64_t> numBlocks = {3, 4, 6, 3};
  int64_t batch = 64;
  /// Height and width of an image.
  int64_t image = 224;
};

/// An encoder and a decoder with links between them (Ronneberger et al., "U-Net", MICCAI
/// 2015), with padding.
struct UNetShape {
  /// How often the resolution is halved, from 1 to 12.
  int64_t numLevels = 4;
  int64_t batch = 4;
  /// Height and width of an image, a multiple of 2^numLevels.
  int64_t image = 512;
  /// Of the first level; each level has twice as many.
  int64_t channels = 64;
};

llvm::Expected<Problem> generate(const ChainShape &shape);
llvm::Expected<Problem> generate(const LadderShape &shape);
llvm::Expected<Problem> generate(const RandomLayeredShape &shape);
llvm::Expected<Problem> generate(const TransformerShape &shape);
llvm::Expected<Problem> generate(const ResNetShape &shape);
llvm::Expected<Problem> generate(const UNetShape &shape);

} // namespace mlir::remat::planner

#endif // REMAT_PLANNER_GENERATE_H
