//===- Generate.cpp - The command `generate` --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generate.h"
#include "Remat/Planner/Generate.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/OutputFile.h"

using namespace llvm;
using namespace mlir::remat;
using namespace mlir::remat::planner;

cl::SubCommand generateCommand("generate", "Write a problem of a family, chosen by numbers");

static cl::opt<std::string> kind(cl::Positional, cl::Required, cl::sub(generateCommand),
                                 cl::desc("chain|ladder|random-layered|transformer|resnet|unet"));
static cl::opt<std::string> outputPath("output", cl::init("-"), cl::value_desc("file"),
                                       cl::desc("Write to this file"), cl::sub(generateCommand));
static cl::opt<uint64_t> seed("seed", cl::desc("chain, random-layered: of the random numbers"),
                              cl::sub(generateCommand));
static cl::opt<bool> heterogeneous("heterogeneous", cl::desc("chain: random bytes and costs"),
                                   cl::sub(generateCommand));
static cl::opt<std::string> blocks("blocks", cl::value_desc("N,N,..."),
                                   cl::desc("resnet: blocks of each group"),
                                   cl::sub(generateCommand));

// Each is for some kinds only, whose shapes have the defaults.
static cl::opt<int64_t> layers("layers", cl::desc("chain, transformer: layers"),
                               cl::sub(generateCommand));
static cl::opt<int64_t> rungs("rungs", cl::desc("ladder: rungs"), cl::sub(generateCommand));
static cl::opt<int64_t> nodes("nodes", cl::desc("random-layered: nodes"), cl::sub(generateCommand));
static cl::opt<int64_t> width("width", cl::desc("random-layered: mean nodes of a layer"),
                              cl::sub(generateCommand));
static cl::opt<int64_t> density("density", cl::value_desc("percent"),
                                cl::desc("random-layered: linked pairs of consecutive layers"),
                                cl::sub(generateCommand));
static cl::opt<int64_t> skips("skips", cl::value_desc("percent"),
                              cl::desc("random-layered: links that skip layers"),
                              cl::sub(generateCommand));
static cl::opt<int64_t> batch("batch", cl::desc("transformer, resnet, unet: examples"),
                              cl::sub(generateCommand));
static cl::opt<int64_t> sequence("sequence", cl::desc("transformer: tokens of an example"),
                                 cl::sub(generateCommand));
static cl::opt<int64_t> modelSize("d-model", cl::desc("transformer: features of a token"),
                                  cl::sub(generateCommand));
static cl::opt<int64_t> heads("heads", cl::desc("transformer: heads of the attention"),
                              cl::sub(generateCommand));
static cl::opt<int64_t> vocabulary("vocabulary", cl::desc("transformer: different tokens"),
                                   cl::sub(generateCommand));
static cl::opt<int64_t> image("image", cl::desc("resnet, unet: height and width of an image"),
                              cl::sub(generateCommand));
static cl::opt<int64_t> levels("levels", cl::desc("unet: how often the resolution is halved"),
                               cl::sub(generateCommand));
static cl::opt<int64_t> channels("channels", cl::desc("unet: channels of the first level"),
                                 cl::sub(generateCommand));

namespace {

/// Takes the options that a kind has; the shape keeps its default for the others.
class Options {
public:
  template <typename T, typename Field>
  void take(cl::opt<T> &option, Field &field) {
    taken.push_back(&option);
    if (option.getNumOccurrences())
      field = option;
  }

  /// An error for an option that is given and was not taken.
  Error finish() const {
    const cl::Option *all[] = {&seed,  &heterogeneous, &blocks, &layers, &rungs,    &nodes,
                               &width, &density,       &skips,  &batch,  &sequence, &modelSize,
                               &heads, &vocabulary,    &image,  &levels, &channels};
    for (const cl::Option *option : all)
      if (option->getNumOccurrences() && !is_contained(taken, option))
        return makeError("'--{0}' says nothing about '{1}'", option->ArgStr, kind);
    return Error::success();
  }

private:
  SmallVector<const cl::Option *> taken;
};

} // namespace

static void takeOptions(Options &options, ChainShape &shape) {
  options.take(layers, shape.numLayers);
  options.take(heterogeneous, shape.isHeterogeneous);
  options.take(seed, shape.seed);
}

static void takeOptions(Options &options, LadderShape &shape) {
  options.take(rungs, shape.numRungs);
}

static void takeOptions(Options &options, RandomLayeredShape &shape) {
  options.take(nodes, shape.numNodes);
  options.take(width, shape.width);
  options.take(density, shape.density);
  options.take(skips, shape.skips);
  options.take(seed, shape.seed);
}

static void takeOptions(Options &options, TransformerShape &shape) {
  options.take(layers, shape.numLayers);
  options.take(batch, shape.batch);
  options.take(sequence, shape.sequence);
  options.take(modelSize, shape.modelSize);
  options.take(heads, shape.numHeads);
  options.take(vocabulary, shape.vocabulary);
}

static void takeOptions(Options &options, ResNetShape &shape) {
  options.take(batch, shape.batch);
  options.take(image, shape.image);
}

static void takeOptions(Options &options, UNetShape &shape) {
  options.take(levels, shape.numLevels);
  options.take(batch, shape.batch);
  options.take(image, shape.image);
  options.take(channels, shape.channels);
}

template <typename Shape>
static Expected<Problem> generateKind(Shape shape = {}) {
  Options options;
  takeOptions(options, shape);
  if (Error error = options.finish())
    return error;
  return generate(shape);
}

/// Reads `--blocks`, too.
static Expected<Problem> generateResNet() {
  ResNetShape shape;
  Options options;
  takeOptions(options, shape);
  std::string text;
  options.take(blocks, text);
  if (Error error = options.finish())
    return error;
  if (blocks.getNumOccurrences()) {
    shape.numBlocks.clear();
    SmallVector<StringRef> counts;
    StringRef(text).split(counts, ',');
    for (StringRef count : counts)
      if (count.getAsInteger(10, shape.numBlocks.emplace_back()))
        return makeError("expected '--blocks' to be numbers such as '3,4,6,3', but got '{0}'",
                         text);
  }
  return generate(shape);
}

static Expected<Problem> generateProblem() {
  if (kind == "chain")
    return generateKind<ChainShape>();
  if (kind == "ladder")
    return generateKind<LadderShape>();
  if (kind == "random-layered")
    return generateKind<RandomLayeredShape>();
  if (kind == "transformer")
    return generateKind<TransformerShape>();
  if (kind == "resnet")
    return generateResNet();
  if (kind == "unet")
    return generateKind<UNetShape>();
  return makeError("expected 'chain', 'ladder', 'random-layered', 'transformer', 'resnet' or "
                   "'unet', but got '{0}'",
                   kind);
}

Expected<int> runGenerate() {
  Expected<Problem> problem = generateProblem();
  if (!problem)
    return problem.takeError();
  if (Error error = writeOutputFile(outputPath, [&](raw_ostream &os) { writeJSON(*problem, os); }))
    return error;
  return EXIT_SUCCESS;
}
