//===- DeviceLayouts.h - Products and convolutions as libraries take them ---===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cuBLASLt and cuDNN are given for a call of the runtime, from the shape alone: neither
// library is needed here. Sizes and strides are in elements.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_RUNTIME_DEVICELAYOUTS_H
#define REMAT_LIB_RUNTIME_DEVICELAYOUTS_H

#include "Remat/Runtime/DeviceCalls.h"

#include <optional>
#include <vector>

namespace mlir::remat {

/// Up to a multiple of kDeviceAlignment.
int64_t padDeviceBytes(int64_t bytes);

/// Bytes of an element, and of a sum of such elements.
int64_t getElementBytes(RematElement type);
int64_t getSumBytes(RematElement type);

struct DeviceDimension {
  int64_t size, stride;
};

/// Whether no two elements are at the same place. May say no where that is not plain to see.
bool areDistinct(std::vector<DeviceDimension> dimensions);

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Column-major: element [r, c] is at r + c * leadingDimension, which is at least `rows`.
struct DeviceMatrix {
  RematElement type;
  int64_t rows, columns, leadingDimension;
  /// Whether the product is of the transpose.
  bool isTransposed;
  /// To the next matrix of the batch.
  int64_t batchStride;
};

/// result += op(first) * op(second), once for each index in `loops`, in order. The result of
/// the caller is transposed where it is row-major: C^T = B^T * A^T, and `first` is then B.
struct DeviceMatmul {
  DeviceMatrix first, second, result;
  bool firstIsB;
  int64_t batch = 1;
  struct Loop {
    int64_t size, firstStride, secondStride, resultStride;
  };
  std::vector<Loop> loops;
  /// There is nothing to add.
  bool isEmpty = false;
  int64_t workspaceBytes = 0;
};

/// Nothing if cuBLASLt does not take the types or strides.
///
/// Of the outer dimensions, the largest one along which matrices of the result are distinct is
/// the batch of one call; the others are loops. Dimensions that follow each other in all
/// operands count as one.
///
/// The workspace is for sums over parts of the inner dimension, where results of a call are fewer
/// than 2^21: one result in the type of the sums for each 512 terms, at most eight, in all at
/// most 4 MiB.
std::optional<DeviceMatmul> getDeviceMatmul(const RematMatmul &product);

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// In the order [batch, channel, spatial dimensions], which are two or three.
struct DeviceTensor {
  int numDimensions = 0;
  int sizes[5] = {}, strides[5] = {};
};

/// Elements, gaps between them not counted.
int64_t countElements(const DeviceTensor &tensor);

/// One call of cuDNN. Its tensors are those of a forward convolution; in the gradient of a
/// filter, `filter` is the caller's output and `output` the caller's filter:
///
///     forward          output[n, o, x] += input[n, i, x * s + w * d] * filter[o, i, w]
///     filter gradient  filter[o, n, x] += input[i, n, w * d + x * s] * output[i, o, w]
///
/// where `strides` are s in the first one, and d in the second.
struct DeviceConvolution {
  bool isFilterGradient = false;
  RematElement type = RematElement::F32;
  DeviceTensor input, output;
  /// [output channels of all groups, input channels of a group, spatial dimensions], packed in
  /// this order, or with channels last.
  DeviceTensor filter;
  bool channelsLast = false;
  int groups = 1;
  int strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1};

  /// Copies, one for each piece, between the caller's filter and a packed one at the beginning
  /// of the workspace. Without staging there are none.
  int numPieces = 0;
  DeviceTensor givenPiece, packedPiece;
  int64_t givenPieceStride = 0, packedPieceStride = 0;

  /// Of the packed filter in the workspace, and of what is behind it for the algorithm.
  int64_t stagingBytes = 0, scratchBytes = 0;
};

struct DeviceConvolutions {
  /// In order of preference.
  std::vector<DeviceConvolution> forms;
  /// There is nothing to add.
  bool isEmpty = false;
  /// What the largest of them needs.
  int64_t workspaceBytes = 0;
};

/// Nothing if cuDNN does not take the types or strides.
///
/// Without groups, and where the window has more elements than a channel of the output, the
/// gradient of a filter is preferred; the other form is always the forward one.
///
/// The filter is in the caller's memory if it is packed as cuDNN wants it: channels last if
/// that is how input and output are packed, else in the order of the dimensions. Otherwise it
/// is staged. Scratch memory is one copy of each operand, and of what the gradient of a filter
/// adds to, eight in the type of sums; at most 32 MiB.
std::optional<DeviceConvolutions> getDeviceConvolutions(const RematConvolution &convolution);

} // namespace mlir::remat

#endif // REMAT_LIB_RUNTIME_DEVICELAYOUTS_H
