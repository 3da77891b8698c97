//===- DnnDescriptors.cpp - What convolutions are described by --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DnnDescriptors.h"

#include "FakeDriver.h"

#include <cstdio>
#include <set>
#include <string>

using namespace mlir::remat::fake;

static std::set<const void *> &live = *new std::set<const void *>;
static std::string &lastError = *new std::string;

cudnnStatus_t mlir::remat::fake::reject(const char *reason, cudnnStatus_t status) {
  fakeCudaReject("libcudnn", reason);
  lastError = reason;
  return status;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

int64_t Tensor::getPlace(const Indices &index) const {
  int64_t place = 0;
  for (size_t dim = 0; dim < index.size(); ++dim)
    place += index[dim] * strides[dim];
  return place;
}

bool Tensor::advance(Indices &index) const {
  for (size_t dim = sizes.size(); dim-- > 0; index[dim] = 0)
    if (++index[dim] < sizes[dim])
      return true;
  return false;
}

static Indices pack(const Indices &sizes, bool channelsLast) {
  Indices strides(sizes.size());
  int64_t stride = 1;
  auto place = [&](size_t dim) {
    strides[dim] = stride;
    stride *= sizes[dim];
  };
  if (channelsLast)
    place(1);
  for (size_t dim = sizes.size(); dim-- > 2;)
    place(dim);
  if (!channelsLast)
    place(1);
  place(0);
  return strides;
}

bool Tensor::isPackedWithChannelsLast() const {
  return strides == pack(sizes, /*channelsLast=*/true);
}

static int64_t getSpan(const Tensor &tensor) {
  int64_t span = 1;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim)
    span += (tensor.sizes[dim] - 1) * tensor.strides[dim];
  return span;
}

bool Tensor::isInMemory(const void *data) const {
  return fakeCudaIsDeviceMemory(data, static_cast<uint64_t>(getSpan(*this) * getBytes(type)));
}

bool Tensor::isDistinct() const {
  std::vector<int64_t> places;
  Indices index(sizes.size());
  do
    places.push_back(getPlace(index));
  while (advance(index));
  return areDistinct(std::move(places));
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

template <typename T, typename Handle>
static cudnnStatus_t create(const char *function, Handle *handle) {
  if (fakeCudaFails(function))
    return CUDNN_STATUS_INTERNAL_ERROR;
  auto *created = new T;
  live.insert(created);
  *handle = reinterpret_cast<Handle>(created);
  return CUDNN_STATUS_SUCCESS;
}

template <typename T, typename Handle>
static cudnnStatus_t destroy(Handle handle) {
  if (live.erase(handle) == 0)
    return reject("descriptor that is none");
  delete reinterpret_cast<T *>(handle);
  return CUDNN_STATUS_SUCCESS;
}

template <typename T, typename Handle>
static T *get(Handle handle) {
  return live.count(handle) != 0 ? reinterpret_cast<T *>(handle) : nullptr;
}

const Tensor *mlir::remat::fake::getTensor(cudnnTensorDescriptor_t descriptor) {
  const auto *tensor = get<Tensor>(descriptor);
  return tensor && tensor->type != Element::None ? tensor : nullptr;
}

const Filter *mlir::remat::fake::getFilter(cudnnFilterDescriptor_t descriptor) {
  const auto *filter = get<Filter>(descriptor);
  return filter && filter->tensor.type != Element::None ? filter : nullptr;
}

const Convolution *mlir::remat::fake::getConvolution(cudnnConvolutionDescriptor_t descriptor) {
  const auto *convolution = get<Convolution>(descriptor);
  return convolution && convolution->sumType != Element::None ? convolution : nullptr;
}

static Element getElement(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_HALF:
    return Element::Half;
  case CUDNN_DATA_BFLOAT16:
    return Element::BFloat;
  case CUDNN_DATA_FLOAT:
    return Element::Single;
  case CUDNN_DATA_DOUBLE:
    return Element::Double;
  default:
    return Element::None;
  }
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

FAKE_EXPORT const char *cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
  case CUDNN_STATUS_BAD_PARAM:
    return "CUDNN_STATUS_BAD_PARAM";
  case CUDNN_STATUS_NOT_SUPPORTED:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  default:
    return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

FAKE_EXPORT void cudnnGetLastErrorString(char *message, size_t bytes) {
  std::snprintf(message, bytes, "%s", lastError.c_str());
  lastError.clear();
}

FAKE_EXPORT cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *descriptor) {
  return create<Tensor>("cudnnCreateTensorDescriptor", descriptor);
}

FAKE_EXPORT cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  return destroy<Tensor>(descriptor);
}

FAKE_EXPORT cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *descriptor) {
  return create<Filter>("cudnnCreateFilterDescriptor", descriptor);
}

FAKE_EXPORT cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  return destroy<Filter>(descriptor);
}

FAKE_EXPORT cudnnStatus_t
cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *descriptor) {
  return create<Convolution>("cudnnCreateConvolutionDescriptor", descriptor);
}

FAKE_EXPORT cudnnStatus_t
cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  return destroy<Convolution>(descriptor);
}

/// Values of an array, if all of them are at least that large.
static bool copy(int count, const int *values, int least, Indices &target) {
  target.assign(values, values + count);
  return std::all_of(target.begin(), target.end(), [&](int64_t value) { return value >= least; });
}

FAKE_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor,
                                                     cudnnDataType_t type, int count,
                                                     const int *sizes, const int *strides) {
  auto *tensor = get<Tensor>(descriptor);
  if (!tensor || count < 4 || count > CUDNN_DIM_MAX || !copy(count, sizes, 1, tensor->sizes) ||
      !copy(count, strides, 1, tensor->strides))
    return reject("tensor");
  if (getSpan(*tensor) > INT32_MAX)
    return reject("tensor of more than 2^31 - 1 elements", CUDNN_STATUS_NOT_SUPPORTED);
  tensor->type = getElement(type);
  return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t descriptor,
                                                     cudnnDataType_t type,
                                                     cudnnTensorFormat_t format, int count,
                                                     const int *sizes) {
  auto *filter = get<Filter>(descriptor);
  if (!filter || count < 4 || count > CUDNN_DIM_MAX ||
      !copy(count, sizes, 1, filter->tensor.sizes) ||
      (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC))
    return reject("filter");
  filter->channelsLast = format == CUDNN_TENSOR_NHWC;
  filter->tensor.strides = pack(filter->tensor.sizes, filter->channelsLast);
  filter->tensor.type = getElement(type);
  return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t descriptor,
                                                          int count, const int *paddings,
                                                          const int *strides, const int *dilations,
                                                          cudnnConvolutionMode_t mode,
                                                          cudnnDataType_t sumType) {
  auto *convolution = get<Convolution>(descriptor);
  if (!convolution || count < 2 || count > 3 || !copy(count, strides, 1, convolution->strides) ||
      !copy(count, dilations, 1, convolution->dilations) ||
      std::any_of(paddings, paddings + count, [](int padding) { return padding != 0; }))
    return reject("convolution");
  if (mode != CUDNN_CROSS_CORRELATION ||
      (sumType != CUDNN_DATA_FLOAT && sumType != CUDNN_DATA_DOUBLE))
    return reject("mode or type of sums of a convolution");
  convolution->sumType = getElement(sumType);
  return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor,
                                                        int groups) {
  auto *convolution = get<Convolution>(descriptor);
  if (!convolution || groups < 1)
    return reject("number of groups");
  convolution->groups = groups;
  return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor,
                                                      cudnnMathType_t mathType) {
  auto *convolution = get<Convolution>(descriptor);
  if (!convolution)
    return reject("kind of arithmetic");
  convolution->mathType = mathType;
  return CUDNN_STATUS_SUCCESS;
}
