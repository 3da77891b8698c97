//===- DeviceFunctions.cpp - Functions that compiled kernels call ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions are here for processors and C libraries that have none.
//
//===----------------------------------------------------------------------===//

#include "DeviceInterface.h"
#include "DeviceMemory.h"
#include "Errors.h"
#include "Launch.h"
#include "Traffic.h"

#include "Remat/Runtime/Runtime.h"

#include <cmath>
#include <cstring>

using namespace mlir::remat::emulator;

static uint64_t collective(uint32_t operation, uint32_t site, uint32_t group, uint32_t value,
                           uint32_t operand, uint32_t clamp) {
  return callCollective({static_cast<Collective>(operation), site, group, value, operand, clamp});
}

/// The rounding error decides whether the sum is a number whose last bit may be 0.
static double fuseToOdd(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  if (error == 0 || !std::isfinite(sum))
    return sum;
  uint64_t bits = 0;
  std::memcpy(&bits, &sum, sizeof(bits));
  if ((bits & 1) != 0)
    return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

static uint32_t permuteBytes(uint32_t low, uint32_t high, uint32_t selector) {
  uint64_t bytes = uint64_t(high) << 32 | low;
  uint32_t result = 0;
  for (int index = 0; index < 4; ++index) {
    uint32_t choice = selector >> (4 * index) & 15;
    uint32_t byte = bytes >> (8 * (choice & 7)) & 0xff;
    // Copies of the sign.
    if ((choice & 8) != 0)
      byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * index);
  }
  return result;
}

static void failAssertion(const char *message, const char *file, uint32_t line, const char *,
                          uint64_t) {
  fail(describeThread() + ": assertion failed: " + message + " (" + file + ":" + llvm::Twine(line) +
       ")");
}

static void failTrap() { fail(describeThread() + ": trap"); }

template <typename T>
static void *addressOf(T *function) {
  return reinterpret_cast<void *>(function);
}

llvm::ArrayRef<DeviceSymbol> mlir::remat::emulator::getDeviceSymbols() {
  static const DeviceSymbol symbols[] = {
      {symbols::kRegisters, &threadRegisters},
      {symbols::kCollective, addressOf(collective)},
      {symbols::kCheckAccess, addressOf(checkAccess)},
      {symbols::kCountAccess, addressOf(countAccess)},
      {symbols::kFusedToOdd, addressOf(fuseToOdd)},
      {symbols::kPermuteBytes, addressOf(permuteBytes)},
      {symbols::kAssertFail, addressOf(failAssertion)},
      {symbols::kTrap, addressOf(failTrap)},
      {"__truncsfbf2", addressOf(__truncsfbf2)},
      {"__truncdfbf2", addressOf(__truncdfbf2)},
  };
  return symbols;
}
