//===- RematFuzz.cpp - Random modules against the contract ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   RematFuzz --seed=N --cases=N [--max-ops=N] [--fusion=none|xla] [--only=CASE] [--print]
//   RematFuzz --execute --seed=N --cases=N [--only=CASE] [--print]
//   RematFuzz --parsers --seed=N --cases=N
//
// Ends with a line of figures; fails at the first case that breaks a promise,
// and shows it. A case depends on the seed and its number only.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Execute.h"
#include "Generator.h"
#include "Parsers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir::remat::fuzz;

static cl::OptionCategory category("Fuzzer");
static cl::opt<uint64_t> seed("seed", cl::init(1), cl::cat(category), cl::desc("First of all"));
static cl::opt<int64_t> numCases("cases", cl::init(100), cl::cat(category),
                                 cl::desc("How many modules"));
static cl::opt<int64_t> maxOps("max-ops", cl::init(60), cl::cat(category),
                               cl::desc("Operations of a module, about"));
static cl::opt<int64_t> only("only", cl::init(-1), cl::cat(category), cl::desc("One case alone"));
static cl::opt<std::string> fusion("fusion", cl::init("any"), cl::cat(category),
                                   cl::desc("Who decides what gets memory: none, xla, or any"));
static cl::opt<std::string> onFile("file", cl::cat(category),
                                   cl::desc("Check the module of a file, with several options"));
static cl::opt<bool> printModules("print", cl::cat(category), cl::desc("Show each module"));
static cl::opt<bool> printModels("models", cl::cat(category),
                                 cl::desc("Show the models file of dialect 'fuzz', and stop"));
static cl::opt<bool> reduceFailure("reduce", cl::cat(category),
                                   cl::desc("Show a smaller module that fails, too"));
static cl::opt<bool> parsers("parsers", cl::cat(category),
                             cl::desc("Damaged texts for the parsers instead of modules"));
static cl::opt<bool> executes("execute", cl::cat(category),
                              cl::desc("Training steps that are compiled and executed"));
static cl::opt<bool> onEmulator("emulator", cl::cat(category),
                                cl::desc("Execute as code for a GPU, on the emulator"));
static cl::opt<int64_t> maxFailures("max-failures", cl::init(1), cl::cat(category),
                                    cl::desc("Stop after so many cases that fail"));
static cl::list<std::string> skip("skip", cl::CommaSeparated, cl::cat(category),
                                  cl::desc("Checks to leave out"));
static cl::opt<Break> broken(
    "break", cl::init(Break::Nothing), cl::cat(category),
    cl::desc("Switch a protection off, to see that it is noticed"),
    cl::values(clEnumValN(Break::Barrier, "barrier", "take the barriers out of the result"),
               clEnumValN(Break::Effects, "effects", "call operations with effects recomputable"),
               clEnumValN(Break::Alias, "alias", "call a copy a view"),
               clEnumValN(Break::Packing, "packing", "compare the live peak with the budget"),
               clEnumValN(Break::Meaning, "meaning", "swap two operands of a clone"),
               clEnumValN(Break::Overlap, "overlap", "--execute: move a buffer over another one"),
               clEnumValN(Break::Outside, "outside", "--execute: move a buffer behind the arena"),
               clEnumValN(Break::Argument, "argument", "--execute: write to an argument"),
               clEnumValN(Break::Copy, "copy", "--execute: leave a copy out")));

/// What all cases together did.
struct Totals {
  int64_t cases = 0, withClones = 0, fixpoints = 0, failures = 0;
  CaseResult sum;

  void add(const Case &input, const CaseResult &result) {
    ++cases;
    withClones += result.clones != 0;
    fixpoints += input.isFixpoint;
    failures += !result.failures.empty();
    sum.runs += result.runs;
    sum.met += result.met;
    sum.clones += result.clones;
    sum.refused += result.refused;
    sum.unchanged += result.unchanged;
    for (const auto &[name, count] : result.counters)
      sum.counters[name] += count;
  }

  void print() const {
    outs() << formatv(
        "seed {0}: {1} cases ({2} with clones, {3} at a fixpoint), {4} runs: {5} met, "
        "{6} of them with clones, {7} refused, {8} unchanged; {9} cases failed\n",
        seed.getValue(), cases, withClones, fixpoints, sum.runs, sum.met, sum.clones, sum.refused,
        sum.unchanged, failures);
    for (const auto &[name, count] : sum.counters)
      outs() << "  " << name << ": " << count << '\n';
  }
};

static void show(const Case &input, int64_t number) {
  outs() << formatv("// case {0} of seed {1}, {2}{3}\n{4}\n", number, seed.getValue(),
                    input.options.text(), input.isFixpoint ? ", at a fixpoint" : "", input.text);
}

/// Checks one case. Shows it if it fails.
static void runCase(Harness &harness, const Case &input, int64_t number, const StringSet<> &skipped,
                    Totals &totals) {
  if (printModules)
    show(input, number);
  CaseResult result = check(harness, input, broken, skipped);
  totals.add(input, result);
  if (result.failures.empty())
    return;
  outs() << formatv("case {0} failed\n", number);
  for (const Failure &failure : result.failures)
    outs() << "check '" << failure.check << "': " << failure.message << '\n';
  Case shown = input;
  if (reduceFailure)
    shown = reduce(harness, input, result.failures.front().check, broken, skipped);
  show(shown, number);
  if (reduceFailure)
    for (const Failure &failure : check(harness, shown, broken, skipped).failures)
      outs() << "reduced, check '" << failure.check << "': " << failure.message << '\n';
  outs().flush();
}

/// Of a case: one of four is for XLA if nothing is asked for.
static StringRef getFusion(int64_t number) {
  if (fusion != "any")
    return fusion;
  return number % 4 == 3 ? "xla" : "none";
}

static int runModules() {
  StringSet<> skipped;
  for (const std::string &name : skip)
    skipped.insert(name);
  Harness harness(broken == Break::Alias);
  Totals totals;
  int64_t first = only >= 0 ? only : 0, last = only >= 0 ? only + 1 : numCases;
  for (int64_t number = first; number < last && totals.failures < maxFailures; ++number) {
    PrettyStackTraceFormat trace("case %lld of seed %llu", (long long)number,
                                 (unsigned long long)seed);
    Random random(combine(seed, number));
    StringRef ofCase = getFusion(number);
    std::string text = generateModule(random, maxOps, ofCase == "xla");
    if (number % 64 == 0)
      harness.renewContexts();
    mlir::OwningOpRef<mlir::ModuleOp> module = harness.parse(text);
    if (!module) {
      errs() << "case " << number << " of seed " << seed << " is not a module:\n" << text;
      return EXIT_FAILURE;
    }
    Case input = makeCase(harness, *module, ofCase, random, broken);
    module = nullptr;
    runCase(harness, input, number, skipped, totals);
  }
  totals.print();
  if (totals.failures != 0)
    return EXIT_FAILURE;
  if (only < 0 && totals.cases >= 20 && totals.withClones * 2 < totals.cases) {
    outs() << "fewer than half of the cases recompute something: the fuzzer tests nothing\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

static int runFile() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(onFile);
  Harness harness(broken == Break::Alias);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      buffer ? harness.parse((*buffer)->getBuffer()) : nullptr;
  if (!module) {
    errs() << "'" << onFile << "' is not a module\n";
    return EXIT_FAILURE;
  }
  StringSet<> skipped;
  for (const std::string &name : skip)
    skipped.insert(name);
  Totals totals;
  std::string text = print(*module);
  for (int64_t number = 0; number < numCases && totals.failures < maxFailures; ++number) {
    Random random(combine(seed, number));
    Case input{text, PassOptions::any(random, getFusion(number)), random.next(), false};
    runCase(harness, input, number, skipped, totals);
  }
  totals.print();
  return totals.failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int runParsers() {
  Harness harness;
  int64_t accepted = 0, first = only >= 0 ? only : 0, last = only >= 0 ? only + 1 : numCases;
  for (int64_t number = first; number < last; ++number) {
    PrettyStackTraceFormat trace("text %lld of seed %llu", (long long)number,
                                 (unsigned long long)seed);
    if (std::optional<std::string> error = checkParsers(harness, combine(seed, number), accepted)) {
      outs() << formatv("case {0} of seed {1}: {2}\n", number, seed.getValue(), *error);
      return EXIT_FAILURE;
    }
  }
  outs() << formatv("seed {0}: {1} damaged texts, {2} accepted\n", seed.getValue(), last - first,
                    accepted);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Random modules against the contract\n");
  if (printModels) {
    outs() << getModelsText(broken == Break::Alias);
    return EXIT_SUCCESS;
  }
  if (fusion != "none" && fusion != "xla" && fusion != "any") {
    errs() << "expected --fusion to be none, xla or any, but got '" << fusion << "'\n";
    return EXIT_FAILURE;
  }
  outs() << "seed " << seed << '\n';
  outs().flush();
  if (parsers)
    return runParsers();
  if (executes)
    return executeSteps({seed, only >= 0 ? only : 0, only >= 0 ? only + 1 : numCases, maxFailures,
                         printModules, broken, onEmulator})
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
  return onFile.empty() ? runModules() : runFile();
}
