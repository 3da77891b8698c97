//===- StageProgram.cpp - The relaxation as a linear program -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shortest paths of the storages become flows of one unit each through their
// states, and the priced constraints become rows. Shortest paths are integral, so the
// best prices are the dual values of those rows (Geoffrion, "Lagrangean relaxation for
// integer programming", 1974).
//
//===----------------------------------------------------------------------===//

#include "StageRelaxation.h"
#include <cmath>

using namespace mlir::remat::planner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rows: the bytes at each milestone, the reads, and the flow through each state.
LinearProgram StageRelaxation::toLinearProgram(double costScale) const {
  LinearProgram program;
  for (int64_t bytes : capacity)
    program.addRow(-kInfinity, double(bytes) / bytesScale);
  int64_t firstRead = program.getNumRows();
  for (size_t read = 0; read < best.reads.size(); ++read)
    program.addRow(-kInfinity, 0);

  // By cell: the rows of the reads that happen there, and of what is read there.
  std::vector<llvm::SmallVector<int64_t, 2>> readRows(cells.size()), sourceRows(cells.size());
  for (const Read &read : reads) {
    int64_t reader = items[read.reader].firstCell - items[read.reader].first;
    int64_t source = items[read.source].firstCell - items[read.source].first;
    for (int64_t stage = read.first; stage <= read.end; ++stage) {
      int64_t row = firstRead + read.firstPrice + stage - read.first;
      readRows[reader + stage].push_back(row);
      sourceRows[source + stage].push_back(row);
    }
  }

  llvm::SmallVector<std::pair<int64_t, double>> entries;
  for (size_t number = 0; number < items.size(); ++number) {
    const Item &item = items[number];
    // One unit of flow starts in the first state; it may end in any but Unexecuted.
    int64_t before = program.getNumRows();
    for (int state = 0; state < kNumStates; ++state) {
      double flow = state == startStates[number];
      program.addRow(flow, flow);
    }
    for (int64_t stage = item.first; stage <= item.end; ++stage, before += kNumStates) {
      int64_t index = item.firstCell + stage - item.first;
      const Cell &cell = cells[index];
      bool mustStay = cells[index + 1].isRetained, isLast = stage == item.end;
      if (!isLast)
        for (int state = 0; state < kNumStates; ++state)
          program.addRow(0, 0);
      auto addArc = [&](State from, State to, bool isExecuted) {
        if ((to == InMemory && cell.isDropped) || (to != InMemory && mustStay))
          return;
        entries.assign({{before + from, 1.0}});
        if (!isLast)
          entries.push_back({before + kNumStates + to, -1.0});
        if (to == InMemory && !cell.isExempt && stage < int64_t(milestones.size()))
          entries.push_back({stage, double(item.bytes) / bytesScale});
        if (from == InMemory || isExecuted)
          for (int64_t row : sourceRows[index])
            entries.push_back({row, -1.0});
        if (isExecuted)
          for (int64_t row : readRows[index])
            entries.push_back({row, 1.0});
        program.addColumn(isExecuted ? double(item.cost) * costScale : 0, entries);
      };
      for (State to : {InMemory, Gone}) {
        addArc(InMemory, to, /*isExecuted=*/false);
        addArc(Unexecuted, to, /*isExecuted=*/true);
        if (item.isCloneable)
          addArc(Gone, to, /*isExecuted=*/true);
      }
      if (!cell.isRead)
        addArc(Gone, Gone, /*isExecuted=*/false);
      if (!cell.isRead && stage < item.last)
        addArc(Unexecuted, Unexecuted, /*isExecuted=*/false);
    }
  }
  return program;
}

void StageRelaxation::improveBy(const LinearProgramSolver &solve) {
  if (infeasible || milestones.empty())
    return;
  double costScale = double(items.size()) / std::max(1.0, double(costOfItems));
  std::vector<double> duals = solve(toLinearProgram(costScale));
  size_t numMilestones = milestones.size();
  if (duals.size() < numMilestones + best.reads.size())
    return;
  // Whatever they are: prices that are not negative give a valid bound.
  auto toPrice = [&](double dual) {
    double price = -dual / costScale;
    return std::isfinite(price) ? std::max(0.0, price) : 0.0;
  };
  Prices<double> prices, slope;
  for (size_t stage = 0; stage < numMilestones; ++stage)
    prices.memory.push_back(toPrice(duals[stage]));
  for (size_t read = 0; read < best.reads.size(); ++read)
    prices.reads.push_back(toPrice(duals[numMilestones + read]));
  double bound = evaluate(prices, slope);
  if (!(bound > bestBound))
    return;
  bestBound = bound;
  best = std::move(prices);
  freeze();
}
