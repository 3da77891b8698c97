//===- StepInstance.cpp - A training step with its memory -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Execution/StepInstance.h"

#include "StepMemory.h"

using namespace llvm;
using namespace mlir::remat;

StepInstance::StepInstance(StepDescription description, StepProgram program)
    : description(std::move(description)),
      program(std::make_unique<StepProgram>(std::move(program))) {}
StepInstance::StepInstance(StepInstance &&) noexcept = default;

StepInstance::~StepInstance() = default;

Expected<StepInstance> StepInstance::create(StepDescription description,
                                            std::unique_ptr<MemoryBuffer> object, StringRef library,
                                            int64_t numThreads) {
  Expected<StepProgram> program =
      StepProgram::load(std::move(object), description.function, numThreads, library);
  if (!program)
    return program.takeError();
  StepInstance instance(std::move(description), std::move(*program));
  const StepDescription &step = instance.description;
  if (step.device == Device::GPU) {
    Expected<std::unique_ptr<StepMemory>> memory = createDeviceMemory(*instance.program);
    if (!memory)
      return memory.takeError();
    instance.memory = std::move(*memory);
  } else {
    instance.memory = createHostMemory(*instance.program, step.alignment);
  }
  for (const ArgumentInfo &argument : step.arguments) {
    Expected<void *> address = instance.memory->allocate(argument.bytes, argument.isDonated);
    if (!address)
      return address.takeError();
    instance.addresses.push_back(*address);
  }
  Expected<void *> arena = instance.memory->allocate(step.arenaBytes, /*isWritten=*/true);
  if (!arena)
    return arena.takeError();
  instance.addresses.push_back(*arena);
  if (Error error = instance.memory->fill(*arena, step.arenaBytes))
    return error;
  return instance;
}

Error StepInstance::fillArgument(size_t index, function_ref<Error(char *)> fill) {
  return memory->write(addresses[index], description.arguments[index].bytes, fill);
}

Error StepInstance::run(void *times) {
  std::vector<void *> pointers = addresses;
  if (description.timedOperations)
    pointers.push_back(times);
  Expected<double> duration = memory->measure([&] { program->run(pointers); });
  if (!duration)
    return duration.takeError();
  milliseconds = *duration;
  return Error::success();
}

Error StepInstance::readResult(size_t index, function_ref<void(const char *)> read) {
  const ResultInfo &result = description.results[index];
  void *base = result.argument ? addresses[*result.argument] : addresses.back();
  return memory->read(static_cast<const char *>(base) + result.offset, result.bytes, read);
}

int64_t StepInstance::getDeviceBytes() const { return memory->getDeviceBytes(); }
