//===- BufferizableOpInterfaceImpl.h - Bufferization of remat ops -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_DIALECT_IR_BUFFERIZABLEOPINTERFACEIMPL_H
#define REMAT_DIALECT_IR_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;

namespace remat {
/// Lets one-shot bufferization replace the results of `remat.barrier` by the
/// buffers of its inputs, without a copy.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);
} // namespace remat
} // namespace mlir

#endif // REMAT_DIALECT_IR_BUFFERIZABLEOPINTERFACEIMPL_H
