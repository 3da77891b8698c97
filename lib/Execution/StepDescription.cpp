//===- StepDescription.cpp - What a compiled training step takes ------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/StepDescription.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::remat {

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

namespace {
struct DeviceNames {
  Device device;
  StringLiteral name, library;
};
} // namespace

static constexpr DeviceNames kDevices[] = {
    {Device::CPU, "cpu", ""},
    {Device::Emulator, "emulator", "libRematEmulatorRuntime.so"},
    {Device::GPU, "gpu", "libRematCudaRuntime.so"},
};

static const DeviceNames &getNames(Device device) {
  return *find_if(kDevices, [&](const DeviceNames &names) { return names.device == device; });
}

StringRef getName(Device device) { return getNames(device).name; }
StringRef getLibraryName(Device device) { return getNames(device).library; }

static bool fromJSON(const json::Value &value, Device &device, json::Path path) {
  std::optional<StringRef> text = value.getAsString();
  for (const DeviceNames &names : kDevices)
    if (text == names.name) {
      device = names.device;
      return true;
    }
  path.report("expected 'cpu', 'emulator' or 'gpu'");
  return false;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static json::Object toObject(const TensorInfo &tensor) {
  return json::Object{{"element", tensor.element},
                      {"count", tensor.count},
                      {"bytes", tensor.bytes},
                      {"shape", json::Array(tensor.shape)}};
}

static json::Value toJSON(const ArgumentInfo &argument) {
  json::Object object = toObject(argument);
  object["non_negative"] = argument.isNonNegative;
  object["donated"] = argument.isDonated;
  return object;
}

static json::Value toJSON(const ResultInfo &result) {
  json::Object object = toObject(result);
  object["argument"] = result.argument;
  object["offset"] = result.offset;
  return object;
}

static bool readTensor(json::ObjectMapper &mapper, TensorInfo &tensor) {
  return mapper && mapper.map("element", tensor.element) && mapper.map("count", tensor.count) &&
         mapper.map("bytes", tensor.bytes) && mapper.map("shape", tensor.shape);
}

static bool fromJSON(const json::Value &value, ArgumentInfo &argument, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return readTensor(mapper, argument) && mapper.map("non_negative", argument.isNonNegative) &&
         mapper.map("donated", argument.isDonated);
}

static bool fromJSON(const json::Value &value, ResultInfo &result, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return readTensor(mapper, result) && mapper.map("argument", result.argument) &&
         mapper.map("offset", result.offset);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

json::Value toJSON(const StepDescription &step) {
  return json::Object{{"function", step.function},
                      {"device", getName(step.device)},
                      {"arena_bytes", step.arenaBytes},
                      {"alignment", step.alignment},
                      {"arguments", step.arguments},
                      {"results", step.results},
                      {"timed_operations", step.timedOperations}};
}

bool fromJSON(const json::Value &value, StepDescription &step, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("function", step.function) && mapper.map("device", step.device) &&
         mapper.map("arena_bytes", step.arenaBytes) && mapper.map("alignment", step.alignment) &&
         mapper.map("arguments", step.arguments) && mapper.map("results", step.results) &&
         mapper.map("timed_operations", step.timedOperations);
}

} // namespace mlir::remat
