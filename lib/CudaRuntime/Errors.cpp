//===- Errors.cpp - The first error since it was last asked for -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An error that nobody has asked for is said at the end of the process: results of such a
// program are wrong.
//
//===----------------------------------------------------------------------===//

#include "Errors.h"

#include <cstdio>
#include <optional>

using namespace mlir::remat::cuda;

namespace {
struct Errors {
  const char *operation = nullptr;
  std::optional<std::string> first;
  std::string taken;
};
} // namespace
/// Never destroyed: modules are unloaded at exit.
static Errors &errors = *new Errors;

__attribute__((destructor)) static void reportAtExit() {
  if (errors.first)
    std::fprintf(stderr, "remat cuda: %s\n", errors.first->c_str());
}

void mlir::remat::cuda::setOperation(const char *name) { errors.operation = name; }

void mlir::remat::cuda::fail(const std::string &what) {
  if (errors.first)
    return;
  errors.first = errors.operation ? std::string(errors.operation) + ": " + what : what;
}

bool mlir::remat::cuda::hasFailed() { return errors.first.has_value(); }

const char *mlir::remat::cuda::takeError() {
  if (!errors.first)
    return nullptr;
  errors.taken = std::move(*errors.first);
  errors.first.reset();
  return errors.taken.c_str();
}
