//===- TypeSize.h - Bytes that a value of a type occupies -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_TYPESIZE_H
#define REMAT_INTERFACES_TYPESIZE_H

#include "mlir/IR/Types.h"
#include <cstdint>
#include <optional>

namespace mlir {
class DataLayout;

namespace remat {

/// Bytes of one array element of `type` in memory, including padding between
/// elements: 1 for `i1` and `i4`, 8 for `index`, twice the element for
/// `complex`, 16 for `vector<3xf32>`, 1 for the 8-bit floats. Nothing for a
/// type without a known size (opaque, token, pointer of another dialect).
std::optional<int64_t> getElementBytes(Type type, const DataLayout &layout);

/// Bytes of the storage of a value of `type`: elements times element bytes for
/// ranked static tensors and memrefs, the sum of the parts for tuples, one
/// element for scalars and vectors (a live `index` counts 8). A memref with
/// static strides takes all bytes from its first to its last element; other
/// layouts count as contiguous. Nothing when the size is not known (unranked,
/// dynamic, sparse encodings, opaque, types of other dialects) or exceeds
/// `int64_t`.
std::optional<int64_t> getStorageBytes(Type type, const DataLayout &layout);

} // namespace remat
} // namespace mlir

#endif // REMAT_INTERFACES_TYPESIZE_H
