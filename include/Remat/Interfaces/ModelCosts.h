//===- ModelCosts.h - Parts of a cost model that dialects share -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element counts, bytes read and written, and the flops of a region, for the
// models in code and for the ones in a models file alike.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_MODELCOSTS_H
#define REMAT_INTERFACES_MODELCOSTS_H

#include "Remat/Interfaces/Count.h"
#include "Remat/Interfaces/OperationModel.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
class DataLayout;
class Region;

namespace remat {
class ModelTable;

/// What one scalar operation costs, in flops. The weights are rough on purpose:
/// they tell a division from an addition and a power from a division, in
/// multiples that hold on CPUs and GPUs; docs/models-file.md lists what has
/// which weight.
namespace weights {
inline constexpr int64_t simple = 1;         // add, multiply, compare, select, cast
inline constexpr int64_t fused = 2;          // two simple ones: fma, clamp
inline constexpr int64_t divide = 4;         // divisions, roots and their reciprocals
inline constexpr int64_t transcendental = 8; // exp, log, tanh, sin, erf
inline constexpr int64_t power = 16;         // pow, atan2, and inverse and hyperbolic functions
} // namespace weights

/// Number of scalars in a value of `type`: 1 for scalars, lanes included for
/// vectors; unknown for dynamic shapes and for types that hold no numbers.
Count getNumElements(Type type);

/// The scalar under tensor, vector, complex and quantized types.
Type getScalarType(Type type);

/// Of two types, the one whose scalar is slower to compute with: floats before
/// integers, integers before index, wide before narrow, `lhs` on a tie. Null is
/// neither.
Type getSlowerArithmeticType(Type lhs, Type rhs);

/// The scalar type that selects the rate of an elementwise operation: the
/// slowest one among its results and operands, null when it has no numbers.
Type getArithmeticType(Operation *op);

/// Whether `value` is a constant of a registered dialect with one value in all
/// its elements.
bool isSplatConstant(Value value);

/// Bytes that reading all of `values` moves: the storage of each distinct value
/// once, nothing for constants that readers make from a scalar. Scalars and
/// vectors are in registers and move nothing. `table` may know more constants and
/// types than MLIR does.
Count getReadBytes(ValueRange values, const DataLayout &layout, const ModelTable *table = nullptr);

/// Bytes that writing values of `types` moves: the sum of their storage, without
/// scalars and vectors.
Count getBytes(TypeRange types, const DataLayout &layout, const ModelTable *table = nullptr);

/// Whether the constant `attribute` is the same in all elements of `type`.
bool isSplatOrScalar(Attribute attribute, Type type);

/// How result `number` of `type`, whose constant value is `attribute`, is
/// stored: not at all when it is a scalar or a splat, else as program data.
ResultStorage getConstantStorage(unsigned number, Type type, Attribute attribute);

/// Whether a slice of a row-major array of `shape` is one piece of memory: all
/// strides are 1, and every dimension behind the first one that keeps more than
/// one element is kept whole. A dynamic size counts as more than one element and
/// never as whole. The three lists have the same length.
///
///     of 4x8x16: sizes 1x3x16 are contiguous, sizes 2x3x16 are not
///
bool isContiguousSlice(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides);

/// Flops of one execution of `region`, loops inside included. `lookup` gives
/// the model of a nested operation; one without a model makes the sum unknown.
Count getRegionFlops(Region &region,
                     llvm::function_ref<std::optional<OperationModel>(Operation *)> lookup);

/// Sets flops, type and bytes of `model`, or marks its cost as unknown.
void setCost(OperationModel &model, Count flops, Type flopsType, Count bytesMoved);

} // namespace remat
} // namespace mlir

#endif // REMAT_INTERFACES_MODELCOSTS_H
