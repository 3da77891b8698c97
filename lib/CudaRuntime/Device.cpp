//===- Device.cpp - The GPU -------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "Errors.h"

#include <cstdlib>

using namespace mlir::remat::cuda;

std::string Device::describe(CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS ||
      driver.cuGetErrorString(result, &text) != CUDA_SUCCESS)
    return "CUDA error " + std::to_string(result);
  return std::string(name) + " (" + text + ")";
}

bool Device::check(CUresult result, const std::string &what) const {
  if (result != CUDA_SUCCESS)
    fail(what + ": " + describe(result));
  return result == CUDA_SUCCESS;
}

void Device::finish(const std::string &what) const {
  if (synchronizes)
    check(driver.cuStreamSynchronize(stream), what);
}

static std::string readSynchronizes(bool &synchronizes) {
  const char *value = std::getenv("REMAT_DEVICE_SYNCHRONIZE");
  std::string text = value ? value : "0";
  synchronizes = text == "1";
  if (text == "0" || text == "1")
    return "";
  return "expected REMAT_DEVICE_SYNCHRONIZE to be 0 or 1, but got '" + text + "'";
}

static std::string open(Device &device) {
  if (std::string wrong = readSynchronizes(device.synchronizes); !wrong.empty())
    return wrong;
  if (std::string wrong = openLibrary(device.driver); !wrong.empty())
    return wrong;
  const DriverFunctions &driver = device.driver;
  std::string wrong;
  auto succeeds = [&](CUresult result, const char *function) {
    if (result != CUDA_SUCCESS)
      wrong = "cannot open the GPU: " + std::string(function) + ": " + device.describe(result);
    return result == CUDA_SUCCESS;
  };
  int count = 0;
  CUdevice first = 0;
  if (!succeeds(driver.cuInit(0), "cuInit") ||
      !succeeds(driver.cuDeviceGetCount(&count), "cuDeviceGetCount"))
    return wrong;
  if (count == 0)
    return "the driver shows no GPU";
  if (succeeds(driver.cuDeviceGet(&first, 0), "cuDeviceGet") &&
      succeeds(driver.cuDevicePrimaryCtxRetain(&device.context, first),
               "cuDevicePrimaryCtxRetain") &&
      succeeds(driver.cuCtxSetCurrent(device.context), "cuCtxSetCurrent"))
    succeeds(driver.cuStreamCreate(&device.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return wrong;
}

/// Never destroyed: modules are unloaded at exit.
static Device &device = *new Device;

const std::string &mlir::remat::cuda::openDevice() {
  static const std::string &wrong = *new std::string(open(device));
  return wrong;
}

const Device *mlir::remat::cuda::enterDevice() {
  if (hasFailed())
    return nullptr;
  if (const std::string &wrong = openDevice(); !wrong.empty()) {
    fail(wrong);
    return nullptr;
  }
  bool isCurrent = device.check(device.driver.cuCtxSetCurrent(device.context), "cuCtxSetCurrent");
  return isCurrent ? &device : nullptr;
}
