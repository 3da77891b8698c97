//===- LibraryCalls.cpp - Products and convolutions -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those of the CPU, with workspace of their own. The workspace that was planned is overwritten,
// so that results are wrong if something else is there; and as for kernels, it is an error to
// access what is no memory of the device.
//
//===----------------------------------------------------------------------===//

#include "DeviceLayouts.h"
#include "DeviceMemory.h"
#include "Errors.h"
#include "Remat/Runtime/DeviceCalls.h"
#include "Remat/Runtime/DeviceRuntime.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <memory>

using namespace llvm;
using namespace mlir::remat;
using namespace mlir::remat::emulator;

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Fails if an operand, from its first to its last element, is not memory of the device.
static void checkOperand(const char *function, const void *data, RematElement type,
                         ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, bool isWritten) {
  if (is_contained(sizes, 0))
    return;
  int64_t last = 0;
  for (auto [size, stride] : zip_equal(sizes, strides))
    last += (size - 1) * stride;
  checkHostAccess(function, reinterpret_cast<uint64_t>(data), (last + 1) * getElementBytes(type),
                  isWritten);
}

/// What a library leaves in its workspace.
static void fillWorkspace(const char *function, void *workspace, int64_t expected, int64_t given) {
  if (given != expected)
    fail(Twine(function) + ": expected a workspace of " + Twine(expected) + " bytes, but got " +
         Twine(given));
  if (given == 0)
    return;
  checkHostAccess(function, reinterpret_cast<uint64_t>(workspace), given, /*isWrite=*/true);
  std::memset(workspace, 0xff, given);
}

namespace {
/// Memory of the host for one call.
class Scratch {
public:
  explicit Scratch(int64_t bytes)
      : memory(std::aligned_alloc(kAlignment, alignTo(bytes + 1, kAlignment)), std::free) {
    if (!memory)
      fail("no memory for a workspace of " + Twine(bytes) + " bytes");
  }
  void *get() const { return memory.get(); }

private:
  static constexpr int64_t kAlignment = 64;
  std::unique_ptr<void, void (*)(void *)> memory;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

REMAT_EXPORT int64_t rematDeviceMatmulWorkspace(const RematMatmul *product) {
  return getDeviceMatmulWorkspace(*product);
}

REMAT_EXPORT void rematDeviceMatmul(const RematMatmul *product, const void *a, const void *b,
                                    void *c, void *workspace, int64_t workspaceBytes) {
  const char *name = "rematDeviceMatmul";
  auto check = [&](const void *data, RematElement type, int64_t rows, int64_t columns,
                   ArrayRef<int64_t> strides, bool isWritten) {
    SmallVector<int64_t> sizes(std::begin(product->outer), std::end(product->outer));
    sizes.append({rows, columns});
    checkOperand(name, data, type, sizes, strides, isWritten);
  };
  check(a, product->typeA, product->rows, product->inner, product->stridesA, false);
  check(b, product->typeB, product->inner, product->columns, product->stridesB, false);
  check(c, product->typeC, product->rows, product->columns, product->stridesC, true);
  fillWorkspace(name, workspace, getDeviceMatmulWorkspace(*product), workspaceBytes);
  int64_t bytes = rematMatmulWorkspace(product);
  rematMatmul(product, a, b, c, Scratch(bytes).get(), bytes);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static double load(const char *data, RematElement type) {
  switch (type) {
  case RematElement::I1:
    return *data;
  case RematElement::F64: {
    double value = 0;
    std::memcpy(&value, data, sizeof(value));
    return value;
  }
  case RematElement::F32:
  case RematElement::TF32: {
    float value = 0;
    std::memcpy(&value, data, sizeof(value));
    return value;
  }
  case RematElement::F16:
  case RematElement::BF16:
    break;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, data, sizeof(bits));
  const fltSemantics &semantics =
      type == RematElement::F16 ? APFloat::IEEEhalf() : APFloat::BFloat();
  return APFloat(semantics, APInt(16, bits)).convertToDouble();
}

static void store(double value, char *data, RematElement type) {
  if (type == RematElement::F64) {
    std::memcpy(data, &value, sizeof(value));
    return;
  }
  auto rounded = static_cast<float>(value);
  if (type == RematElement::F32) {
    std::memcpy(data, &rounded, sizeof(rounded));
    return;
  }
  APFloat number(rounded);
  bool losesInfo = false;
  number.convert(type == RematElement::F16 ? APFloat::IEEEhalf() : APFloat::BFloat(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  auto bits = static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
  std::memcpy(data, &bits, sizeof(bits));
}

/// Calls with each index below the sizes.
static void forEach(ArrayRef<int64_t> sizes, function_ref<void(ArrayRef<int64_t>)> function) {
  if (is_contained(sizes, 0))
    return;
  SmallVector<int64_t> index(sizes.size(), 0);
  while (true) {
    function(index);
    size_t axis = sizes.size();
    while (axis > 0 && ++index[axis - 1] == sizes[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

/// As it is defined: for types that the library of the CPU does not have.
static void convolve(const RematConvolution &how, const char *input, const char *filter,
                     char *output) {
  SmallVector<int64_t> outputSizes = {how.batch, how.groups, how.outputChannels};
  SmallVector<int64_t> windowSizes = {how.inputChannels};
  outputSizes.append(std::begin(how.outputSizes), std::end(how.outputSizes));
  windowSizes.append(std::begin(how.windowSizes), std::end(how.windowSizes));
  forEach(outputSizes, [&](ArrayRef<int64_t> at) {
    int64_t batch = at[0], group = at[1], channel = at[2];
    int64_t place = batch * how.outputStrides[0] +
                    (group * how.outputChannels + channel) * how.outputStrides[1];
    for (int axis = 0; axis < 3; ++axis)
      place += at[3 + axis] * how.outputStrides[2 + axis];
    char *result = output + place * getElementBytes(how.outputType);
    double sum = load(result, how.outputType);
    forEach(windowSizes, [&](ArrayRef<int64_t> window) {
      int64_t from = batch * how.inputStrides[0] +
                     (group * how.inputChannels + window[0]) * how.inputStrides[1];
      int64_t by = group * how.filterStrides[0] + channel * how.filterStrides[1] +
                   window[0] * how.filterStrides[2];
      for (int axis = 0; axis < 3; ++axis) {
        int64_t position =
            at[3 + axis] * how.strides[axis] + window[1 + axis] * how.dilations[axis];
        from += position * how.inputStrides[2 + axis];
        by += window[1 + axis] * how.filterStrides[3 + axis];
      }
      sum += load(input + from * getElementBytes(how.inputType), how.inputType) *
             load(filter + by * getElementBytes(how.filterType), how.filterType);
    });
    store(sum, result, how.outputType);
  });
}

REMAT_EXPORT int64_t rematDeviceConvolutionWorkspace(const RematConvolution *convolution) {
  return getDeviceConvolutionWorkspace(*convolution);
}

REMAT_EXPORT void rematDeviceConvolution(const RematConvolution *convolution, const void *input,
                                         const void *filter, void *output, void *workspace,
                                         int64_t workspaceBytes) {
  const char *name = "rematDeviceConvolution";
  const RematConvolution &how = *convolution;
  SmallVector<int64_t> inputSizes = {how.batch, how.groups * how.inputChannels};
  SmallVector<int64_t> filterSizes = {how.groups, how.outputChannels, how.inputChannels};
  SmallVector<int64_t> outputSizes = {how.batch, how.groups * how.outputChannels};
  inputSizes.append(std::begin(how.inputSizes), std::end(how.inputSizes));
  filterSizes.append(std::begin(how.windowSizes), std::end(how.windowSizes));
  outputSizes.append(std::begin(how.outputSizes), std::end(how.outputSizes));
  checkOperand(name, input, how.inputType, inputSizes, how.inputStrides, false);
  checkOperand(name, filter, how.filterType, filterSizes, how.filterStrides, false);
  checkOperand(name, output, how.outputType, outputSizes, how.outputStrides, true);
  fillWorkspace(name, workspace, getDeviceConvolutionWorkspace(how), workspaceBytes);
  int64_t bytes = rematConvolutionWorkspace(convolution);
  if (bytes >= 0)
    rematConvolution(convolution, input, filter, output, Scratch(bytes).get(), bytes);
  else
    convolve(how, static_cast<const char *>(input), static_cast<const char *>(filter),
             static_cast<char *>(output));
}
