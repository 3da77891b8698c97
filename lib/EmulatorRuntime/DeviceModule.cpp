//===- DeviceModule.cpp - From bitcode to functions of the processor ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module is compiled once, for all of its kernels.
//
//===----------------------------------------------------------------------===//

#include "DeviceModule.h"

#include "Errors.h"
#include "Lowering.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>

using namespace llvm;
using namespace mlir::remat::emulator;

/// Of a block, without opting in to more.
constexpr uint64_t kMaxSharedBytes = 48 * 1024;

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
static FunctionSet findCallees(const Function &function) {
  FunctionSet callees;
  callees.insert(&function);
  for (size_t next = 0; next < callees.size(); ++next)
    for (const Instruction &instruction : instructions(*callees[next]))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = call->getCalledFunction())
          callees.insert(callee);
  return callees;
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
  FunctionSet users = findUsers(variable);
  bool isStatic = !variable.isDeclaration() && getBytes(variable) != 0;
  if (!isStatic && !users.empty())
    fail(describe(*users.front()) + " uses dynamic shared memory");
}

static bool isShared(const GlobalVariable &variable) {
  return variable.getAddressSpace() == kSharedAddressSpace;
}

/// The names of the variables in shared memory that a kernel uses. Fails if they are too large.
static std::vector<std::string> findSharedVariables(Function &kernel, const FunctionSet &callees) {
  Module &module = *kernel.getParent();
  std::vector<std::string> names;
  uint64_t bytes = 0;
  for (GlobalVariable &variable : module.globals()) {
    if (!isShared(variable))
      continue;
    checkIsStatic(variable);
    if (none_of(findUsers(variable), [&](const Function *user) { return callees.contains(user); }))
      continue;
    names.push_back(variable.getName().str());
    bytes += getBytes(variable);
  }
  if (bytes > kMaxSharedBytes)
    fail(describe(kernel) + " has " + Twine(bytes) + " bytes of shared memory, more than " +
         Twine(kMaxSharedBytes));
  return names;
}

static std::unique_ptr<Kernel> describeKernel(const Function &function,
                                              const FunctionSet &callees) {
  auto kernel = std::make_unique<Kernel>();
  kernel->name = function.getName().str();
  kernel->numArguments = function.arg_size();
  kernel->blockSize = parseExtent(function, "nvvm.reqntid");
  kernel->maxBlockSize = parseExtent(function, "nvvm.maxntid");
  kernel->isCollective =
      any_of(callees, [](const Function *callee) { return ::isCollective(*callee); });
  return kernel;
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
  // One of two processors, so that results are the same on all: conversions to bf16, which some
  // have, would flush subnormal numbers.
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
    FunctionSet callees = findCallees(function);
    std::unique_ptr<Kernel> kernel = describeKernel(function, callees);
    kernel->module = result.get();
    sharedNames[kernel->name] = findSharedVariables(function, callees);
    result->kernels[kernel->name] = std::move(kernel);
  }

  dropAssumptions(*code);
  StringRef ranges = checkAccesses(*code, result->numLastRanges);
  lowerInlineAssembly(*code);
  lowerIntrinsics(*code);
  checkDeclarations(*code);
  makeCallable(*code);

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
    kernel->entry = lookup(getEntryName(name)).toPtr<void (*)(void **)>();
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
