//===- GuardedBuffer.h - Memory between pages that nobody may touch ---------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TEST_FUZZ_GUARDEDBUFFER_H
#define REMAT_TEST_FUZZ_GUARDEDBUFFER_H

#include "llvm/Support/Compiler.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace mlir::remat::fuzz {

constexpr bool kHasAddressSanitizer = LLVM_ADDRESS_SANITIZER_BUILD;

/// `bytes` bytes whose end is as close to a page that faults as the alignment allows:
///
///     | faults | fill ... | data ... | fill | faults |
///
/// The bytes of `fill` around the data are compared by `isIntact`, and poisoned for
/// AddressSanitizer.
class GuardedBuffer {
public:
  GuardedBuffer(std::string name, int64_t bytes, int64_t alignment, unsigned char fill)
      : bufferName(std::move(name)), numBytes(bytes), fill(fill) {
    int64_t page = sysconf(_SC_PAGESIZE);
    length = llvm::alignTo(std::max<int64_t>(bytes, 1), page);
    void *mapped = mmap(nullptr, length + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      std::abort();
    mapping = static_cast<char *>(mapped);
    begin = mapping + page;
    mprotect(begin, length, PROT_READ | PROT_WRITE);
    std::memset(begin, fill, length);
    data = begin + llvm::alignDown(length - bytes, alignment);
    __asan_poison_memory_region(begin, data - begin);
    __asan_poison_memory_region(data + numBytes, begin + length - (data + numBytes));
  }
  GuardedBuffer(const GuardedBuffer &) = delete;
  ~GuardedBuffer() {
    unpoison();
    munmap(mapping, length + 2 * (begin - mapping));
  }

  /// Poisons the data, too, but for what is `used`.
  void poison([[maybe_unused]] const std::vector<bool> &used) {
    for (int64_t first = 0, last; first < numBytes; first = last) {
      last = first + 1;
      while (last < numBytes && used[last] == used[first])
        ++last;
      if (!used[first]) {
        __asan_poison_memory_region(data + first, last - first);
      }
    }
  }
  /// Lets everything be read again.
  void unpoison() { __asan_unpoison_memory_region(begin, length); }

  char *get() const { return data; }
  int64_t size() const { return numBytes; }
  const std::string &name() const { return bufferName; }

  /// From now on, writing faults.
  void protect() { mprotect(begin, length, PROT_READ); }

  /// Whether the bytes around the data are what they were.
  bool isIntact() const {
    auto isFill = [&](char byte) { return static_cast<unsigned char>(byte) == fill; };
    return std::all_of(begin, data, isFill) && std::all_of(data + numBytes, begin + length, isFill);
  }

  /// Whether an address is in the mapping, pages that fault included.
  bool contains(const char *address) const {
    return address >= mapping && address < begin + length + (begin - mapping);
  }

private:
  std::string bufferName;
  int64_t numBytes, length = 0;
  unsigned char fill;
  char *mapping, *begin, *data;
};

} // namespace mlir::remat::fuzz

#endif // REMAT_TEST_FUZZ_GUARDEDBUFFER_H
