//===- DeviceCalls.h - How libraries for GPUs are called --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which products and convolutions cuBLASLt and cuDNN compute, and with how much workspace.
// Both are fixed when code is compiled, where there may be no GPU: they follow from the shape
// alone, and the algorithm is the first one that is deterministic and gets along with this
// workspace.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_RUNTIME_DEVICECALLS_H
#define REMAT_RUNTIME_DEVICECALLS_H

#include "Remat/Runtime/Runtime.h"

namespace mlir::remat {

/// Buffers on a GPU begin at multiples of this, in bytes: as what a driver allocates does.
constexpr int64_t kDeviceAlignment = 256;

/// Bytes of workspace, a multiple of 256, that a product is given on a GPU; -1 if cuBLASLt
/// does not take its types or strides.
int64_t getDeviceMatmulWorkspace(const RematMatmul &product);

/// Bytes of workspace, a multiple of 256, that a convolution is given on a GPU; -1 if cuDNN
/// does not take its types or strides.
int64_t getDeviceConvolutionWorkspace(const RematConvolution &convolution);

} // namespace mlir::remat

#endif // REMAT_RUNTIME_DEVICECALLS_H
