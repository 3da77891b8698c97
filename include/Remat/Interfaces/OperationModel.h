//===- OperationModel.h - What a planner knows about one operation ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The answer of RematOpInterface and of a models file: effects, cost and
// aliasing of one operation, seen alone. What its regions and callees add is
// worked out by the analyses.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_OPERATIONMODEL_H
#define REMAT_INTERFACES_OPERATIONMODEL_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::remat {

/// How an operation relates to the ones around it.
enum class EffectKind {
  /// Deterministic and without effects: may be repeated, moved and erased.
  Pure,
  /// Reads memory or state and changes nothing: keeps its place.
  Reads,
  /// Anything else: writes, input and output, hidden random state,
  /// communication. Executed exactly once, in the original order.
  Ordered,
};

/// How a result gets its storage. A result without an entry owns one.
struct ResultStorage {
  enum class Kind {
    /// The same bytes as the operand: reshapes, barriers, contiguous slices.
    View,
    /// Destination passing: takes the operand's storage when nothing reads the
    /// operand later, and a new one otherwise.
    Reuse,
    /// Never in memory: `tensor.empty`, scalar and splat constants.
    None,
    /// Program data: counted once per distinct `data`, for the whole function.
    Constant,
  };

  unsigned result;
  Kind kind;
  /// Operand number, for View and Reuse.
  unsigned operand = 0;
  /// Identifies the data, for Constant.
  const void *data = nullptr;
};

/// How an operation can share a kernel with the operations around it.
struct KernelModel {
  /// What it takes to compute one element of the result where it is read.
  enum class Elements {
    /// The result is computed as a whole: reductions, products, calls.
    Whole,
    /// Each element is one of an operand, or a constant: broadcasts, transposes.
    Moved,
    /// Each element is computed from elements of the operands by simple arithmetic.
    Cheap,
    /// The same with a division, a root, or a transcendental function.
    Costly,
  };
  /// An operand that need not be in memory: the kernel can compute its elements.
  struct InlineOperand {
    unsigned operand;
    /// How many elements it computes then, with repetitions.
    int64_t evaluations;
  };

  Elements elements = Elements::Whole;
  /// Whether the result is a part of the operand, in several pieces of memory, and may stay
  /// there where only kernels read it.
  bool isSlice = false;
  /// Whether the result is a view also of an operand that is in several pieces.
  bool keepsStrides = false;
  /// Whether the operands tell the shape of the result.
  bool hasShapeInOperands = false;
  /// An operand of a result's type of which each element is read only to compute the
  /// elements in the same place: the result may overwrite it.
  struct SamePlaceOperand {
    unsigned operand, result;
  };
  /// By result, then by operand.
  llvm::SmallVector<SamePlaceOperand, 1> samePlaceOperands;
  /// Ascending operand numbers.
  llvm::SmallVector<InlineOperand, 2> inlineOperands;
  /// Whether inline operands have to tell the shape of the loops: there is no result
  /// that does.
  bool needsShapeFromOperands = false;
  /// Scalar operations in the body.
  int64_t scalarOperations = 0;
};

/// How an operation takes part in the kernels that a compiler behind this one forms.
enum class FusionRole {
  /// It reads and writes buffers: products, sorts, calls.
  None,
  /// Each element is computed from elements of the operands by simple arithmetic.
  Elementwise,
  /// The same, but too slow to be repeated: hyperbolic and trigonometric functions, powers.
  CostlyElementwise,
  /// Each element is one of an operand or a constant: broadcasts, slices, transposes.
  Movement,
  /// Reads elements and writes buffers.
  Reduction,
  /// A product of matrices: it reads and writes buffers, as matrices or batches of them.
  Product,
  /// The same in the shapes of its operands and results.
  Convolution,
  /// Changes a part of the first operand, in its place where nothing else reads that:
  /// scatters, updates of slices.
  Update,
  /// Numbers its elements: made where they are read.
  Iota,
  /// A loop over its operands: it changes them in their place, and leaves alone what its
  /// body returns as it came in.
  Loop,
};

/// The model of one operation, without its regions and callees.
struct OperationModel {
  /// Effects of the operation itself.
  EffectKind effects = EffectKind::Ordered;
  /// Whether effects of nested operations and of callees count as its own.
  bool recursive = false;
  /// Whether regions hold code for single elements (bodies of linalg.generic,
  /// reductions, comparators). Such code runs in registers: its values have no
  /// storage and its cost is part of `flops`; only its effects count, and the
  /// values from outside that it reads.
  bool perElementRegions = false;
  /// Whether a user's `remat.recomputable = true` may overrule `effects`: a
  /// collective repeated on all devices, say.
  bool overridable = false;
  /// Why the operation cannot be executed again, in plain words without a
  /// subject ("draws from hidden random state"); empty when it can.
  std::string whyNot;

  /// Floating-point (or integer) operations of one execution, at least 0.
  int64_t flops = 0;
  /// Element type that selects the rate for `flops`; null: no arithmetic.
  Type flopsType;
  /// Bytes read from operands and written to results by one execution. A value
  /// that is an operand twice is read once.
  int64_t bytesMoved = 0;
  /// False when `flops`, `bytesMoved` or `workspaceBytes` cannot be told (dynamic
  /// shapes, an overflow): they are 0 then, and the operation is no candidate
  /// for recomputation.
  bool costIsKnown = true;
  /// How often each region is executed: 1 unless it is a loop; nothing: unknown.
  std::optional<int64_t> tripCount = 1;

  llvm::SmallVector<ResultStorage, 2> storage;
  /// Operand numbers, ascending, whose data is not read: `tensor.dim`, the
  /// window of a pooling, an `outs` that is only written. Such an operand need
  /// not be live unless a result lives in its storage.
  llvm::SmallVector<unsigned, 1> unreadOperands;
  /// Scratch memory while the operation runs, in bytes.
  int64_t workspaceBytes = 0;
  KernelModel kernel;
  FusionRole fusionRole = FusionRole::None;

  bool isPure() const { return effects == EffectKind::Pure; }
  /// Where result number `result` is; null if it has a storage of its own.
  const ResultStorage *findStorage(unsigned result) const {
    const auto *found =
        llvm::find_if(storage, [&](const ResultStorage &entry) { return entry.result == result; });
    return found == storage.end() ? nullptr : found;
  }
};

} // namespace mlir::remat

#endif // REMAT_INTERFACES_OPERATIONMODEL_H
