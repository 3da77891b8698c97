//===- Generate.h - The command `generate` ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_PLAN_GENERATE_H
#define REMAT_TOOLS_REMAT_PLAN_GENERATE_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

extern llvm::cl::SubCommand generateCommand;

/// Writes a problem of the family that the command line names. Returns the exit code.
llvm::Expected<int> runGenerate();

#endif // REMAT_TOOLS_REMAT_PLAN_GENERATE_H
