//===- Lowering.h - From NVVM code to code of the processor --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps that make code that the processor can execute out of a module for NVPTX. All that
// the module calls is either known to them or an error that names it.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_LOWERING_H
#define REMAT_LIB_EMULATORRUNTIME_LOWERING_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <string>

namespace mlir::remat::emulator {

/// How to name a function in an error.
std::string describe(const llvm::Function &function);

/// Puts a check in front of each load and store; variables of a thread aside.
/// Each check has a MemoryRange of its own, in an array of the module; returns its name and
/// its size through `numRanges`. Comes before the other steps, whose code needs no checks.
llvm::StringRef checkAccesses(llvm::Module &module, int64_t &numRanges);

/// Replaces the PTX that libdevice is written in where NVVM has no intrinsics.
void lowerInlineAssembly(llvm::Module &module);

/// Replaces the intrinsics of NVVM.
void lowerIntrinsics(llvm::Module &module);

/// Whether a call of this function waits for other threads.
bool isCollective(const llvm::Function &function);

/// The value of an arithmetic instruction or a conversion, named as the intrinsics are after
/// `llvm.nvvm.`, of the arguments of the call; null if the name is unknown. Approximate ones
/// are computed as well as the C library can.
llvm::Value *buildArithmetic(llvm::IRBuilder<> &builder, llvm::CallInst &call,
                             llvm::StringRef name);

/// a * b + c, rounded once.
llvm::Value *buildFusedMultiplyAdd(llvm::IRBuilder<> &builder, llvm::Value *a, llvm::Value *b,
                                   llvm::Value *c);

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_LOWERING_H
