//===- RematOps.td - Operations of the remat dialect -----------*- tablegen -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===---------------------------------------------------------------------------===//

#ifndef REMAT_DIALECT_IR_REMATOPS_TD
#define REMAT_DIALECT_IR_REMATOPS_TD

include "Remat/Dialect/IR/RematDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Remat_BarrierOp : Op<Remat_Dialect, "barrier", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "hold values back until others are computed";
  let description = [{
    Result `i` equals input `i`. The operation, and so everything that reads its
    results, stays behind the definition of every `after` value: a recomputed
    region reads all its outside inputs through one barrier whose `after` value
    belongs to the backward pass, and therefore cannot be merged with the
    forward computation or moved back into it.

    ```mlir
    %x, %w = remat.barrier %a, %b after %g
           : tensor<8x4xf32>, tensor<4x16xf32> after tensor<8x16xf32>
    ```

    It has an allocation effect on a resource of its own, so that CSE never
    merges two barriers, nothing hoists one, and an unused one is erased. It
    costs nothing: bufferization replaces the results by the inputs' buffers.
    Memrefs are not accepted, since the effect would make buffer deallocation
    free them.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<AnyType>:$after);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $inputs `after` $after attr-dict `:` type($inputs) `after` type($after)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Remat_LibraryCallOp : Op<Remat_Dialect, "library_call", [AttrSizedOperandSegments]> {
  let summary = "call a function of the runtime library on buffers";
  let description = [{
    Calls `function` of the runtime library (`Remat/Runtime/Runtime.h`): it reads the
    inputs, and writes to the output what it has computed from them and from what was there.
    `shape` is what the function takes as its first argument, a structure of 64-bit integers
    with types of elements, sizes and strides. The workspace is scratch memory, of which
    nothing is read that this call has not written.

    ```mlir
    remat.library_call "rematConvolution" [2, 2, 2, 2, 1, ...]
        ins(%input, %filter : memref<1x8x8x4xf32>, memref<3x3x4x8xf32>)
        outs(%output : memref<1x6x6x8xf32>) workspace(%scratch : memref<12288xi8>)
    ```

    Structured operations become this before places in memory are planned, so that the
    workspace is planned, too. Strides of the buffers are constants, their offsets need not
    be.
  }];
  let arguments = (ins
    StrAttr:$function,
    DenseI64ArrayAttr:$shape,
    Arg<Variadic<AnyStridedMemRef>, "read", [MemRead]>:$inputs,
    Arg<AnyStridedMemRef, "read and written", [MemRead, MemWrite]>:$output,
    Arg<Optional<MemRefRankOf<[I8], [1]>>, "scratch", [MemWrite]>:$workspace);
  let assemblyFormat = [{
    $function $shape `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $output `:` type($output) `)`
    (`workspace` `(` $workspace^ `:` type($workspace) `)`)? attr-dict
  }];
}

#endif // REMAT_DIALECT_IR_REMATOPS_TD
