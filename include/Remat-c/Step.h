//===- Step.h - C API to compile and run training steps ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a training step in MLIR (linalg on tensors) and a budget to code that fits, and to its
// results. C99; link libRematStep-c. docs/step-c-api.md has an example.
//
// Sizes are bytes. Errors, ownership of handles and structs that grow: see Remat-c/Support.h. A
// step that is compiled does not change: any number of threads may use it. A run is used by one
// thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_C_STEP_H
#define REMAT_C_STEP_H

#include "Remat-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A training step, compiled within a budget.
typedef struct RematStep RematStep;
/// A step that is loaded, with memory for its arguments and its arena.
typedef struct RematStepRun RematStepRun;

/// The version of the library, `MAJOR.MINOR.PATCH`. Static: don't free it.
REMAT_CAPI_EXPORTED const char *rematStepGetVersion(void);

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Where a step is executed.
typedef uint8_t RematDevice;
enum {
  /// This processor.
  RematDeviceCPU = 0,
  /// This processor, which executes code for a GPU.
  RematDeviceEmulator = 1,
  /// NVIDIA's first GPU. Neither a GPU nor its driver is needed to compile.
  RematDeviceGPU = 2
};

/// Set everything to 0 first: what is 0 or null has the default.
typedef struct RematStepOptions {
  /// sizeof(RematStepOptions).
  size_t structSize;
  /// The function, by default the only one that is public.
  const char *function;
  /// Such as "4GB", "4.5GiB" or "80%" of the unchanged packed peak. By default nothing is
  /// recomputed.
  const char *budget;
  /// Cost model: "cpu", "h100", "a100" or the path of a file; by default "cpu" on the CPU and
  /// "h100" for code for a GPU.
  const char *target;
  /// By default RematDeviceCPU.
  RematDevice device;
  /// 0 or 1: whether arguments may be overwritten by their new values.
  uint8_t donate;
  /// 0 or 1: whether a GPU may round f32 to TF32 in products.
  uint8_t tf32;
  /// Work of the planner, up to 10; by default 1.
  int64_t effort;
  /// Of a GPU, by default "sm_90". Like `tf32`, `format` and `toolkit` it means nothing on the CPU.
  const char *chip;
  /// Of the GPU's code: "llvm", "isa", "bin" or "fatbin", which is the default. The emulator
  /// takes "llvm" alone, which is its default.
  const char *format;
  /// Folder of the CUDA toolkit, for code for a GPU; by default what CUDA_HOME, CUDA_PATH or
  /// CUDA_ROOT says, or /usr/local/cuda.
  const char *toolkit;
  /// Threads of loops and products on the CPU; by default one for each core, or what the
  /// environment says. Holds for the process.
  int64_t numThreads;
} RematStepOptions;

/// Compiles the text of a module. Null and an error, with what MLIR says, if it is not valid,
/// does not fit, or cannot be lowered.
REMAT_CAPI_EXPORTED RematStep *rematStepCompile(const char *text, size_t length,
                                                const RematStepOptions *options, char **error);
REMAT_CAPI_EXPORTED void rematStepDestroy(RematStep *step);

/// What is known of the step as JSON: `function`, `device`, `arena_bytes`, `alignment`,
/// `arguments`, `results`, `memory` (`budget_bytes`, `unchanged_bytes`, `predicted_bytes`,
/// `taken_bytes`, and `cost` and `added_cost` in picoseconds of the cost model), and for a GPU
/// `kernels`, `launches` and `library_calls`.
REMAT_CAPI_EXPORTED const char *rematStepGetReport(const RematStep *step);

/// The code of the kernels in the format of the options, and its bytes; null and 0 on the CPU,
/// and where there are no kernels.
REMAT_CAPI_EXPORTED const void *rematStepGetDeviceCode(const RematStep *step, size_t *bytes);

REMAT_CAPI_EXPORTED int64_t rematStepGetNumArguments(const RematStep *step);
REMAT_CAPI_EXPORTED int64_t rematStepGetNumResults(const RematStep *step);

/// A tensor without gaps, in row order.
typedef struct RematTensorInfo {
  /// sizeof(RematTensorInfo).
  size_t structSize;
  /// As MLIR writes it: "f32", "bf16", "i64", ... A truth value, "i1", takes a byte.
  const char *element;
  int64_t rank;
  const int64_t *sizes;
  int64_t bytes;
} RematTensorInfo;

/// `info->structSize` is set by the caller.
REMAT_CAPI_EXPORTED bool rematStepGetArgument(const RematStep *step, int64_t index,
                                              RematTensorInfo *info, char **error);
REMAT_CAPI_EXPORTED bool rematStepGetResult(const RematStep *step, int64_t index,
                                            RematTensorInfo *info, char **error);

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Loads a step and allocates its memory, on a GPU with the driver. `library` is the path of
/// the shared library for the device; null: the one beside this library. The step may be
/// destroyed before the run.
REMAT_CAPI_EXPORTED RematStepRun *rematStepRunCreate(const RematStep *step, const char *library,
                                                     char **error);
REMAT_CAPI_EXPORTED void rematStepRunDestroy(RematStepRun *run);

/// Sets an argument, which stays until it is set again, unless it is donated: those are to be
/// set before each execution.
REMAT_CAPI_EXPORTED bool rematStepRunSetArgument(RematStepRun *run, int64_t index, const void *data,
                                                 size_t bytes, char **error);
/// Executes the step. All arguments must have been set.
REMAT_CAPI_EXPORTED bool rematStepRunExecute(RematStepRun *run, char **error);
/// Copies a result of the last execution.
REMAT_CAPI_EXPORTED bool rematStepRunGetResult(RematStepRun *run, int64_t index, void *data,
                                               size_t bytes, char **error);

/// Of the last execution; on a GPU, between events before and after it.
REMAT_CAPI_EXPORTED double rematStepRunGetMilliseconds(const RematStepRun *run);
/// Bytes in use on a GPU more than before the run was created, as its driver reports; 0 on other
/// devices.
REMAT_CAPI_EXPORTED int64_t rematStepRunGetDeviceBytes(const RematStepRun *run);

#ifdef __cplusplus
}
#endif

#endif // REMAT_C_STEP_H
