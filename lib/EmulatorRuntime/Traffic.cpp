//===- Traffic.cpp - Memory that kernels move -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Traffic.h"

#include "DeviceInterface.h"
#include "Errors.h"

#include <bitset>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>

using namespace llvm;
using namespace mlir::remat::emulator;

namespace {
constexpr uint64_t kSectorBytes = 32, kChunkSectors = 2048;

/// Neighbouring sectors that a launch has come to.
struct Chunk {
  std::bitset<kChunkSectors> read, written;
};

/// In bytes.
struct Total {
  uint64_t launches = 0, read = 0, written = 0;
};

class TrafficCounter {
public:
  explicit TrafficCounter(std::string path) : path(std::move(path)) {}

  void count(uint64_t address, uint64_t bytes, bool isWrite) {
    if (bytes == 0)
      return;
    uint64_t last = (address + bytes - 1) / kSectorBytes;
    for (uint64_t sector = address / kSectorBytes; sector <= last; ++sector) {
      if (!current || sector / kChunkSectors != currentNumber) {
        currentNumber = sector / kChunkSectors;
        current = &chunks[currentNumber];
      }
      (isWrite ? current->written : current->read).set(sector % kChunkSectors);
    }
  }

  void endLaunch(StringRef kernel) {
    Total &total = totals[kernel.str()];
    ++total.launches;
    for (const auto &[number, chunk] : chunks) {
      total.read += chunk.read.count() * kSectorBytes;
      total.written += chunk.written.count() * kSectorBytes;
    }
    chunks.clear();
    current = nullptr;
  }

  /// Fails if the file cannot be written.
  void write() const {
    std::FILE *file = std::fopen(path.c_str(), "w");
    bool isWritten = file && std::fputs("kernel,launches,bytes_read,bytes_written\n", file) >= 0;
    for (const auto &[kernel, total] : totals)
      isWritten = isWritten && std::fprintf(file, "%s,%llu,%llu,%llu\n", kernel.c_str(),
                                            static_cast<unsigned long long>(total.launches),
                                            static_cast<unsigned long long>(total.read),
                                            static_cast<unsigned long long>(total.written)) > 0;
    isWritten = file && std::fclose(file) == 0 && isWritten;
    if (!isWritten)
      fail("cannot write REMAT_EMULATOR_TRAFFIC '" + Twine(path) + "'");
  }

private:
  std::string path;
  std::unordered_map<uint64_t, Chunk> chunks;
  Chunk *current = nullptr;
  uint64_t currentNumber = 0;
  std::map<std::string, Total> totals;
};
} // namespace

/// Null if nothing is counted. Never destroyed: it is written at exit.
static TrafficCounter *getCounter() {
  static TrafficCounter *const counter = []() -> TrafficCounter * {
    const char *path = std::getenv("REMAT_EMULATOR_TRAFFIC");
    if (!path || !*path)
      return nullptr;
    std::atexit([] { getCounter()->write(); });
    return new TrafficCounter(path);
  }();
  return counter;
}

bool mlir::remat::emulator::isTrafficCounted() { return getCounter() != nullptr; }

void mlir::remat::emulator::countAccess(uint64_t address, uint64_t bytes, uint32_t kind) {
  getCounter()->count(address, bytes, (kind & kWrite) != 0);
}

void mlir::remat::emulator::endTraffic(StringRef kernel) {
  if (TrafficCounter *counter = getCounter())
    counter->endLaunch(kernel);
}
