//===- Planner.h - C API of the planner -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which values of a computation to drop and to compute again so that it fits, for
// programs that know nothing of MLIR or C++. C99; link libRematPlanner-c.
// docs/planner-c-api.md has an example, docs/memory-model.md says what is counted.
//
// Units. Sizes are bytes, costs are picoseconds; indices count from 0, and ranges
// are half-open. Time is the position of an operation, or of a step of a plan.
//
// Errors, ownership of handles and structs that grow: see Remat-c/Support.h. Nothing
// throws, prints or ends the process, unless memory runs out in the middle of a
// search. A problem may be destroyed before its plans.
//
// Threads. Handles don't change after they were made: any number of threads may use
// one, as long as nobody destroys it. There is no global state.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_C_PLANNER_H
#define REMAT_C_PLANNER_H

#include "Remat-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Operations and values in order, which passed all checks.
typedef struct RematProblem RematProblem;
/// An order of execution with recomputations, valid for its problem.
typedef struct RematPlan RematPlan;
/// What a plan takes: live bytes, storages, offsets, cost.
typedef struct RematSimulation RematSimulation;
/// What a solver found.
typedef struct RematAnswer RematAnswer;

/// The version of the library, `MAJOR.MINOR.PATCH`. Static: don't free it.
REMAT_CAPI_EXPORTED const char *rematPlannerGetVersion(void);

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

/// The producer of a boundary value (an argument or program data), and the step that
/// computed it.
#define REMAT_BOUNDARY INT64_C(-1)
/// No value: the source of a value that has none, and what a region waits for that
/// waits for nothing.
#define REMAT_NO_VALUE INT64_C(-1)
/// The storage of a value that is never in memory.
#define REMAT_NO_STORAGE INT64_C(-1)
/// The largest alignment, in bytes.
#define REMAT_MAX_ALIGNMENT (INT64_C(1) << 30)
/// The aligned bytes of all values and workspaces, and the costs, may each sum up to
/// this.
#define REMAT_MAX_PROBLEM_SUM (INT64_C(1) << 56)
/// The most elements of an array.
#define REMAT_MAX_COUNT INT64_C(2147483647)
/// The most bytes of a text.
#define REMAT_MAX_TEXT_BYTES INT64_C(4294967295)

/// What an operation does beside computing its results.
typedef uint8_t RematEffect;
enum {
  /// Nothing: it may be moved, and left out when nothing needs it.
  RematEffectPure = 0,
  /// Executed once, in the given order among all operations that are not pure.
  RematEffectOrdered = 1,
  /// The same, and no original moves from one side of it to the other.
  RematEffectPinned = 2
};

/// What the user says about recomputing an operation.
typedef uint8_t RematPolicy;
enum { RematPolicyNone = 0, RematPolicyMustSave = 1, RematPolicyMustRecompute = 2 };

/// How a value gets its bytes.
typedef uint8_t RematPlacement;
enum {
  /// A storage of its own, from its definition to the last read of a value in it.
  RematPlacementOwn = 0,
  /// The storage of its source, which its producer reads.
  RematPlacementView = 1,
  /// The storage of its source, which its producer reads, where nothing else reads
  /// that storage then or later, it is not a boundary value's, and it has the same
  /// bytes; otherwise a storage of its own.
  RematPlacementReuse = 2,
  /// Never in memory.
  RematPlacementNone = 3
};

/// A problem as flat arrays. Set everything to 0 first; optional arrays may stay null.
///
/// Lists of indices, one per operation, are one array and where each list begins in
/// it: operation i reads `reads[readBegins[i]]` to `reads[readBegins[i + 1] - 1]`, and
/// `readBegins` has `numOperations + 1` elements, from 0 to `numReads`. Without lists
/// both may be null.
typedef struct RematProblemArrays {
  /// sizeof(RematProblemArrays).
  size_t structSize;

  /// Operations in the order of execution. The last one may be the terminator, which
  /// is pinned and reads what must survive.
  int64_t numOperations;
  /// Of one execution, in picoseconds.
  const int64_t *costs;
  /// Scratch bytes while the operation runs. Optional: 0.
  const int64_t *workspaces;
  /// Optional: RematEffectPure.
  const RematEffect *effects;
  /// 0 or 1: whether it may be executed more than once; only pure operations may.
  /// Optional: 1 for pure operations.
  const uint8_t *recomputable;
  /// Optional: RematPolicyNone.
  const RematPolicy *policies;
  /// For messages; need not be unique. Optional, and so is each name.
  const char *const *operationNames;
  /// Values whose contents are read, each once by an operation.
  int64_t numReads;
  const int64_t *readBegins;
  const int64_t *reads;
  /// Values that must have been computed before, but are not read (a query of a
  /// shape): they keep nothing live.
  int64_t numDependences;
  const int64_t *dependenceBegins;
  const int64_t *dependences;
  /// Values that are computed; each value by one operation.
  int64_t numWrites;
  const int64_t *writeBegins;
  const int64_t *writes;

  /// Values. Those without a producer are boundary values, live throughout.
  int64_t numValues;
  /// Of the storage, before alignment; of a view, the part that it shows, which does
  /// not count.
  const int64_t *bytes;
  /// Optional: RematPlacementOwn.
  const RematPlacement *placements;
  /// The value that a view shows, or whose place may be taken, otherwise
  /// REMAT_NO_VALUE. Optional: REMAT_NO_VALUE.
  const int64_t *sources;
  /// The operation that writes the value, or REMAT_BOUNDARY. Optional: follows from
  /// `writes`.
  const int64_t *producers;
  /// 0 or 1: whether recomputed operations may wait for the value. Optional: 1.
  const uint8_t *awaitable;
  const char *const *valueNames;

  /// Every storage begins at a multiple of this; a power of two, in bytes, up to
  /// REMAT_MAX_ALIGNMENT. 0 stands for 1.
  int64_t alignment;

  /// Other ways to execute operations, lists as above: picoseconds of one execution, at
  /// least those of the operation, and scratch bytes, fewer than those of the operation.
  int64_t numVariants;
  const int64_t *variantBegins;
  const int64_t *variantCosts;
  const int64_t *variantWorkspaces;
} RematProblemArrays;

/// Makes a problem and checks it. The error names the array, operation or value that
/// is wrong: indices out of range, a read before its definition in the given order, a
/// value with two producers, a view whose producer does not read its source, negative
/// numbers, an operation with effects that is recomputable, sums above
/// REMAT_MAX_PROBLEM_SUM.
REMAT_CAPI_EXPORTED RematProblem *rematProblemCreate(const RematProblemArrays *arrays,
                                                     char **error);

/// Reads a problem from `length` bytes of JSON (docs/problem-format.md) and checks it.
/// The error says where the text is not JSON, or what is wrong.
REMAT_CAPI_EXPORTED RematProblem *rematProblemParse(const char *text, size_t length, char **error);

REMAT_CAPI_EXPORTED void rematProblemDestroy(RematProblem *problem);

/// The arrays of a problem, none of them null unless it is empty. Names end at their
/// first zero byte.
REMAT_CAPI_EXPORTED bool rematProblemGetArrays(const RematProblem *problem,
                                               RematProblemArrays *arrays, char **error);

/// The problem as JSON; to be freed.
REMAT_CAPI_EXPORTED char *rematProblemToJSON(const RematProblem *problem, char **error);

/// The largest bytes that one operation needs at once: boundary values, operands,
/// results and workspace, each storage aligned. No plan is packed into less.
REMAT_CAPI_EXPORTED bool rematProblemGetWorkingSetBytes(const RematProblem *problem, int64_t *bytes,
                                                        char **error);

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// A plan as flat arrays; lists as in RematProblemArrays.
typedef struct RematPlanArrays {
  /// sizeof(RematPlanArrays).
  size_t structSize;

  /// Executions in order.
  int64_t numSteps;
  /// The operation that each step executes.
  const int64_t *operations;
  /// 0 for the original, of which there is at most one; 1 for another execution.
  const uint8_t *isClone;
  /// For each of the operation's reads, the step that computed the value that is read;
  /// REMAT_BOUNDARY for boundary values.
  int64_t numReads;
  const int64_t *readBegins;
  const int64_t *reads;
  /// The same for the operation's dependences.
  int64_t numDependences;
  const int64_t *dependenceBegins;
  const int64_t *dependences;

  /// Regions in order: runs of clones, the steps from `regionBegins` to `regionEnds`.
  /// Every clone is in exactly one.
  int64_t numRegions;
  const int64_t *regionBegins;
  const int64_t *regionEnds;
  /// The value that the clones wait for, and the step that computed it; it is live up
  /// to the step before the region. REMAT_NO_VALUE and REMAT_BOUNDARY where there is
  /// none.
  const int64_t *regionAfterValues;
  const int64_t *regionAfterSteps;

  /// How each step is executed: 0 as the operation says, k as the k-th of its variants,
  /// from 1 on. Optional: 0.
  const int64_t *variants;
} RematPlanArrays;

/// Makes a plan and verifies it: every read names an earlier step that computes the
/// value, all that is not pure is executed once and in order, clones are of
/// recomputable operations that need not be saved, nothing moves past a pinned
/// operation. If all four arrays of regions are null, the regions are chosen. The
/// error names the array, step or region that is wrong.
REMAT_CAPI_EXPORTED RematPlan *rematPlanCreate(const RematProblem *problem,
                                               const RematPlanArrays *arrays, char **error);

/// The plan that executes the problem as it is; an error when something must be
/// recomputed that it keeps.
REMAT_CAPI_EXPORTED RematPlan *rematPlanCreateIdentity(const RematProblem *problem, char **error);

/// Reads a plan from `length` bytes of JSON (docs/problem-format.md) and verifies it.
REMAT_CAPI_EXPORTED RematPlan *rematPlanParse(const RematProblem *problem, const char *text,
                                              size_t length, char **error);

REMAT_CAPI_EXPORTED void rematPlanDestroy(RematPlan *plan);

/// Verifies a plan against a problem that need not be the one it was made for: that
/// of a program into which the plan was put, for example.
REMAT_CAPI_EXPORTED bool rematPlanVerify(const RematProblem *problem, const RematPlan *plan,
                                         char **error);

REMAT_CAPI_EXPORTED bool rematPlanGetArrays(const RematPlan *plan, RematPlanArrays *arrays,
                                            char **error);

/// The plan as JSON; to be freed.
REMAT_CAPI_EXPORTED char *rematPlanToJSON(const RematPlan *plan, char **error);

/// The plan for people, one line per step, then peak and cost; to be freed.
REMAT_CAPI_EXPORTED char *rematPlanToText(const RematPlan *plan, char **error);

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

/// What a plan takes.
typedef struct RematSimulationArrays {
  /// sizeof(RematSimulationArrays).
  size_t structSize;

  /// Live bytes during each step, workspace included, without alignment.
  int64_t numSteps;
  const int64_t *liveBytes;
  /// The maximum of `liveBytes` (the bytes of boundary values if there are no steps),
  /// and the first step where it occurs.
  int64_t livePeakBytes;
  int64_t peakStep;
  /// Aligned bytes of the boundary values, of the arena that holds everything else at
  /// fixed offsets, and of both.
  int64_t boundaryBytes;
  int64_t arenaBytes;
  int64_t packedPeakBytes;
  /// Of all steps, and of all but the first of each operation together with what
  /// variants cost more, in picoseconds.
  int64_t cost;
  int64_t addedCost;

  /// Storages: bytes before alignment, live during the steps from `storageBegins` to
  /// `storageEnds`; 0 and the number of steps for that of a boundary value.
  int64_t numStorages;
  const int64_t *storageBytes;
  const int64_t *storageBegins;
  const int64_t *storageEnds;
  /// In the arena, a multiple of the alignment; 0 for boundary values, which are
  /// outside.
  const int64_t *storageOffsets;
  /// 0 or 1.
  const uint8_t *storageIsBoundary;
  /// The value that began the storage, and the step that computed it.
  const int64_t *storageValues;
  const int64_t *storageSteps;

  /// The storage of the k-th value that step s writes:
  /// `writeStorages[writeBegins[s] + k]`; REMAT_NO_STORAGE for values that are never
  /// in memory. `writeBegins` has `numSteps + 1` elements.
  int64_t numWrites;
  const int64_t *writeBegins;
  const int64_t *writeStorages;
  /// The storage of each boundary value of the problem; REMAT_NO_STORAGE for all
  /// other values.
  int64_t numValues;
  const int64_t *boundaryStorages;
  /// Where the workspace of each step is in the arena; 0 where there is none.
  const int64_t *workspaceOffsets;
} RematSimulationArrays;

/// Replays a plan and packs it into an arena.
REMAT_CAPI_EXPORTED RematSimulation *rematPlanSimulate(const RematPlan *plan, char **error);

REMAT_CAPI_EXPORTED void rematSimulationDestroy(RematSimulation *simulation);

REMAT_CAPI_EXPORTED bool rematSimulationGetArrays(const RematSimulation *simulation,
                                                  RematSimulationArrays *arrays, char **error);

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

typedef int32_t RematSolver;
enum {
  /// Chosen by size and structure.
  RematSolverAuto = 0,
  /// The best of a family of plans that does not depend on the budget.
  RematSolverGreedy = 1,
  /// Dynamic programming; for chains only.
  RematSolverChain = 2,
  /// Local search from several seeds.
  RematSolverAnneal = 3,
  /// Branch and bound; for small problems only.
  RematSolverExact = 4
};

/// "auto", "greedy", "chain", "anneal" or "exact"; null for other numbers. Static.
REMAT_CAPI_EXPORTED const char *rematSolverGetName(RematSolver solver);
/// The solver of that name.
REMAT_CAPI_EXPORTED bool rematSolverParse(const char *name, RematSolver *solver, char **error);

/// A plan fits if its peak is within the budget, or its added cost within the limit.
typedef int32_t RematStatus;
enum {
  /// It fits, and no plan that fits costs less, or has a smaller peak where the limit is
  /// one of cost.
  RematStatusOptimal = 0,
  /// It fits.
  RematStatusFeasible = 1,
  /// No plan that fits was found; perhaps there is one.
  RematStatusNotFound = 2,
  /// No plan fits.
  RematStatusInfeasible = 3
};

/// "optimal", "feasible", "not-found" or "infeasible"; null for other numbers. Static.
REMAT_CAPI_EXPORTED const char *rematStatusGetName(RematStatus status);

/// How far a search is.
typedef struct RematProgress {
  int64_t iteration;
  int64_t numIterations;
  /// Picoseconds that the best plan so far adds; -1 while there is none.
  int64_t addedCost;
} RematProgress;

/// Called now and then by a search, from any thread, one call at a time; `progress` is
/// gone afterwards. The best plan so far is the answer once it returns false. It must
/// return: no exception, no longjmp.
typedef bool (*RematProgressCallback)(const RematProgress *progress, void *userData);

/// The largest values of options.
#define REMAT_MAX_SEEDS INT64_C(4096)
#define REMAT_MAX_ITERATIONS (INT64_C(1) << 40)
#define REMAT_MAX_THREADS INT64_C(1024)
#define REMAT_MAX_SECONDS 1e9
#define REMAT_MAX_EFFORT INT64_C(10)
/// An effort without any search.
#define REMAT_EFFORT_NONE INT64_C(-1)

/// How to solve. rematSolveOptionsInit sets the defaults. `timeLimitSeconds`, and a
/// callback that returns false, make answers depend on the machine; without them they
/// are the same everywhere, with any number of threads.
typedef struct RematSolveOptions {
  /// sizeof(RematSolveOptions).
  size_t structSize;
  /// RematSolverAuto by default.
  RematSolver solver;
  /// 0 or 1: whether originals may leave their place; 1 by default.
  uint8_t reorder;
  /// 0 or 1: whether a budget is one for the packed peak, or else for the live peak; 1
  /// by default.
  uint8_t isPacked;
  /// Storages of fewer bytes are never dropped; 0 by default.
  int64_t minBytes;
  /// Independent runs of the local search, from 1 to REMAT_MAX_SEEDS; 2 by default.
  int64_t numSeeds;
  /// Steps of each run, up to REMAT_MAX_ITERATIONS; 0, the default, chooses by size.
  int64_t numIterations;
  /// Runs at a time, from 1 to REMAT_MAX_THREADS; 1 by default.
  int64_t numThreads;
  /// After this the best plan so far is the answer, up to REMAT_MAX_SECONDS; 0, the
  /// default, for no limit.
  double timeLimitSeconds;
  /// Null by default.
  RematProgressCallback onProgress;
  void *userData;
  /// Work of each run of the local search, and of the exact search: some seconds for
  /// 1, four times as much for each step more, up to REMAT_MAX_EFFORT; REMAT_EFFORT_NONE
  /// for neither search. 0, the default, stands for 2.
  int64_t effort;
} RematSolveOptions;

/// Sets all options to their defaults; `structSize` is sizeof(RematSolveOptions).
REMAT_CAPI_EXPORTED bool rematSolveOptionsInit(RematSolveOptions *options, size_t structSize,
                                               char **error);

/// The numbers of an answer.
typedef struct RematAnswerInfo {
  /// sizeof(RematAnswerInfo).
  size_t structSize;
  RematStatus status;
  int64_t livePeakBytes;
  int64_t packedPeakBytes;
  /// The smallest budget known to give this plan.
  int64_t requiredBytes;
  /// Of all steps, and of all but the first of each operation, in picoseconds.
  int64_t cost;
  int64_t addedCost;
  /// What every plan within the budget, or with no larger a peak than this one if the
  /// limit is one of cost, adds at least, in picoseconds; less than 0 where plans may leave
  /// out operations that nothing needs. Of no meaning when the status is
  /// RematStatusInfeasible.
  int64_t addedCostLowerBound;
  /// The smallest budget that this search knows to be feasible, at whatever cost.
  int64_t minimumKnownBytes;
} RematAnswerInfo;

/// The cheapest plan found whose peak (packed or live, as the options say) is at most
/// `budget` bytes, at least 0; the smallest plan known if none fits. `options` may be
/// null. An error when the solver asked for cannot take the problem.
REMAT_CAPI_EXPORTED RematAnswer *rematSolve(const RematProblem *problem, int64_t budget,
                                            const RematSolveOptions *options, char **error);

/// The plan with the smallest peak found among those that add at most `maxAddedCost`
/// picoseconds, at least 0; with INT64_MAX, the smallest plan known. Where what must be
/// recomputed costs more, a plan that adds more.
REMAT_CAPI_EXPORTED RematAnswer *rematSolveForCost(const RematProblem *problem,
                                                   int64_t maxAddedCost,
                                                   const RematSolveOptions *options, char **error);

/// Answers for `numBudgets` budgets into `answers`, in their order, with one search: a
/// smaller budget never gets a cheaper plan. Each answer is to be destroyed; after an
/// error all are null.
REMAT_CAPI_EXPORTED bool rematSolveAll(const RematProblem *problem, const int64_t *budgets,
                                       int64_t numBudgets, const RematSolveOptions *options,
                                       RematAnswer **answers, char **error);

/// The most points of a front.
#define REMAT_MAX_POINTS INT64_C(100000)

/// The same for `numPoints` budgets, from 2 to REMAT_MAX_POINTS, in even steps from the
/// peak of the problem as it is down to the smallest one that the search finds, and then for
/// `numBudgets` others. `answers` has room for all of them, and is left alone where
/// `numPoints` or `numBudgets` is out of range.
REMAT_CAPI_EXPORTED bool rematSolveFront(const RematProblem *problem, int64_t numPoints,
                                         const int64_t *budgets, int64_t numBudgets,
                                         const RematSolveOptions *options, RematAnswer **answers,
                                         char **error);

/// Also destroys its plan and its simulation.
REMAT_CAPI_EXPORTED void rematAnswerDestroy(RematAnswer *answer);

REMAT_CAPI_EXPORTED bool rematAnswerGetInfo(const RematAnswer *answer, RematAnswerInfo *info,
                                            char **error);

/// The plan of an answer and what it takes; both belong to the answer. Null for null.
REMAT_CAPI_EXPORTED const RematPlan *rematAnswerGetPlan(const RematAnswer *answer);
REMAT_CAPI_EXPORTED const RematSimulation *rematAnswerGetSimulation(const RematAnswer *answer);

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// A buffer that is live in the half-open range from `begin` to `end`, `begin` <
/// `end`.
typedef struct RematBuffer {
  int64_t begin;
  int64_t end;
  int64_t bytes;
} RematBuffer;

/// The most visits of buffers that a packing may take.
#define REMAT_MAX_PACKING_VISITS (INT64_C(1) << 60)

/// Assigns an offset to each of `numBuffers` buffers, a multiple of `alignment` (a power
/// of two up to REMAT_MAX_ALIGNMENT), so that buffers that are live together don't
/// overlap, in an arena of `arenaBytes` that is as small as the heuristics manage.
/// `maxVisits` limits the work; 0 chooses a limit that takes about 25 ms. The aligned
/// bytes may sum up to REMAT_MAX_PROBLEM_SUM. `offsets` has room for `numBuffers`;
/// nothing is written on error.
REMAT_CAPI_EXPORTED bool rematPackBuffers(const RematBuffer *buffers, int64_t numBuffers,
                                          int64_t alignment, int64_t maxVisits, int64_t *offsets,
                                          int64_t *arenaBytes, char **error);

/// The error names two buffers that overlap, an offset that is negative or not
/// aligned, or a buffer that exceeds the arena.
REMAT_CAPI_EXPORTED bool rematVerifyPacking(const RematBuffer *buffers, int64_t numBuffers,
                                            int64_t alignment, const int64_t *offsets,
                                            int64_t arenaBytes, char **error);

#ifdef __cplusplus
}
#endif

#endif // REMAT_C_PLANNER_H
