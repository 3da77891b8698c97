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

#endif // REMAT_DIALECT_IR_REMATOPS_TD
