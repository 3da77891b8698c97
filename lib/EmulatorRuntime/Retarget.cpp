//===- Retarget.cpp - Modules of NVPTX as modules of the processor --------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is around the instructions: names, attributes, conventions. Arithmetic is done as
// written: no flag lets the compiler change it.
//
//===----------------------------------------------------------------------===//

#include "DeviceInterface.h"
#include "Errors.h"
#include "Lowering.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace mlir::remat::emulator;

bool mlir::remat::emulator::isKernel(const Function &function) {
  return function.getCallingConv() == CallingConv::PTX_Kernel;
}

std::string mlir::remat::emulator::describe(const Function &function) {
  StringRef kind = isKernel(function) ? "kernel '" : "function '";
  return (kind + function.getName() + "'").str();
}

/// Adds the functions that use a value, also within constants.
static void addUsers(const User &user, FunctionSet &functions) {
  if (auto *instruction = dyn_cast<Instruction>(&user)) {
    functions.insert(instruction->getFunction());
    return;
  }
  for (const User *next : user.users())
    addUsers(*next, functions);
}

FunctionSet mlir::remat::emulator::findUsers(const GlobalObject &object) {
  FunctionSet functions;
  for (const User *user : object.users())
    addUsers(*user, functions);
  return functions;
}

std::string mlir::remat::emulator::getEntryName(StringRef kernel) {
  return ("remat.entry." + kernel).str();
}

/// A function that takes the addresses of the arguments.
static void addEntry(Function &kernel) {
  Module &module = *kernel.getParent();
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::get(context, 0);
  auto *entry =
      Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer}, /*isVarArg=*/false),
                       GlobalValue::ExternalLinkage, getEntryName(kernel.getName()), module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments;
  for (Argument &argument : kernel.args()) {
    Value *address = builder.CreateLoad(
        pointer, builder.CreateConstGEP1_64(pointer, entry->getArg(0), argument.getArgNo()));
    arguments.push_back(argument.hasByValAttr() ? address
                                                : builder.CreateLoad(argument.getType(), address));
  }
  builder.CreateCall(&kernel, arguments)->setAttributes(AttributeList());
  builder.CreateRetVoid();
}

void mlir::remat::emulator::dropAssumptions(Module &module) {
  LLVMContext &context = module.getContext();
  StripDebugInfo(module);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setAttributes(function.getAttributes().removeFnAttributes(context));
    for (Instruction &instruction : instructions(function)) {
      if (isa<FPMathOperator>(instruction))
        instruction.copyFastMathFlags(FastMathFlags());
      if (auto *call = dyn_cast<CallBase>(&instruction))
        call->setAttributes(call->getAttributes().removeFnAttributes(context));
    }
  }
}

/// From then on kernels are functions like others.
static void useConventionOfHost(Module &module) {
  for (Function &function : module) {
    if (function.isIntrinsic())
      continue;
    function.setCallingConv(CallingConv::C);
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        call->setCallingConv(CallingConv::C);
  }
}

void mlir::remat::emulator::nameVariables(Module &module) {
  for (StringRef name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *list = module.getNamedGlobal(name))
      list->eraseFromParent();
  for (auto [index, variable] : enumerate(module.globals())) {
    if (variable.isDeclaration())
      continue;
    variable.setName("remat.variable." + Twine(index));
    variable.setLinkage(GlobalValue::ExternalLinkage);
    variable.setVisibility(GlobalValue::DefaultVisibility);
    variable.setComdat(nullptr);
    variable.setSection("");
  }
}

void mlir::remat::emulator::checkDeclarations(Module &module) {
  auto isKnown = [](StringRef name) {
    return any_of(getDeviceSymbols(),
                  [&](const DeviceSymbol &symbol) { return symbol.name == name; });
  };
  for (GlobalObject &object : module.global_objects()) {
    auto *function = dyn_cast<Function>(&object);
    bool isIntrinsic = function && function->isIntrinsic();
    if (!object.isDeclaration() || isIntrinsic || isKnown(object.getName()))
      continue;
    FunctionSet users = findUsers(object);
    if (users.empty())
      continue;
    StringRef what = function ? " calls the unknown function '" : " uses the unknown variable '";
    fail(describe(*users.front()) + what + object.getName() + "'");
  }
}

void mlir::remat::emulator::makeCallable(Module &module) {
  SmallVector<Function *> kernels;
  for (Function &function : module)
    if (isKernel(function))
      kernels.push_back(&function);
  useConventionOfHost(module);
  for (Function *kernel : kernels)
    addEntry(*kernel);
}
