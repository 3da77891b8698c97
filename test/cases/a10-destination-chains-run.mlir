// Two matrix products that accumulate into the same fill are recomputed, each from a fill of its
// own: executed, the results are bit for bit the same.
//
// RUN: remat-opt %s -o %t.before.mlir
// RUN: remat-opt %s -o %t.after.mlir --rematerialize="budget=81920B report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.after.mlir | FileCheck %s --check-prefix=FACTS
// RUN: %python %S/Inputs/execute.py %t.before.mlir --mlir-lib %mlir_lib > %t.before.txt
// RUN: %python %S/Inputs/execute.py %t.after.mlir --mlir-lib %mlir_lib > %t.after.txt
// RUN: FileCheck %s --input-file=%t.before.txt
// RUN: diff %t.before.txt %t.after.txt

// T is 16384 bytes. At %v: %x, %w, %y1, %y2, %k, %u, %v, 7 T. Without %y1 and %y2 5 T, as at their
// sum (%x, %w, %y1, %y2, %a), at %p1 (%x, %w, %c, %y1, %p1) and at %p2 (%x, %w, %p1, %y2, %p2). The
// two products must not share a fill again: %x, %w, %c, the fill, %y1 and %p1 would be 6 T.

// FACTS:     step packed: 114688 B -> 81920 B
// FACTS:     step live: 114688 B -> 81920 B
// FACTS-DAG: step recomputed: 2 x linalg.fill, 16384 B
// FACTS-DAG: step recomputed: 1 x linalg.matmul, 16384 B
// FACTS-DAG: step recomputed: 1 x linalg.matmul, 16384 B

// CHECK: sizes = [64, 64]

!t = tensor<64x64xf32>

func.func @step(%x: !t, %w: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : !t
  %z = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %y1 = linalg.matmul ins(%x, %w : !t, !t) outs(%z : !t) -> !t
  %y2 = linalg.matmul ins(%w, %x : !t, !t) outs(%z : !t) -> !t
  %a = arith.addf %y1, %y2 : !t
  %t = math.tanh %a : !t
  %f = tensor.extract %t[%c1, %c2] : !t
  %k = tensor.splat %f : !t
  %u = math.exp %k : !t
  %v = arith.mulf %k, %u : !t
  %s = tensor.extract %v[%c2, %c1] : !t
  %c = tensor.splat %s : !t
  %p1 = arith.mulf %y1, %c : !t
  %p2 = arith.mulf %y2, %p1 : !t
  return %p2 : !t
}
