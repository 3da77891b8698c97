//===- Clock.cpp - Times of a step's operations -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remat/Runtime/Runtime.h"

#include <chrono>

extern "C" __attribute__((visibility("default"))) void rematRecordTime(int64_t *times,
                                                                       int64_t slot) {
  times[slot] = std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::steady_clock::now().time_since_epoch())
                    .count();
}
