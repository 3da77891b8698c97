//===- ConvolutionDescriptors.h - What cuDNN is told of a convolution ------- ===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CUDARUNTIME_CONVOLUTIONDESCRIPTORS_H
#define REMAT_LIB_CUDARUNTIME_CONVOLUTIONDESCRIPTORS_H

#include "DeviceLayouts.h"
#include "Libraries.h"

namespace mlir::remat::cuda {

struct ConvolutionDescriptors {
  cudnnTensorDescriptor_t input = nullptr, output = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  /// Null without staging.
  cudnnTensorDescriptor_t givenPiece = nullptr, packedPiece = nullptr;
};

/// Needs no GPU. Those that were created before an error are to be destroyed, too.
cudnnStatus_t describe(const DnnFunctions &dnn, const DeviceConvolution &form,
                       ConvolutionDescriptors &descriptors);
void destroy(const DnnFunctions &dnn, const ConvolutionDescriptors &descriptors);

} // namespace mlir::remat::cuda

#endif // REMAT_LIB_CUDARUNTIME_CONVOLUTIONDESCRIPTORS_H
