//===- Threads.cpp - How many threads there are -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops run on the threads of LLVM's OpenMP runtime, which also stands in for that of GCC
// where a library asks for it; products on those of OpenBLAS.
//
//===----------------------------------------------------------------------===//

#include "Remat/Runtime/Runtime.h"

#include <cblas.h>

// Of the OpenMP runtime: compilers other than Clang have an <omp.h> of another one.
extern "C" void omp_set_num_threads(int numThreads);
extern "C" void kmp_set_blocktime(int milliseconds);

extern "C" __attribute__((visibility("default"))) void rematSetNumThreads(int64_t numThreads) {
  // Threads that wait for the next loop leave the cores to other libraries.
  kmp_set_blocktime(0);
  if (numThreads <= 0)
    return;
  omp_set_num_threads(static_cast<int>(numThreads));
  openblas_set_num_threads(static_cast<int>(numThreads));
}
