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

#include "ConvolutionDescriptors.h"
#include "Device.h"
#include "Errors.h"

#include "Remat/Runtime/DeviceCalls.h"
#include "Remat/Runtime/DeviceRuntime.h"

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
  ConvolutionDescriptors descriptors;
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

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Sets an algorithm and its scratch memory if there is one for this form. Returns what is in
/// the way, or an empty text.
static std::string chooseAlgorithm(const Dnn &dnn, size_t availableBytes, Plan &plan) {
  const DnnFunctions &functions = dnn.functions;
  const auto &[input, output, filter, convolution, given, packed] = plan.descriptors;
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
        dnn.handle, input, output, convolution, filter, kGradientAlgorithm, &plan.scratchBytes);
    return isTaken(status, "cudnnGetConvolutionBackwardFilterWorkspaceSize") ? "" : wrong;
  }
  for (auto algorithm : {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                         CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM}) {
    plan.algorithm = algorithm;
    cudnnStatus_t status = functions.cudnnGetConvolutionForwardWorkspaceSize(
        dnn.handle, input, filter, convolution, output, algorithm, &plan.scratchBytes);
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
    if (cudnnStatus_t status = describe(dnn.functions, form, plan.descriptors))
      wrong = dnn.describe(status, "descriptors of a convolution");
    else
      wrong =
          chooseAlgorithm(dnn, static_cast<size_t>(taken.workspaceBytes - form.stagingBytes), plan);
    if (wrong.empty())
      return &known.emplace(key, plan).first->second;
    destroy(dnn.functions, plan.descriptors);
  }
  fail("rematDeviceConvolution: no algorithm: " + wrong);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Copies the caller's filter to the packed one, or back.
static bool stage(const Dnn &dnn, const Plan &plan, char *given, char *packed, bool isBack) {
  const DeviceConvolution &form = plan.form;
  int64_t bytes = getElementBytes(form.type);
  auto source = std::make_pair(plan.descriptors.givenPiece, given);
  auto target = std::make_pair(plan.descriptors.packedPiece, packed);
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
  const ConvolutionDescriptors &descriptors = plan.descriptors;
  const void *one = kOne.get(form.type);
  bool isStaged = form.numPieces != 0;
  auto *given = static_cast<char *>(givenFilter);
  char *filter = isStaged ? workspace : given;
  char *scratch = workspace + form.stagingBytes;
  if (isStaged && !stage(dnn, plan, given, filter, /*isBack=*/false))
    return;
  if (form.isFilterGradient) {
    cudnnStatus_t status = dnn.functions.cudnnConvolutionBackwardFilter(
        dnn.handle, one, descriptors.input, input, descriptors.output, output,
        descriptors.convolution, kGradientAlgorithm, scratch, plan.scratchBytes, one,
        descriptors.filter, filter);
    if (!dnn.check(status, "cudnnConvolutionBackwardFilter") ||
        (isStaged && !stage(dnn, plan, given, filter, /*isBack=*/true)))
      return;
    return device.finish("cudnnConvolutionBackwardFilter");
  }
  cudnnStatus_t status = dnn.functions.cudnnConvolutionForward(
      dnn.handle, one, descriptors.input, input, descriptors.filter, filter,
      descriptors.convolution, plan.algorithm, scratch, plan.scratchBytes, one, descriptors.output,
      output);
  if (dnn.check(status, "cudnnConvolutionForward"))
    device.finish("cudnnConvolutionForward");
}

REMAT_EXPORT int64_t rematDeviceConvolutionWorkspace(const RematConvolution *convolution) {
  return getDeviceConvolutionWorkspace(*convolution);
}

REMAT_EXPORT void rematDeviceConvolution(const RematConvolution *how, const void *input,
                                         const void *filter, void *output, void *workspace,
                                         int64_t workspaceBytes) {
  const Device *device = enterDevice();
  if (!device)
    return;
  std::optional<DeviceConvolutions> taken = getDeviceConvolutions(*how);
  if (!taken)
    return fail("rematDeviceConvolution: cuDNN does not take these types or strides");
  if (workspaceBytes < taken->workspaceBytes)
    return fail("rematDeviceConvolution: expected a workspace of at least " +
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
