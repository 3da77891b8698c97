//===- Arithmetic.cpp - Arithmetic instructions of NVVM -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roundings other than to the nearest number are in functions of their own, which change the
// mode of the processor and change it back: arithmetic of the caller cannot get in between.
// Instructions with `.ftz` take subnormal operands as zeros and return zeros for subnormal
// results.
//
//===----------------------------------------------------------------------===//

#include "DeviceInterface.h"
#include "Lowering.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

#include <optional>

using namespace llvm;
using namespace mlir::remat::emulator;

namespace {
/// The parts of a name like `fma.rz.ftz.f`.
struct NvvmInstruction {
  StringRef name;
  RoundingMode rounding = RoundingMode::NearestTiesToEven;
  bool flushes = false;
  bool saturates = false;
  bool propagatesNaN = false;
};
using Build = function_ref<Value *(IRBuilder<> &, ArrayRef<Value *>)>;
} // namespace

/// The last part is the type, which the operands say, too.
static std::optional<NvvmInstruction> parse(StringRef text) {
  NvvmInstruction instruction;
  SmallVector<StringRef> parts;
  text.split(parts, '.');
  instruction.name = parts.front();
  for (StringRef part : drop_begin(parts)) {
    bool isKnown = StringSwitch<bool>(part)
                       .Cases({"rn", "rz", "rm", "rp", "approx", "full", "ftz", "sat", "nan"}, true)
                       .Cases({"d", "f", "f16", "bf16", "f32", "f64"}, true)
                       .Default(false);
    if (!isKnown)
      return std::nullopt;
    instruction.rounding = StringSwitch<RoundingMode>(part)
                               .Case("rz", RoundingMode::TowardZero)
                               .Case("rm", RoundingMode::TowardNegative)
                               .Case("rp", RoundingMode::TowardPositive)
                               .Default(instruction.rounding);
    instruction.flushes |= part == "ftz";
    instruction.saturates |= part == "sat";
    instruction.propagatesNaN |= part == "nan";
  }
  return instruction;
}

static Value *flush(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  if (!type->isFloatTy() && !type->isDoubleTy())
    return value;
  Value *smallest = ConstantFP::get(type, APFloat::getSmallestNormalized(type->getFltSemantics()));
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  Value *zero = builder.CreateCopySign(ConstantFP::getZero(type), value);
  return builder.CreateSelect(builder.CreateFCmpOLT(magnitude, smallest), zero, value);
}

static Value *saturate(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  Value *atLeastZero =
      builder.CreateBinaryIntrinsic(Intrinsic::maximumnum, value, ConstantFP::getZero(type));
  return builder.CreateBinaryIntrinsic(Intrinsic::minimumnum, atLeastZero,
                                       ConstantFP::get(type, 1.0));
}

/// A call of a function that builds its result in that rounding mode. The name of the
/// instruction determines the types and the mode.
static Value *buildRounded(IRBuilder<> &builder, StringRef name, Type *type,
                           ArrayRef<Value *> operands, RoundingMode rounding, Build build) {
  Module &module = *builder.GetInsertBlock()->getModule();
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  FunctionCallee callee = module.getOrInsertFunction(
      ("remat.rounded." + name).str(), FunctionType::get(type, types, /*isVarArg=*/false));
  auto *function = cast<Function>(callee.getCallee());
  if (function->isDeclaration()) {
    function->setLinkage(GlobalValue::InternalLinkage);
    function->addFnAttr(Attribute::NoInline);
    function->addFnAttr(Attribute::StrictFP);
    IRBuilder<> body(BasicBlock::Create(module.getContext(), "", function));
    body.setIsFPConstrained(true);
    body.setDefaultConstrainedRounding(RoundingMode::Dynamic);
    body.setDefaultConstrainedExcept(fp::ebIgnore);
    auto setMode = [&](RoundingMode mode) {
      body.CreateIntrinsic(Intrinsic::set_rounding, {body.getInt32(static_cast<int>(mode))});
    };
    setMode(rounding);
    SmallVector<Value *> arguments(make_pointer_range(function->args()));
    Value *result = build(body, arguments);
    setMode(RoundingMode::NearestTiesToEven);
    body.CreateRet(result);
  }
  return builder.CreateCall(callee, operands);
}

Value *mlir::remat::emulator::buildFusedMultiplyAdd(IRBuilder<> &builder, Value *a, Value *b,
                                                    Value *c) {
  Type *type = a->getType();
  if (!type->isHalfTy() && !type->isBFloatTy())
    return builder.CreateFMA(a, b, c);
  // A sum that is rounded to odd in f64 is rounded to the same number as the exact one is.
  Type *f64 = builder.getDoubleTy();
  FunctionCallee toOdd = builder.GetInsertBlock()->getModule()->getOrInsertFunction(
      symbols::kFusedToOdd, FunctionType::get(f64, {f64, f64, f64}, /*isVarArg=*/false));
  auto widen = [&](Value *value) { return builder.CreateFPExt(value, f64); };
  return builder.CreateFPTrunc(builder.CreateCall(toOdd, {widen(a), widen(b), widen(c)}), type);
}

/// Of instructions whose result depends on the rounding mode; also in functions with
/// constrained arithmetic. Null for others.
static Value *buildRoundable(IRBuilder<> &builder, StringRef name, ArrayRef<Value *> operands) {
  Type *type = operands[0]->getType();
  if (name == "add")
    return builder.CreateFAdd(operands[0], operands[1]);
  if (name == "sub")
    return builder.CreateFSub(operands[0], operands[1]);
  if (name == "mul")
    return builder.CreateFMul(operands[0], operands[1]);
  if (name == "div")
    return builder.CreateFDiv(operands[0], operands[1]);
  if (name == "rcp")
    return builder.CreateFDiv(ConstantFP::get(type, 1.0), operands[0]);
  if (name == "fma")
    return buildFusedMultiplyAdd(builder, operands[0], operands[1], operands[2]);
  if (name == "sqrt")
    return builder.getIsFPConstrained()
               ? builder.CreateConstrainedFPIntrinsic(Intrinsic::experimental_constrained_sqrt,
                                                      {type}, {operands[0]}, {}, "")
               : builder.CreateUnaryIntrinsic(Intrinsic::sqrt, operands[0]);
  return nullptr;
}

static Value *buildNearest(IRBuilder<> &builder, const NvvmInstruction &instruction,
                           ArrayRef<Value *> operands) {
  StringRef name = instruction.name;
  if (Value *result = buildRoundable(builder, name, operands))
    return result;
  if (name == "neg")
    return builder.CreateFNeg(operands[0]);
  if (name == "saturate")
    return saturate(builder, operands[0]);
  if (name == "rsqrt") {
    Type *type = operands[0]->getType();
    Value *wide = builder.CreateFPExt(operands[0], builder.getDoubleTy());
    Value *root = builder.CreateUnaryIntrinsic(Intrinsic::sqrt, wide);
    return builder.CreateFPTrunc(builder.CreateFDiv(ConstantFP::get(root->getType(), 1.0), root),
                                 type);
  }
  bool propagates = instruction.propagatesNaN;
  if (name == "fmin" || name == "fmax") {
    Intrinsic::ID minimum = propagates ? Intrinsic::minimum : Intrinsic::minimumnum;
    Intrinsic::ID maximum = propagates ? Intrinsic::maximum : Intrinsic::maximumnum;
    return builder.CreateBinaryIntrinsic(name == "fmin" ? minimum : maximum, operands[0],
                                         operands[1]);
  }
  Intrinsic::ID function = StringSwitch<Intrinsic::ID>(name)
                               .Case("ex2", Intrinsic::exp2)
                               .Case("lg2", Intrinsic::log2)
                               .Case("sin", Intrinsic::sin)
                               .Case("cos", Intrinsic::cos)
                               .Case("tanh", Intrinsic::tanh)
                               .Case("fabs", Intrinsic::fabs)
                               .Case("ceil", Intrinsic::ceil)
                               .Case("floor", Intrinsic::floor)
                               .Case("trunc", Intrinsic::trunc)
                               .Case("round", Intrinsic::roundeven)
                               .Default(Intrinsic::not_intrinsic);
  return function == Intrinsic::not_intrinsic ? nullptr
                                              : builder.CreateUnaryIntrinsic(function, operands[0]);
}

static Value *buildFloatArithmetic(IRBuilder<> &builder, CallInst &call, StringRef name) {
  std::optional<NvvmInstruction> instruction = parse(name);
  if (!instruction || !call.getType()->isFloatingPointTy())
    return nullptr;
  SmallVector<Value *> operands;
  for (Value *operand : call.args())
    operands.push_back(instruction->flushes ? flush(builder, operand) : operand);
  Value *result = nullptr;
  if (instruction->rounding == RoundingMode::NearestTiesToEven) {
    result = buildNearest(builder, *instruction, operands);
  } else {
    auto build = [&](IRBuilder<> &body, ArrayRef<Value *> arguments) {
      return buildRoundable(body, instruction->name, arguments);
    };
    bool isKnown =
        is_contained({"add", "sub", "mul", "div", "rcp", "fma", "sqrt"}, instruction->name);
    if (isKnown)
      result = buildRounded(builder, name, call.getType(), operands, instruction->rounding, build);
  }
  if (result && instruction->saturates)
    result = saturate(builder, result);
  return result && instruction->flushes ? flush(builder, result) : result;
}

/// To integers: of those out of range the nearest, and 0 of NaNs.
static Value *buildToInteger(IRBuilder<> &builder, Value *value, Type *type, bool isUnsigned,
                             RoundingMode rounding) {
  Intrinsic::ID round = rounding == RoundingMode::TowardZero       ? Intrinsic::trunc
                        : rounding == RoundingMode::TowardNegative ? Intrinsic::floor
                        : rounding == RoundingMode::TowardPositive ? Intrinsic::ceil
                                                                   : Intrinsic::roundeven;
  Value *rounded = builder.CreateUnaryIntrinsic(round, value);
  return builder.CreateIntrinsic(isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat,
                                 {type, value->getType()}, {rounded});
}

/// Names like `f2ui.rz.ftz`.
static Value *buildConversion(IRBuilder<> &builder, CallInst &call, StringRef name) {
  StringRef conversion = name.split('.').first;
  StringRef from, to;
  std::tie(from, to) = conversion.split('2');
  bool isKnown = is_contained({"d", "f", "i", "ui", "ll", "ull"}, from) &&
                 is_contained({"d", "f", "i", "ui", "ll", "ull", "h", "bf16"}, to);
  std::optional<NvvmInstruction> instruction = parse(name);
  if (!isKnown || !instruction)
    return nullptr;
  RoundingMode rounding = instruction->rounding;
  bool isNearest = rounding == RoundingMode::NearestTiesToEven;
  Value *value = call.getArgOperand(0);
  Type *type = call.getType();
  if (instruction->flushes)
    value = flush(builder, value);

  Value *result = nullptr;
  if (to == "h") {
    // The type of the result is i16.
    if (isNearest)
      result = builder.CreateBitCast(builder.CreateFPTrunc(value, builder.getHalfTy()), type);
  } else if (type->isIntegerTy()) {
    result = buildToInteger(builder, value, type, to.starts_with("u"), rounding);
  } else {
    auto build = [&](IRBuilder<> &body, ArrayRef<Value *> arguments) {
      if (arguments[0]->getType()->isFloatingPointTy())
        return body.CreateFPTrunc(arguments[0], type);
      return from.starts_with("u") ? body.CreateUIToFP(arguments[0], type)
                                   : body.CreateSIToFP(arguments[0], type);
    };
    result = isNearest ? build(builder, value)
                       : buildRounded(builder, name, type, value, rounding, build);
    if (instruction->flushes)
      result = flush(builder, result);
  }
  return result;
}

/// The upper half of the product.
static Value *buildMultiplyHigh(IRBuilder<> &builder, Value *a, Value *b, bool isSigned) {
  unsigned width = a->getType()->getIntegerBitWidth();
  Type *wide = builder.getIntNTy(2 * width);
  Value *product = builder.CreateMul(builder.CreateIntCast(a, wide, isSigned),
                                     builder.CreateIntCast(b, wide, isSigned));
  return builder.CreateTrunc(builder.CreateLShr(product, width), a->getType());
}

/// |a - b| + c
static Value *buildSumOfDifference(IRBuilder<> &builder, CallInst &call, bool isSigned) {
  Value *a = call.getArgOperand(0);
  Value *b = call.getArgOperand(1);
  Value *smaller =
      builder.CreateBinaryIntrinsic(isSigned ? Intrinsic::smin : Intrinsic::umin, a, b);
  Value *larger = builder.CreateBinaryIntrinsic(isSigned ? Intrinsic::smax : Intrinsic::umax, a, b);
  return builder.CreateAdd(builder.CreateSub(larger, smaller), call.getArgOperand(2));
}

static Value *buildBitArithmetic(IRBuilder<> &builder, CallInst &call, StringRef name) {
  Type *i32 = builder.getInt32Ty();
  Type *i64 = builder.getInt64Ty();
  Type *f64 = builder.getDoubleTy();
  auto operand = [&](unsigned index) { return call.getArgOperand(index); };
  if (name == "mulhi.i" || name == "mulhi.ll" || name == "mulhi.s")
    return buildMultiplyHigh(builder, operand(0), operand(1), /*isSigned=*/true);
  if (name == "mulhi.ui" || name == "mulhi.ull" || name == "mulhi.us")
    return buildMultiplyHigh(builder, operand(0), operand(1), /*isSigned=*/false);
  if (name == "sad.i" || name == "sad.ll" || name == "sad.s")
    return buildSumOfDifference(builder, call, /*isSigned=*/true);
  if (name == "sad.ui" || name == "sad.ull" || name == "sad.us")
    return buildSumOfDifference(builder, call, /*isSigned=*/false);
  if (name == "d2i.lo")
    return builder.CreateTrunc(builder.CreateBitCast(operand(0), i64), i32);
  if (name == "d2i.hi")
    return builder.CreateTrunc(builder.CreateLShr(builder.CreateBitCast(operand(0), i64), 32), i32);
  if (name == "lohi.i2d") {
    Value *high = builder.CreateShl(builder.CreateZExt(operand(1), i64), 32);
    return builder.CreateBitCast(builder.CreateOr(high, builder.CreateZExt(operand(0), i64)), f64);
  }
  if (name == "ff2bf16x2.rn" || name == "ff2f16x2.rn") {
    // The first operand is the upper half.
    auto *type = cast<VectorType>(call.getType());
    auto narrow = [&](Value *value) {
      return builder.CreateFPTrunc(value, type->getElementType());
    };
    Value *lower =
        builder.CreateInsertElement(PoisonValue::get(type), narrow(operand(1)), uint64_t(0));
    return builder.CreateInsertElement(lower, narrow(operand(0)), uint64_t(1));
  }
  if (name == "bfind.shiftamt.u32")
    // Of 0 all bits are set.
    return builder.CreateSelect(
        builder.CreateIsNull(operand(0)), ConstantInt::getAllOnesValue(i32),
        builder.CreateBinaryIntrinsic(Intrinsic::ctlz, operand(0), builder.getFalse()));
  if (name == "prmt") {
    FunctionCallee permute = call.getModule()->getOrInsertFunction(
        symbols::kPermuteBytes, FunctionType::get(i32, {i32, i32, i32}, /*isVarArg=*/false));
    return builder.CreateCall(permute, {operand(0), operand(1), operand(2)});
  }
  return nullptr;
}

Value *mlir::remat::emulator::buildArithmetic(IRBuilder<> &builder, CallInst &call,
                                              StringRef name) {
  if (Value *result = buildBitArithmetic(builder, call, name))
    return result;
  if (Value *result = buildConversion(builder, call, name))
    return result;
  return buildFloatArithmetic(builder, call, name);
}
