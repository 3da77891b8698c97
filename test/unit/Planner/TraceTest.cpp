//===- TraceTest.cpp - Logs of tensor programs ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Planner/Trace.h"
#include "RandomProblem.h"
#include "Remat/Planner/Serialization.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::test;

namespace {

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

std::string constant(llvm::StringRef name, int64_t bytes) {
  return llvm::formatv("{{\"INSTRUCTION\":\"CONSTANT\",\"NAME\":\"{0}\"}\n"
                       "{{\"INSTRUCTION\":\"MEMORY\",\"MEMORY\":\"{1}\",\"NAME\":\"{0}\"}\n",
                       name, bytes)
      .str();
}

std::string quoted(llvm::StringRef names) {
  llvm::SmallVector<llvm::StringRef> parts;
  names.split(parts, ' ', -1, /*KeepEmpty=*/false);
  return parts.empty() ? "" : "\"" + llvm::join(parts, "\",\"") + "\"";
}

/// A call without what MEMORY and ALIAS say of its results.
std::string call(llvm::StringRef op, llvm::StringRef arguments, llvm::StringRef results) {
  return llvm::formatv("{{\"ARGS\":[{1}],\"INSTRUCTION\":\"CALL\",\"NAME\":\"{0}\","
                       "\"RESULT\":[{2}],\"TIME\":\"1\"}\n",
                       op, quoted(arguments), quoted(results))
      .str();
}

std::string result(llvm::StringRef name, int64_t bytes, int64_t alias = -1) {
  return llvm::formatv("{{\"INSTRUCTION\":\"MEMORY\",\"MEMORY\":\"{1}\",\"NAME\":\"{0}\"}\n"
                       "{{\"ALIAS\":\"{2}\",\"INSTRUCTION\":\"ALIAS\",\"NAME\":\"{0}\"}\n",
                       name, bytes, alias)
      .str();
}

/// A call with one result.
std::string call(llvm::StringRef op, llvm::StringRef arguments, llvm::StringRef name, int64_t bytes,
                 int64_t alias = -1) {
  return call(op, arguments, name) + result(name, bytes, alias);
}

std::string mutate(llvm::StringRef op, llvm::StringRef arguments, llvm::StringRef positions) {
  return llvm::formatv("{{\"ARGS\":[{1}],\"INSTRUCTION\":\"MUTATE\",\"MUTATE\":[{2}],"
                       "\"NAME\":\"{0}\",\"TIME\":\"2\"}\n",
                       op, quoted(arguments), positions)
      .str();
}

std::string copy(llvm::StringRef destination, llvm::StringRef source) {
  return llvm::formatv("{{\"DST\":\"{0}\",\"INSTRUCTION\":\"COPY\",\"SRC\":\"{1}\"}\n", destination,
                       source)
      .str();
}

std::string release(llvm::StringRef names) {
  llvm::SmallVector<llvm::StringRef> parts;
  names.split(parts, ' ');
  std::string text;
  for (llvm::StringRef name : parts)
    text += llvm::formatv("{{\"INSTRUCTION\":\"RELEASE\",\"NAME\":\"{0}\"}\n", name).str();
  return text;
}

//===----------------------------------------------------------------------===//
// What comes out
//===----------------------------------------------------------------------===//

/// One line per operation: `name(reads; dependences) -> writes`, where a write shows
/// what its storage is.
std::string describe(llvm::StringRef text) {
  llvm::Expected<Problem> problem = parseTrace(text);
  if (!problem)
    return "error: " + llvm::toString(problem.takeError());
  auto nameOf = [&](ValueIndex value) { return problem->values[value].name; };
  std::string lines;
  for (const Operation &op : problem->operations) {
    lines += op.effect == Effect::Ordered ? "ordered " : "";
    lines += op.name + "(" + llvm::join(llvm::map_range(op.reads, nameOf), " ");
    if (!op.dependences.empty())
      lines += "; " + llvm::join(llvm::map_range(op.dependences, nameOf), " ");
    lines += ")";
    for (ValueIndex index : op.writes) {
      const Value &value = problem->values[index];
      lines += " " + value.name;
      if (value.placement == Placement::View)
        lines += "=view of " + nameOf(value.source);
      if (value.placement == Placement::Reuse)
        lines += "=in place of " + nameOf(value.source);
    }
    lines += "\n";
  }
  return lines;
}

int64_t livePeak(llvm::StringRef text) {
  Problem problem = llvm::cantFail(parseTrace(text));
  return simulate(problem, identityPlan(problem)).livePeak;
}

TEST(TraceTest, CallsAndConstants) {
  std::string text = constant("w", 100) + constant("x", 7) + call("mm", "x w", "y", 50) +
                     call("relu", "y y", "z", 60) + release("x w y");
  EXPECT_EQ(describe(text), "mm(x w) y\nrelu(y) z\nend(z)\n");
  EXPECT_EQ(livePeak(text), 107 + 110);
  Problem problem = llvm::cantFail(parseTrace(text));
  EXPECT_EQ(problem.operations[0].cost, 1000);
  EXPECT_TRUE(problem.operations[0].recomputable);
  EXPECT_EQ(problem.operations.back().effect, Effect::Pinned);
  EXPECT_EQ(problem.values[0].producer, kBoundary);
}

// A result that nobody reads is computed, but does not stay. One with a name stays.
TEST(TraceTest, Results) {
  std::string text = constant("x", 1) + call("a", "x", "p q") + result("p", 10) + result("q", 20) +
                     call("b", "x", "r", 40) + release("r p");
  EXPECT_EQ(describe(text), "a(x) p q\nb(x) r\nend(q; r)\n");
  EXPECT_EQ(describe(text + release("q")), "a(x) p q\nb(x) r\nend(; p r)\n");
  EXPECT_EQ(livePeak(text + release("q")), 41);
}

TEST(TraceTest, CopiesAreNames) {
  std::string text = constant("x", 1) + call("a", "x", "p", 10) + copy("q", "p") + release("p") +
                     call("b", "q", "r", 20) + release("r");
  EXPECT_EQ(describe(text), "a(x) p\nb(p) r\nend(p; r)\n");
  EXPECT_EQ(describe(text + release("q")), "a(x) p\nb(p) r\nend(; r)\n");
  // A name may come back for something else.
  EXPECT_EQ(describe(text + call("c", "q", "p", 5)), "a(x) p\nb(p) r\nc(p) p\nend(p p; r)\n");
}

TEST(TraceTest, AliasesAreViews) {
  std::string text = constant("x", 1) + call("a", "x", "p", 10) + call("t", "p", "q", 10, 0) +
                     release("p") + call("t", "x q", "r", 5, 1) + release("q") +
                     call("b", "r", "s", 20);
  EXPECT_EQ(describe(text + release("r")), "a(x) p\nt(p) r=view of p\nb(r) s\nend(s)\n");
  // A view keeps the storage.
  EXPECT_EQ(livePeak(text + release("r") + call("c", "s", "u", 20)), 1 + 20 + 20);
  EXPECT_EQ(livePeak(text + call("c", "s", "u", 20)), 1 + 10 + 20 + 20);
  // The call takes no time: nothing is computed.
  EXPECT_EQ(llvm::cantFail(parseTrace(text)).operations[1].cost, 0);
  // One view for all readers, and one for each result.
  EXPECT_EQ(describe(constant("x", 8) + call("split", "x", "y z") + result("y", 4, 0) +
                     result("z", 4, 0) + call("a", "z y", "p", 1) + call("b", "y", "q", 1) +
                     release("x y z")),
            "split(x) z=view of x\nsplit(x) y=view of x\na(z y) p\nb(y) q\nend(p q)\n");
  // A call with another result as well is one operation.
  EXPECT_EQ(describe(constant("x", 8) + call("f", "x", "y z") + result("y", 8, 0) + result("z", 4) +
                     call("g", "y", "p", 1) + release("x y")),
            "f(x) y=view of x z\ng(y) p\nend(z p)\n");
  // Views of constants are no storages.
  EXPECT_EQ(livePeak(constant("x", 9) + call("t", "x", "v", 9, 0)), 9);
}

TEST(TraceTest, MutationIsANewVersion) {
  std::string text = constant("x", 1) + call("a", "x", "p", 10) + copy("p2", "p") +
                     mutate("relu_", "p x", "0") + call("b", "p2", "q", 20) + release("p p2");
  EXPECT_EQ(describe(text), "a(x) p\nrelu_(x p) p#1=in place of p\nb(p#1) q\nend(q)\n");
  // In place: one storage.
  EXPECT_EQ(livePeak(text), 1 + 10 + 20);
  Problem problem = llvm::cantFail(parseTrace(text));
  EXPECT_EQ(problem.operations[1].cost, 2000);
  EXPECT_TRUE(problem.operations[1].recomputable);
}

// Who reads old contents again, in a plan, has them computed again: no clone ever reads
// what was overwritten.
TEST(TraceTest, ClonesReadTheVersionThatTheyNeed) {
  std::string text = constant("x", 1) + call("a", "x", "p", 10) + call("b", "p", "q", 100) +
                     mutate("relu_", "p", "0") + call("c", "p q", "r", 1) +
                     call("d", "q r", "s", 1) + release("p q r");
  Problem problem = llvm::cantFail(parseTrace(text));
  // `d` reads a clone of `b`, which reads the first version.
  Plan plan = identityPlan(problem);
  Step clone = plan.steps[1];
  clone.isClone = true;
  plan.steps.insert(plan.steps.begin() + 4, clone);
  plan.steps[5].reads = {4, 3};
  plan.steps[6].reads = {5};
  assignRegions(problem, plan);
  ASSERT_EQ(llvm::toString(verify(problem, plan)), "");
  // While relu_ runs, the old contents stay beside the new ones.
  EXPECT_EQ(simulate(problem, plan).liveBytes[2], 1 + 10 + 100 + 10);
  EXPECT_EQ(simulate(problem, identityPlan(problem)).liveBytes[2], 1 + 10 + 100);
}

TEST(TraceTest, MutationThroughViews) {
  std::string text = constant("x", 1) + call("a", "x", "p", 10) + call("t", "p", "q", 10, 0) +
                     call("s", "p", "r", 4, 0) + mutate("add_", "q x", "0");
  // All that share the storage see it.
  EXPECT_EQ(describe(text + call("b", "q r", "y", 1) + call("c", "r", "z", 1) + release("p q r y")),
            "a(x) p\nadd_(x p) p#1=in place of p\nt(p#1) q#1=view of p#1\n"
            "s(p#1) r#1=view of p#1\nb(q#1 r#1) y\nc(r#1) z\nend(z; y)\n");
  EXPECT_EQ(livePeak(text + call("b", "q", "y", 100) + release("p q r")), 1 + 10 + 100);
  // Views from before the mutation stay what they were.
  EXPECT_EQ(describe(constant("x", 1) + call("a", "x", "p", 10) + call("t", "p", "q", 10, 0) +
                     call("b", "q", "y", 1) + mutate("add_", "q y", "0") + call("c", "q", "z", 1) +
                     release("p q y")),
            "a(x) p\nt(p) q=view of p\nb(q) y\nadd_(y p) p#1=in place of p\n"
            "t(p#1) q#1=view of p#1\nc(q#1) z\nend(z)\n");
  // A view that is a result.
  EXPECT_EQ(describe(text + release("p r")),
            "a(x) p\nadd_(x p) p#1=in place of p\nt(p#1) q#1=view of p#1\nend(q#1)\n");
  // Twice, with two arguments in the storage.
  EXPECT_EQ(describe(text + mutate("swap_", "r q", "0,1,0") + release("q r")),
            "a(x) p\nadd_(x p) p#1=in place of p\nswap_(p#1) p#2=in place of p#1\nend(p#2)\n");
}

// What is there from the start is never overwritten.
TEST(TraceTest, MutationOfConstants) {
  std::string text = constant("x", 10) + mutate("add_", "x", "0");
  EXPECT_EQ(describe(text), "add_(x) x#1=in place of x\nend(x#1)\n");
  EXPECT_EQ(livePeak(text), 20);
  EXPECT_EQ(describe(text + release("x")), "add_(x) x#1=in place of x\nend(; x#1)\n");
}

TEST(TraceTest, ExecutedOnce) {
  std::string text = constant("x", 1);
  auto with = [&](llvm::StringRef op) {
    return describe(text + call(op, "x", "y", 1) + release("y"));
  };
  EXPECT_EQ(with("_fused_droupout_"), "ordered _fused_droupout_(x) y\nend(; y)\n");
  EXPECT_EQ(with("native_dropout"), "ordered native_dropout(x) y\nend(; y)\n");
  EXPECT_EQ(with("normal_"), "ordered normal_(x) y\nend(; y)\n");
  EXPECT_EQ(with("native_dropout_backward"), "native_dropout_backward(x) y\nend(; y)\n");
  EXPECT_EQ(with("native_layer_norm"), "native_layer_norm(x) y\nend(; y)\n");
  EXPECT_EQ(describe(text + call("print", "x", "")), "ordered print(x)\nend()\n");
  EXPECT_EQ(describe(text + mutate("bernoulli_", "x", "0")),
            "ordered bernoulli_(x) x#1=in place of x\nend(x#1)\n");
  EXPECT_EQ(describe(text + mutate("print", "x", "")), "ordered print(x)\nend()\n");
}

TEST(TraceTest, Errors) {
  auto error = [](std::string text) { return describe(text); };
  std::string x = constant("x", 1);
  EXPECT_EQ(error("{\"INSTRUCTION\":\"ANNOTATE\",\"ANNOTATION\":\"START\"}\n\n" + x), "end()\n");
  EXPECT_EQ(error("[]"), "error: line 1: expected an object, but got an array");
  EXPECT_EQ(error("{}"), "error: line 1: expected a string as 'INSTRUCTION'");
  EXPECT_EQ(error(x + "\n{"), "error: line 4: [1:1, byte=1]: Expected object key");
  EXPECT_EQ(error("{\"INSTRUCTION\":\"MAKE\"}"), "error: line 1: unknown instruction 'MAKE'");
  EXPECT_EQ(error(x + x), "error: line 3: there is a tensor 'x' already");
  EXPECT_EQ(error(x + copy("x", "x")), "error: line 3: there is a tensor 'x' already");
  EXPECT_EQ(error(copy("x", "y")), "error: line 1: there is no tensor 'y'");
  EXPECT_EQ(error(x + release("x x")), "error: line 4: there is no tensor 'x'");
  EXPECT_EQ(error(call("a", "x", "y", 1)), "error: line 1: there is no tensor 'x'");
  EXPECT_EQ(error(x + call("a", "x", "y y")), "error: line 3: there is a tensor 'y' already");
  EXPECT_EQ(error(x + call("a", "x", "y", -1)),
            "error: line 4: expected an integer from 0 to 72057594037927936 as 'MEMORY'");
  EXPECT_EQ(error(x + call("a", "x", "y", 1, 1)),
            "error: line 5: expected an integer from -1 to 0 as 'ALIAS'");
  EXPECT_EQ(error(x + call("a", "x", "y") + result("x", 1)),
            "error: line 4: 'x' is no result of the line that it belongs to");
  EXPECT_EQ(error(x + copy("y", "x") + result("x", 1)),
            "error: line 4: 'x' is no result of the line that it belongs to");
  EXPECT_EQ(error(x + call("a", "x", "y") + release("y")),
            "error: line 4: nothing says how many bytes 'y' has");
  EXPECT_EQ(error(x + call("a", "x", "y")),
            "error: at the end: nothing says how many bytes 'y' has");
  EXPECT_EQ(error(x + mutate("a", "x", "1")),
            "error: line 3: expected 'MUTATE' to hold positions in 'ARGS'");
  EXPECT_EQ(error(constant("a", int64_t(1) << 55) + constant("b", int64_t(1) << 56)),
            "error: value 1 ('b') brings the sum of all aligned bytes above 72057594037927936");
  EXPECT_EQ(error("{\"INSTRUCTION\":\"CALL\",\"NAME\":\"a\",\"ARGS\":[],\"RESULT\":[],"
                  "\"TIME\":99999999999999}"),
            "error: line 1: expected an integer from 0 to 72057594037927 as 'TIME'");
}

TEST(TraceTest, IsTrace) {
  EXPECT_TRUE(isTrace("\n {\"ANNOTATION\":\"START\",\"INSTRUCTION\":\"ANNOTATE\"}\n"));
  EXPECT_FALSE(isTrace(""));
  EXPECT_FALSE(isTrace("{}"));
  EXPECT_FALSE(isTrace("{\"version\": 1,\n\"INSTRUCTION\": 0}"));
}

//===----------------------------------------------------------------------===//
// Random logs
//===----------------------------------------------------------------------===//

/// A random log, and the live peak of the program that it is of: storages from their
/// definition to the last use of any tensor in them, or to the end.
struct RandomLog {
  std::string text;
  int64_t peak = 0;

  explicit RandomLog(Random &random) {
    for (int64_t lines = random.between(1, 40); lines > 0; --lines)
      addLine(random);
    ++time;
    for (const auto &[name, tensor] : names)
      lastUse[storageOf[tensor]] = time;
    for (int64_t now = 0; now <= time; ++now) {
      int64_t live = 0;
      for (size_t storage = 0; storage < bytes.size(); ++storage)
        if (firstUse[storage] == -1 || (firstUse[storage] <= now && now <= lastUse[storage]))
          live += bytes[storage];
      peak = std::max(peak, live);
    }
  }

private:
  std::string newName() { return "x" + std::to_string(numNames++); }

  void addStorage(const std::string &name, int64_t size) {
    names.emplace_back(name, storageOf.size());
    storageOf.push_back(bytes.size());
    bytes.push_back(size);
    firstUse.push_back(time);
    lastUse.push_back(time);
  }

  void addLine(Random &random) {
    int64_t kind = names.empty() ? 0 : random.below(8), size = random.below(50);
    std::string name = newName();
    if (kind == 0) {
      text += constant(name, size);
      addStorage(name, size);
      firstUse.back() = -1;
      return;
    }
    auto pick = [&] { return random.below(names.size()); };
    if (kind == 1) {
      auto [source, tensor] = names[pick()];
      text += copy(name, source);
      names.emplace_back(name, tensor);
      return;
    }
    if (kind == 2) {
      int64_t index = pick();
      text += release(names[index].first);
      names.erase(names.begin() + index);
      return;
    }
    if (kind != 4)
      ++time;
    std::vector<int64_t> arguments;
    std::string list;
    for (int64_t k = random.between(1, 3); k > 0; --k) {
      arguments.push_back(names[pick()].second);
      for (const auto &[argument, tensor] : names)
        if (tensor == arguments.back()) {
          list += argument + " ";
          break;
        }
      // A call that makes a view takes no time.
      if (kind != 4)
        lastUse[storageOf[arguments.back()]] = time;
    }
    if (kind == 3 && firstUse[storageOf[arguments[0]]] != -1) {
      text += mutate("m", list, "0");
    } else if (kind == 4) {
      text += call("view", list, name, size, /*alias=*/0);
      names.emplace_back(name, storageOf.size());
      storageOf.push_back(storageOf[arguments[0]]);
    } else {
      text += call("f", list, name, size);
      addStorage(name, size);
    }
  }

  int64_t numNames = 0, time = 0;
  std::vector<std::pair<std::string, int64_t>> names;
  /// By tensor; by storage.
  std::vector<int64_t> storageOf, bytes, firstUse, lastUse;
};

TEST(TraceTest, RandomLogsHaveThePeakOfTheirStorages) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    RandomLog log(random);
    llvm::Expected<Problem> problem = parseTrace(log.text);
    ASSERT_TRUE(bool(problem)) << "seed " << seed << ": " << llvm::toString(problem.takeError());
    EXPECT_EQ(simulate(*problem, identityPlan(*problem)).livePeak, log.peak) << "seed " << seed;
    Plan plan = randomPlan(random, *problem);
    EXPECT_EQ(llvm::toString(verify(*problem, plan)), "") << "seed " << seed;
  }
}

/// Drops, doubles or swaps lines.
void damageLines(Random &random, std::string &text) {
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  if (lines.empty())
    return;
  size_t line = random.below(lines.size()), other = random.below(lines.size());
  switch (random.below(3)) {
  case 0:
    lines.erase(lines.begin() + line);
    break;
  case 1:
    lines.insert(lines.begin() + line, lines[other]);
    break;
  default:
    std::swap(lines[line], lines[other]);
  }
  text = llvm::join(lines, "\n") + "\n";
}

/// Changes, drops or doubles bytes.
void damageBytes(Random &random, std::string &text) {
  size_t position = random.below(text.size());
  switch (random.below(3)) {
  case 0:
    text[position] = "0123456789-xACEILMNORS[]{}\":,\n"[random.below(30)];
    break;
  case 1:
    text.erase(position, random.between(1, 5));
    break;
  default:
    text.insert(position, text.substr(random.below(text.size()), 60));
  }
}

// Never a crash, and what is read makes sense.
TEST(TraceTest, Damaged) {
  int64_t accepted = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    std::string text = RandomLog(random).text;
    for (int64_t k = random.between(1, 3); k > 0 && text.size() > 1; --k)
      random.chance(70) ? damageLines(random, text) : damageBytes(random, text);
    llvm::Expected<Problem> problem = parseTrace(text);
    if (!problem) {
      llvm::consumeError(problem.takeError());
      continue;
    }
    ++accepted;
    EXPECT_EQ(llvm::toString(verify(*problem, identityPlan(*problem))), "") << "seed " << seed;
  }
  EXPECT_GT(accepted, 100);
}

} // namespace
