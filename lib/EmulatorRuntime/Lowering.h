//===- Lowering.h - From NVVM code to code of the processor ---------------===//
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

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <string>

namespace mlir::remat::emulator {

/// The address space of NVPTX.
constexpr unsigned kSharedAddressSpace = 3;

/// In the order in which they were found.
using FunctionSet = llvm::SetVector<const llvm::Function *>;

bool isKernel(const llvm::Function &function);

/// How to name a function in an error.
std::string describe(const llvm::Function &function);

/// The functions that use a variable or a function, also within constants.
FunctionSet findUsers(const llvm::GlobalObject &object);

/// Gives all variables names by which the emulator finds them.
void nameVariables(llvm::Module &module);

/// Drops what says how NVPTX, or whoever knows more about a kernel, may compile it.
void dropAssumptions(llvm::Module &module);

/// Puts a check in front of each load and store; variables of a thread aside.
/// Each check has a MemoryRange of its own, in an array of the module; returns its name and
/// its size through `numRanges`. Comes before the other steps, whose code needs no checks.
llvm::StringRef checkAccesses(llvm::Module &module, int64_t &numRanges);

/// Replaces the PTX that libdevice is written in where NVVM has no intrinsics.
void lowerInlineAssembly(llvm::Module &module);

/// Replaces the intrinsics of NVVM.
void lowerIntrinsics(llvm::Module &module);

/// Fails if a function or a variable is used that is not here.
void checkDeclarations(llvm::Module &module);

/// Makes kernels functions of the processor, and adds an entry for each: a function that takes
/// the address of the addresses of the arguments.
void makeCallable(llvm::Module &module);
std::string getEntryName(llvm::StringRef kernel);

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
