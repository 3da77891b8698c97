//===- DeviceModule.cpp - From bitcode to functions of the processor -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels keep their code; only what NVPTX does in another way is replaced. Arithmetic is done
// as written: no flag lets the compiler change it.
//
//===----------------------------------------------------------------------===//

#include "DeviceModule.h"

#include "Errors.h"
#include "Lowering.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>

using namespace llvm;
using namespace mlir::remat::emulator;

/// Of a block, without opting in to more.
constexpr uint64_t kMaxSharedBytes = 48 * 1024;
/// The address space of NVPTX.
constexpr unsigned kSharedAddressSpace = 3;

static bool isKernel(const Function &function) {
  return function.getCallingConv() == CallingConv::PTX_Kernel;
}

std::string mlir::remat::emulator::describe(const Function &function) {
  StringRef kind = isKernel(function) ? "kernel '" : "function '";
  return (kind + function.getName() + "'").str();
}

template <typename T>
static T takeOrFail(Expected<T> value, const Twine &what) {
  if (!value)
    fail(what + ": " + toString(value.takeError()));
  return std::move(*value);
}

//===----------------------------------------------------------------------===//
// What is known before the code is changed
//===----------------------------------------------------------------------===//

/// The function and all that it calls.
static SetVector<const Function *> findCallees(const Function &function) {
  SetVector<const Function *> callees;
  callees.insert(&function);
  for (size_t next = 0; next < callees.size(); ++next)
    for (const Instruction &instruction : instructions(*callees[next]))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = call->getCalledFunction())
          callees.insert(callee);
  return callees;
}

/// The functions that use a variable, also within constants.
static void findUsers(const User &user, SmallPtrSetImpl<const Function *> &functions) {
  if (auto *instruction = dyn_cast<Instruction>(&user)) {
    functions.insert(instruction->getFunction());
    return;
  }
  for (const User *next : user.users())
    findUsers(*next, functions);
}

static std::optional<Extent> parseExtent(const Function &function, StringRef attribute) {
  if (!function.hasFnAttribute(attribute))
    return std::nullopt;
  Extent extent = {1, 1, 1};
  StringRef rest = function.getFnAttribute(attribute).getValueAsString();
  for (uint32_t &size : extent) {
    rest.consumeInteger(10, size);
    rest.consume_front(",");
  }
  return extent;
}

static uint64_t getBytes(const GlobalVariable &variable) {
  return variable.getDataLayout().getTypeAllocSize(variable.getValueType());
}

/// Fails if launches say how large it is; it has no size then.
static void checkIsStatic(const GlobalVariable &variable) {
  SmallPtrSet<const Function *, 4> users;
  findUsers(variable, users);
  bool isStatic = !variable.isDeclaration() && getBytes(variable) != 0;
  if (!isStatic && !users.empty())
    fail(describe(**users.begin()) + " uses dynamic shared memory");
}

static bool isShared(const GlobalVariable &variable) {
  return variable.getAddressSpace() == kSharedAddressSpace;
}

/// The names of the variables in shared memory that a kernel uses. Fails if they are too large.
static std::vector<std::string> findSharedVariables(Function &kernel,
                                                    const SetVector<const Function *> &callees) {
  Module &module = *kernel.getParent();
  std::vector<std::string> names;
  uint64_t bytes = 0;
  for (GlobalVariable &variable : module.globals()) {
    if (!isShared(variable))
      continue;
    checkIsStatic(variable);
    SmallPtrSet<const Function *, 4> users;
    findUsers(variable, users);
    if (none_of(users, [&](const Function *user) { return callees.contains(user); }))
      continue;
    names.push_back(variable.getName().str());
    bytes += getBytes(variable);
  }
  if (bytes > kMaxSharedBytes)
    fail(describe(kernel) + " has " + Twine(bytes) + " bytes of shared memory, more than " +
         Twine(kMaxSharedBytes));
  return names;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// A function that takes the addresses of the arguments.
static void addEntry(Function &kernel) {
  Module &module = *kernel.getParent();
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::get(context, 0);
  auto *entry =
      Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer}, /*isVarArg=*/false),
                       GlobalValue::ExternalLinkage, "remat.entry." + kernel.getName(), module);
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

/// Drops what says how NVPTX, or whoever knows more about the kernel, may compile it.
static void dropAssumptions(Module &module) {
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

/// Gives all variables names by which the emulator finds them.
static void nameVariables(Module &module) {
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

static void checkDeclarations(Module &module) {
  auto isKnown = [](StringRef name) {
    return any_of(getDeviceSymbols(),
                  [&](const DeviceSymbol &symbol) { return symbol.name == name; });
  };
  for (GlobalObject &object : module.global_objects()) {
    auto *function = dyn_cast<Function>(&object);
    bool isIntrinsic = function && function->isIntrinsic();
    if (!object.isDeclaration() || isIntrinsic || isKnown(object.getName()))
      continue;
    SmallPtrSet<const Function *, 4> users;
    for (const User *user : object.users())
      findUsers(*user, users);
    if (users.empty())
      continue;
    StringRef what = function ? " calls the unknown function '" : " uses the unknown variable '";
    fail(describe(**users.begin()) + what + object.getName() + "'");
  }
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static std::unique_ptr<orc::LLJIT> createJIT() {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  orc::JITTargetMachineBuilder target{Triple(sys::getProcessTriple())};
  // No processor-specific conversions to bf16: some of them flush subnormal numbers.
  StringMap<bool> features = sys::getHostCPUFeatures();
  if (target.getTargetTriple().isX86() && features.lookup("avx2") && features.lookup("fma") &&
      features.lookup("f16c") && features.lookup("bmi2"))
    target.setCPU("x86-64-v3");
  target.getOptions().AllowFPOpFusion = FPOpFusion::Strict;
  target.setCodeGenOptLevel(CodeGenOptLevel::Default);
  return takeOrFail(orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(target)).create(),
                    "no compiler for this processor");
}

static void defineDeviceSymbols(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  for (const DeviceSymbol &symbol : getDeviceSymbols())
    symbols[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                 JITSymbolFlags::Exported};
  cantFail(jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
}

static std::unique_ptr<Module> parse(StringRef bitcode, LLVMContext &context) {
  auto code = takeOrFail(parseBitcodeFile(MemoryBufferRef(bitcode, "gpu module"), context),
                         "a module is not bitcode of gpu-module-to-binary{format=llvm}");
  if (!Triple(code->getTargetTriple()).isNVPTX())
    fail("a module is for '" + code->getTargetTriple().str() + "', not for NVPTX");
  return code;
}

static void checkIsValid(const Module &module) {
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(module, &stream))
    fail("a module is invalid: " + problem);
}

namespace {
struct Variable {
  std::string name;
  uint64_t bytes;
  bool isWritable, isShared;
};
} // namespace

static std::vector<Variable> findVariables(Module &module) {
  std::vector<Variable> variables;
  for (GlobalVariable &variable : module.globals())
    if (uint64_t bytes = getBytes(variable); bytes != 0 && !variable.isDeclaration())
      variables.push_back(
          {variable.getName().str(), bytes, !variable.isConstant(), isShared(variable)});
  return variables;
}

std::unique_ptr<DeviceModule> DeviceModule::load(StringRef bitcode) {
  auto context = std::make_unique<LLVMContext>();
  std::unique_ptr<Module> code = parse(bitcode, *context);
  nameVariables(*code);
  std::vector<Variable> variables = findVariables(*code);

  auto result = std::make_unique<DeviceModule>();
  StringMap<std::vector<std::string>> sharedNames;
  for (Function &function : make_filter_range(*code, isKernel)) {
    SetVector<const Function *> callees = findCallees(function);
    auto kernel = std::make_unique<Kernel>();
    kernel->name = function.getName().str();
    kernel->module = result.get();
    kernel->numArguments = function.arg_size();
    kernel->blockSize = parseExtent(function, "nvvm.reqntid");
    kernel->maxBlockSize = parseExtent(function, "nvvm.maxntid");
    kernel->isCollective =
        any_of(callees, [](const Function *callee) { return ::isCollective(*callee); });
    sharedNames[kernel->name] = findSharedVariables(function, callees);
    result->kernels[kernel->name] = std::move(kernel);
  }

  dropAssumptions(*code);
  StringRef ranges = checkAccesses(*code, result->numLastRanges);
  lowerInlineAssembly(*code);
  lowerIntrinsics(*code);
  checkDeclarations(*code);
  useConventionOfHost(*code);
  for (const auto &kernel : result->kernels)
    addEntry(*code->getFunction(kernel.first()));

  result->jit = createJIT();
  code->setTargetTriple(result->jit->getTargetTriple());
  code->setDataLayout(result->jit->getDataLayout());
  checkIsValid(*code);
  defineDeviceSymbols(*result->jit);
  if (Error error =
          result->jit->addIRModule(orc::ThreadSafeModule(std::move(code), std::move(context))))
    fail("a module cannot be compiled: " + toString(std::move(error)));
  auto lookup = [&](const Twine &name) {
    return takeOrFail(result->jit->lookup(name.str()), "a module cannot be compiled");
  };

  result->lastRanges = lookup(ranges).toPtr<MemoryRange *>();
  StringMap<MutableArrayRef<char>> memory;
  for (const Variable &variable : variables) {
    orc::ExecutorAddr address = lookup(variable.name);
    memory[variable.name] = {address.toPtr<char *>(), variable.bytes};
    MemoryRange range{address.getValue(), variable.bytes};
    (variable.isShared ? result->shared : result->variables).add(range, variable.isWritable);
  }
  for (auto &[name, kernel] : result->kernels) {
    kernel->entry = lookup("remat.entry." + name).toPtr<void (*)(void **)>();
    for (StringRef shared : sharedNames[name])
      kernel->shared.push_back(memory[shared]);
  }
  return result;
}

Kernel *DeviceModule::find(StringRef name) {
  auto kernel = kernels.find(name);
  return kernel == kernels.end() ? nullptr : kernel->second.get();
}

void DeviceModule::forgetRanges(int64_t epoch) {
  if (epoch != lastEpoch)
    std::fill_n(lastRanges, numLastRanges, MemoryRange());
  lastEpoch = epoch;
}
