//===- Fiber.cpp - Threads of a block -------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Below each stack is a page that nobody may access.
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include "Errors.h"

#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#define REMAT_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REMAT_ADDRESS_SANITIZER
#endif
#endif
#ifdef REMAT_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

using namespace mlir::remat::emulator;

/// CUDA allows half of that for the variables of a thread. Pages that are not used take no memory.
constexpr size_t kStackBytes = size_t(1024) * 1024;
constexpr size_t kGuardBytes = 4096;

// AddressSanitizer has to know which stack is in use.
#ifdef REMAT_ADDRESS_SANITIZER
static void leaveStack(void **shadow, const void *next, size_t bytes) {
  __sanitizer_start_switch_fiber(shadow, next, bytes);
}
static void enterStack(void *shadow, const void **previous, size_t *bytes) {
  __sanitizer_finish_switch_fiber(shadow, previous, bytes);
}
#else
static void leaveStack(void **, const void *, size_t) {}
static void enterStack(void *, const void **, size_t *) {}
#endif

/// What run() is for: contexts of ucontext take no pointers.
static Fiber *beginningFiber = nullptr;

Fiber::Fiber() {
  void *memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuardBytes, PROT_NONE) != 0)
    fail("no memory for the stack of a thread");
  stack = static_cast<char *>(memory);
}

Fiber::~Fiber() { munmap(stack, kGuardBytes + kStackBytes); }

uint64_t Fiber::getStackEnd() const {
  return reinterpret_cast<uint64_t>(stack + kGuardBytes + kStackBytes);
}

void Fiber::start(void (*newFunction)(void *), void *newArgument) {
  function = newFunction;
  argument = newArgument;
  isDone = false;
}

bool Fiber::resume() {
  void *shadow = nullptr;
  leaveStack(&shadow, stack + kGuardBytes, kStackBytes);
  if (_setjmp(outside) != 0) {
    enterStack(shadow, nullptr, nullptr);
    return isDone;
  }
  if (hasBegun)
    _longjmp(inside, 1);
  hasBegun = true;
  getcontext(&beginning);
  beginning.uc_stack.ss_sp = stack + kGuardBytes;
  beginning.uc_stack.ss_size = kStackBytes;
  beginning.uc_link = nullptr;
  beginningFiber = this;
  makecontext(&beginning, run, 0);
  setcontext(&beginning);
  fail("a thread does not start");
}

void Fiber::wait() {
  void *shadow = nullptr;
  leaveStack(&shadow, outsideStack, outsideBytes);
  if (_setjmp(inside) == 0)
    _longjmp(outside, 1);
  enterStack(shadow, &outsideStack, &outsideBytes);
}

void Fiber::run() {
  Fiber *self = beginningFiber;
  enterStack(nullptr, &self->outsideStack, &self->outsideBytes);
  for (;;) {
    self->function(self->argument);
    self->isDone = true;
    self->wait();
  }
}
