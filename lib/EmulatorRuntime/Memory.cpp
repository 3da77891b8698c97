//===- Memory.cpp - What kernels may access -------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of the addresses makes each search one step in a tree.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include "Errors.h"

#include <iterator>

using namespace mlir::remat::emulator;

void MemoryRanges::add(MemoryRange range, bool writable) {
  uint64_t end = range.begin + range.bytes;
  auto next = ranges.lower_bound(range.begin);
  bool isKnown =
      next != ranges.end() && next->first == range.begin && next->second.range.bytes == range.bytes;
  if (!isKnown) {
    bool overlaps = next != ranges.end() && next->first < end;
    if (next != ranges.begin()) {
      MemoryRange previous = std::prev(next)->second.range;
      overlaps |= range.begin - previous.begin < previous.bytes;
    }
    if (overlaps)
      fail("registered memory of " + llvm::Twine(range.bytes) + " bytes at 0x" +
           llvm::Twine::utohexstr(range.begin) + " overlaps memory that is registered already");
  }
  ranges[range.begin] = {range, writable};
}

bool MemoryRanges::remove(uint64_t begin) { return ranges.erase(begin) != 0; }

const MemoryRanges::Entry *MemoryRanges::findNearest(uint64_t address) const {
  if (ranges.empty())
    return nullptr;
  auto next = ranges.upper_bound(address);
  return next == ranges.begin() ? &next->second : &std::prev(next)->second;
}
