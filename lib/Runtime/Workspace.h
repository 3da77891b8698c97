//===- Workspace.h - Scratch memory of one call -----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_RUNTIME_WORKSPACE_H
#define REMAT_LIB_RUNTIME_WORKSPACE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define REMAT_EXPORT extern "C" __attribute__((visibility("default")))

namespace mlir::remat::runtime {

/// Bytes of a buffer in a workspace: a multiple of what is loaded at once.
inline int64_t pad(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Ends the process if a workspace is too small.
inline void checkWorkspace(const char *function, int64_t needed, int64_t given) {
  if (given >= needed)
    return;
  std::fprintf(stderr,
               "%s: expected a workspace of at least %lld bytes, but got %lld; was this code "
               "compiled for another processor or number of threads?\n",
               function, static_cast<long long>(needed), static_cast<long long>(given));
  std::abort();
}

} // namespace mlir::remat::runtime

#endif // REMAT_LIB_RUNTIME_WORKSPACE_H
