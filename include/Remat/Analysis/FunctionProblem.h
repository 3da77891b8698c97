//===- FunctionProblem.h - A function as a planning problem -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers the operations and values of a function's body, sorts the values into
// storages and attaches costs: the planner::Problem of the function, with the
// way back to the IR.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_FUNCTIONPROBLEM_H
#define REMAT_ANALYSIS_FUNCTIONPROBLEM_H

#include "Remat/Analysis/OperationSummary.h"
#include "Remat/Planner/Plan.h"
#include "mlir/IR/Value.h"

namespace mlir::remat {

/// What a budget is compared with.
enum class Scope {
  /// Everything that is live, arguments and results included.
  Total,
  /// Without arguments and results.
  Temporaries,
};

/// When operations are executed.
enum class ExecutionOrder {
  /// As they are written.
  Program,
  /// With Fusion::XLA as XLA would execute them, which only keeps the order of operations
  /// that read each other's results; else as they are written.
  Scheduled,
};

struct ProblemOptions {
  Scope scope = Scope::Total;
  /// Every storage begins at a multiple of this; a power of two, in bytes.
  int64_t alignment = 64;
  /// Numbers of arguments that nothing overwrites, although they are donated.
  llvm::SmallVector<unsigned, 0> kept = {};
  ExecutionOrder order = ExecutionOrder::Program;
};

/// A result that is written over a donated argument, and so takes no memory of its own.
struct OverwrittenArgument {
  unsigned argument;
  /// The last reader of the argument, which is executed once.
  planner::OpIndex writer;
};

struct FunctionProblem {
  planner::Problem problem;
  /// None or XLA.
  Fusion fusion = Fusion::None;
  /// By planner::OpIndex: the operations of the body in the order of execution, without
  /// those that others compute where they read them.
  std::vector<Operation *> operations;
  /// By planner::OpIndex: the operations that each computes where it reads them, each
  /// behind what it reads itself; and the position of each in the body.
  std::vector<SmallVector<Operation *, 0>> inlined;
  std::vector<int64_t> positions;
  /// By planner::ValueIndex; null for program constants and buffers of results.
  std::vector<Value> values;
  llvm::DenseMap<Value, planner::ValueIndex> valueIndex;
  /// Boundary values that stand for the buffers of results which a caller provides, with
  /// the values returned in them.
  llvm::DenseMap<planner::ValueIndex, Value> resultBuffers;
  /// Of program constants: the first operation that refers to each.
  llvm::DenseMap<planner::ValueIndex, Location> constantLocs;
  /// By planner::OpIndex: why it cannot be executed again; empty if it can.
  std::vector<std::string> whyNot;
  /// Values whose size is not known; they count as 0 bytes.
  std::vector<planner::ValueIndex> unknownSizes;
  /// By operation that has such values inside or in a callee: one of them.
  llvm::MapVector<Operation *, Value> innerUnknownSizes;
  /// Calls of functions that call themselves; they count one level.
  std::vector<Operation *> recursiveCalls;
  /// Donated arguments that results take the place of. No plan may read one of them
  /// behind its writer: see `findReadBehindWriter`.
  std::vector<OverwrittenArgument> overwritten;
  /// Bytes before alignment, whatever the scope: of the arguments, of the
  /// distinct storages of the results that are in no arguments (with Fusion::XLA of each
  /// result), of the distinct dense constants.
  int64_t argumentBytes = 0;
  int64_t resultBytes = 0;
  int64_t constantBytes = 0;

  /// The value that people know a planner's value by; null for program constants.
  Value getShownValue(planner::ValueIndex value) const {
    auto buffer = resultBuffers.find(value);
    return buffer == resultBuffers.end() ? values[value] : buffer->second;
  }
  /// What a boundary value is: "argument", "result" or "constant".
  StringRef getBoundaryKind(planner::ValueIndex value) const {
    if (resultBuffers.contains(value))
      return "result";
    return values[value] ? "argument" : "constant";
  }
};

/// The value whose storage a value shows.
planner::ValueIndex getRoot(const planner::Problem &problem, planner::ValueIndex value);
/// The same for all values, where the source of a view has a smaller index.
std::vector<planner::ValueIndex> listRoots(const planner::Problem &problem);

/// Builds the problem of a function whose body is a single block. Emits one
/// error and fails where that is not possible: several blocks, sums that
/// overflow, policies that cannot be followed.
FailureOr<FunctionProblem> buildProblem(FunctionOpInterface function, SummaryAnalysis &summaries,
                                        const ProblemOptions &options);

/// The first overwritten argument that `plan`, which verifies, reads behind its writer:
/// by a clone. Nothing if there is none.
std::optional<unsigned> findReadBehindWriter(const FunctionProblem &problem,
                                             const planner::Plan &plan);

/// The highest live bytes of the values that `region` defines, in the order of
/// its operations; for several blocks the sum of all values, which bounds it.
int64_t getInnerPeak(Region &region, SummaryAnalysis &summaries);

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_FUNCTIONPROBLEM_H
