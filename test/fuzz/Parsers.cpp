//===- Parsers.cpp - Damaged texts ------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parsers.h"

#include "Generator.h"
#include "Remat/Analysis/CostProfile.h"
#include "Remat/Execution/NumPy.h"
#include "Remat/Planner/NodeLink.h"
#include "Remat/Planner/PlanFamily.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Planner/Trace.h"
#include "Remat/Support/ByteCount.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::remat;
using namespace mlir::remat::fuzz;
using Fault = std::optional<std::string>;

/// test/fuzz/PlannerJSONFuzzer.cpp; aborts at a fault.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

/// Where a number begins and ends, at or behind `from`.
static std::pair<size_t, size_t> findNumber(StringRef text, size_t from) {
  size_t begin = text.find_if(llvm::isDigit, from);
  if (begin == StringRef::npos)
    return {text.size(), text.size()};
  size_t end = text.find_if_not(llvm::isDigit, begin);
  return {begin, std::min(end, text.size())};
}

static std::string damage(std::string text, Random &random, ArrayRef<StringRef> words) {
  static const StringRef numbers[] = {"0",
                                      "-1",
                                      "1",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-9223372036854775808",
                                      "18446744073709551616",
                                      "1e400",
                                      "0.5",
                                      "1e18",
                                      "4294967296"};
  for (int64_t rounds = random.below(4); rounds > 0; --rounds) {
    size_t place = random.below(text.size() + 1);
    size_t length = std::min<size_t>(random.between(1, 12), text.size() - place);
    switch (random.below(8)) {
    case 0:
      text.erase(place, length);
      break;
    case 1:
      text.insert(place, text.substr(place, length));
      break;
    case 2:
      text.insert(place, words[random.below(words.size())].str());
      break;
    case 3:
      if (place < text.size())
        text[place] =
            static_cast<char>(random.chance(80) ? random.between(32, 126) : random.between(1, 255));
      break;
    case 4:
    case 5: {
      auto [begin, end] = findNumber(text, place);
      text.replace(begin, end - begin, numbers[random.below(std::size(numbers))].str());
      break;
    }
    case 6:
      if (random.chance(20))
        text.resize(place);
      break;
    default: {
      // One word in the place of another.
      size_t other = text.find('"', place);
      size_t end = other == std::string::npos ? other : text.find('"', other + 1);
      if (end != std::string::npos)
        text.replace(other + 1, end - other - 1, words[random.below(words.size())].str());
      break;
    }
    }
  }
  return text;
}

/// The text of an error, which must be one line.
static Fault checkError(llvm::Error error, StringRef input) {
  std::string text = llvm::toString(std::move(error));
  // Where it quotes the input, it may have the input's line ends.
  bool isOneLine = StringRef(input).contains('\n') || !StringRef(text).contains('\n');
  if (text.empty() || !isOneLine)
    return "the error '" + text + "' for '" + input.str() + "'";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Byte counts and budgets
//===----------------------------------------------------------------------===//

/// Digits with a fraction, an exponent and a unit, multiplied out digit by digit.
/// Nothing for anything else, and for what is no whole number of at most 2^63 - 1.
static std::optional<int64_t> countSlowly(StringRef text) {
  text = text.trim();
  std::string digits;
  int64_t exponent = 0;
  for (bool isFraction = false; !text.empty(); text = text.drop_front()) {
    if (text.front() == '.' && !isFraction) {
      isFraction = true;
      continue;
    }
    if (!llvm::isDigit(text.front()))
      break;
    digits += text.front();
    exponent -= isFraction;
  }
  if (digits.empty() || digits.size() > 19)
    return std::nullopt;
  StringRef rest = text;
  if (rest.consume_front_insensitive("e")) {
    bool isNegative = rest.consume_front("-");
    if (!isNegative)
      rest.consume_front("+");
    int64_t number;
    if (!rest.empty() && llvm::isDigit(rest.front()) && !rest.consumeInteger(10, number)) {
      if (number > 100)
        return std::nullopt;
      exponent += isNegative ? -number : number;
      text = rest;
    }
  }
  std::string unit = text.trim().lower();
  if (unit.empty() || unit.back() != 'b')
    return std::nullopt;
  unit.pop_back();
  bool isBinary = StringRef(unit).ends_with("i");
  if (isBinary)
    unit.pop_back();
  size_t power = unit.empty() ? 0 : StringRef("kmgt").find(unit) + 1;
  if (unit.size() > 1 || (isBinary && unit.empty()) || power == 0 + (unit.empty() ? 1u : 0u))
    return std::nullopt;
  for (size_t step = 0; step < power; ++step) {
    // digits * 1000 or * 1024
    std::string product(digits.size() + 4, '0');
    int64_t carry = 0;
    for (size_t index = 0; index < product.size(); ++index) {
      int64_t digit = index < digits.size() ? digits[digits.size() - 1 - index] - '0' : 0;
      carry += digit * (isBinary ? 1024 : 1000);
      product[product.size() - 1 - index] = '0' + carry % 10;
      carry /= 10;
    }
    digits = product;
  }
  digits = StringRef(digits).ltrim('0').str();
  if (digits.empty())
    return 0;
  for (; exponent < 0; ++exponent) {
    if (digits.empty() || digits.back() != '0')
      return std::nullopt;
    digits.pop_back();
  }
  digits.append(exponent, '0');
  int64_t value;
  if (StringRef(digits).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

static Fault checkByteCount(Random &random, int64_t &accepted) {
  static const StringRef texts[] = {"4GB",   "4 GB", "4.5GiB", "1e9B",  "512MiB", "0B",
                                    "1.5KB", "7tb",  "3 KiB",  "80e1b", "2.25TiB"};
  static const StringRef words[] = {"GB", "KiB", ".", "e", "E+2", " ", "%", "i", "-", "e-3"};
  std::string text = damage(texts[random.below(std::size(texts))].str(), random, words);
  std::optional<int64_t> expected = countSlowly(text);
  llvm::Expected<int64_t> bytes = parseByteCount(text);
  if (!bytes) {
    if (Fault fault = checkError(bytes.takeError(), text))
      return fault;
    if (expected)
      return "'" + text + "' is rejected, but it is " + std::to_string(*expected) + " bytes";
    return std::nullopt;
  }
  ++accepted;
  if (*bytes < 0)
    return "'" + text + "' is read as " + std::to_string(*bytes) + " bytes";
  if (expected && *bytes != *expected)
    return "'" + text + "' is read as " + std::to_string(*bytes) + " instead of " +
           std::to_string(*expected);
  if (!expected && llvm::count_if(text, llvm::isDigit) < 19)
    return "'" + text + "' is read as " + std::to_string(*bytes) + ", but it is no byte count";
  return std::nullopt;
}

static Fault checkBudget(Random &random, int64_t &accepted) {
  static const StringRef texts[] = {"80%", "4GB", "none", "0.5%", "33.333333 %", "100%", "1MiB"};
  static const StringRef words[] = {"%", "none", ".", " ", "e1", "GB", "-", "0"};
  std::string text = damage(texts[random.below(std::size(texts))].str(), random, words);
  llvm::Expected<Budget> budget = parseBudget(text);
  if (!budget)
    return checkError(budget.takeError(), text);
  ++accepted;
  std::string printed = toString(*budget);
  llvm::Expected<Budget> again = parseBudget(printed);
  if (!again)
    return "'" + text + "' is printed as '" + printed + "': " + llvm::toString(again.takeError());
  if (!(*again == *budget) || toString(*again) != printed)
    return "'" + text + "' is printed as '" + printed + "', which is another budget";
  if (budget->kind != Budget::Kind::Fraction)
    return std::nullopt;
  // Between 1 and the peak, and growing with it.
  int64_t last = 0;
  for (int64_t peak : {int64_t(1), int64_t(1000), int64_t(1) << 40, (int64_t(1) << 62) + 1}) {
    int64_t bytes = budget->resolve(peak);
    if (bytes < 1 || bytes > peak || bytes < last)
      return llvm::formatv("'{0}' of {1} bytes is {2} bytes", text, peak, bytes).str();
    last = bytes;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Targets and models
//===----------------------------------------------------------------------===//

namespace {
/// A file that exists while a text is read from it.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef contents) {
    int descriptor = -1;
    if (llvm::sys::fs::createTemporaryFile("remat-fuzz", "json", descriptor, path))
      llvm::report_fatal_error("cannot create a temporary file");
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << contents;
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }

  llvm::SmallString<128> path;
};
} // namespace

static Fault checkTarget(Random &random, int64_t &accepted) {
  static const StringRef words[] = {"name", "flops_f64", "launch_ps", "{", "}",
                                    ",",    ":",         "[]",        "\""};
  std::string text =
      damage(R"json({"name": "mine", "flops_f64": 1000000000, "flops_f32": 2000000000,
 "flops_f16": 3000000000, "bandwidth": 4000000000, "launch_ps": 5})json",
             random, words);
  TemporaryFile file(text);
  llvm::Expected<Target> target = Target::get(file.path);
  if (!target)
    return checkError(target.takeError(), text);
  ++accepted;
  constexpr int64_t kMost = int64_t(1) << 53, kLarge = std::numeric_limits<int64_t>::max();
  int64_t last = -1;
  for (int64_t amount : {int64_t(0), int64_t(1), int64_t(1) << 40, kLarge}) {
    int64_t cost = target->getCost(amount, Type(), amount);
    if (cost < 0 || cost < last || cost > kMost)
      return llvm::formatv("{0} operations cost {1} ps with the target\n{2}", amount, cost, text)
          .str();
    last = cost;
  }
  return std::nullopt;
}

/// A models file that uses most of the format.
static constexpr const char *kModels = R"json({
  "version": 1,
  "types": {"fuzz.handle": {"bytes": 8}, "fuzz.other": {"bytes": null}},
  "operations": [
    {"names": ["fuzz.pure", "fuzz.same"], "effects": "pure", "cost": {"elementwise": 8}},
    {"names": ["fuzz.copy"], "effects": "pure",
     "flops": "2 * elements(result 0) * at(dims(operand 0), rank(operand 0) - 1) / 3",
     "flops_type": "operand 0", "bytes": "bytes(operand 0) + bytes(results)",
     "workspace": "min(bytes(operand 0), 1048576)"},
    {"names": ["fuzz.view"], "effects": "pure", "cost": "none",
     "storage": [{"result": 0, "kind": "view", "operand": 0}], "unread": [0]},
    {"names": ["fuzz.reuse"], "effects": "pure", "cost": "data_movement",
     "storage": [{"result": 0, "kind": "reuse", "operand": 1}]},
    {"names": ["fuzz.scratch"], "effects": "pure", "workspace": "product(list('sizes', 2))",
     "flops": "ceil_log2(max(elements(operand 0), 1)) * integer('factor', 3)"},
    {"names": ["fuzz.loop"], "effects": "pure", "recursive": true, "per_element_regions": false,
     "trip_count": "integer('count', 7)", "cost": "none"},
    {"names": ["fuzz.random"], "effects": "ordered", "why_not": "draws", "overridable": true,
     "when": [{"attribute": "seed", "equals": "known", "default": "hidden", "effects": "pure"},
              {"attribute": "flag", "equals": true, "effects": "reads"}]},
    {"names": ["fuzz.constant"], "effects": "pure",
     "storage": [{"result": 0, "kind": "constant", "attribute": "value"}]},
    {"names": ["fuzz.slice"], "effects": "pure", "bytes": "2 * bytes(result 0)",
     "storage": [{"result": 0, "kind": "contiguous_slice", "operand": 0, "attribute": "strides"}]},
    {"names": ["fuzz.fence"], "barrier": true}
  ]
})json";

/// Operations for those models.
static constexpr const char *kModule = R"mlir(
func.func @f(%a: tensor<4x8xf32>, %d: tensor<?x8xf32>, %h: !fuzz.handle, %s: f32) -> tensor<4x8xf32> {
  %0 = "fuzz.pure"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1:2 = "fuzz.same"(%0, %d, %h) : (tensor<4x8xf32>, tensor<?x8xf32>, !fuzz.handle) -> (tensor<?x8xf32>, i1)
  %2 = "fuzz.copy"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "fuzz.copy"(%s) : (f32) -> tensor<4x8xf32>
  %4 = "fuzz.view"(%2) : (tensor<4x8xf32>) -> tensor<32xf32>
  %5 = "fuzz.reuse"(%3, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = "fuzz.reuse"(%5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7:2 = "fuzz.scratch"(%6) {sizes = [3, 4]} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xbf16>)
  "fuzz.scratch"() {sizes = array<i64: 1099511627776, 1099511627776>} : () -> ()
  %8 = "fuzz.loop"(%7) ({
  ^bb0(%x: tensor<4x8xf32>):
    %y = "fuzz.pure"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "fuzz.random"(%y) : (tensor<4x8xf32>) -> ()
  }) {count = 3 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = "fuzz.random"(%8) {seed = "known"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = "fuzz.random"(%9) {flag = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = "fuzz.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %12 = "fuzz.slice"(%10) {strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %13:2 = "fuzz.fence"(%9, %11) : (tensor<4x8xf32>, tensor<2xf32>) -> (tensor<4x8xf32>, tensor<2xf32>)
  %14 = "fuzz.fence"() : () -> tensor<4x8xf32>
  %15 = "fuzz.pure"(%13#0, %14, %12) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return %15 : tensor<4x8xf32>
})mlir";

static Fault checkModels(Harness &harness, Random &random, int64_t &accepted) {
  static const StringRef words[] = {"operations",
                                    "names",
                                    "effects",
                                    "pure",
                                    "ordered",
                                    "reads",
                                    "barrier",
                                    "storage",
                                    "view",
                                    "reuse",
                                    "none",
                                    "constant",
                                    "unread",
                                    "cost",
                                    "elementwise",
                                    "workspace",
                                    "trip_count",
                                    "when",
                                    "true",
                                    "null",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    ",",
                                    "\"",
                                    "\\",
                                    "(",
                                    ")",
                                    "*",
                                    "/",
                                    "- ",
                                    "operand 7",
                                    "result 3",
                                    "elements(operand 0)",
                                    "bytes(results)",
                                    "region_flops(0)",
                                    "dims(operand 0)",
                                    "integer('count')",
                                    "while_trip_count()",
                                    "convolution_products()",
                                    "list('sizes')",
                                    "1 / 0",
                                    "fuzz.pure",
                                    "fuzz.fence",
                                    "fuzz.loop",
                                    "contiguous_slice"};
  std::string text = damage(kModels, random, words);
  ModelTable table = ModelTable::createBuiltin();
  if (llvm::Error error = table.parse(text, "mine.json"))
    return checkError(std::move(error), text);
  ++accepted;

  // Whatever it says, operations have models that make sense.
  OwningOpRef<ModuleOp> module = harness.parse(kModule);
  ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
  Fault fault;
  module->walk([&](Operation *op) {
    std::optional<OperationModel> model = table.lookup(op);
    if (!model)
      return;
    bool makesSense = model->flops >= 0 && model->bytesMoved >= 0 && model->workspaceBytes >= 0 &&
                      model->tripCount.value_or(0) >= 0;
    for (const ResultStorage &entry : model->storage)
      makesSense &=
          entry.result < op->getNumResults() &&
          ((entry.kind != ResultStorage::Kind::View && entry.kind != ResultStorage::Kind::Reuse) ||
           entry.operand < op->getNumOperands());
    for (unsigned operand : model->unreadOperands)
      makesSense &= operand < op->getNumOperands();
    if (!makesSense)
      fault =
          "the model of '" + op->getName().getStringRef().str() + "' makes no sense with\n" + text;
  });
  SymbolTableCollection symbols;
  SummaryAnalysis summaries(table, llvm::cantFail(Target::get("h100")), symbols);
  auto function = cast<FunctionOpInterface>(module->lookupSymbol("f"));
  FailureOr<FunctionProblem> problem =
      buildProblem(function, summaries, {Scope::Total, /*alignment=*/64});
  if (succeeded(problem))
    (void)planner::evaluate(problem->problem, planner::identityPlan(problem->problem));
  return fault;
}

//===----------------------------------------------------------------------===//
// Problems and plans
//===----------------------------------------------------------------------===//

static Fault checkProblem(Harness &harness, Random &random) {
  OwningOpRef<ModuleOp> module = harness.parse(generateModule(random, /*maxOps=*/12));
  if (!module)
    return "the generated module does not parse";
  ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
  RematerializeOptions options = harness.getLibraryOptions(fuzz::PassOptions::any(random, "none"));
  SymbolTableCollection symbols;
  SummaryAnalysis summaries(*options.models, options.target, symbols);
  auto function = cast<FunctionOpInterface>(module->lookupSymbol("main"));
  FailureOr<FunctionProblem> built =
      buildProblem(function, summaries, {options.scope, options.alignment});
  if (failed(built))
    return std::nullopt;
  planner::PlanFamily family(built->problem, {options.reorder, /*minBytes=*/0});
  auto toText = [](llvm::json::Value value) { return llvm::formatv("{0}", value).str(); };
  std::string text = toText(planner::toJSON(built->problem)), plan;
  if (random.chance(70))
    plan = toText(planner::toJSON(family.findSmallest().plan));
  static const StringRef words[] = {"operations", "values", "reads",  "writes", "bytes", "own",
                                    "view",       "reuse",  "source", "steps",  "clone", "after",
                                    "null",       "[",      "]",      "{",      "}",     ","};
  bool damagesPlan = random.chance(50);
  if (damagesPlan)
    plan = damage(std::move(plan), random, words);
  else
    text = damage(std::move(text), random, words);
  std::string input = text + '\0' + plan;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()), input.size());
  // What is not damaged is read.
  if (damagesPlan) {
    llvm::Expected<planner::Problem> parsed = planner::parseProblem(text);
    if (!parsed)
      return "the problem is not read back: " + llvm::toString(parsed.takeError());
  }
  return std::nullopt;
}

static Fault checkNodeLink(Random &random, int64_t &accepted) {
  static const StringRef words[] = {"id",    "name",  "cost_ram", "cost_cpu", "source", "target",
                                    "order", "\"a\"", "null",     "-1",       "{",      "}"};
  std::string text = damage(R"json({"graph": {"name": "g", "order": ["a", "b", 3]}, "nodes": [
 {"id": "a", "cost_ram": 4, "cost_cpu": 1}, {"id": 3, "out_cost": 7, "duration": 2},
 {"name": "b", "cost_ram": 0, "cost_cpu": 9}],
 "links": [{"source": "a", "target": "b"}, {"0": "b", "1": 3}, {"source": "a", "target": 3}]})json",
                            random, words);
  llvm::Expected<planner::NodeLinkGraph> graph = planner::parseNodeLink(text);
  if (!graph)
    return checkError(graph.takeError(), text);
  ++accepted;
  const planner::Problem &problem = graph->problem;
  planner::PlanFamily family(problem, {});
  planner::Solution smallest = family.findSmallest();
  if (llvm::Error error = planner::verify(problem, smallest.plan))
    return "the smallest plan is wrong: " + llvm::toString(std::move(error)) + '\n' + text;
  if (planner::getSchedule(*graph, smallest.plan).size() < graph->ids.size())
    return "the schedule leaves out a node\n" + text;
  return std::nullopt;
}

static Fault checkTrace(Random &random, int64_t &accepted) {
  static const StringRef words[] = {"CONSTANT", "MEMORY", "ALIAS", "CALL", "MUTATE", "COPY",
                                    "RELEASE",  "NAME",   "ARGS",  "x",    "y",      "z",
                                    "null",     "[0]",    "-1",    "\n",   "{",      "}"};
  std::string text = damage(R"json({"INSTRUCTION":"CONSTANT","NAME":"x"}
{"INSTRUCTION":"MEMORY","NAME":"x","MEMORY":"8"}
{"INSTRUCTION":"CALL","NAME":"f","ARGS":["x","x"],"RESULT":["y","z"],"TIME":"3"}
{"INSTRUCTION":"MEMORY","NAME":"y","MEMORY":"4"}
{"INSTRUCTION":"ALIAS","NAME":"y","ALIAS":"-1"}
{"INSTRUCTION":"MEMORY","NAME":"z","MEMORY":"8"}
{"INSTRUCTION":"ALIAS","NAME":"z","ALIAS":"1"}
{"INSTRUCTION":"CALL","NAME":"t","ARGS":["y"],"RESULT":["v"],"TIME":"1"}
{"INSTRUCTION":"MEMORY","NAME":"v","MEMORY":"2"}
{"INSTRUCTION":"ALIAS","NAME":"v","ALIAS":"0"}
{"INSTRUCTION":"COPY","DST":"w","SRC":"y"}
{"INSTRUCTION":"RELEASE","NAME":"y"}
{"INSTRUCTION":"MUTATE","NAME":"g","ARGS":["v","x","w"],"MUTATE":[0,2],"TIME":2}
{"INSTRUCTION":"CALL","NAME":"h","ARGS":["v","w","z"],"RESULT":["u"],"TIME":"1"}
{"INSTRUCTION":"MEMORY","NAME":"u","MEMORY":"2"}
{"INSTRUCTION":"RELEASE","NAME":"v"}
)json",
                            random, words);
  llvm::Expected<planner::Problem> problem = planner::parseTrace(text);
  if (!problem)
    return checkError(problem.takeError(), text);
  ++accepted;
  planner::PlanFamily family(*problem, {});
  if (llvm::Error error = planner::verify(*problem, family.findSmallest().plan))
    return "the smallest plan is wrong: " + llvm::toString(std::move(error)) + '\n' + text;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

static std::string toText(const CostProfile &profile) {
  std::string text;
  llvm::raw_string_ostream os(text);
  profile.print(os);
  return text;
}

static Fault checkProfile(Harness &harness, Random &random, int64_t &accepted) {
  static const StringRef words[] = {"version", "function", "operations",  "index",      "name",
                                    "step",    "math.exp", "picoseconds", "executions", "null",
                                    "{",       "}",        "[",           "]",          ",",
                                    "\"",      "\\",       ":",           "0"};
  OwningOpRef<ModuleOp> module = harness.parse(R"mlir(
func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  %1 = math.tanh %0 {remat.cost = 7 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
})mlir");
  CostProfile original{
      "step",
      {{"math.exp", random.between(0, 1000000), 5}, {"math.tanh", 3, 5}, {"func.return", 0, 0}}};
  std::string text = damage(toText(original), random, words);
  llvm::Expected<CostProfile> profile = CostProfile::parse(text);
  if (!profile)
    return checkError(profile.takeError(), text);
  ++accepted;
  // What is read is printed and read again.
  llvm::Expected<CostProfile> again = CostProfile::parse(toText(*profile));
  if (!again || toText(*again) != toText(*profile))
    return "what is read from\n" + text + "\nis printed as\n" + toText(*profile);
  ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
  SymbolTableCollection symbols;
  SummaryAnalysis summaries(ModelTable::getBuiltin(), llvm::cantFail(Target::get("h100")), symbols);
  auto function = cast<FunctionOpInterface>(module->lookupSymbol("step"));
  if (failed(summaries.useProfile(*profile, function)))
    return std::nullopt;
  FailureOr<FunctionProblem> problem =
      buildProblem(function, summaries, {Scope::Total, /*alignment=*/64});
  if (failed(problem) || problem->problem.operations[1].cost != 7)
    return "no problem, or other costs, with the profile\n" + text;
  int64_t cost = problem->problem.operations[0].cost;
  bool isMeasured = profile->function == "step" && profile->operations[0].executions > 0;
  if (isMeasured &&
      cost != std::min(profile->operations[0].picoseconds, planner::kMaxProblemSum / int64_t(3)))
    return llvm::formatv("an operation costs {0} ps with the profile\n{1}", cost, text).str();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Files of NumPy
//===----------------------------------------------------------------------===//

/// Other bytes, also in the middle of numbers.
static std::string damageBytes(std::string bytes, Random &random) {
  for (int64_t rounds = random.below(4); rounds > 0; --rounds) {
    size_t place = random.below(bytes.size() + 1);
    size_t length = std::min<size_t>(random.between(1, 8), bytes.size() - place);
    switch (random.below(5)) {
    case 0:
      bytes.erase(place, length);
      break;
    case 1:
      bytes.insert(place, bytes.substr(place, length));
      break;
    case 2:
      std::fill_n(bytes.begin() + place, length, random.chance(50) ? '\xff' : '\0');
      break;
    case 3:
      if (random.chance(20))
        bytes.resize(place);
      break;
    default:
      if (place < bytes.size())
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8)));
    }
  }
  return bytes;
}

static Fault checkNumPy(Random &random, int64_t &accepted) {
  static const StringRef words[] = {"'descr':", "'shape':", "'fortran_order':",
                                    "False",    "True",     "(",
                                    ")",        ",",        "'",
                                    "<f4",      "[",        "{",
                                    "-1",       "7, "};
  std::string text = makeNumPyHeader("<f4", {3, 5, 7});
  text = random.chance(50) ? damage(std::move(text), random, words)
                           : damageBytes(std::move(text), random);
  llvm::Expected<NumPyHeader> header = parseNumPyHeader(text);
  if (!header) {
    std::string message = llvm::toString(header.takeError());
    return message.empty() ? Fault("an error without a text") : std::nullopt;
  }
  ++accepted;
  if (header->bytes < 0 || header->bytes > int64_t(text.size()) ||
      llvm::any_of(header->shape, [](int64_t size) { return size < 0; }))
    return "a header that makes no sense from\n" + text;
  return std::nullopt;
}

static Fault checkArchive(Random &random, int64_t &accepted) {
  std::string elements(random.between(0, 200), 'x'), more(60, 'y');
  auto size = static_cast<int64_t>(elements.size());
  TemporaryFile original(""), file("");
  if (llvm::Error error = writeNumPyArchive(
          original.path, {{"arg0", "|u1", {size}, elements}, {"arg1", "|u1", {60}, more}}))
    return "no archive: " + llvm::toString(std::move(error));
  auto buffer = llvm::MemoryBuffer::getFile(original.path);
  std::string bytes = (*buffer)->getBuffer().str();
  std::string damaged = damageBytes(bytes, random);
  {
    std::error_code code;
    llvm::raw_fd_ostream(file.path, code) << damaged;
  }
  auto checkText = [](llvm::Error error) -> Fault {
    return llvm::toString(std::move(error)).empty() ? Fault("an error without a text")
                                                    : std::nullopt;
  };
  llvm::Expected<NumPyArchive> archive = NumPyArchive::open(file.path);
  if (!archive)
    return damaged == bytes ? Fault("an archive as it was is refused")
                            : checkText(archive.takeError());
  (void)archive->getNames();
  std::string read(size, '\0');
  llvm::Error error = archive->read(
      "arg0", [&](const NumPyHeader &) -> llvm::Expected<llvm::MutableArrayRef<char>> {
        return llvm::MutableArrayRef(read.data(), read.size());
      });
  if (error)
    return damaged == bytes ? Fault("an array as it was is refused") : checkText(std::move(error));
  ++accepted;
  // The elements have a checksum.
  return read == elements ? std::nullopt : Fault("elements are not what they were");
}

std::optional<std::string> mlir::remat::fuzz::checkParsers(Harness &harness, uint64_t seed,
                                                           int64_t &accepted) {
  Random random(seed);
  switch (random.pickWeighted({3, 2, 2, 3, 2, 2, 1, 2, 2, 2})) {
  case 0:
    return checkByteCount(random, accepted);
  case 1:
    return checkBudget(random, accepted);
  case 2:
    return checkTarget(random, accepted);
  case 3:
    return checkModels(harness, random, accepted);
  case 4:
    return checkNodeLink(random, accepted);
  case 5:
    return checkTrace(random, accepted);
  case 6:
    return checkProblem(harness, random);
  case 7:
    return checkProfile(harness, random, accepted);
  case 8:
    return checkNumPy(random, accepted);
  default:
    return checkArchive(random, accepted);
  }
}
