//===- BufferLifetimes.cpp - When each allocation is needed -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Analysis/BufferLifetimes.h"

#include "Remat/Interfaces/TypeSize.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::remat;

namespace {
class LifetimeComputer {
public:
  explicit LifetimeComputer(FunctionOpInterface function)
      : function(function), views(function), layout(DataLayout::closest(function)) {
    number(function);
  }

  FailureOr<std::vector<AllocatedBuffer>> run() {
    std::vector<AllocatedBuffer> buffers;
    WalkResult result = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == function.getOperation())
        return WalkResult::advance();
      if (auto allocation = dyn_cast<memref::AllocOp>(op)) {
        std::optional<int64_t> bytes = getStorageBytes(allocation.getType(), layout);
        if (!bytes) {
          op->emitError("the size of a buffer of type ") << allocation.getType() << " is not known";
          return WalkResult::interrupt();
        }
        if (std::optional<AllocatedBuffer> buffer = measure(allocation, *bytes))
          buffers.push_back(*buffer);
        return WalkResult::advance();
      }
      if (!hasEffect<MemoryEffects::Allocate>(op) ||
          llvm::none_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
        return WalkResult::advance();
      op->emitError("'") << op->getName() << "' allocates memory that cannot be planned";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
    return buffers;
  }

private:
  /// Numbers an operation, and what is inside of it if there are allocations.
  void number(Operation *op) {
    int64_t first = numTimes++;
    if (op->walk([](memref::AllocOp) { return WalkResult::interrupt(); }).wasInterrupted())
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &nested : block)
            number(&nested);
    times[op] = {first, numTimes};
  }

  std::optional<AllocatedBuffer> measure(memref::AllocOp allocation, int64_t bytes) {
    AllocatedBuffer buffer{allocation, {numTimes, 0, bytes}};
    for (Value view : views.resolve(allocation.getResult())) {
      for (Operation *user : view.getUsers()) {
        if (isa<memref::DeallocOp>(user))
          continue;
        auto [begin, end] = getTimes(user, allocation->getParentRegion());
        buffer.lifetime.begin = std::min(buffer.lifetime.begin, begin);
        buffer.lifetime.end = std::max(buffer.lifetime.end, end);
      }
    }
    if (buffer.lifetime.end == 0)
      return std::nullopt;
    return buffer;
  }

  /// The half-open range of times in which `user` needs a buffer that is allocated in
  /// `region`: all of the operation there that it is part of. If it is outside, also all of
  /// the operation that the allocation is part of: it may be a loop. With control flow
  /// between blocks, the whole region.
  std::pair<int64_t, int64_t> getTimes(Operation *user, Region *region) {
    std::pair<int64_t, int64_t> holder{numTimes, 0};
    while (!region->isAncestor(user->getParentRegion())) {
      holder = times.lookup(region->getParentOp());
      region = region->getParentRegion();
    }
    Operation *ancestor =
        region->hasOneBlock() ? region->findAncestorOpInRegion(*user) : region->getParentOp();
    auto [begin, end] = times.lookup(ancestor);
    return {std::min(begin, holder.first), std::max(end, holder.second)};
  }

  FunctionOpInterface function;
  BufferViewFlowAnalysis views;
  DataLayout layout;
  /// By operation: when it and its regions run, half-open.
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> times;
  int64_t numTimes = 0;
};
} // namespace

FailureOr<std::vector<AllocatedBuffer>>
mlir::remat::computeBufferLifetimes(FunctionOpInterface function) {
  return LifetimeComputer(function).run();
}
