// With room for one only, the one with fewer operations per byte is recomputed; neither the order
// in which they stand nor an operation that has nothing to do with them changes that.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=150MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t16 = tensor<2048x2048xf32>
!t96 = tensor<96x262144xf32>

// At test.big: arguments 1, 16 and 16, the product 16, the sum 16, %l 1, %b 96: 162. The product
// takes 2 * 2048^3 flops at 60 TFLOP/s, 286331154 ps, the sum moves 48 MiB, 16777216 ps.

// FACTS:     plain packed: 162 MiB -> 146 MiB
// FACTS:     plain added cost: 16777216
// FACTS:     plain recomputed: 1 x arith.addf, 16 MiB
// FACTS-NOT: plain recomputed
// FACTS:     swapped packed: 162 MiB -> 146 MiB
// FACTS:     swapped added cost: 16777216
// FACTS:     swapped recomputed: 1 x arith.addf, 16 MiB
// FACTS-NOT: swapped recomputed
// FACTS:     unrelated packed: 162 MiB -> 146 MiB
// FACTS:     unrelated added cost: 16777216
// FACTS:     unrelated recomputed: 1 x arith.addf, 16 MiB
// FACTS-NOT: unrelated recomputed

// CHECK-LABEL: func.func @plain
// CHECK:       arith.addf %{{.+}} {remat.clone_of
func.func @plain(%x: !t1, %u: !t16, %v: !t16) -> !t1 {
  %p = "stablehlo.dot_general"(%u, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (!t16, !t16) -> !t16
  %s = arith.addf %u, %v : !t16
  %l = "test.use"(%p, %s) : (!t16, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d1 = "test.bwd"(%p, %m) : (!t16, !t1) -> !t1
  %d2 = "test.bwd"(%s, %d1) : (!t16, !t1) -> !t1
  return %d2 : !t1
}

// CHECK-LABEL: func.func @swapped
// CHECK:       arith.addf %{{.+}} {remat.clone_of
func.func @swapped(%x: !t1, %u: !t16, %v: !t16) -> !t1 {
  %s = arith.addf %u, %v : !t16
  %p = "stablehlo.dot_general"(%u, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (!t16, !t16) -> !t16
  %l = "test.use"(%s, %p) : (!t16, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d2 = "test.bwd"(%s, %m) : (!t16, !t1) -> !t1
  %d1 = "test.bwd"(%p, %d2) : (!t16, !t1) -> !t1
  return %d1 : !t1
}

// The second result of the extra operation has the size of the two, and it is gone before the peak.

// CHECK-LABEL: func.func @unrelated
// CHECK:       arith.addf %{{.+}} {remat.clone_of
func.func @unrelated(%x: !t1, %u: !t16, %v: !t16) -> !t1 {
  %p = "stablehlo.dot_general"(%u, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (!t16, !t16) -> !t16
  %o = arith.mulf %u, %v : !t16
  %s = arith.addf %u, %v : !t16
  %k = "test.use"(%o) : (!t16) -> f32
  %l = "test.use"(%p, %s) : (!t16, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d1 = "test.bwd"(%p, %m) : (!t16, !t1) -> !t1
  %d2 = "test.bwd"(%s, %d1) : (!t16, !t1) -> !t1
  return %d2 : !t1
}
