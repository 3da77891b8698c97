//===- planner-test.c - Every function of Remat-c/Planner.h -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   planner-test                                  runs all tests
//   planner-test ladder N                         prints a ladder of N rungs as a problem
//   planner-test solve PROBLEM BUDGET PLAN        solves for a live peak as remat-plan does,
//                                                 prints the same lines and writes the plan
//   planner-test verify PROBLEM PLAN              prints what a plan takes
//
//===----------------------------------------------------------------------===//

#define _POSIX_C_SOURCE 200809L

#include "Remat-c/Planner.h"
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int numChecks = 0, numFailures = 0;
/// The message of the last call.
static char *error = NULL;

static void checkAt(int line, bool isTrue, const char *what) {
  ++numChecks;
  if (isTrue)
    return;
  ++numFailures;
  fprintf(stderr, "line %d: %s%s%s\n", line, what, error ? ": " : "", error ? error : "");
}

/// A call failed, with this message.
static void checkErrorAt(int line, bool succeeded, const char *expected) {
  ++numChecks;
  if (succeeded || !error || strcmp(error, expected) != 0) {
    ++numFailures;
    fprintf(stderr, "line %d: expected the error\n  %s\nbut got\n  %s\n", line, expected,
            succeeded ? "success"
            : error   ? error
                      : "no message");
  }
  rematStringFree(error);
  error = NULL;
}

#define CHECK(condition) checkAt(__LINE__, (condition), #condition)
#define CHECK_ERROR(call, message) checkErrorAt(__LINE__, (call), message)
/// For functions that return a pointer.
#define CHECK_NULL(call, message) checkErrorAt(__LINE__, (call) != NULL, message)
/// A literal and its length.
#define TEXT(literal) literal, sizeof(literal) - 1
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

static bool areEqual(const int64_t *a, const int64_t *b, int64_t count) {
  for (int64_t index = 0; index < count; ++index)
    if (a[index] != b[index])
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Problems to test with
//===----------------------------------------------------------------------===//

/// dense: x -> h; reshape: h -> flat, a view; expand: flat -> y; reduce: y -> z with scratch;
/// backward: z, h -> g, which awaits the shape of y; return: g.
typedef struct Layer {
  RematProblemArrays arrays;
  int64_t costs[6], workspaces[6];
  RematEffect effects[6];
  uint8_t recomputable[6];
  RematPolicy policies[6];
  const char *operationNames[6];
  int64_t readBegins[7], reads[7], dependenceBegins[7], dependences[1], writeBegins[7], writes[5];
  int64_t bytes[6], sources[6], producers[6];
  RematPlacement placements[6];
  uint8_t awaitable[6];
  const char *valueNames[6];
} Layer;

static void makeLayer(Layer *layer) {
  static const Layer kLayer = {
      .costs = {50, 0, 80, 10, 60, 0},
      .workspaces = {0, 0, 0, 400, 0, 0},
      .effects = {0, 0, 0, 0, 0, RematEffectPinned},
      .recomputable = {1, 1, 1, 1, 1, 0},
      .policies = {0, 0, RematPolicyMustSave, 0, 0, 0},
      .operationNames = {"dense", "reshape", "expand", "reduce", "backward", "return"},
      .readBegins = {0, 1, 2, 3, 4, 6, 7},
      .reads = {0, 1, 2, 3, 4, 1, 5},
      .dependenceBegins = {0, 0, 0, 0, 0, 1, 1},
      .dependences = {3},
      .writeBegins = {0, 1, 2, 3, 4, 5, 5},
      .writes = {1, 2, 3, 4, 5},
      .bytes = {100, 400, 400, 1000, 8, 400},
      .sources = {-1, -1, 1, -1, -1, -1},
      .producers = {-1, 0, 1, 2, 3, 4},
      .placements = {0, 0, RematPlacementView, 0, 0, 0},
      .awaitable = {1, 1, 0, 1, 1, 1},
      .valueNames = {"x", "h", "flat", "y", "z", "g"}};
  *layer = kLayer;
  RematProblemArrays arrays = {.structSize = sizeof(arrays),
                               .numOperations = 6,
                               .costs = layer->costs,
                               .workspaces = layer->workspaces,
                               .effects = layer->effects,
                               .recomputable = layer->recomputable,
                               .policies = layer->policies,
                               .operationNames = layer->operationNames,
                               .numReads = 7,
                               .readBegins = layer->readBegins,
                               .reads = layer->reads,
                               .numDependences = 1,
                               .dependenceBegins = layer->dependenceBegins,
                               .dependences = layer->dependences,
                               .numWrites = 5,
                               .writeBegins = layer->writeBegins,
                               .writes = layer->writes,
                               .numValues = 6,
                               .bytes = layer->bytes,
                               .placements = layer->placements,
                               .sources = layer->sources,
                               .producers = layer->producers,
                               .awaitable = layer->awaitable,
                               .valueNames = layer->valueNames,
                               .alignment = 4};
  layer->arrays = arrays;
}

static RematProblem *createLayer(void) {
  Layer layer;
  makeLayer(&layer);
  return rematProblemCreate(&layer.arrays, &error);
}

/// A ladder as test/Planner/Inputs/ladder.py makes it: a1 to aN, each read by the next one, then bN
/// down to b1, where bI reads aI and b(I+1); 10 bytes, cost 1. The terminator depends on b1.
static RematProblem *createLadder(int64_t numRungs) {
  int64_t numNodes = 2 * numRungs, numReads = 0;
  size_t size = (size_t)(2 * numNodes + 2) * sizeof(int64_t);
  int64_t *costs = malloc(size), *bytes = malloc(size), *reads = malloc(size),
          *readBegins = malloc(size), *writes = malloc(size), *writeBegins = malloc(size),
          *dependenceBegins = calloc(1, size);
  RematEffect *effects = calloc((size_t)numNodes + 1, 1);
  for (int64_t node = 0; node < numNodes; ++node) {
    costs[node] = 1;
    bytes[node] = 10;
    readBegins[node] = numReads;
    writeBegins[node] = writes[node] = node;
    if (node >= numRungs)
      reads[numReads++] = numNodes - 1 - node;
    if (node > 0 && node != numRungs)
      reads[numReads++] = node - 1;
  }
  costs[numNodes] = 0;
  effects[numNodes] = RematEffectPinned;
  readBegins[numNodes] = readBegins[numNodes + 1] = numReads;
  writeBegins[numNodes] = writeBegins[numNodes + 1] = numNodes;
  dependenceBegins[numNodes + 1] = 1;
  int64_t dependence = numNodes - 1;
  RematProblemArrays arrays = {.structSize = sizeof(arrays),
                               .numOperations = numNodes + 1,
                               .costs = costs,
                               .effects = effects,
                               .numReads = numReads,
                               .readBegins = readBegins,
                               .reads = reads,
                               .numDependences = 1,
                               .dependenceBegins = dependenceBegins,
                               .dependences = &dependence,
                               .numWrites = numNodes,
                               .writeBegins = writeBegins,
                               .writes = writes,
                               .numValues = numNodes,
                               .bytes = bytes};
  RematProblem *problem = rematProblemCreate(&arrays, &error);
  free(costs);
  free(bytes);
  free(reads);
  free(readBegins);
  free(writes);
  free(writeBegins);
  free(dependenceBegins);
  free(effects);
  return problem;
}

static RematAnswerInfo getInfo(const RematAnswer *answer) {
  RematAnswerInfo info = {.structSize = sizeof(info)};
  CHECK(rematAnswerGetInfo(answer, &info, &error));
  return info;
}

static RematSimulationArrays getSimulation(const RematSimulation *simulation) {
  RematSimulationArrays arrays = {.structSize = sizeof(arrays)};
  CHECK(rematSimulationGetArrays(simulation, &arrays, &error));
  return arrays;
}

static RematPlanArrays getPlan(const RematPlan *plan) {
  RematPlanArrays arrays = {.structSize = sizeof(arrays)};
  CHECK(rematPlanGetArrays(plan, &arrays, &error));
  return arrays;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static void testVersion(void) {
  int major, minor, patch;
  char rest;
  CHECK(sscanf(rematPlannerGetVersion(), "%d.%d.%d%c", &major, &minor, &patch, &rest) == 3);
  rematStringFree(NULL);
}

static void testProblem(void) {
  Layer layer;
  makeLayer(&layer);
  RematProblem *problem = rematProblemCreate(&layer.arrays, &error);
  CHECK(problem && !error);

  // All that was passed comes back.
  RematProblemArrays got = {.structSize = sizeof(got)};
  CHECK(rematProblemGetArrays(problem, &got, &error));
  CHECK(got.structSize == sizeof(got) && got.alignment == 4);
  CHECK(got.numOperations == 6 && got.numValues == 6);
  CHECK(got.numReads == 7 && got.numDependences == 1 && got.numWrites == 5);
  CHECK(areEqual(got.costs, layer.costs, 6) && areEqual(got.workspaces, layer.workspaces, 6));
  CHECK(memcmp(got.effects, layer.effects, 6) == 0);
  CHECK(memcmp(got.recomputable, layer.recomputable, 6) == 0);
  CHECK(memcmp(got.policies, layer.policies, 6) == 0);
  CHECK(areEqual(got.readBegins, layer.readBegins, 7) && areEqual(got.reads, layer.reads, 7));
  CHECK(areEqual(got.dependenceBegins, layer.dependenceBegins, 7) && got.dependences[0] == 3);
  CHECK(areEqual(got.writeBegins, layer.writeBegins, 7) && areEqual(got.writes, layer.writes, 5));
  CHECK(areEqual(got.bytes, layer.bytes, 6) && areEqual(got.sources, layer.sources, 6));
  CHECK(areEqual(got.producers, layer.producers, 6));
  CHECK(memcmp(got.placements, layer.placements, 6) == 0);
  CHECK(memcmp(got.awaitable, layer.awaitable, 6) == 0);
  for (int index = 0; index < 6; ++index)
    CHECK(strcmp(got.operationNames[index], layer.operationNames[index]) == 0 &&
          strcmp(got.valueNames[index], layer.valueNames[index]) == 0);

  // So does it by way of JSON, and from what was obtained.
  char *text = rematProblemToJSON(problem, &error);
  CHECK(text && !error);
  RematProblem *parsed = rematProblemParse(text, strlen(text), &error);
  RematProblem *copied = rematProblemCreate(&got, &error);
  char *parsedText = rematProblemToJSON(parsed, &error);
  char *copiedText = rematProblemToJSON(copied, &error);
  CHECK(parsedText && strcmp(text, parsedText) == 0);
  CHECK(copiedText && strcmp(text, copiedText) == 0);

  // x, y, z and the scratch of `reduce`.
  int64_t workingSet;
  CHECK(rematProblemGetWorkingSetBytes(problem, &workingSet, &error));
  CHECK(workingSet == 1508);
  // A message is not required.
  CHECK(!rematProblemGetWorkingSetBytes(NULL, &workingSet, NULL));

  rematStringFree(text);
  rematStringFree(parsedText);
  rematStringFree(copiedText);
  rematProblemDestroy(problem);
  rematProblemDestroy(parsed);
  rematProblemDestroy(copied);
  rematProblemDestroy(NULL);
}

static void testDefaults(void) {
  Layer layer;
  makeLayer(&layer);
  layer.arrays.workspaces = layer.arrays.producers = NULL;
  layer.arrays.recomputable = layer.arrays.policies = layer.arrays.awaitable = NULL;
  layer.arrays.operationNames = layer.arrays.valueNames = NULL;
  layer.arrays.numDependences = 0;
  layer.arrays.dependenceBegins = layer.arrays.dependences = NULL;
  layer.arrays.alignment = 0;
  RematProblem *problem = rematProblemCreate(&layer.arrays, &error);
  RematProblemArrays got = {.structSize = sizeof(got)};
  CHECK(rematProblemGetArrays(problem, &got, &error));
  CHECK(areEqual(got.producers, layer.producers, 6));
  CHECK(memcmp(got.recomputable, layer.recomputable, 6) == 0);
  CHECK(got.alignment == 1 && got.workspaces[3] == 0 && got.policies[2] == RematPolicyNone);
  CHECK(got.awaitable[2] == 1 && got.operationNames[0][0] == '\0' && got.valueNames[5][0] == '\0');
  CHECK(got.numDependences == 0 && got.dependenceBegins[6] == 0);
  rematProblemDestroy(problem);

  // Without effects, placements and sources, some names, and then nothing at all.
  makeLayer(&layer);
  layer.arrays.effects = layer.arrays.recomputable = layer.arrays.placements = NULL;
  layer.arrays.sources = NULL;
  layer.operationNames[3] = layer.valueNames[0] = NULL;
  problem = rematProblemCreate(&layer.arrays, &error);
  CHECK(rematProblemGetArrays(problem, &got, &error));
  CHECK(got.effects[5] == RematEffectPure && got.placements[2] == RematPlacementOwn);
  CHECK(got.sources[2] == REMAT_NO_VALUE && got.recomputable[5] == 1);
  CHECK(got.operationNames[3][0] == '\0' && got.valueNames[0][0] == '\0');
  rematProblemDestroy(problem);

  RematProblemArrays none = {.structSize = sizeof(none)};
  problem = rematProblemCreate(&none, &error);
  int64_t workingSet = -1;
  CHECK(rematProblemGetWorkingSetBytes(problem, &workingSet, &error) && workingSet == 0);
  RematAnswer *answer = rematSolve(problem, 0, NULL, &error);
  CHECK(answer && getInfo(answer).status == RematStatusOptimal && getInfo(answer).cost == 0);
  CHECK(getPlan(rematAnswerGetPlan(answer)).numSteps == 0);
  rematAnswerDestroy(answer);
  rematProblemDestroy(problem);
}

/// Changes a part of the layer, and expects this error.
#define CHECK_LAYER(change, message)                                                               \
  do {                                                                                             \
    Layer layer;                                                                                   \
    makeLayer(&layer);                                                                             \
    change;                                                                                        \
    CHECK_NULL(rematProblemCreate(&layer.arrays, &error), message);                                \
  } while (0)

static void testProblemErrors(void) {
  CHECK_NULL(rematProblemCreate(NULL, &error), "'arrays' is null");
  CHECK_LAYER(layer.arrays.numOperations = -1,
              "expected 'numOperations' from 0 to 2147483647, but got -1");
  CHECK_LAYER(layer.arrays.numValues = REMAT_MAX_COUNT + 1,
              "expected 'numValues' from 0 to 2147483647, but got 2147483648");
  CHECK_LAYER(layer.arrays.numReads = INT64_MAX,
              "expected 'numReads' from 0 to 2147483647, but got 9223372036854775807");
  CHECK_LAYER(layer.arrays.numDependences = INT64_MIN,
              "expected 'numDependences' from 0 to 2147483647, but got -9223372036854775808");
  CHECK_LAYER(layer.arrays.costs = NULL, "'costs' is null, but 'numOperations' is 6");
  CHECK_LAYER(layer.arrays.bytes = NULL, "'bytes' is null, but 'numValues' is 6");
  CHECK_LAYER(layer.arrays.reads = NULL, "'reads' is null, but 'numReads' is 7");
  CHECK_LAYER(layer.arrays.readBegins = NULL, "'reads' is not null, but where its lists begin is");
  CHECK_LAYER(layer.arrays.writes = NULL, "'writes' is null, but 'numWrites' is 5");
  CHECK_LAYER(layer.readBegins[0] = 1, "list 0 of 'reads' begins at 1, but expected 0");
  CHECK_LAYER(layer.readBegins[2] = 0, "list 2 of 'reads' begins at 0, but expected 1 to 7");
  CHECK_LAYER(layer.readBegins[3] = INT64_MAX,
              "list 3 of 'reads' begins at 9223372036854775807, but expected 2 to 7");
  CHECK_LAYER(layer.writeBegins[6] = 6, "list 6 of 'writes' begins at 6, but expected 5 to 5");
  CHECK_LAYER(layer.arrays.numReads = 8, "the lists of 'reads' end at 7, but 'numReads' is 8");
  CHECK_LAYER(layer.effects[1] = 3, "expected 'effects[1]' from 0 to 2, but got 3");
  CHECK_LAYER(layer.recomputable[0] = 2, "expected 'recomputable[0]' from 0 to 1, but got 2");
  CHECK_LAYER(layer.policies[5] = 255, "expected 'policies[5]' from 0 to 2, but got 255");
  CHECK_LAYER(layer.placements[2] = 4, "expected 'placements[2]' from 0 to 3, but got 4");
  CHECK_LAYER(layer.awaitable[0] = 9, "expected 'awaitable[0]' from 0 to 1, but got 9");

  // The form is right, the content is not.
  CHECK_LAYER(layer.arrays.alignment = 3,
              "expected an alignment that is a power of two up to 1073741824, but got 3");
  CHECK_LAYER(layer.arrays.alignment = INT64_MIN,
              "expected an alignment that is a power of two up to 1073741824, but got "
              "-9223372036854775808");
  CHECK_LAYER(layer.bytes[0] = -1, "value 0 ('x') has a negative size of -1 bytes");
  CHECK_LAYER(layer.bytes[3] = INT64_MAX,
              "value 3 ('y') brings the sum of all aligned bytes above 72057594037927936");
  CHECK_LAYER(layer.costs[2] = INT64_MAX,
              "operation 2 ('expand') brings the sum of all costs above 72057594037927936 "
              "picoseconds");
  CHECK_LAYER(layer.workspaces[3] = -5,
              "operation 3 ('reduce') has a negative workspace of -5 bytes");
  CHECK_LAYER(layer.reads[0] = 6, "operation 0 ('dense') reads value 6, which does not exist");
  CHECK_LAYER(layer.reads[0] = 5,
              "operation 0 ('dense') reads value 5 ('g') before it is computed");
  CHECK_LAYER(layer.dependences[0] = -1,
              "operation 4 ('backward') depends on value -1, which does not exist");
  CHECK_LAYER(layer.writes[1] = 1,
              "operation 1 ('reshape') writes value 1 ('h'), whose producer is operation 0");
  CHECK_LAYER((layer.writes[2] = 1, layer.arrays.producers = NULL),
              "operation 2 ('expand') writes value 1 ('h'), whose producer is operation 0");
  CHECK_LAYER(layer.producers[5] = 77,
              "value 5 ('g') names operation 77 as its producer, which does not exist");
  CHECK_LAYER(layer.sources[2] = 0,
              "value 2 ('flat') has value 0 as its source, which its producer does not read");
  CHECK_LAYER(layer.arrays.sources = NULL,
              "value 2 ('flat') names value -1 as its source, which does not exist");
  CHECK_LAYER(layer.recomputable[5] = 1, "operation 5 ('return') is recomputable, but not pure");

  // Texts.
  CHECK_NULL(rematProblemParse(NULL, 0, &error), "'text' is null");
  CHECK_NULL(rematProblemParse("", SIZE_MAX, &error),
             "expected a text of at most 4294967295 bytes, but got 18446744073709551615");
  CHECK(!rematProblemParse("", 0, &error) && error);
  rematStringFree(error);
  CHECK_NULL(
      rematProblemParse(TEXT("{\"version\": 2, \"values\": [], \"operations\": []}"), &error),
      "version: expected 1, but got 2");
  // No further than `length`.
  CHECK(!rematProblemParse("{\"version\": 1, \"values\": [], \"operations\": []}", 44, &error) &&
        error);
  rematStringFree(error);
  error = NULL;

  int64_t workingSet;
  RematProblemArrays got = {.structSize = sizeof(got)};
  CHECK_NULL(rematProblemToJSON(NULL, &error), "'problem' is null");
  CHECK_ERROR(rematProblemGetArrays(NULL, &got, &error), "'problem' is null");
  CHECK_ERROR(rematProblemGetWorkingSetBytes(NULL, &workingSet, &error), "'problem' is null");
  RematProblem *problem = createLayer();
  CHECK_ERROR(rematProblemGetArrays(problem, NULL, &error), "'arrays' is null");
  CHECK_ERROR(rematProblemGetWorkingSetBytes(problem, NULL, &error), "'bytes' is null");
  rematProblemDestroy(problem);
}

//===----------------------------------------------------------------------===//
// Plans and simulations
//===----------------------------------------------------------------------===//

/// Computes h again for `backward`.
typedef struct Again {
  RematPlanArrays arrays;
  int64_t operations[7];
  uint8_t isClone[7];
  int64_t readBegins[8], reads[8], dependenceBegins[8], dependences[1];
  int64_t regionBegins[1], regionEnds[1], regionAfterValues[1], regionAfterSteps[1];
} Again;

static void makeAgain(Again *again) {
  static const Again kAgain = {.operations = {0, 1, 2, 3, 0, 4, 5},
                               .isClone = {0, 0, 0, 0, 1, 0, 0},
                               .readBegins = {0, 1, 2, 3, 4, 5, 7, 8},
                               .reads = {-1, 0, 1, 2, -1, 3, 4, 5},
                               .dependenceBegins = {0, 0, 0, 0, 0, 0, 1, 1},
                               .dependences = {2},
                               .regionBegins = {4},
                               .regionEnds = {5},
                               .regionAfterValues = {4},
                               .regionAfterSteps = {3}};
  *again = kAgain;
  RematPlanArrays arrays = {.structSize = sizeof(arrays),
                            .numSteps = 7,
                            .operations = again->operations,
                            .isClone = again->isClone,
                            .numReads = 8,
                            .readBegins = again->readBegins,
                            .reads = again->reads,
                            .numDependences = 1,
                            .dependenceBegins = again->dependenceBegins,
                            .dependences = again->dependences,
                            .numRegions = 1,
                            .regionBegins = again->regionBegins,
                            .regionEnds = again->regionEnds,
                            .regionAfterValues = again->regionAfterValues,
                            .regionAfterSteps = again->regionAfterSteps};
  again->arrays = arrays;
}

static void testPlan(void) {
  RematProblem *problem = createLayer();
  Again again;
  makeAgain(&again);
  RematPlan *plan = rematPlanCreate(problem, &again.arrays, &error);
  CHECK(plan && !error);
  CHECK(rematPlanVerify(problem, plan, &error) && !error);

  RematPlanArrays got = getPlan(plan);
  CHECK(got.numSteps == 7 && areEqual(got.operations, again.operations, 7));
  CHECK(memcmp(got.isClone, again.isClone, 7) == 0);
  CHECK(got.numReads == 8 && areEqual(got.readBegins, again.readBegins, 8));
  CHECK(areEqual(got.reads, again.reads, 8));
  CHECK(got.numDependences == 1 && areEqual(got.dependenceBegins, again.dependenceBegins, 8));
  CHECK(got.dependences[0] == 2 && got.numRegions == 1);
  CHECK(got.regionBegins[0] == 4 && got.regionEnds[0] == 5);
  CHECK(got.regionAfterValues[0] == 4 && got.regionAfterSteps[0] == 3);

  // The same region is chosen; the same text comes back.
  again.arrays.numRegions = 0;
  again.arrays.regionBegins = again.arrays.regionEnds = NULL;
  again.arrays.regionAfterValues = again.arrays.regionAfterSteps = NULL;
  RematPlan *chosen = rematPlanCreate(problem, &again.arrays, &error);
  char *json = rematPlanToJSON(plan, &error), *chosenJSON = rematPlanToJSON(chosen, &error);
  CHECK(json && chosenJSON && strcmp(json, chosenJSON) == 0);
  RematPlan *parsed = rematPlanParse(problem, json, strlen(json), &error);
  char *parsedJSON = rematPlanToJSON(parsed, &error);
  CHECK(parsedJSON && strcmp(json, parsedJSON) == 0);
  char *text = rematPlanToText(plan, &error);
  CHECK(text &&
        strstr(text, "region of 1 steps after z@3\n4: clone dense(x) -> h, live 508 bytes"));

  // The plan outlives its problem, and fits another one that is equal.
  rematProblemDestroy(problem);
  RematSimulation *simulation = rematPlanSimulate(plan, &error);
  CHECK(simulation && getSimulation(simulation).addedCost == 50);
  problem = createLayer();
  CHECK(rematPlanVerify(problem, plan, &error));
  RematProblem *ladder = createLadder(4);
  CHECK_ERROR(rematPlanVerify(ladder, plan, &error),
              "step 0 ('') reads 1 values, but the operation reads 0");

  rematStringFree(json);
  rematStringFree(chosenJSON);
  rematStringFree(parsedJSON);
  rematStringFree(text);
  rematSimulationDestroy(simulation);
  rematPlanDestroy(plan);
  rematPlanDestroy(chosen);
  rematPlanDestroy(parsed);
  rematPlanDestroy(NULL);
  rematProblemDestroy(problem);
  rematProblemDestroy(ladder);
}

/// Changes a part of the plan, and expects this error.
#define CHECK_AGAIN(change, message)                                                               \
  do {                                                                                             \
    Again again;                                                                                   \
    makeAgain(&again);                                                                             \
    change;                                                                                        \
    CHECK_NULL(rematPlanCreate(problem, &again.arrays, &error), message);                          \
  } while (0)

static void testPlanErrors(void) {
  RematProblem *problem = createLayer();
  CHECK_NULL(rematPlanCreate(problem, NULL, &error), "'arrays' is null");
  CHECK_AGAIN(again.arrays.numSteps = -7, "expected 'numSteps' from 0 to 2147483647, but got -7");
  CHECK_AGAIN(again.arrays.operations = NULL, "'operations' is null, but 'numSteps' is 7");
  CHECK_AGAIN(again.arrays.isClone = NULL, "'isClone' is null, but 'numSteps' is 7");
  CHECK_AGAIN(again.isClone[4] = 2, "expected 'isClone[4]' from 0 to 1, but got 2");
  CHECK_AGAIN(again.readBegins[7] = 7, "the lists of 'reads' end at 7, but 'numReads' is 8");
  CHECK_AGAIN(again.arrays.dependenceBegins = NULL,
              "'dependences' is not null, but where its lists begin is");
  CHECK_AGAIN(again.arrays.numRegions = REMAT_MAX_COUNT + 1,
              "expected 'numRegions' from 0 to 2147483647, but got 2147483648");
  CHECK_AGAIN(again.arrays.regionEnds = NULL, "'regionEnds' is null, but 'numRegions' is 1");
  CHECK_AGAIN(again.arrays.regionAfterSteps = NULL,
              "'regionAfterSteps' is null, but 'numRegions' is 1");

  CHECK_AGAIN(again.operations[0] = 6, "step 0 executes operation 6, which does not exist");
  CHECK_AGAIN(again.reads[1] = INT64_MIN,
              "step 1 ('reshape') reads value 1 ('h') from step -9223372036854775808, which does "
              "not exist");
  CHECK_AGAIN(again.reads[6] = 5,
              "step 5 ('backward') reads value 1 ('h') from step 5, which is not earlier");
  CHECK_AGAIN(again.isClone[4] = 0, "step 4 ('dense') is the second original of operation 0");
  CHECK_AGAIN(again.arrays.numRegions = 0, "step 4 ('dense') is a clone outside of all regions");
  CHECK_AGAIN(again.regionEnds[0] = 99,
              "region 0 covers steps 4 to 99, which is not a range of steps");
  CHECK_AGAIN(again.regionAfterSteps[0] = 4, "region 0 waits for step 4, which is not before it");
  CHECK_AGAIN((again.isClone[2] = 1,
               again.arrays.regionBegins = again.arrays.regionEnds =
                   again.arrays.regionAfterValues = again.arrays.regionAfterSteps = NULL,
               again.arrays.numRegions = 0),
              "step 2 ('expand') is a clone, but operation 2 must be saved");
  Again again;
  makeAgain(&again);
  CHECK_NULL(rematPlanCreate(NULL, &again.arrays, &error), "'problem' is null");
  CHECK_NULL(rematPlanCreateIdentity(NULL, &error), "'problem' is null");
  CHECK_NULL(rematPlanParse(NULL, TEXT("{}"), &error), "'problem' is null");
  CHECK_NULL(rematPlanParse(problem, NULL, 2, &error), "'text' is null");
  CHECK_NULL(rematPlanParse(problem, "{}", SIZE_MAX, &error),
             "expected a text of at most 4294967295 bytes, but got 18446744073709551615");
  CHECK_NULL(rematPlanParse(problem, TEXT("{}"), &error), "missing key 'version'");
  CHECK_NULL(rematPlanParse(problem, TEXT("{\"version\": 1, \"steps\": []}"), &error),
             "operation 5 ('return') has effects, but is not executed");
  RematPlan *plan = rematPlanCreateIdentity(problem, &error);
  RematPlanArrays planArrays = {.structSize = sizeof(planArrays)};
  RematSimulationArrays simulationArrays = {.structSize = sizeof(simulationArrays)};
  CHECK_ERROR(rematPlanVerify(NULL, plan, &error), "'problem' is null");
  CHECK_ERROR(rematPlanVerify(problem, NULL, &error), "'plan' is null");
  CHECK_ERROR(rematPlanGetArrays(NULL, &planArrays, &error), "'plan' is null");
  CHECK_ERROR(rematPlanGetArrays(plan, NULL, &error), "'arrays' is null");
  CHECK_NULL(rematPlanToJSON(NULL, &error), "'plan' is null");
  CHECK_NULL(rematPlanToText(NULL, &error), "'plan' is null");
  CHECK_NULL(rematPlanSimulate(NULL, &error), "'plan' is null");
  CHECK_ERROR(rematSimulationGetArrays(NULL, &simulationArrays, &error), "'simulation' is null");
  RematSimulation *simulation = rematPlanSimulate(plan, &error);
  CHECK_ERROR(rematSimulationGetArrays(simulation, NULL, &error), "'arrays' is null");
  rematSimulationDestroy(simulation);
  rematSimulationDestroy(NULL);
  rematPlanDestroy(plan);
  rematProblemDestroy(problem);
}

static void testSimulation(void) {
  RematProblem *problem = createLayer();
  RematPlan *identity = rematPlanCreateIdentity(problem, &error);
  RematSimulation *simulation = rematPlanSimulate(identity, &error);
  RematSimulationArrays got = getSimulation(simulation);
  // x and h; the same; y as well; z and the scratch as well; then x, h, z and g; x and g.
  const int64_t live[] = {500, 500, 1500, 1908, 908, 500};
  CHECK(got.numSteps == COUNT(live) && areEqual(got.liveBytes, live, COUNT(live)));
  CHECK(got.livePeakBytes == 1908 && got.peakStep == 3);
  CHECK(got.boundaryBytes == 100 && got.packedPeakBytes == got.boundaryBytes + got.arenaBytes);
  CHECK(got.packedPeakBytes >= 1908 && got.cost == 200 && got.addedCost == 0);

  // Storages in the order of their first value: x, h, y, z, g.
  const int64_t bytes[] = {100, 400, 1000, 8, 400}, begins[] = {0, 0, 2, 3, 4},
                ends[] = {6, 5, 4, 5, 6}, values[] = {0, 1, 3, 4, 5}, steps[] = {-1, 0, 2, 3, 4};
  CHECK(got.numStorages == 5 && areEqual(got.storageBytes, bytes, 5));
  CHECK(areEqual(got.storageBegins, begins, 5) && areEqual(got.storageEnds, ends, 5));
  CHECK(areEqual(got.storageValues, values, 5) && areEqual(got.storageSteps, steps, 5));
  CHECK(got.storageIsBoundary[0] == 1 && got.storageIsBoundary[1] == 0);
  // h and flat share one.
  const int64_t writeBegins[] = {0, 1, 2, 3, 4, 5, 5}, writeStorages[] = {1, 1, 2, 3, 4};
  CHECK(got.numWrites == 5 && areEqual(got.writeBegins, writeBegins, 7));
  CHECK(areEqual(got.writeStorages, writeStorages, 5));
  const int64_t boundaryStorages[] = {0, -1, -1, -1, -1, -1};
  CHECK(got.numValues == 6 && areEqual(got.boundaryStorages, boundaryStorages, 6));

  // The offsets are a packing of the storages and the one workspace.
  RematBuffer buffers[5];
  int64_t offsets[5];
  for (int64_t index = 1; index < 5; ++index) {
    RematBuffer buffer = {got.storageBegins[index], got.storageEnds[index],
                          got.storageBytes[index]};
    buffers[index - 1] = buffer;
    offsets[index - 1] = got.storageOffsets[index];
  }
  RematBuffer scratch = {3, 4, 400};
  buffers[4] = scratch;
  offsets[4] = got.workspaceOffsets[3];
  CHECK(rematVerifyPacking(buffers, 5, 4, offsets, got.arenaBytes, &error));
  CHECK(got.workspaceOffsets[0] == 0 && got.storageOffsets[0] == 0);
  rematSimulationDestroy(simulation);
  rematPlanDestroy(identity);
  rematProblemDestroy(problem);
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

static RematSolveOptions liveOptions(void) {
  RematSolveOptions options;
  CHECK(rematSolveOptionsInit(&options, sizeof(options), &error));
  options.isPacked = 0;
  return options;
}

static void testNames(void) {
  static const char *const kSolvers[] = {"auto", "greedy", "chain", "anneal", "exact"};
  for (RematSolver solver = RematSolverAuto; solver <= RematSolverExact; ++solver) {
    RematSolver parsed = -1;
    CHECK(strcmp(rematSolverGetName(solver), kSolvers[solver]) == 0);
    CHECK(rematSolverParse(kSolvers[solver], &parsed, &error) && parsed == solver);
  }
  CHECK(!rematSolverGetName(-1) && !rematSolverGetName(5) && !rematSolverGetName(INT32_MAX));
  RematSolver solver;
  CHECK_ERROR(rematSolverParse("Greedy", &solver, &error),
              "expected one of 'auto', 'greedy', 'chain', 'anneal', 'exact', but got 'Greedy'");
  CHECK_ERROR(rematSolverParse(NULL, &solver, &error), "'name' is null");
  CHECK_ERROR(rematSolverParse("auto", NULL, &error), "'solver' is null");

  static const char *const kStatuses[] = {"optimal", "feasible", "not-found", "infeasible"};
  for (RematStatus status = RematStatusOptimal; status <= RematStatusInfeasible; ++status)
    CHECK(strcmp(rematStatusGetName(status), kStatuses[status]) == 0);
  CHECK(!rematStatusGetName(-1) && !rematStatusGetName(4));
}

static void testSolve(void) {
  // Unchanged, 17 values are live; half of it takes 9 executions more, which is proved.
  RematProblem *problem = createLadder(16);
  RematSolveOptions options = liveOptions();
  RematAnswer *answer = rematSolve(problem, 85, &options, &error);
  CHECK(answer && !error);
  RematAnswerInfo info = getInfo(answer);
  CHECK(info.status == RematStatusOptimal && info.livePeakBytes == 80);
  CHECK(info.addedCost == 9 && info.addedCostLowerBound == 9 && info.cost == 41);
  CHECK(info.requiredBytes <= 85 && info.packedPeakBytes >= info.livePeakBytes);
  CHECK(info.minimumKnownBytes <= info.requiredBytes);

  // The plan and the simulation are those of the answer.
  const RematPlan *plan = rematAnswerGetPlan(answer);
  CHECK(rematPlanVerify(problem, plan, &error));
  RematPlanArrays steps = getPlan(plan);
  int64_t numClones = 0;
  for (int64_t step = 0; step < steps.numSteps; ++step)
    numClones += steps.isClone[step];
  CHECK(numClones == 9 && steps.numSteps == 33 + 9 && steps.numRegions > 0);
  RematSimulationArrays given = getSimulation(rematAnswerGetSimulation(answer));
  RematSimulation *again = rematPlanSimulate(plan, &error);
  RematSimulationArrays replayed = getSimulation(again);
  CHECK(given.livePeakBytes == 80 && given.cost == 41 && given.addedCost == 9);
  CHECK(given.packedPeakBytes == info.packedPeakBytes);
  CHECK(replayed.numSteps == given.numSteps && replayed.numStorages == given.numStorages);
  CHECK(areEqual(replayed.liveBytes, given.liveBytes, given.numSteps));
  CHECK(areEqual(replayed.storageOffsets, given.storageOffsets, given.numStorages));
  rematSimulationDestroy(again);
  rematAnswerDestroy(answer);

  // Enough for everything; without options the packed peak counts.
  answer = rematSolve(problem, INT64_MAX, NULL, &error);
  info = getInfo(answer);
  CHECK(info.status == RematStatusOptimal && info.addedCost == 0 && info.cost == 32);
  CHECK(info.packedPeakBytes == info.requiredBytes);
  rematAnswerDestroy(answer);

  // Too little: three values are needed at once. The smallest plan says what it takes, which is
  // met.
  answer = rematSolve(problem, 29, &options, &error);
  info = getInfo(answer);
  CHECK(info.status == RematStatusInfeasible && info.requiredBytes > 29);
  CHECK(info.minimumKnownBytes > 29);
  int64_t smallest = info.minimumKnownBytes;
  rematAnswerDestroy(answer);
  answer = rematSolve(problem, smallest, &options, &error);
  info = getInfo(answer);
  CHECK(info.status == RematStatusOptimal || info.status == RematStatusFeasible);
  CHECK(info.livePeakBytes <= smallest);
  rematAnswerDestroy(answer);
  rematProblemDestroy(problem);
}

static void testSolveForCost(void) {
  RematProblem *problem = createLadder(16);
  RematSolveOptions options = liveOptions();
  int64_t last = INT64_MAX;
  for (int64_t cost = 0; cost <= 12; cost += 3) {
    RematAnswer *answer = rematSolveForCost(problem, cost, &options, &error);
    RematAnswerInfo info = getInfo(answer);
    CHECK(info.addedCost <= cost && info.livePeakBytes <= last);
    CHECK(info.minimumKnownBytes <= info.livePeakBytes);
    last = info.livePeakBytes;
    // Nothing smaller adds as little.
    if (cost == 0)
      CHECK(last == 170 && info.status == RematStatusOptimal);
    if (cost == 9)
      CHECK(last == 80 && info.status == RematStatusOptimal);
    rematAnswerDestroy(answer);
  }
  // Three values are needed at once, whatever it costs.
  RematAnswer *answer = rematSolveForCost(problem, INT64_MAX, &options, &error);
  RematAnswerInfo info = getInfo(answer);
  CHECK(info.status == RematStatusOptimal && info.livePeakBytes == 30);
  CHECK(info.minimumKnownBytes == 30);
  rematAnswerDestroy(answer);
  rematProblemDestroy(problem);
}

static void testSolveAll(void) {
  RematProblem *problem = createLadder(16);
  RematSolveOptions options = liveOptions();
  const int64_t budgets[] = {0, 60, 85, 120, 170};
  RematAnswer *answers[COUNT(budgets)];
  CHECK(rematSolveAll(problem, budgets, COUNT(budgets), &options, answers, &error));
  CHECK(getInfo(answers[0]).status == RematStatusInfeasible);
  for (int64_t index = 1; index < COUNT(budgets); ++index) {
    RematAnswerInfo info = getInfo(answers[index]);
    CHECK(info.livePeakBytes <= budgets[index]);
    if (index > 1)
      CHECK(info.addedCost <= getInfo(answers[index - 1]).addedCost);
    CHECK(rematPlanVerify(problem, rematAnswerGetPlan(answers[index]), &error));
  }
  CHECK(getInfo(answers[2]).addedCost == 9 && getInfo(answers[4]).addedCost == 0);
  // Each answer is on its own.
  for (int64_t index = 0; index < COUNT(budgets); ++index)
    rematAnswerDestroy(answers[index]);
  CHECK(rematSolveAll(problem, NULL, 0, NULL, NULL, &error));
  rematProblemDestroy(problem);
}

/// The front is what rematSolveAll answers to even steps.
static void testSolveFront(void) {
  RematProblem *problem = createLadder(16);
  RematSolveOptions options = liveOptions();
  options.effort = 1;
  // The last point: the smallest plan that a search finds.
  RematAnswer *smallest = rematSolve(problem, 0, &options, &error);
  int64_t steps = 170 - getInfo(smallest).requiredBytes;
  CHECK(steps == 140);
  rematAnswerDestroy(smallest);

  enum { numPoints = 4, numAnswers = 6 };
  const int64_t budgets[numAnswers] = {170, 170 - steps / 3, 170 - steps * 2 / 3, 170 - steps, 29,
                                       85};
  RematAnswer *answers[numAnswers], *expected[numAnswers];
  CHECK(rematSolveAll(problem, budgets, numAnswers, &options, expected, &error));
  CHECK(rematSolveFront(problem, numPoints, budgets + numPoints, numAnswers - numPoints, &options,
                        answers, &error));
  CHECK(!error);
  for (int64_t index = 0; index < numAnswers; ++index) {
    CHECK(getInfo(answers[index]).status == getInfo(expected[index]).status);
    CHECK(getInfo(answers[index]).addedCost == getInfo(expected[index]).addedCost);
    rematAnswerDestroy(answers[index]);
    rematAnswerDestroy(expected[index]);
  }

  // Nothing but the front.
  CHECK(rematSolveFront(problem, 2, NULL, 0, &options, answers, &error));
  CHECK(getInfo(answers[0]).livePeakBytes == 170);
  CHECK(getInfo(answers[1]).livePeakBytes == 170 - steps);
  rematAnswerDestroy(answers[0]);
  rematAnswerDestroy(answers[1]);
  rematProblemDestroy(problem);
}

/// Every combination of pointers that are null and those that are not.
static void testSolveFrontNulls(void) {
  RematProblem *problem = createLadder(4);
  RematSolveOptions options = liveOptions();
  const int64_t budget = 40;
  RematAnswer *answers[3];
  for (int given = 0; given < 32; ++given) {
    memset(answers, 1, sizeof(answers));
    bool succeeded = rematSolveFront(given & 1 ? problem : NULL, 2, given & 2 ? &budget : NULL, 1,
                                     given & 4 ? &options : NULL, given & 8 ? answers : NULL,
                                     given & 16 ? &error : NULL);
    CHECK(succeeded == ((given & 11) == 11));
    CHECK((error != NULL) == (!succeeded && (given & 16)));
    for (int index = 0; index < 3 && (given & 8); ++index) {
      CHECK((answers[index] != NULL) == succeeded);
      rematAnswerDestroy(answers[index]);
    }
    rematStringFree(error);
    error = NULL;
  }
  rematProblemDestroy(problem);
}

/// Changes an option, and expects this error.
#define CHECK_OPTION(change, message)                                                              \
  do {                                                                                             \
    RematSolveOptions options = liveOptions();                                                     \
    change;                                                                                        \
    CHECK_NULL(rematSolve(problem, 85, &options, &error), message);                                \
  } while (0)

static void testSolveErrors(void) {
  RematProblem *problem = createLadder(4);
  CHECK_NULL(rematSolve(NULL, 85, NULL, &error), "'problem' is null");
  CHECK_NULL(rematSolve(problem, -1, NULL, &error),
             "expected 'budget' from 0 to 9223372036854775807, but got -1");
  CHECK_NULL(rematSolveForCost(NULL, 85, NULL, &error), "'problem' is null");
  CHECK_NULL(rematSolveForCost(problem, INT64_MIN, NULL, &error),
             "expected 'maxAddedCost' from 0 to 9223372036854775807, but got "
             "-9223372036854775808");
  CHECK_OPTION(options.solver = 5, "expected 'solver' from 0 to 4, but got 5");
  CHECK_OPTION(options.solver = -1, "expected 'solver' from 0 to 4, but got -1");
  CHECK_OPTION(options.reorder = 2, "expected 'reorder' from 0 to 1, but got 2");
  CHECK_OPTION(options.isPacked = 255, "expected 'isPacked' from 0 to 1, but got 255");
  CHECK_OPTION(options.minBytes = -1,
               "expected 'minBytes' from 0 to 9223372036854775807, but got -1");
  CHECK_OPTION(options.numSeeds = 0, "expected 'numSeeds' from 1 to 4096, but got 0");
  CHECK_OPTION(options.numSeeds = INT64_MAX,
               "expected 'numSeeds' from 1 to 4096, but got 9223372036854775807");
  CHECK_OPTION(options.numIterations = -1,
               "expected 'numIterations' from 0 to 1099511627776, but got -1");
  CHECK_OPTION(options.numThreads = 1025, "expected 'numThreads' from 1 to 1024, but got 1025");
  CHECK_OPTION(options.effort = 11, "expected 'effort' from -1 to 10, but got 11");
  CHECK_OPTION(options.effort = -2, "expected 'effort' from -1 to 10, but got -2");
  CHECK_OPTION(options.effort = INT64_MIN,
               "expected 'effort' from -1 to 10, but got -9223372036854775808");
  CHECK(!rematSolve(problem, 85, &(RematSolveOptions){.structSize = 1}, NULL));
  for (int index = 0; index < 4; ++index) {
    const double wrong[] = {-1, 1e300, INFINITY, NAN};
    RematSolveOptions options = liveOptions();
    options.timeLimitSeconds = wrong[index];
    CHECK(!rematSolve(problem, 85, &options, &error) && error &&
          strstr(error, "expected 'timeLimitSeconds' from 0 to 1"));
    rematStringFree(error);
    error = NULL;
  }
  CHECK_ERROR(rematSolveOptionsInit(NULL, sizeof(RematSolveOptions), &error), "'options' is null");

  const int64_t budgets[] = {10, -10};
  RematAnswer *answers[2];
  memset(answers, 1, sizeof(answers));
  CHECK_ERROR(rematSolveAll(problem, budgets, 2, NULL, answers, &error),
              "expected 'budget' from 0 to 9223372036854775807, but got -10");
  CHECK(!answers[0] && !answers[1]);
  CHECK_ERROR(rematSolveAll(problem, NULL, 2, NULL, answers, &error),
              "'budgets' is null, but 'numBudgets' is 2");
  CHECK_ERROR(rematSolveAll(problem, budgets, 2, NULL, NULL, &error),
              "'answers' is null, but 'numBudgets' is 2");
  CHECK_ERROR(rematSolveAll(problem, budgets, -2, NULL, answers, &error),
              "expected 'numBudgets' from 0 to 2147483647, but got -2");
  CHECK_ERROR(rematSolveAll(NULL, budgets, 1, NULL, answers, &error), "'problem' is null");

  RematAnswer *front[4];
  memset(front, 1, sizeof(front));
  CHECK_ERROR(rematSolveFront(problem, 2, budgets, 2, NULL, front, &error),
              "expected 'budget' from 0 to 9223372036854775807, but got -10");
  CHECK(!front[0] && !front[1] && !front[2] && !front[3]);
  CHECK_ERROR(rematSolveFront(problem, 1, budgets, 1, NULL, front, &error),
              "expected 'numPoints' from 2 to 100000, but got 1");
  CHECK_ERROR(rematSolveFront(problem, INT64_MIN, budgets, 1, NULL, front, &error),
              "expected 'numPoints' from 2 to 100000, but got -9223372036854775808");
  CHECK_ERROR(rematSolveFront(problem, REMAT_MAX_POINTS + 1, budgets, 1, NULL, front, &error),
              "expected 'numPoints' from 2 to 100000, but got 100001");
  CHECK_ERROR(rematSolveFront(problem, 2, budgets, -1, NULL, front, &error),
              "expected 'numBudgets' from 0 to 2147483647, but got -1");
  CHECK_ERROR(rematSolveFront(problem, 2, budgets, INT64_MAX, NULL, front, &error),
              "expected 'numBudgets' from 0 to 2147483647, but got 9223372036854775807");
  CHECK_ERROR(rematSolveFront(problem, 2, NULL, 2, NULL, front, &error),
              "'budgets' is null, but 'numBudgets' is 2");
  CHECK_ERROR(rematSolveFront(problem, 2, NULL, 0, NULL, NULL, &error), "'answers' is null");
  CHECK_ERROR(rematSolveFront(NULL, 2, NULL, 0, NULL, front, &error), "'problem' is null");
  RematSolveOptions exact = liveOptions();
  exact.solver = RematSolverExact;
  RematProblem *large = createLadder(65);
  CHECK_ERROR(rematSolveFront(large, 2, NULL, 0, &exact, front, &error),
              "the exact solver takes up to 128 operations and values, but there are 131 and 130");
  CHECK(!front[0] && !front[1]);
  rematProblemDestroy(large);

  RematAnswerInfo info = {.structSize = sizeof(info)};
  CHECK_ERROR(rematAnswerGetInfo(NULL, &info, &error), "'answer' is null");
  RematAnswer *answer = rematSolve(problem, 40, NULL, &error);
  CHECK_ERROR(rematAnswerGetInfo(answer, NULL, &error), "'info' is null");
  rematAnswerDestroy(answer);
  rematAnswerDestroy(NULL);
  CHECK(!rematAnswerGetPlan(NULL) && !rematAnswerGetSimulation(NULL));
  rematProblemDestroy(problem);
}

/// Options that change the answer.
static void testOptions(void) {
  RematProblem *problem = createLadder(16);
  RematSolveOptions options = liveOptions();
  CHECK(options.structSize == sizeof(options) && options.solver == RematSolverAuto);
  CHECK(options.reorder == 1 && options.minBytes == 0 && options.numSeeds == 2);
  CHECK(options.numIterations == 0 && options.numThreads == 1 && options.timeLimitSeconds == 0);
  CHECK(!options.onProgress && !options.userData && options.effort == 0);
  // Nothing is large enough to be dropped.
  options.minBytes = 11;
  RematAnswer *answer = rematSolve(problem, 85, &options, &error);
  CHECK(getInfo(answer).status == RematStatusNotFound && getInfo(answer).livePeakBytes == 170);
  rematAnswerDestroy(answer);
  options.minBytes = 10;
  options.reorder = 0;
  options.solver = RematSolverGreedy;
  answer = rematSolve(problem, 85, &options, &error);
  CHECK(getInfo(answer).livePeakBytes <= 85);
  // Every original is where it was.
  RematPlanArrays plan = getPlan(rematAnswerGetPlan(answer));
  int64_t next = 0;
  for (int64_t step = 0; step < plan.numSteps; ++step)
    if (!plan.isClone[step])
      CHECK(plan.operations[step] == next++);
  rematAnswerDestroy(answer);
  rematProblemDestroy(problem);
}

/// Of a callback, and what it returns.
typedef struct Calls {
  int64_t count, numIterations;
  bool isSane, goesOn;
} Calls;

static bool watch(const RematProgress *progress, void *userData) {
  Calls *calls = userData;
  ++calls->count;
  calls->numIterations = progress->numIterations;
  calls->isSane &= progress->iteration >= 0 && progress->iteration <= progress->numIterations &&
                   progress->addedCost >= -1;
  return calls->goesOn;
}

/// Solves by local search, watched by `calls`.
static RematAnswerInfo anneal(const RematProblem *problem, int64_t budget, int64_t effort,
                              int64_t numIterations, Calls *calls) {
  RematSolveOptions options = liveOptions();
  calls->count = 0;
  calls->isSane = true;
  options.solver = RematSolverAnneal;
  options.effort = effort;
  options.numIterations = numIterations;
  options.onProgress = watch;
  options.userData = calls;
  RematAnswer *answer = rematSolve(problem, budget, &options, &error);
  CHECK(rematPlanVerify(problem, rematAnswerGetPlan(answer), &error));
  RematAnswerInfo info = getInfo(answer);
  CHECK(info.status == RematStatusFeasible || info.status == RematStatusOptimal);
  CHECK(info.livePeakBytes <= budget && calls->isSane);
  rematAnswerDestroy(answer);
  return info;
}

static void testProgress(void) {
  RematProblem *problem = createLadder(400);
  // Each of the two runs ends at its first call; what was found is an answer.
  Calls calls = {.goesOn = false};
  CHECK(anneal(problem, 800, 1, INT64_C(1) << 40, &calls).status == RematStatusFeasible);
  CHECK(calls.count == 2);
  // Watching does not end it.
  calls.goesOn = true;
  anneal(problem, 800, 1, 2000, &calls);
  CHECK(calls.count > 4 && calls.numIterations == 2000);
  rematProblemDestroy(problem);
}

static void testEffort(void) {
  RematProblem *problem = createLadder(40);
  Calls calls = {.goesOn = true};
  RematAnswerInfo none = anneal(problem, 120, REMAT_EFFORT_NONE, 0, &calls);
  CHECK(calls.count == 0);
  RematAnswerInfo little = anneal(problem, 120, 1, 1000, &calls);
  CHECK(calls.count > 0 && little.addedCost < none.addedCost);
  // Each step is four times the work; 0 stands for 2.
  calls.goesOn = false;
  anneal(problem, 120, 1, 0, &calls);
  int64_t numIterations = calls.numIterations;
  anneal(problem, 120, 2, 0, &calls);
  CHECK(calls.numIterations == 4 * numIterations);
  anneal(problem, 120, 0, 0, &calls);
  CHECK(calls.numIterations == 4 * numIterations);
  rematProblemDestroy(problem);
}

//===----------------------------------------------------------------------===//
// Structs that grow, packing, limits
//===----------------------------------------------------------------------===//

/// What a later version of the header may declare.
typedef struct LaterOptions {
  RematSolveOptions options;
  int64_t later[2];
} LaterOptions;

typedef struct LaterInfo {
  RematAnswerInfo info;
  int64_t later;
} LaterInfo;

static void testGrowth(void) {
  RematProblem *problem = createLadder(4);
  LaterOptions later;
  memset(&later, 1, sizeof(later));
  CHECK(rematSolveOptionsInit(&later.options, sizeof(later), &error));
  CHECK(later.options.structSize == sizeof(later) && later.options.numSeeds == 2);
  CHECK(later.later[0] == 0 && later.later[1] == 0);
  RematAnswer *answer = rematSolve(problem, 40, &later.options, &error);
  CHECK(answer);
  later.later[1] = 1;
  CHECK_NULL(rematSolve(problem, 40, &later.options, &error),
             "'options' sets a field that this version of the library does not have");

  // Callers from before the last fields.
  RematSolveOptions earlier = liveOptions();
  earlier.structSize = offsetof(RematSolveOptions, effort);
  earlier.effort = 99;
  RematAnswer *same = rematSolve(problem, 40, &earlier, &error);
  RematAnswerInfo earlierInfo = {.structSize = offsetof(RematAnswerInfo, minimumKnownBytes),
                                 .minimumKnownBytes = 99};
  CHECK(rematAnswerGetInfo(same, &earlierInfo, &error));
  CHECK(earlierInfo.cost >= 8 && earlierInfo.minimumKnownBytes == 99);
  rematAnswerDestroy(same);

  LaterInfo info = {.info.structSize = sizeof(info), .later = 5};
  CHECK(rematAnswerGetInfo(answer, &info.info, &error));
  CHECK(info.info.structSize == sizeof(info) && info.later == 0 && info.info.cost >= 8);

  // Sizes that no version has.
  RematAnswerInfo wrong = {.structSize = 0, .cost = 77};
  CHECK(!rematAnswerGetInfo(answer, &wrong, &error) && wrong.cost == 77);
  CHECK(error && strstr(error, "expected 'structSize' of 'info' to be the size of the struct, at "
                               "least "));
  rematStringFree(error);
  wrong.structSize = SIZE_MAX;
  CHECK(!rematAnswerGetInfo(answer, &wrong, &error) && wrong.cost == 77);
  rematStringFree(error);
  RematProblemArrays arrays = {.structSize = 8};
  CHECK(!rematProblemCreate(&arrays, &error));
  CHECK(error && strstr(error, "but got ") && (size_t)atoll(strstr(error, "but got ") + 8) == 8);
  rematStringFree(error);
  error = NULL;
  rematAnswerDestroy(answer);
  rematProblemDestroy(problem);
}

static void testPacking(void) {
  // Two that are live together, one that takes the place of the first, an empty one.
  const RematBuffer buffers[] = {{0, 2, 60}, {1, 4, 100}, {2, 4, 50}, {0, 9, 0}};
  int64_t offsets[4], arena;
  CHECK(rematPackBuffers(buffers, 4, 64, 0, offsets, &arena, &error));
  CHECK(arena == 192 && offsets[0] == offsets[2] && offsets[3] == 0);
  CHECK(offsets[0] % 64 == 0 && offsets[1] % 64 == 0);
  CHECK(rematVerifyPacking(buffers, 4, 64, offsets, arena, &error));
  CHECK(rematPackBuffers(buffers, 4, 1, REMAT_MAX_PACKING_VISITS, offsets, &arena, &error));
  CHECK(arena == 160 && rematVerifyPacking(buffers, 4, 1, offsets, arena, &error));
  // Times may be anything.
  const RematBuffer wide[] = {{INT64_MIN, INT64_MAX, 1}, {INT64_MAX - 1, INT64_MAX, 2}};
  CHECK(rematPackBuffers(wide, 2, 1, 1, offsets, &arena, &error) && arena == 3);
  CHECK(rematPackBuffers(NULL, 0, 1, 0, NULL, &arena, &error) && arena == 0);
  CHECK(rematVerifyPacking(NULL, 0, 1, NULL, 0, &error));

  const int64_t together[] = {0, 32, 0, 0};
  CHECK_ERROR(rematVerifyPacking(buffers, 4, 1, together, 200, &error),
              "buffers 0 and 1 overlap at offset 32");
  CHECK_ERROR(rematVerifyPacking(buffers, 4, 1, together, 131, &error),
              "buffer 1 of 100 bytes at offset 32 exceeds the arena of 131 bytes");
  const int64_t odd[] = {0, 61, 0, 0};
  CHECK_ERROR(rematVerifyPacking(buffers, 4, 4, odd, 200, &error),
              "buffer 1 is at offset 61, which is not a multiple of 4 bytes");
  CHECK_ERROR(rematVerifyPacking(buffers, 4, 1, NULL, 200, &error),
              "'offsets' is null, but 'numBuffers' is 4");
  CHECK_ERROR(rematVerifyPacking(buffers, 4, 1, together, INT64_MIN, &error),
              "the arena of -9223372036854775808 bytes is not a multiple of 1 bytes");

  CHECK_ERROR(rematPackBuffers(NULL, 4, 1, 0, offsets, &arena, &error),
              "'buffers' is null, but 'numBuffers' is 4");
  CHECK_ERROR(rematPackBuffers(buffers, -4, 1, 0, offsets, &arena, &error),
              "expected 'numBuffers' from 0 to 2147483647, but got -4");
  CHECK_ERROR(rematPackBuffers(buffers, 4, 0, 0, offsets, &arena, &error),
              "expected an alignment that is a power of two up to 1073741824, but got 0");
  CHECK_ERROR(rematPackBuffers(buffers, 4, 1, -1, offsets, &arena, &error),
              "expected 'maxVisits' from 0 to 1152921504606846976, but got -1");
  CHECK_ERROR(rematPackBuffers(buffers, 4, 1, 0, NULL, &arena, &error),
              "'offsets' is null, but 'numBuffers' is 4");
  CHECK_ERROR(rematPackBuffers(buffers, 4, 1, 0, offsets, NULL, &error), "'arenaBytes' is null");
  const RematBuffer empty = {3, 3, 10}, negative = {0, 1, -10};
  const RematBuffer large[] = {{0, 1, REMAT_MAX_PROBLEM_SUM}, {0, 1, 1}, {0, 1, INT64_MAX}};
  CHECK_ERROR(rematPackBuffers(&empty, 1, 1, 0, offsets, &arena, &error),
              "buffer 0 is live from 3 to 3, which is no range");
  CHECK_ERROR(rematPackBuffers(&negative, 1, 1, 0, offsets, &arena, &error),
              "buffer 0 has a negative size of -10 bytes");
  CHECK(rematPackBuffers(large, 1, REMAT_MAX_ALIGNMENT, 0, offsets, &arena, &error) &&
        arena == REMAT_MAX_PROBLEM_SUM);
  CHECK_ERROR(rematPackBuffers(large, 2, 1, 0, offsets, &arena, &error),
              "buffer 1 brings the sum of all aligned bytes above 72057594037927936");
  CHECK_ERROR(rematPackBuffers(large + 2, 1, 1, 0, offsets, &arena, &error),
              "buffer 0 brings the sum of all aligned bytes above 72057594037927936");
}

static void *solveInThread(void *problem) {
  char *message;
  RematAnswer *answer = rematSolve(problem, 90, NULL, &message);
  char *text = rematPlanToJSON(rematAnswerGetPlan(answer), &message);
  rematAnswerDestroy(answer);
  return text;
}

/// Several threads use one problem.
static void testThreads(void) {
  RematProblem *problem = createLadder(16);
  pthread_t threads[4];
  char *expected = solveInThread(problem);
  CHECK(expected);
  for (int64_t index = 0; index < COUNT(threads); ++index)
    CHECK(pthread_create(&threads[index], NULL, solveInThread, problem) == 0);
  for (int64_t index = 0; index < COUNT(threads); ++index) {
    void *text = NULL;
    CHECK(pthread_join(threads[index], &text) == 0);
    CHECK(text && strcmp(text, expected) == 0);
    rematStringFree(text);
  }
  rematStringFree(expected);
  rematProblemDestroy(problem);
}

/// A gigabyte of address space does not hold 16 million values.
static void testMemory(void) {
  int64_t numValues = INT64_C(1) << 24;
  int64_t *bytes = calloc((size_t)numValues, sizeof(int64_t));
  RematProblemArrays arrays = {
      .structSize = sizeof(arrays), .numValues = numValues, .bytes = bytes};
  struct rlimit before, small;
  CHECK(getrlimit(RLIMIT_AS, &before) == 0);
  small = before;
  small.rlim_cur = 1 << 30;
  CHECK(setrlimit(RLIMIT_AS, &small) == 0);
  CHECK_NULL(rematProblemCreate(&arrays, &error), "out of memory");
  CHECK(setrlimit(RLIMIT_AS, &before) == 0);
  free(bytes);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static int runTests(void) {
  testVersion();
  testProblem();
  testDefaults();
  testProblemErrors();
  testPlan();
  testPlanErrors();
  testSimulation();
  testNames();
  testSolve();
  testSolveForCost();
  testSolveAll();
  testSolveFront();
  testSolveFrontNulls();
  testSolveErrors();
  testOptions();
  testProgress();
  testEffort();
  testGrowth();
  testPacking();
  testThreads();
  // AddressSanitizer needs address space without limits.
  if (!REMAT_SANITIZERS)
    testMemory();
  printf("%d checks, %d failures\n", numChecks, numFailures);
  return numFailures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int fail(void) {
  fprintf(stderr, "error: %s\n", error ? error : "bad usage");
  return EXIT_FAILURE;
}

/// All of a file; to be freed.
static char *readFile(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *text = malloc(1 << 20);
  *length = file && text ? fread(text, 1, 1 << 20, file) : 0;
  if (file)
    fclose(file);
  return text;
}

static RematProblem *readProblem(const char *path) {
  size_t length;
  char *text = readFile(path, &length);
  RematProblem *problem = rematProblemParse(text, length, &error);
  free(text);
  return problem;
}

static int printLadder(const char *numRungs) {
  RematProblem *problem = createLadder(atoll(numRungs));
  char *text = rematProblemToJSON(problem, &error);
  if (!text)
    return fail();
  puts(text);
  rematStringFree(text);
  rematProblemDestroy(problem);
  return EXIT_SUCCESS;
}

static int solveFile(const char *problemPath, const char *budget, const char *planPath) {
  RematProblem *problem = readProblem(problemPath);
  RematSolveOptions options = liveOptions();
  RematAnswer *answer = problem ? rematSolve(problem, atoll(budget), &options, &error) : NULL;
  char *text = answer ? rematPlanToJSON(rematAnswerGetPlan(answer), &error) : NULL;
  FILE *file = fopen(planPath, "w");
  if (!text || !file)
    return fail();
  fputs(text, file);
  fclose(file);
  RematAnswerInfo info = getInfo(answer);
  double original = (double)(info.cost - info.addedCost);
  printf("status       %s\n", rematStatusGetName(info.status));
  printf("peak         %" PRId64 " B\n", info.livePeakBytes);
  printf("added cost   %" PRId64 " (%.4f %%)\n", info.addedCost, 100 * info.addedCost / original);
  rematStringFree(text);
  rematAnswerDestroy(answer);
  rematProblemDestroy(problem);
  return EXIT_SUCCESS;
}

static int verifyFiles(const char *problemPath, const char *planPath) {
  RematProblem *problem = readProblem(problemPath);
  size_t length;
  char *text = readFile(planPath, &length);
  RematPlan *plan = problem ? rematPlanParse(problem, text, length, &error) : NULL;
  RematSimulation *simulation = plan ? rematPlanSimulate(plan, &error) : NULL;
  if (!simulation)
    return fail();
  RematSimulationArrays got = getSimulation(simulation);
  double original = (double)(got.cost - got.addedCost);
  printf("valid: live peak %" PRId64 " B, packed peak %" PRId64 " B, added cost %" PRId64
         " (%.4f %%)\n",
         got.livePeakBytes, got.packedPeakBytes, got.addedCost, 100 * got.addedCost / original);
  free(text);
  rematSimulationDestroy(simulation);
  rematPlanDestroy(plan);
  rematProblemDestroy(problem);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  if (argc == 1)
    return runTests();
  if (argc == 3 && strcmp(argv[1], "ladder") == 0)
    return printLadder(argv[2]);
  if (argc == 5 && strcmp(argv[1], "solve") == 0)
    return solveFile(argv[2], argv[3], argv[4]);
  if (argc == 4 && strcmp(argv[1], "verify") == 0)
    return verifyFiles(argv[2], argv[3]);
  return fail();
}
