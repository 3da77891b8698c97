// A value that is used at the start and at the end only is computed once for each, and is not live
// in between; uses with nothing in between share one.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=98MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
//
// One byte below what is met:
// RUN: not remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=102760447B" -o %t.none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: function 'start_and_end' does not fit into the budget of 102760447 bytes: the smallest budget known to be feasible is 102760448 bytes

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %a 64, %l 1, %b 96; without %a 98. Broadcasting moves 65 MiB at 3 TB/s.

// FACTS:     start_and_end status: met
// FACTS:     start_and_end packed: 162 MiB -> 98 MiB
// FACTS:     start_and_end live: 162 MiB -> 98 MiB
// FACTS:     start_and_end minimum: 98 MiB
// FACTS:     start_and_end added cost: 22719147
// FACTS:     start_and_end recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS-NOT: start_and_end {{recomputed|moved}}

// CHECK-LABEL: func.func @start_and_end
// CHECK-SAME:  %[[X:.+]]: tensor<1x262144xf32>
// CHECK-NEXT:  %[[A:.+]] = "stablehlo.broadcast_in_dim"(%[[X]])
// CHECK-NEXT:  %[[L:.+]] = "test.use"(%[[A]])
// CHECK-NEXT:  %[[B:.+]] = "test.big"(%[[L]])
// CHECK-NEXT:  %[[M:.+]] = "test.use"(%[[B]])
// CHECK-NEXT:  %[[HELD:.+]]:2 = "stablehlo.optimization_barrier"(%[[X]], %[[M]])
// CHECK-NEXT:  %[[AGAIN:.+]] = "stablehlo.broadcast_in_dim"(%[[HELD]]#0)
// CHECK-NEXT:  %[[D:.+]] = "test.bwd"(%[[AGAIN]], %[[M]])
// CHECK-NEXT:  return %[[D]]
func.func @start_and_end(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Three places: two clones.

// FACTS:     three packed: 162 MiB -> 98 MiB
// FACTS:     three added cost: 45438294
// FACTS:     three recomputed: 2 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS-NOT: three {{recomputed|moved}}

// CHECK-LABEL: func.func @three
// CHECK:       %[[A1:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  "test.use"(%[[A1]])
// CHECK-NEXT:  "test.big"
// CHECK-NEXT:  "test.use"
// CHECK-NEXT:  "stablehlo.optimization_barrier"
// CHECK-NEXT:  %[[A2:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  "test.bwd"(%[[A2]]
// CHECK-NEXT:  "test.big"
// CHECK-NEXT:  "test.use"
// CHECK-NEXT:  "stablehlo.optimization_barrier"
// CHECK-NEXT:  %[[A3:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  "test.bwd"(%[[A3]]
// CHECK-NEXT:  return
func.func @three(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  %b2 = "test.big"(%d) : (!t1) -> !t96
  %m2 = "test.use"(%b2) : (!t96) -> !t1
  %d2 = "test.bwd"(%a, %m2) : (!t64, !t1) -> !t1
  return %d2 : !t1
}

// Two uses at the end, with nothing large in between: one clone serves both. At the second one:
// argument 1, %a 64, %d 1, %d2 1.

// FACTS:     together packed: 162 MiB -> 98 MiB
// FACTS:     together recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS-NOT: together {{recomputed|moved}}

// CHECK-LABEL: func.func @together
// CHECK:       "stablehlo.optimization_barrier"
// CHECK-NEXT:  %[[AGAIN:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  %[[D:.+]] = "test.bwd"(%[[AGAIN]]
// CHECK-NEXT:  "test.bwd"(%[[AGAIN]], %[[D]])
// CHECK-NEXT:  return
func.func @together(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  %d2 = "test.bwd"(%a, %d) : (!t64, !t1) -> !t1
  return %d2 : !t1
}

// Through a view: the reshape of the clone is made again as well.

// FACTS:     view packed: 162 MiB -> 98 MiB
// FACTS-DAG: view recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS-DAG: view recomputed: 1 x stablehlo.reshape, 0 B

// CHECK-LABEL: func.func @view
// CHECK:       "stablehlo.optimization_barrier"
// CHECK-NEXT:  %[[AGAIN:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  %[[FLAT:.+]] = "stablehlo.reshape"(%[[AGAIN]])
// CHECK-NEXT:  "test.bwd"(%[[FLAT]]
func.func @view(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %f = "stablehlo.reshape"(%a) : (!t64) -> tensor<16777216xf32>
  %l = "test.use"(%f) : (tensor<16777216xf32>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%f, %m) : (tensor<16777216xf32>, !t1) -> !t1
  return %d : !t1
}
