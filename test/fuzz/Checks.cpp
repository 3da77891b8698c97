//===- Checks.cpp - The promises of --rematerialize, checked ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "../lib/TestResort.h"
#include "Interpreter.h"
#include "Recount.h"
#include "Remat/Dialect/IR/RematDialect.h"
#include "Remat/Planner/PlanFamily.h"
#include "Remat/Transforms/PassUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::fuzz;

/// What `-cse -canonicalize` and friends may do after the pass.
static constexpr StringRef kCleanup =
    "canonicalize,cse,loop-invariant-code-motion,sccp,canonicalize,cse";

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// Whether all results have a size.
static bool hasKnownSizes(Operation *op) {
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped ? shaped.hasStaticShape() : type.isIntOrIndexOrFloat();
  });
}

/// Calls `visit` with the functions that have a budget: with a body, and not
/// private ones that others call.
static void forEachMain(ModuleOp module, llvm::function_ref<void(FunctionOpInterface)> visit) {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (!function.isExternal() &&
        (function.isPublic() || SymbolTable::symbolKnownUseEmpty(function, module)))
      visit(function);
}

void mlir::remat::fuzz::decorate(ModuleOp module, Random &random, Break broken) {
  Builder builder(module.getContext());
  Attribute mustSave = PolicyAttr::get(module.getContext(), remat::Policy::MustSave);
  int64_t rate = random.pick<int64_t>({0, 0, 1, 3});
  forEachMain(module, [&](FunctionOpInterface function) {
    for (Operation &op : function.getFunctionBody().front().without_terminator()) {
      StringRef name = op.getName().getStringRef();
      // Given in good faith: those could be repeated.
      if ((name == "test.exchange" || name == "fuzz.talk") && random.chance(50))
        op.setDiscardableAttr("remat.recomputable", builder.getBoolAttr(true));
      bool hasEffect = getEffect(&op) == EffectOf::Everything || name == "func.call";
      if (broken == Break::Effects && hasEffect)
        op.setDiscardableAttr("remat.recomputable", builder.getBoolAttr(true));
      if (op.getNumResults() == 0 || op.getNumRegions() > 1)
        continue;
      if (random.chance(rate) && hasKnownSizes(&op))
        op.setDiscardableAttr("remat.policy", mustSave);
      if (random.chance(rate) && !op.hasAttr("remat.recomputable"))
        op.setDiscardableAttr("remat.recomputable", builder.getBoolAttr(false));
      if (random.chance(2 * rate)) {
        int64_t cost = random.pick<int64_t>({0, 1, 1000, 1'000'000, int64_t(1) << 40});
        op.setDiscardableAttr("remat.cost", builder.getI64IntegerAttr(cost));
      }
    }
  });
}

Case mlir::remat::fuzz::makeCase(Harness &harness, ModuleOp module, StringRef fusion,
                                 Random &random, Break broken) {
  Case result;
  decorate(module, random, broken);
  if (random.chance(60)) {
    for (int64_t round = 0; round < 6 && !result.isFixpoint; ++round) {
      std::string before = print(module);
      harness.run(module, "canonicalize,cse");
      result.isFixpoint = print(module) == before;
    }
  }
  result.text = print(module);
  result.options = fuzz::PassOptions::any(random, fusion);
  result.seed = random.next();
  return result;
}

//===----------------------------------------------------------------------===//
// Checker
//===----------------------------------------------------------------------===//

namespace {
/// A run of the pass and what matters of its report, for one function.
struct Point {
  int64_t budget, cost, packed;
};

class Checker {
public:
  Checker(Harness &harness, const Case &input, Break broken, const llvm::StringSet<> &skipped,
          CaseResult &result)
      : harness(harness), input(input), broken(broken), skipped(skipped), result(result),
        random(input.seed) {}

  void run();

private:
  using Object = llvm::json::Object;

  /// Notes a failure; true if `condition` does not hold.
  template <typename... Ts>
  bool expect(bool condition, StringRef check, const char *format, Ts &&...values) {
    if (condition || skipped.contains(check))
      return false;
    result.failures.push_back(
        {check.str(), llvm::formatv(format, std::forward<Ts>(values)...).str()});
    return true;
  }
  bool failed() const { return !result.failures.empty(); }

  Outcome rematerialize(ModuleOp module, StringRef budget, StringRef onInfeasible = "error") {
    return harness.rematerialize(module, input.options, budget, onInfeasible);
  }
  int64_t get(const Object &report, StringRef key) {
    std::optional<int64_t> number = report.getInteger(key);
    expect(number.has_value(), "report", "the report has no integer '{0}'", key);
    return number.value_or(0);
  }

  void checkUnchanged(StringRef budget);
  void checkBudget(int64_t budget);
  void checkPercentage();
  void checkWarn(int64_t budget);
  void checkSmallest();
  void checkDeterminism(const std::string &budget);
  void checkMonotone();

  /// Of the function in `module`, which `report` describes.
  void checkReport(FunctionOpInterface function, const Object &report, StringRef budget);
  void checkRefusal(const Outcome &outcome, StringRef budget);
  void checkMessage(const Message &message, const Outcome &outcome, StringRef budget);
  void checkRewritten(Outcome &outcome, StringRef budget);
  void checkMemory(FunctionOpInterface function, const Object &report, bool isRewritten,
                   StringRef budget);
  void checkMemoryForXLA(FunctionOpInterface function, int64_t live, int64_t packed,
                         StringRef budget);
  void checkPacking(FunctionOpInterface function, const Recount *counted, StringRef budget);
  void checkMeaning(FunctionOpInterface before, FunctionOpInterface after, StringRef check,
                    StringRef budget);
  void checkSurvival(Outcome &outcome, StringRef budget);
  void checkResort(Outcome &outcome, StringRef budget);
  void checkTied(ModuleOp module, StringRef budget);
  std::optional<Peaks> measure(FunctionOpInterface function);

  Harness &harness;
  const Case &input;
  Break broken;
  const llvm::StringSet<> &skipped;
  CaseResult &result;
  Random random;

  OwningOpRef<ModuleOp> original;
  /// By name of the functions with a budget.
  std::map<std::string, int64_t> baseline, minimum;
  std::map<std::string, std::vector<Point>> points;
};
} // namespace

static FunctionOpInterface findFunction(ModuleOp module, StringRef name) {
  return cast<FunctionOpInterface>(module.lookupSymbol(name));
}

/// Operations without regions that compute what follows from constants alone.
static llvm::DenseSet<Operation *> findConstantOperations(Operation *root) {
  llvm::DenseSet<Operation *> found;
  root->walk([&](Operation *op) {
    bool readsConstants = llvm::all_of(op->getOperands(), [&](Value value) {
      return value.getDefiningOp() && found.contains(value.getDefiningOp());
    });
    if (readsConstants && op->getNumRegions() == 0)
      found.insert(op);
  });
  return found;
}

static int64_t countClones(Operation *root) {
  int64_t count = 0;
  root->walk([&](Operation *op) { count += op->hasAttr("remat.clone_of"); });
  return count;
}

/// The clones that no other pass may merge or erase. With XLA's fusion, what is computed from
/// constants where it is read may be.
static int64_t countLastingClones(Operation *root, const fuzz::PassOptions &options) {
  if (!options.isForXLA())
    return countClones(root);
  llvm::DenseSet<Operation *> constants = findConstantOperations(root);
  int64_t count = 0;
  root->walk(
      [&](Operation *op) { count += op->hasAttr("remat.clone_of") && !constants.contains(op); });
  return count;
}

std::optional<Peaks> Checker::measure(FunctionOpInterface function) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  SymbolTableCollection symbols;
  FailureOr<Peaks> peaks =
      measurePeaks(function, harness.getLibraryOptions(input.options), symbols);
  return succeeded(peaks) ? std::optional<Peaks>(*peaks) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// Rows that are no values.
static bool isOverhead(StringRef producer) {
  return producer == "workspace" || producer == "alignment" || producer == "fragmentation";
}

void Checker::checkReport(FunctionOpInterface function, const Object &report, StringRef budget) {
  int64_t sum = 0, ofValues = 0, inCategories = 0, fragmentation = 0;
  if (const llvm::json::Array *rows = report.getArray("live_at_peak")) {
    for (const llvm::json::Value &row : *rows) {
      int64_t bytes = get(*row.getAsObject(), "bytes");
      StringRef producer = row.getAsObject()->getString("producer").value_or("");
      expect(bytes > 0, "rows", "{0}: a row of {1} has {2} bytes", budget, producer, bytes);
      sum += bytes;
      if (!isOverhead(producer))
        ofValues += bytes;
      if (producer == "fragmentation")
        fragmentation = bytes;
    }
  }
  int64_t packed = get(report, "packed_bytes");
  expect(sum == packed, "rows", "{0}: the rows at the peak add up to {1} bytes, not to {2}", budget,
         sum, packed);
  if (const Object *categories = report.getObject("categories_at_peak"))
    for (const auto &[name, bytes] : *categories)
      inCategories += bytes.getAsInteger().value_or(0);
  expect(inCategories == ofValues, "rows",
         "{0}: the categories add up to {1} bytes, but the values to {2}", budget, inCategories,
         ofValues);
  expect(packed >= get(report, "peak_bytes"), "rows", "{0}: packed {1} below live {2}", budget,
         packed, get(report, "peak_bytes"));
  expect(get(report, "working_set_bytes") <= get(report, "minimum_known_bytes"), "minimum",
         "{0}: the minimum {1} is below the working set {2}", budget,
         get(report, "minimum_known_bytes"), get(report, "working_set_bytes"));
  expect(packed <= get(report, "baseline_packed_bytes"), "worse",
         "{0}: packed {1} is above the unchanged {2}", budget, packed,
         get(report, "baseline_packed_bytes"));
  if (fragmentation > 0)
    ++result.counters["peaks with fragmentation"];
  std::optional<double> bound = report.getNumber("overhead_lower_bound");
  std::optional<double> overhead = report.getNumber("overhead");
  std::optional<StringRef> status = report.getString("status");
  if (status != StringRef("infeasible"))
    expect(bound && overhead && *bound <= *overhead, "bound",
           "{0}: overhead {1} is below its lower bound {2}", budget, overhead.value_or(-1),
           bound.value_or(-1));
  if (status == StringRef("met") && overhead && bound && *overhead == *bound)
    ++result.counters["met at the lower bound"];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string toText(const CountedBuffer &buffer) {
  return llvm::formatv("[{0}, {1}) {2} B", buffer.begin, buffer.end, buffer.bytes).str();
}

/// The buffers of a function as the project sees them and as they were counted, and whether
/// their offsets keep them apart.
void Checker::checkPacking(FunctionOpInterface function, const Recount *counted, StringRef budget) {
  RematerializeOptions options = harness.getLibraryOptions(input.options);
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  SymbolTableCollection symbols;
  SummaryAnalysis summaries(*options.models, options.target, symbols, options.fusion);
  FailureOr<FunctionProblem> built =
      buildProblem(function, summaries, {options.scope, options.alignment});
  if (expect(succeeded(built), "problem", "{0}: no problem can be built", budget))
    return;
  const planner::Problem &problem = built->problem;
  planner::Solution solution = planner::evaluate(problem, planner::identityPlan(problem));

  struct Placed {
    CountedBuffer buffer;
    int64_t offset;
  };
  std::vector<Placed> placed;
  for (auto [storage, offset] :
       llvm::zip_equal(solution.simulation.storages, solution.packing.offsets))
    if (!storage.isBoundary && storage.bytes > 0)
      placed.push_back({{storage.begin, storage.end, storage.bytes}, offset});
  for (auto [index, offset] : llvm::enumerate(solution.packing.workspaceOffsets))
    if (int64_t bytes = problem.operations[index].workspace)
      placed.push_back({{int64_t(index), int64_t(index) + 1, bytes}, offset});

  std::vector<CountedBuffer> buffers;
  for (const Placed &item : placed)
    buffers.push_back(item.buffer);
  llvm::sort(buffers);
  if (counted && buffers != counted->buffers) {
    std::string difference;
    std::vector<CountedBuffer> left, right;
    std::set_difference(buffers.begin(), buffers.end(), counted->buffers.begin(),
                        counted->buffers.end(), std::back_inserter(left));
    std::set_difference(counted->buffers.begin(), counted->buffers.end(), buffers.begin(),
                        buffers.end(), std::back_inserter(right));
    for (const CountedBuffer &buffer : left)
      difference += "\n  analysis: " + toText(buffer);
    for (const CountedBuffer &buffer : right)
      difference += "\n  recount:  " + toText(buffer);
    expect(false, "storages", "{0}: storages differ:{1}", budget, difference);
  }
  if (counted)
    expect(solution.simulation.boundaryBytes == counted->boundaryBytes, "storages",
           "{0}: {1} bytes of arguments and constants, but {2} were counted", budget,
           solution.simulation.boundaryBytes, counted->boundaryBytes);

  int64_t alignment = input.options.alignment, arena = solution.packing.arenaBytes;
  for (const Placed &a : placed) {
    expect(a.offset % alignment == 0 && a.offset >= 0 && a.offset + a.buffer.bytes <= arena,
           "packing", "{0}: {1} at offset {2} is not aligned or outside of the arena", budget,
           toText(a.buffer), a.offset);
    for (const Placed &b : placed) {
      bool sameTime = &a != &b && a.buffer.begin < b.buffer.end && b.buffer.begin < a.buffer.end;
      expect(!sameTime || a.offset + a.buffer.bytes <= b.offset ||
                 b.offset + b.buffer.bytes <= a.offset,
             "packing", "{0}: {1} at {2} and {3} at {4} overlap", budget, toText(a.buffer),
             a.offset, toText(b.buffer), b.offset);
    }
  }
  expect(solution.packing.packedBytes == solution.simulation.boundaryBytes + arena, "packing",
         "{0}: packed {1} bytes is not the boundary {2} and the arena {3}", budget,
         solution.packing.packedBytes, solution.simulation.boundaryBytes, arena);
  if (counted)
    expect(solution.packing.packedBytes >= counted->alignedPeak, "packing",
           "{0}: packed {1} bytes are below the aligned live peak of {2}", budget,
           solution.packing.packedBytes, counted->alignedPeak);
}

void Checker::checkMemory(FunctionOpInterface function, const Object &report, bool isRewritten,
                          StringRef budget) {
  int64_t live = get(report, isRewritten ? "peak_bytes" : "baseline_peak_bytes");
  if (input.options.isForXLA())
    return checkMemoryForXLA(function, live,
                             get(report, isRewritten ? "packed_bytes" : "baseline_packed_bytes"),
                             budget);
  Recount counted =
      recount(function, input.options.scope == "temporaries", input.options.alignment);
  // A destination that only a result is written to is left out with the result, but may
  // have had other readers before the rewrite.
  bool isExact = !isRewritten || input.options.scope != "temporaries";
  expect(isExact ? counted.livePeak == live : counted.livePeak <= live, "bytes",
         "{0}: the report says a live peak of {1} bytes, but {2} were counted", budget, live,
         counted.livePeak);
  checkPacking(function, &counted, budget);
  if (std::optional<Peaks> peaks = measure(function); peaks && isRewritten) {
    int64_t limit = broken == Break::Packing ? live : get(report, "budget_bytes");
    if (report.getString("status") == StringRef("infeasible"))
      limit = get(report, "minimum_known_bytes");
    expect(peaks->packedBytes <= limit, "budget",
           "{0}: the packed peak after the pass is {1} bytes, above {2}", budget,
           peaks->packedBytes, limit);
    if (peaks->packedBytes > get(report, "packed_bytes"))
      ++result.counters["packed worse than planned"];
  }
}

/// What XLA keeps is counted once more, in the text, with callees inlined as in the plan: it has
/// `live` and `packed` bytes, and nothing in it overlaps.
void Checker::checkMemoryForXLA(FunctionOpInterface function, int64_t live, int64_t packed,
                                StringRef budget) {
  OwningOpRef<ModuleOp> module =
      harness.parse(print(function->getParentOfType<ModuleOp>()), /*context=*/1);
  if (expect(bool(module), "text", "{0}: the result cannot be read", budget))
    return;
  RematerializeOptions options = harness.getLibraryOptions(input.options);
  if (OwningOpRef<ModuleOp> inlined = *getCopyToPlan(*module, options.fusion, *options.models))
    module = std::move(inlined);
  FunctionOpInterface again = findFunction(*module, function.getName());
  std::optional<Peaks> peaks = measure(again);
  if (expect(peaks && peaks->liveBytes == live && peaks->packedBytes == packed, "bytes",
             "{0}: the report says {1} bytes live and {2} packed, but {3} and {4} were counted",
             budget, live, packed, peaks ? peaks->liveBytes : -1, peaks ? peaks->packedBytes : -1))
    return;
  checkPacking(again, /*counted=*/nullptr, budget);
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

void Checker::checkMeaning(FunctionOpInterface before, FunctionOpInterface after, StringRef check,
                           StringRef budget) {
  for (uint64_t seed : {1, 2}) {
    Execution expected = execute(before, seed), got = execute(after, seed);
    if (expected == got)
      continue;
    std::string details;
    for (size_t index = 0, e = std::max(expected.trace.size(), got.trace.size()); index < e;
         ++index) {
      bool isSame = index < expected.trace.size() && index < got.trace.size() &&
                    expected.trace[index] == got.trace[index];
      if (isSame)
        continue;
      auto name = [&](const Execution &execution) {
        return index < execution.traceNames.size() ? execution.traceNames[index] : "nothing";
      };
      details = llvm::formatv("; effect {0} was {1}, now {2}", index, name(expected), name(got));
      break;
    }
    for (auto [index, hash] : llvm::enumerate(expected.results))
      if (index >= got.results.size() || got.results[index] != hash)
        details += llvm::formatv("; result {0} differs", index);
    expect(false, check, "{0}: the function means something else{1}", budget, details);
    return;
  }
}

//===----------------------------------------------------------------------===//
// After other passes
//===----------------------------------------------------------------------===//

/// Replaces the results of all barriers by what went in.
static void stripBarriers(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!isBarrier(op))
      return;
    for (auto [value, operand] : llvm::zip(op->getResults(), op->getOperands()))
      value.replaceAllUsesWith(operand);
    op->erase();
  });
}

void Checker::checkSurvival(Outcome &outcome, StringRef budget) {
  OwningOpRef<ModuleOp> copy = outcome.module->clone();
  if (broken == Break::Barrier)
    stripBarriers(*copy);
  int64_t clones = countLastingClones(*copy, input.options);
  std::string errors;
  if (expect(harness.run(*copy, "cse", &errors), "cleanup", "{0}: cse failed: {1}", budget, errors))
    return;
  forEachMain(*copy, [&](FunctionOpInterface function) {
    checkMeaning(findFunction(*original, function.getName()), function, "cse-meaning", budget);
  });
  if (input.isFixpoint)
    expect(countLastingClones(*copy, input.options) == clones, "cse",
           "{0}: cse merged or erased {1} of {2} clones", budget,
           clones - countLastingClones(*copy, input.options), clones);

  forEachMain(*outcome.module, [&](FunctionOpInterface function) {
    StringRef name = function.getName();
    const Object *report = outcome.find(name);
    if (!report || report->getString("status") != StringRef("met"))
      return;
    int64_t limit = get(*report, "budget_bytes");
    std::optional<Peaks> peaks = measure(findFunction(*copy, name));
    bool exceeds = peaks && peaks->packedBytes > limit;
    if (input.isFixpoint) {
      // Of operations that free as much as each other XLA takes one, and another one when
      // there are fewer of them.
      expect(!exceeds || input.options.isForXLA(), "cse",
             "{0}: packed {1} bytes after cse, above {2}", budget, peaks->packedBytes, limit);
      return;
    }
    // Other inputs may have had equal operations; the pass says so.
    bool isWarned = llvm::any_of(outcome.messages, [&](const Message &message) {
      return StringRef(message.text).contains("'" + name.str() + "' would exceed its budget");
    });
    ++result.counters[exceeds ? "warned about cse" : "safe under cse"];
    std::string texts;
    for (const Message &message : outcome.messages)
      texts += "\n" + message.text;
    // The pass looks at the function alone, not at equal operations in its callees.
    bool hasCalls = false;
    function.walk([&](func::CallOp) { hasCalls = true; });
    expect(exceeds == isWarned || (exceeds && hasCalls), "cse-warning",
           "{0}: cse leads to {1} bytes, but {2}:{3}\n{4}", budget, peaks ? peaks->packedBytes : -1,
           isWarned ? "there is a warning" : "there is no warning", texts, print(*copy));
  });
  if (!input.isFixpoint)
    return;
  if (expect(harness.run(*copy, kCleanup, &errors), "cleanup", "{0}: cleanup failed: {1}", budget,
             errors))
    return;
  forEachMain(*copy, [&](FunctionOpInterface function) {
    const Object *report = outcome.find(function.getName());
    if (!report || report->getString("status") != StringRef("met"))
      return;
    int64_t limit = get(*report, "budget_bytes");
    std::optional<Peaks> peaks = measure(function);
    if (!peaks)
      return;
    if (input.options.isForXLA())
      return;
    expect(peaks->packedBytes <= limit, "canonicalize",
           "{0}: packed {1} bytes after cse and canonicalize, above {2}", budget,
           peaks->packedBytes, limit);
    Recount counted =
        recount(function, input.options.scope == "temporaries", input.options.alignment);
    expect(counted.livePeak == peaks->liveBytes, "bytes",
           "{0}: after cleanup a live peak of {1} bytes, but {2} were counted", budget,
           peaks->liveBytes, counted.livePeak);
  });
}

/// Every clone that reads anything reads a barrier, or a clone that is tied itself:
/// anything else could be merged or hoisted by a compiler that knows the operation.
void Checker::checkTied(ModuleOp module, StringRef budget) {
  llvm::SmallPtrSet<Operation *, 16> tied;
  llvm::DenseSet<Operation *> constants;
  if (input.options.isForXLA())
    constants = findConstantOperations(module);
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!op->hasAttr("remat.clone_of"))
      return;
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    bool isTied = read.empty() || constants.contains(op) || llvm::any_of(read, [&](Value value) {
                    Operation *other = value.getDefiningOp();
                    return other && (isBarrier(other) || tied.contains(other));
                  });
    if (isTied)
      tied.insert(op);
    expect(isTied, "tied", "{0}: a clone of '{1}' waits for nothing", budget, op->getName());
  });
}

void Checker::checkResort(Outcome &outcome, StringRef budget) {
  OwningOpRef<ModuleOp> copy = outcome.module->clone();
  forEachMain(*copy, [&](FunctionOpInterface function) {
    test::hoistClones(function.getFunctionBody().front());
  });
  if (expect(succeeded(mlir::verify(*copy)), "resort", "{0}: hoisted clones do not verify", budget))
    return;
  forEachMain(*copy, [&](FunctionOpInterface function) {
    StringRef name = function.getName();
    checkMeaning(findFunction(*original, name), function, "resort-meaning", budget);
    const Object *report = outcome.find(name);
    if (!report || report->getString("status") != StringRef("met"))
      return;
    int64_t limit = get(*report, "budget_bytes");
    std::optional<Peaks> peaks = measure(function);
    bool exceeds = peaks && peaks->packedBytes > limit;
    ++result.counters[exceeds ? "hoisting exceeds" : "hoisting fits"];
    expect(!exceeds, "resort", "{0}: packed {1} bytes with hoisted clones, above {2}", budget,
           peaks->packedBytes, limit);
  });
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The number behind `prefix`.
static std::optional<int64_t> findNumber(StringRef text, StringRef prefix) {
  size_t place = text.find(prefix);
  int64_t number;
  if (place == StringRef::npos || text.drop_front(place + prefix.size()).consumeInteger(10, number))
    return std::nullopt;
  return number;
}

void Checker::checkMessage(const Message &message, const Outcome &outcome, StringRef budget) {
  StringRef text = message.text;
  StringRef name =
      text.drop_front(std::min(text.size(), text.find('\'') + 1)).take_until([](char c) {
        return c == '\'';
      });
  const Object *report = outcome.find(name);
  if (expect(report && minimum.count(name.str()), "message", "{0}: no report for '{1}' in: {2}",
             budget, name, text))
    return;
  std::optional<int64_t> least = findNumber(text, "the smallest budget known to be feasible is ");
  expect(least == minimum[name.str()], "minimum",
         "{0}: the message names {1} as the minimum, not {2}: {3}", budget, least.value_or(-1),
         minimum[name.str()], text);
  std::optional<int64_t> named = findNumber(text, "does not fit into the budget of ");
  expect(named == get(*report, "budget_bytes"), "message", "{0}: budget {1} in: {2}", budget,
         named.value_or(-1), text);
  bool isAlone =
      input.options.scope == "total" &&
      get(*report, "argument_bytes") + get(*report, "result_bytes") > get(*report, "budget_bytes");
  expect(text.contains("arguments and results alone") == isAlone, "message",
         "{0}: arguments {1} and results {2}, but: {3}", budget, get(*report, "argument_bytes"),
         get(*report, "result_bytes"), text);
  int64_t sum = 0;
  std::optional<int64_t> packed;
  for (StringRef note : message.notes) {
    if (!packed)
      packed = findNumber(note, "the packed peak of ");
    int64_t bytes;
    StringRef rest = note;
    if (!rest.consumeInteger(10, bytes) && rest.starts_with(" bytes: "))
      sum += bytes;
  }
  // The report is about callees as they have become, the message as they were.
  bool isSame = packed == get(*report, "packed_bytes") ||
                (outcome.succeeded && packed > get(*report, "packed_bytes"));
  expect(packed == sum && isSame, "message",
         "{0}: the notes add up to {1} bytes, the packed peak is {2}, in the report {3}", budget,
         sum, packed.value_or(-1), get(*report, "packed_bytes"));
}

void Checker::checkRefusal(const Outcome &outcome, StringRef budget) {
  expect(!outcome.succeeded, "refused", "{0}: below the minimum, but the pass succeeded", budget);
  expect(outcome.text == input.text, "refused",
         "{0}: the pass failed and changed the module to:\n{1}", budget, outcome.text);
  int64_t numInfeasible = 0;
  for (const auto &[name, bytes] : minimum) {
    const Object *report = outcome.find(name);
    if (expect(report != nullptr, "report", "{0}: no report of '{1}'", budget, name))
      return;
    bool isInfeasible = report->getString("status") == StringRef("infeasible");
    numInfeasible += isInfeasible;
    expect(get(*report, "minimum_known_bytes") == bytes, "minimum",
           "{0}: the minimum is {1} bytes now, it was {2}", budget,
           get(*report, "minimum_known_bytes"), bytes);
    checkReport(findFunction(*original, name), *report, budget);
  }
  expect(outcome.countErrors() == numInfeasible, "refused", "{0}: {1} errors for {2} functions",
         budget, outcome.countErrors(), numInfeasible);
  for (const Message &message : outcome.messages)
    if (message.isError)
      checkMessage(message, outcome, budget);
}

/// Swaps two operands of a clone.
static void confuse(ModuleOp module) {
  module.walk([](Operation *op) {
    if (!op->hasAttr("remat.clone_of") || op->getNumOperands() != 2 ||
        op->getOperand(0) == op->getOperand(1) ||
        op->getOperand(0).getType() != op->getOperand(1).getType())
      return WalkResult::advance();
    Value first = op->getOperand(0);
    op->setOperand(0, op->getOperand(1));
    op->setOperand(1, first);
    return WalkResult::interrupt();
  });
}

void Checker::checkRewritten(Outcome &outcome, StringRef budget) {
  std::string errors;
  for (const Message &message : outcome.messages)
    errors += "\n" + message.text;
  bool isInternal = StringRef(errors).contains("internal error");
  if (expect(outcome.succeeded, isInternal ? "proof" : "met",
             "{0}: at or above the minimum, but the pass failed:{1}\n{2}", budget, errors,
             isInternal ? outcome.text : ""))
    return;
  expect(outcome.countErrors() == 0, "met", "{0}: the pass succeeded with errors:{1}", budget,
         errors);
  if (broken == Break::Meaning)
    confuse(*outcome.module);
  for (const auto &[name, bytes] : minimum) {
    const Object *report = outcome.find(name);
    if (expect(report != nullptr, "report", "{0}: no report of '{1}'", budget, name))
      return;
    FunctionOpInterface before = findFunction(*original, name);
    FunctionOpInterface after = findFunction(*outcome.module, name);
    checkReport(after, *report, budget);
    checkMemory(after, *report, /*isRewritten=*/true, budget);
    checkMeaning(before, after, "meaning", budget);
    int64_t numClones = 0;
    if (const llvm::json::Array *rows = report->getArray("recomputed"))
      for (const llvm::json::Value &row : *rows)
        numClones += get(*row.getAsObject(), "clones");
    // With XLA's fusion, the report is about kernels.
    bool isRight = input.options.isForXLA() ? numClones <= countClones(after) &&
                                                  (numClones == 0) == (countClones(after) == 0)
                                            : numClones == countClones(after);
    if (broken != Break::Effects)
      expect(isRight, "clones", "{0}: the report says {1} clones, but there are {2}", budget,
             numClones, countClones(after));
    if (failed())
      return;
  }
  checkTied(*outcome.module, budget);
  checkSurvival(outcome, budget);
  checkResort(outcome, budget);
}

void Checker::checkBudget(int64_t bytes) {
  std::string budget = std::to_string(bytes) + "B";
  bool mustFail = false, mustStay = true;
  for (const auto &[name, least] : minimum) {
    mustFail |= bytes < least;
    mustStay &= bytes >= baseline[name];
  }
  Outcome outcome = rematerialize(*original, budget);
  ++result.runs;
  // For XLA, a plan may turn out smaller than the smallest one that is known without it.
  bool isSmaller = input.options.isForXLA() && outcome.succeeded;
  if (mustFail && !isSmaller) {
    ++result.refused;
    return checkRefusal(outcome, budget);
  }
  checkRewritten(outcome, budget);
  if (failed())
    return;
  if (mustStay) {
    ++result.unchanged;
    expect(outcome.text == input.text, "unchanged", "{0}: not below the peak, but changed to:\n{1}",
           budget, outcome.text);
    return;
  }
  ++result.met;
  result.clones += countClones(*outcome.module) != 0;
  for (const auto &[name, least] : minimum) {
    const Object *report = outcome.find(name);
    StringRef status = report->getString("status").value_or("");
    StringRef expected = bytes >= baseline[name] ? "unchanged" : "met";
    expect(status == expected, "status", "{0}: the status of '{1}' is '{2}', not '{3}'", budget,
           name, status, expected);
    points[name].push_back({bytes, get(*report, "added_cost_ps"), get(*report, "packed_bytes")});
  }
  // Once more: everything fits now.
  if (broken == Break::Nothing) {
    Outcome again = rematerialize(*outcome.module, budget);
    expect(again.succeeded && again.text == outcome.text, "idempotent",
           "{0}: a second run changes the result from\n{1}\nto\n{2}", budget, outcome.text,
           again.text);
  }
}

void Checker::checkWarn(int64_t bytes) {
  std::string budget = std::to_string(bytes) + "B warn";
  Outcome outcome = rematerialize(*original, std::to_string(bytes) + "B", "warn");
  ++result.runs;
  checkRewritten(outcome, budget);
  if (failed())
    return;
  int64_t numWarnings = 0;
  for (const Message &message : outcome.messages) {
    if (!StringRef(message.text).contains("does not fit into the budget"))
      continue;
    ++numWarnings;
    checkMessage(message, outcome, budget);
  }
  int64_t numInfeasible = 0;
  for (const auto &[name, least] : minimum) {
    numInfeasible += bytes < least;
    const Object *report = outcome.find(name);
    if (bytes < least)
      expect(get(*report, "packed_bytes") <= least, "warn",
             "{0}: packed {1} bytes, above the minimum of {2}", budget,
             get(*report, "packed_bytes"), least);
  }
  expect(numWarnings == numInfeasible, "warn", "{0}: {1} warnings for {2} functions", budget,
         numWarnings, numInfeasible);
}

void Checker::checkPercentage() {
  if (minimum.size() != 1)
    return;
  auto [name, peak] = *baseline.begin();
  int64_t percent = random.between(1, 100);
  int64_t bytes = (peak * percent + 99) / 100;
  std::string budget = std::to_string(percent) + "%";
  Outcome outcome = rematerialize(*original, budget),
          same = rematerialize(*original, std::to_string(bytes) + "B");
  result.runs += 2;
  expect(outcome.text == same.text && outcome.reportText == same.reportText, "percentage",
         "{0} of {1} is not the same as {2} bytes", budget, peak, bytes);
}

void Checker::checkDeterminism(const std::string &budget) {
  OwningOpRef<ModuleOp> other = harness.parse(input.text, /*context=*/1);
  if (expect(other && print(*other) == input.text, "text",
             "the printed module does not parse back"))
    return;
  Outcome here = rematerialize(*original, budget), there = rematerialize(*other, budget);
  result.runs += 2;
  expect(here.text == there.text, "deterministic", "{0}: two runs differ:\n{1}\n{2}", budget,
         here.text, there.text);
  expect(here.reportText == there.reportText, "deterministic",
         "{0}: the reports of two runs differ:\n{1}\n{2}", budget, here.reportText,
         there.reportText);
}

void Checker::checkMonotone() {
  // What plans take is only known once they are applied.
  if (input.options.isForXLA())
    return;
  for (auto &[name, list] : points) {
    llvm::stable_sort(list, [](const Point &a, const Point &b) { return a.budget < b.budget; });
    for (size_t index = 1; index < list.size(); ++index) {
      const Point &tight = list[index - 1], &loose = list[index];
      expect(loose.cost <= tight.cost, "monotone",
             "'{0}' costs {1} ps more with {2} bytes, but {3} with {4}", name, tight.cost,
             tight.budget, loose.cost, loose.budget);
      expect(loose.packed >= tight.packed, "monotone-peak",
             "'{0}' takes {1} bytes with {2}, but {3} with {4}", name, tight.packed, tight.budget,
             loose.packed, loose.budget);
    }
  }
}

void Checker::checkUnchanged(StringRef budget) {
  Outcome outcome = rematerialize(*original, budget);
  ++result.runs;
  ++result.unchanged;
  std::string errors;
  for (const Message &message : outcome.messages)
    errors += "\n" + message.text;
  if (expect(outcome.succeeded, "unchanged", "{0}: the pass failed:{1}", budget, errors))
    return;
  expect(outcome.text == input.text, "unchanged", "{0}: the module was changed to\n{1}", budget,
         outcome.text);
  forEachMain(*original, [&](FunctionOpInterface function) {
    const Object *report = outcome.find(function.getName());
    if (expect(report != nullptr, "report", "no report of '{0}'", function.getName()))
      return;
    std::string name = function.getName().str();
    baseline[name] = get(*report, "baseline_packed_bytes");
    minimum[name] = get(*report, "minimum_known_bytes");
    expect(report->getString("status") == StringRef("unchanged"), "status", "{0}: status {1}",
           budget, report->getString("status").value_or(""));
    expect(minimum[name] <= baseline[name], "minimum", "the minimum {0} is above the peak {1}",
           minimum[name], baseline[name]);
    checkReport(function, *report, budget);
    checkMemory(function, *report, /*isRewritten=*/false, budget);
  });
}

void Checker::run() {
  original = harness.parse(input.text);
  if (expect(bool(original), "generator", "the module does not parse"))
    return;
  if (expect(print(*original) == input.text, "text", "the printed module does not parse back"))
    return;
  checkUnchanged("100%");
  if (failed() || minimum.empty())
    return;

  // Around the interesting numbers of each function, and in between.
  std::vector<int64_t> budgets;
  int64_t highest = 0, lowest = 0;
  for (const auto &[name, least] : minimum) {
    int64_t peak = baseline[name];
    budgets.insert(budgets.end(), {least, peak, peak - 1, least - 1});
    for (int64_t number = random.between(1, 4); number > 0; --number)
      budgets.push_back(least + random.below(peak - least + 1));
    highest = std::max(highest, peak);
    lowest = std::max(lowest, least);
  }
  budgets.push_back(highest + random.between(1, 1000));
  budgets.push_back(lowest / 2);
  budgets.push_back(1);
  llvm::sort(budgets);
  budgets.erase(llvm::unique(budgets), budgets.end());
  for (int64_t bytes : budgets) {
    if (bytes < 1)
      continue;
    checkBudget(bytes);
    if (failed())
      return;
  }
  checkMonotone();
  if (failed() || broken != Break::Nothing)
    return;
  checkWarn(lowest > 1 ? random.between(1, lowest - 1) : 1);
  if (failed())
    return;
  checkPercentage();
  checkDeterminism(std::to_string(lowest + random.below(highest - lowest + 1)) + "B");
}

CaseResult mlir::remat::fuzz::check(Harness &harness, const Case &input, Break broken,
                                    const llvm::StringSet<> &skipped) {
  CaseResult result;
  Checker(harness, input, broken, skipped, result).run();
  return result;
}

//===----------------------------------------------------------------------===//
// Reducing
//===----------------------------------------------------------------------===//

namespace {
class Reducer {
public:
  Reducer(Harness &harness, Case input, StringRef name, Break broken,
          const llvm::StringSet<> &skipped)
      : harness(harness), best(std::move(input)), name(name), broken(broken), skipped(skipped) {}

  Case run() {
    for (bool changed = true; changed;) {
      changed = false;
      // The number of places changes while they are tried; last ones first.
      for (int64_t index = 400; index-- > 0;)
        for (int64_t way = 0; way < kNumWays; ++way)
          changed |= attempt(index, way);
    }
    return best;
  }

private:
  static constexpr int64_t kNumWays = 6;

  bool fails(const Case &candidate) {
    CaseResult result = check(harness, candidate, broken, skipped);
    return !result.failures.empty() && result.failures.front().check == name;
  }

  /// Changes one place of the module. False when there is nothing to change.
  static bool mutate(ModuleOp module, int64_t index, int64_t way);

  bool attempt(int64_t index, int64_t way) {
    OwningOpRef<ModuleOp> module = harness.parse(best.text);
    if (!module || !mutate(*module, index, way))
      return false;
    ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
    if (failed(mlir::verify(*module)))
      return false;
    Case candidate = best;
    candidate.text = print(*module);
    for (int64_t round = 0; best.isFixpoint; ++round) {
      harness.run(*module, "canonicalize,cse");
      std::string again = print(*module);
      if (again == candidate.text)
        break;
      if (round == 5)
        return false;
      candidate.text = std::move(again);
    }
    if (candidate.text.size() >= best.text.size())
      return false;
    // Smaller modules have other budgets; give them several.
    for (int64_t number = 0; number < 3; ++number, candidate.seed = mix(candidate.seed)) {
      if (!fails(candidate))
        continue;
      best = std::move(candidate);
      return true;
    }
    return false;
  }

  Harness &harness;
  Case best;
  StringRef name;
  Break broken;
  const llvm::StringSet<> &skipped;
};
} // namespace

bool Reducer::mutate(ModuleOp module, int64_t index, int64_t way) {
  SmallVector<Operation *> operations;
  module.walk([&](Operation *op) {
    if (!isa<ModuleOp>(op))
      operations.push_back(op);
  });
  if (index >= int64_t(operations.size()))
    return false;
  Operation *op = operations[index];
  switch (way) {
  case 0: // Without the operation.
    if (!op->use_empty() || op->hasTrait<OpTrait::IsTerminator>() ||
        (isa<FunctionOpInterface>(op) && !SymbolTable::symbolKnownUseEmpty(op, module)))
      return false;
    op->erase();
    return true;
  case 1: // Without one result of the function, or one argument.
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      for (unsigned number = function.getNumArguments(); number-- > 0;)
        if (function.isPublic() && function.getArgument(number).use_empty())
          return succeeded(function.eraseArgument(number));
      return false;
    }
    if (auto function = dyn_cast<FunctionOpInterface>(op->getParentOp());
        function && function.isPublic() && op->hasTrait<OpTrait::IsTerminator>() &&
        op->getNumOperands() > 0) {
      unsigned last = op->getNumOperands() - 1;
      op->eraseOperand(last);
      return succeeded(function.eraseResult(last));
    }
    return false;
  case 2:
  case 3:
  case 4: // An operand in place of the results; or without an attribute.
    for (OpResult result : op->getResults()) {
      if (result.use_empty())
        continue;
      int64_t skip = way - 2;
      for (Value operand : op->getOperands()) {
        if (operand.getType() != result.getType() || skip-- > 0)
          continue;
        result.replaceAllUsesWith(operand);
        return true;
      }
      for (BlockArgument argument : op->getBlock()->getArguments()) {
        if (argument.getType() != result.getType() || skip-- > 0)
          continue;
        result.replaceAllUsesWith(argument);
        return true;
      }
    }
    return false;
  default:
    for (NamedAttribute attribute : op->getDiscardableAttrs()) {
      if (!attribute.getName().strref().starts_with("remat."))
        continue;
      op->removeDiscardableAttr(attribute.getName());
      return true;
    }
    return false;
  }
}

Case mlir::remat::fuzz::reduce(Harness &harness, const Case &input, StringRef name, Break broken,
                               const llvm::StringSet<> &skipped) {
  return Reducer(harness, input, name, broken, skipped).run();
}
