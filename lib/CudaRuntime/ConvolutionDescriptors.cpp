//===- ConvolutionDescriptors.cpp - What cuDNN is told of a convolution ----- ===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionDescriptors.h"

using namespace mlir::remat;
using namespace mlir::remat::cuda;

static cudnnDataType_t getDataType(RematElement type) {
  switch (type) {
  case RematElement::F16:
    return CUDNN_DATA_HALF;
  case RematElement::BF16:
    return CUDNN_DATA_BFLOAT16;
  case RematElement::F64:
    return CUDNN_DATA_DOUBLE;
  default:
    return CUDNN_DATA_FLOAT;
  }
}

static cudnnMathType_t getMathType(RematElement type) {
  switch (type) {
  case RematElement::F32:
    return CUDNN_FMA_MATH;
  case RematElement::F64:
    return CUDNN_DEFAULT_MATH;
  default:
    return CUDNN_TENSOR_OP_MATH;
  }
}

static cudnnStatus_t describe(const DnnFunctions &dnn, RematElement type,
                              const DeviceTensor &tensor, cudnnTensorDescriptor_t &descriptor) {
  if (cudnnStatus_t status = dnn.cudnnCreateTensorDescriptor(&descriptor))
    return status;
  return dnn.cudnnSetTensorNdDescriptor(descriptor, getDataType(type), tensor.numDimensions,
                                        tensor.sizes, tensor.strides);
}

static cudnnStatus_t describe(const DnnFunctions &dnn, const DeviceConvolution &form,
                              cudnnFilterDescriptor_t &filter) {
  if (cudnnStatus_t status = dnn.cudnnCreateFilterDescriptor(&filter))
    return status;
  cudnnTensorFormat_t format = form.channelsLast ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  return dnn.cudnnSetFilterNdDescriptor(filter, getDataType(form.type), format,
                                        form.filter.numDimensions, form.filter.sizes);
}

static cudnnStatus_t describe(const DnnFunctions &dnn, const DeviceConvolution &form,
                              cudnnConvolutionDescriptor_t &convolution) {
  const int noPadding[3] = {};
  cudnnDataType_t sumType = form.type == RematElement::F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  if (cudnnStatus_t status = dnn.cudnnCreateConvolutionDescriptor(&convolution))
    return status;
  if (cudnnStatus_t status = dnn.cudnnSetConvolutionNdDescriptor(
          convolution, form.input.numDimensions - 2, noPadding, form.strides, form.dilations,
          CUDNN_CROSS_CORRELATION, sumType))
    return status;
  if (cudnnStatus_t status = dnn.cudnnSetConvolutionGroupCount(convolution, form.groups))
    return status;
  return dnn.cudnnSetConvolutionMathType(convolution, getMathType(form.type));
}

cudnnStatus_t mlir::remat::cuda::describe(const DnnFunctions &dnn, const DeviceConvolution &form,
                                          ConvolutionDescriptors &descriptors) {
  if (cudnnStatus_t status = describe(dnn, form.type, form.input, descriptors.input))
    return status;
  if (cudnnStatus_t status = describe(dnn, form.type, form.output, descriptors.output))
    return status;
  if (form.numPieces != 0) {
    if (cudnnStatus_t status = describe(dnn, form.type, form.givenPiece, descriptors.givenPiece))
      return status;
    if (cudnnStatus_t status = describe(dnn, form.type, form.packedPiece, descriptors.packedPiece))
      return status;
  }
  if (cudnnStatus_t status = describe(dnn, form, descriptors.filter))
    return status;
  return describe(dnn, form, descriptors.convolution);
}

void mlir::remat::cuda::destroy(const DnnFunctions &dnn,
                                const ConvolutionDescriptors &descriptors) {
  for (auto descriptor :
       {descriptors.input, descriptors.output, descriptors.givenPiece, descriptors.packedPiece})
    if (descriptor)
      dnn.cudnnDestroyTensorDescriptor(descriptor);
  if (descriptors.filter)
    dnn.cudnnDestroyFilterDescriptor(descriptors.filter);
  if (descriptors.convolution)
    dnn.cudnnDestroyConvolutionDescriptor(descriptors.convolution);
}
