//===- AccessChecks.cpp - Which memory kernels access ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check that succeeds takes a few instructions: the range of memory that the same place in
// the code accessed last is in a variable, and most accesses are in there again. Otherwise the
// emulator looks for the range, puts it into that variable, or ends the process:
//
//   %offset = sub i64 %address, %range.begin
//   %room = sub i64 %range.bytes, %offset
//   %fits = %offset < %range.bytes and bytes <= %room and %address is aligned
//   br i1 %fits, label %access, label %check     ; calls remat.check.access
//
//===----------------------------------------------------------------------===//

#include "DeviceInterface.h"
#include "Lowering.h"
#include "Traffic.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mlir::remat::emulator;

namespace {
struct Access {
  Instruction *instruction;
  Value *pointer;
  /// i64.
  Value *bytes;
  uint64_t alignment;
  uint32_t kind;
};
} // namespace

constexpr StringLiteral kRanges = "remat.access.ranges";

static void addAccess(SmallVectorImpl<Access> &accesses, Instruction &instruction, Value *pointer,
                      Value *bytes, Align alignment, uint32_t kind) {
  const Value *object = getUnderlyingObject(pointer);
  auto *argument = dyn_cast<Argument>(object);
  if (isa<AllocaInst>(object) || (argument && argument->hasByValAttr()))
    return;
  if (pointer->getType()->getPointerAddressSpace() == kSharedAddressSpace)
    kind |= kShared;
  accesses.push_back({&instruction, pointer, bytes, alignment.value(), kind});
}

static void findAccesses(Function &function, SmallVectorImpl<Access> &accesses) {
  const DataLayout &layout = function.getDataLayout();
  Type *i64 = Type::getInt64Ty(function.getContext());
  auto getBytes = [&](Type *type) {
    return ConstantInt::get(i64, layout.getTypeStoreSize(type).getFixedValue());
  };
  for (Instruction &instruction : instructions(function)) {
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      addAccess(accesses, *load, load->getPointerOperand(), getBytes(load->getType()),
                load->getAlign(), kRead);
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      addAccess(accesses, *store, store->getPointerOperand(),
                getBytes(store->getValueOperand()->getType()), store->getAlign(), kWrite);
    } else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
      addAccess(accesses, *update, update->getPointerOperand(), getBytes(update->getType()),
                update->getAlign(), kWrite);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      addAccess(accesses, *exchange, exchange->getPointerOperand(),
                getBytes(exchange->getNewValOperand()->getType()), exchange->getAlign(), kWrite);
    } else if (auto *memory = dyn_cast<MemIntrinsic>(&instruction)) {
      IRBuilder<> builder(memory);
      Value *bytes = builder.CreateZExtOrTrunc(memory->getLength(), i64);
      addAccess(accesses, *memory, memory->getRawDest(), bytes, memory->getDestAlign().valueOrOne(),
                kWrite);
      if (auto *transfer = dyn_cast<MemTransferInst>(memory))
        addAccess(accesses, *memory, transfer->getRawSource(), bytes,
                  transfer->getSourceAlign().valueOrOne(), kRead);
    }
  }
}

static void insertCheck(const Access &access, Value *range, FunctionCallee check) {
  IRBuilder<> builder(access.instruction);
  Type *i64 = builder.getInt64Ty();
  Value *address = builder.CreatePtrToInt(access.pointer, i64);
  Value *begin = builder.CreateLoad(i64, range);
  Value *size = builder.CreateLoad(i64, builder.CreateConstGEP1_64(i64, range, 1));
  Value *offset = builder.CreateSub(address, begin);
  Value *room = builder.CreateSub(size, offset);
  Value *fits = builder.CreateAnd(builder.CreateICmpULT(offset, size),
                                  builder.CreateICmpULE(access.bytes, room));
  if (access.alignment > 1)
    fits = builder.CreateAnd(
        fits, builder.CreateIsNull(builder.CreateAnd(address, access.alignment - 1)));
  MDNode *weights = MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
  Instruction *otherwise = SplitBlockAndInsertIfThen(builder.CreateNot(fits), access.instruction,
                                                     /*Unreachable=*/false, weights);
  builder.SetInsertPoint(otherwise);
  builder.CreateCall(check, {address, access.bytes, builder.getInt32(access.kind),
                             builder.getInt64(access.alignment), range});
}

/// Has what is read and written counted.
static void insertCounts(Module &module, ArrayRef<Access> accesses) {
  LLVMContext &context = module.getContext();
  Type *i64 = Type::getInt64Ty(context), *i32 = Type::getInt32Ty(context);
  FunctionCallee count = module.getOrInsertFunction(
      symbols::kCountAccess,
      FunctionType::get(Type::getVoidTy(context), {i64, i64, i32}, /*isVarArg=*/false));
  for (const Access &access : accesses) {
    if ((access.kind & kShared) != 0)
      continue;
    IRBuilder<> builder(access.instruction);
    builder.CreateCall(count, {builder.CreatePtrToInt(access.pointer, i64), access.bytes,
                               builder.getInt32(access.kind)});
  }
}

StringRef mlir::remat::emulator::checkAccesses(Module &module, int64_t &numRanges) {
  SmallVector<Access> accesses;
  for (Function &function : module)
    findAccesses(function, accesses);
  numRanges = static_cast<int64_t>(accesses.size());

  LLVMContext &context = module.getContext();
  Type *i64 = Type::getInt64Ty(context);
  Type *i32 = Type::getInt32Ty(context);
  Type *pointer = PointerType::get(context, 0);
  auto *type = ArrayType::get(i64, 2 * accesses.size());
  auto *ranges =
      new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::ExternalLinkage,
                         ConstantAggregateZero::get(type), kRanges);
  ranges->setAlignment(Align(16));
  FunctionCallee check = module.getOrInsertFunction(
      symbols::kCheckAccess, FunctionType::get(Type::getVoidTy(context),
                                               {i64, i64, i32, i64, pointer}, /*isVarArg=*/false));
  for (auto [index, access] : enumerate(accesses)) {
    IRBuilder<> builder(access.instruction);
    insertCheck(access, builder.CreateConstGEP2_64(type, ranges, 0, 2 * index), check);
  }
  if (isTrafficCounted())
    insertCounts(module, accesses);
  return kRanges;
}
