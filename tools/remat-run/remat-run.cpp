//===- remat-run.cpp - Run a training step with and without recomputation ---===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a training step, unchanged and within a budget of memory, executes each variant in
// a process of its own, and compares memory, time and results. Exit code 0:
// done; 1: bad input, or no plan fits; 3: --compare, and results differ.
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Progress.h"
#include "Remat/Runtime/Runtime.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/OutputFile.h"
#include "Report.h"
#include "Results.h"
#include "Variant.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::remat;
using llvm::Error;
using llvm::Expected;
namespace cl = llvm::cl;

static constexpr int kDifferent = 3;
static constexpr int64_t kMaxThreads = 1024;
/// Of iterations and of steps of training.
static constexpr int64_t kMaxIterations = 1'000'000;

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
static cl::opt<std::string> inputs("inputs", cl::value_desc("folder|file.npz"),
                                   cl::desc("Read arguments from arg0.npy, arg1.npy, ... there; "
                                            "those that are not there are random"),
                                   cl::cat(category));
static cl::opt<std::string> outputs("outputs", cl::value_desc("folder|file.npz"),
                                    cl::desc("Write results to result0.npy, ... there"),
                                    cl::cat(category));
static cl::opt<int64_t> iterations("iterations", cl::init(5),
                                   cl::desc("Timed executions of each variant"), cl::cat(category));
static cl::opt<int64_t> threads("num-threads", cl::init(0), cl::value_desc("N"),
                                cl::desc("Number of threads; 0: one for each core, or as "
                                         "OMP_NUM_THREADS and OPENBLAS_NUM_THREADS say"),
                                cl::cat(category));
static cl::opt<int64_t> loop("loop", cl::init(0), cl::value_desc("steps"),
                             cl::desc("Train: results become parameters and optimizer state of "
                                      "the next step; prints the loss of each"),
                             cl::cat(category));
static cl::opt<Device>
    device("device", cl::init(Device::CPU), cl::desc("Where the variants are executed"),
           cl::values(clEnumValN(Device::CPU, "cpu", "on this processor"),
                      clEnumValN(Device::GPU, "gpu", "on an NVIDIA GPU"),
                      clEnumValN(Device::Emulator, "emulator",
                                 "as code for a GPU, which is executed on this processor")),
           cl::cat(category));
static cl::opt<std::string> chip("chip", cl::init(GPUOptions().chip), cl::value_desc("sm_90"),
                                 cl::desc("GPU that code is for"), cl::cat(category));
static cl::opt<std::string>
    format("format", cl::init(GPUOptions().format), cl::value_desc("fatbin|bin|isa|llvm"),
           cl::desc("Of code for a GPU: cubin and PTX, cubin, PTX or bitcode"), cl::cat(category));
static cl::opt<bool> tf32("tf32", cl::desc("A GPU may round f32 to TF32 in products"),
                          cl::cat(category));
static cl::opt<bool> compileOnly("compile-only", cl::desc("Execute nothing"), cl::cat(category));
static cl::opt<std::string> target("target", cl::value_desc("cpu|h100|a100|FILE"),
                                   cl::desc("Cost model of the plan; by default 'cpu' on the CPU, "
                                            "'h100' for code for a GPU"),
                                   cl::cat(category));
static cl::opt<std::string> costsPath("costs", cl::value_desc("file"),
                                      cl::desc("Measured costs for the plan, from '--profile'"),
                                      cl::cat(category));
static cl::opt<std::string> profilePath("profile", cl::value_desc("file"),
                                        cl::desc("Measure each operation of the unchanged step, "
                                                 "and write the times to this file"),
                                        cl::cat(category));
static cl::opt<int64_t> effort("effort", cl::init(1), cl::desc("Work of the planner, 0 to 10"),
                               cl::cat(category));
static cl::opt<Fusion>
    fusion("fusion", cl::init(Fusion::Kernels),
           cl::desc("Which operations are put together before"),
           cl::values(clEnumValN(Fusion::None, "none", "every value is a buffer"),
                      clEnumValN(Fusion::Kernels, "kernels", "those of remat-fuse")),
           cl::cat(category));
static cl::opt<bool> donate("donate", cl::desc("Arguments may be overwritten by their new values"),
                            cl::cat(category));
static cl::opt<std::string> jsonPath("json", cl::value_desc("file"),
                                     cl::desc("Write what is printed to this file"),
                                     cl::cat(category));
static cl::opt<std::string> objectPath("object", cl::value_desc("file"),
                                       cl::desc("Write the object file of the last variant"),
                                       cl::cat(category));
static cl::opt<std::string> kernelsPath("kernels", cl::value_desc("file"),
                                        cl::desc("Write the GPU's code of the last variant"),
                                        cl::cat(category));
static cl::opt<std::string> specPath("execute", cl::ReallyHidden, cl::cat(category));

/// Numbers and combinations of options that make no sense.
static Error checkOptions(const Budget &budget) {
  if (iterations < 0 || iterations > kMaxIterations)
    return makeError("expected '--iterations' to be from 0 to {0}, but got {1}", kMaxIterations,
                     iterations.getValue());
  if (threads < 0 || threads > kMaxThreads)
    return makeError("expected '--num-threads' to be from 0 to {0}, but got {1}", kMaxThreads,
                     threads.getValue());
  if (loop < 0 || loop > kMaxIterations)
    return makeError("expected '--loop' to be from 0 to {0} steps, but got {1}", kMaxIterations,
                     loop.getValue());
  if (effort < 0 || effort > planner::kMaxEffort)
    return makeError("expected '--effort' to be from 0 to {0}, but got {1}", planner::kMaxEffort,
                     effort.getValue());
  if (budget.kind == Budget::Kind::None && compare)
    return makeError("'--compare' needs a '--budget' for the second variant");
  if (budget.kind == Budget::Kind::None && !costsPath.empty())
    return makeError("'--costs' needs a '--budget' to plan for");
  if (device != Device::CPU && findCUDAToolkit().empty())
    return makeError("code for a GPU needs the CUDA toolkit, which was not found: set CUDA_HOME to "
                     "its folder");
  if (!profilePath.empty() && device != Device::CPU)
    return makeError("'--profile' measures code for the CPU");
  if (device != Device::GPU && (chip.getNumOccurrences() > 0 || format.getNumOccurrences() > 0))
    return makeError("'--chip' and '--format' need '--device=gpu'");
  if (device == Device::CPU && (tf32 || !kernelsPath.empty()))
    return makeError("'--tf32' and '--kernels' need a '--device' with code for a GPU");
  if (!isGPUFormat(format))
    return makeError("expected '--format' to be llvm, isa, bin or fatbin, but got '{0}'",
                     format.getValue());
  if (compileOnly && (compare || loop > 0 || !outputs.empty() || !profilePath.empty()))
    return makeError("'--compile-only' executes nothing: there is nothing to compare, train, write "
                     "or measure");
  if (!profilePath.empty() && iterations == 0)
    return makeError("'--profile' needs '--iterations' to be at least 1");
  return Error::success();
}

/// A shared library of this project: beside the folder of the program, where it was built as
/// well as where it is installed.
static std::string findLibrary(const char *program, StringRef name) {
  std::string executable =
      llvm::sys::fs::getMainExecutable(program, reinterpret_cast<void *>(&findLibrary));
  SmallString<256> path(llvm::sys::path::parent_path(llvm::sys::path::parent_path(executable)));
  llvm::sys::path::append(path, "lib", name);
  return std::string(path);
}

/// What all variants are compiled with.
static VariantOptions getVariantOptions(const char *program, StringRef name) {
  VariantOptions options;
  options.name = name.str();
  if (device != Device::CPU)
    options.deviceLibrary = findLibrary(program, getLibraryName(device));
  options.compile.device = device;
  options.compile.gpu.chip = chip;
  options.compile.gpu.format = format;
  options.compile.effort = effort;
  options.seed = seed;
  options.iterations = iterations;
  options.inputs = inputs;
  return options;
}

/// Measures each operation of the unchanged step, in a run of its own.
static Expected<CostProfile> measureOperations(const char *program, const TrainingStep &step,
                                               StringRef folder, Progress &progress) {
  VariantOptions options = getVariantOptions(program, "profiled");
  options.compile.recordsTimes = true;
  Expected<Variant> variant = compile(step, options, folder, progress);
  if (!variant)
    return variant.takeError();
  if (!variant->spec.step.timedOperations)
    return makeError("the operations of '{0}' cannot be measured: another function calls it",
                     step.function);
  if (Error error = executeApart(program, *variant, folder))
    return error;
  CostProfile profile;
  profile.function = step.function;
  for (const StepOperation &operation : step.operations)
    profile.operations.push_back({operation.name});
  for (auto [index, picoseconds] : variant->result.operationTimes) {
    profile.operations[index].picoseconds = picoseconds;
    profile.operations[index].executions = iterations;
  }
  return profile;
}

/// Compiles the variants, executes them and compares their results.
static Expected<RunReport> runVariants(const char *program, const TrainingStep &step,
                                       const Budget &budget, const CostProfile *costs,
                                       StringRef folder, Progress &progress) {
  RunReport report;
  report.hasMeasuredCosts = costs;
  bool isBudget = budget.kind != Budget::Kind::None;
  for (bool isSecond : {false, true}) {
    if (isSecond && !isBudget)
      break;
    VariantOptions options = getVariantOptions(program, isSecond ? "rematerialized" : "unchanged");
    options.steps = loop;
    options.threads = threads;
    if (isSecond) {
      options.compile.budget = budget;
      options.compile.costs = costs;
    }
    if (isSecond == isBudget) {
      options.objectPath = objectPath;
      options.kernelsPath = kernelsPath;
    }
    Expected<Variant> variant = compile(step, options, folder, progress);
    if (!variant)
      return variant.takeError();
    report.variants.push_back(std::move(*variant));
  }
  report.isExecuted = !compileOnly;
  if (compileOnly)
    return report;
  for (Variant &variant : report.variants) {
    progress.show(variant.name + ": executing");
    if (Error error = executeApart(program, variant, folder))
      return error;
  }
  if (isBudget) {
    Expected<Comparison> comparison =
        compareResults(report.variants.front(), report.variants.back());
    if (!comparison)
      return comparison.takeError();
    report.comparison = *comparison;
  }
  return report;
}

static Expected<int> run(const char *program, MLIRContext &context, llvm::SourceMgr &sources) {
  Expected<Budget> budget = parseBudget(budgetText);
  if (!budget)
    return budget.takeError();
  if (Error error = checkOptions(*budget))
    return error;
  // Libraries say here what workspace they will need where the step is executed.
  rematSetNumThreads(threads);
  std::optional<CostProfile> costs;
  if (!costsPath.empty()) {
    Expected<CostProfile> profile = CostProfile::read(costsPath);
    if (!profile)
      return profile.takeError();
    costs = std::move(*profile);
  }
  Progress progress;
  progress.show("reading");
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(inputPath, sources, ParserConfig(&context));
  if (!module)
    return makeError("cannot read '{0}'", inputPath.getValue());
  StringRef costModel = target.empty() ? getDefaultTarget(device) : StringRef(target);
  Expected<TrainingStep> step =
      prepareStep(std::move(module),
                  {functionName, costModel.str(), fusion, donate, getLibraries(device, tf32)});
  if (!step)
    return step.takeError();
  if (loop > 0 && !step->roles.lossResult)
    return makeError("'{0}' has no result that looks like a loss, so '--loop' has nothing to print",
                     step->function);
  if (costs && costs->function != step->function)
    return makeError("the profile '{0}' is of function '{1}', but '{2}' is executed",
                     costsPath.getValue(), costs->function, step->function);
  if (Expected<InputFiles> files = InputFiles::open(inputs, step->arguments.size()); !files)
    return files.takeError();

  SmallString<128> folder;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory("remat-run", folder))
    return makeError("cannot make a folder for temporary files: {0}", code.message());
  llvm::scope_exit remove([&] { (void)llvm::sys::fs::remove_directories(folder); });
  std::optional<CostProfile> profile;
  if (!profilePath.empty()) {
    Expected<CostProfile> measured = measureOperations(program, *step, folder, progress);
    if (!measured)
      return measured.takeError();
    profile = std::move(*measured);
    if (Error error = writeOutputFile(profilePath, [&](raw_ostream &os) { profile->print(os); }))
      return error;
  }
  Expected<RunReport> report =
      runVariants(program, *step, *budget, costs ? &*costs : nullptr, folder, progress);
  if (!report)
    return report.takeError();

  progress.erase();
  print(*step, *report, llvm::outs());
  if (profile)
    printOperations(*step, *profile, llvm::outs());
  if (!outputs.empty())
    if (Error error = writeResults(report->variants.back(), outputs))
      return error;
  if (!jsonPath.empty())
    if (Error error = writeOutputFile(jsonPath, [&](raw_ostream &os) {
          os << llvm::formatv("{0:2}", toJSON(*report)) << '\n';
        }))
      return error;
  return compare && !report->isEqual() ? kDifferent : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Runs a training step with and without recomputation\n");
  if (!specPath.empty())
    return executeSpec(specPath);
  MLIRContext context;
  loadStepDialects(context);
  // The pipeline names what it does not know.
  context.allowUnregisteredDialects();
  // Which may be the whole module.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler printer(sources, &context);
  // Comes before the printer, and leaves errors to it.
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    Progress::erase();
    return failure();
  });
  Expected<int> result = run(argv[0], context, sources);
  if (result)
    return *result;
  llvm::WithColor::error(llvm::errs(), "remat-run") << toString(result.takeError()) << '\n';
  return EXIT_FAILURE;
}
