// Two victims share a part of their recompute chain, and one of them moves while the other is
// repeated: nothing refers to what is gone, and the results are bit for bit the same.
//
// RUN: remat-opt %s -o %t.before.mlir
// RUN: remat-opt %s -o %t.roomy.mlir --rematerialize="budget=81920B report=%t.roomy.json" --verify-each
// RUN: remat-opt %s -o %t.tight.mlir --rematerialize="budget=65536B report=%t.tight.json" --verify-each
// RUN: %python %S/Inputs/facts.py %t.roomy.json %t.roomy.mlir | FileCheck %s --check-prefix=ROOMY
// RUN: %python %S/Inputs/facts.py %t.tight.json %t.tight.mlir | FileCheck %s --check-prefix=TIGHT
// RUN: %python %S/Inputs/execute.py %t.before.mlir --mlir-lib %mlir_lib > %t.before.txt
// RUN: %python %S/Inputs/execute.py %t.roomy.mlir --mlir-lib %mlir_lib > %t.roomy.txt
// RUN: %python %S/Inputs/execute.py %t.tight.mlir --mlir-lib %mlir_lib > %t.tight.txt
// RUN: FileCheck %s --input-file=%t.before.txt
// RUN: diff %t.before.txt %t.roomy.txt
// RUN: diff %t.before.txt %t.tight.txt

// T is 16384 bytes. Unchanged, at %v: %x, %b, %c, %k, %u, %v, 6 T.
//
// With 5 T, either %a or %b is kept; %c moves between %p and %q. (Keeping %a and computing %b again
// is the cheaper of the two, which the greedy solver does not see: neither step alone lowers the
// peak.)

// ROOMY:     step packed: 98304 B -> 81920 B
// ROOMY:     step recomputed: 1 x math.{{exp|sin|tanh}}, 16384 B

// With 4 T nothing is kept over %v, nor over %p (%x, %b, %w, %p): %h and %a are computed twice
// more, %b once, and %c moves.

// TIGHT:     step packed: 98304 B -> 65536 B
// TIGHT:     step minimum: 65536 B
// TIGHT-DAG: step recomputed: 2 x math.exp, 16384 B
// TIGHT-DAG: step recomputed: 2 x math.sin, 16384 B
// TIGHT-DAG: step recomputed: 1 x math.tanh, 16384 B
// TIGHT:     step moved: math.cos

// CHECK: sizes = [64, 64]

!t = tensor<64x64xf32>

func.func @step(%x: !t) -> !t {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %h = math.exp %x : !t
  %a = math.sin %h : !t
  %b = math.tanh %a : !t
  %c = math.cos %a : !t
  %e = tensor.extract %b[%c1, %c2] : !t
  %k = tensor.splat %e : !t
  %u = math.exp %k : !t
  %v = arith.mulf %k, %u : !t
  %s = tensor.extract %v[%c2, %c1] : !t
  %w = tensor.splat %s : !t
  %p = arith.mulf %b, %w : !t
  %q = arith.mulf %c, %p : !t
  return %q : !t
}
