//===- Calls.h - Functions of a C API ---------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What functions with an argument `error` have in common: see Remat-c/Support.h. Not installed.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_LIB_CAPI_CALLS_H
#define REMAT_LIB_CAPI_CALLS_H

#include "Remat-c/Support.h"
#include "Remat/Support/Error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::remat::capi {

/// "'name' is null" if it is.
llvm::Error requirePointer(const void *pointer, const char *name);

/// Copies `input`, which may have been compiled with fewer or more fields, to `result`
/// of `size` bytes. `firstSize` is the size of the struct in the first version.
llvm::Error readStruct(void *result, size_t size, size_t firstSize, const void *input,
                       const char *name);
/// The other way round: writes as many fields as `output` says that it has.
llvm::Error writeStruct(const void *value, size_t size, size_t firstSize, void *output,
                        const char *name);

// Up to the last field of the first version, whatever is added later.
#define REMAT_FIRST_SIZE(type, lastField) (offsetof(type, lastField) + sizeof(type::lastField))

/// A copy that C can free; null when there is no memory for it.
char *copyText(llvm::StringRef text);

/// Runs `action`; whatever goes wrong, exceptions of the standard library too, becomes a
/// message.
bool attempt(char **message, llvm::function_ref<llvm::Error()> action);

} // namespace mlir::remat::capi

#endif // REMAT_LIB_CAPI_CALLS_H
