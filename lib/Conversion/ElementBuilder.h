//===- ElementBuilder.h - Elements of a structured operation ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, computes and stores what a thread has of a structured operation on buffers: one
// point of its loops, or several neighbours in the innermost one.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CONVERSION_ELEMENTBUILDER_H
#define REMAT_LIB_CONVERSION_ELEMENTBUILDER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::remat {

class ElementBuilder {
public:
  /// With `width` neighbours in the innermost loop, whose range it divides. Results may have
  /// a scalar that they begin with.
  ElementBuilder(RewriterBase &rewriter, linalg::GenericOp op, int64_t width,
                 ArrayRef<Value> starts = {})
      : rewriter(rewriter), loc(op.getLoc()), op(op), width(width), starts(starts) {}
  virtual ~ElementBuilder() = default;

protected:
  Value constant(int64_t value);
  Value add(Value value, int64_t number);
  Value divide(Value value, int64_t by);
  Value remainder(Value value, int64_t by);
  /// Builds `body` where the condition holds.
  void ifTrue(Value condition, function_ref<void()> body);

  /// Steps of a loop, each over `width` neighbours in the innermost one.
  int64_t getNumSteps(unsigned loop);
  /// Sets the indices of `loops` that belong to a number of a step in row order.
  void setIndices(ArrayRef<unsigned> loops, Value number, SmallVector<Value> &indices);

  /// The neighbours of an operand from `indices` on.
  virtual SmallVector<Value> load(OpOperand &operand, ValueRange indices);
  /// For each neighbour that has results of its own: what each result begins with, or
  /// anything where that is not read.
  SmallVector<Value> loadResults(ValueRange indices);
  /// What the body makes of those and of the inputs. Terms of one result are added one after
  /// the other.
  SmallVector<Value> compute(ValueRange indices, ValueRange results);
  void store(ValueRange results, ValueRange indices);

  RewriterBase &rewriter;
  Location loc;
  linalg::GenericOp op;
  int64_t width;

private:
  ArrayRef<Value> starts;

  SmallVector<Value> getPlace(OpOperand &operand, ValueRange indices);
  SmallVector<Value> getNeighbour(ValueRange indices, int64_t number);
  /// Whether neighbours in the innermost loop have results of their own.
  bool hasOwnResults();
  /// The alignment in bytes of an access to all neighbours at once; nothing where there is
  /// none, or it is not known to be aligned.
  std::optional<int64_t> getVectorAlignment(OpOperand &operand);
};

} // namespace mlir::remat

#endif // REMAT_LIB_CONVERSION_ELEMENTBUILDER_H
