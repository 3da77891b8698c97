//===- RematDialect.h - The remat dialect -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect, its attributes and its operation. Everything here is generated
// from RematDialect.td and RematOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_DIALECT_IR_REMATDIALECT_H
#define REMAT_DIALECT_IR_REMATDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Remat/Dialect/IR/RematDialect.h.inc"
#include "Remat/Dialect/IR/RematEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Remat/Dialect/IR/RematAttrs.h.inc"

#define GET_OP_CLASSES
#include "Remat/Dialect/IR/RematOps.h.inc"

#endif // REMAT_DIALECT_IR_REMATDIALECT_H
