//===- RematPlainAnnealer.cpp - The plain annealer on a file ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For benchmarks: runs the slow twin of the local search on a problem in the
// planner's own form, and prints the peak in bytes and the added cost of what it
// found. Exit code 0: met; 2: nothing found; 1: bad input.
//
//===----------------------------------------------------------------------===//

#include "PlainAnnealer.h"
#include "Remat/Planner/PlanFamily.h"
#include "Remat/Planner/Serialization.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace mlir::remat::planner;

static constexpr int kNothingFound = 2;

static cl::opt<std::string> path(cl::Positional, cl::Required, cl::desc("FILE"));
static cl::opt<int64_t> budget("budget", cl::Required, cl::value_desc("bytes"),
                               cl::desc("Peak that must not be exceeded"));
static cl::opt<bool> packed("packed", cl::desc("Compare the budget with the packed peak"));
static cl::opt<bool> inOrder("in-order", cl::desc("Leave every operation at its place"));
static cl::opt<double> seconds("seconds", cl::init(0), cl::desc("End the search then"));
static cl::opt<int64_t> numIterations("iterations", cl::init(10'000),
                                      cl::desc("Changes that are tried, without --seconds"));
static cl::opt<uint64_t> seed("seed", cl::init(1), cl::desc("Seed of the search"));

static Expected<int> run() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path, true);
  if (!buffer)
    return createStringError("cannot read '" + path + "': " + buffer.getError().message());
  Expected<Problem> problem = parseProblem((*buffer)->getBuffer());
  if (!problem)
    return problem.takeError();
  if (!(seconds >= 0) || numIterations < 0)
    return createStringError("expected '--seconds' and '--iterations' to be at least 0");
  std::optional<Plan> plan = test::annealPlainly(
      *problem, {budget, packed, /*reorder=*/!inOrder, seed, numIterations, seconds});
  if (!plan) {
    outs() << "nothing found\n";
    return kNothingFound;
  }
  Solution solution = evaluate(*problem, std::move(*plan));
  outs() << formatv("peak {0} B, added cost {1}\n",
                    packed ? solution.packing.packedBytes : solution.simulation.livePeak,
                    addedCost(*problem, solution.plan));
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Anneals a planning problem in a plain, slow way\n");
  Expected<int> result = run();
  if (result)
    return *result;
  WithColor::error(errs(), "RematPlainAnnealer") << toString(result.takeError()) << '\n';
  return EXIT_FAILURE;
}
