//===- InlineAssembly.cpp - The PTX that libdevice is written in ----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Single instructions are named like intrinsics of NVVM. The few longer pieces are known by
// their text, without white space.
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Lowering.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace mlir::remat::emulator;

/// The number whose halves are two operands, the lower one first.
static Value *join(IRBuilder<> &builder, Value *low, Value *high) {
  unsigned width = low->getType()->getIntegerBitWidth();
  Type *wide = builder.getIntNTy(2 * width);
  return builder.CreateOr(builder.CreateZExt(low, wide),
                          builder.CreateShl(builder.CreateZExt(high, wide), width));
}

/// The two results that are the halves of a number.
static Value *split(IRBuilder<> &builder, Value *wide, Type *pair) {
  Type *half = cast<StructType>(pair)->getElementType(0);
  Value *result = PoisonValue::get(pair);
  result = builder.CreateInsertValue(result, builder.CreateTrunc(wide, half), 0);
  Value *high = builder.CreateLShr(wide, half->getIntegerBitWidth());
  return builder.CreateInsertValue(result, builder.CreateTrunc(high, half), 1);
}

namespace {
struct Piece {
  StringRef text;
  Value *(*build)(IRBuilder<> &builder, CallInst &call);
};
} // namespace

/// a * b + c, or a * b, in twice as many bits.
static Value *buildWideProduct(IRBuilder<> &builder, CallInst &call) {
  Type *type = call.getArgOperand(0)->getType();
  Type *wide = builder.getIntNTy(2 * type->getIntegerBitWidth());
  auto widen = [&](unsigned index) { return builder.CreateZExt(call.getArgOperand(index), wide); };
  Value *result = builder.CreateMul(widen(0), widen(1));
  if (call.arg_size() == 3)
    result = builder.CreateAdd(result, widen(2));
  return split(builder, result, call.getType());
}

static Value *buildWideSum(IRBuilder<> &builder, CallInst &call) {
  Value *a = join(builder, call.getArgOperand(0), call.getArgOperand(1));
  Value *b = join(builder, call.getArgOperand(2), call.getArgOperand(3));
  return split(builder, builder.CreateAdd(a, b), call.getType());
}

static Value *buildWideDifference(IRBuilder<> &builder, CallInst &call) {
  Value *a = join(builder, call.getArgOperand(0), call.getArgOperand(1));
  Value *b = join(builder, call.getArgOperand(2), call.getArgOperand(3));
  return split(builder, builder.CreateSub(a, b), call.getType());
}

static Value *buildSelectEqualOrNaN(IRBuilder<> &builder, CallInst &call) {
  Value *isEqual = builder.CreateFCmpUEQ(call.getArgOperand(0), call.getArgOperand(1));
  return builder.CreateSelect(isEqual, call.getArgOperand(2), call.getArgOperand(3));
}

constexpr Piece kPieces[] = {
    {"{mad.lo.cc.u32$0,$2,$3,$4;madc.hi.u32$1,$2,$3,0;}", buildWideProduct},
    {"{.reg.u32r0,r1,r2,r3,alo,ahi,blo,bhi,clo,chi;mov.b64{alo,ahi},$2;mov.b64{blo,bhi},$3;"
     "mov.b64{clo,chi},$4;mad.lo.cc.u32r0,alo,blo,clo;madc.hi.cc.u32r1,alo,blo,chi;"
     "madc.hi.u32r2,alo,bhi,0;mad.lo.cc.u32r1,alo,bhi,r1;madc.hi.cc.u32r2,ahi,blo,r2;"
     "madc.hi.u32r3,ahi,bhi,0;mad.lo.cc.u32r1,ahi,blo,r1;madc.lo.cc.u32r2,ahi,bhi,r2;"
     "addc.u32r3,r3,0;mov.b64$0,{r0,r1};mov.b64$1,{r2,r3};}",
     buildWideProduct},
    {"{.reg.u32r0,r1,r2,r3,alo,ahi,blo,bhi;mov.b64{alo,ahi},$2;mov.b64{blo,bhi},$3;"
     "mul.lo.u32r0,alo,blo;mul.hi.u32r1,alo,blo;mad.lo.cc.u32r1,alo,bhi,r1;"
     "madc.hi.u32r2,alo,bhi,0;mad.lo.cc.u32r1,ahi,blo,r1;madc.hi.cc.u32r2,ahi,blo,r2;"
     "madc.hi.u32r3,ahi,bhi,0;mad.lo.cc.u32r2,ahi,bhi,r2;addc.u32r3,r3,0;mov.b64$0,{r0,r1};"
     "mov.b64$1,{r2,r3};}",
     buildWideProduct},
    {"{.reg.u32r0,r1,r2,r3,a0,a1,a2,a3,b0,b1,b2,b3;mov.b64{a0,a1},$2;mov.b64{a2,a3},$3;"
     "mov.b64{b0,b1},$4;mov.b64{b2,b3},$5;add.cc.u32r0,a0,b0;addc.cc.u32r1,a1,b1;"
     "addc.cc.u32r2,a2,b2;addc.u32r3,a3,b3;mov.b64$0,{r0,r1};mov.b64$1,{r2,r3};}",
     buildWideSum},
    {"{.reg.u32r0,r1,r2,r3,a0,a1,a2,a3,b0,b1,b2,b3;mov.b64{a0,a1},$2;mov.b64{a2,a3},$3;"
     "mov.b64{b0,b1},$4;mov.b64{b2,b3},$5;sub.cc.u32r0,a0,b0;subc.cc.u32r1,a1,b1;"
     "subc.cc.u32r2,a2,b2;subc.u32r3,a3,b3;mov.b64$0,{r0,r1};mov.b64$1,{r2,r3};}",
     buildWideDifference},
    {"{.reg.pred__$$temp3;setp.equ.f64__$$temp3,$1,$2;selp.f64$0,$3,$4,__$$temp3;}",
     buildSelectEqualOrNaN},
};

static Value *build(IRBuilder<> &builder, CallInst &call, StringRef text) {
  std::string dense;
  copy_if(text, std::back_inserter(dense), [](char c) { return !isSpace(c); });
  for (const Piece &piece : kPieces)
    if (piece.text == dense)
      return piece.build(builder, call);
  // One instruction: a name, the result, and the operands in their order.
  auto [name, operands] = text.trim().split(' ');
  std::string expected = "$0";
  for (unsigned index = 1; index <= call.arg_size(); ++index)
    expected += ",$" + std::to_string(index);
  expected += ";";
  if (dense != name.str() + expected)
    return nullptr;
  return buildArithmetic(builder, call, name);
}

void mlir::remat::emulator::lowerInlineAssembly(Module &module) {
  for (Function &function : module) {
    for (llvm::Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<CallInst>(&instruction);
      if (!call || !call->isInlineAsm())
        continue;
      IRBuilder<> builder(call);
      StringRef text = cast<InlineAsm>(call->getCalledOperand())->getAsmString();
      Value *result = build(builder, *call, text);
      if (!result)
        fail(describe(function) + " has unknown inline PTX: '" + text + "'");
      call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
  }
}
