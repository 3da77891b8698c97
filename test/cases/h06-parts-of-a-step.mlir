// The pass does not depend on where the backward part begins: one that starts twice (two
// microbatches), and an optimizer that comes after it.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=108MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t8 = tensor<8x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At the first test.big: arguments 1, 1 and 8, %a1 64, %l1 1, the large value 96: 171, then 107. At
// the second the gradient of the first, 1, as well: 108. The update: arguments 10, %d1, %d2, %sum,
// which are 1 each, %wide 8, %new 8.

// FACTS:     step packed: 172 MiB -> 108 MiB
// FACTS:     step minimum: 108 MiB
// FACTS:     step recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS:     step recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS-NOT: step {{recomputed|moved}}

// CHECK-LABEL: func.func @step
// CHECK-SAME:  %[[X1:.+]]: tensor<1x262144xf32>, %[[X2:.+]]: tensor<1x262144xf32>, %
// CHECK:       "stablehlo.broadcast_in_dim"(%[[X1]])
// CHECK:       "test.big"
// CHECK:       "stablehlo.optimization_barrier"(%[[X1]], %{{.+}})
// CHECK-NEXT:  %[[A1:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  "test.bwd"(%[[A1]]
// CHECK:       "stablehlo.broadcast_in_dim"(%[[X2]])
// CHECK:       "test.big"
// CHECK:       "stablehlo.optimization_barrier"(%[[X2]], %{{.+}})
// CHECK-NEXT:  %[[A2:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  "test.bwd"(%[[A2]]
// CHECK:       "stablehlo.subtract"
func.func @step(%x1: !t1, %x2: !t1, %w: !t8) -> !t8 {
  %a1 = "stablehlo.broadcast_in_dim"(%x1) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l1 = "test.use"(%a1) : (!t64) -> !t1
  %b1 = "test.big"(%l1) : (!t1) -> !t96
  %m1 = "test.use"(%b1) : (!t96) -> !t1
  %d1 = "test.bwd"(%a1, %m1) : (!t64, !t1) -> !t1
  %a2 = "stablehlo.broadcast_in_dim"(%x2) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l2 = "test.use"(%a2) : (!t64) -> !t1
  %b2 = "test.big"(%l2) : (!t1) -> !t96
  %m2 = "test.use"(%b2) : (!t96) -> !t1
  %d2 = "test.bwd"(%a2, %m2) : (!t64, !t1) -> !t1
  %sum = "test.sum"(%d1, %d2) : (!t1, !t1) -> !t1
  %wide = "stablehlo.broadcast_in_dim"(%sum) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t8
  %new = "stablehlo.subtract"(%w, %wide) : (!t8, !t8) -> !t8
  return %new : !t8
}
