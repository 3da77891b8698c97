//===- OperationSummary.h - Operations with their regions and callees -------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Completes the model of an operation by what its regions and callees add:
// effects, cost and inner memory, transitively.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_ANALYSIS_OPERATIONSUMMARY_H
#define REMAT_ANALYSIS_OPERATIONSUMMARY_H

#include "Remat/Analysis/Target.h"
#include "Remat/Interfaces/OperationModel.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace mlir::remat {

struct CostProfile;
class ModelTable;

/// What happens to the operations of a function before it gets memory.
enum class Fusion {
  /// Every value is a buffer.
  None,
  /// Operations are put together as `findInlinedOperations` says.
  Kernels,
  /// XLA forms kernels later: `findVirtualOperations` says which values it never writes.
  XLA,
  /// What the module is for: XLA for StableHLO, None for all else.
  Auto,
};

/// Trips that a loop with an unknown number of them is assumed to make, so that
/// it is recomputed only when nothing else helps.
constexpr int64_t kUnknownTripCount = 65536;

/// A dense constant: its bytes, and the first operation that refers to it.
struct ProgramConstant {
  int64_t bytes;
  Location loc;
};
/// Dense constants, each once; the key identifies the data.
using ProgramData = llvm::SmallMapVector<const void *, ProgramConstant, 2>;

struct OperationSummary {
  /// The operation alone.
  OperationModel model;
  /// Whether any model describes the operation.
  bool hasModel = false;
  /// With everything inside and called.
  EffectKind effects = EffectKind::Ordered;
  /// Why the operation cannot be executed again, in words without a subject;
  /// empty when it can.
  std::string whyNot;
  /// Picoseconds of one execution.
  int64_t cost = 0;
  /// Scratch bytes: its own, and the peak of what its regions or callee define.
  /// Branches count the largest, loops one iteration.
  int64_t workspace = 0;
  /// Program data used inside and by callees.
  ProgramData innerConstants;
  /// A value inside or in a callee that is counted as 0 bytes since its size is not
  /// known; null if there is none.
  Value unknownSize;
  /// Whether it calls a function that, directly or not, calls itself: such calls
  /// count one level.
  bool isRecursive = false;
};

/// Computes summaries, once per callee. The IR must not change meanwhile.
class SummaryAnalysis {
public:
  /// `models` and `symbols` must outlive the analysis.
  SummaryAnalysis(const ModelTable &models, Target target, SymbolTableCollection &symbols,
                  Fusion fusion = Fusion::None)
      : models(models), target(std::move(target)), symbols(symbols), fusion(fusion) {}

  /// Lets the times of a profile take the place of what the models say that operations of
  /// `function` cost; `remat.cost` counts more. Called before anything is summarized. Emits
  /// an error and fails where the profile is of another body.
  LogicalResult useProfile(const CostProfile &profile, FunctionOpInterface function);

  const OperationSummary &summarize(Operation *op);

  const ModelTable &getModels() const { return models; }
  const Target &getTarget() const { return target; }
  /// What happens to the operations before they get memory: None or XLA.
  Fusion getFusion() const { return fusion; }

private:
  struct CalleeSummary {
    EffectKind effects = EffectKind::Ordered;
    std::string whyNot;
    int64_t cost = 0;
    int64_t workspace = 0;
    ProgramData constants;
    Value unknownSize;
    bool isRecursive = false;
  };

  OperationSummary compute(Operation *op);
  /// Adds what the operations of a region or function body contribute.
  void addRegion(Region &region, bool perElement, CalleeSummary &summary);
  void addCallees(Operation *op, OperationSummary &summary);
  const CalleeSummary &summarizeCallee(FunctionOpInterface function);
  FunctionOpInterface resolveCallee(Operation *op);

  const ModelTable &models;
  Target target;
  SymbolTableCollection &symbols;
  Fusion fusion;
  /// Picoseconds that were measured.
  llvm::DenseMap<Operation *, int64_t> measuredCosts;
  llvm::DenseMap<Operation *, CalleeSummary> callees;
  /// One per operation, so that nested regions are looked at once; on the heap,
  /// so that references stay valid.
  llvm::DenseMap<Operation *, std::unique_ptr<OperationSummary>> summaries;
};

} // namespace mlir::remat

#endif // REMAT_ANALYSIS_OPERATIONSUMMARY_H
