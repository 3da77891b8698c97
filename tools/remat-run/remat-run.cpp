//===- remat-run.cpp - Run a training step with and without recomputation ---===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a training step for the CPU, unchanged and within a budget of memory, executes
// each variant in a process of its own, and compares memory, time and results. Exit code 0:
// done; 1: bad input, or no plan fits; 3: --compare, and results differ.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"
#include "Inputs.h"
#include "Remat/Dialect/IR/BufferizableOpInterfaceImpl.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Execution/ObjectFile.h"
#include "Remat/ExternalModels/Register.h"
#include "Remat/Interfaces/TypeSize.h"
#include "Remat/Pipelines/FitArena.h"
#include "Remat/Pipelines/Passes.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/OutputFile.h"
#include "Remat/Transforms/PassUtils.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;
using llvm::outs;
namespace cl = llvm::cl;

static constexpr int kDifferent = 3;

static cl::OptionCategory category("remat-run options");
static cl::opt<std::string> inputPath(cl::Positional, cl::desc("STEP.mlir"), cl::init("-"),
                                      cl::cat(category));
static cl::opt<std::string> budgetText("budget", cl::init("none"), cl::value_desc("4GB|80%"),
                                       cl::desc("Memory that the second variant is within"),
                                       cl::cat(category));
static cl::opt<bool> compare("compare", cl::desc("Fail if the results of the variants differ"),
                             cl::cat(category));
static cl::opt<std::string> functionName("function", cl::value_desc("name"),
                                         cl::desc("The training step; not needed where only one "
                                                  "function is public"),
                                         cl::cat(category));
static cl::opt<int64_t> seed("seed", cl::init(0), cl::desc("Of the random arguments"),
                             cl::cat(category));
static cl::opt<std::string> inputs("inputs", cl::value_desc("folder"),
                                   cl::desc("Read arguments from arg0.npy, arg1.npy, ... there; "
                                            "those without a file are random"),
                                   cl::cat(category));
static cl::opt<std::string> outputs("outputs", cl::value_desc("folder"),
                                    cl::desc("Write results to result0.npy, ... there"),
                                    cl::cat(category));
static cl::opt<int64_t> iterations("iterations", cl::init(5),
                                   cl::desc("Timed executions of each variant"), cl::cat(category));
static cl::opt<int64_t> loop("loop", cl::init(0), cl::value_desc("steps"),
                             cl::desc("Train: results become parameters and optimizer state of "
                                      "the next step; prints the loss of each"),
                             cl::cat(category));
static cl::opt<std::string> target("target", cl::init("cpu"), cl::value_desc("cpu|FILE"),
                                   cl::desc("Cost model of the plan"), cl::cat(category));
static cl::opt<int64_t> effort("effort", cl::init(1), cl::desc("Work of the planner, 0 to 10"),
                               cl::cat(category));
static cl::opt<Fusion>
    fusion("fusion", cl::init(Fusion::Kernels), cl::desc("Which operations are put together before"),
           cl::values(clEnumValN(Fusion::None, "none", "every value is a buffer"),
                      clEnumValN(Fusion::Kernels, "kernels", "those of remat-fuse")),
           cl::cat(category));
static cl::opt<bool> donate("donate",
                            cl::desc("Arguments may be overwritten by their new values"),
                            cl::cat(category));
static cl::opt<std::string> jsonPath("json", cl::value_desc("file"),
                                     cl::desc("Write what is printed to this file"),
                                     cl::cat(category));
static cl::opt<std::string> objectPath("object", cl::value_desc("file"),
                                       cl::desc("Write the object file of the last variant"),
                                       cl::cat(category));
static cl::opt<std::string> specPath("execute", cl::ReallyHidden, cl::cat(category));

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {
/// A variant that is compiled.
struct Variant {
  std::string name;
  FittedFunction memory;
  ExecutionSpec spec;
  int64_t argumentBytes = 0, resultBytes = 0;
  ExecutionResult result;
};

/// What all variants have in common.
struct Step {
  OwningOpRef<ModuleOp> module;
  std::string function;
  std::vector<ArgumentInfo> arguments;
  ValueRoles roles;
};
} // namespace

static Expected<TensorInfo> getTensorInfo(Type type, const DataLayout &layout) {
  auto shaped = dyn_cast<ShapedType>(type);
  std::optional<int64_t> bytes =
      shaped && shaped.hasStaticShape() ? getStorageBytes(type, layout) : std::nullopt;
  TensorInfo info;
  if (bytes)
    llvm::raw_string_ostream(info.element) << shaped.getElementType();
  if (!bytes || !isKnownElement(info.element)) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return makeError("values of type {0} cannot be passed: expected static tensors of integers "
                     "or floats",
                     text);
  }
  info.shape = shaped.getShape().vec();
  info.count = shaped.getNumElements();
  info.bytes = *bytes;
  return info;
}

/// The function to execute, and its arguments.
static Error describeStep(Step &step) {
  func::FuncOp function;
  int64_t numPublic = 0;
  for (auto candidate : step.module->getOps<func::FuncOp>()) {
    if (candidate.isExternal())
      continue;
    bool isNamed = candidate.getSymName() == functionName.getValue();
    if (functionName.empty() ? candidate.isPublic() : isNamed) {
      function = candidate;
      ++numPublic;
    }
  }
  if (!functionName.empty() && !function)
    return makeError("there is no function '{0}'", functionName.getValue());
  if (numPublic != 1)
    return makeError("expected one public function, but there are {0}: name one with '--function'",
                     numPublic);
  step.function = function.getSymName().str();
  DataLayout layout = DataLayout::closest(function);
  // Optimizer state may hold second moments, whose roots are taken.
  SymbolTableCollection symbols;
  FailureOr<Target> costs = loadTarget("cpu", function.getLoc());
  SummaryAnalysis summaries(ModelTable::getBuiltin(), *costs, symbols);
  FailureOr<FunctionProblem> problem = buildProblem(function, summaries, {});
  if (failed(problem))
    return makeError("'{0}' cannot be analyzed", step.function);
  step.roles = inferRoles(*problem, {});
  if (donate)
    for (const std::optional<unsigned> &argument : step.roles.updatedArguments)
      if (argument)
        function.setArgAttr(*argument, RematDialect::getDonatedAttrName(),
                            UnitAttr::get(function.getContext()));
  const std::vector<Category> &categories = step.roles.categories;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    Expected<TensorInfo> tensor = getTensorInfo(type, layout);
    if (!tensor)
      return tensor.takeError();
    bool isDonated = !!function.getArgAttr(index, RematDialect::getDonatedAttrName());
    step.arguments.push_back({*tensor, categories[index] == Category::OptimizerState, isDonated});
  }
  if (loop > 0 && !step.roles.lossResult)
    return makeError("'{0}' has no result that looks like a loss, so '--loop' has nothing to print",
                     step.function);
  for (Type type : function.getResultTypes())
    if (Expected<TensorInfo> tensor = getTensorInfo(type, layout); !tensor)
      return tensor.takeError();
  return Error::success();
}

static LogicalResult runPasses(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager passes(module.getContext());
  build(passes);
  return passes.run(module);
}

static Expected<Variant> compile(Step &step, StringRef name, const Budget &budget,
                                 StringRef folder) {
  Variant variant;
  variant.name = name.str();
  OwningOpRef<ModuleOp> module(step.module->clone());
  FitOptions options;
  options.rematerialize.budget = budget;
  options.rematerialize.search.effort = budget.kind == Budget::Kind::None ? 0 : effort;
  FailureOr<Target> costs = loadTarget(target, module->getLoc());
  if (failed(costs))
    return makeError("no cost model");
  options.rematerialize.target = *costs;
  options.fusion = fusion;
  FailureOr<std::vector<FittedFunction>> fitted = fitArenas(*module, options);
  if (failed(fitted))
    return makeError("'{0}' cannot be compiled", step.function);
  for (const FittedFunction &function : *fitted)
    if (function.name == step.function)
      variant.memory = function;

  auto function = module->lookupSymbol<func::FuncOp>(step.function);
  auto getCount = [&](StringRef attribute) {
    return function->getAttrOfType<IntegerAttr>(attribute).getInt();
  };
  ExecutionSpec &spec = variant.spec;
  spec.function = step.function;
  spec.arenaBytes = getCount(RematDialect::getArenaBytesAttrName());
  spec.alignment = getCount(RematDialect::getArenaAlignmentAttrName());
  spec.arguments = step.arguments;
  variant.argumentBytes = getCount(RematDialect::getArgumentBytesAttrName());
  variant.resultBytes = getCount(RematDialect::getResultBytesAttrName());
  DataLayout layout = DataLayout::closest(function);
  for (auto place : function->getAttrOfType<ArrayAttr>(RematDialect::getResultsAttrName())
                        .getAsRange<DictionaryAttr>()) {
    ResultInfo result{
        llvm::cantFail(getTensorInfo(place.getAs<TypeAttr>("type").getValue(), layout)),
        std::nullopt, place.getAs<IntegerAttr>("offset").getInt()};
    if (auto argument = place.getAs<IntegerAttr>("argument"))
      result.argument = argument.getInt();
    spec.results.push_back(std::move(result));
  }
  if (failed(runPasses(*module, buildLowerToCPU)))
    return makeError("'{0}' cannot be lowered", step.function);
  Expected<std::unique_ptr<llvm::MemoryBuffer>> object = compileToObject(*module, step.function);
  if (!object)
    return object.takeError();
  spec.object = (folder + "/" + name + ".o").str();
  spec.resultsFile = (folder + "/" + name + ".results").str();
  spec.seed = seed;
  spec.iterations = iterations;
  spec.steps = loop;
  spec.loss = step.roles.lossResult ? int64_t(*step.roles.lossResult) : -1;
  for (const std::optional<unsigned> &argument : step.roles.updatedArguments)
    spec.updates.push_back(argument ? int64_t(*argument) : -1);
  spec.inputs = inputs;
  auto write = [&](raw_ostream &os) { os << (*object)->getBuffer(); };
  if (Error error = writeOutputFile(spec.object, write))
    return error;
  if (!objectPath.empty())
    if (Error error = writeOutputFile(objectPath, write))
      return error;
  return variant;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Executes a variant in a process of its own.
static Error executeApart(const char *program, Variant &variant, StringRef folder) {
  std::string spec = (folder + "/" + variant.name + ".json").str();
  std::string output = (folder + "/" + variant.name + ".out").str();
  if (Error error =
          writeOutputFile(spec, [&](raw_ostream &os) { os << toJSON(variant.spec) << '\n'; }))
    return error;
  std::string option = "--execute=" + spec, message;
  std::string executable = llvm::sys::fs::getMainExecutable(
      program, reinterpret_cast<void *>(reinterpret_cast<intptr_t>(&executeApart)));
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(output), std::nullopt};
  int code = llvm::sys::ExecuteAndWait(executable, {executable, option}, std::nullopt, redirects, 0,
                                       0, &message);
  if (code != 0)
    return makeError("the variant '{0}' failed with code {1}{2}{3}", variant.name, code,
                     message.empty() ? "" : ": ", message);
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readFile(output);
  if (!text)
    return text.takeError();
  Expected<ExecutionResult> result = llvm::json::parse<ExecutionResult>((*text)->getBuffer());
  if (!result)
    return result.takeError();
  variant.result = *result;
  return Error::success();
}

/// In the child.
static Expected<int> executeSpec() {
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readFile(specPath);
  if (!text)
    return text.takeError();
  Expected<ExecutionSpec> spec = llvm::json::parse<ExecutionSpec>((*text)->getBuffer());
  if (!spec)
    return spec.takeError();
  Expected<ExecutionResult> result = execute(*spec);
  if (!result)
    return result.takeError();
  outs() << toJSON(*result) << '\n';
  return EXIT_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {
struct Comparison {
  double maxDifference = 0;
  /// The result with the largest difference.
  std::optional<size_t> result;
};
} // namespace

static Expected<Comparison> compareResults(const Variant &first, const Variant &second) {
  Expected<std::unique_ptr<llvm::MemoryBuffer>> a = readFile(first.spec.resultsFile);
  if (!a)
    return a.takeError();
  Expected<std::unique_ptr<llvm::MemoryBuffer>> b = readFile(second.spec.resultsFile);
  if (!b)
    return b.takeError();
  Comparison comparison;
  size_t offset = 0;
  for (auto [index, result] : llvm::enumerate(first.spec.results)) {
    const char *left = (*a)->getBufferStart() + offset, *right = (*b)->getBufferStart() + offset;
    offset += result.bytes;
    if (std::memcmp(left, right, result.bytes) == 0)
      continue;
    double difference = getLargestDifference(result, left, right);
    if (!comparison.result || difference > comparison.maxDifference)
      comparison = {difference, index};
  }
  return comparison;
}

static Error writeResults(const Variant &variant) {
  Expected<std::unique_ptr<llvm::MemoryBuffer>> data = readFile(variant.spec.resultsFile);
  if (!data)
    return data.takeError();
  if (std::error_code code = llvm::sys::fs::create_directories(outputs))
    return makeError("cannot make the folder '{0}': {1}", outputs.getValue(), code.message());
  size_t offset = 0;
  for (size_t index = 0; index < variant.spec.results.size(); ++index) {
    const ResultInfo &result = variant.spec.results[index];
    std::string path = outputs + "/result" + std::to_string(index) + ".npy";
    if (Error error = writeOutputFile(path, [&](raw_ostream &os) {
          writeNumPy(result, (*data)->getBufferStart() + offset, os);
        }))
      return error;
    offset += result.bytes;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static llvm::json::Object toJSON(const Variant &variant) {
  return llvm::json::Object{{"predicted_packed_bytes", variant.memory.predictedBytes},
                            {"arena_bytes", variant.spec.arenaBytes},
                            {"argument_bytes", variant.argumentBytes},
                            {"result_bytes", variant.resultBytes},
                            {"vmhwm_bytes", variant.result.highWaterBytes},
                            {"milliseconds_per_iteration", variant.result.milliseconds},
                            {"losses", llvm::json::Array(variant.result.losses)}};
}

static void printRow(const Variant &variant, const Variant &baseline) {
  outs() << formatv("{0,-14} {1,14} {2,14} {3,14} {4,14} {5,12} {6,12:f3} {7,7:f3}\n", variant.name,
                    variant.memory.predictedBytes, variant.memory.takenBytes,
                    variant.spec.arenaBytes, variant.argumentBytes,
                    formatBytes(variant.result.highWaterBytes), variant.result.milliseconds,
                    variant.result.milliseconds / std::max(baseline.result.milliseconds, 1e-9));
}

static void printTable(const Step &step, ArrayRef<Variant> variants,
                       const std::optional<Comparison> &comparison) {
  outs() << formatv("'{0}': {1} arguments, {2} results\n\n", step.function, step.arguments.size(),
                    variants.front().spec.results.size());
  outs() << formatv("{0,-14} {1,14} {2,14} {3,14} {4,14} {5,12} {6,12} {7,7}\n", "", "predicted, B",
                    "taken, B", "arena, B", "arguments, B", "VmHWM", "time, ms", "ratio");
  for (const Variant &variant : variants)
    printRow(variant, variants.front());
  if (variants.size() == 1)
    return;
  const FittedFunction &memory = variants.back().memory;
  outs() << formatv("\nbudget       {0} B\noverhead     {1:f2} % predicted\nresults      ",
                    memory.budgetBytes.value_or(0),
                    100 * getOverhead(memory.addedCost, memory.cost));
  if (comparison && comparison->result)
    outs() << formatv("differ, most in result {0}: by {1}\n", *comparison->result,
                      comparison->maxDifference);
  else
    outs() << "equal, bit for bit\n";
}

/// The loss of each step, of all variants.
static void printLosses(ArrayRef<Variant> variants) {
  outs() << formatv("\n{0,-6}", "step");
  for (const Variant &variant : variants)
    outs() << formatv(" {0,16}", variant.name);
  outs() << '\n';
  for (size_t step = 0; step < variants.front().result.losses.size(); ++step) {
    outs() << formatv("{0,-6}", step);
    for (const Variant &variant : variants)
      outs() << llvm::format(" %16.9g", variant.result.losses[step]);
    outs() << '\n';
  }
}

/// Shows on a terminal what takes time.
static void showProgress(StringRef what) {
  if (llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "\r\x1b[K" << what;
}

static Expected<int> run(const char *program) {
  if (iterations < 0 || iterations > 1'000'000)
    return makeError("expected '--iterations' to be from 0 to 1000000, but got {0}",
                     iterations.getValue());
  if (effort < 0 || effort > planner::kMaxEffort)
    return makeError("expected '--effort' to be from 0 to {0}, but got {1}", planner::kMaxEffort,
                     effort.getValue());
  if (!inputs.empty() && !llvm::sys::fs::is_directory(inputs))
    return makeError("there is no folder '{0}'", inputs.getValue());
  if (loop < 0 || loop > 1'000'000)
    return makeError("expected '--loop' to be from 0 to 1000000 steps, but got {0}",
                     loop.getValue());
  Expected<Budget> budget = parseBudget(budgetText);
  if (!budget)
    return budget.takeError();
  bool isBudget = budget->kind != Budget::Kind::None;
  if (compare && !isBudget)
    return makeError("'--compare' needs a '--budget' for the second variant");

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<RematDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerAllExternalModels(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  Step step;
  step.module = parseSourceFile<ModuleOp>(inputPath, ParserConfig(&context));
  if (!step.module)
    return makeError("cannot read '{0}'", inputPath.getValue());
  if (failed(runPasses(*step.module, [](OpPassManager &passes) {
        passes.addPass(createCanonicalizerPass());
        passes.addPass(createCSEPass());
      })))
    return makeError("cannot simplify '{0}'", inputPath.getValue());
  if (Error error = describeStep(step))
    return error;

  SmallString<128> folder;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory("remat-run", folder))
    return makeError("cannot make a folder for temporary files: {0}", code.message());
  llvm::scope_exit remove([&] { llvm::sys::fs::remove_directories(folder); });
  std::vector<Variant> variants;
  for (bool isSecond : {false, true}) {
    if (isSecond && !isBudget)
      break;
    StringRef name = isSecond ? "rematerialized" : "unchanged";
    showProgress(("compiling, " + name).str());
    Expected<Variant> variant = compile(step, name, isSecond ? *budget : Budget(), folder);
    if (!variant)
      return variant.takeError();
    variants.push_back(std::move(*variant));
  }
  for (Variant &variant : variants) {
    showProgress("running, " + variant.name);
    if (Error error = executeApart(program, variant, folder))
      return error;
  }
  showProgress("");
  std::optional<Comparison> comparison;
  if (isBudget) {
    Expected<Comparison> compared = compareResults(variants.front(), variants.back());
    if (!compared)
      return compared.takeError();
    comparison = *compared;
  }
  printTable(step, variants, comparison);
  if (loop > 0)
    printLosses(variants);
  if (!outputs.empty())
    if (Error error = writeResults(variants.back()))
      return error;
  bool isEqual = !comparison || !comparison->result;
  if (!jsonPath.empty()) {
    llvm::json::Object object{{"version", 1},
                              {"baseline", toJSON(variants.front())},
                              {"rematerialized", nullptr},
                              {"results_equal", nullptr},
                              {"max_difference", nullptr}};
    if (comparison) {
      object["rematerialized"] = toJSON(variants.back());
      object["results_equal"] = isEqual;
      object["max_difference"] = comparison->maxDifference;
    }
    if (Error error = writeOutputFile(jsonPath, [&](raw_ostream &os) {
          os << formatv("{0:2}", llvm::json::Value(std::move(object))) << '\n';
        }))
      return error;
  }
  return compare && !isEqual ? kDifferent : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Runs a training step on the CPU with and without recomputation\n");
  Expected<int> result = specPath.empty() ? run(argv[0]) : executeSpec();
  if (result)
    return *result;
  llvm::WithColor::error(llvm::errs(), "remat-run") << toString(result.takeError()) << '\n';
  return EXIT_FAILURE;
}
