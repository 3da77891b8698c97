//===- StepProgram.cpp - A compiled training step in this process -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/StepProgram.h"

#include "Remat/Execution/ObjectFile.h"
#include "Remat/Runtime/Runtime.h"
#include "Remat/Support/Error.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir::remat;
using namespace llvm::orc;

StepProgram::StepProgram(std::unique_ptr<LLJIT> jit, void (*entry)(void **), void (*unload)())
    : jit(std::move(jit)), entry(entry), unload(unload) {}

StepProgram::StepProgram(StepProgram &&other) noexcept
    : jit(std::move(other.jit)), entry(other.entry), unload(std::exchange(other.unload, nullptr)) {}

/// What a function of the device library says is wrong, if there is such a library.
static llvm::Error checkDevice(const StepProgram &program, llvm::StringRef function) {
  auto *getError = reinterpret_cast<const char *(*)()>(program.find(function));
  const char *message = getError ? getError() : nullptr;
  return message ? makeError("{0}", message) : llvm::Error::success();
}

StepProgram::~StepProgram() {
  if (!unload)
    return;
  unload();
  llvm::consumeError(checkDevice(*this, "rematDeviceTakeError"));
}

/// The functions of the runtime library: this process may not export them.
static SymbolMap getRuntimeSymbols(LLJIT &jit) {
  SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {ExecutorAddr::fromPtr(function),
                                          llvm::JITSymbolFlags::Exported};
  };
  add("rematConvolution", &rematConvolution);
  add("rematMatmul", &rematMatmul);
  add("rematRecordTime", &rematRecordTime);
  add("__truncsfbf2", &__truncsfbf2);
  add("__truncdfbf2", &__truncdfbf2);
  return symbols;
}

llvm::Expected<StepProgram> StepProgram::load(std::unique_ptr<llvm::MemoryBuffer> object,
                                              llvm::StringRef function, int64_t numThreads,
                                              llvm::StringRef deviceLibrary) {
  rematSetNumThreads(numThreads);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Expected<std::unique_ptr<LLJIT>> jit = LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  JITDylib &library = (*jit)->getMainJITDylib();
  if (llvm::Error error = library.define(absoluteSymbols(getRuntimeSymbols(**jit))))
    return error;
  if (!deviceLibrary.empty()) {
    auto device = DynamicLibrarySearchGenerator::Load(deviceLibrary.str().c_str(),
                                                      (*jit)->getDataLayout().getGlobalPrefix());
    if (!device)
      return device.takeError();
    library.addGenerator(std::move(*device));
  }
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  llvm::Expected<ExecutorAddr> address = (*jit)->lookup((kEntryPrefix + function).str());
  if (!address)
    return address.takeError();
  auto *entry = address->toPtr<void (*)(void **)>();
  StepProgram program(std::move(*jit), entry, nullptr);
  if (llvm::Error error = checkDevice(program, "rematDeviceOpen"))
    return error;
  using Function = void (*)();
  if (void *loadKernels = program.find((kLoadPrefix + function).str())) {
    reinterpret_cast<Function>(loadKernels)();
    program.unload = reinterpret_cast<Function>(program.find((kUnloadPrefix + function).str()));
  }
  if (llvm::Error error = checkDevice(program, "rematDeviceTakeError"))
    return error;
  return program;
}

void *StepProgram::find(llvm::StringRef name) const {
  llvm::Expected<ExecutorAddr> address = jit->lookup(name);
  if (address)
    return address->toPtr<void *>();
  llvm::consumeError(address.takeError());
  return nullptr;
}
