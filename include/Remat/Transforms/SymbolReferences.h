//===- SymbolReferences.h - Names that attributes refer to ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses of symbols that upstream's SymbolTable does not find: in the properties of
// operations that are not registered (`called_computations = [@f]`) and in the text of
// attributes of dialects that are not linked in (`#dialect<call @f>`).
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_SYMBOLREFERENCES_H
#define REMAT_TRANSFORMS_SYMBOLREFERENCES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSet.h"
#include <functional>
#include <memory>

namespace mlir {
class AttrTypeWalker;
} // namespace mlir

namespace mlir::remat {

/// Reports every name that an attribute refers to, each part of `@a::@b` by itself, whatever
/// symbol table it is in: rather too many names than too few.
class SymbolReferences {
public:
  explicit SymbolReferences(std::function<void(StringRef)> report);
  ~SymbolReferences();

  /// Reports the names that `op` and the operations inside of it refer to. What has been
  /// reported by an earlier call may be left out.
  void visit(Operation *op);

  /// The same without what is inside of it.
  void visitAlone(Operation *op);

private:
  std::unique_ptr<AttrTypeWalker> attributes;
};

/// What operations inside of `scope` refer to that are not registered: uses that
/// `SymbolTable::getSymbolUses` does not know of.
llvm::StringSet<> listHiddenReferences(Operation *scope);

} // namespace mlir::remat

#endif // REMAT_TRANSFORMS_SYMBOLREFERENCES_H
