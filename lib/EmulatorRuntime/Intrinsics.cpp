//===- Intrinsics.cpp - Intrinsics of NVVM --------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Special registers become loads of a variable that the emulator sets for each thread, and
// what threads do together calls of the emulator, which lets other threads run.
//
//===----------------------------------------------------------------------===//

#include "DeviceInterface.h"
#include "Errors.h"
#include "Lowering.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"

#include <cstddef>
#include <optional>

using namespace llvm;
using namespace mlir::remat::emulator;

constexpr StringLiteral kPrefix = "llvm.nvvm.";

/// Where a special register is in ThreadRegisters, in bytes.
static std::optional<uint64_t> getRegisterOffset(StringRef name) {
  auto [base, axis] = name.split('.');
  std::optional<uint64_t> offset = StringSwitch<std::optional<uint64_t>>(base)
                                       .Case("tid", offsetof(ThreadRegisters, thread))
                                       .Case("ntid", offsetof(ThreadRegisters, blockSize))
                                       .Case("ctaid", offsetof(ThreadRegisters, block))
                                       .Case("nctaid", offsetof(ThreadRegisters, gridSize))
                                       .Case("laneid", offsetof(ThreadRegisters, lane))
                                       .Case("warpid", offsetof(ThreadRegisters, warp))
                                       .Default(std::nullopt);
  if (!offset || axis.empty())
    return offset;
  if (axis != "x" && axis != "y" && axis != "z")
    return std::nullopt;
  return *offset + sizeof(uint32_t) * (axis[0] - 'x');
}

static Value *buildRegister(IRBuilder<> &builder, StringRef name) {
  Module &module = *builder.GetInsertBlock()->getModule();
  auto load = [&](uint64_t offset) {
    Value *registers = module.getOrInsertGlobal(symbols::kRegisters, builder.getInt8Ty());
    return builder.CreateLoad(builder.getInt32Ty(),
                              builder.CreateConstGEP1_64(builder.getInt8Ty(), registers, offset));
  };
  if (name == "warpsize")
    return builder.getInt32(kWarpSize);
  if (name.consume_front("lanemask.")) {
    Value *own = builder.CreateShl(builder.getInt32(1), load(offsetof(ThreadRegisters, lane)));
    Value *less = builder.CreateSub(own, builder.getInt32(1));
    return StringSwitch<Value *>(name)
        .Case("eq", own)
        .Case("lt", less)
        .Case("le", builder.CreateOr(own, less))
        .Case("ge", builder.CreateNot(less))
        .Case("gt", builder.CreateNot(builder.CreateOr(own, less)))
        .Default(nullptr);
  }
  std::optional<uint64_t> offset = getRegisterOffset(name);
  return offset ? load(*offset) : nullptr;
}

namespace {
/// How the operands of an intrinsic are given to the emulator; -1: there is none.
struct CollectiveForm {
  Collective operation;
  int group = -1, value = -1, operand = -1, clamp = -1;
};
} // namespace

static std::optional<CollectiveForm> getBarrierForm(StringRef name) {
  bool hasValue = name.consume_front("red.");
  CollectiveForm form{Collective::Barrier};
  if (hasValue) {
    auto [operation, rest] = name.split('.');
    form.operation = StringSwitch<Collective>(operation)
                         .Case("and", Collective::BarrierAnd)
                         .Case("or", Collective::BarrierOr)
                         .Default(Collective::BarrierCount);
    name = rest;
  } else if (!name.consume_front("sync.")) {
    return std::nullopt;
  }
  name.consume_front("aligned.");
  int next = 0;
  form.group = next++;
  if (name == "count")
    form.operand = next++;
  else if (name != "all")
    return std::nullopt;
  if (hasValue)
    form.value = next;
  return form;
}

static std::optional<CollectiveForm> getCollectiveForm(StringRef name) {
  if (name.consume_front("barrier.cta."))
    return getBarrierForm(name);
  if (name == "bar.warp.sync")
    return CollectiveForm{Collective::WarpBarrier, 0};
  if (name == "activemask")
    return CollectiveForm{Collective::ActiveMask};
  if (name == "match.any.sync.i32")
    return CollectiveForm{Collective::Match, 0, 1};
  std::optional<Collective> operation;
  if (name.consume_front("shfl.sync.")) {
    auto [mode, type] = name.split('.');
    operation = StringSwitch<std::optional<Collective>>(mode)
                    .Case("up", Collective::ShuffleUp)
                    .Case("down", Collective::ShuffleDown)
                    .Case("bfly", Collective::ShuffleButterfly)
                    .Case("idx", Collective::ShuffleIndex)
                    .Default(std::nullopt);
    if (operation)
      return CollectiveForm{*operation, 0, 1, 2, 3};
  }
  if (name.consume_front("vote.")) {
    operation = StringSwitch<std::optional<Collective>>(name)
                    .Case("all.sync", Collective::VoteAll)
                    .Case("any.sync", Collective::VoteAny)
                    .Case("uni.sync", Collective::VoteUniform)
                    .Case("ballot.sync", Collective::Ballot)
                    .Default(std::nullopt);
    if (operation)
      return CollectiveForm{*operation, 0, 1};
  }
  if (name.consume_front("redux.sync.")) {
    operation = StringSwitch<std::optional<Collective>>(name)
                    .Case("add", Collective::ReduceAdd)
                    .Case("min", Collective::ReduceMin)
                    .Case("max", Collective::ReduceMax)
                    .Case("umin", Collective::ReduceUnsignedMin)
                    .Case("umax", Collective::ReduceUnsignedMax)
                    .Case("and", Collective::ReduceAnd)
                    .Case("or", Collective::ReduceOr)
                    .Case("xor", Collective::ReduceXor)
                    .Default(std::nullopt);
    if (operation)
      return CollectiveForm{*operation, 1, 0};
  }
  return std::nullopt;
}

static Value *toBits(IRBuilder<> &builder, Value *value) {
  if (value->getType()->isFloatTy())
    return builder.CreateBitCast(value, builder.getInt32Ty());
  return builder.CreateZExt(value, builder.getInt32Ty());
}

static Value *fromBits(IRBuilder<> &builder, Value *bits, Type *type) {
  if (type->isFloatTy())
    return builder.CreateBitCast(bits, type);
  return builder.CreateTrunc(bits, type);
}

static Value *buildCollective(IRBuilder<> &builder, CallInst &call, const CollectiveForm &form,
                              uint32_t site) {
  Type *i32 = builder.getInt32Ty();
  auto operand = [&](int index) -> Value * {
    return index < 0 ? builder.getInt32(0) : toBits(builder, call.getArgOperand(index));
  };
  FunctionCallee collective = call.getModule()->getOrInsertFunction(
      symbols::kCollective, FunctionType::get(builder.getInt64Ty(), {i32, i32, i32, i32, i32, i32},
                                              /*isVarArg=*/false));
  Value *result = builder.CreateCall(
      collective,
      {builder.getInt32(static_cast<uint32_t>(form.operation)), builder.getInt32(site),
       operand(form.group), operand(form.value), operand(form.operand), operand(form.clamp)});
  Type *type = call.getType();
  if (type->isVoidTy())
    return nullptr;
  Value *bits = builder.CreateTrunc(result, i32);
  auto *pair = dyn_cast<StructType>(type);
  if (!pair)
    return fromBits(builder, bits, type);
  Value *both = builder.CreateInsertValue(PoisonValue::get(pair),
                                          fromBits(builder, bits, pair->getElementType(0)), 0);
  Value *predicate = builder.CreateTrunc(builder.CreateLShr(result, 32), builder.getInt1Ty());
  return builder.CreateInsertValue(both, predicate, 1);
}

/// Instructions that change nothing where threads run one after the other.
static bool isHint(StringRef name) {
  return name.starts_with("membar.") || name.starts_with("fence.") ||
         name.starts_with("prefetch") || name == "nanosleep";
}

/// What replaces the call; null for calls without a result.
static Value *lowerIntrinsic(CallInst &call, StringRef name, uint32_t &numSites) {
  IRBuilder<> builder(&call);
  if (isHint(name))
    return nullptr;
  if (std::optional<CollectiveForm> form = getCollectiveForm(name))
    return buildCollective(builder, call, *form, numSites++);
  StringRef registerName = name;
  Value *result = registerName.consume_front("read.ptx.sreg.")
                      ? buildRegister(builder, registerName)
                      : buildArithmetic(builder, call, name);
  if (!result)
    fail(describe(*call.getFunction()) + " calls the unknown intrinsic '" + kPrefix + name + "'");
  return result;
}

/// Intrinsics that are not of NVVM and mean something else there.
static Value *lowerCommonIntrinsic(CallInst &call) {
  IRBuilder<> builder(&call);
  Intrinsic::ID id = call.getIntrinsicID();
  // NVPTX has no other way to compute `fmuladd`.
  if ((id == Intrinsic::fma || id == Intrinsic::fmuladd) && !call.getType()->isVectorTy())
    return buildFusedMultiplyAdd(builder, call.getArgOperand(0), call.getArgOperand(1),
                                 call.getArgOperand(2));
  if (id == Intrinsic::fma || id == Intrinsic::fmuladd) {
    auto *type = cast<FixedVectorType>(call.getType());
    Value *result = PoisonValue::get(type);
    for (uint64_t index = 0; index < type->getNumElements(); ++index) {
      auto element = [&](unsigned operand) {
        return builder.CreateExtractElement(call.getArgOperand(operand), index);
      };
      Value *sum = buildFusedMultiplyAdd(builder, element(0), element(1), element(2));
      result = builder.CreateInsertElement(result, sum, index);
    }
    return result;
  }
  return nullptr;
}

void mlir::remat::emulator::lowerIntrinsics(Module &module) {
  uint32_t numSites = 0;
  for (Function &function : module) {
    for (llvm::Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<CallInst>(&instruction);
      if (!call)
        continue;
      Function *callee = call->getCalledFunction();
      if (!callee)
        fail(describe(function) + " calls a function through a pointer");
      if (callee->getName() == "__nvvm_reflect")
        fail(describe(function) + " is not optimized: it calls '__nvvm_reflect'");
      StringRef name = callee->getName();
      bool isNVVM = name.consume_front(kPrefix);
      if (callee->getIntrinsicID() == Intrinsic::trap) {
        call->setCalledFunction(module.getOrInsertFunction(
            symbols::kTrap, FunctionType::get(Type::getVoidTy(module.getContext()), false)));
        continue;
      }
      Value *result = isNVVM ? lowerIntrinsic(*call, name, numSites) : lowerCommonIntrinsic(*call);
      if (!isNVVM && !result)
        continue;
      if (result)
        call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
  }
}

bool mlir::remat::emulator::isCollective(const Function &function) {
  StringRef name = function.getName();
  return name.consume_front(kPrefix) && getCollectiveForm(name);
}
