//===- StageRelaxation.h - A lower bound over all times at once --------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some operations, the milestones, are executed for the first time in an order
// that is the same in all plans. They cut a plan into stages: stage k ends with
// the first execution of milestone k. For every storage and stage,
//
//   retained[k]  says whether the storage is in memory when stage k begins, to be
//                read later,
//   executed[k]  whether the operation that fills it is executed in stage k.
//
// In every plan that fits
//
//   retained[k+1] <= retained[k] + executed[k]
//   executed[k] of a reader <= retained[k] or executed[k] of what it reads
//   bytes that are retained past milestone k, its own working set excluded,
//     <= budget - working set of milestone k
//
// and the cost is at least that of all that is executed. (For all operations in a
// fixed order this is the integer program of Jain et al., Checkmate, MLSys 2020,
// without the memory inside a stage.) The second and third constraint are priced
// (Lagrangian relaxation: Held, Karp, 1971); what remains falls apart into a
// shortest path over the stages for each storage. Every choice of prices gives a
// valid bound. Prices are improved in floating point by subgradients, then frozen
// as integers, with which the bound is evaluated exactly.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_PLANNER_STAGERELAXATION_H
#define REMAT_LIB_PLANNER_STAGERELAXATION_H

#include "Remat/Planner/Exact.h"
#include "Remat/Planner/LinearProgram.h"
#include <limits>

namespace mlir::remat::planner {

/// Fractions of a picosecond, see StageRelaxation::fractionBits.
using Price = __int128;
/// Whatever costs as much cannot happen.
constexpr Price kImpossiblePrice = Price(1) << 124;

class StageRelaxation {
public:
  /// What a plan has done with a storage so far.
  enum State : uint8_t { Unexecuted, InMemory, Gone };
  static constexpr int kNumStates = 3;

  /// The operation that fills a storage; one of several if it has several results,
  /// with a part of the cost; or an operation without results that are in memory.
  struct Item {
    OpIndex op;
    /// The value that begins the storage; kNoValue if there is none.
    ValueIndex root;
    int64_t bytes;
    int64_t cost;
    bool isCloneable;
    /// The first execution is not before stage `first` nor after stage `last`; what
    /// happens after stage `end` does not matter.
    int64_t first, last, end;
    /// Of the cells [first, end].
    int64_t firstCell;
  };

  /// `reorder`: milestones are a chain of dependent operations; otherwise operations
  /// in their order. No more of them than `maxCells`, variables of the relaxation,
  /// allow.
  StageRelaxation(const Problem &problem, int64_t budget, bool reorder, int64_t maxCells,
                  const Surroundings *surroundings = nullptr);

  /// Whether it is proven that no plan fits.
  bool isInfeasible() const { return infeasible; }
  /// Improves the prices by this many steps, about `getNumCells()` units of work each, or
  /// until the bound is well above `target`. Returns the number of steps.
  int64_t improve(int64_t numIterations, int64_t target = std::numeric_limits<int64_t>::max());
  /// Takes the best prices from a solver of linear programs, if they are better.
  void improveBy(const LinearProgramSolver &solve);
  int64_t getNumCells() const { return numCells; }

  /// What every plan within the budget adds to one execution of all needed
  /// operations, in picoseconds.
  int64_t getAddedCost() const;

  const std::vector<OpIndex> &getMilestones() const { return milestones; }
  const std::vector<Item> &getItems() const { return items; }
  /// Of a storage that begins with `root`; -1 if no needed operation fills it.
  int64_t getItem(ValueIndex root) const { return itemOf[root]; }
  /// The least that is still to pay when stage `stage` (from 0) has begun: the sum
  /// over all items of what their states ask for, and a part for the memory. In units
  /// of 2^-fractionBits picoseconds.
  Price getCostToGo(int64_t stage, int64_t item, State state) const;
  Price getMemoryToGo(int64_t stage) const { return memoryToGo[stage]; }
  int64_t getFractionBits() const { return fractionBits; }

  /// The costs to go when the memory at one milestone has no price, and every storage
  /// is, or is not, retained past it: for bounds that choose among them in integers.
  struct Peak {
    int64_t stage = -1;
    /// Bytes for what is retained.
    int64_t capacity = 0;
    std::vector<Price> retained, dropped;
    /// What to add to getMemoryToGo.
    Price memory = 0;
  };
  Peak getPeak(int64_t stage) const;
  Price getCostToGo(const std::vector<Price> &costs, int64_t stage, int64_t item,
                    State state) const;
  /// Whether the capacity of a milestone is for this item, among others.
  bool isCounted(int64_t stage, int64_t item) const;

private:
  /// A read of an item by an item that may be executed in stages [first, end].
  struct Read {
    int64_t reader, source;
    int64_t first, end;
    /// Of the prices of the stages [first, end].
    int64_t firstPrice;
  };
  template <typename T>
  struct Prices {
    /// Of a byte at a milestone, and of reading what is not there.
    std::vector<T> memory, reads;
  };
  /// What happens in a stage that an item may be in.
  struct Cell {
    /// The milestone reads it; the milestone's working set holds it; it must be
    /// retained when the stage begins; it cannot be when the stage ends.
    bool isRead = false, isExempt = false, isRetained = false, isDropped = false;
  };

  void chooseMilestones(bool reorder, int64_t maxMilestones);
  std::vector<OpIndex> findLongestChain() const;
  void findStages(bool reorder);
  void addItems();
  void markCells(bool reorder);
  void startPrices();
  template <typename T>
  void setPrices(const Prices<T> &prices, T unit, std::vector<T> &ownCost, std::vector<T> &gain,
                 std::vector<T> &toGo, int64_t peak = -1, bool isKept = false) const;
  double evaluate(const Prices<double> &prices, Prices<double> &slope);
  LinearProgram toLinearProgram(double costScale) const;
  void freeze();
  Price evaluateFrozen() const;
  /// The cost of the relaxation's most expensive solution, if it has one.
  Price getLargestCost() const { return Price(costOfItems) * Price(milestones.size() + 1); }

  bool isExecutedBefore(OpIndex op) const { return surroundings && surroundings->isExecuted[op]; }
  /// Whether a plan may choose when to execute `op` for the first time.
  bool isMilestone(OpIndex op) const { return needed[op] && !isExecutedBefore(op); }
  std::vector<State> findStartStates() const;
  std::vector<int64_t> findHeldBytes(bool reorder) const;

  const Problem &problem;
  int64_t budget;
  const Surroundings *surroundings;
  bool infeasible = false;
  std::vector<bool> needed;
  std::vector<ValueIndex> roots;
  std::vector<OpIndex> milestones;
  /// By operation: the stages of its first execution, and the milestone that it is.
  std::vector<int64_t> firstStage, lastStage, stageOf;
  std::vector<Item> items;
  /// By item: before the first stage.
  std::vector<State> startStates;
  /// By operation: its items.
  std::vector<llvm::SmallVector<int64_t, 1>> itemsOf;
  /// By value that is a root: its item, or -1.
  std::vector<int64_t> itemOf;
  std::vector<Read> reads;
  std::vector<Cell> cells;
  int64_t numCells = 0;
  /// By milestone: bytes for what is retained past it.
  std::vector<int64_t> capacity;
  /// Picoseconds of one execution of all items, and of those that were not executed
  /// before.
  int64_t costOfItems = 0, neededCost = 0;
  /// The bytes that the prices of memory are for during the search.
  double bytesScale = 1;
  Prices<double> best;
  double bestBound = 0;

  // Evaluated in integers, with the best prices.
  int64_t fractionBits = 0;
  Prices<Price> frozen;
  std::vector<Price> memoryToGo;
  /// By item, stage from `first` to `end` + 1 and state.
  std::vector<Price> costToGo;
};

} // namespace mlir::remat::planner

#endif // REMAT_LIB_PLANNER_STAGERELAXATION_H
