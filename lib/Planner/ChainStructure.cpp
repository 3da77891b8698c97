//===- ChainStructure.cpp - A problem cut into stages -----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides where the forward part ends, where it is cut, and which cuts the order of
// the backward part respects:
//
//   1. Behind an operation, as many values are crossing as are read by some later
//      forward operation. The forward part ends where most operations have one
//      crossing value behind them and a result that the backward part reads.
//   2. The places with at most one crossing value are the cuts. The backward part reads a stage
//   when it reads a
//      value that is computed in it, its output excepted, or its input.
//   3. What is read in the backward part may never go back up to a later stage, but
//      for the output of the current one. Cuts in between are taken away.
//
//===----------------------------------------------------------------------===//

#include "ChainStructure.h"
#include "Detail.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat::planner;
using namespace mlir::remat::planner::detail;

namespace {

class ChainFinder {
public:
  ChainFinder(const Problem &input, int64_t maxStages)
      : problem(input), maxStages(maxStages), numOperations(input.operations.size()),
        numValues(input.values.size()) {
    weighValues();
    numBeforeTerminator = numOperations;
    if (numOperations > 0 && problem.operations.back().effect == Effect::Pinned &&
        llvm::all_of(problem.operations.back().writes,
                     [&](ValueIndex value) { return bytesOf[value] == 0; }))
      --numBeforeTerminator;
    findKeptValues();
  }

  std::optional<Chain> run(std::string &reason) {
    if (!findTurn()) {
      reason = "no operation computes a single value that is read once more by a backward part";
      return std::nullopt;
    }
    chain.unitBytes = matchUnitChain();
    findCuts();
    if (!takeAwayCrossedCuts() || (chain.unitBytes == 0 && !limitCuts())) {
      reason = "no single value cuts both the forward part and what the backward part reads of it";
      return std::nullopt;
    }
    chain.stages.resize(cuts.size() + 1);
    findBackwardParts();
    profileBackward();
    std::vector<std::vector<ValueIndex>> saved = findSavedValues();
    measureForward(saved);
    chain.isKept = std::move(isKept);
    return std::move(chain);
  }

private:
  /// The last operation of a stage and the value that the next stage reads.
  struct Cut {
    OpIndex last;
    ValueIndex value;
  };

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  void weighValues() {
    std::vector<ValueIndex> roots = viewRoots(problem);
    bytesOf.resize(numValues);
    lastReader.assign(numValues, kBoundary);
    for (ValueIndex value = 0; value < numValues; ++value) {
      const Value &root = problem.values[roots[value]];
      bool isInMemory = root.placement != Placement::None;
      int64_t bytes = isInMemory ? align(root.bytes, problem.alignment) : 0;
      if (root.producer != kBoundary)
        bytesOf[value] = bytes;
      else if (roots[value] == value)
        chain.boundaryBytes += bytes;
    }
    for (OpIndex op = 0; op < numOperations; ++op)
      for (ValueIndex value : problem.operations[op].reads)
        lastReader[value] = op;
  }

  void findKeptValues() {
    isKept.assign(numValues, false);
    runsFirst.assign(numOperations, false);
    for (ValueIndex value = 0; value < numValues; ++value)
      isKept[value] = problem.values[value].producer == kBoundary || bytesOf[value] == 0;
    for (OpIndex op = 0; op < numOperations; ++op) {
      const Operation &operation = problem.operations[op];
      bool isCloneable = operation.effect == Effect::Pure && operation.recomputable &&
                         operation.policy != Policy::MustSave;
      if (!isCloneable)
        for (ValueIndex value : operation.writes)
          isKept[value] = true;
      runsFirst[op] = operation.effect != Effect::Pure;
      forEachUse(op, [&](ValueIndex value) {
        if (op == numBeforeTerminator)
          isKept[value] = true;
      });
    }
    for (OpIndex op = 0; op < numOperations; ++op)
      forEachUse(op, [&](ValueIndex value) {
        OpIndex producer = problem.values[value].producer;
        if (producer != kBoundary && isKept[value])
          runsFirst[producer] = true;
      });
  }

  template <typename Visit>
  void forEachUse(OpIndex op, Visit visit) const {
    for (ValueIndex value : problem.operations[op].reads)
      visit(value);
    for (ValueIndex value : problem.operations[op].dependences)
      visit(value);
  }

  /// Calls `visit` with the forward values that `op` uses and that are not kept.
  template <typename Visit>
  void forEachForwardUse(OpIndex op, Visit visit) const {
    forEachUse(op, [&](ValueIndex value) {
      if (!isKept[value] && problem.values[value].producer < turn)
        visit(value);
    });
  }

  //===--------------------------------------------------------------------===//
  // Cuts
  //===--------------------------------------------------------------------===//

  /// Tries all ends of the forward part from front to back. A place is crossed by
  /// more and more values, so it is looked at a few times until it has two.
  bool findTurn() {
    std::vector<OpIndex> lastUse(numOperations, kBoundary);
    for (OpIndex op = 0; op < numOperations; ++op)
      forEachUse(op, [&](ValueIndex value) {
        if (!isKept[value])
          lastUse[problem.values[value].producer] = op;
      });
    std::vector<llvm::SmallVector<OpIndex, 1>> lastUsedBy(numOperations);
    for (OpIndex op = 0; op < numOperations; ++op)
      if (lastUse[op] != kBoundary)
        lastUsedBy[lastUse[op]].push_back(op);

    std::vector<int8_t> numCrossing(numOperations, 0);
    std::vector<bool> counts(numOperations, false);
    std::vector<OpIndex> nextOpen(numOperations + 1);
    for (OpIndex place = 0; place <= numOperations; ++place)
      nextOpen[place] = place;
    auto findOpen = [&](OpIndex place) {
      while (nextOpen[place] != place)
        place = nextOpen[place] = nextOpen[nextOpen[place]];
      return place;
    };
    std::vector<OpIndex> crossesUpTo(numValues);
    for (ValueIndex value = 0; value < numValues; ++value)
      crossesUpTo[value] = problem.values[value].producer;

    int64_t count = 0, best = 0;
    auto setCounts = [&](OpIndex place, bool doesCount) {
      count += int64_t(doesCount) - int64_t(counts[place]);
      counts[place] = doesCount;
    };
    for (OpIndex op = 0; op < numBeforeTerminator; ++op) {
      forEachUse(op, [&](ValueIndex value) {
        if (isKept[value])
          return;
        for (OpIndex place = findOpen(crossesUpTo[value]); place < op;
             place = findOpen(place + 1)) {
          setCounts(place, ++numCrossing[place] == 1 && lastUse[place] > op);
          if (numCrossing[place] == 2)
            nextOpen[place] = place + 1;
        }
        crossesUpTo[value] = op;
      });
      for (OpIndex place : lastUsedBy[op])
        setCounts(place, false);
      if (count > best) {
        best = count;
        turn = op + 1;
      }
    }
    return best > 0;
  }

  void findCuts() {
    // The number and the sum of the values that cross each place.
    std::vector<int64_t> number(turn + 1, 0), sum(turn + 1, 0);
    std::vector<OpIndex> last(numValues, kBoundary);
    for (OpIndex op = 0; op < turn; ++op)
      forEachForwardUse(op, [&](ValueIndex value) { last[value] = op; });
    for (ValueIndex value = 0; value < numValues; ++value) {
      if (last[value] == kBoundary)
        continue;
      OpIndex producer = problem.values[value].producer;
      number[producer] += 1;
      number[last[value]] -= 1;
      sum[producer] += value;
      sum[last[value]] -= value;
    }
    ValueIndex previous = kNoValue;
    for (OpIndex place = 0; place + 1 < turn; ++place) {
      if (place > 0) {
        number[place] += number[place - 1];
        sum[place] += sum[place - 1];
      }
      ValueIndex value = number[place] == 1 ? sum[place] : kNoValue;
      // Behind the first of several cuts at one value, what reads it begins.
      if (number[place] > 1 || value == previous)
        continue;
      cuts.push_back({place, value});
      previous = value;
    }
    numberStages();
  }

  void numberStages() {
    stageOf.assign(turn, cuts.size());
    OpIndex op = 0;
    for (auto [stage, cut] : llvm::enumerate(cuts))
      for (; op <= cut.last; ++op)
        stageOf[op] = stage;
  }

  int64_t producerStage(ValueIndex value) const { return stageOf[problem.values[value].producer]; }

  /// The stage whose backward part reads `value`, unless an earlier one does.
  int64_t readingStage(ValueIndex value) const {
    int64_t stage = producerStage(value);
    bool isOutput = stage < int64_t(cuts.size()) && cuts[stage].value == value;
    return stage + isOutput;
  }

  /// Calls `visit` with each operation of the backward part and its stage.
  template <typename Visit>
  void forEachBackward(Visit visit) const {
    int64_t stage = cuts.size();
    for (OpIndex op = turn; op < numOperations; ++op) {
      forEachForwardUse(op,
                        [&](ValueIndex value) { stage = std::min(stage, readingStage(value)); });
      visit(op, stage);
    }
  }

  /// False when no cut is left.
  bool takeAwayCrossedCuts() {
    std::vector<int64_t> numCrossing(cuts.size() + 1, 0);
    forEachBackward([&](OpIndex op, int64_t stage) {
      forEachForwardUse(op, [&](ValueIndex value) {
        if (producerStage(value) <= stage)
          return;
        ++numCrossing[stage];
        --numCrossing[producerStage(value)];
      });
    });
    std::vector<Cut> kept;
    int64_t numCrossingHere = 0;
    for (auto [number, cut] : llvm::enumerate(cuts)) {
      numCrossingHere += numCrossing[number];
      if (numCrossingHere == 0)
        kept.push_back(cut);
    }
    cuts = std::move(kept);
    numberStages();
    return !cuts.empty();
  }

  bool limitCuts() {
    int64_t numCuts = cuts.size(), limit = std::max<int64_t>(maxStages - 1, 1);
    if (numCuts <= limit)
      return true;
    std::vector<Cut> kept;
    for (int64_t k = 1; k <= limit; ++k)
      kept.push_back(cuts[k * numCuts / limit - 1]);
    cuts = std::move(kept);
    numberStages();
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Backward
  //===--------------------------------------------------------------------===//

  void findBackwardParts() {
    for (Stage &stage : chain.stages)
      stage.backwardBegin = stage.backwardEnd = numOperations;
    int64_t current = chain.stages.size();
    forEachBackward([&](OpIndex op, int64_t stage) {
      while (current > stage)
        chain.stages[--current].backwardBegin = op;
    });
    for (size_t stage = 1; stage < chain.stages.size(); ++stage)
      chain.stages[stage].backwardEnd = chain.stages[stage - 1].backwardBegin;
  }

  /// Bytes that are live during each operation of the backward part, and before it,
  /// without forward values that are not kept.
  void profileBackward() {
    int64_t size = numOperations - turn + 2;
    during.assign(size, 0);
    std::vector<int64_t> before(size, 0);
    auto add = [&](std::vector<int64_t> &profile, OpIndex begin, OpIndex end, int64_t bytes) {
      profile[begin - turn] += bytes;
      profile[end - turn] -= bytes;
    };
    // Kept values that a stage reads stay up to its backward part.
    std::vector<OpIndex> usedBefore(numValues, turn);
    for (OpIndex op = 0; op < turn; ++op)
      for (ValueIndex value : problem.operations[op].reads)
        usedBefore[value] = std::max(usedBefore[value], chain.stages[stageOf[op]].backwardBegin);
    for (ValueIndex value = 0; value < numValues; ++value) {
      OpIndex producer = problem.values[value].producer, last = lastReader[value];
      if (producer == kBoundary)
        continue;
      if (producer >= turn) {
        last = std::max(last, producer);
        add(during, producer, last + 1, bytesOf[value]);
        add(before, producer + 1, last + 1, bytesOf[value]);
      } else if (isKept[value] && last != kBoundary) {
        OpIndex end = std::max(last + 1, usedBefore[value]);
        add(during, turn, end, bytesOf[value]);
        add(before, turn, std::max(last, usedBefore[value]) + 1, bytesOf[value]);
      }
    }
    for (int64_t k = 1; k < size; ++k) {
      during[k] += during[k - 1];
      before[k] += before[k - 1];
    }
    for (OpIndex op = turn; op < numOperations; ++op)
      during[op - turn] += align(problem.operations[op].workspace, problem.alignment);
    for (Stage &stage : chain.stages)
      stage.bytesBefore = before[stage.backwardBegin - turn];
  }

  /// By stage: the values computed in it that its backward part uses.
  std::vector<std::vector<ValueIndex>> findSavedValues() {
    std::vector<std::vector<ValueIndex>> saved(chain.stages.size());
    std::vector<bool> isSaved(numValues, false), isLive(numValues, false);
    for (auto [number, stage] : llvm::enumerate(chain.stages)) {
      if (number < cuts.size()) {
        stage.output = cuts[number].value;
        stage.outputBytes = stage.output == kNoValue ? 0 : bytesOf[stage.output];
      }
      int64_t liveBytes = 0, liveBesideOutput = 0;
      for (OpIndex op = stage.backwardEnd - 1; op >= stage.backwardBegin; --op) {
        forEachForwardUse(op, [&, number = int64_t(number)](ValueIndex value) {
          if (producerStage(value) != number || isSaved[value])
            return;
          isSaved[value] = true;
          saved[number].push_back(value);
        });
        for (ValueIndex value : problem.operations[op].reads) {
          if (!isSaved[value] || isLive[value] || producerStage(value) != int64_t(number))
            continue;
          isLive[value] = true;
          liveBytes += bytesOf[value];
          liveBesideOutput += value == stage.output ? 0 : bytesOf[value];
        }
        int64_t own = during[op - turn];
        stage.backwardPeak = std::max(stage.backwardPeak, own + liveBytes);
        stage.backwardPeakBesideOutput =
            std::max(stage.backwardPeakBesideOutput, own + liveBesideOutput);
      }
      for (ValueIndex value : saved[number])
        stage.recordedBytes += bytesOf[value];
      stage.isOutputRead = stage.output != kNoValue && isSaved[stage.output];
      if (!stage.isOutputRead)
        stage.recordedBytes += stage.outputBytes;
    }
    return saved;
  }

  //===--------------------------------------------------------------------===//
  // Forward
  //===--------------------------------------------------------------------===//

  void measureForward(const std::vector<std::vector<ValueIndex>> &saved) {
    wantedBy.assign(numValues, 0);
    lastUseInRun.assign(numValues, -1);
    OpIndex begin = 0;
    for (int64_t number = 0, e = chain.stages.size(); number < e; ++number) {
      Stage &stage = chain.stages[number];
      OpIndex end = number + 1 < e ? cuts[number].last + 1 : turn;
      stageBegin = begin;
      stageEnd = end;
      stageInput = number > 0 ? cuts[number - 1].value : kNoValue;
      begin = end;

      llvm::SmallVector<ValueIndex, 1> output;
      if (stage.output != kNoValue)
        output.push_back(stage.output);
      std::vector<ValueIndex> others, all = saved[number];
      llvm::copy_if(all, std::back_inserter(others),
                    [&](ValueIndex value) { return value != stage.output; });
      if (!stage.isOutputRead)
        llvm::append_range(all, output);
      stage.firstAdvance = measure(output, /*isFirst=*/true);
      stage.advance = measure(output, /*isFirst=*/false);
      stage.firstRecord = measure(all, /*isFirst=*/true);
      stage.record = measure(all, /*isFirst=*/false);
      // The last stage is executed directly before its backward part, for the first
      // time.
      stage.replay = measure(saved[number], /*isFirst=*/number + 1 == e);
      if (stage.isOutputRead)
        stage.replayWithOutput = measure(others, /*isFirst=*/false, stage.output);
      for (OpIndex op = stageBegin; op < stageEnd; ++op)
        for (ValueIndex value : problem.operations[op].writes)
          if (isKept[value] && lastReader[value] != kBoundary)
            keptBytes += bytesOf[value];
    }
  }

  /// Executes what `targets` need, and what must be executed at the first time. The
  /// targets stay; `atHand` is there before and is not counted.
  StageRun measure(llvm::ArrayRef<ValueIndex> targets, bool isFirst, ValueIndex atHand = kNoValue) {
    ++runNumber;
    StageRun run;
    constexpr int64_t kStays = std::numeric_limits<int64_t>::max();
    auto want = [&](ValueIndex value) {
      if (wantedBy[value] != runNumber)
        lastUseInRun[value] = -1;
      wantedBy[value] = runNumber;
    };
    for (ValueIndex value : targets) {
      want(value);
      lastUseInRun[value] = kStays;
    }
    auto isWanted = [&](ValueIndex value) { return wantedBy[value] == runNumber; };
    for (OpIndex op = stageEnd - 1; op >= stageBegin; --op) {
      if (!(isFirst && runsFirst[op]) && llvm::none_of(problem.operations[op].writes, isWanted))
        continue;
      run.operations.push_back(op);
      run.cost += problem.operations[op].cost;
      forEachForwardUse(op, [&](ValueIndex value) {
        if (value != atHand)
          want(value);
      });
    }
    std::reverse(run.operations.begin(), run.operations.end());

    int64_t lastUseOfInput = -1;
    for (auto [index, op] : llvm::enumerate(run.operations)) {
      forEachForwardUse(op, [&, index = int64_t(index)](ValueIndex value) {
        if (value == stageInput)
          lastUseOfInput = index;
        else if (value != atHand && lastUseInRun[value] != kStays)
          lastUseInRun[value] = index;
      });
    }
    int64_t inputBytes = stageInput == kNoValue ? 0 : bytesOf[stageInput];
    int64_t live = isFirst ? keptBytes : 0;
    for (int64_t index = 0, e = run.operations.size(); index < e; ++index) {
      OpIndex op = run.operations[index];
      const Operation &operation = problem.operations[op];
      int64_t unused = 0;
      for (ValueIndex value : operation.writes) {
        bool stays = isKept[value] ? isFirst && lastReader[value] != kBoundary : isWanted(value);
        (stays ? live : unused) += bytesOf[value];
      }
      int64_t here = live + unused + align(operation.workspace, problem.alignment);
      run.peak = std::max(run.peak, here);
      run.peakWithInput =
          std::max(run.peakWithInput, here + (index <= lastUseOfInput ? inputBytes : 0));
      forEachForwardUse(op, [&](ValueIndex value) {
        if (value == stageInput || value == atHand || lastUseInRun[value] != index)
          return;
        live -= bytesOf[value];
        // Counted once where it is read and depended on.
        lastUseInRun[value] = -1;
      });
    }
    return run;
  }

  //===--------------------------------------------------------------------===//
  // Unit chains
  //===--------------------------------------------------------------------===//

  /// The bytes of each value if operation i of 0..2L reads the result of i-1, if
  /// there is one, and of 2L-i if that is before i-1, and nothing else, and if every
  /// plan executes them all; 0 otherwise.
  int64_t matchUnitChain() const {
    std::vector<OpIndex> path;
    std::vector<ValueIndex> results;
    for (OpIndex op = 0; op < numBeforeTerminator; ++op) {
      const Operation &operation = problem.operations[op];
      bool isFree = llvm::all_of(operation.writes, [&](ValueIndex v) { return bytesOf[v] == 0; });
      bool isInPath = operation.writes.size() == 1 && !isFree;
      if (operation.workspace != 0 || !(isInPath || (isFree && usesOnly(op, {}))))
        return 0;
      if (!isInPath)
        continue;
      path.push_back(op);
      results.push_back(operation.writes[0]);
    }
    int64_t length = int64_t(path.size()) / 2;
    if (path.size() % 2 == 0 || length == 0 || turn != path[length] + 1 ||
        !neededOperations(problem)[path.back()])
      return 0;
    const Operation &first = problem.operations[path[0]];
    int64_t bytes = bytesOf[results[0]];
    for (int64_t k = 0; k <= 2 * length; ++k) {
      const Operation &operation = problem.operations[path[k]];
      llvm::SmallVector<ValueIndex, 2> expected;
      if (k > 0)
        expected.push_back(results[k - 1]);
      if (k > length)
        expected.push_back(results[2 * length - k]);
      if (!usesOnly(path[k], expected) || problem.values[results[k]].placement != Placement::Own ||
          bytesOf[results[k]] != bytes)
        return 0;
      if (k < length && (operation.effect != Effect::Pure || !operation.recomputable ||
                         operation.policy == Policy::MustSave || operation.cost != first.cost))
        return 0;
    }
    if (numBeforeTerminator < numOperations &&
        (problem.operations.back().workspace != 0 ||
         !usesOnly(numBeforeTerminator, results.back(), /*all=*/false)))
      return 0;
    return bytes;
  }

  /// Whether `op` reads exactly the given values (or some of them unless `all`), and
  /// depends on no others; those without bytes and of the boundary aside.
  bool usesOnly(OpIndex op, llvm::ArrayRef<ValueIndex> expected, bool all = true) const {
    size_t numReads = 0;
    for (ValueIndex value : problem.operations[op].reads) {
      if (bytesOf[value] == 0)
        continue;
      if (!llvm::is_contained(expected, value))
        return false;
      ++numReads;
    }
    return (!all || numReads == expected.size()) &&
           llvm::all_of(problem.operations[op].dependences, [&](ValueIndex value) {
             return bytesOf[value] == 0 || llvm::is_contained(expected, value);
           });
  }

  const Problem &problem;
  int64_t maxStages, numOperations, numValues, numBeforeTerminator = 0;
  Chain chain;
  /// By value: bytes of the storage it shows, 0 for boundary values.
  std::vector<int64_t> bytesOf;
  std::vector<OpIndex> lastReader;
  std::vector<bool> isKept;
  /// By operation: whether it is executed where the stage is for the first time,
  /// needed or not.
  std::vector<bool> runsFirst;
  /// The backward part begins here.
  OpIndex turn = 0;
  std::vector<Cut> cuts;
  std::vector<int64_t> stageOf;
  /// From `turn` on.
  std::vector<int64_t> during;

  /// The stage that is measured, and the run.
  OpIndex stageBegin = 0, stageEnd = 0;
  ValueIndex stageInput = kNoValue;
  /// Of kept values in the stages before it.
  int64_t keptBytes = 0;
  int64_t runNumber = 0;
  std::vector<int64_t> wantedBy, lastUseInRun;
};

} // namespace

std::optional<Chain> mlir::remat::planner::findChain(const Problem &problem, int64_t maxStages,
                                                     std::string &reason) {
  return ChainFinder(problem, maxStages).run(reason);
}
