//===- Runtime.h - What generated code calls --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the runtime library. None of them allocates memory that outlives the
// call, and equal calls give equal results, bit for bit; times aside.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_RUNTIME_RUNTIME_H
#define REMAT_RUNTIME_RUNTIME_H

#include <cstdint>

extern "C" {

/// The number of threads that loops and products run on from now on; 0: what the environment
/// says (OMP_NUM_THREADS, OPENBLAS_NUM_THREADS), or one for each core.
void rematSetNumThreads(int64_t numThreads);

/// C += A * B for each of p * q matrices; sizes of A are [p, q, m, k], of B [p, q, k, n], of
/// C [p, q, m, n], and `a0` to `a3` the strides of A, in elements. Strides of A and B may be
/// 0. In C no two elements are at the same place, and rows or columns are contiguous.
void rematMatmulF32(int64_t p, int64_t q, int64_t m, int64_t n, int64_t k, const float *a,
                    int64_t a0, int64_t a1, int64_t a2, int64_t a3, const float *b, int64_t b0,
                    int64_t b1, int64_t b2, int64_t b3, float *c, int64_t c0, int64_t c1,
                    int64_t c2, int64_t c3);
void rematMatmulF64(int64_t p, int64_t q, int64_t m, int64_t n, int64_t k, const double *a,
                    int64_t a0, int64_t a1, int64_t a2, int64_t a3, const double *b, int64_t b0,
                    int64_t b1, int64_t b2, int64_t b3, double *c, int64_t c0, int64_t c1,
                    int64_t c2, int64_t c3);

/// Writes the time of a clock that never goes back to `times[slot]`, in nanoseconds.
void rematRecordTime(int64_t *times, int64_t slot);
}

#endif // REMAT_RUNTIME_RUNTIME_H
