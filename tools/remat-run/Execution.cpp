//===- Execution.cpp - One variant of a training step in its own process ----===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include "Inputs.h"
#include "OperationTimer.h"
#include "Progress.h"
#include "Remat/Execution/StepProgram.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/OutputFile.h"
#include <chrono>
#include <cstring>

using namespace llvm;

namespace mlir::remat {

//===----------------------------------------------------------------------===//
// JSON
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

json::Value toJSON(const ExecutionSpec &spec) {
  return json::Object{{"variant", spec.variant},
                      {"object", spec.object},
                      {"function", spec.function},
                      {"arena_bytes", spec.arenaBytes},
                      {"alignment", spec.alignment},
                      {"arguments", spec.arguments},
                      {"results", spec.results},
                      {"seed", spec.seed},
                      {"steps", spec.steps},
                      {"threads", spec.threads},
                      {"loss", spec.loss},
                      {"updates", json::Array(spec.updates)},
                      {"iterations", spec.iterations},
                      {"device_library", spec.deviceLibrary},
                      {"inputs", spec.inputs},
                      {"results_file", spec.resultsFile},
                      {"timed_operations", spec.timedOperations}};
}

bool fromJSON(const json::Value &value, ExecutionSpec &spec, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("variant", spec.variant) && mapper.map("object", spec.object) &&
         mapper.map("function", spec.function) && mapper.map("arena_bytes", spec.arenaBytes) &&
         mapper.map("alignment", spec.alignment) && mapper.map("arguments", spec.arguments) &&
         mapper.map("results", spec.results) && mapper.map("seed", spec.seed) &&
         mapper.map("steps", spec.steps) && mapper.map("threads", spec.threads) &&
         mapper.map("loss", spec.loss) && mapper.map("updates", spec.updates) &&
         mapper.map("iterations", spec.iterations) &&
         mapper.map("device_library", spec.deviceLibrary) && mapper.map("inputs", spec.inputs) &&
         mapper.map("results_file", spec.resultsFile) &&
         mapper.map("timed_operations", spec.timedOperations);
}

json::Value toJSON(const ExecutionResult &result) {
  // JSON has no numbers for what is none, which losses may be: their bits are passed on.
  json::Array lossBits, times;
  for (double loss : result.losses)
    lossBits.push_back(bit_cast<int64_t>(loss));
  for (auto [operation, picoseconds] : result.operationTimes)
    times.push_back(json::Array{operation, picoseconds});
  return json::Object{{"vmhwm_bytes", result.highWaterBytes},
                      {"milliseconds_per_iteration", result.milliseconds},
                      {"loss_bits", std::move(lossBits)},
                      {"operation_times", std::move(times)}};
}

bool fromJSON(const json::Value &value, ExecutionResult &result, json::Path path) {
  json::ObjectMapper mapper(value, path);
  std::vector<int64_t> lossBits;
  std::vector<std::vector<int64_t>> times;
  if (!mapper || !mapper.map("vmhwm_bytes", result.highWaterBytes) ||
      !mapper.map("milliseconds_per_iteration", result.milliseconds) ||
      !mapper.map("loss_bits", lossBits) || !mapper.map("operation_times", times))
    return false;
  for (int64_t bits : lossBits)
    result.losses.push_back(bit_cast<double>(bits));
  for (const std::vector<int64_t> &time : times)
    result.operationTimes[time.front()] = time.back();
  return true;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// Aligned memory that is freed with it.
class AlignedBuffer {
public:
  AlignedBuffer(int64_t bytes, int64_t alignment)
      : data(std::aligned_alloc(alignment, alignTo(std::max<int64_t>(bytes, 1), alignment)),
             std::free) {}
  char *get() const { return static_cast<char *>(data.get()); }

private:
  std::unique_ptr<void, void (*)(void *)> data;
};
} // namespace

/// The largest resident set of this process so far.
static int64_t getHighWaterBytes() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> status =
      MemoryBuffer::getFileAsStream("/proc/self/status");
  if (!status)
    return 0;
  StringRef text = (*status)->getBuffer();
  auto [before, line] = text.split("VmHWM:");
  int64_t kibibytes = 0;
  line.ltrim().consumeInteger(10, kibibytes);
  return kibibytes * 1024;
}

/// Lets results be the next step's arguments. They are read before any is written: one may
/// be in an argument that another one replaces.
static void update(const ExecutionSpec &spec, ArrayRef<void *> pointers,
                   function_ref<const char *(const ResultInfo &)> getResult) {
  std::vector<std::string> values;
  for (auto [result, argument] : zip_equal(spec.results, spec.updates))
    values.push_back(argument < 0 ? std::string() : std::string(getResult(result), result.bytes));
  for (auto [value, argument] : zip_equal(values, spec.updates))
    if (argument >= 0)
      std::memcpy(pointers[argument], value.data(), value.size());
}

/// Alignments below this are of no use to the C library.
static constexpr int64_t kMinAlignment = 64;

Expected<ExecutionResult> execute(const ExecutionSpec &spec) {
  Expected<std::unique_ptr<MemoryBuffer>> object = readFile(spec.object);
  if (!object)
    return object.takeError();
  Expected<StepProgram> program =
      StepProgram::load(std::move(*object), spec.function, spec.threads, spec.deviceLibrary);
  if (!program)
    return program.takeError();

  Expected<InputFiles> inputs = InputFiles::open(spec.inputs, spec.arguments.size());
  if (!inputs)
    return inputs.takeError();

  int64_t alignment = std::max(spec.alignment, kMinAlignment);
  std::vector<AlignedBuffer> buffers;
  buffers.reserve(spec.arguments.size() + 1);
  std::vector<void *> pointers;
  auto allocate = [&](int64_t bytes) -> Error {
    buffers.emplace_back(bytes, alignment);
    pointers.push_back(buffers.back().get());
    return pointers.back() ? Error::success() : makeError("{0} bytes are not available", bytes);
  };
  for (auto [index, argument] : enumerate(spec.arguments)) {
    if (Error error = allocate(argument.bytes))
      return error;
    if (Error error = inputs->fill(index, argument, spec.seed, buffers.back().get()))
      return error;
  }
  if (Error error = allocate(spec.arenaBytes))
    return error;
  char *arena = buffers.back().get();
  // An emulator is told what kernels may access.
  if (auto *registerMemory = reinterpret_cast<void (*)(void *, int64_t, int32_t)>(
          program->find("rematEmulatorRegisterMemory"))) {
    for (auto [argument, pointer] : zip_first(spec.arguments, pointers))
      registerMemory(pointer, argument.bytes, argument.isDonated);
    registerMemory(arena, spec.arenaBytes, 1);
  }
  // All bits of a float that is no number.
  std::memset(arena, 0xff, spec.arenaBytes);
  std::optional<OperationTimer> timer;
  if (spec.timedOperations) {
    timer.emplace(*spec.timedOperations);
    pointers.push_back(timer->getBuffer());
  }

  auto refillDonated = [&]() -> Error {
    for (auto [index, argument] : enumerate(spec.arguments))
      if (argument.isDonated)
        if (Error error =
                inputs->fill(index, argument, spec.seed, static_cast<char *>(pointers[index])))
          return error;
    return Error::success();
  };
  Progress progress;
  std::vector<double> milliseconds;
  for (int64_t iteration = 0; iteration <= spec.iterations; ++iteration) {
    if (Error error = refillDonated())
      return error;
    progress.showSometimes(
        formatv("{0}: iteration {1} of {2}", spec.variant, iteration, spec.iterations).str());
    auto started = std::chrono::steady_clock::now();
    program->run(pointers);
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started)
            .count());
    // The first one warms up.
    if (timer && iteration > 0)
      timer->addExecution();
  }
  ExecutionResult result;
  if (timer)
    result.operationTimes = timer->getMedians();
  auto getResult = [&](const ResultInfo &place) {
    return (place.argument ? static_cast<char *>(pointers[*place.argument]) : arena) + place.offset;
  };
  if (Error error = spec.steps > 0 ? refillDonated() : Error::success())
    return error;
  for (int64_t step = 0; step < spec.steps; ++step) {
    progress.showSometimes(
        formatv("{0}: step {1} of {2}", spec.variant, step + 1, spec.steps).str());
    program->run(pointers);
    if (spec.loss >= 0)
      result.losses.push_back(
          readFirst(spec.results[spec.loss], getResult(spec.results[spec.loss])));
    update(spec, pointers, getResult);
  }
  result.highWaterBytes = getHighWaterBytes();
  if (milliseconds.size() > 1)
    milliseconds.erase(milliseconds.begin());
  sort(milliseconds);
  result.milliseconds = milliseconds[milliseconds.size() / 2];

  Error written = writeOutputFile(spec.resultsFile, [&](raw_ostream &os) {
    for (const ResultInfo &place : spec.results)
      os.write(getResult(place), place.bytes);
  });
  if (written)
    return written;
  return result;
}

} // namespace mlir::remat
