//===- Block.cpp - The threads of a block together ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads wait together if they wait at the same place of the code for the same barrier or
// with the same mask. The rules of the hardware are looser in places; code that only they
// allow is an error here.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include "Errors.h"
#include "Launch.h"

#include <algorithm>

using namespace mlir::remat::emulator;

static bool isBarrier(Collective operation) { return operation <= Collective::BarrierCount; }

void Block::run(uint32_t numThreads, bool isReverse, void (*enter)(uint32_t thread),
                void (*body)(void *), void *argument) {
  size = numThreads;
  if (threads.size() < size)
    threads.resize(size);
  for (uint32_t thread = 0; thread < size; ++thread) {
    threads[thread].state = State::Ready;
    threads[thread].fiber->start(body, argument);
  }
  uint32_t numEnded = 0;
  while (true) {
    for (uint32_t step = 0; step < size; ++step) {
      running = isReverse ? size - 1 - step : step;
      Thread &thread = threads[running];
      if (thread.state != State::Ready)
        continue;
      enter(running);
      bool hasEnded = thread.fiber->resume();
      thread.state = hasEnded ? State::Ended : State::Waiting;
      numEnded += hasEnded;
    }
    if (numEnded == size)
      return;
    if (!releaseWarps() && !releaseBarriers() && !releaseActiveMasks())
      failDivergent();
  }
}

uint64_t Block::call(const CollectiveCall &call) {
  Thread &thread = threads[running];
  thread.call = call;
  bool isMasked = !isBarrier(call.operation) && call.operation != Collective::ActiveMask;
  if (isMasked && (call.group >> (running % kWarpSize) & 1) == 0)
    fail(describeThread() + ": it is not in the mask 0x" + llvm::Twine::utohexstr(call.group) +
         " of its own operation");
  thread.fiber->wait();
  return thread.result;
}

bool Block::isWaitingAt(uint32_t thread, const CollectiveCall &call) const {
  const Thread &other = threads[thread];
  return other.state == State::Waiting && other.call.site == call.site &&
         other.call.group == call.group;
}

void Block::release(uint32_t thread, uint64_t result) {
  threads[thread].result = result;
  threads[thread].state = State::Ready;
}

bool Block::releaseWarps() {
  bool any = false;
  for (uint32_t thread = 0; thread < size; ++thread) {
    const CollectiveCall call = threads[thread].call;
    if (threads[thread].state != State::Waiting || isBarrier(call.operation) ||
        call.operation == Collective::ActiveMask)
      continue;
    // Lanes beyond the end of the block do not come.
    uint32_t first = thread / kWarpSize * kWarpSize;
    uint32_t numLanes = std::min(kWarpSize, size - first);
    uint32_t lanes = numLanes == kWarpSize ? call.group : call.group & ((1U << numLanes) - 1);
    std::array<CollectiveCall, kWarpSize> calls;
    bool complete = true;
    for (uint32_t lane = 0; lane < numLanes; ++lane) {
      calls[lane] = threads[first + lane].call;
      complete &= (lanes >> lane & 1) == 0 || isWaitingAt(first + lane, call);
    }
    if (!complete)
      continue;
    any = true;
    for (uint32_t lane = 0; lane < numLanes; ++lane)
      if (lanes >> lane & 1)
        release(first + lane, evaluateCollective(lane, lanes, calls));
  }
  return any;
}

bool Block::releaseBarriers() {
  bool any = false;
  for (uint32_t thread = 0; thread < size; ++thread) {
    const CollectiveCall call = threads[thread].call;
    if (threads[thread].state != State::Waiting || !isBarrier(call.operation))
      continue;
    uint32_t numWaiting = 0;
    uint32_t numTrue = 0;
    for (uint32_t other = 0; other < size; ++other) {
      if (!isWaitingAt(other, call))
        continue;
      ++numWaiting;
      numTrue += threads[other].call.value;
    }
    if (numWaiting != (call.operand == 0 ? size : call.operand))
      continue;
    any = true;
    uint32_t result = call.operation == Collective::BarrierAnd  ? numTrue == numWaiting
                      : call.operation == Collective::BarrierOr ? numTrue != 0
                                                                : numTrue;
    for (uint32_t other = 0; other < size; ++other)
      if (isWaitingAt(other, call))
        release(other, result);
  }
  return any;
}

bool Block::releaseActiveMasks() {
  bool any = false;
  for (uint32_t thread = 0; thread < size; ++thread) {
    const CollectiveCall call = threads[thread].call;
    if (threads[thread].state != State::Waiting || call.operation != Collective::ActiveMask)
      continue;
    any = true;
    uint32_t first = thread / kWarpSize * kWarpSize;
    uint32_t end = std::min(first + kWarpSize, size);
    uint32_t lanes = 0;
    for (uint32_t other = first; other < end; ++other)
      lanes |= uint32_t(isWaitingAt(other, call)) << (other - first);
    for (uint32_t other = first; other < end; ++other)
      if (lanes >> (other - first) & 1)
        release(other, lanes);
  }
  return any;
}

void Block::failDivergent() const {
  // The first thread that waits, and the first one that it waits for.
  auto waits = [&](uint32_t thread) { return threads[thread].state == State::Waiting; };
  uint32_t first = 0;
  while (!waits(first))
    ++first;
  const CollectiveCall &call = threads[first].call;
  uint32_t begin = isBarrier(call.operation) ? 0 : first / kWarpSize * kWarpSize;
  uint32_t missing = begin;
  while (isWaitingAt(missing, call) ||
         (!isBarrier(call.operation) && (call.group >> (missing - begin) & 1) == 0))
    ++missing;
  llvm::StringRef where = isBarrier(call.operation) ? "at a barrier" : "for lanes of its warp";
  fail(describeBlock() + ": " +
       (isBarrier(call.operation) ? "divergent barrier" : "divergent warp") + ": thread " +
       describeIndex(first) + " waits " + where + ", but thread " + describeIndex(missing) +
       (waits(missing) ? " waits elsewhere" : " has ended"));
}
