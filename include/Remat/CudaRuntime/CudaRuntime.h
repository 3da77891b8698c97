//===- CudaRuntime.h - GPU code on NVIDIA's driver --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library has the functions of `DeviceRuntime.h` and those of MLIR's runtime for CUDA. It
// opens libcuda.so.1 with rematDeviceOpen, and libcublasLt and libcudnn with the first product or
// convolution; it is linked with none of them. The device is the first one that CUDA_VISIBLE_DEVICES leaves.
//
// An error that was not taken when the process ends is printed to stderr.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_CUDARUNTIME_CUDARUNTIME_H
#define REMAT_CUDARUNTIME_CUDARUNTIME_H

#include "Remat/Runtime/DeviceRuntime.h"
#include "Remat/Runtime/Runtime.h"

extern "C" {

/// Bytes that rematDeviceMatmul and rematDeviceConvolution want, a multiple of 256; -1 if they
/// do not compute this. Needs no GPU.
int64_t rematDeviceMatmulWorkspace(const RematMatmul *product);
int64_t rematDeviceConvolutionWorkspace(const RematConvolution *convolution);
}

#endif // REMAT_CUDARUNTIME_CUDARUNTIME_H
