//===- OperationTimer.cpp - Times of a step's operations --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperationTimer.h"

#include "Remat/Runtime/Runtime.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::remat;

static int64_t getMedian(std::vector<int64_t> numbers) {
  auto middle = numbers.begin() + numbers.size() / 2;
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// The least that there is between two times with nothing between them.
static int64_t measureClock() {
  constexpr int64_t kCalls = 1001;
  std::vector<int64_t> times(kCalls);
  for (int64_t slot = 0; slot < kCalls; ++slot)
    rematRecordTime(times.data(), slot);
  int64_t least = times[1] - times[0];
  for (int64_t slot = 1; slot < kCalls; ++slot)
    least = std::min(least, times[slot] - times[slot - 1]);
  return least;
}

OperationTimer::OperationTimer(std::vector<int64_t> operations)
    : operations(std::move(operations)), nanoseconds(this->operations.size() + 1),
      clockNanoseconds(measureClock()) {}

void OperationTimer::addExecution() {
  std::map<int64_t, int64_t> sums;
  for (auto [slot, operation] : llvm::enumerate(operations))
    sums[operation] +=
        std::max<int64_t>(0, nanoseconds[slot + 1] - nanoseconds[slot] - clockNanoseconds);
  for (auto [operation, sum] : sums)
    times[operation].push_back(sum);
}

std::map<int64_t, int64_t> OperationTimer::getMedians() const {
  constexpr int64_t kPicoseconds = 1000;
  std::map<int64_t, int64_t> medians;
  for (const auto &[operation, durations] : times)
    medians[operation] = getMedian(durations) * kPicoseconds;
  return medians;
}
