//===- Execute.cpp - Random training steps, compiled and executed -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execute.h"

#include "Evaluator.h"
#include "GuardedBuffer.h"
#include "Remat/Conversion/LibraryCalls.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Execution/ObjectFile.h"
#include "Remat/Execution/StepProgram.h"
#include "Remat/Execution/TrainingStep.h"
#include "Remat/Interfaces/TypeSize.h"
#include "Remat/Pipelines/FitArena.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Runtime/DeviceCalls.h"
#include "Remat/Transforms/Fuse.h"
#include "TrainingSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <deque>
#include <sys/wait.h>

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::fuzz;
using llvm::outs;

static constexpr StringLiteral kFunction = "step";
/// Cases in a process, and seconds that they may take together.
static constexpr int64_t kBatch = 16;
static constexpr unsigned kSeconds = 120;
/// With which memory is filled that nothing has written to: no number of any floating-point
/// type, and something else.
static constexpr unsigned char kPatterns[] = {0xff, 0x7f};
/// With AddressSanitizer, compiled code is checked like everything else.
static constexpr Instrumentation kInstrumentation =
    kHasAddressSanitizer ? Instrumentation::Addresses : Instrumentation::Nothing;

//===----------------------------------------------------------------------===//
// What the processes share
//===----------------------------------------------------------------------===//

namespace {
struct Shared {
  /// The case that runs.
  int64_t current;
  int64_t failures, withClones, variants, refused, evaluated;
  /// Where memory was touched that must not be.
  char fault[128];
};
} // namespace

static Shared *shared = nullptr;
/// What is mapped while compiled code runs, for `describeFault`.
static std::deque<GuardedBuffer> *mapped = nullptr;

/// Writes down which buffer a fault is at, and faults again.
static void describeFault(int signal, siginfo_t *info, void *) {
  const char *address = static_cast<const char *>(info->si_addr);
  if (mapped)
    for (const GuardedBuffer &buffer : *mapped)
      if (buffer.contains(address))
        std::snprintf(shared->fault, sizeof(shared->fault), "byte %lld of %s, which has %lld bytes",
                      static_cast<long long>(address - buffer.get()), buffer.name().c_str(),
                      static_cast<long long>(buffer.size()));
  std::signal(signal, SIG_DFL);
}

//===----------------------------------------------------------------------===//
// One variant
//===----------------------------------------------------------------------===//

namespace {
/// Where a result is: so many bytes behind the beginning of an argument, or of the arena.
struct Place {
  RankedTensorType type;
  std::optional<int64_t> argument;
  int64_t offset, bytes;
};

struct Argument {
  std::string contents;
  bool isReadOnly;
};

struct Variant {
  FittedFunction memory;
  int64_t arenaBytes = 0, alignment = 64;
  std::vector<Place> results;
  /// Of buffers that results are written to and that are no arguments of the step.
  std::vector<int64_t> outputBytes;
  /// By byte of the arena.
  std::vector<bool> isPlanned;
  /// Bytes that the prediction may be too low by: the alignment of buffers in regions and
  /// callees, and of constants that are returned, where it counts bytes alone.
  int64_t innerAlignment = 0;
  std::optional<StepProgram> program;
};

using Results = std::vector<std::string>;

/// One training step with its arguments.
class StepCase {
public:
  StepCase(ModuleOp module, Random &random, const ExecuteOptions &options)
      : module(module), function(module.lookupSymbol<func::FuncOp>(kFunction)), random(random),
        broken(options.broken), onEmulator(options.onEmulator), layout(module) {}

  /// What is wrong, or nothing.
  std::optional<std::string> check();

private:
  void makeArguments();
  std::optional<std::string> compareWithEvaluation(const Results &results);
  std::optional<std::string> compile(const Budget &budget, Variant &variant);
  std::optional<std::string> checkVariant(StringRef name, const Budget &budget);
  std::optional<std::string> run(const Variant &variant, unsigned char pattern, Results &results);
  void damage(func::FuncOp step);

  ModuleOp module;
  func::FuncOp function;
  Random &random;
  Break broken;
  bool onEmulator;
  DataLayout layout;
  ArenaResults where = ArenaResults::Arena;
  Fusion fusion = Fusion::Kernels;
  std::vector<Argument> arguments;
  /// Of the unchanged step.
  Results expected;
  int64_t unchangedBytes = 0;
};
} // namespace

static std::string explain(const char *format, const std::string &what) {
  return llvm::formatv(format, what).str();
}

/// Small numbers that all types have, some of them special.
void StepCase::makeArguments() {
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    Array array{tensor.getElementType(), SmallVector<int64_t>(tensor.getShape()), {}};
    for (int64_t count = tensor.getNumElements(); count > 0; --count) {
      int64_t number = random.between(-8, 8);
      array.numbers.push_back(
          {double(number) / 8, array.element.isInteger(1) ? number & 1 : number});
    }
    std::string contents(*getStorageBytes(type, layout), '\0');
    writeArray(array, contents.data());
    bool isDonated = !!function.getArgAttr(index, RematDialect::getDonatedAttrName());
    arguments.push_back({std::move(contents), !isDonated});
  }
}

/// Makes the fault that is asked for.
void StepCase::damage(func::FuncOp step) {
  std::vector<memref::ViewOp> views;
  step.walk([&](memref::ViewOp view) { views.push_back(view); });
  OpBuilder builder(step.getContext());
  auto move = [&](memref::ViewOp view, int64_t offset) {
    builder.setInsertionPoint(view);
    view.getByteShiftMutable().assign(
        arith::ConstantIndexOp::create(builder, view.getLoc(), offset));
  };
  if (broken == Break::Overlap && views.size() > 1) {
    size_t number = 1 + random.below(views.size() - 1);
    move(views[number], *getConstantIntValue(views[number - 1].getByteShift()));
  } else if (broken == Break::Outside && !views.empty()) {
    memref::ViewOp view = views[random.below(views.size())];
    move(view, cast<MemRefType>(view.getSource().getType()).getNumElements());
  } else if (broken == Break::Argument) {
    for (memref::ViewOp view : views)
      for (auto [argument, info] : llvm::zip(step.getArguments(), arguments))
        if (info.isReadOnly && argument.getType() == view.getType()) {
          view.replaceAllUsesWith(argument);
          return;
        }
  } else if (broken == Break::Copy) {
    Operation *copy = nullptr;
    step.walk([&](Operation *op) {
      if (isa<memref::CopyOp, linalg::CopyOp>(op))
        copy = op;
    });
    if (copy)
      copy->erase();
  }
}

/// Keeps what is reported while it lives.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            llvm::raw_string_ostream(text) << diagnostic << '\n';
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

std::optional<std::string> StepCase::compile(const Budget &budget, Variant &variant) {
  ErrorCollector errors(module.getContext());
  OwningOpRef<ModuleOp> copy(module.clone());
  FitOptions options;
  options.rematerialize.budget = budget;
  options.rematerialize.search.effort = 0;
  options.rematerialize.minBytes = 0;
  options.rematerialize.target = llvm::cantFail(Target::get("cpu"));
  options.results = where;
  options.fusion = fusion;
  if (onEmulator) {
    options.libraries = Libraries::GPU;
    options.rematerialize.alignment = kDeviceAlignment;
  }
  FailureOr<std::vector<FittedFunction>> fitted = fitArenas(*copy, options);
  if (failed(fitted))
    return errors.text;
  variant.memory = fitted->front();

  auto step = copy->lookupSymbol<func::FuncOp>(kFunction);
  auto getCount = [&](StringRef name) { return step->getAttrOfType<IntegerAttr>(name).getInt(); };
  variant.arenaBytes = getCount(RematDialect::getArenaBytesAttrName());
  variant.alignment = getCount(RematDialect::getArenaAlignmentAttrName());
  for (Type type : step.getArgumentTypes().drop_front(arguments.size()).drop_back())
    variant.outputBytes.push_back(*getStorageBytes(type, layout));
  for (auto [type, place] :
       llvm::zip_equal(function.getResultTypes(),
                       step->getAttrOfType<ArrayAttr>(RematDialect::getResultsAttrName())
                           .getAsRange<DictionaryAttr>())) {
    auto argument = place.getAs<IntegerAttr>("argument");
    variant.results.push_back(
        {cast<RankedTensorType>(type), argument ? std::optional(argument.getInt()) : std::nullopt,
         place.getAs<IntegerAttr>("offset").getInt(), *getStorageBytes(type, layout)});
  }
  variant.isPlanned.resize(variant.arenaBytes);
  step.walk([&](memref::ViewOp view) {
    int64_t begin = *getConstantIntValue(view.getByteShift());
    if (view.getSource() == step.getArguments().back())
      std::fill_n(variant.isPlanned.begin() + begin, *getStorageBytes(view.getType(), layout),
                  true);
  });
  auto addAlignment = [&](Type type) {
    int64_t bytes = *getStorageBytes(type, layout);
    variant.innerAlignment += planner::align(bytes, variant.alignment) - bytes;
  };
  copy->walk([&](memref::ViewOp view) {
    if (view->getParentOp() != step)
      addAlignment(view.getType());
  });
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    if (matchPattern(value, m_Constant()))
      addAlignment(value.getType());
  if (broken != Break::Nothing)
    damage(step);

  PassManager passes(module.getContext());
  if (onEmulator) {
    GPUOptions gpu;
    gpu.format = "llvm";
    buildConvertToGPU(passes);
    buildLowerGPU(passes, gpu);
  } else {
    buildLowerToCPU(passes);
  }
  if (failed(passes.run(*copy)))
    return errors.text;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object =
      compileToObject(*copy, kFunction, kInstrumentation);
  if (!object)
    return errors.text + toString(object.takeError());
  llvm::Expected<StepProgram> program = StepProgram::load(
      std::move(*object), kFunction, /*numThreads=*/0, onEmulator ? REMAT_EMULATOR_LIBRARY : "");
  if (!program)
    return toString(program.takeError());
  variant.program.emplace(std::move(*program));
  return std::nullopt;
}

namespace {
/// Buffers that the emulator knows while this lives.
class DeviceRanges {
public:
  DeviceRanges(const StepProgram &program, std::deque<GuardedBuffer> &buffers,
               llvm::ArrayRef<Argument> arguments)
      : buffers(buffers),
        forget(reinterpret_cast<void (*)(void *)>(program.find("rematEmulatorUnregisterMemory"))) {
    auto *add = reinterpret_cast<void (*)(void *, int64_t, int32_t)>(
        program.find("rematEmulatorRegisterMemory"));
    for (auto [index, buffer] : llvm::enumerate(buffers))
      add(buffer.get(), buffer.size(), index >= arguments.size() || !arguments[index].isReadOnly);
  }
  ~DeviceRanges() {
    for (GuardedBuffer &buffer : buffers)
      if (buffer.size() > 0)
        forget(buffer.get());
  }
  DeviceRanges(const DeviceRanges &) = delete;
  DeviceRanges &operator=(const DeviceRanges &) = delete;

private:
  std::deque<GuardedBuffer> &buffers;
  void (*forget)(void *);
};
} // namespace

/// Executes with memory of its own.
std::optional<std::string> StepCase::run(const Variant &variant, unsigned char pattern,
                                         Results &results) {
  std::deque<GuardedBuffer> buffers;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    GuardedBuffer &buffer = buffers.emplace_back(
        "argument " + std::to_string(index), argument.contents.size(), variant.alignment, pattern);
    std::memcpy(buffer.get(), argument.contents.data(), argument.contents.size());
    if (argument.isReadOnly)
      buffer.protect();
  }
  for (int64_t bytes : variant.outputBytes)
    buffers.emplace_back("output", bytes, variant.alignment, pattern);
  GuardedBuffer &arena =
      buffers.emplace_back("the arena", variant.arenaBytes, variant.alignment, pattern);
  arena.poison(variant.isPlanned);
  std::vector<void *> pointers;
  for (GuardedBuffer &buffer : buffers)
    pointers.push_back(buffer.get());
  std::optional<DeviceRanges> ranges;
  if (onEmulator)
    ranges.emplace(*variant.program, buffers, arguments);
  mapped = &buffers;
  variant.program->run(pointers);
  mapped = nullptr;
  ranges.reset();
  for (GuardedBuffer &buffer : buffers)
    buffer.unpoison();

  for (const Place &place : variant.results)
    results.emplace_back(buffers[place.argument.value_or(buffers.size() - 1)].get() + place.offset,
                         place.bytes);
  for (const GuardedBuffer &buffer : buffers)
    if (!buffer.isIntact())
      return explain("bytes next to {0} were written", buffer.name());
  for (int64_t byte = 0; byte < variant.arenaBytes; ++byte)
    if (!variant.isPlanned[byte] && static_cast<unsigned char>(arena.get()[byte]) != pattern)
      return explain("byte {0} of the arena is in no planned view, but was written",
                     std::to_string(byte));
  return std::nullopt;
}

std::optional<std::string> StepCase::compareWithEvaluation(const Results &results) {
  std::vector<Array> inputs;
  for (auto [argument, type] : llvm::zip_equal(arguments, function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    inputs.push_back(
        readArray(tensor.getElementType(), tensor.getShape(), argument.contents.data()));
  }
  llvm::Expected<std::vector<Array>> evaluated = evaluate(function, std::move(inputs));
  if (!evaluated)
    return toString(evaluated.takeError());
  for (auto [index, array] : llvm::enumerate(*evaluated)) {
    Array actual = readArray(array.element, array.shape, results[index].data());
    shared->evaluated += array.precision != Precision::Unknown;
    if (std::optional<int64_t> element = findDifference(array, actual)) {
      const Number &is = actual.numbers[*element], &should = array.numbers[*element];
      return llvm::formatv("element {0} of result {1} is {2}, but it should be {3}", *element,
                           index, is.real + double(is.integer),
                           should.real + double(should.integer))
          .str();
    }
  }
  return std::nullopt;
}

/// The number of the first result that differs.
static std::optional<size_t> findDifferentResult(const Results &a, const Results &b) {
  for (size_t index = 0; index < a.size(); ++index)
    if (a[index] != b[index])
      return index;
  return std::nullopt;
}

std::optional<std::string> StepCase::checkVariant(StringRef name, const Budget &budget) {
  auto fail = [&](const std::string &what) { return std::optional((name + ": " + what).str()); };
  bool isUnchanged = budget.kind == Budget::Kind::None;
  Variant variant;
  if (std::optional<std::string> error = compile(budget, variant)) {
    // Gaps between buffers may make an arena too large for a tight budget.
    if (isUnchanged || !StringRef(*error).contains("which is above the budget of"))
      return fail(*error);
    ++shared->refused;
    return std::nullopt;
  }
  ++shared->variants;
  const FittedFunction &memory = variant.memory;
  if (where == ArenaResults::Arena &&
      memory.takenBytes > memory.predictedBytes + variant.innerAlignment)
    return fail(llvm::formatv("{0} bytes are taken, but {1} were predicted", memory.takenBytes,
                              memory.predictedBytes));
  if (memory.budgetBytes && memory.takenBytes > *memory.budgetBytes)
    return fail(llvm::formatv("{0} bytes are taken, but the budget is {1}", memory.takenBytes,
                              *memory.budgetBytes));
  std::optional<Results> first;
  for (unsigned char pattern : kPatterns) {
    Results results;
    if (std::optional<std::string> error = run(variant, pattern, results))
      return fail(*error);
    if (!first)
      first = results;
    else if (std::optional<size_t> different = findDifferentResult(*first, results))
      return fail(
          explain("result {0} depends on memory that was not written", std::to_string(*different)));
  }
  if (isUnchanged) {
    expected = *first;
    unchangedBytes = memory.takenBytes;
    if (std::optional<std::string> error = compareWithEvaluation(expected))
      return fail(*error);
  } else if (std::optional<size_t> different = findDifferentResult(expected, *first)) {
    return fail(
        explain("result {0} is not that of the unchanged step", std::to_string(*different)));
  }
  return std::nullopt;
}

std::optional<std::string> StepCase::check() {
  makeArguments();
  if (random.chance(20))
    where = ArenaResults::Caller;
  if (random.chance(40))
    fusion = Fusion::None;
  if (std::optional<std::string> error = checkVariant("unchanged", {}))
    return error;

  // The smallest plan that is known.
  RematerializeOptions options;
  options.budget = {Budget::Kind::Bytes, 1};
  options.target = llvm::cantFail(Target::get("cpu"));
  options.minBytes = 0;
  options.search.effort = 0;
  OwningOpRef<ModuleOp> copy(module.clone());
  if (fusion == Fusion::Kernels && failed(fuse(*copy, ModelTable::getBuiltin())))
    return "the step cannot be fused";
  if (onEmulator)
    options.alignment = kDeviceAlignment;
  setWorkspace(*copy, onEmulator ? Libraries::GPU : Libraries::CPU);
  SymbolTableCollection symbols;
  FailureOr<PlannedFunction> planned =
      planFunction(copy->lookupSymbol<func::FuncOp>(kFunction), options, symbols);
  if (failed(planned))
    return "the step cannot be planned";
  int64_t least = planned->report.minimumKnownBytes, most = planned->report.baselinePackedBytes;
  shared->withClones += !planned->report.recomputed.empty();
  // Buffers of the caller are needed all the time, which is not predicted.
  if (where == ArenaResults::Caller)
    most = std::max(most, unchangedBytes);
  SmallVector<int64_t> budgets{least, random.between(least, std::max(least, most))};
  if (random.chance(25))
    budgets.push_back(most);
  for (int64_t bytes : budgets)
    if (std::optional<std::string> error = checkVariant(
            "within " + std::to_string(bytes) + " bytes", {Budget::Kind::Bytes, bytes}))
      return error;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// All cases
//===----------------------------------------------------------------------===//

static std::string generate(Random &random) {
  int64_t numLayers = random.between(1, 8);
  return generateTrainingStep(random, numLayers);
}

static void report(int64_t number, const std::string &what, const ExecuteOptions &options) {
  Random random(combine(options.seed, number));
  outs() << llvm::formatv("case {0} of seed {1}: {2}\n{3}\n", number, options.seed, what,
                          generate(random));
  outs().flush();
}

/// One case, in the process that it may end.
static void executeCase(MLIRContext &context, int64_t number, const ExecuteOptions &options) {
  Random random(combine(options.seed, number));
  std::string text = generate(random);
  if (options.printModules)
    outs() << "// case " << number << '\n' << text;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  std::optional<std::string> error = "it is no module";
  if (module) {
    PassManager passes(&context);
    // Functions that are called in the end, too.
    if (random.chance(50)) {
      buildPrepareStep(passes);
    } else {
      passes.addPass(createSymbolDCEPass());
      passes.addPass(createCanonicalizerPass());
      passes.addPass(createCSEPass());
      passes.addPass(createSymbolDCEPass());
    }
    error = succeeded(passes.run(*module)) ? StepCase(*module, random, options).check()
                                           : "it cannot be simplified";
  }
  if (!error)
    return;
  ++shared->failures;
  report(number, *error, options);
}

/// Runs the cases [first, last) in a new process, until so many have failed; returns the one
/// behind the last that has run.
static int64_t executeBatch(MLIRContext &context, int64_t first, int64_t last,
                            const ExecuteOptions &options) {
  shared->fault[0] = '\0';
  outs().flush();
  pid_t child = fork();
  if (child == 0) {
    struct sigaction action = {};
    action.sa_sigaction = describeFault;
    action.sa_flags = SA_SIGINFO;
    for (int signal : {SIGSEGV, SIGBUS})
      sigaction(signal, &action, nullptr);
    alarm(kSeconds);
    for (int64_t number = first; number < last && shared->failures < options.maxFailures;
         ++number) {
      shared->current = number;
      executeCase(context, number, options);
    }
    outs().flush();
    _exit(EXIT_SUCCESS);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    llvm::report_fatal_error("cannot run a process");
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
    return last;
  ++shared->failures;
  std::string what = WIFSIGNALED(status)
                         ? llvm::formatv("signal {0}", WTERMSIG(status)).str()
                         : llvm::formatv("exit code {0}", WEXITSTATUS(status)).str();
  if (shared->fault[0] != '\0')
    what += std::string(" at ") + shared->fault;
  report(shared->current, what, options);
  return shared->current + 1;
}

bool mlir::remat::fuzz::executeSteps(const ExecuteOptions &options) {
  shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadStepDialects(context);

  int64_t next = options.first;
  while (next < options.last && shared->failures < options.maxFailures)
    next = executeBatch(context, next, std::min(next + kBatch, options.last), options);
  int64_t numCases = next - options.first;
  outs() << llvm::formatv("seed {0}: {1} steps ({2} that can be recomputed), {3} programs, {4} "
                          "budgets refused, {5} results evaluated; {6} cases failed\n",
                          options.seed, numCases, shared->withClones, shared->variants,
                          shared->refused, shared->evaluated, shared->failures);
  if (shared->failures == 0 && numCases >= 20 && shared->withClones * 3 < numCases) {
    outs() << "fewer than a third of the cases recompute something: the fuzzer tests nothing\n";
    return false;
  }
  return shared->failures == 0;
}
