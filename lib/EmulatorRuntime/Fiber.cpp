//===- Fiber.cpp - Threads of a block ------------------------------------------===//
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

using namespace mlir::remat::emulator;

/// Variables on the stacks of kernels are few. Pages that are not used take no memory.
constexpr size_t kStackBytes = size_t(256) * 1024;
constexpr size_t kGuardBytes = 4096;

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
  if (_setjmp(outside) != 0)
    return isDone;
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
  if (_setjmp(inside) == 0)
    _longjmp(outside, 1);
}

void Fiber::run() {
  Fiber *self = beginningFiber;
  for (;;) {
    self->function(self->argument);
    self->isDone = true;
    self->wait();
  }
}
