//===- BufferizableOpInterfaceImpl.cpp - Bufferization of remat ops ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"

#include "Remat/Dialect/IR/RematDialect.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
struct BarrierOpInterface
    : public BufferizableOpInterface::ExternalModel<BarrierOpInterface, remat::BarrierOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }

  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const {
    return false;
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    unsigned index = operand.getOperandNumber();
    if (index >= op->getNumResults())
      return {};
    return {{op->getResult(index), BufferRelation::Equivalent}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options, BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value input : cast<remat::BarrierOp>(op).getInputs()) {
      if (!isa<TensorType>(input.getType())) {
        buffers.push_back(input);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};
} // namespace

void remat::registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, remat::RematDialect *) {
    remat::BarrierOp::attachInterface<BarrierOpInterface>(*context);
  });
}
