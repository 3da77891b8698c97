//===- step-test.c - Every function of Remat-c/Step.h -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat-c/Step.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/// A call failed, with a message that has this in it.
static void checkErrorAt(int line, bool succeeded, const char *expected) {
  ++numChecks;
  if (succeeded || !error || !strstr(error, expected)) {
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
#define CHECK_NULL(call, message) checkErrorAt(__LINE__, (call) != NULL, message)

// exp(x) is needed again at the end.
static const char module[] =
    "func.func @step(%x: tensor<64xf32>, %n: tensor<2x3xi32>) -> (tensor<64xf32>, tensor<2x3xi32>) "
    "{\n"
    "  %e = tensor.empty() : tensor<64xf32>\n"
    "  %0 = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>\n"
    "  %1 = linalg.negf ins(%0 : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>\n"
    "  %2 = linalg.mul ins(%0, %1 : tensor<64xf32>, tensor<64xf32>)\n"
    "      outs(%e : tensor<64xf32>) -> tensor<64xf32>\n"
    "  return %2, %n : tensor<64xf32>, tensor<2x3xi32>\n"
    "}\n";

static RematStepOptions makeOptions(void) {
  RematStepOptions options;
  memset(&options, 0, sizeof(options));
  options.structSize = sizeof(options);
  return options;
}

static RematStep *compile(const char *text, const RematStepOptions *options) {
  return rematStepCompile(text, text ? strlen(text) : 0, options, &error);
}

static void testCompileErrors(void) {
  RematStepOptions options = makeOptions();
  CHECK_NULL(compile(NULL, &options), "'text' is null");
  CHECK_NULL(compile(module, NULL), "'options' is null");
  options.structSize = 4;
  CHECK_NULL(compile(module, &options), "expected 'structSize' of 'options'");
  options = makeOptions();
  options.device = 3;
  CHECK_NULL(compile(module, &options), "expected 'device' from 0 to 2, but got 3");
  options = makeOptions();
  options.donate = 2;
  CHECK_NULL(compile(module, &options),
             "expected 'donate' and 'tf32' to be 0 or 1, but got 2 and 0");
  options = makeOptions();
  options.effort = 11;
  CHECK_NULL(compile(module, &options), "expected 'effort' from 0 to 10, but got 11");
  options = makeOptions();
  options.numThreads = -1;
  CHECK_NULL(compile(module, &options), "expected 'numThreads' from 0 to 1024, but got -1");
  options = makeOptions();
  options.device = RematDeviceEmulator;
  options.format = "bin";
  CHECK_NULL(compile(module, &options),
             "expected 'format' to be llvm for the emulator, but got 'bin'");
  options = makeOptions();
  options.budget = "4 parsecs";
  CHECK_NULL(compile(module, &options), "4 parsecs");
  options = makeOptions();
  options.budget = "10B";
  CHECK_NULL(compile(module, &options), "does not fit into the budget of 10 bytes");
  options = makeOptions();
  options.function = "other";
  CHECK_NULL(compile(module, &options), "there is no function 'other'");
  options = makeOptions();
  options.target = "abacus";
  CHECK_NULL(compile(module, &options), "abacus");
  options = makeOptions();
  CHECK_NULL(compile("func.func @step(", &options), "step:1:");
  CHECK_NULL(
      compile("func.func @step(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }",
              &options),
      "values of type tensor<?xf32> cannot be passed");
  // Without a place for the message.
  CHECK(!rematStepCompile(module, 3, &options, NULL));
}

static void testStep(void) {
  CHECK(strchr(rematStepGetVersion(), '.') != NULL);
  RematStepOptions options = makeOptions();
  options.budget = "100%";
  RematStep *step = compile(module, &options);
  CHECK(step != NULL);
  if (!step)
    return;
  CHECK(rematStepGetNumArguments(step) == 2 && rematStepGetNumResults(step) == 2);
  RematTensorInfo info;
  memset(&info, 0, sizeof(info));
  CHECK_ERROR(rematStepGetArgument(step, 0, &info, &error), "expected 'structSize' of 'info'");
  info.structSize = sizeof(info);
  CHECK(rematStepGetArgument(step, 1, &info, &error));
  CHECK(strcmp(info.element, "i32") == 0 && info.rank == 2 && info.sizes[0] == 2 &&
        info.sizes[1] == 3 && info.bytes == 24);
  CHECK(rematStepGetResult(step, 0, &info, &error) && info.rank == 1 && info.bytes == 256);
  CHECK_ERROR(rematStepGetResult(step, 2, &info, &error),
              "there are 2 results, but got the index 2");
  CHECK_ERROR(rematStepGetArgument(step, -1, &info, &error),
              "there are 2 arguments, but got the index -1");
  CHECK_ERROR(rematStepGetArgument(NULL, 0, &info, &error), "'step' is null");
  CHECK_ERROR(rematStepGetArgument(step, 0, NULL, &error), "'info' is null");
  CHECK(strstr(rematStepGetReport(step), "\"arena_bytes\":") != NULL);
  CHECK(strstr(rematStepGetReport(step), "\"device\":\"cpu\"") != NULL);
  size_t bytes = 1;
  CHECK(rematStepGetDeviceCode(step, &bytes) == NULL && bytes == 0);

  RematStepRun *run = rematStepRunCreate(step, NULL, &error);
  CHECK(run != NULL);
  CHECK_NULL(rematStepRunCreate(NULL, NULL, &error), "'step' is null");
  CHECK_NULL(rematStepRunCreate(step, "/nowhere/libNothing.so", &error), "libNothing.so");
  // The run does not need it.
  rematStepDestroy(step);
  float x[64], y[64];
  int n[6] = {1, 2, 3, 4, 5, 6}, m[6];
  for (int i = 0; i < 64; ++i)
    x[i] = 0;
  CHECK_ERROR(rematStepRunExecute(run, &error), "argument 0 is not set");
  CHECK_ERROR(rematStepRunGetResult(run, 0, y, sizeof(y), &error), "there are no results");
  CHECK_ERROR(rematStepRunSetArgument(run, 0, x, 4, &error), "expected 256 bytes, but got 4");
  CHECK_ERROR(rematStepRunSetArgument(run, 0, NULL, sizeof(x), &error), "'data' is null");
  CHECK_ERROR(rematStepRunSetArgument(run, 2, x, sizeof(x), &error), "there are 2 arguments");
  CHECK_ERROR(rematStepRunSetArgument(NULL, 0, x, sizeof(x), &error), "'run' is null");
  CHECK(rematStepRunSetArgument(run, 0, x, sizeof(x), &error));
  CHECK(rematStepRunSetArgument(run, 1, n, sizeof(n), &error));
  CHECK(rematStepRunExecute(run, &error));
  CHECK(rematStepRunExecute(run, &error));
  CHECK(rematStepRunGetMilliseconds(run) > 0 && rematStepRunGetDeviceBytes(run) == 0);
  CHECK(rematStepRunGetResult(run, 0, y, sizeof(y), &error) && y[0] == -1 && y[63] == -1);
  CHECK(rematStepRunGetResult(run, 1, m, sizeof(m), &error) && memcmp(m, n, sizeof(n)) == 0);
  CHECK_ERROR(rematStepRunGetResult(run, 1, m, 4, &error), "expected 24 bytes, but got 4");
  CHECK_ERROR(rematStepRunGetResult(run, 5, m, 4, &error), "there are 2 results");
  CHECK_ERROR(rematStepRunGetResult(NULL, 0, m, 4, &error), "'run' is null");
  CHECK_ERROR(rematStepRunExecute(NULL, &error), "'run' is null");
  rematStepRunDestroy(run);
}

/// A donated argument may be overwritten, and is to be set again.
static void testDonation(void) {
  static const char text[] =
      "func.func @step(%x: tensor<64xf32> {remat.donated}) -> tensor<64xf32> {\n"
      "  %0 = linalg.negf ins(%x : tensor<64xf32>) outs(%x : tensor<64xf32>) -> tensor<64xf32>\n"
      "  return %0 : tensor<64xf32>\n"
      "}\n";
  RematStepOptions options = makeOptions();
  RematStep *step = compile(text, &options);
  CHECK(step != NULL);
  RematStepRun *run = step ? rematStepRunCreate(step, NULL, &error) : NULL;
  CHECK(run != NULL);
  if (!run)
    return;
  float x[64];
  for (int i = 0; i < 64; ++i)
    x[i] = (float)i;
  CHECK(rematStepRunSetArgument(run, 0, x, sizeof(x), &error));
  CHECK(rematStepRunExecute(run, &error));
  CHECK(rematStepRunGetResult(run, 0, x, sizeof(x), &error) && x[63] == -63);
  CHECK_ERROR(rematStepRunExecute(run, &error), "argument 0 is not set");
  rematStepRunDestroy(run);
  rematStepDestroy(step);
}

int main(void) {
  testCompileErrors();
  testStep();
  testDonation();
  // Nothing happens.
  rematStepDestroy(NULL);
  rematStepRunDestroy(NULL);
  rematStringFree(NULL);
  printf("%d checks, %d failures\n", numChecks, numFailures);
  return numFailures != 0;
}
