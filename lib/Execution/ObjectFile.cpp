//===- ObjectFile.cpp - From the LLVM dialect to machine code ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/ObjectFile.h"

#include "Remat/Support/Error.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

using namespace mlir;
using namespace mlir::remat;

/// For the processor that this runs on.
static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return makeError("cannot compile for this processor: {0}", error);
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.first(), feature.second);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, llvm::sys::getHostCPUName(), features.getString(), options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return makeError("cannot compile for this processor");
  return machine;
}

/// Adds the function that takes its arguments from an array.
static llvm::Error addEntry(llvm::Module &module, StringRef name) {
  llvm::Function *function = module.getFunction(name);
  if (!function || function->isDeclaration())
    return makeError("there is no function '{0}' with a body", name);
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::get(context, 0);
  if (!function->getReturnType()->isVoidTy() ||
      !llvm::all_of(function->args(),
                    [&](const llvm::Argument &argument) { return argument.getType() == pointer; }))
    return makeError("'{0}' takes or returns scalars, which cannot be executed", name);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, false);
  auto *entry =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, kEntryPrefix + name, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", entry));
  SmallVector<llvm::Value *> arguments;
  for (unsigned index = 0; index < function->arg_size(); ++index)
    arguments.push_back(builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), index)));
  builder.CreateCall(function, arguments);
  builder.CreateRetVoid();
  return llvm::Error::success();
}

/// Makes a function of what runs before or after everything else.
static void exportStructors(llvm::Module &module, StringRef list, const Twine &name) {
  llvm::GlobalVariable *structors = module.getGlobalVariable(list);
  auto *entries = structors ? dyn_cast<llvm::ConstantArray>(structors->getInitializer()) : nullptr;
  if (!entries)
    return;
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  for (llvm::Value *entry : entries->operands())
    builder.CreateCall(type, cast<llvm::Constant>(entry)->getAggregateElement(1));
  builder.CreateRetVoid();
  structors->eraseFromParent();
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     Instrumentation instrumentation) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  // Loops over the elements of a vector must be loops when vectors are made of them; and
  // there are many kernels, most of which are small.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes =
      builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  if (instrumentation == Instrumentation::Addresses) {
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        function.addFnAttr(llvm::Attribute::SanitizeAddress);
    passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions()));
  }
  passes.run(module, modules);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mlir::remat::compileToObject(ModuleOp module, StringRef function, Instrumentation instrumentation) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerOpenMPDialectTranslation(*module.getContext());
  registerGPUDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return makeError("cannot translate the module to LLVM IR");
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine();
  if (!machine)
    return machine.takeError();
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  if (llvm::Error error = addEntry(*code, function))
    return error;
  exportStructors(*code, "llvm.global_ctors", kLoadPrefix + function);
  exportStructors(*code, "llvm.global_dtors", kUnloadPrefix + function);
  optimize(*code, **machine, instrumentation);
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager emission;
  if ((*machine)->addPassesToEmitFile(emission, os, nullptr, llvm::CodeGenFileType::ObjectFile))
    return makeError("cannot write an object file for this processor");
  emission.run(*code);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes),
                                                         /*RequiresNullTerminator=*/false);
}
