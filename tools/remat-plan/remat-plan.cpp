//===- remat-plan.cpp - Planning without MLIR -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves, verifies and shows planning problems that are files: networkx's
// node-link graphs, logs of DTR's prototype and the planner's own JSON. Exit code 0: met; 2:
// infeasible; 1: bad input.
//
//===----------------------------------------------------------------------===//

#include "Generate.h"
#include "Highs.h"
#include "Remat/Planner/Bounds.h"
#include "Remat/Planner/NodeLink.h"
#include "Remat/Planner/Serialization.h"
#include "Remat/Planner/Solve.h"
#include "Remat/Planner/Trace.h"
#include "Remat/Support/ByteCount.h"
#include "Remat/Support/Error.h"
#include "Remat/Support/Gzip.h"
#include "Remat/Support/JSON.h"
#include "Remat/Support/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include <chrono>
#include <csignal>
#include <thread>

using namespace llvm;
using namespace mlir::remat;
using namespace mlir::remat::planner;

static constexpr int kInfeasible = 2;

/// The largest size of a buffer in a CSV file.
static constexpr int64_t kMaxBufferBytes = int64_t(1) << 50;

static cl::SubCommand solveCommand("solve", "Find the cheapest known plan within a budget");
static cl::SubCommand paretoCommand("pareto", "Print what each budget costs, as CSV");
static cl::SubCommand verifyCommand("verify", "Check a plan, and say what it takes");
static cl::SubCommand showCommand("show", "Print a plan step by step");
static cl::SubCommand packCommand("pack", "Assign offsets to buffers with lifetimes");

static cl::opt<std::string> graphPath(cl::Positional, cl::Required, cl::desc("GRAPH"),
                                      cl::sub(solveCommand), cl::sub(paretoCommand),
                                      cl::sub(verifyCommand), cl::sub(showCommand));
static cl::opt<std::string> planPath(cl::Positional, cl::Required, cl::desc("PLAN"),
                                     cl::sub(verifyCommand), cl::sub(showCommand));
static cl::opt<std::string> budgetText("budget", cl::init("none"), cl::value_desc("0.8x|80%|4GB"),
                                       cl::desc("Peak that must not be exceeded"),
                                       cl::sub(solveCommand), cl::sub(verifyCommand));
static cl::opt<std::string> maxOverhead("max-overhead", cl::init("none"), cl::value_desc("5%"),
                                        cl::desc("Find the smallest peak that adds no more cost"),
                                        cl::sub(solveCommand));
static cl::opt<int64_t> numPoints("points", cl::init(20),
                                  cl::desc("Budgets from the unchanged peak to the smallest one"),
                                  cl::sub(paretoCommand));
static cl::list<std::string> budgetTexts("budgets", cl::CommaSeparated,
                                         cl::value_desc("100%,0.9x,4GB,..."),
                                         cl::desc("Budgets to answer one by one, not --points"),
                                         cl::sub(paretoCommand));
static cl::opt<std::string> reorderText("reorder", cl::init("on"), cl::value_desc("on|off"),
                                        cl::desc("Whether operations may leave their place"),
                                        cl::sub(solveCommand), cl::sub(paretoCommand));
static cl::opt<bool> packed("packed", cl::desc("Compare the budget with the packed peak"),
                            cl::sub(solveCommand), cl::sub(paretoCommand), cl::sub(verifyCommand));
static cl::opt<std::string> outputPath("output", cl::value_desc("file"),
                                       cl::desc("Write the answer to this file"),
                                       cl::sub(solveCommand), cl::sub(paretoCommand),
                                       cl::sub(packCommand));
static cl::opt<std::string> solverText("solver", cl::init("auto"),
                                       cl::value_desc("auto|greedy|chain|anneal|exact"),
                                       cl::desc("How to look for plans"), cl::sub(solveCommand),
                                       cl::sub(paretoCommand));
static cl::opt<int64_t> numSeeds("seeds", cl::init(2), cl::desc("Runs of the local search"),
                                 cl::sub(solveCommand), cl::sub(paretoCommand));
static cl::opt<int64_t>
    effort("effort", cl::init(2),
           cl::desc("Work of each run: 1 is some seconds, each step more four times as much"),
           cl::sub(solveCommand), cl::sub(paretoCommand));
static cl::opt<int64_t> numIterations("iterations", cl::init(0),
                                      cl::desc("Steps of each run, instead of an effort"),
                                      cl::sub(solveCommand), cl::sub(paretoCommand));
static cl::opt<int64_t> numThreads("threads", cl::init(0),
                                   cl::desc("Runs at a time; 0: one per processor core"),
                                   cl::sub(solveCommand), cl::sub(paretoCommand));
static cl::opt<double> timeLimit("time-limit", cl::init(0), cl::value_desc("seconds"),
                                 cl::desc("End the search then; the answer is not reproducible"),
                                 cl::sub(solveCommand), cl::sub(paretoCommand));
static cl::opt<std::string>
    lpBound("lp-bound", cl::ValueOptional, cl::value_desc("libhighs.so"),
            cl::desc("Raise lower bounds by linear programs, which this library solves"),
            cl::sub(solveCommand), cl::sub(paretoCommand));
static cl::opt<std::string> csvPath(cl::Positional, cl::Required, cl::desc("FILE.csv"),
                                    cl::sub(packCommand));
static cl::opt<int64_t> capacity("capacity", cl::init(-1), cl::value_desc("bytes"),
                                 cl::desc("Arena that must not be exceeded"), cl::sub(packCommand));
static cl::opt<int64_t> maxVisits("max-visits", cl::init(kExactPackingVisits),
                                  cl::desc("Work of the exact search within the capacity"),
                                  cl::sub(packCommand));

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path, true);
  if (!buffer)
    return makeError("cannot read '{0}': {1}", path, buffer.getError().message());
  return std::move(*buffer);
}

//===----------------------------------------------------------------------===//
// Problems and plans
//===----------------------------------------------------------------------===//

/// A node-link graph, or a log or a problem in the planner's own form, whose ids are
/// the indices of its operations; what it is, and whether it is compressed, the
/// contents say.
static Expected<NodeLinkGraph> readGraph() {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(graphPath);
  if (!buffer)
    return buffer.takeError();
  StringRef text = (*buffer)->getBuffer();
  auto withPath = [](Error error) {
    return makeError("'{0}': {1}", graphPath, toString(std::move(error)));
  };
  std::string inflated;
  if (isGzip(text)) {
    Expected<std::string> contents = gunzip(text);
    if (!contents)
      return withPath(contents.takeError());
    inflated = std::move(*contents);
    text = inflated;
  }
  if (isNodeLink(text)) {
    Expected<NodeLinkGraph> graph = parseNodeLink(text);
    if (!graph)
      return withPath(graph.takeError());
    return graph;
  }
  Expected<Problem> problem = isTrace(text) ? parseTrace(text) : parseProblem(text);
  if (!problem)
    return withPath(problem.takeError());
  NodeLinkGraph graph;
  graph.problem = std::move(*problem);
  for (size_t index = 0; index < graph.problem.operations.size(); ++index)
    graph.ids.push_back(std::to_string(index));
  return graph;
}

/// The plan in what `solve` has written, or a plan alone.
static Expected<Plan> readPlan(const Problem &problem) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(planPath);
  if (!buffer)
    return buffer.takeError();
  auto withPath = [](Error error) {
    return makeError("'{0}': {1}", planPath, toString(std::move(error)));
  };
  Expected<json::Value> root = parseJSON((*buffer)->getBuffer());
  if (!root)
    return withPath(root.takeError());
  std::string text = (*buffer)->getBuffer().str();
  if (const json::Object *object = root->getAsObject())
    if (const json::Value *plan = object->get("plan"))
      text = formatv("{0}", *plan).str();
  Expected<Plan> plan = parsePlan(text, problem);
  if (!plan)
    return withPath(plan.takeError());
  return plan;
}

struct PlannedGraph {
  NodeLinkGraph graph;
  Plan plan;
};

/// A graph and a plan for it.
static Expected<PlannedGraph> readGraphAndPlan() {
  Expected<NodeLinkGraph> graph = readGraph();
  if (!graph)
    return graph.takeError();
  Expected<Plan> plan = readPlan(graph->problem);
  if (!plan)
    return plan.takeError();
  return PlannedGraph{std::move(*graph), std::move(*plan)};
}

static Expected<int64_t> readBudget(StringRef text, int64_t peak) {
  StringRef given = text;
  // `0.8x` is 80 %.
  std::string percent;
  if (text.consume_back("x")) {
    double factor;
    if (text.getAsDouble(factor) || !(factor > 0) || factor > 1)
      return makeError("expected a budget such as '0.8x', '80%' or '4GB', but got '{0}'", given);
    percent = formatv("{0:f6}%", 100 * factor).str();
    text = percent;
  }
  Expected<Budget> budget = parseBudget(text);
  if (!budget)
    return budget.takeError();
  return budget->kind == Budget::Kind::None ? std::numeric_limits<int64_t>::max()
                                            : budget->resolve(peak);
}

static int64_t getPeak(const Solution &solution) {
  return packed ? solution.packing.packedBytes : solution.simulation.livePeak;
}

static double getPercent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * part / whole;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Set by an interrupt: the best plan so far is the answer.
static volatile std::sig_atomic_t isInterrupted = 0;

static void interrupt(int) {
  isInterrupted = 1;
  std::signal(SIGINT, SIG_DFL);
}

/// Between two updates of the line.
static constexpr std::chrono::milliseconds kProgressPeriod(100);

/// Keeps one line on a terminal up to date.
static void printProgress(const Progress &progress, int64_t cost) {
  std::string best = progress.addedCost < 0
                         ? "nothing fits yet"
                         : formatv("{0:f4} % added", getPercent(progress.addedCost, cost)).str();
  errs() << formatv("\r{0,3} %, {1}\x1b[K",
                    100 * progress.iteration / std::max<int64_t>(progress.numIterations, 1), best);
}

static Expected<int64_t> readCount(const cl::opt<int64_t> &option, int64_t least, int64_t most) {
  if (option < least || option > most)
    return makeError("expected '--{0}' to be from {1} to {2}, but got {3}", option.ArgStr, least,
                     most, option.getValue());
  return option.getValue();
}

static Expected<SolveOptions> readOptions() {
  if (reorderText != "on" && reorderText != "off")
    return makeError("expected '--reorder' to be 'on' or 'off', but got '{0}'", reorderText);
  SolveOptions options;
  options.reorder = reorderText == "on";
  options.isPacked = packed;
  std::optional<Solver> solver = parseSolver(solverText);
  if (!solver)
    return makeError("expected '--solver' to be 'auto', 'greedy', 'chain', 'anneal' or 'exact', "
                     "but got '{0}'",
                     solverText);
  options.solver = *solver;
  for (auto [option, least, most, target] :
       {std::tuple(&numSeeds, int64_t(1), int64_t(4096), &options.numSeeds),
        std::tuple(&effort, int64_t(0), kMaxEffort, &options.effort),
        std::tuple(&numIterations, int64_t(0), int64_t(1) << 40, &options.numIterations),
        std::tuple(&numThreads, int64_t(0), int64_t(1024), &options.numThreads)}) {
    Expected<int64_t> count = readCount(*option, least, most);
    if (!count)
      return count.takeError();
    *target = *count;
  }
  if (options.numThreads == 0)
    options.numThreads = std::max(1u, std::thread::hardware_concurrency());
  if (!(timeLimit >= 0) || timeLimit > 1e9)
    return makeError("expected '--time-limit' to be from 0 to 1e9 seconds, but got {0}",
                     timeLimit.getValue());
  options.timeLimitSeconds = timeLimit;
  if (lpBound.getNumOccurrences() > 0) {
    Expected<LinearProgramSolver> highs =
        loadHighs(lpBound.empty() ? std::string("libhighs.so") : lpBound);
    if (!highs)
      return highs.takeError();
    options.solveLinearProgram = std::move(*highs);
  }
  std::signal(SIGINT, interrupt);
  options.shouldStop = [] { return isInterrupted != 0; };
  return options;
}

/// Shows progress of what runs up to the end of its life, on terminals only.
class ProgressLine {
public:
  ProgressLine(SolveOptions &options, int64_t cost)
      : isShown(sys::Process::StandardErrIsDisplayed()) {
    if (isShown)
      options.onProgress = [cost, shown = std::chrono::steady_clock::time_point()](
                               const Progress &progress) mutable {
        auto now = std::chrono::steady_clock::now();
        if (now - shown < kProgressPeriod)
          return;
        shown = now;
        printProgress(progress, cost);
      };
  }
  ~ProgressLine() {
    if (isShown)
      errs() << "\r\x1b[K";
  }

private:
  bool isShown;
};

static Expected<int> solveGraph() {
  Expected<SolveOptions> options = readOptions();
  if (!options)
    return options.takeError();
  Expected<NodeLinkGraph> graph = readGraph();
  if (!graph)
    return graph.takeError();
  const Problem &problem = graph->problem;
  auto started = std::chrono::steady_clock::now();
  Solution identity = evaluate(problem, identityPlan(problem));
  Expected<int64_t> budget = readBudget(budgetText, getPeak(identity));
  if (!budget)
    return budget.takeError();
  int64_t cost = identity.simulation.cost;
  Expected<CostLimit> limit = parseCostLimit(maxOverhead);
  if (!limit)
    return limit.takeError();
  bool isLimited = *budget != std::numeric_limits<int64_t>::max();
  if (isLimited && limit->amount)
    return makeError("'--budget' and '--max-overhead' are two questions: give one");

  Expected<Answer> answer = [&] {
    ProgressLine line(*options, cost);
    return isLimited ? solve(problem, *budget, *options)
                     : solveForCost(problem, limit->resolve(cost), *options);
  }();
  if (!answer)
    return answer.takeError();
  const Solution &solution = answer->solution;
  bool isMet = answer->status == Status::Optimal || answer->status == Status::Feasible;
  bool isImpossible = answer->status == Status::Infeasible;
  int64_t added = answer->addedCost, bound = std::max<int64_t>(answer->addedCostLowerBound, 0);
  StringRef status = isMet ? getName(answer->status) : "infeasible";
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();

  outs() << formatv("operations   {0}\n", graph->ids.size());
  outs() << formatv("unchanged    {0} B, cost {1}\n", getPeak(identity), cost);
  if (isLimited)
    outs() << formatv("budget       {0} B of {1}\n", *budget, packed ? "packed peak" : "live peak");
  outs() << formatv("status       {0}\n", status);
  if (!isMet && isLimited)
    outs() << formatv("smallest     {0} B is the smallest budget known\n", getPeak(solution));
  outs() << formatv("peak         {0} B\n", getPeak(solution));
  outs() << formatv("added cost   {0} ({1:f4} %)\n", added, getPercent(added, cost));
  if (isImpossible)
    outs() << "lower bound  no plan fits\n";
  else if (!isLimited)
    outs() << formatv("lower bound  {0} ({1:f4} %) for this peak\n", bound,
                      getPercent(bound, cost));
  else
    outs() << formatv("lower bound  {0} ({1:f4} %), gap {2}\n", bound, getPercent(bound, cost),
                      isMet ? formatv("{0:f4} %", getPercent(added - bound, cost)).str() : "open");
  errs() << formatv("{0:f2} seconds\n", seconds);
  if (!outputPath.empty()) {
    json::Object object{{"version", 1},
                        {"status", status},
                        {"unchanged_peak_bytes", getPeak(identity)},
                        {"peak_bytes", getPeak(solution)},
                        {"live_peak_bytes", solution.simulation.livePeak},
                        {"packed_bytes", solution.packing.packedBytes},
                        {"cost", cost},
                        {"added_cost", added},
                        {"schedule", json::Array(getSchedule(*graph, solution.plan))},
                        {"plan", toJSON(solution.plan)}};
    if (isLimited)
      object["budget_bytes"] = *budget;
    object["added_cost_lower_bound"] = isImpossible ? json::Value(nullptr) : json::Value(bound);
    object["gap"] = isMet ? json::Value(added - bound) : json::Value(nullptr);
    if (Error error = writeOutputFile(outputPath, [&](raw_ostream &os) {
          os << formatv("{0:2}", json::Value(std::move(object))) << '\n';
        }))
      return error;
  }
  return isMet ? EXIT_SUCCESS : kInfeasible;
}

/// A point of the front.
struct FrontPoint {
  int64_t peakBytes;
  int64_t addedCost;
  double overheadPercent;
};

/// What one of several budgets leads to.
struct BudgetPoint {
  int64_t budgetBytes;
  bool isMet;
  FrontPoint point;
  std::vector<std::string> schedule;

  StringRef getStatus() const { return isMet ? "met" : "infeasible"; }
};

static void printBudgets(ArrayRef<BudgetPoint> points, raw_ostream &os) {
  if (StringRef(outputPath).ends_with(".json")) {
    json::Array array;
    for (const BudgetPoint &point : points)
      array.push_back(json::Object{{"budget_bytes", point.budgetBytes},
                                   {"status", point.getStatus()},
                                   {"peak_bytes", point.point.peakBytes},
                                   {"added_cost", point.point.addedCost},
                                   {"overhead_percent", point.point.overheadPercent},
                                   {"schedule", json::Array(point.schedule)}});
    os << formatv("{0:2}", json::Value(json::Object{{"version", 1}, {"points", std::move(array)}}))
       << '\n';
    return;
  }
  os << "budget_bytes,status,peak_bytes,added_cost,overhead_percent\n";
  for (const BudgetPoint &point : points)
    os << formatv("{0},{1},{2},{3},{4:f4}\n", point.budgetBytes, point.getStatus(),
                  point.point.peakBytes, point.point.addedCost, point.point.overheadPercent);
}

static void printFront(ArrayRef<FrontPoint> points, raw_ostream &os) {
  if (StringRef(outputPath).ends_with(".json")) {
    json::Array array;
    for (const FrontPoint &point : points)
      array.push_back(json::Object{{"peak_bytes", point.peakBytes},
                                   {"added_cost", point.addedCost},
                                   {"overhead_percent", point.overheadPercent}});
    os << formatv("{0:2}", json::Value(json::Object{{"version", 1}, {"points", std::move(array)}}))
       << '\n';
    return;
  }
  os << "peak_bytes,added_cost,overhead_percent\n";
  for (const FrontPoint &point : points)
    os << formatv("{0},{1},{2:f4}\n", point.peakBytes, point.addedCost, point.overheadPercent);
}

/// Writes to `--output`, or else to standard output.
static Error writeAnswer(function_ref<void(raw_ostream &)> print) {
  if (!outputPath.empty())
    return writeOutputFile(outputPath, print);
  print(outs());
  return Error::success();
}

/// The budgets of `--budgets`.
static Expected<std::vector<int64_t>> readBudgets(const Problem &problem,
                                                  const SolveOptions &options) {
  int64_t peak = getPeak(PlanFamily(problem, options).getIdentity());
  std::vector<int64_t> budgets;
  for (StringRef text : budgetTexts) {
    Expected<int64_t> budget = readBudget(text, peak);
    if (!budget)
      return budget.takeError();
    budgets.push_back(*budget);
  }
  return budgets;
}

static Expected<int> pareto() {
  Expected<SolveOptions> options = readOptions();
  if (!options)
    return options.takeError();
  Expected<NodeLinkGraph> graph = readGraph();
  if (!graph)
    return graph.takeError();
  const Problem &problem = graph->problem;
  if (!budgetTexts.empty() && numPoints.getNumOccurrences())
    return makeError("'--budgets' and '--points' are two questions: give one");
  Expected<int64_t> count = readCount(numPoints, 2, 100000);
  if (!count)
    return count.takeError();
  Expected<std::vector<int64_t>> budgets = readBudgets(problem, *options);
  if (!budgets)
    return budgets.takeError();
  int64_t cost = simulate(problem, identityPlan(problem)).cost;
  Expected<std::vector<Answer>> answers = [&] {
    ProgressLine line(*options, cost);
    return budgets->empty() ? solveFront(problem, *count, {}, *options)
                            : solveAll(problem, *budgets, *options);
  }();
  if (!answers)
    return answers.takeError();
  auto toPoint = [&](const Answer &answer) {
    return FrontPoint{getPeak(answer.solution), answer.addedCost,
                      getPercent(answer.addedCost, cost)};
  };
  if (budgetTexts.empty()) {
    std::vector<FrontPoint> points;
    for (const Answer &answer : *answers)
      if (FrontPoint point = toPoint(answer);
          points.empty() || point.peakBytes < points.back().peakBytes)
        points.push_back(point);
    if (Error error = writeAnswer([&](raw_ostream &os) { printFront(points, os); }))
      return error;
    return EXIT_SUCCESS;
  }
  std::vector<BudgetPoint> points;
  for (auto [budget, answer] : zip_equal(*budgets, *answers)) {
    bool isMet = answer.status == Status::Optimal || answer.status == Status::Feasible;
    points.push_back({budget, isMet, toPoint(answer), getSchedule(*graph, answer.solution.plan)});
  }
  if (Error error = writeAnswer([&](raw_ostream &os) { printBudgets(points, os); }))
    return error;
  return all_of(points, [](const BudgetPoint &point) { return point.isMet; }) ? EXIT_SUCCESS
                                                                              : kInfeasible;
}

static Expected<int> verifyPlan() {
  Expected<PlannedGraph> input = readGraphAndPlan();
  if (!input)
    return input.takeError();
  const Problem &problem = input->graph.problem;
  Solution identity = evaluate(problem, identityPlan(problem));
  Expected<int64_t> budget = readBudget(budgetText, getPeak(identity));
  if (!budget)
    return budget.takeError();
  Solution solution = evaluate(problem, std::move(input->plan));
  int64_t added = addedCost(problem, solution.plan);
  outs() << formatv("valid: live peak {0} B, packed peak {1} B, added cost {2} ({3:f4} %)\n",
                    solution.simulation.livePeak, solution.packing.packedBytes, added,
                    getPercent(added, identity.simulation.cost));
  if (getPeak(solution) <= *budget)
    return EXIT_SUCCESS;
  outs() << formatv("over the budget of {0} B\n", *budget);
  return kInfeasible;
}

static Expected<int> show() {
  Expected<PlannedGraph> input = readGraphAndPlan();
  if (!input)
    return input.takeError();
  print(input->graph.problem, input->plan, outs());
  return EXIT_SUCCESS;
}

/// Reads the CSV form of MiniMalloc (Moffitt, ASPLOS 2023): `id,lower,upper,size`, in
/// any order of the columns, with half-open lifetimes.
static Expected<std::vector<Buffer>> readBuffers(StringRef text, SmallVectorImpl<StringRef> &ids) {
  SmallVector<StringRef> lines, header;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  if (lines.empty())
    return makeError("'{0}': expected a header with the columns id, lower, upper and size",
                     csvPath);
  lines.front().rtrim('\r').split(header, ',');
  auto findColumn = [&](StringRef name) { return find(header, name) - header.begin(); };
  size_t columns[] = {size_t(findColumn("id")), size_t(findColumn("lower")),
                      size_t(findColumn("upper")), size_t(findColumn("size"))};
  if (is_contained(columns, header.size()))
    return makeError("'{0}': expected a header with the columns id, lower, upper and size",
                     csvPath);
  std::vector<Buffer> buffers;
  for (auto [number, line] : enumerate(ArrayRef(lines).drop_front())) {
    SmallVector<StringRef> cells;
    line.rtrim('\r').split(cells, ',');
    Buffer buffer;
    if (cells.size() != header.size() || cells[columns[1]].getAsInteger(10, buffer.begin) ||
        cells[columns[2]].getAsInteger(10, buffer.end) ||
        cells[columns[3]].getAsInteger(10, buffer.bytes) || buffer.begin < 0 ||
        buffer.begin >= buffer.end || buffer.bytes < 0 || buffer.bytes > kMaxBufferBytes)
      return makeError("'{0}', line {1}: expected {2} integers with 0 <= lower < upper and a size "
                       "from 0 to {3}",
                       csvPath, number + 2, header.size(), kMaxBufferBytes);
    ids.push_back(cells[columns[0]]);
    buffers.push_back(buffer);
  }
  return buffers;
}

static Expected<int> packBuffers() {
  if (capacity.getNumOccurrences() > 0 && capacity < 0)
    return makeError("expected '--capacity' to be at least 0, but got {0}", capacity.getValue());
  Expected<std::unique_ptr<MemoryBuffer>> file = readFile(csvPath);
  if (!file)
    return file.takeError();
  SmallVector<StringRef> ids;
  Expected<std::vector<Buffer>> buffers = readBuffers((*file)->getBuffer(), ids);
  if (!buffers)
    return buffers.takeError();
  if (maxVisits < 0)
    return makeError("expected '--max-visits' to be at least 0, but got {0}", maxVisits.getValue());
  int64_t total = 0;
  for (const Buffer &buffer : *buffers) {
    total += buffer.bytes;
    if (total > kMaxPackingCapacity)
      return makeError("'{0}': the sizes add up to more than {1} B", csvPath, kMaxPackingCapacity);
  }
  Packing packing = packBestFit(*buffers, /*alignment=*/1);
  bool isProven = true;
  if (capacity >= 0 && packing.arenaBytes > capacity)
    if (std::optional<Packing> exact =
            packWithin(*buffers, /*alignment=*/1, capacity, maxVisits, &isProven))
      packing = std::move(*exact);
  outs() << formatv("{0} buffers, arena {1} B\n", buffers->size(), packing.arenaBytes);
  if (!outputPath.empty())
    if (Error error = writeOutputFile(outputPath, [&](raw_ostream &os) {
          os << "id,lower,upper,size,offset\n";
          for (auto [id, buffer, offset] : zip_equal(ids, *buffers, packing.offsets))
            os << id << ',' << buffer.begin << ',' << buffer.end << ',' << buffer.bytes << ','
               << offset << '\n';
        }))
      return error;
  if (capacity < 0 || packing.arenaBytes <= capacity)
    return EXIT_SUCCESS;
  outs() << formatv("above the capacity of {0} B{1}\n", capacity.getValue(),
                    isProven ? ": no packing fits" : "; the search did not end");
  return kInfeasible;
}

/// Options of the libraries that `--help` would list among our own.
static void hideForeignOptions() {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (!name.starts_with("help") && name != "version")
      option->setHiddenFlag(cl::ReallyHidden);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  hideForeignOptions();
  cl::ParseCommandLineOptions(argc, argv, "Plans which values to drop and compute again\n");
  Expected<int> result = solveCommand    ? solveGraph()
                         : paretoCommand ? pareto()
                         : verifyCommand ? verifyPlan()
                         : showCommand   ? show()
                         : packCommand   ? packBuffers()
                         : generateCommand
                             ? runGenerate()
                             : makeError("name a command: solve, pareto, verify, show, pack or "
                                         "generate; 'remat-plan --help' lists them");
  if (result)
    return *result;
  WithColor::error(errs(), "remat-plan") << toString(result.takeError()) << '\n';
  return EXIT_FAILURE;
}
