//===- Highs.h - Linear programs through HiGHS ------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TOOLS_REMAT_PLAN_HIGHS_H
#define REMAT_TOOLS_REMAT_PLAN_HIGHS_H

#include "Remat/Planner/LinearProgram.h"
#include "llvm/Support/Error.h"

/// Opens the shared library of HiGHS (Huangfu, Hall, "Parallelizing the dual revised
/// simplex method", 2018) at `path`, or where the loader finds it. An error when it
/// cannot be opened, or is another library.
llvm::Expected<mlir::remat::planner::LinearProgramSolver> loadHighs(const std::string &path);

#endif // REMAT_TOOLS_REMAT_PLAN_HIGHS_H
