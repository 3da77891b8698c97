//===- Support.h - What all of the C API has in common ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors. A function that can fail returns false or null, and takes an argument
// `error`: null, or where to put a message, which the caller frees with
// rematStringFree. It is set to null on success (and, after a failure, only if there
// is no memory for the message). Whatever is passed is checked first: a null pointer
// where one is not allowed is an error. What cannot be checked is whether pointers
// lead to as many elements as the counts say, and whether handles are alive.
//
// Ownership. Handles belong to the caller, who destroys each exactly once; null may
// be destroyed. What is passed in is copied. What is obtained from a handle is const
// and lives as long as the handle.
//
// Growth. A struct that begins with `structSize` may get more fields at its end. The
// caller sets `structSize` to the `sizeof` it was compiled with; a library that is
// older reads the fields it knows, and refuses others unless they are 0.
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_C_SUPPORT_H
#define REMAT_C_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REMAT_CAPI_EXPORTED __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// Frees an error message or another text that a function returned; null is allowed. Each
/// library of the C API has this function.
REMAT_CAPI_EXPORTED void rematStringFree(char *string);

#ifdef __cplusplus
}
#endif

#endif // REMAT_C_SUPPORT_H
