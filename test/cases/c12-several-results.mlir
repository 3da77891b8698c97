// An operation with a large, a small and a scalar result: dropping the large one clones the
// operation once, and the scalar keeps its use. The small one is computed again with the large one
// at no further cost, so that its use may as well read that.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=100MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t8 = tensor<8x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, the results 8 MiB, 1 MiB and 8 B, %l 1, %b 96: 107 MiB + 8 B; then 98
// MiB + 8 B.

// FACTS:     step packed: 107 MiB + 64 B -> 98 MiB + 64 B
// FACTS:     step live: 107 MiB + 8 B -> 98 MiB + 8 B
// FACTS:     step recomputed: 1 x stablehlo.custom_call, 9 MiB + 8 B
// FACTS-NOT: step {{recomputed|moved}}

// CHECK-LABEL: func.func @step
// CHECK:       %[[Y:.+]]:3 = "stablehlo.custom_call"
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[AGAIN:.+]]:3 = "stablehlo.custom_call"
// CHECK-NEXT:  %[[D1:.+]] = "test.bwd"(%[[AGAIN]]#0, %[[M]])
// CHECK-NEXT:  %[[D2:.+]] = "test.bwd"(%[[AGAIN]]#1, %[[D1]])
// CHECK-NEXT:  "test.bwd"(%[[Y]]#2, %[[D2]])
func.func @step(%x: !t1) -> !t1 {
  %y:3 = "stablehlo.custom_call"(%x) <{call_target_name = "split"}> : (!t1) -> (!t8, !t1, index)
  %l = "test.use"(%y#0) : (!t8) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d1 = "test.bwd"(%y#0, %m) : (!t8, !t1) -> !t1
  %d2 = "test.bwd"(%y#1, %d1) : (!t1, !t1) -> !t1
  %d3 = "test.bwd"(%y#2, %d2) : (index, !t1) -> !t1
  return %d3 : !t1
}
