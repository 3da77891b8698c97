//===- DeviceConvolution.cpp - Convolutions as cuDNN takes them -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cuDNN wants at least two spatial dimensions, so that one more of size 1 comes before a single
// one.
//
//===----------------------------------------------------------------------===//

#include "DeviceLayouts.h"

#include <algorithm>
#include <utility>

using namespace mlir::remat;

namespace {
/// A tensor before its numbers are known to fit: [batch, channel, spatial dimensions].
using Dimensions = std::vector<DeviceDimension>;

/// A convolution in the forward form, with two or three spatial dimensions.
struct Problem {
  int64_t batch, groups, inputChannels, outputChannels;
  std::vector<int64_t> inputSizes, windowSizes, outputSizes, strides, dilations;
  int64_t inputBatch, inputChannel, outputBatch, outputChannel;
  int64_t filterGroup, filterOutput, filterInput;
  std::vector<int64_t> inputStrides, windowStrides, outputStrides;
};
} // namespace

int64_t mlir::remat::countElements(const DeviceTensor &tensor) {
  int64_t count = 1;
  for (int dim = 0; dim < tensor.numDimensions; ++dim)
    count *= tensor.sizes[dim];
  return count;
}

static int64_t multiply(const std::vector<int64_t> &sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

static Problem describe(const RematConvolution &how) {
  auto spatial = [&](const int64_t *values) {
    std::vector<int64_t> result(values, values + how.rank);
    if (how.rank == 1)
      result.insert(result.begin(), 1);
    return result;
  };
  Problem problem;
  problem.batch = how.batch;
  problem.groups = how.groups;
  problem.inputChannels = how.inputChannels;
  problem.outputChannels = how.outputChannels;
  problem.inputSizes = spatial(how.inputSizes);
  problem.windowSizes = spatial(how.windowSizes);
  problem.outputSizes = spatial(how.outputSizes);
  problem.strides = spatial(how.strides);
  problem.dilations = spatial(how.dilations);
  problem.inputBatch = how.inputStrides[0];
  problem.inputChannel = how.inputStrides[1];
  problem.inputStrides = spatial(how.inputStrides + 2);
  problem.filterGroup = how.filterStrides[0];
  problem.filterOutput = how.filterStrides[1];
  problem.filterInput = how.filterStrides[2];
  problem.windowStrides = spatial(how.filterStrides + 3);
  problem.outputBatch = how.outputStrides[0];
  problem.outputChannel = how.outputStrides[1];
  problem.outputStrides = spatial(how.outputStrides + 2);
  return problem;
}

/// The forward convolution whose filter gradient this one is: window and output change places,
/// and so do batch and channels of the input, strides and dilations.
static Problem exchange(const Problem &how) {
  Problem result = how;
  std::swap(result.batch, result.inputChannels);
  std::swap(result.inputBatch, result.inputChannel);
  std::swap(result.windowSizes, result.outputSizes);
  std::swap(result.windowStrides, result.outputStrides);
  std::swap(result.strides, result.dilations);
  result.filterOutput = how.outputChannel;
  result.filterInput = how.outputBatch;
  result.outputBatch = how.filterInput;
  result.outputChannel = how.filterOutput;
  return result;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static Dimensions join(DeviceDimension first, DeviceDimension second,
                       const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) {
  Dimensions result = {first, second};
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    result.push_back({sizes[dim], strides[dim]});
  return result;
}

/// Nothing if sizes, strides, or the number of elements with gaps do not fit in an int.
static std::optional<DeviceTensor> makeTensor(const Dimensions &dimensions) {
  DeviceTensor tensor;
  int64_t span = 1;
  for (const DeviceDimension &dimension : dimensions) {
    auto [size, stride] = dimension;
    if (size > INT32_MAX || (size > 1 && (stride < 1 || stride > INT32_MAX)))
      return std::nullopt;
    span += size > 1 ? (size - 1) * stride : 0;
    if (span > INT32_MAX)
      return std::nullopt;
    tensor.sizes[tensor.numDimensions] = static_cast<int>(size);
    tensor.strides[tensor.numDimensions++] = static_cast<int>(size > 1 ? stride : 0);
  }
  // Along dimensions of size 1, behind everything else.
  for (int dim = 0; dim < tensor.numDimensions; ++dim)
    if (tensor.sizes[dim] == 1)
      tensor.strides[dim] = static_cast<int>(span);
  return tensor;
}

/// The same tensor without gaps, the first dimension slowest; the second is the fastest, or
/// the second slowest. Nothing if there are too many elements.
static std::optional<DeviceTensor> pack(const DeviceTensor &like, bool channelsLast) {
  std::vector<int> order = {0};
  if (!channelsLast)
    order.push_back(1);
  for (int dim = 2; dim < like.numDimensions; ++dim)
    order.push_back(dim);
  if (channelsLast)
    order.push_back(1);
  DeviceTensor packed = like;
  int64_t stride = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    packed.strides[*dim] = static_cast<int>(stride);
    stride *= like.sizes[*dim];
    if (stride > INT32_MAX)
      return std::nullopt;
  }
  return packed;
}

static bool areAtSamePlaces(const DeviceTensor &a, const DeviceTensor &b) {
  for (int dim = 0; dim < a.numDimensions; ++dim)
    if (a.sizes[dim] != 1 && a.strides[dim] != b.strides[dim])
      return false;
  return true;
}

/// Gives dimensions of size 1 the strides of a packed tensor, if the others have them.
static bool setPacked(DeviceTensor &tensor, bool channelsLast) {
  std::optional<DeviceTensor> packed = pack(tensor, channelsLast);
  if (!packed || !areAtSamePlaces(tensor, *packed))
    return false;
  tensor = *packed;
  return true;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Sets how the filter is packed, and how it gets there.
static bool setFilter(DeviceConvolution &form, const Problem &problem) {
  int64_t groups = problem.groups, channels = problem.outputChannels;
  bool isOnePiece =
      groups == 1 || channels == 1 || problem.filterGroup == channels * problem.filterOutput;
  int64_t outputStride = channels == 1 ? problem.filterGroup : problem.filterOutput;
  DeviceDimension input = {problem.inputChannels, problem.filterInput};
  DeviceDimension output = {channels, problem.filterOutput};
  if (isOnePiece)
    output = {groups * channels, outputStride};
  auto piece = makeTensor(join(output, input, problem.windowSizes, problem.windowStrides));
  if (!piece)
    return false;
  DeviceTensor whole = *piece;
  whole.sizes[0] = static_cast<int>(groups * channels);

  DeviceTensor lastInput = form.input, lastOutput = form.output;
  bool canBeLast = setPacked(lastInput, true) && setPacked(lastOutput, true);
  auto inOrder = pack(whole, false), last = pack(whole, true);
  if (!inOrder || !last)
    return false;
  bool isInOrder = isOnePiece && areAtSamePlaces(*piece, *inOrder);
  form.channelsLast = canBeLast && !isInOrder;
  form.filter = form.channelsLast ? *last : *inOrder;
  if (form.channelsLast) {
    form.input = lastInput;
    form.output = lastOutput;
  }
  if (isOnePiece && areAtSamePlaces(*piece, form.filter))
    return true;

  form.numPieces = static_cast<int>(isOnePiece ? 1 : groups);
  form.givenPiece = *piece;
  form.packedPiece = *pack(*piece, form.channelsLast);
  form.givenPieceStride = problem.filterGroup;
  form.packedPieceStride = countElements(*piece);
  form.stagingBytes = padDeviceBytes(countElements(form.filter) * getElementBytes(form.type));
  return true;
}

static int64_t findScratch(const DeviceConvolution &form) {
  constexpr int64_t kMaxBytes = int64_t(32) << 20, kParts = 8;
  int64_t bytes = getElementBytes(form.type);
  int64_t filterBytes = form.isFilterGradient ? kParts * getSumBytes(form.type) : bytes;
  int64_t needed = bytes * (countElements(form.input) + countElements(form.output)) +
                   filterBytes * countElements(form.filter);
  return std::min(padDeviceBytes(needed), kMaxBytes);
}

static std::optional<DeviceConvolution> makeForm(const Problem &problem, RematElement type,
                                                 bool isFilterGradient) {
  DeviceConvolution form;
  form.isFilterGradient = isFilterGradient;
  form.type = type;
  // Of the input what is read, unless there is less than one stride behind it: then the output
  // has the same size, and the input may be packed.
  std::vector<int64_t> sizes;
  for (size_t dim = 0; dim < problem.inputSizes.size(); ++dim) {
    int64_t stride = problem.strides[dim], dilation = problem.dilations[dim];
    if (stride > INT32_MAX || dilation > INT32_MAX)
      return std::nullopt;
    form.strides[dim] = static_cast<int>(stride);
    form.dilations[dim] = static_cast<int>(dilation);
    int64_t read =
        (problem.outputSizes[dim] - 1) * stride + (problem.windowSizes[dim] - 1) * dilation + 1;
    bool isAll = problem.inputSizes[dim] - read < stride;
    sizes.push_back(isAll ? problem.inputSizes[dim] : read);
  }
  int64_t groups = problem.groups;
  auto input = makeTensor(join({problem.batch, problem.inputBatch},
                               {groups * problem.inputChannels, problem.inputChannel}, sizes,
                               problem.inputStrides));
  auto output = makeTensor(join({problem.batch, problem.outputBatch},
                                {groups * problem.outputChannels, problem.outputChannel},
                                problem.outputSizes, problem.outputStrides));
  if (!input || !output)
    return std::nullopt;
  form.groups = static_cast<int>(groups);
  form.input = *input;
  form.output = *output;
  if (!setFilter(form, problem))
    return std::nullopt;
  if (!form.channelsLast)
    for (DeviceTensor *tensor : {&form.input, &form.output})
      if (!setPacked(*tensor, false))
        setPacked(*tensor, true);
  form.scratchBytes = findScratch(form);
  return form;
}

static bool areTypesTaken(const RematConvolution &how) {
  RematElement type = how.inputType;
  if (type == RematElement::I1 || how.filterType != type)
    return false;
  bool isSingle = how.outputType == RematElement::F32 || how.outputType == RematElement::TF32;
  if (type == RematElement::F32 || type == RematElement::TF32)
    return isSingle;
  return how.outputType == type;
}

static bool isOutputDistinct(const Problem &problem) {
  Dimensions output = join({problem.batch, problem.outputBatch},
                           {problem.groups * problem.outputChannels, problem.outputChannel},
                           problem.outputSizes, problem.outputStrides);
  return makeTensor(output) && areDistinct(output);
}

std::optional<DeviceConvolutions> mlir::remat::getDeviceConvolutions(const RematConvolution &how) {
  if (!areTypesTaken(how))
    return std::nullopt;
  Problem problem = describe(how);
  int64_t window = multiply(problem.windowSizes), output = multiply(problem.outputSizes);
  DeviceConvolutions result;
  if (how.batch == 0 || how.groups == 0 || how.inputChannels == 0 || how.outputChannels == 0 ||
      window == 0 || output == 0) {
    result.isEmpty = true;
    return result;
  }
  if (!isOutputDistinct(problem))
    return std::nullopt;
  if (how.groups == 1 && window > output)
    if (auto gradient = makeForm(exchange(problem), how.inputType, /*isFilterGradient=*/true))
      result.forms.push_back(*gradient);
  if (auto forward = makeForm(problem, how.inputType, /*isFilterGradient=*/false))
    result.forms.push_back(*forward);
  if (result.forms.empty())
    return std::nullopt;
  for (const DeviceConvolution &form : result.forms)
    result.workspaceBytes = std::max(result.workspaceBytes, form.stagingBytes + form.scratchBytes);
  return result;
}

int64_t mlir::remat::getDeviceConvolutionWorkspace(const RematConvolution &convolution) {
  std::optional<DeviceConvolutions> taken = getDeviceConvolutions(convolution);
  return taken ? taken->workspaceBytes : -1;
}
