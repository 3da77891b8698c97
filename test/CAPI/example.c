//===- example.c - A problem, a budget, a plan ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of docs/planner-c-api.md.
//
//===----------------------------------------------------------------------===//

#include "Remat-c/Planner.h"
#include <inttypes.h>
#include <stdio.h>

// A layer computes h, which is expanded and reduced to z; the backward operation reads h again.
enum { x, h, y, z, g, numValues };
static const int64_t bytes[numValues] = {100, 400, 1000, 8, 400};
static const char *const valueNames[numValues] = {"x", "h", "y", "z", "g"};

enum { dense, expand, reduce, backward, ret, numOperations };
static const char *const operationNames[numOperations] = {"dense", "expand", "reduce", "backward",
                                                          "return"};
static const int64_t costs[numOperations] = {50, 80, 10, 60, 0};
static const RematEffect effects[numOperations] = {[ret] = RematEffectPinned};
static const int64_t workspaces[numOperations] = {[reduce] = 400};
// What each operation reads and writes, one list after the other, and where the lists begin.
static const int64_t reads[] = {x, h, y, z, h, g};
static const int64_t readBegins[numOperations + 1] = {0, 1, 2, 3, 5, 6};
static const int64_t writes[] = {h, y, z, g};
static const int64_t writeBegins[numOperations + 1] = {0, 1, 2, 3, 4, 4};

static int fail(char *error) {
  fprintf(stderr, "error: %s\n", error ? error : "out of memory");
  rematStringFree(error);
  return 1;
}

int main(void) {
  RematProblemArrays arrays = {.structSize = sizeof(arrays),
                               .numOperations = numOperations,
                               .costs = costs,
                               .workspaces = workspaces,
                               .effects = effects,
                               .operationNames = operationNames,
                               .numReads = 6,
                               .readBegins = readBegins,
                               .reads = reads,
                               .numWrites = 4,
                               .writeBegins = writeBegins,
                               .writes = writes,
                               .numValues = numValues,
                               .bytes = bytes,
                               .valueNames = valueNames,
                               .alignment = 4};
  char *error;
  RematProblem *problem = rematProblemCreate(&arrays, &error);
  if (!problem)
    return fail(error);

  RematAnswer *answer = rematSolve(problem, /*budget=*/1600, /*options=*/NULL, &error);
  rematProblemDestroy(problem);
  if (!answer)
    return fail(error);
  RematAnswerInfo info = {.structSize = sizeof(info)};
  if (!rematAnswerGetInfo(answer, &info, &error))
    return fail(error);
  bool fits = info.status == RematStatusOptimal || info.status == RematStatusFeasible;
  printf("%s: %" PRId64 " bytes, %" PRId64 " ps more\n", fits ? "fits" : "does not fit",
         info.packedPeakBytes, info.addedCost);

  char *text = rematPlanToText(rematAnswerGetPlan(answer), &error);
  if (!text)
    return fail(error);
  printf("\n%s", text);
  rematStringFree(text);
  rematAnswerDestroy(answer);
  return 0;
}
