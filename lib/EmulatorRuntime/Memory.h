//===- Memory.h - What kernels may access ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranges of memory, in the order of their addresses.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_MEMORY_H
#define REMAT_LIB_EMULATORRUNTIME_MEMORY_H

#include <cstdint>
#include <map>

namespace mlir::remat::emulator {

/// [begin, begin + bytes). Small enough to be in a register pair: a copy is in each place of
/// the code that accesses memory, see AccessChecks.h.
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t bytes = 0;

  bool contains(uint64_t address, uint64_t size) const {
    return address - begin < bytes && size <= bytes - (address - begin);
  }
};

class MemoryRanges {
public:
  /// Fails if the range overlaps another one than itself.
  void add(MemoryRange range, bool writable);
  /// Whether there was such a range.
  bool remove(uint64_t begin);
  bool empty() const { return ranges.empty(); }

  struct Entry {
    MemoryRange range;
    bool writable;
  };
  /// The last range that begins at the address or before it, or else the first range; null if
  /// there is none at all.
  const Entry *findNearest(uint64_t address) const;

private:
  std::map<uint64_t, Entry> ranges;
};

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_MEMORY_H
