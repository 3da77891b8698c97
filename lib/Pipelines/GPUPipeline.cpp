//===- GPUPipeline.cpp - From tensors to code for a GPU ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvertToLLVM.h"
#include "FitPipelineOptions.h"
#include "Remat/Conversion/Passes.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Runtime/DeviceCalls.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace mlir::remat;

std::string mlir::remat::findCUDAToolkit() {
  SmallVector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (std::optional<std::string> folder = llvm::sys::Process::GetEnv(variable))
      folders.push_back(*folder);
  if (folders.empty())
    folders.push_back("/usr/local/cuda");
  for (const std::string &folder : folders)
    if (llvm::sys::fs::exists(folder + "/nvvm/libdevice/libdevice.10.bc"))
      return folder;
  return "";
}

void mlir::remat::buildConvertToGPU(OpPassManager &pipeline) {
  pipeline.addPass(createRematFlattenEmptyArgumentsPass());
  pipeline.addPass(createRematLibraryCallsToRuntimePass());
  RematOutlineKernelsPassOptions outlining;
  outlining.loops = outlining.fills = true;
  pipeline.addPass(createRematOutlineKernelsPass(outlining));
  pipeline.addPass(createRematKernelsToGPUPass());
  pipeline.addPass(createCanonicalizerPass());
  pipeline.addPass(createCSEPass());
  pipeline.addPass(createRematHostAccessesToRuntimePass());
  pipeline.addPass(createRematLaunchOnStreamPass());
  pipeline.addPass(createRematNameLaunchesPass());
}

bool mlir::remat::isGPUFormat(StringRef format) {
  return llvm::is_contained({"llvm", "isa", "bin", "fatbin"}, format);
}

namespace {
/// Emits errors about options that LLVM would take for a reason to stop the process, or not
/// notice.
struct CheckGPUOptionsPass : public PassWrapper<CheckGPUOptionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckGPUOptionsPass)
  explicit CheckGPUOptionsPass(GPUOptions options) : options(std::move(options)) {}

  StringRef getArgument() const override { return "remat-check-gpu-options"; }

  void runOnOperation() override {
    Location loc = UnknownLoc::get(&getContext());
    StringRef number = options.chip;
    bool isChip = number.consume_front("sm_") && !number.empty() && llvm::isDigit(number.front());
    if (!isChip)
      emitError(loc, "expected 'chip' to be such as sm_90, but got '") << options.chip << "'";
    bool isFormat = isGPUFormat(options.format);
    if (!isFormat)
      emitError(loc, "expected 'format' to be llvm, isa, bin or fatbin, but got '")
          << options.format << "'";
    if (!isChip || !isFormat)
      signalPassFailure();
  }

  GPUOptions options;
};
} // namespace

void mlir::remat::buildLowerGPU(OpPassManager &pipeline, const GPUOptions &options) {
  pipeline.addPass(std::make_unique<CheckGPUOptionsPass>(options));
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  target.features = options.features;
  target.optLevel = 3;
  pipeline.addPass(createGpuNVVMAttachTarget(target));
  OpPassManager &kernels = pipeline.nest<gpu::GPUModuleOp>();
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertComplexToStandardPass());
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.useBarePtrCallConv = true;
  kernels.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());

  pipeline.addPass(memref::createExpandStridedMetadataPass());
  pipeline.addPass(createLowerAffinePass());
  pipeline.addPass(createSCFToControlFlowPass());
  GpuToLLVMConversionPassOptions host;
  host.hostBarePtrCallConv = true;
  host.kernelBarePtrCallConv = true;
  pipeline.addPass(createGpuToLLVMConversionPass(host));
  GpuModuleToBinaryPassOptions binary;
  binary.compilationTarget = options.format;
  binary.toolkitPath = options.toolkit.empty() ? findCUDAToolkit() : options.toolkit;
  pipeline.addPass(createGpuModuleToBinaryPass(binary));
  pipeline.addPass(createConvertMathToLLVMPass());
  addConversionToLLVM(pipeline);
}

namespace {
struct GPUPipelineOptions : public FitPipelineOptions {
  GPUPipelineOptions() : FitPipelineOptions("h100", kDeviceAlignment) {}

  Option<std::string> chip{*this, "chip", llvm::cl::desc("Such as sm_90"),
                           llvm::cl::init(GPUOptions().chip)};
  Option<std::string> features{*this, "features", llvm::cl::desc("Of PTX, such as +ptx80"),
                               llvm::cl::init("")};
  Option<std::string> toolkit{*this, "toolkit", llvm::cl::desc("Folder of the CUDA toolkit"),
                              llvm::cl::init("")};
  Option<bool> tf32{*this, "tf32", llvm::cl::desc("f32 may be rounded to TF32 in products"),
                    llvm::cl::init(false)};
  Option<std::string> format{*this, "format",
                             llvm::cl::desc("Of the kernels: llvm, isa, bin or fatbin"),
                             llvm::cl::init(GPUOptions().format)};
};
} // namespace

void mlir::remat::registerGPUPipeline() {
  PassPipelineRegistration<GPUPipelineOptions>(
      "remat-gpu-pipeline", "From tensors to code for a GPU within a budget of memory",
      [](OpPassManager &pipeline, const GPUPipelineOptions &options) {
        buildPrepareStep(pipeline);
        Libraries libraries = options.tf32 ? Libraries::GPUWithTF32 : Libraries::GPU;
        pipeline.addPass(createRematFitArenaPass(options.get(libraries)));
        buildConvertToGPU(pipeline);
        buildLowerGPU(pipeline, {options.chip, options.features, options.toolkit, options.format});
      });
}
