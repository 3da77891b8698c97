//===- step-example.c - A training step from C ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program of docs/step-c-api.md. It takes `cpu`, `emulator` or `gpu`, and perhaps a budget.
//
//===----------------------------------------------------------------------===//

#include "Remat-c/Step.h"
#include <stdio.h>
#include <string.h>

// The loss is the sum of (w - x) * (w - x); a quarter of w - x is taken from w.
static const char step[] =
    "func.func @step(%w: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {\n"
    "  %zero = arith.constant 0.0 : f32\n"
    "  %rate = arith.constant dense<0.25> : tensor<4xf32>\n"
    "  %vector = tensor.empty() : tensor<4xf32>\n"
    "  %scalar = tensor.empty() : tensor<f32>\n"
    "  %start = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>\n"
    "  %d = linalg.sub ins(%w, %x : tensor<4xf32>, tensor<4xf32>)\n"
    "      outs(%vector : tensor<4xf32>) -> tensor<4xf32>\n"
    "  %loss = linalg.dot ins(%d, %d : tensor<4xf32>, tensor<4xf32>)\n"
    "      outs(%start : tensor<f32>) -> tensor<f32>\n"
    "  %change = linalg.mul ins(%d, %rate : tensor<4xf32>, tensor<4xf32>)\n"
    "      outs(%vector : tensor<4xf32>) -> tensor<4xf32>\n"
    "  %new = linalg.sub ins(%w, %change : tensor<4xf32>, tensor<4xf32>)\n"
    "      outs(%vector : tensor<4xf32>) -> tensor<4xf32>\n"
    "  return %loss, %new : tensor<f32>, tensor<4xf32>\n"
    "}\n";

static int fail(char *error) {
  fprintf(stderr, "error: %s\n", error ? error : "out of memory");
  rematStringFree(error);
  return 1;
}

int main(int argc, char **argv) {
  RematStepOptions options = {.structSize = sizeof(options)};
  if (argc > 1 && strcmp(argv[1], "emulator") == 0)
    options.device = RematDeviceEmulator;
  if (argc > 1 && strcmp(argv[1], "gpu") == 0)
    options.device = RematDeviceGPU;
  options.budget = argc > 2 ? argv[2] : NULL;
  options.format = argc > 3 ? argv[3] : NULL;

  char *error;
  RematStep *compiled = rematStepCompile(step, strlen(step), &options, &error);
  if (!compiled)
    return fail(error);
  RematStepRun *run = rematStepRunCreate(compiled, NULL, &error);
  if (!run)
    return fail(error);

  float loss, w[4] = {0, 0, 0, 0};
  const float x[4] = {1, 2, 3, 4};
  if (!rematStepRunSetArgument(run, 1, x, sizeof(x), &error))
    return fail(error);
  for (int i = 0; i < 4; ++i) {
    if (!rematStepRunSetArgument(run, 0, w, sizeof(w), &error) ||
        !rematStepRunExecute(run, &error) ||
        !rematStepRunGetResult(run, 0, &loss, sizeof(loss), &error) ||
        !rematStepRunGetResult(run, 1, w, sizeof(w), &error))
      return fail(error);
    printf("loss %g, w %g %g %g %g\n", loss, w[0], w[1], w[2], w[3]);
  }
  rematStepRunDestroy(run);
  rematStepDestroy(compiled);
  return 0;
}
