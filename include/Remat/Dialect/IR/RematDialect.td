//===- RematDialect.td - The remat dialect and its attributes --*- tablegen -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===---------------------------------------------------------------------------===//

#ifndef REMAT_DIALECT_IR_REMATDIALECT_TD
#define REMAT_DIALECT_IR_REMATDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Remat_Dialect : Dialect {
  let name = "remat";
  let summary = "Rematerialization: recompute values instead of keeping them";
  let description = [{
    The dialect is small: an operation, `remat.barrier`, that keeps recomputed
    operations where they were put, one, `remat.library_call`, for what a library
    computes on buffers, and attributes that users and passes set on operations of
    other dialects.

    | attribute | type | meaning |
    | --- | --- | --- |
    | `remat.policy` | `#remat.policy<must_save>` or `#remat.policy<must_recompute>` | what the plan must do with the results of the operation |
    | `remat.recomputable` | `bool` | the user's word on whether the operation may be executed again, over any model |
    | `remat.cost` | `i64`, at least 0 | cost of one execution in picoseconds, over the cost model |
    | `remat.view` | unit, on `tensor.extract_slice` | the slice is read where it is, although it is several pieces of memory (set by `remat-fuse`) |
    | `remat.workspace` | `i64`, at least 0 | scratch bytes of one execution, over what models say |
    | `remat.clone_of` | `i64`, at least 0 | set on clones: index of the original in the input function (informational) |

    On functions whose memory is planned (`remat-plan-arena`):

    | attribute | type | meaning |
    | --- | --- | --- |
    | `remat.arena_bytes`, `remat.argument_bytes`, `remat.result_bytes`, `remat.constant_bytes` | `i64`, at least 0 | bytes of the arena, of the other arguments, of the results in the arena, of dense constants |
    | `remat.arena_alignment` | `i64`, at least 1 | what the address of the arena must be a multiple of |
    | `remat.results` | array of dictionaries | where each memref is that was returned: its `type` without offset, `offset` in bytes, and the number of the `argument` that it is in; without `argument` it is in the arena |
    | `remat.minimum_bytes` | `i64` | bytes that a kernel of a GPU has to read and write at least (`remat-kernels-to-gpu`) |
    | `remat.timed_operations` | array of `i64` | the operations whose code begins at the times that are recorded (`remat-time-operations`) |

    On arguments of functions, all unit attributes:

    | attribute | meaning |
    | --- | --- |
    | `remat.donated` | the function may overwrite it: the caller does not need it afterwards |
    | `remat.arena` | the arena |
    | `remat.result` | a result is written to it |
    | `remat.times` | times are written to it |
  }];
  let cppNamespace = "::mlir::remat";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Names of the discardable attributes of the dialect.
    static constexpr ::llvm::StringLiteral getPolicyAttrName() { return "remat.policy"; }
    static constexpr ::llvm::StringLiteral getRecomputableAttrName() { return "remat.recomputable"; }
    static constexpr ::llvm::StringLiteral getCostAttrName() { return "remat.cost"; }
    static constexpr ::llvm::StringLiteral getWorkspaceAttrName() { return "remat.workspace"; }
    static constexpr ::llvm::StringLiteral getCloneOfAttrName() { return "remat.clone_of"; }
    static constexpr ::llvm::StringLiteral getViewAttrName() { return "remat.view"; }
    static constexpr ::llvm::StringLiteral getArenaBytesAttrName() { return "remat.arena_bytes"; }
    static constexpr ::llvm::StringLiteral getArgumentBytesAttrName() { return "remat.argument_bytes"; }
    static constexpr ::llvm::StringLiteral getResultBytesAttrName() { return "remat.result_bytes"; }
    static constexpr ::llvm::StringLiteral getConstantBytesAttrName() { return "remat.constant_bytes"; }
    static constexpr ::llvm::StringLiteral getArenaAlignmentAttrName() { return "remat.arena_alignment"; }
    static constexpr ::llvm::StringLiteral getResultsAttrName() { return "remat.results"; }
    static constexpr ::llvm::StringLiteral getTimedOperationsAttrName() { return "remat.timed_operations"; }
    static constexpr ::llvm::StringLiteral getMinimumBytesAttrName() { return "remat.minimum_bytes"; }
    /// Of those on arguments.
    static constexpr ::llvm::StringLiteral getDonatedAttrName() { return "remat.donated"; }
    static constexpr ::llvm::StringLiteral getArenaAttrName() { return "remat.arena"; }
    static constexpr ::llvm::StringLiteral getResultAttrName() { return "remat.result"; }
    static constexpr ::llvm::StringLiteral getTimesAttrName() { return "remat.times"; }
  }];
}

def Remat_Policy : I32EnumAttr<"Policy", "what a plan must do with a value", [
    I32EnumAttrCase<"MustSave", 0, "must_save">,
    I32EnumAttrCase<"MustRecompute", 1, "must_recompute">]> {
  let cppNamespace = "::mlir::remat";
  let genSpecializedAttr = 0;
}

def Remat_PolicyAttr : EnumAttr<Remat_Dialect, Remat_Policy, "policy"> {
  let summary = "what a plan must do with the results of an operation";
  let description = [{
    `must_save`: the results are kept from their definition to their last use
    and never recomputed. `must_recompute`: the results are not kept across the
    operation where the most memory is in use in the unchanged function: what
    needs them behind it computes them again, even where the budget is met
    already. It is an error where that is impossible.

    ```mlir
    %0 = math.exp %x {remat.policy = #remat.policy<must_save>} : tensor<8xf32>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif // REMAT_DIALECT_IR_REMATDIALECT_TD
