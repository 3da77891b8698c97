//===- Libraries.h - Functions of NVIDIA's libraries ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries are opened when they are needed, and never closed. Names are the exported ones, with
// the versions that macros of the headers add. Types are those of the headers, which is the
// check that calls are as these declare them.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CUDARUNTIME_LIBRARIES_H
#define REMAT_LIB_CUDARUNTIME_LIBRARIES_H

#include <cublasLt.h>
#include <cuda.h>
#include <cudnn.h>
#include <string>

#define REMAT_DRIVER_FUNCTIONS(FUNCTION)                                                           \
  FUNCTION(cuCtxSetCurrent)                                                                        \
  FUNCTION(cuDeviceGet)                                                                            \
  FUNCTION(cuDeviceGetCount)                                                                       \
  FUNCTION(cuDevicePrimaryCtxRetain)                                                               \
  FUNCTION(cuEventCreate)                                                                          \
  FUNCTION(cuEventDestroy_v2)                                                                      \
  FUNCTION(cuEventElapsedTime_v2)                                                                  \
  FUNCTION(cuEventRecord)                                                                          \
  FUNCTION(cuEventSynchronize)                                                                     \
  FUNCTION(cuGetErrorName)                                                                         \
  FUNCTION(cuGetErrorString)                                                                       \
  FUNCTION(cuInit)                                                                                 \
  FUNCTION(cuLaunchKernel)                                                                         \
  FUNCTION(cuMemAlloc_v2)                                                                          \
  FUNCTION(cuMemFree_v2)                                                                           \
  FUNCTION(cuMemGetInfo_v2)                                                                        \
  FUNCTION(cuMemHostRegister_v2)                                                                   \
  FUNCTION(cuMemHostUnregister)                                                                    \
  FUNCTION(cuMemcpyAsync)                                                                          \
  FUNCTION(cuMemsetD16Async)                                                                       \
  FUNCTION(cuMemsetD32Async)                                                                       \
  FUNCTION(cuModuleGetFunction)                                                                    \
  FUNCTION(cuModuleLoadDataEx)                                                                     \
  FUNCTION(cuModuleUnload)                                                                         \
  FUNCTION(cuStreamCreate)                                                                         \
  FUNCTION(cuStreamSynchronize)                                                                    \
  FUNCTION(cuStreamWaitEvent)

#define REMAT_BLAS_FUNCTIONS(FUNCTION)                                                             \
  FUNCTION(cublasLtCreate)                                                                         \
  FUNCTION(cublasLtGetStatusName)                                                                  \
  FUNCTION(cublasLtGetStatusString)                                                                \
  FUNCTION(cublasLtMatmul)                                                                         \
  FUNCTION(cublasLtMatmulAlgoGetHeuristic)                                                         \
  FUNCTION(cublasLtMatmulDescCreate)                                                               \
  FUNCTION(cublasLtMatmulDescDestroy)                                                              \
  FUNCTION(cublasLtMatmulDescSetAttribute)                                                         \
  FUNCTION(cublasLtMatmulPreferenceCreate)                                                         \
  FUNCTION(cublasLtMatmulPreferenceDestroy)                                                        \
  FUNCTION(cublasLtMatmulPreferenceSetAttribute)                                                   \
  FUNCTION(cublasLtMatrixLayoutCreate)                                                             \
  FUNCTION(cublasLtMatrixLayoutDestroy)                                                            \
  FUNCTION(cublasLtMatrixLayoutSetAttribute)

#define REMAT_DNN_FUNCTIONS(FUNCTION)                                                              \
  FUNCTION(cudnnConvolutionBackwardFilter)                                                         \
  FUNCTION(cudnnConvolutionForward)                                                                \
  FUNCTION(cudnnCreate)                                                                            \
  FUNCTION(cudnnCreateConvolutionDescriptor)                                                       \
  FUNCTION(cudnnCreateFilterDescriptor)                                                            \
  FUNCTION(cudnnCreateTensorDescriptor)                                                            \
  FUNCTION(cudnnDestroyConvolutionDescriptor)                                                      \
  FUNCTION(cudnnDestroyFilterDescriptor)                                                           \
  FUNCTION(cudnnDestroyTensorDescriptor)                                                           \
  FUNCTION(cudnnGetConvolutionBackwardFilterWorkspaceSize)                                         \
  FUNCTION(cudnnGetConvolutionForwardWorkspaceSize)                                                \
  FUNCTION(cudnnGetErrorString)                                                                    \
  FUNCTION(cudnnGetLastErrorString)                                                                \
  FUNCTION(cudnnSetConvolutionGroupCount)                                                          \
  FUNCTION(cudnnSetConvolutionMathType)                                                            \
  FUNCTION(cudnnSetConvolutionNdDescriptor)                                                        \
  FUNCTION(cudnnSetFilterNdDescriptor)                                                             \
  FUNCTION(cudnnSetStream)                                                                         \
  FUNCTION(cudnnSetTensorNdDescriptor)                                                             \
  FUNCTION(cudnnTransformTensor)

namespace mlir::remat::cuda {

// NOLINTBEGIN(bugprone-macro-parentheses, readability-identifier-naming): the names of functions.
#define REMAT_MEMBER(NAME) decltype(&::NAME) NAME;

/// libcuda.so.1, of a driver for CUDA 12.8 or later.
struct DriverFunctions {
  REMAT_DRIVER_FUNCTIONS(REMAT_MEMBER)
};

/// libcublasLt.so of CUDA 13, or 12.
struct BlasFunctions {
  REMAT_BLAS_FUNCTIONS(REMAT_MEMBER)
};

/// libcudnn.so.9.
struct DnnFunctions {
  REMAT_DNN_FUNCTIONS(REMAT_MEMBER)
};

#undef REMAT_MEMBER
// NOLINTEND(bugprone-macro-parentheses, readability-identifier-naming)

/// Set the functions. Return what is wrong, or an empty text.
std::string openLibrary(DriverFunctions &driver);
std::string openLibrary(BlasFunctions &blas);
std::string openLibrary(DnnFunctions &dnn);

} // namespace mlir::remat::cuda

#endif // REMAT_LIB_CUDARUNTIME_LIBRARIES_H
