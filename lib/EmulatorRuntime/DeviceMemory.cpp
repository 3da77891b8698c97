//===- DeviceMemory.cpp - The memory of the device ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of mgpuMemAlloc and of the variables of a module is known without being registered;
// what else there is, is any memory of the process until something is registered.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"

#include "Errors.h"
#include "Launch.h"
#include "Remat/Runtime/DeviceCalls.h"

using namespace llvm;
using namespace mlir::remat::emulator;

static MemoryRanges registered, allocated;
static int64_t memoryEpoch = 0;
/// Allocations of no bytes have different addresses, too.
static std::map<void *, uint64_t> allocatedSizes;
static int64_t allocatedBytes = 0;

void mlir::remat::emulator::registerMemory(MemoryRange range, bool writable) {
  registered.add(range, writable);
  ++memoryEpoch;
}

void mlir::remat::emulator::unregisterMemory(uint64_t begin) {
  if (!registered.remove(begin))
    fail("no memory is registered at 0x" + Twine::utohexstr(begin));
  ++memoryEpoch;
}

void *mlir::remat::emulator::allocateMemory(uint64_t bytes) {
  uint64_t rounded = (bytes + kDeviceAlignment) / kDeviceAlignment * kDeviceAlignment;
  void *memory = std::aligned_alloc(kDeviceAlignment, rounded);
  if (!memory)
    fail("no memory for an allocation of " + Twine(bytes) + " bytes");
  if (bytes != 0)
    allocated.add({reinterpret_cast<uint64_t>(memory), bytes}, /*writable=*/true);
  allocatedSizes[memory] = rounded;
  allocatedBytes += static_cast<int64_t>(rounded);
  ++memoryEpoch;
  return memory;
}

void mlir::remat::emulator::freeMemory(void *memory) {
  auto size = allocatedSizes.find(memory);
  if (size == allocatedSizes.end()) {
    if (memory)
      fail("memory at 0x" + Twine::utohexstr(reinterpret_cast<uint64_t>(memory)) +
           " is freed that is not allocated");
    return;
  }
  allocatedBytes -= static_cast<int64_t>(size->second);
  allocatedSizes.erase(size);
  allocated.remove(reinterpret_cast<uint64_t>(memory));
  ++memoryEpoch;
  std::free(memory);
}

int64_t mlir::remat::emulator::getAllocatedBytes() { return allocatedBytes; }

int64_t mlir::remat::emulator::getMemoryEpoch() { return memoryEpoch; }

static std::string describe(const MemoryRange &range) {
  return (Twine(range.bytes) + " bytes at 0x" + Twine::utohexstr(range.begin)).str();
}

void mlir::remat::emulator::checkAccess(uint64_t address, uint64_t bytes, uint32_t kind,
                                        uint64_t alignment, MemoryRange *range) {
  auto failWith = [&](const Twine &reason) {
    fail(describeThread() + ((kind & kWrite) != 0 ? " writes " : " reads ") +
         describe({address, bytes}) + ", " + reason);
  };
  if (bytes == 0)
    return;
  if (address % alignment != 0)
    failWith("which is not a multiple of " + Twine(alignment));
  const DeviceModule &module = *getRunningKernel().module;
  const MemoryRanges *shared[] = {&module.shared};
  const MemoryRanges *all[] = {&module.shared, &module.variables, &registered, &allocated};
  bool isShared = (kind & kShared) != 0;
  for (const MemoryRanges *ranges : isShared ? ArrayRef(shared) : ArrayRef(all)) {
    const MemoryRanges::Entry *entry = ranges->findNearest(address);
    if (!entry || !entry->range.contains(address, bytes))
      continue;
    if ((kind & kWrite) != 0 && !entry->writable)
      failWith("which are read-only");
    *range = entry->range;
    return;
  }
  if (isShared)
    failWith("outside of the variables in shared memory");
  // Variables of the thread are between here and where its stack ends.
  if (address > reinterpret_cast<uint64_t>(&shared) && address < getStackEnd())
    return;
  const MemoryRanges::Entry *nearest = registered.findNearest(address);
  if (nearest)
    failWith("outside of registered memory; the nearest are " + describe(nearest->range));
  *range = {0, UINT64_MAX};
}

void mlir::remat::emulator::checkHostAccess(const char *user, uint64_t address, uint64_t bytes,
                                            bool isWrite) {
  if (registered.empty())
    return;
  auto failWith = [&](const Twine &reason) {
    fail(describeOperation() + user + (isWrite ? " writes " : " reads ") +
         describe({address, bytes}) + ", " + reason);
  };
  for (const MemoryRanges *ranges : {&registered, &allocated}) {
    const MemoryRanges::Entry *entry = ranges->findNearest(address);
    if (!entry || !entry->range.contains(address, bytes))
      continue;
    if (isWrite && !entry->writable)
      failWith("which are read-only");
    return;
  }
  failWith("outside of registered memory");
}
