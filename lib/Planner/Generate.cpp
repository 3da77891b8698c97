//===- Generate.cpp - Families of problems ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The models are written forward, operation by operation; a tape of these operations
// gives the backward pass in reverse order.
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Generate.h"
#include "Detail.h"
#include "Random.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

/// The largest length of a dimension.
static constexpr int64_t kMaxExtent = int64_t(1) << 24;
/// The most nodes of a graph that is no model.
static constexpr int64_t kMaxNodes = 1'000'000;

static llvm::Error checkRange(const char *what, int64_t number, int64_t least, int64_t most) {
  if (least <= number && number <= most)
    return llvm::Error::success();
  return makeError("expected from {0} to {1} as {2}, but got {3}", least, most, what, number);
}

/// Adds a pure operation with one result.
static ValueIndex addOperation(Problem &problem, std::string name, llvm::ArrayRef<ValueIndex> reads,
                               int64_t bytes, int64_t cost) {
  ValueIndex index = problem.values.size();
  Value value;
  value.name = name;
  value.bytes = bytes;
  value.producer = problem.operations.size();
  problem.values.push_back(std::move(value));
  Operation op;
  op.name = std::move(name);
  op.reads.append(reads.begin(), reads.end());
  op.writes.push_back(index);
  op.cost = cost;
  problem.operations.push_back(std::move(op));
  return index;
}

/// Adds the terminator, which reads `results` and depends on everything else that
/// nobody reads.
static llvm::Expected<Problem> finish(Problem problem, llvm::ArrayRef<ValueIndex> results = {}) {
  std::vector<bool> isRead(problem.values.size());
  for (const Operation &op : problem.operations)
    for (ValueIndex value : op.reads)
      isRead[value] = true;
  Operation end;
  end.name = "end";
  end.effect = Effect::Pinned;
  end.recomputable = false;
  for (ValueIndex value : results) {
    end.reads.push_back(value);
    isRead[value] = true;
  }
  for (auto [value, read] : llvm::enumerate(isRead))
    if (!read && problem.values[value].producer != kBoundary)
      end.dependences.push_back(value);
  problem.operations.push_back(std::move(end));
  if (llvm::Error error = check(problem))
    return makeError("the problem is too large: {0}", toString(std::move(error)));
  return problem;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

llvm::Expected<Problem> mlir::remat::planner::generate(const ChainShape &shape) {
  if (llvm::Error error = checkRange("layers", shape.numLayers, 1, kMaxNodes / 2))
    return error;
  Random random(shape.seed);
  auto draw = [&] { return shape.isHeterogeneous ? random.between(1, 100) : 1; };
  Problem problem;
  for (int64_t node = 0; node <= 2 * shape.numLayers; ++node) {
    bool isForward = node < shape.numLayers;
    int64_t layer = isForward ? node : 2 * shape.numLayers - node;
    llvm::SmallVector<ValueIndex, 2> reads;
    if (node > 0)
      reads.push_back(node - 1);
    // The last layer has the first backward operation right behind it.
    if (!isForward && layer < node - 1)
      reads.push_back(layer);
    int64_t bytes = draw(), cost = draw();
    addOperation(problem, (isForward ? "f" : "b") + std::to_string(layer), reads, bytes, cost);
  }
  return finish(std::move(problem));
}

llvm::Expected<Problem> mlir::remat::planner::generate(const LadderShape &shape) {
  int64_t size = shape.numRungs;
  if (llvm::Error error = checkRange("rungs", size, 1, kMaxNodes / 2))
    return error;
  Problem problem;
  for (int64_t rung = 1; rung <= size; ++rung)
    addOperation(problem, "a" + std::to_string(rung),
                 rung > 1 ? llvm::ArrayRef<ValueIndex>(rung - 2) : llvm::ArrayRef<ValueIndex>(),
                 /*bytes=*/10, /*cost=*/1);
  for (int64_t rung = size; rung >= 1; --rung) {
    llvm::SmallVector<ValueIndex, 2> reads = {rung - 1};
    if (rung < size)
      reads.push_back(2 * size - rung - 1);
    addOperation(problem, "b" + std::to_string(rung), reads, /*bytes=*/10, /*cost=*/1);
  }
  return finish(std::move(problem));
}

/// About the square root of 0.42 times the number of nodes, which is at most 32.
static int64_t chooseWidth(int64_t numNodes) {
  int64_t width = 1;
  while (width < 32 && 100 * (width + 1) * (width + 1) <= 42 * numNodes)
    ++width;
  return width;
}

namespace {

/// Builds a random layered graph, layer by layer.
class RandomLayered {
public:
  explicit RandomLayered(const RandomLayeredShape &options)
      : shape(options), width(options.width ? options.width : chooseWidth(options.numNodes)),
        random(options.seed) {}

  llvm::Expected<Problem> run() {
    // The source.
    addNode(/*cost=*/0);
    begins = {0};
    while (getNumNodes() < shape.numNodes - 1)
      addLayer();
    // The sink.
    auto &reads = addNode(/*cost=*/0).reads;
    for (ValueIndex node = begins.back(); node < shape.numNodes - 1; ++node)
      reads.push_back(node);
    return finish(std::move(problem));
  }

private:
  int64_t getNumNodes() const { return problem.operations.size(); }

  /// Two thirds up to 2,200 bytes, and a bell around 4,000.
  int64_t drawBytes() {
    if (random.below(3) > 0)
      return 10 * random.between(1, 220);
    int64_t tens = 1;
    for (int64_t k = 0; k < 4; ++k)
      tens += random.below(200);
    return 10 * tens;
  }

  Operation &addNode(int64_t cost) {
    addOperation(problem, "n" + std::to_string(getNumNodes()), {}, drawBytes(), cost);
    return problem.operations.back();
  }

  void addLayer() {
    int64_t before = begins.back(), begin = getNumNodes();
    int64_t size = std::min(random.between(std::max<int64_t>(width / 4, 1), width * 7 / 4),
                            shape.numNodes - 1 - begin);
    isRead.assign(begin - before, false);
    for (int64_t k = 0; k < size; ++k)
      linkToLayer(addNode(/*cost=*/random.below(1000)), before, begin);
    for (ValueIndex node = before; node < begin; ++node)
      if (!isRead[node - before])
        problem.operations[random.between(begin, begin + size - 1)].reads.push_back(node);
    for (OpIndex node = begin; node < begin + size; ++node)
      addSkips(problem.operations[node]);
    begins.push_back(begin);
  }

  /// Links an operation to one node at least of the layer [`begin`, `end`).
  void linkToLayer(Operation &op, ValueIndex begin, ValueIndex end) {
    ValueIndex fixed = random.between(begin, end - 1);
    for (ValueIndex node = begin; node < end; ++node) {
      if (node != fixed && random.below(100) >= shape.density)
        continue;
      op.reads.push_back(node);
      isRead[node - begin] = true;
    }
  }

  /// For each link, adds one to any layer before the last one, with the odds of the two
  /// kinds of links.
  void addSkips(Operation &op) {
    // Not the source.
    int64_t numLayers = static_cast<int64_t>(begins.size()) - 2;
    for (int64_t k = numLayers > 0 ? op.reads.size() : 0; k > 0; --k) {
      if (random.below(100 - shape.skips) >= shape.skips)
        continue;
      int64_t layer = random.between(1, numLayers);
      ValueIndex node = random.between(begins[layer], begins[layer + 1] - 1);
      if (!llvm::is_contained(op.reads, node))
        op.reads.push_back(node);
    }
  }

  const RandomLayeredShape &shape;
  int64_t width;
  Random random;
  Problem problem;
  /// Layer k has the nodes from begins[k] to the begin of the next one.
  std::vector<int64_t> begins;
  /// By node of the last layer: whether the layer that is being added reads it.
  std::vector<bool> isRead;
};

} // namespace

llvm::Expected<Problem> mlir::remat::planner::generate(const RandomLayeredShape &shape) {
  if (llvm::Error error = checkRange("nodes", shape.numNodes, 3, kMaxNodes))
    return error;
  if (llvm::Error error = checkRange("width", shape.width, 0, 1000))
    return error;
  if (llvm::Error error = checkRange("density", shape.density, 0, 100))
    return error;
  if (llvm::Error error = checkRange("skips", shape.skips, 0, 50))
    return error;
  return RandomLayered(shape).run();
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// The product of numbers of at least 0, at most one more than a problem may have of
/// anything.
static int64_t product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    if (llvm::MulOverflow(result, factor, result) || result > kMaxProblemSum)
      return llvm::is_contained(factors, 0) ? 0 : kMaxProblemSum + 1;
  return result;
}

namespace {

/// What the gradient of an input needs beside that of the result.
enum class Needs : uint8_t {
  Nothing,
  /// All inputs: f(x, y).
  Inputs,
  /// The inputs other than this one: x * y.
  OtherInputs,
  /// The result: exp(x).
  Result,
  /// The gradient is that of the result: x + y.
  Same,
};

/// A forward pass, and the tape that its backward pass is made from.
class Model {
public:
  /// Adds something that is there from the start; no gradient is asked for.
  ValueIndex addInput(std::string name, int64_t numElements) {
    return addBoundary(std::move(name), numElements);
  }
  /// The same, with a gradient.
  ValueIndex addParameter(std::string name, int64_t numElements) {
    ValueIndex parameter = addBoundary(std::move(name), numElements);
    needsGradient[parameter] = true;
    parameters.push_back(parameter);
    return parameter;
  }

  /// Adds an operation on distinct inputs; the gradient of each takes as many
  /// multiplications and additions as the operation.
  ValueIndex add(std::string name, llvm::ArrayRef<ValueIndex> inputs, int64_t numElements,
                 int64_t flops, Needs needs) {
    ValueIndex result = addStep(std::move(name), inputs, numElements, flops);
    for (ValueIndex input : inputs)
      needsGradient[result] = needsGradient[result] || needsGradient[input];
    tape.push_back({{inputs.begin(), inputs.end()}, result, flops, needs});
    return result;
  }

  int64_t getNumElements(ValueIndex value) const { return numElementsOf[value]; }

  /// Adds the backward pass from the last operation, the loss, and the terminator.
  llvm::Expected<Problem> finishBackward() {
    std::vector<ValueIndex> gradients(problem.values.size(), kNoValue);
    ValueIndex loss = tape.back().result;
    gradients[loss] = addStep("d_" + problem.values[loss].name, {loss}, 1, 1);
    for (const Entry &entry : llvm::reverse(tape))
      if (gradients[entry.result] != kNoValue)
        addGradients(entry, gradients);
    llvm::SmallVector<ValueIndex> results = {loss};
    for (ValueIndex parameter : parameters)
      if (gradients[parameter] != kNoValue)
        results.push_back(gradients[parameter]);
    return finish(std::move(problem), results);
  }

private:
  struct Entry {
    llvm::SmallVector<ValueIndex, 3> inputs;
    ValueIndex result;
    int64_t flops;
    Needs needs;
  };

  static int64_t toBytes(int64_t numElements) { return product({2, numElements}); }

  ValueIndex addBoundary(std::string name, int64_t numElements) {
    Value value;
    value.name = std::move(name);
    value.bytes = toBytes(numElements);
    problem.values.push_back(std::move(value));
    needsGradient.push_back(false);
    numElementsOf.push_back(numElements);
    return static_cast<ValueIndex>(problem.values.size()) - 1;
  }

  ValueIndex addStep(std::string name, llvm::ArrayRef<ValueIndex> reads, int64_t numElements,
                     int64_t flops) {
    int64_t bytes = toBytes(numElements), moved = bytes;
    for (ValueIndex value : reads)
      moved = std::min(moved + problem.values[value].bytes, kMaxProblemSum);
    int64_t cost = std::max<int64_t>(llvm::divideCeil(flops, 800), llvm::divideCeil(moved, 3));
    needsGradient.push_back(false);
    numElementsOf.push_back(numElements);
    return addOperation(problem, std::move(name), reads, bytes, cost);
  }

  void addGradients(const Entry &entry, std::vector<ValueIndex> &gradients) {
    ValueIndex outer = gradients[entry.result];
    for (auto [index, input] : llvm::enumerate(entry.inputs)) {
      if (!needsGradient[input])
        continue;
      ValueIndex gradient = outer;
      if (entry.needs != Needs::Same) {
        llvm::SmallVector<ValueIndex, 4> reads = {outer};
        if (entry.needs == Needs::Result)
          reads.push_back(entry.result);
        for (ValueIndex other : entry.inputs)
          if (entry.needs == Needs::Inputs || (entry.needs == Needs::OtherInputs && other != input))
            reads.push_back(other);
        std::string name = "d" + std::to_string(index) + "_" + problem.values[entry.result].name;
        gradient = addStep(std::move(name), reads, numElementsOf[input], entry.flops);
      }
      ValueIndex &sum = gradients[input];
      sum = sum == kNoValue ? gradient
                            : addStep("sum_" + problem.values[input].name, {sum, gradient},
                                      numElementsOf[input], numElementsOf[input]);
    }
  }

  Problem problem;
  std::vector<Entry> tape;
  std::vector<ValueIndex> parameters;
  /// By value.
  std::vector<bool> needsGradient;
  std::vector<int64_t> numElementsOf;
};

/// Layers that work on any number of elements.
struct Layers : Model {
  ValueIndex addElementwise(std::string name, ValueIndex input, int64_t flopsPerElement,
                            Needs needs) {
    int64_t size = getNumElements(input);
    return add(std::move(name), {input}, size, product({flopsPerElement, size}), needs);
  }
  ValueIndex addSum(std::string name, ValueIndex a, ValueIndex b) {
    int64_t size = getNumElements(a);
    return add(std::move(name), {a, b}, size, size, Needs::Same);
  }
  /// The product with a parameter of `numIn` rows and `numOut` columns.
  ValueIndex addLinear(const std::string &name, ValueIndex input, int64_t numRows, int64_t numIn,
                       int64_t numOut) {
    ValueIndex weight = addParameter(name + "_weight", product({numIn, numOut}));
    return add(name, {input, weight}, product({numRows, numOut}),
               product({2, numRows, numIn, numOut}), Needs::OtherInputs);
  }
  /// Normalization with a factor per feature.
  ValueIndex addNorm(const std::string &name, ValueIndex input, int64_t numFeatures) {
    int64_t size = getNumElements(input);
    ValueIndex scale = addParameter(name + "_scale", numFeatures);
    return add(name, {input, scale}, size, product({8, size}), Needs::Inputs);
  }
  ValueIndex addLoss(ValueIndex logits) {
    return add("loss", {logits}, 1, product({6, getNumElements(logits)}), Needs::Inputs);
  }
};

/// Images of several channels.
struct Image {
  ValueIndex value;
  int64_t channels, extent;
};

/// Layers on images of one batch.
struct ImageLayers : Layers {
  int64_t batch = 1;

  int64_t getSize(int64_t channels, int64_t extent) const {
    return product({batch, channels, extent, extent});
  }
  Image addImages(std::string name, int64_t channels, int64_t extent) {
    return {addInput(std::move(name), getSize(channels, extent)), channels, extent};
  }
  Image addConvolution(const std::string &name, Image input, int64_t channels, int64_t kernel,
                       int64_t stride = 1) {
    int64_t extent = llvm::divideCeil(input.extent, stride);
    ValueIndex weight =
        addParameter(name + "_weight", product({kernel, kernel, input.channels, channels}));
    int64_t size = getSize(channels, extent);
    return {add(name, {input.value, weight}, size,
                product({2, size, kernel, kernel, input.channels}), Needs::OtherInputs),
            channels, extent};
  }
  Image addBatchNorm(const std::string &name, Image input) {
    return {addNorm(name, input.value, input.channels), input.channels, input.extent};
  }
  Image addReLU(std::string name, Image input) {
    return {addElementwise(std::move(name), input.value, 1, Needs::Result), input.channels,
            input.extent};
  }
  Image addMaxPool(std::string name, Image input) {
    int64_t extent = llvm::divideCeil(input.extent, 2);
    return {add(std::move(name), {input.value}, getSize(input.channels, extent),
                getNumElements(input.value), Needs::Inputs),
            input.channels, extent};
  }
};

} // namespace

llvm::Expected<Problem> mlir::remat::planner::generate(const TransformerShape &shape) {
  if (llvm::Error error = checkRange("layers", shape.numLayers, 1, 10'000))
    return error;
  for (auto [what, number] : {std::pair("batch", shape.batch),
                              {"sequence", shape.sequence},
                              {"model size", shape.modelSize},
                              {"heads", shape.numHeads},
                              {"vocabulary", shape.vocabulary}})
    if (llvm::Error error = checkRange(what, number, 1, kMaxExtent))
      return error;
  if (shape.modelSize % shape.numHeads)
    return makeError("expected a model size that is a multiple of the {0} heads, but got {1}",
                     shape.numHeads, shape.modelSize);
  int64_t rows = shape.batch * shape.sequence, width = shape.modelSize;
  int64_t numScores = product({shape.batch, shape.numHeads, shape.sequence, shape.sequence});
  int64_t scoreFlops = product({2, shape.batch, shape.sequence, shape.sequence, width});

  Layers model;
  ValueIndex tokens = model.addInput("tokens", rows);
  ValueIndex table = model.addParameter("embedding_weight", product({shape.vocabulary, width}));
  ValueIndex state =
      model.add("embedding", {tokens, table}, product({rows, width}), 0, Needs::OtherInputs);
  for (int64_t layer = 0; layer < shape.numLayers; ++layer) {
    auto named = [&](const char *name) { return "l" + std::to_string(layer) + "_" + name; };
    ValueIndex norm = model.addNorm(named("norm1"), state, width);
    ValueIndex query = model.addLinear(named("query"), norm, rows, width, width);
    ValueIndex key = model.addLinear(named("key"), norm, rows, width, width);
    ValueIndex value = model.addLinear(named("value"), norm, rows, width, width);
    ValueIndex scores =
        model.add(named("scores"), {query, key}, numScores, scoreFlops, Needs::OtherInputs);
    ValueIndex weights = model.addElementwise(named("softmax"), scores, 5, Needs::Result);
    ValueIndex mixed = model.add(named("attention"), {weights, value}, product({rows, width}),
                                 scoreFlops, Needs::OtherInputs);
    ValueIndex projected = model.addLinear(named("projection"), mixed, rows, width, width);
    state = model.addSum(named("residual1"), state, projected);
    norm = model.addNorm(named("norm2"), state, width);
    ValueIndex wide = model.addLinear(named("expand"), norm, rows, width, 4 * width);
    ValueIndex active = model.addElementwise(named("gelu"), wide, 10, Needs::Inputs);
    ValueIndex narrow = model.addLinear(named("contract"), active, rows, 4 * width, width);
    state = model.addSum(named("residual2"), state, narrow);
  }
  state = model.addNorm("norm", state, width);
  model.addLoss(model.addLinear("logits", state, rows, width, shape.vocabulary));
  return model.finishBackward();
}

/// One bottleneck: 1x1, 3x3 and 1x1 convolutions, and a convolution around them where
/// the shape changes.
static Image addBottleneck(ImageLayers &model, const std::string &name, Image input,
                           int64_t channels, int64_t stride) {
  auto addStage = [&](const char *stage, Image from, int64_t to, int64_t kernel, int64_t step) {
    return model.addBatchNorm(name + "_norm" + stage,
                              model.addConvolution(name + "_conv" + stage, from, to, kernel, step));
  };
  Image inner = model.addReLU(name + "_relu1", addStage("1", input, channels, 1, 1));
  inner = model.addReLU(name + "_relu2", addStage("2", inner, channels, 3, stride));
  inner = addStage("3", inner, 4 * channels, 1, 1);
  Image outer = input;
  if (stride != 1 || input.channels != 4 * channels)
    outer = addStage("0", input, 4 * channels, 1, stride);
  inner.value = model.addSum(name + "_sum", inner.value, outer.value);
  return model.addReLU(name + "_relu3", inner);
}

llvm::Expected<Problem> mlir::remat::planner::generate(const ResNetShape &shape) {
  if (llvm::Error error = checkRange("groups of blocks", shape.numBlocks.size(), 1, 8))
    return error;
  for (int64_t count : shape.numBlocks)
    if (llvm::Error error = checkRange("blocks", count, 1, 10'000))
      return error;
  for (auto [what, number] : {std::pair("batch", shape.batch), {"image", shape.image}})
    if (llvm::Error error = checkRange(what, number, 1, kMaxExtent))
      return error;
  ImageLayers model;
  model.batch = shape.batch;
  Image state = model.addConvolution("conv", model.addImages("images", 3, shape.image), 64, 7, 2);
  state = model.addMaxPool("pool", model.addReLU("relu", model.addBatchNorm("norm", state)));
  for (auto [group, count] : llvm::enumerate(shape.numBlocks))
    for (int64_t block = 0; block < count; ++block)
      state = addBottleneck(model, "g" + std::to_string(group) + "b" + std::to_string(block), state,
                            int64_t(64) << group, group > 0 && block == 0 ? 2 : 1);
  ValueIndex features = model.add("mean", {state.value}, product({shape.batch, state.channels}),
                                  model.getNumElements(state.value), Needs::Nothing);
  model.addLoss(model.addLinear("logits", features, shape.batch, state.channels, 1000));
  return model.finishBackward();
}

llvm::Expected<Problem> mlir::remat::planner::generate(const UNetShape &shape) {
  if (llvm::Error error = checkRange("levels", shape.numLevels, 1, 12))
    return error;
  for (auto [what, number] :
       {std::pair("batch", shape.batch), {"image", shape.image}, {"channels", shape.channels}})
    if (llvm::Error error = checkRange(what, number, 1, kMaxExtent))
      return error;
  if (shape.image % (int64_t(1) << shape.numLevels))
    return makeError("expected an image that is a multiple of {0}, but got {1}",
                     int64_t(1) << shape.numLevels, shape.image);
  ImageLayers model;
  model.batch = shape.batch;
  auto addPair = [&](const std::string &name, Image state, int64_t channels) {
    for (const char *stage : {"1", "2"})
      state = model.addReLU(name + "_relu" + stage,
                            model.addConvolution(name + "_conv" + stage, state, channels, 3));
    return state;
  };
  Image state = model.addImages("images", 3, shape.image);
  llvm::SmallVector<Image> saved;
  for (int64_t level = 0; level < shape.numLevels; ++level) {
    std::string name = "down" + std::to_string(level);
    saved.push_back(addPair(name, state, shape.channels << level));
    state = model.addMaxPool(name + "_pool", saved.back());
  }
  state = addPair("bottom", state, shape.channels << shape.numLevels);
  for (int64_t level = shape.numLevels - 1; level >= 0; --level) {
    std::string name = "up" + std::to_string(level);
    int64_t channels = shape.channels << level, extent = 2 * state.extent;
    int64_t size = model.getSize(channels, extent);
    // A transposed convolution, 2x2 with a stride of 2.
    ValueIndex weight =
        model.addParameter(name + "_weight", product({4, state.channels, channels}));
    ValueIndex upsampled = model.add(name, {state.value, weight}, size,
                                     product({2, size, state.channels}), Needs::OtherInputs);
    ValueIndex both = model.add(name + "_concat", {saved[level].value, upsampled},
                                product({2, size}), 0, Needs::Nothing);
    state = addPair(name, {both, 2 * channels, extent}, channels);
  }
  model.addLoss(model.addConvolution("logits", state, 2, 1).value);
  return model.finishBackward();
}
