//===- DescribedDialects.h - Dialects that only models describe -------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_INTERFACES_DESCRIBEDDIALECTS_H
#define REMAT_INTERFACES_DESCRIBEDDIALECTS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::remat {

/// Registers the names of the dialects that the built-in models describe (StableHLO and what
/// comes with it), where no dialect has them yet. Their operations stay unregistered, their
/// attributes and types opaque. What it is for: MLIR takes an operation with one region, of
/// a dialect whose name is not known, for a symbol table, and rejects calls inside of it.
void registerDescribedDialects(DialectRegistry &registry);

} // namespace mlir::remat

#endif // REMAT_INTERFACES_DESCRIBEDDIALECTS_H
