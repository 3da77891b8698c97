//===- Dnn.cpp - A libcudnn.so.9 without a GPU ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two forward algorithms and one for the gradient of a filter. FAKE_CUDNN_SCRATCH=BYTES is what
// the better ones want of scratch memory, 1000 if it is not set, and FAKE_CUDNN_PLAIN_SCRATCH=BYTES
// what the other one wants, or nothing; there is garbage in it afterwards.
//
//===----------------------------------------------------------------------===//

#include "DnnDescriptors.h"
#include "FakeDriver.h"

#include <cstdlib>
#include <set>

using namespace mlir::remat::fake;

static std::set<cudnnHandle_t> &handles = *new std::set<cudnnHandle_t>;
static cudaStream_t stream = nullptr;

static cudnnStatus_t begin(const char *function, cudnnHandle_t handle) {
  if (fakeCudaFails(function))
    return CUDNN_STATUS_INTERNAL_ERROR;
  if (handles.count(handle) == 0 || !fakeCudaHasContext())
    return reject("handle or context");
  return CUDNN_STATUS_SUCCESS;
}

#define BEGIN(FUNCTION)                                                                            \
  if (cudnnStatus_t status = begin(FUNCTION, handle); status != CUDNN_STATUS_SUCCESS)              \
    return status;

FAKE_EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  if (fakeCudaFails("cudnnCreate"))
    return CUDNN_STATUS_INTERNAL_ERROR;
  if (!fakeCudaHasContext())
    return reject("no current context");
  *handle = reinterpret_cast<cudnnHandle_t>(new char);
  handles.insert(*handle);
  return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t given) {
  BEGIN("cudnnSetStream")
  if (!fakeCudaIsStream(given))
    return reject("unknown stream");
  stream = given;
  return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void *alpha,
                                               const cudnnTensorDescriptor_t sourceDescriptor,
                                               const void *source, const void *beta,
                                               const cudnnTensorDescriptor_t targetDescriptor,
                                               void *target) {
  BEGIN("cudnnTransformTensor")
  const Tensor *from = getTensor(sourceDescriptor), *to = getTensor(targetDescriptor);
  if (!from || !to || from->sizes != to->sizes || from->type != to->type)
    return reject("tensors of a copy");
  if (!from->isInMemory(source) || !to->isInMemory(target) || !to->isDistinct())
    return reject("data of a copy");
  Element scaleType = from->type == Element::Double ? Element::Double : Element::Single;
  if (load(scaleType, alpha, 0) != 1 || load(scaleType, beta, 0) != 0)
    return reject("factors of a copy");
  MemoryAccess access;
  Indices index(from->sizes.size());
  do
    store(to->type, target, to->getPlace(index), load(from->type, source, from->getPlace(index)));
  while (from->advance(index));
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// In the names of the forward one.
struct Operands {
  const Tensor *input, *output;
  const Filter *filter;
  const Convolution *convolution;
};
} // namespace

static cudnnStatus_t checkSizes(const Operands &operands) {
  const Indices &input = operands.input->sizes, &output = operands.output->sizes;
  const Indices &filter = operands.filter->tensor.sizes;
  const Convolution &convolution = *operands.convolution;
  size_t numDimensions = convolution.strides.size() + 2;
  if (input.size() != numDimensions || output.size() != numDimensions ||
      filter.size() != numDimensions)
    return reject("numbers of dimensions");
  if (input[0] != output[0] || input[1] != filter[1] * convolution.groups ||
      output[1] != filter[0] || filter[0] % convolution.groups != 0)
    return reject("batch, channels or groups");
  for (size_t dim = 2; dim < numDimensions; ++dim) {
    int64_t window = (filter[dim] - 1) * convolution.dilations[dim - 2] + 1;
    if (output[dim] != 1 + (input[dim] - window) / convolution.strides[dim - 2] ||
        input[dim] < window)
      return reject("size of the output");
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check(const Operands &operands) {
  const auto &[input, output, filter, convolution] = operands;
  if (!input || !output || !filter || !convolution)
    return reject("descriptors of a convolution");
  Element type = input->type;
  Element sumType = type == Element::Double ? Element::Double : Element::Single;
  if (output->type != type || filter->tensor.type != type || convolution->sumType != sumType)
    return reject("types of a convolution", CUDNN_STATUS_NOT_SUPPORTED);
  if (filter->channelsLast &&
      (!input->isPackedWithChannelsLast() || !output->isPackedWithChannelsLast()))
    return reject("channels of the filter alone are last", CUDNN_STATUS_NOT_SUPPORTED);
  return checkSizes(operands);
}

static size_t readBytes(const char *name, size_t otherwise) {
  const char *value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

static size_t getScratchBytes() { return readBytes("FAKE_CUDNN_SCRATCH", 1000); }

static bool getForwardScratch(cudnnConvolutionFwdAlgo_t algorithm, size_t &bytes) {
  bool isBetter = algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  bytes = isBetter ? getScratchBytes() : readBytes("FAKE_CUDNN_PLAIN_SCRATCH", 0);
  return isBetter || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
}

FAKE_EXPORT cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t input, const cudnnFilterDescriptor_t filter,
    const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t output,
    cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes) {
  BEGIN("cudnnGetConvolutionForwardWorkspaceSize")
  if (!getForwardScratch(algorithm, *bytes))
    return reject("algorithm");
  return check(
      {getTensor(input), getTensor(output), getFilter(filter), getConvolution(convolution)});
}

FAKE_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t input, const cudnnTensorDescriptor_t output,
    const cudnnConvolutionDescriptor_t convolution, const cudnnFilterDescriptor_t filter,
    cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes) {
  BEGIN("cudnnGetConvolutionBackwardFilterWorkspaceSize")
  *bytes = getScratchBytes();
  if (algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1)
    return reject("expected an algorithm that is deterministic");
  return check(
      {getTensor(input), getTensor(output), getFilter(filter), getConvolution(convolution)});
}

static cudnnStatus_t checkData(const Operands &operands, const void *input, const void *filter,
                               const void *output, const void *scratch, size_t scratchBytes,
                               size_t neededBytes) {
  if (cudnnStatus_t status = check(operands))
    return status;
  if (!fakeCudaIsStream(stream))
    return reject("no stream");
  if (!operands.input->isInMemory(input) || !operands.output->isInMemory(output) ||
      !operands.filter->tensor.isInMemory(filter))
    return reject("operand outside of device memory");
  if (scratchBytes < neededBytes ||
      (neededBytes != 0 && !fakeCudaIsDeviceMemory(scratch, scratchBytes)))
    return reject("workspace");
  return CUDNN_STATUS_SUCCESS;
}

/// Calls `visit` with the places in input, filter and output of each product.
template <typename Visit>
static void forEachProduct(const Operands &operands, Visit visit) {
  const auto &[inputTensor, outputTensor, filterTensor, convolution] = operands;
  const Tensor &filter = filterTensor->tensor;
  int64_t channels = filter.sizes[0] / convolution->groups;
  Indices output(outputTensor->sizes.size());
  do {
    Tensor window = filter;
    window.sizes[0] = 1;
    Indices within(window.sizes.size());
    do {
      Indices input = within, inFilter = within;
      input[0] = output[0];
      input[1] = output[1] / channels * filter.sizes[1] + within[1];
      inFilter[0] = output[1];
      for (size_t dim = 2; dim < input.size(); ++dim)
        input[dim] = output[dim] * convolution->strides[dim - 2] +
                     within[dim] * convolution->dilations[dim - 2];
      visit(inputTensor->getPlace(input), filter.getPlace(inFilter),
            outputTensor->getPlace(output));
    } while (window.advance(within));
  } while (outputTensor->advance(output));
}

/// As tensor cores take it.
static double read(const Operands &operands, const void *data, int64_t place) {
  Element type = operands.input->type;
  double value = load(type, data, place);
  bool isRounded = type == Element::Single && operands.convolution->mathType != CUDNN_FMA_MATH;
  return isRounded ? roundToTF32(value) : value;
}

/// Sums over products of `a` and `b` are added to what is at `c`.
template <typename GetPlaces>
static cudnnStatus_t convolve(const Operands &operands, const Tensor &result, const void *alpha,
                              const void *a, const void *b, const void *beta, void *c,
                              GetPlaces getPlaces) {
  Element type = operands.input->type;
  bool isDouble = type == Element::Double;
  Element scaleType = isDouble ? Element::Double : Element::Single;
  if (!result.isDistinct())
    return reject("elements of the result at the same place");
  Indices last(result.sizes);
  for (int64_t &index : last)
    --index;
  std::vector<Sum> sums(static_cast<size_t>(result.getPlace(last)) + 1, Sum(isDouble));
  forEachProduct(operands, [&](int64_t input, int64_t filter, int64_t output) {
    auto [placeA, placeB, placeC] = getPlaces(input, filter, output);
    sums[static_cast<size_t>(placeC)].add(read(operands, a, placeA), read(operands, b, placeB));
  });
  double factor = load(scaleType, alpha, 0), oldFactor = load(scaleType, beta, 0);
  Indices index(result.sizes.size());
  do {
    int64_t place = result.getPlace(index);
    double sum = factor * sums[static_cast<size_t>(place)].get();
    store(type, c, place, sum + oldFactor * load(type, c, place));
  } while (result.advance(index));
  return CUDNN_STATUS_SUCCESS;
}

namespace {
struct Places {
  int64_t a, b, c;
};
} // namespace

FAKE_EXPORT cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t inputDescriptor,
    const void *input, const cudnnFilterDescriptor_t filterDescriptor, const void *filter,
    const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
    void *scratch, size_t scratchBytes, const void *beta,
    const cudnnTensorDescriptor_t outputDescriptor, void *output) {
  BEGIN("cudnnConvolutionForward")
  size_t neededBytes = 0;
  if (!getForwardScratch(algorithm, neededBytes))
    return reject("algorithm");
  Operands operands = {getTensor(inputDescriptor), getTensor(outputDescriptor),
                       getFilter(filterDescriptor), getConvolution(convolution)};
  if (cudnnStatus_t status =
          checkData(operands, input, filter, output, scratch, scratchBytes, neededBytes))
    return status;
  MemoryAccess access;
  std::memset(scratch, 0xff, neededBytes);
  return convolve(operands, *operands.output, alpha, input, filter, beta, output,
                  [](int64_t x, int64_t w, int64_t y) { return Places{x, w, y}; });
}

FAKE_EXPORT cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t inputDescriptor,
    const void *input, const cudnnTensorDescriptor_t outputDescriptor, const void *output,
    const cudnnConvolutionDescriptor_t convolution, cudnnConvolutionBwdFilterAlgo_t algorithm,
    void *scratch, size_t scratchBytes, const void *beta,
    const cudnnFilterDescriptor_t filterDescriptor, void *filter) {
  BEGIN("cudnnConvolutionBackwardFilter")
  if (algorithm != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1)
    return reject("expected an algorithm that is deterministic");
  Operands operands = {getTensor(inputDescriptor), getTensor(outputDescriptor),
                       getFilter(filterDescriptor), getConvolution(convolution)};
  size_t neededBytes = getScratchBytes();
  if (cudnnStatus_t status =
          checkData(operands, input, filter, output, scratch, scratchBytes, neededBytes))
    return status;
  MemoryAccess access;
  std::memset(scratch, 0xff, neededBytes);
  return convolve(operands, operands.filter->tensor, alpha, input, output, beta, filter,
                  [](int64_t x, int64_t w, int64_t y) { return Places{x, y, w}; });
}
