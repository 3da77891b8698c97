//===- DeviceRuntime.h - Libraries that execute code for GPUs ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What libRematCudaRuntime.so and libRematEmulatorRuntime.so have in common. Host code calls
// the functions of MLIR's runtime for CUDA (mgpuModuleLoad, mgpuLaunchKernel, ...), with its
// signatures, and the functions below. All of that happens on one stream, one after the other;
// mgpuStreamCreate returns that stream each time, and mgpuStreamDestroy leaves it.
//
// libRematCudaRuntime.so opens libcuda.so.1 with rematDeviceOpen, and libcublasLt and libcudnn
// with the first product or convolution; it is linked with none of them. Its device is the first
// one that CUDA_VISIBLE_DEVICES leaves. An error that was not taken when the process ends is
// printed to stderr.
//
// The functions may be called from one thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_RUNTIME_DEVICERUNTIME_H
#define REMAT_RUNTIME_DEVICERUNTIME_H

#include "Remat/Runtime/Runtime.h"

extern "C" {

/// Opens the device, if it is not yet open, before everything else. Returns null, or what is
/// wrong: a text that lives as long as the library.
const char *rematDeviceOpen();

/// What went wrong since the last call, or null; the text lives until the next call. After an
/// error nothing is executed until it is taken here. What a GPU does later is not yet known:
/// rematDeviceWait waits for it. With REMAT_DEVICE_SYNCHRONIZE=1 in the environment,
/// each launch and call is waited for, so that the error names the very operation.
const char *rematDeviceTakeError();

/// Says where the operation is that launches and calls are from until the next time: errors
/// begin with it. The text lives as long as the program that calls this.
void rematDeviceBeginOperation(const char *name);

/// As rematMatmul and rematConvolution, with addresses on the device but for the shape.
void rematDeviceMatmul(const RematMatmul *product, const void *a, const void *b, void *c,
                       void *workspace, int64_t workspaceBytes);
void rematDeviceConvolution(const RematConvolution *convolution, const void *input,
                            const void *filter, void *output, void *workspace,
                            int64_t workspaceBytes);

/// Bytes of the workspace, a multiple of 256; -1 if the library does not compute this. Needs no
/// device.
int64_t rematDeviceMatmulWorkspace(const RematMatmul *product);
int64_t rematDeviceConvolutionWorkspace(const RematConvolution *convolution);

/// Reads or writes a number of 1, 2, 4 or 8 bytes on the device, when all that comes before is
/// done. What is read is in the lowest bits.
int64_t rematDeviceLoad(const void *address, int64_t bytes);
void rematDeviceStore(void *address, int64_t bytes, int64_t value);

/// Waits until all is done.
void rematDeviceWait();

/// Bytes of the device's memory that are in use, by anybody; what was freed is not.
int64_t rematDeviceGetUsedBytes();

/// Between two events that were recorded (mgpuEventRecord); waits for both.
double rematDeviceGetMilliseconds(void *begin, void *end);
}

#endif // REMAT_RUNTIME_DEVICERUNTIME_H
