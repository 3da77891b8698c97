// Arguments are there anyway: a transpose or a cast of a weight is recomputed from the weight,
// rather than an activation, whose operand would have to be kept.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=130MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=TIGHT
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=153MiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=ROOMY

!t1 = tensor<1x262144xf32>
!t16 = tensor<16x262144xf32>
!transposed = tensor<262144x16xf32>
!cast = tensor<16x262144xbf16>
!t96 = tensor<96x262144xf32>

// At test.big: arguments 1 and 16, %wt 16, %wc 8, %y 16, %l 1, %b 96: 154. Without the two that
// come from the weight 130.

// TIGHT:     step packed: 154 MiB -> 130 MiB
// TIGHT:     step minimum: 130 MiB
// TIGHT:     step recomputed: 1 x stablehlo.transpose, 16 MiB
// TIGHT:     step recomputed: 1 x arith.truncf, 8 MiB
// TIGHT-NOT: step recomputed

// When 1 MiB is enough, the cheaper one goes: the cast moves 24 MiB, the transpose 32.

// ROOMY:     step packed: 154 MiB -> 146 MiB
// ROOMY:     step added cost: 8388608
// ROOMY:     step recomputed: 1 x arith.truncf, 8 MiB
// ROOMY-NOT: step recomputed

// CHECK-LABEL: func.func @step
// CHECK-SAME:  %{{.+}}: tensor<1x262144xf32>, %[[W:.+]]: tensor<16x262144xf32>
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[HELD:.+]]:2 = "stablehlo.optimization_barrier"(%[[W]], %[[M]])
// CHECK-NEXT:  %[[WT:.+]] = "stablehlo.transpose"(%[[HELD]]#0)
// CHECK-NEXT:  %[[D:.+]] = "test.bwd"(%[[WT]], %[[M]])
// CHECK-NEXT:  %[[HELD2:.+]] = remat.barrier %[[W]] after %[[D]]
// CHECK-NEXT:  %[[WC:.+]] = arith.truncf %[[HELD2]]
// CHECK-NEXT:  "test.bwd"(%[[WC]], %[[D]])
func.func @step(%x: !t1, %w: !t16) -> !t1 {
  %a = "test.layer"(%x) : (!t1) -> !t16
  %y = math.tanh %a : !t16
  %wt = "stablehlo.transpose"(%w) <{permutation = array<i64: 1, 0>}> : (!t16) -> !transposed
  %wc = arith.truncf %w : !t16 to !cast
  %l = "test.use"(%y, %wt, %wc) : (!t16, !transposed, !cast) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d1 = "test.bwd"(%wt, %m) : (!transposed, !t1) -> !t1
  %d2 = "test.bwd"(%wc, %d1) : (!cast, !t1) -> !t1
  %d3 = "test.bwd"(%y, %d2) : (!t16, !t1) -> !t1
  return %d3 : !t1
}
