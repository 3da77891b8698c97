//===- Block.h - The threads of a block together --------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads run one after the other, each until it ends or calls a collective operation. When
// none can run, operations whose threads have all come are done, and those threads go on.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_BLOCK_H
#define REMAT_LIB_EMULATORRUNTIME_BLOCK_H

#include "DeviceInterface.h"
#include "Fiber.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::remat::emulator {

/// Runs blocks whose threads wait for each other. Stacks are kept from one block to the next.
class Block {
public:
  /// Runs one block of so many threads. `enter` says that a thread is the one that runs from
  /// now on; `body` is its code. Fails if threads wait for others that do not come.
  void run(uint32_t numThreads, bool isReverse, void (*enter)(uint32_t thread),
           void (*body)(void *), void *argument);

  /// A call of the thread that runs: waits for the others. The result is in the lower half, a
  /// predicate in the upper one.
  uint64_t call(const CollectiveCall &call);

  /// Of the thread that runs.
  uint64_t getStackEnd() const { return threads[running].fiber->getStackEnd(); }

private:
  enum class State { Ready, Waiting, Ended };
  struct Thread {
    std::unique_ptr<Fiber> fiber = std::make_unique<Fiber>();
    State state = State::Ready;
    CollectiveCall call;
    uint64_t result = 0;
  };

  bool isWaitingAt(uint32_t thread, const CollectiveCall &call) const;
  void release(uint32_t thread, uint64_t result);
  /// Each says whether threads can go on.
  bool releaseWarps();
  bool releaseBarriers();
  bool releaseActiveMasks();
  [[noreturn]] void failDivergent() const;

  std::vector<Thread> threads;
  uint32_t size = 0;
  uint32_t running = 0;
};

/// The result for the lane in a warp where `lanes` (a mask) have called.
uint64_t evaluateCollective(uint32_t lane, uint32_t lanes, llvm::ArrayRef<CollectiveCall> calls);

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_BLOCK_H
