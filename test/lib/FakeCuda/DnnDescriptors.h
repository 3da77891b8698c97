//===- DnnDescriptors.h - What convolutions are described by ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_LIB_FAKECUDA_DNNDESCRIPTORS_H
#define REMAT_TEST_LIB_FAKECUDA_DNNDESCRIPTORS_H

#include "Elements.h"

#include <cudnn.h>
#include <vector>

namespace mlir::remat::fake {

using Indices = std::vector<int64_t>;

/// Also of filters, which are packed.
struct Tensor {
  Element type = Element::None;
  Indices sizes, strides;

  int64_t getPlace(const Indices &index) const;
  /// Goes to the next index, the last dimension fastest. False behind the last one.
  bool advance(Indices &index) const;
  bool isPackedWithChannelsLast() const;
  bool isInMemory(const void *data) const;
  bool isDistinct() const;
};

struct Filter {
  Tensor tensor;
  bool channelsLast = false;
};

struct Convolution {
  Indices strides, dilations;
  Element sumType = Element::None;
  int64_t groups = 1;
  cudnnMathType_t mathType = CUDNN_DEFAULT_MATH;
};

/// Those that were created, and not destroyed, and set. Null otherwise.
const Tensor *getTensor(cudnnTensorDescriptor_t descriptor);
const Filter *getFilter(cudnnFilterDescriptor_t descriptor);
const Convolution *getConvolution(cudnnConvolutionDescriptor_t descriptor);

/// Says the reason on stderr, and when cudnnGetLastErrorString asks.
cudnnStatus_t reject(const char *reason, cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM);

} // namespace mlir::remat::fake

#endif // REMAT_TEST_LIB_FAKECUDA_DNNDESCRIPTORS_H
