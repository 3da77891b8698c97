//===- DriverMemory.cpp - Memory that the host cannot access ----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code that accesses it crashes. Addresses of freed memory stay inaccessible.
//
//===----------------------------------------------------------------------===//

#include "DriverMemory.h"

#include "EmulatedModules.h"
#include "FakeDriver.h"

#include <cstdlib>
#include <map>
#include <sys/mman.h>

using namespace mlir::remat::fake;

namespace {
struct Range {
  uint64_t bytes, mappedBytes;
  bool isAllocated;
};
} // namespace

/// By their first address; never destroyed, as memory is freed at exit.
static std::map<uint64_t, Range> &ranges = *new std::map<uint64_t, Range>;
static uint64_t usedBytes = 0;
static int openCount = 0;

static void protect(uint64_t begin, const Range &range, int protection) {
  if (mprotect(asPointer(begin), range.mappedBytes, protection) != 0)
    std::abort();
}

static void protectAll(int protection) {
  for (const auto &[begin, range] : ranges)
    if (range.isAllocated)
      protect(begin, range, protection);
}

void fakeCudaOpenMemory() {
  if (openCount++ == 0)
    protectAll(PROT_READ | PROT_WRITE);
}

void fakeCudaCloseMemory() {
  if (--openCount == 0)
    protectAll(PROT_NONE);
}

uint64_t mlir::remat::fake::getTotalBytes() {
  const char *value = std::getenv("FAKE_CUDA_MEMORY");
  return value ? std::strtoull(value, nullptr, 10) : uint64_t(1) << 30;
}

uint64_t mlir::remat::fake::getFreeBytes() { return getTotalBytes() - usedBytes; }

uint64_t mlir::remat::fake::allocate(uint64_t bytes) {
  constexpr uint64_t kPageBytes = 4096;
  if (bytes > getFreeBytes())
    return 0;
  // A page behind it belongs to nothing.
  uint64_t mappedBytes = (bytes + 2 * kPageBytes - 1) / kPageBytes * kPageBytes;
  void *memory =
      mmap(nullptr, mappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return 0;
  auto begin = reinterpret_cast<uint64_t>(memory);
  ranges[begin] = {bytes, mappedBytes, true};
  usedBytes += bytes;
  registerMemory(begin, bytes);
  return begin;
}

bool mlir::remat::fake::release(uint64_t begin) {
  auto found = ranges.find(begin);
  if (found == ranges.end() || !found->second.isAllocated)
    return false;
  found->second.isAllocated = false;
  usedBytes -= found->second.bytes;
  unregisterMemory(begin);
  // What was there is forgotten, the addresses are kept.
  madvise(asPointer(begin), found->second.mappedBytes, MADV_DONTNEED);
  return true;
}

bool fakeCudaIsDeviceMemory(const void *memory, uint64_t bytes) {
  auto begin = reinterpret_cast<uint64_t>(memory);
  auto next = ranges.upper_bound(begin);
  if (next == ranges.begin())
    return false;
  auto [first, range] = *std::prev(next);
  return range.isAllocated && bytes <= range.bytes && begin - first <= range.bytes - bytes;
}

bool mlir::remat::fake::canCopy(uint64_t begin, uint64_t bytes) {
  if (fakeCudaIsDeviceMemory(asPointer(begin), bytes))
    return true;
  auto next = ranges.lower_bound(begin + bytes);
  if (next == ranges.begin())
    return true;
  auto [first, range] = *std::prev(next);
  return begin >= first + range.mappedBytes;
}
