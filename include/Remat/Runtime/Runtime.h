//===- Runtime.h - What generated code calls --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the runtime library. None of them allocates memory that outlives the
// call, and equal calls give equal results, bit for bit; times aside. Products and
// convolutions come with a function that says how many bytes of workspace they need on this
// processor, with as many threads as this process has; with less than that they print both
// numbers and abort.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_RUNTIME_RUNTIME_H
#define REMAT_RUNTIME_RUNTIME_H

#include <cstdint>

extern "C" {

/// The number of threads that loops and products run on from now on; 0: what the environment
/// says (OMP_NUM_THREADS, OPENBLAS_NUM_THREADS), or one for each core.
void rematSetNumThreads(int64_t numThreads);

/// Types of elements. Truth values take a byte, which is 0 or 1. TF32 is f32 that a GPU may
/// round to 10 bits of fraction before it multiplies.
enum class RematElement : int64_t { I1, F16, BF16, F32, F64, TF32 };

/// Products of matrices, C += A * B, one after the other for each index in `outer`. All
/// strides are in elements, and those of A and B may be 0. Of C they are such that no two
/// elements of one matrix are at the same place; along `outer` they may be 0, too.
struct RematMatmul {
  /// All f64, or none of them. C does not hold truth values.
  RematElement typeA, typeB, typeC;
  int64_t outer[4];
  int64_t rows, columns, inner;
  /// Of the four outer dimensions, of [rows, inner], [inner, columns] and [rows, columns].
  int64_t stridesA[6], stridesB[6], stridesC[6];
};

/// Bytes; at least 0. Operands that OpenBLAS cannot take, for their type or strides, are
/// converted there tile by tile.
int64_t rematMatmulWorkspace(const RematMatmul *product);

/// Sums are in f64 where the operands are, and else in f32 whatever their types; elements
/// of C are rounded once.
void rematMatmul(const RematMatmul *product, const void *a, const void *b, void *c, void *workspace,
                 int64_t workspaceBytes);

/// A convolution without padding, in one to three spatial dimensions:
///
///     output[n, g, o, x] += sum over i, w of
///         input[n, g, i, x * stride + w * dilation] * filter[g, o, i, w]
///
/// All strides in memory are in elements.
struct RematConvolution {
  RematElement inputType, filterType, outputType;
  /// Channels are those of one group. Entries of spatial dimensions behind `rank` are 1.
  int64_t rank, batch, groups, inputChannels, outputChannels;
  int64_t inputSizes[3], windowSizes[3], outputSizes[3];
  int64_t strides[3], dilations[3];
  /// Of [batch, channel of all groups, spatial dimensions].
  int64_t inputStrides[5];
  /// Of [group, output channel, input channel, spatial dimensions].
  int64_t filterStrides[6];
  /// Of [batch, channel of all groups, spatial dimensions].
  int64_t outputStrides[5];
};

/// Bytes, or -1 if the library does not compute this: other types than f32, or operands
/// whose elements overlap.
int64_t rematConvolutionWorkspace(const RematConvolution *convolution);

void rematConvolution(const RematConvolution *convolution, const void *input, const void *filter,
                      void *output, void *workspace, int64_t workspaceBytes);

/// Writes the time of a clock that never goes back to `times[slot]`, in nanoseconds.
void rematRecordTime(int64_t *times, int64_t slot);
/// To bf16, which is in the lower half of the float that is returned.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names that LLVM
// calls.
float __truncsfbf2(float value);
float __truncdfbf2(double value);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

#endif // REMAT_RUNTIME_RUNTIME_H
