// The same operation is written in the forward and in the backward part, from a larger operand:
// what crosses is the smaller result, not the operand, once cse has found that they are the same;
// a refusal without it says so.
//
// RUN: remat-opt %s --allow-unregistered-dialect --canonicalize --cse -o %t.merged.mlir
// RUN: remat-opt %t.merged.mlir --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=99MiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=MERGED
//
// RUN: not remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize=budget=99MiB 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED

!row = tensor<262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// As written, at test.big: argument 1, %p 64, %l 1, %b 96: 162. With the sum crossing: argument 1,
// the sum 1, %l 1, %b 96. Recomputing the sum at its second place would keep %p.

// MERGED:     step status: unchanged
// MERGED:     step packed: 99 MiB -> 99 MiB
// MERGED:     step minimum: 99 MiB

// REFUSED: error: function 'step' does not fit into the budget of 103809024 bytes: the smallest budget known to be feasible is 169869312 bytes
// REFUSED: note: common subexpression elimination alone leads to a packed peak of 103809024 bytes: run cse before rematerialize
func.func @step(%x: !row) -> !row {
  %zero = arith.constant 0.0 : f32
  %p = "test.layer"(%x) : (!row) -> !t64
  %e1 = tensor.empty() : !row
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : !row) -> !row
  %s1 = linalg.reduce { arith.addf } ins(%p : !t64) outs(%z1 : !row) dimensions = [0]
  %l = "test.use"(%s1) : (!row) -> !row
  %b = "test.big"(%l) : (!row) -> !t96
  %m = "test.use"(%b) : (!t96) -> !row
  %e2 = tensor.empty() : !row
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : !row) -> !row
  %s2 = linalg.reduce { arith.addf } ins(%p : !t64) outs(%z2 : !row) dimensions = [0]
  %d = "test.bwd"(%s2, %m) : (!row, !row) -> !row
  return %d : !row
}
