// A value from outside that only a branch of an scf.if uses late: the clone goes into the branch,
// and is only computed when it is needed.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=163MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t160 = tensor<160x262144xf32>

// At test.big: arguments 1 MiB and 1 B, %a 64, %l 1, %b 160; without %a 162 MiB and 1 B.

// FACTS:     step packed: 226 MiB + 64 B -> 162 MiB + 64 B
// FACTS:     step recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB

// CHECK-LABEL: func.func @step
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       scf.if
// CHECK:       %[[AGAIN:.+]] = "stablehlo.broadcast_in_dim"
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
// CHECK:       } else {
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @step(%x: !t1, %c: i1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = scf.if %c -> !t1 {
    %i = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
    scf.yield %i : !t1
  } else {
    scf.yield %m : !t1
  }
  return %d : !t1
}
