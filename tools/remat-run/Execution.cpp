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
#include "Remat/Execution/StepInstance.h"
#include "Remat/Support/OutputFile.h"

using namespace llvm;

namespace mlir::remat {

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

json::Value toJSON(const ExecutionSpec &spec) {
  return json::Object{{"variant", spec.variant}, {"step", toJSON(spec.step)},
                      {"object", spec.object},   {"device_library", spec.deviceLibrary},
                      {"seed", spec.seed},       {"iterations", spec.iterations},
                      {"threads", spec.threads}, {"steps", spec.steps},
                      {"loss", spec.loss},       {"updates", json::Array(spec.updates)},
                      {"inputs", spec.inputs},   {"results_file", spec.resultsFile}};
}

bool fromJSON(const json::Value &value, ExecutionSpec &spec, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("variant", spec.variant) && mapper.map("step", spec.step) &&
         mapper.map("object", spec.object) && mapper.map("device_library", spec.deviceLibrary) &&
         mapper.map("seed", spec.seed) && mapper.map("iterations", spec.iterations) &&
         mapper.map("threads", spec.threads) && mapper.map("steps", spec.steps) &&
         mapper.map("loss", spec.loss) && mapper.map("updates", spec.updates) &&
         mapper.map("inputs", spec.inputs) && mapper.map("results_file", spec.resultsFile);
}

json::Value toJSON(const ExecutionResult &result) {
  // JSON has no numbers for what is none, which losses may be: their bits are passed on.
  json::Array lossBits, times;
  for (double loss : result.losses)
    lossBits.push_back(bit_cast<int64_t>(loss));
  for (auto [operation, picoseconds] : result.operationTimes)
    times.push_back(json::Array{operation, picoseconds});
  return json::Object{{"vmhwm_bytes", result.highWaterBytes},
                      {"device_bytes", result.deviceBytes},
                      {"milliseconds_per_iteration", result.milliseconds},
                      {"loss_bits", std::move(lossBits)},
                      {"operation_times", std::move(times)}};
}

bool fromJSON(const json::Value &value, ExecutionResult &result, json::Path path) {
  json::ObjectMapper mapper(value, path);
  std::vector<int64_t> lossBits;
  std::vector<std::vector<int64_t>> times;
  if (!mapper || !mapper.map("vmhwm_bytes", result.highWaterBytes) ||
      !mapper.map("device_bytes", result.deviceBytes) ||
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
static Error update(const ExecutionSpec &spec, StepInstance &instance) {
  std::vector<std::pair<int64_t, std::string>> values;
  for (auto [index, result] : enumerate(spec.step.results)) {
    int64_t argument = spec.updates[index];
    if (argument < 0)
      continue;
    Error error = instance.readResult(index, [&, bytes = result.bytes](const char *data) {
      values.emplace_back(argument, std::string(data, bytes));
    });
    if (error)
      return error;
  }
  for (const auto &[argument, value] : values) {
    Error error = instance.fillArgument(argument, [&, &contents = value](char *data) {
      llvm::copy(contents, data);
      return Error::success();
    });
    if (error)
      return error;
  }
  return Error::success();
}

namespace {
/// Executes a variant, and takes times and losses.
class Executor {
public:
  Executor(const ExecutionSpec &spec, StepInstance &instance, const InputFiles &inputs)
      : spec(spec), instance(instance), inputs(inputs) {
    if (spec.step.timedOperations)
      timer.emplace(*spec.step.timedOperations);
  }

  Expected<ExecutionResult> run() {
    if (Error error = fillArguments(/*onlyDonated=*/false))
      return error;
    if (Error error = iterate())
      return error;
    if (Error error = train())
      return error;
    result.highWaterBytes = getHighWaterBytes();
    result.deviceBytes = instance.getDeviceBytes();
    if (timer)
      result.operationTimes = timer->getMedians();
    if (Error error = writeResults())
      return error;
    return result;
  }

private:
  Error fillArguments(bool onlyDonated) {
    for (auto [index, argument] : enumerate(spec.step.arguments)) {
      if (onlyDonated && !argument.isDonated)
        continue;
      Error error =
          instance.fillArgument(index, [&, number = index, &info = argument](char *data) -> Error {
            return inputs.fill(number, info, spec.seed, data);
          });
      if (error)
        return error;
    }
    return Error::success();
  }

  Error iterate() {
    std::vector<double> milliseconds;
    for (int64_t iteration = 0; iteration <= spec.iterations; ++iteration) {
      if (Error error = iteration > 0 ? fillArguments(/*onlyDonated=*/true) : Error::success())
        return error;
      progress.showSometimes(
          formatv("{0}: iteration {1} of {2}", spec.variant, iteration, spec.iterations).str());
      if (Error error = instance.run(timer ? timer->getBuffer() : nullptr))
        return error;
      // The first one warms up.
      if (iteration == 0 && spec.iterations > 0)
        continue;
      milliseconds.push_back(instance.getMilliseconds());
      if (timer)
        timer->addExecution();
    }
    sort(milliseconds);
    result.milliseconds = milliseconds[milliseconds.size() / 2];
    return Error::success();
  }

  Error train() {
    if (Error error = spec.steps > 0 ? fillArguments(/*onlyDonated=*/true) : Error::success())
      return error;
    for (int64_t step = 0; step < spec.steps; ++step) {
      progress.showSometimes(
          formatv("{0}: step {1} of {2}", spec.variant, step + 1, spec.steps).str());
      if (Error error = instance.run(timer ? timer->getBuffer() : nullptr))
        return error;
      if (spec.loss >= 0) {
        Error error = instance.readResult(spec.loss, [&](const char *data) {
          result.losses.push_back(readFirst(spec.step.results[spec.loss], data));
        });
        if (error)
          return error;
      }
      if (Error error = update(spec, instance))
        return error;
    }
    return Error::success();
  }

  Error writeResults() {
    Error failed = Error::success();
    Error written = writeOutputFile(spec.resultsFile, [&](raw_ostream &os) {
      for (auto [index, place] : enumerate(spec.step.results))
        failed = joinErrors(std::move(failed),
                            instance.readResult(index, [&, bytes = place.bytes](const char *data) {
                              os.write(data, bytes);
                            }));
    });
    return joinErrors(std::move(failed), std::move(written));
  }

  const ExecutionSpec &spec;
  StepInstance &instance;
  const InputFiles &inputs;
  std::optional<OperationTimer> timer;
  Progress progress;
  ExecutionResult result;
};
} // namespace

Expected<ExecutionResult> execute(const ExecutionSpec &spec) {
  Expected<std::unique_ptr<MemoryBuffer>> object = readFile(spec.object);
  if (!object)
    return object.takeError();
  Expected<StepInstance> instance =
      StepInstance::create(spec.step, std::move(*object), spec.deviceLibrary, spec.threads);
  if (!instance)
    return instance.takeError();
  Expected<InputFiles> inputs = InputFiles::open(spec.inputs, spec.step.arguments.size());
  if (!inputs)
    return inputs.takeError();
  return Executor(spec, *instance, *inputs).run();
}

} // namespace mlir::remat
