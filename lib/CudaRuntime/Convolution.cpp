//===- Convolution.cpp - Convolutions through cuDNN -------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm is the first one that is deterministic and gets along with the workspace, of
// the forms of `DeviceLayouts.h` in order: ALGO_1 for the gradient of a filter; forward
// IMPLICIT_PRECOMP_GEMM, then IMPLICIT_GEMM. It follows from the shape, and is searched for
// once for each.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "DeviceLayouts.h"
#include "Errors.h"

#include "Remat/CudaRuntime/CudaRuntime.h"
#include "Remat/Runtime/DeviceCalls.h"

#include <array>
#include <cstring>
#include <map>
#include <utility>

using namespace mlir::remat;
using namespace mlir::remat::cuda;

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

namespace {
struct Dnn {
  DnnFunctions functions;
  cudnnHandle_t handle = nullptr;

  std::string describe(cudnnStatus_t status, const char *what) const {
    std::array<char, 1024> detail{};
    functions.cudnnGetLastErrorString(detail.data(), detail.size() - 1);
    std::string text = functions.cudnnGetErrorString(status);
    if (detail[0] != 0)
      text += std::string(" (") + detail.data() + ")";
    return std::string(what) + ": " + text;
  }
  bool check(cudnnStatus_t status, const char *what) const {
    if (status != CUDNN_STATUS_SUCCESS)
      fail(describe(status, what));
    return status == CUDNN_STATUS_SUCCESS;
  }
};

/// What the calls for a shape need besides addresses.
struct Plan {
  DeviceConvolution form;
  cudnnTensorDescriptor_t input = nullptr, output = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  /// Null without staging.
  cudnnTensorDescriptor_t givenPiece = nullptr, packedPiece = nullptr;
  /// If the form is the forward one.
  cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  size_t scratchBytes = 0;
};

/// A factor in the type that cuDNN wants: that of sums.
class Factor {
public:
  explicit Factor(int value) : single(static_cast<float>(value)), twice(value) {}
  const void *get(RematElement type) const {
    return type == RematElement::F64 ? static_cast<const void *>(&twice) : &single;
  }

private:
  float single;
  double twice;
};
} // namespace

static const Factor kZero(0), kOne(1);
constexpr cudnnConvolutionBwdFilterAlgo_t kGradientAlgorithm = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;

/// Opens the library when it is needed first. Null after an error.
static const Dnn *getDnn(const Device &device) {
  static Dnn *dnn = nullptr;
  if (dnn)
    return dnn;
  Dnn opened;
  if (std::string wrong = openLibrary(opened.functions); !wrong.empty()) {
    fail(wrong);
    return nullptr;
  }
  if (opened.check(opened.functions.cudnnCreate(&opened.handle), "cudnnCreate") &&
      opened.check(opened.functions.cudnnSetStream(opened.handle, device.stream), "cudnnSetStream"))
    dnn = new Dnn(opened);
  return dnn;
}

static cudnnDataType_t getDataType(RematElement type) {
  switch (type) {
  case RematElement::F16:
    return CUDNN_DATA_HALF;
  case RematElement::BF16:
    return CUDNN_DATA_BFLOAT16;
  case RematElement::F64:
    return CUDNN_DATA_DOUBLE;
  default:
    return CUDNN_DATA_FLOAT;
  }
}

static cudnnMathType_t getMathType(RematElement type) {
  switch (type) {
  case RematElement::F32:
    return CUDNN_FMA_MATH;
  case RematElement::F64:
    return CUDNN_DEFAULT_MATH;
  default:
    return CUDNN_TENSOR_OP_MATH;
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static cudnnStatus_t describe(const DnnFunctions &dnn, RematElement type,
                              const DeviceTensor &tensor, cudnnTensorDescriptor_t &descriptor) {
  if (cudnnStatus_t status = dnn.cudnnCreateTensorDescriptor(&descriptor))
    return status;
  return dnn.cudnnSetTensorNdDescriptor(descriptor, getDataType(type), tensor.numDimensions,
                                        tensor.sizes, tensor.strides);
}

static cudnnStatus_t describeFilter(const DnnFunctions &dnn, Plan &plan) {
  const DeviceConvolution &form = plan.form;
  if (cudnnStatus_t status = dnn.cudnnCreateFilterDescriptor(&plan.filter))
    return status;
  cudnnTensorFormat_t format = form.channelsLast ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  return dnn.cudnnSetFilterNdDescriptor(plan.filter, getDataType(form.type), format,
                                        form.filter.numDimensions, form.filter.sizes);
}

static cudnnStatus_t describeConvolution(const DnnFunctions &dnn, Plan &plan) {
  const DeviceConvolution &form = plan.form;
  const int noPadding[3] = {};
  cudnnDataType_t sumType = form.type == RematElement::F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  if (cudnnStatus_t status = dnn.cudnnCreateConvolutionDescriptor(&plan.convolution))
    return status;
  if (cudnnStatus_t status = dnn.cudnnSetConvolutionNdDescriptor(
          plan.convolution, form.input.numDimensions - 2, noPadding, form.strides, form.dilations,
          CUDNN_CROSS_CORRELATION, sumType))
    return status;
  if (cudnnStatus_t status = dnn.cudnnSetConvolutionGroupCount(plan.convolution, form.groups))
    return status;
  return dnn.cudnnSetConvolutionMathType(plan.convolution, getMathType(form.type));
}

static cudnnStatus_t describe(const DnnFunctions &dnn, Plan &plan) {
  const DeviceConvolution &form = plan.form;
  if (cudnnStatus_t status = describe(dnn, form.type, form.input, plan.input))
    return status;
  if (cudnnStatus_t status = describe(dnn, form.type, form.output, plan.output))
    return status;
  if (form.numPieces != 0) {
    if (cudnnStatus_t status = describe(dnn, form.type, form.givenPiece, plan.givenPiece))
      return status;
    if (cudnnStatus_t status = describe(dnn, form.type, form.packedPiece, plan.packedPiece))
      return status;
  }
  if (cudnnStatus_t status = describeFilter(dnn, plan))
    return status;
  return describeConvolution(dnn, plan);
}

static void destroy(const DnnFunctions &dnn, const Plan &plan) {
  for (auto descriptor : {plan.input, plan.output, plan.givenPiece, plan.packedPiece})
    if (descriptor)
      dnn.cudnnDestroyTensorDescriptor(descriptor);
  if (plan.filter)
    dnn.cudnnDestroyFilterDescriptor(plan.filter);
  if (plan.convolution)
    dnn.cudnnDestroyConvolutionDescriptor(plan.convolution);
}

/// Sets an algorithm and its scratch memory if there is one for this form. Returns what is in
/// the way, or an empty text.
static std::string chooseAlgorithm(const Dnn &dnn, size_t availableBytes, Plan &plan) {
  const DnnFunctions &functions = dnn.functions;
  std::string wrong;
  auto isTaken = [&](cudnnStatus_t status, const char *what) {
    if (status != CUDNN_STATUS_SUCCESS)
      wrong = dnn.describe(status, what);
    else if (plan.scratchBytes > availableBytes)
      wrong = "cuDNN wants " + std::to_string(plan.scratchBytes) + " bytes of scratch memory, " +
              "and there are " + std::to_string(availableBytes);
    return status == CUDNN_STATUS_SUCCESS && plan.scratchBytes <= availableBytes;
  };
  if (plan.form.isFilterGradient) {
    cudnnStatus_t status = functions.cudnnGetConvolutionBackwardFilterWorkspaceSize(
        dnn.handle, plan.input, plan.output, plan.convolution, plan.filter, kGradientAlgorithm,
        &plan.scratchBytes);
    return isTaken(status, "cudnnGetConvolutionBackwardFilterWorkspaceSize") ? "" : wrong;
  }
  for (auto algorithm : {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                         CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM}) {
    plan.algorithm = algorithm;
    cudnnStatus_t status = functions.cudnnGetConvolutionForwardWorkspaceSize(
        dnn.handle, plan.input, plan.filter, plan.convolution, plan.output, algorithm,
        &plan.scratchBytes);
    if (isTaken(status, "cudnnGetConvolutionForwardWorkspaceSize"))
      return "";
  }
  return wrong;
}

/// The plan for a shape. Null after an error.
static const Plan *lookup(const Dnn &dnn, const RematConvolution &how,
                          const DeviceConvolutions &taken) {
  using Key = std::array<int64_t, sizeof(RematConvolution) / sizeof(int64_t)>;
  // Never destroyed: the library may be gone then.
  static std::map<Key, Plan> &known = *new std::map<Key, Plan>;
  Key key;
  std::memcpy(key.data(), &how, sizeof(how));
  if (auto found = known.find(key); found != known.end())
    return &found->second;
  std::string wrong;
  for (const DeviceConvolution &form : taken.forms) {
    Plan plan;
    plan.form = form;
    if (cudnnStatus_t status = describe(dnn.functions, plan))
      wrong = dnn.describe(status, "descriptors of a convolution");
    else
      wrong =
          chooseAlgorithm(dnn, static_cast<size_t>(taken.workspaceBytes - form.stagingBytes), plan);
    if (wrong.empty())
      return &known.emplace(key, plan).first->second;
    destroy(dnn.functions, plan);
  }
  fail("rematConvolution: no algorithm: " + wrong);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Copies the caller's filter to the packed one, or back.
static bool stage(const Dnn &dnn, const Plan &plan, char *given, char *packed, bool isBack) {
  const DeviceConvolution &form = plan.form;
  int64_t bytes = getElementBytes(form.type);
  auto source = std::make_pair(plan.givenPiece, given);
  auto target = std::make_pair(plan.packedPiece, packed);
  int64_t sourceStep = form.givenPieceStride * bytes, targetStep = form.packedPieceStride * bytes;
  if (isBack) {
    std::swap(source, target);
    std::swap(sourceStep, targetStep);
  }
  for (int piece = 0; piece < form.numPieces; ++piece) {
    cudnnStatus_t status = dnn.functions.cudnnTransformTensor(
        dnn.handle, kOne.get(form.type), source.first, source.second + piece * sourceStep,
        kZero.get(form.type), target.first, target.second + piece * targetStep);
    if (!dnn.check(status, "cudnnTransformTensor"))
      return false;
  }
  return true;
}

static void run(const Device &device, const Dnn &dnn, const Plan &plan, const void *input,
                void *givenFilter, void *output, char *workspace) {
  const DeviceConvolution &form = plan.form;
  const void *one = kOne.get(form.type);
  bool isStaged = form.numPieces != 0;
  auto *given = static_cast<char *>(givenFilter);
  char *filter = isStaged ? workspace : given;
  char *scratch = workspace + form.stagingBytes;
  if (isStaged && !stage(dnn, plan, given, filter, /*isBack=*/false))
    return;
  if (form.isFilterGradient) {
    cudnnStatus_t status = dnn.functions.cudnnConvolutionBackwardFilter(
        dnn.handle, one, plan.input, input, plan.output, output, plan.convolution,
        kGradientAlgorithm, scratch, plan.scratchBytes, one, plan.filter, filter);
    if (!dnn.check(status, "cudnnConvolutionBackwardFilter") ||
        (isStaged && !stage(dnn, plan, given, filter, /*isBack=*/true)))
      return;
    return device.finish("cudnnConvolutionBackwardFilter");
  }
  cudnnStatus_t status = dnn.functions.cudnnConvolutionForward(
      dnn.handle, one, plan.input, input, plan.filter, filter, plan.convolution, plan.algorithm,
      scratch, plan.scratchBytes, one, plan.output, output);
  if (dnn.check(status, "cudnnConvolutionForward"))
    device.finish("cudnnConvolutionForward");
}

REMAT_EXPORT int64_t rematDeviceConvolutionWorkspace(const RematConvolution *convolution) {
  return getDeviceConvolutionWorkspace(*convolution);
}

REMAT_EXPORT void rematConvolution(const RematConvolution *how, const void *input,
                                   const void *filter, void *output, void *workspace,
                                   int64_t workspaceBytes) {
  const Device *device = enterDevice();
  if (!device)
    return;
  std::optional<DeviceConvolutions> taken = getDeviceConvolutions(*how);
  if (!taken)
    return fail("rematConvolution: cuDNN does not take these types or strides");
  if (workspaceBytes < taken->workspaceBytes)
    return fail("rematConvolution: expected a workspace of at least " +
                std::to_string(taken->workspaceBytes) + " bytes, but got " +
                std::to_string(workspaceBytes));
  const Dnn *dnn = taken->isEmpty ? nullptr : getDnn(*device);
  const Plan *plan = dnn ? lookup(*dnn, *how, *taken) : nullptr;
  if (!plan)
    return;
  // What is only read may be described as the result of another form.
  void *filterData = const_cast<void *>(filter), *outputData = output;
  if (plan->form.isFilterGradient)
    std::swap(filterData, outputData);
  run(*device, *dnn, *plan, input, filterData, outputData, static_cast<char *>(workspace));
}
