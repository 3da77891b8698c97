//===- Fiber.h - Threads of a block ---------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that can wait in the middle of its code while others run, on the one thread of the
// processor that there is: it has a stack of its own, which other kernels use again.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_EMULATORRUNTIME_FIBER_H
#define REMAT_LIB_EMULATORRUNTIME_FIBER_H

#include <csetjmp>
#include <cstddef>
#include <cstdint>

#include <ucontext.h>

namespace mlir::remat::emulator {

class Fiber {
public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Has the next resume() call the function. The fiber has never been resumed, or its last
  /// function returned.
  void start(void (*function)(void *), void *argument);

  /// Runs it until it waits or its function returns; says which, `true` for the latter.
  bool resume();

  /// Goes back to who called resume(). Called by the function of a fiber.
  void wait();

  /// Where its stack ends: variables on it have smaller addresses.
  uint64_t getStackEnd() const;

private:
  static void run();

  char *stack;
  // A context of ucontext is where a fiber begins. From then on jumps, which leave the signal
  // mask alone, are twenty times as fast.
  ucontext_t beginning;
  std::jmp_buf inside, outside;
  // Of whoever called resume(), as AddressSanitizer knows it.
  const void *outsideStack = nullptr;
  size_t outsideBytes = 0;
  void (*function)(void *) = nullptr;
  void *argument = nullptr;
  bool hasBegun = false;
  bool isDone = true;
};

} // namespace mlir::remat::emulator

#endif // REMAT_LIB_EMULATORRUNTIME_FIBER_H
