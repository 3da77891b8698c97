//===- Planner.cpp - C API of the planner -----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks what comes in, calls the planner, and turns llvm::Error and exceptions
// (of the standard library, when memory or threads run out) into messages. Nothing
// is decided here.
//
//===----------------------------------------------------------------------===//

#include "Remat-c/Planner.h"
#include "Arrays.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Planner/Solve.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>

using namespace mlir::remat::capi;
using namespace mlir::remat::planner;
using namespace mlir::remat::planner::capi;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct RematProblem {
  explicit RematProblem(Problem input)
      : problem(std::make_shared<const Problem>(std::move(input))), arrays(*problem) {}

  std::shared_ptr<const Problem> problem;
  FlatProblem arrays;
};

struct RematPlan {
  /// `input` verifies.
  RematPlan(std::shared_ptr<const Problem> planned, Plan input)
      : problem(std::move(planned)), plan(std::move(input)), arrays(plan) {}

  std::shared_ptr<const Problem> problem;
  Plan plan;
  FlatPlan arrays;
};

struct RematSimulation {
  FlatSimulation arrays;
};

struct RematAnswer {
  RematAnswer(std::shared_ptr<const Problem> problem, Answer answer)
      : info(getInfo(answer)), plan(std::move(problem), std::move(answer.solution.plan)),
        simulation{FlatSimulation(std::move(answer.solution.simulation),
                                  std::move(answer.solution.packing), answer.addedCost)} {}

  static RematAnswerInfo getInfo(const Answer &answer) {
    RematAnswerInfo info = {};
    info.status = RematStatus(answer.status);
    info.livePeakBytes = answer.solution.simulation.livePeak;
    info.packedPeakBytes = answer.solution.packing.packedBytes;
    info.requiredBytes = answer.solution.requiredBytes;
    info.cost = answer.solution.simulation.cost;
    info.addedCost = answer.addedCost;
    info.addedCostLowerBound = answer.addedCostLowerBound;
    info.minimumKnownBytes = answer.minimumKnownBytes;
    return info;
  }

  RematAnswerInfo info;
  RematPlan plan;
  RematSimulation simulation;
};

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Writes `text` to a string that C can free.
static char *makeText(char **error, llvm::function_ref<Error(llvm::raw_ostream &)> write) {
  char *result = nullptr;
  attempt(error, [&]() -> Error {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (Error failure = write(os))
      return failure;
    result = copyText(text);
    return result ? Error::success() : makeError("out of memory");
  });
  return result;
}

static Error checkText(const char *text, size_t length) {
  if (Error error = requirePointer(text, "text"))
    return error;
  if (length > size_t(REMAT_MAX_TEXT_BYTES))
    return makeError("expected a text of at most {0} bytes, but got {1}", REMAT_MAX_TEXT_BYTES,
                     length);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Structs with a size
//===----------------------------------------------------------------------===//

static constexpr size_t getFirstSize(const RematProblemArrays *) {
  return REMAT_FIRST_SIZE(RematProblemArrays, alignment);
}
static constexpr size_t getFirstSize(const RematPlanArrays *) {
  return REMAT_FIRST_SIZE(RematPlanArrays, regionAfterSteps);
}
static constexpr size_t getFirstSize(const RematSimulationArrays *) {
  return REMAT_FIRST_SIZE(RematSimulationArrays, workspaceOffsets);
}
static constexpr size_t getFirstSize(const RematSolveOptions *) {
  return REMAT_FIRST_SIZE(RematSolveOptions, userData);
}
static constexpr size_t getFirstSize(const RematAnswerInfo *) {
  return REMAT_FIRST_SIZE(RematAnswerInfo, addedCostLowerBound);
}

template <typename T>
static Error read(T &result, const T *input, const char *name) {
  return readStruct(&result, sizeof(T), getFirstSize(input), input, name);
}

template <typename T>
static Error write(const T &value, T *output, const char *name) {
  return writeStruct(&value, sizeof(T), getFirstSize(output), output, name);
}

/// Writes the arrays of a handle.
template <typename Handle, typename Arrays>
static bool getArrays(const Handle *handle, const char *name, Arrays *arrays, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(handle, name))
      return failure;
    return write(handle->arrays.view(), arrays, "arrays");
  });
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

const char *rematPlannerGetVersion(void) { return REMAT_VERSION; }

RematProblem *rematProblemCreate(const RematProblemArrays *arrays, char **error) {
  std::unique_ptr<RematProblem> result;
  attempt(error, [&]() -> Error {
    RematProblemArrays input = {};
    if (Error failure = read(input, arrays, "arrays"))
      return failure;
    Expected<Problem> problem = toProblem(input);
    if (!problem)
      return problem.takeError();
    result = std::make_unique<RematProblem>(std::move(*problem));
    return Error::success();
  });
  return result.release();
}

RematProblem *rematProblemParse(const char *text, size_t length, char **error) {
  std::unique_ptr<RematProblem> result;
  attempt(error, [&]() -> Error {
    if (Error failure = checkText(text, length))
      return failure;
    Expected<Problem> problem = parseProblem(llvm::StringRef(text, length));
    if (!problem)
      return problem.takeError();
    result = std::make_unique<RematProblem>(std::move(*problem));
    return Error::success();
  });
  return result.release();
}

void rematProblemDestroy(RematProblem *problem) { delete problem; }

bool rematProblemGetArrays(const RematProblem *problem, RematProblemArrays *arrays, char **error) {
  return getArrays(problem, "problem", arrays, error);
}

char *rematProblemToJSON(const RematProblem *problem, char **error) {
  return makeText(error, [&](llvm::raw_ostream &os) -> Error {
    if (Error failure = requirePointer(problem, "problem"))
      return failure;
    os << toJSON(*problem->problem);
    return Error::success();
  });
}

bool rematProblemGetWorkingSetBytes(const RematProblem *problem, int64_t *bytes, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(problem, "problem"))
      return failure;
    if (Error failure = requirePointer(bytes, "bytes"))
      return failure;
    *bytes = workingSetBytes(*problem->problem);
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

RematPlan *rematPlanCreate(const RematProblem *problem, const RematPlanArrays *arrays,
                           char **error) {
  std::unique_ptr<RematPlan> result;
  attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(problem, "problem"))
      return failure;
    RematPlanArrays input = {};
    if (Error failure = read(input, arrays, "arrays"))
      return failure;
    Expected<Plan> plan = toPlan(input);
    if (!plan)
      return plan.takeError();
    if (Error failure = verify(*problem->problem, *plan))
      return failure;
    if (!hasRegions(input)) {
      assignRegions(*problem->problem, *plan);
      if (Error failure = verify(*problem->problem, *plan))
        return failure;
    }
    result = std::make_unique<RematPlan>(problem->problem, std::move(*plan));
    return Error::success();
  });
  return result.release();
}

RematPlan *rematPlanCreateIdentity(const RematProblem *problem, char **error) {
  std::unique_ptr<RematPlan> result;
  attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(problem, "problem"))
      return failure;
    Plan plan = identityPlan(*problem->problem);
    if (Error failure = verify(*problem->problem, plan))
      return failure;
    result = std::make_unique<RematPlan>(problem->problem, std::move(plan));
    return Error::success();
  });
  return result.release();
}

RematPlan *rematPlanParse(const RematProblem *problem, const char *text, size_t length,
                          char **error) {
  std::unique_ptr<RematPlan> result;
  attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(problem, "problem"))
      return failure;
    if (Error failure = checkText(text, length))
      return failure;
    Expected<Plan> plan = parsePlan(llvm::StringRef(text, length), *problem->problem);
    if (!plan)
      return plan.takeError();
    result = std::make_unique<RematPlan>(problem->problem, std::move(*plan));
    return Error::success();
  });
  return result.release();
}

void rematPlanDestroy(RematPlan *plan) { delete plan; }

bool rematPlanVerify(const RematProblem *problem, const RematPlan *plan, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(problem, "problem"))
      return failure;
    if (Error failure = requirePointer(plan, "plan"))
      return failure;
    return verify(*problem->problem, plan->plan);
  });
}

bool rematPlanGetArrays(const RematPlan *plan, RematPlanArrays *arrays, char **error) {
  return getArrays(plan, "plan", arrays, error);
}

char *rematPlanToJSON(const RematPlan *plan, char **error) {
  return makeText(error, [&](llvm::raw_ostream &os) -> Error {
    if (Error failure = requirePointer(plan, "plan"))
      return failure;
    os << toJSON(plan->plan);
    return Error::success();
  });
}

char *rematPlanToText(const RematPlan *plan, char **error) {
  return makeText(error, [&](llvm::raw_ostream &os) -> Error {
    if (Error failure = requirePointer(plan, "plan"))
      return failure;
    print(*plan->problem, plan->plan, os);
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

RematSimulation *rematPlanSimulate(const RematPlan *plan, char **error) {
  std::unique_ptr<RematSimulation> result;
  attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(plan, "plan"))
      return failure;
    const Problem &problem = *plan->problem;
    Simulation simulation = simulate(problem, plan->plan);
    PackedPlan packing = pack(problem, plan->plan, simulation);
    FlatSimulation arrays(std::move(simulation), std::move(packing),
                          addedCost(problem, plan->plan));
    result.reset(new RematSimulation{std::move(arrays)});
    return Error::success();
  });
  return result.release();
}

void rematSimulationDestroy(RematSimulation *simulation) { delete simulation; }

bool rematSimulationGetArrays(const RematSimulation *simulation, RematSimulationArrays *arrays,
                              char **error) {
  return getArrays(simulation, "simulation", arrays, error);
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

static_assert(RematSolverAuto == int(Solver::Auto) && RematSolverGreedy == int(Solver::Greedy) &&
              RematSolverChain == int(Solver::Chain) && RematSolverAnneal == int(Solver::Anneal) &&
              RematSolverExact == int(Solver::Exact));
static_assert(RematStatusOptimal == int(Status::Optimal) &&
              RematStatusFeasible == int(Status::Feasible) &&
              RematStatusNotFound == int(Status::NotFound) &&
              RematStatusInfeasible == int(Status::Infeasible));
static_assert(REMAT_MAX_EFFORT == kMaxEffort);

const char *rematSolverGetName(RematSolver solver) {
  if (solver < RematSolverAuto || solver > RematSolverExact)
    return nullptr;
  // A literal, and so terminated by zero.
  return getName(Solver(solver)).data();
}

bool rematSolverParse(const char *name, RematSolver *solver, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(name, "name"))
      return failure;
    if (Error failure = requirePointer(solver, "solver"))
      return failure;
    std::optional<Solver> parsed = parseSolver(name);
    if (!parsed)
      return makeError("expected one of 'auto', 'greedy', 'chain', 'anneal', 'exact', but got "
                       "'{0}'",
                       name);
    *solver = RematSolver(*parsed);
    return Error::success();
  });
}

const char *rematStatusGetName(RematStatus status) {
  if (status < RematStatusOptimal || status > RematStatusInfeasible)
    return nullptr;
  return getName(Status(status)).data();
}

static RematSolveOptions getDefaultOptions() {
  SolveOptions defaults;
  RematSolveOptions options = {};
  options.solver = RematSolver(defaults.solver);
  options.reorder = defaults.reorder;
  options.isPacked = defaults.isPacked;
  options.minBytes = defaults.minBytes;
  options.numSeeds = defaults.numSeeds;
  options.numIterations = defaults.numIterations;
  options.numThreads = defaults.numThreads;
  options.timeLimitSeconds = defaults.timeLimitSeconds;
  return options;
}

bool rematSolveOptionsInit(RematSolveOptions *options, size_t structSize, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(options, "options"))
      return failure;
    options->structSize = structSize;
    return write(getDefaultOptions(), options, "options");
  });
}

static Error checkOption(const char *name, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most)
    return makeError("expected '{0}' from {1} to {2}, but got {3}", name, least, most, value);
  return Error::success();
}

static Error checkOptions(const RematSolveOptions &options) {
  if (Error error = checkOption("solver", options.solver, RematSolverAuto, RematSolverExact))
    return error;
  if (Error error = checkOption("reorder", options.reorder, 0, 1))
    return error;
  if (Error error = checkOption("isPacked", options.isPacked, 0, 1))
    return error;
  if (Error error = checkOption("minBytes", options.minBytes, 0, INT64_MAX))
    return error;
  if (Error error = checkOption("numSeeds", options.numSeeds, 1, REMAT_MAX_SEEDS))
    return error;
  if (Error error = checkOption("numIterations", options.numIterations, 0, REMAT_MAX_ITERATIONS))
    return error;
  if (Error error = checkOption("numThreads", options.numThreads, 1, REMAT_MAX_THREADS))
    return error;
  // Not so for what is not a number.
  if (!(options.timeLimitSeconds >= 0 && options.timeLimitSeconds <= REMAT_MAX_SECONDS))
    return makeError("expected 'timeLimitSeconds' from 0 to {0}, but got {1}", REMAT_MAX_SECONDS,
                     options.timeLimitSeconds);
  return checkOption("effort", options.effort, REMAT_EFFORT_NONE, REMAT_MAX_EFFORT);
}

namespace {

/// The options of one search, and whether the caller has stopped it.
class Request {
public:
  /// Null stands for the defaults.
  Error read(const RematSolveOptions *input) {
    RematSolveOptions given = getDefaultOptions();
    if (input)
      if (Error error = ::read(given, input, "options"))
        return error;
    if (Error error = checkOptions(given))
      return error;
    options.solver = Solver(given.solver);
    options.reorder = given.reorder;
    options.isPacked = given.isPacked;
    options.minBytes = given.minBytes;
    options.numSeeds = given.numSeeds;
    options.numIterations = given.numIterations;
    options.numThreads = given.numThreads;
    options.timeLimitSeconds = given.timeLimitSeconds;
    if (given.effort != 0)
      options.effort = std::max<int64_t>(given.effort, 0);
    if (RematProgressCallback callback = given.onProgress) {
      options.onProgress = [this, callback, userData = given.userData](const Progress &progress) {
        RematProgress copy = {progress.iteration, progress.numIterations, progress.addedCost};
        if (!callback(&copy, userData))
          isStopped = true;
      };
      options.shouldStop = [this] { return isStopped.load(); };
    }
    return Error::success();
  }

  SolveOptions options;

private:
  std::atomic<bool> isStopped = false;
};

} // namespace

/// Solves with `ask`, and gives one answer for each of `answers`.
static Error answerAll(
    const RematProblem *problem, const RematSolveOptions *options,
    llvm::function_ref<Expected<std::vector<Answer>>(const Problem &, const SolveOptions &)> ask,
    llvm::MutableArrayRef<RematAnswer *> answers) {
  if (Error error = requirePointer(problem, "problem"))
    return error;
  Request request;
  if (Error error = request.read(options))
    return error;
  Expected<std::vector<Answer>> found = ask(*problem->problem, request.options);
  if (!found)
    return found.takeError();
  std::vector<std::unique_ptr<RematAnswer>> results;
  for (Answer &answer : *found)
    results.push_back(std::make_unique<RematAnswer>(problem->problem, std::move(answer)));
  for (auto [answer, result] : llvm::zip_equal(answers, results))
    answer = result.release();
  return Error::success();
}

/// The same for one answer.
static RematAnswer *
answerOne(const RematProblem *problem, const RematSolveOptions *options, char **error,
          llvm::function_ref<Expected<Answer>(const Problem &, const SolveOptions &)> ask) {
  RematAnswer *result = nullptr;
  attempt(error, [&]() -> Error {
    auto askOnce = [&](const Problem &input,
                       const SolveOptions &how) -> Expected<std::vector<Answer>> {
      Expected<Answer> answer = ask(input, how);
      if (!answer)
        return answer.takeError();
      std::vector<Answer> answers;
      answers.push_back(std::move(*answer));
      return answers;
    };
    return answerAll(problem, options, askOnce, result);
  });
  return result;
}

RematAnswer *rematSolve(const RematProblem *problem, int64_t budget,
                        const RematSolveOptions *options, char **error) {
  return answerOne(problem, options, error,
                   [&](const Problem &input, const SolveOptions &how) -> Expected<Answer> {
                     if (Error failure = checkOption("budget", budget, 0, INT64_MAX))
                       return failure;
                     return solve(input, budget, how);
                   });
}

RematAnswer *rematSolveForCost(const RematProblem *problem, int64_t maxAddedCost,
                               const RematSolveOptions *options, char **error) {
  return answerOne(problem, options, error,
                   [&](const Problem &input, const SolveOptions &how) -> Expected<Answer> {
                     if (Error failure = checkOption("maxAddedCost", maxAddedCost, 0, INT64_MAX))
                       return failure;
                     return solveForCost(input, maxAddedCost, how);
                   });
}

/// The same for budgets; after an error all `answers` are null.
static Error answerBudgets(const RematProblem *problem, const int64_t *budgets, int64_t numBudgets,
                           const RematSolveOptions *options,
                           llvm::MutableArrayRef<RematAnswer *> answers,
                           llvm::function_ref<Expected<std::vector<Answer>>(
                               const Problem &, llvm::ArrayRef<int64_t>, const SolveOptions &)>
                               ask) {
  llvm::fill(answers, nullptr);
  if (Error error = checkArray(budgets, "budgets", numBudgets, "numBudgets"))
    return error;
  llvm::ArrayRef<int64_t> asked(budgets, numBudgets);
  for (int64_t budget : asked)
    if (Error error = checkOption("budget", budget, 0, INT64_MAX))
      return error;
  return answerAll(
      problem, options,
      [&](const Problem &input, const SolveOptions &how) { return ask(input, asked, how); },
      answers);
}

bool rematSolveAll(const RematProblem *problem, const int64_t *budgets, int64_t numBudgets,
                   const RematSolveOptions *options, RematAnswer **answers, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure =
            checkArray(static_cast<const void *>(answers), "answers", numBudgets, "numBudgets"))
      return failure;
    return answerBudgets(problem, budgets, numBudgets, options, {answers, size_t(numBudgets)},
                         solveAll);
  });
}

bool rematSolveFront(const RematProblem *problem, int64_t numPoints, const int64_t *budgets,
                     int64_t numBudgets, const RematSolveOptions *options, RematAnswer **answers,
                     char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = checkOption("numPoints", numPoints, 2, REMAT_MAX_POINTS))
      return failure;
    if (Error failure = checkOption("numBudgets", numBudgets, 0, REMAT_MAX_COUNT))
      return failure;
    if (Error failure = requirePointer(static_cast<const void *>(answers), "answers"))
      return failure;
    return answerBudgets(
        problem, budgets, numBudgets, options, {answers, size_t(numPoints + numBudgets)},
        [&](const Problem &input, llvm::ArrayRef<int64_t> others, const SolveOptions &how) {
          return solveFront(input, numPoints, others, how);
        });
  });
}

void rematAnswerDestroy(RematAnswer *answer) { delete answer; }

bool rematAnswerGetInfo(const RematAnswer *answer, RematAnswerInfo *info, char **error) {
  return attempt(error, [&]() -> Error {
    if (Error failure = requirePointer(answer, "answer"))
      return failure;
    return write(answer->info, info, "info");
  });
}

const RematPlan *rematAnswerGetPlan(const RematAnswer *answer) {
  return answer ? &answer->plan : nullptr;
}

const RematSimulation *rematAnswerGetSimulation(const RematAnswer *answer) {
  return answer ? &answer->simulation : nullptr;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Checks buffers, and copies them.
static Expected<std::vector<Buffer>> readBuffers(const RematBuffer *buffers, int64_t numBuffers,
                                                 int64_t alignment) {
  if (Error error = checkArray(buffers, "buffers", numBuffers, "numBuffers"))
    return error;
  if (alignment < 1 || alignment > kMaxAlignment || (alignment & (alignment - 1)))
    return makeError("expected an alignment that is a power of two up to {0}, but got {1}",
                     kMaxAlignment, alignment);
  std::vector<Buffer> result;
  result.reserve(numBuffers);
  int64_t sum = 0;
  for (auto [number, buffer] : llvm::enumerate(llvm::ArrayRef(buffers, numBuffers))) {
    if (buffer.begin >= buffer.end)
      return makeError("buffer {0} is live from {1} to {2}, which is no range", number,
                       buffer.begin, buffer.end);
    if (buffer.bytes < 0)
      return makeError("buffer {0} has a negative size of {1} bytes", number, buffer.bytes);
    if (buffer.bytes > kMaxProblemSum || align(buffer.bytes, alignment) > kMaxProblemSum - sum)
      return makeError("buffer {0} brings the sum of all aligned bytes above {1}", number,
                       kMaxProblemSum);
    sum += align(buffer.bytes, alignment);
    result.push_back({buffer.begin, buffer.end, buffer.bytes});
  }
  return result;
}

bool rematPackBuffers(const RematBuffer *buffers, int64_t numBuffers, int64_t alignment,
                      int64_t maxVisits, int64_t *offsets, int64_t *arenaBytes, char **error) {
  return attempt(error, [&]() -> Error {
    Expected<std::vector<Buffer>> input = readBuffers(buffers, numBuffers, alignment);
    if (!input)
      return input.takeError();
    if (Error failure = checkArray(offsets, "offsets", numBuffers, "numBuffers"))
      return failure;
    if (Error failure = requirePointer(arenaBytes, "arenaBytes"))
      return failure;
    if (Error failure = checkOption("maxVisits", maxVisits, 0, REMAT_MAX_PACKING_VISITS))
      return failure;
    Packing packing = packBestFit(*input, alignment, maxVisits ? maxVisits : kPackingVisits);
    llvm::copy(packing.offsets, offsets);
    *arenaBytes = packing.arenaBytes;
    return Error::success();
  });
}

bool rematVerifyPacking(const RematBuffer *buffers, int64_t numBuffers, int64_t alignment,
                        const int64_t *offsets, int64_t arenaBytes, char **error) {
  return attempt(error, [&]() -> Error {
    Expected<std::vector<Buffer>> input = readBuffers(buffers, numBuffers, alignment);
    if (!input)
      return input.takeError();
    if (Error failure = checkArray(offsets, "offsets", numBuffers, "numBuffers"))
      return failure;
    Packing packing;
    packing.offsets.assign(offsets, offsets + numBuffers);
    packing.arenaBytes = arenaBytes;
    return verifyPacking(*input, alignment, packing);
  });
}
