//===- Convolution.cpp - Convolutions through oneDNN ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries are fast when the window is small. Where it is nearly as large as the input and
// the output is small instead, as in the gradient of a filter, that is what is computed:
// window and output change places, and so do batch and channels of the input, strides and
// dilations.
//
//     forward          input[n, i, x * s + w * d] * filter[o, i, w] -> output[n, o, x]
//     filter gradient  source[i, n, w * d + x * s] * result[i, o, w] -> filter[o, n, x]
//
// The library gets data with channels last, and filters in the format that it prefers.
// Operands in another one are reordered in the workspace.
//
//===----------------------------------------------------------------------===//

#include "Remat/Runtime/Runtime.h"
#include "Workspace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

using namespace mlir::remat::runtime;
using dnnl::memory;
using Tag = memory::format_tag;

namespace {
const dnnl::engine &getEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Scratch memory comes from the caller; the result is added to what is there if asked for.
dnnl::primitive_attr makeAttributes(bool accumulates) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops operations;
  if (accumulates)
    operations.append_sum();
  attributes.set_post_ops(operations);
  return attributes;
}

/// One of the operands: as the caller has it, and as the library takes it.
struct Operand {
  int argument = 0;
  memory::desc given, taken;
  /// From the one to the other, for the result the other way round; empty if the library
  /// takes, or adds to, what is given.
  dnnl::reorder reorder;
  memory::desc scratchpad;
  /// Of what is taken in the workspace, in bytes.
  int64_t offset = 0;
};

/// The place and format of an operand in the order of oneDNN: strides of dimensions of size
/// 1 are as in `like`. An empty descriptor if elements overlap.
memory::desc describe(const memory::dims &sizes, memory::dims strides, Tag like) {
  memory::desc model(sizes, memory::data_type::f32, like);
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] == 1)
      strides[dim] = model.data.format_desc.blocking.strides[dim];
  return {sizes, memory::data_type::f32, strides, /*allow_empty=*/true};
}

/// The first sizes, and those of the spatial dimensions.
memory::dims concat(memory::dims first, const int64_t *spatial, int64_t rank) {
  first.insert(first.end(), spatial, spatial + rank);
  return first;
}

int64_t product(const int64_t (&sizes)[3]) {
  return std::accumulate(std::begin(sizes), std::end(sizes), int64_t(1), std::multiplies<>());
}

/// The forward convolution whose filter gradient `how` is, with the output of `how` in the
/// place of the filter, and the filter in the place of the output.
RematConvolution exchange(const RematConvolution &how) {
  RematConvolution result = how;
  std::swap(result.batch, result.inputChannels);
  std::swap(result.windowSizes, result.outputSizes);
  std::swap(result.strides, result.dilations);
  std::swap(result.inputStrides[0], result.inputStrides[1]);
  result.filterStrides[1] = how.outputStrides[1];
  result.filterStrides[2] = how.outputStrides[0];
  result.outputStrides[0] = how.filterStrides[2];
  result.outputStrides[1] = how.filterStrides[1];
  for (int dim = 0; dim < 3; ++dim) {
    result.filterStrides[3 + dim] = how.outputStrides[2 + dim];
    result.outputStrides[2 + dim] = how.filterStrides[3 + dim];
  }
  return result;
}

class Convolution {
public:
  /// Nothing if the library does not compute it.
  static std::optional<Convolution> create(const RematConvolution &how);

  int64_t getWorkspace() const { return workspaceBytes; }
  void run(void *inputData, void *filterData, void *outputData, char *workspace) const;

private:
  bool setPrimitive(const RematConvolution &how);
  bool setReorder(Operand &operand);

  bool isResult(const Operand &operand) const {
    return &operand == (isGradient ? &filter : &output);
  }

  /// In the order of the forward convolution: if the gradient of its filter is computed,
  /// `filter` is the caller's output, and `output` the caller's filter.
  Operand input, filter, output;
  bool isGradient = false;
  /// Empty if there is nothing to add.
  dnnl::primitive primitive;
  memory::desc scratchpad;
  int64_t scratchpadOffset = 0, workspaceBytes = 0;
};
} // namespace

/// Describes the operands of a forward convolution, and creates it or the gradient of its
/// filter.
bool Convolution::setPrimitive(const RematConvolution &how) {
  constexpr Tag kDataTags[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  constexpr Tag kFilterTags[] = {Tag::oiw, Tag::oihw, Tag::oidhw};
  constexpr Tag kGroupTags[] = {Tag::goiw, Tag::goihw, Tag::goidhw};
  Tag dataTag = kDataTags[how.rank - 1];
  bool hasGroups = how.groups != 1;

  memory::dims strides(how.strides, how.strides + how.rank), dilations, paddings;
  memory::dims inputSizes{how.batch, how.groups * how.inputChannels};
  for (int dim = 0; dim < how.rank; ++dim) {
    int64_t size = (how.outputSizes[dim] - 1) * how.strides[dim] +
                   (how.windowSizes[dim] - 1) * how.dilations[dim] + 1;
    // What is behind the last window is there, but not needed. There may be less of it than
    // one stride.
    int64_t excess = how.inputSizes[dim] - size;
    paddings.push_back(excess < how.strides[dim] ? -excess : 0);
    inputSizes.push_back(size - paddings.back());
    dilations.push_back(how.dilations[dim] - 1);
  }
  memory::dims filterSizes{how.outputChannels, how.inputChannels};
  if (hasGroups)
    filterSizes.insert(filterSizes.begin(), how.groups);
  filterSizes = concat(filterSizes, how.windowSizes, how.rank);
  memory::dims outputSizes =
      concat({how.batch, how.groups * how.outputChannels}, how.outputSizes, how.rank);

  const int64_t *filterStrides = how.filterStrides + (hasGroups ? 0 : 1);
  input.given = describe(inputSizes, {how.inputStrides, how.inputStrides + 2 + how.rank}, dataTag);
  filter.given = describe(filterSizes, {filterStrides, filterStrides + filterSizes.size()},
                          (hasGroups ? kGroupTags : kFilterTags)[how.rank - 1]);
  output.given =
      describe(outputSizes, {how.outputStrides, how.outputStrides + 2 + how.rank}, dataTag);
  if (!input.given || !filter.given || !output.given)
    return false;

  auto f32 = memory::data_type::f32;
  input.taken = memory::desc(inputSizes, f32, dataTag);
  memory::desc anyFilter(filterSizes, f32, Tag::any);
  output.taken = memory::desc(outputSizes, f32, dataTag);
  memory::dims noPadding(how.rank, 0);
  auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::convolution_forward::desc forward(dnnl::prop_kind::forward_training, algorithm, input.taken,
                                          anyFilter, output.taken, strides, dilations, noPadding,
                                          paddings);
  bool addsItself = !isGradient && output.given == output.taken;
  dnnl::convolution_forward::primitive_desc forwardKind(forward, makeAttributes(addsItself),
                                                        getEngine(), /*allow_empty=*/true);
  if (!forwardKind)
    return false;
  input.argument = DNNL_ARG_SRC;
  if (!isGradient) {
    filter.argument = DNNL_ARG_WEIGHTS;
    output.argument = DNNL_ARG_DST;
    filter.taken = forwardKind.weights_desc();
    scratchpad = forwardKind.scratchpad_desc();
    primitive = dnnl::convolution_forward(forwardKind);
    return true;
  }
  dnnl::convolution_backward_weights::desc gradient(algorithm, input.taken, anyFilter, output.taken,
                                                    strides, dilations, noPadding, paddings);
  dnnl::convolution_backward_weights::primitive_desc gradientKind(
      gradient, makeAttributes(false), getEngine(), forwardKind, /*allow_empty=*/true);
  if (!gradientKind)
    return false;
  filter.argument = DNNL_ARG_DIFF_WEIGHTS;
  output.argument = DNNL_ARG_DIFF_DST;
  filter.taken = gradientKind.diff_weights_desc();
  scratchpad = gradientKind.scratchpad_desc();
  primitive = dnnl::convolution_backward_weights(gradientKind);
  return true;
}

/// Plans a copy of an operand in the workspace if there has to be one.
bool Convolution::setReorder(Operand &operand) {
  bool isAdded = isResult(operand) && isGradient;
  if (operand.given == operand.taken && !isAdded)
    return true;
  bool isBack = isResult(operand);
  dnnl::reorder::primitive_desc kind(getEngine(), isBack ? operand.taken : operand.given,
                                     getEngine(), isBack ? operand.given : operand.taken,
                                     makeAttributes(isBack), /*allow_empty=*/true);
  if (!kind)
    return false;
  operand.reorder = dnnl::reorder(kind);
  operand.scratchpad = kind.scratchpad_desc();
  operand.offset = workspaceBytes;
  workspaceBytes += pad(static_cast<int64_t>(operand.taken.get_size()));
  return true;
}

std::optional<Convolution> Convolution::create(const RematConvolution &how) {
  auto isF32 = [](RematElement type) {
    return type == RematElement::F32 || type == RematElement::TF32;
  };
  if (!isF32(how.inputType) || !isF32(how.filterType) || !isF32(how.outputType))
    return std::nullopt;
  Convolution result;
  if (how.batch * how.groups * how.inputChannels * how.outputChannels * product(how.windowSizes) *
          product(how.outputSizes) ==
      0)
    return result;
  result.isGradient = how.groups == 1 && product(how.outputSizes) < product(how.windowSizes);
  if (!result.setPrimitive(result.isGradient ? exchange(how) : how) ||
      !result.setReorder(result.input) || !result.setReorder(result.filter) ||
      !result.setReorder(result.output))
    return std::nullopt;
  // One after the other, they share their scratch memory.
  size_t scratchBytes =
      std::max({result.scratchpad.get_size(), result.input.scratchpad.get_size(),
                result.filter.scratchpad.get_size(), result.output.scratchpad.get_size()});
  result.scratchpadOffset = result.workspaceBytes;
  result.workspaceBytes += pad(static_cast<int64_t>(scratchBytes));
  return result;
}

void Convolution::run(void *inputData, void *filterData, void *outputData, char *workspace) const {
  if (!primitive)
    return;
  if (isGradient)
    std::swap(filterData, outputData);
  dnnl::stream stream(getEngine());
  char *scratch = workspace + scratchpadOffset;
  auto reorder = [&](const Operand &operand, const memory &from, const memory &to) {
    operand.reorder.execute(
        stream, {{DNNL_ARG_FROM, from},
                 {DNNL_ARG_TO, to},
                 {DNNL_ARG_SCRATCHPAD, memory(operand.scratchpad, getEngine(), scratch)}});
  };
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SCRATCHPAD, memory(scratchpad, getEngine(), scratch)}};
  for (auto [operand, data] : {std::pair(&input, inputData), std::pair(&filter, filterData),
                               std::pair(&output, outputData)}) {
    void *place = operand->reorder ? workspace + operand->offset : data;
    memory taken(operand->taken, getEngine(), place);
    if (operand->reorder && !isResult(*operand))
      reorder(*operand, memory(operand->given, getEngine(), data), taken);
    arguments.emplace(operand->argument, taken);
  }
  primitive.execute(stream, arguments);
  if (const Operand &result = isGradient ? filter : output; result.reorder)
    reorder(result, arguments.at(result.argument),
            memory(result.given, getEngine(), isGradient ? filterData : outputData));
  stream.wait();
}

/// Convolutions that this process has seen.
static const std::optional<Convolution> &lookup(const RematConvolution &how) {
  using Key = std::array<int64_t, sizeof(RematConvolution) / sizeof(int64_t)>;
  static std::mutex mutex;
  static std::map<Key, std::optional<Convolution>> known;
  Key key;
  std::memcpy(key.data(), &how, sizeof(how));
  std::lock_guard<std::mutex> lock(mutex);
  auto found = known.find(key);
  if (found == known.end())
    found = known.emplace(key, Convolution::create(how)).first;
  return found->second;
}

REMAT_EXPORT int64_t rematConvolutionWorkspace(const RematConvolution *convolution) {
  const std::optional<Convolution> &known = lookup(*convolution);
  return known ? known->getWorkspace() : -1;
}

REMAT_EXPORT void rematConvolution(const RematConvolution *convolution, const void *input,
                                   const void *filter, void *output, void *workspace,
                                   int64_t workspaceBytes) {
  const std::optional<Convolution> &known = lookup(*convolution);
  if (!known) {
    std::fputs("rematConvolution: the library does not compute this convolution here\n", stderr);
    std::abort();
  }
  checkWorkspace("rematConvolution", known->getWorkspace(), workspaceBytes);
  // The library only reads what is not the result, but does not say so.
  known->run(const_cast<void *>(input), const_cast<void *>(filter), output,
             static_cast<char *>(workspace));
}
