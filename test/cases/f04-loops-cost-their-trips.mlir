// A loop of a thousand iterations and one exponential that free the same bytes: the exponential
// goes. A loop of unknown length is the last resort.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="budget=164MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=1B on-infeasible=warn report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn | FileCheck %s --check-prefix=ALL

!t1 = tensor<1x262144xf32>
!t16 = tensor<16x262144xf32>
!t128 = tensor<128x262144xf32>

// At test.big: arguments 1 and 16, %loop 16, %exp 16, %l 1, %b 128: 178 MiB; without %exp 162,
// without both 146. An iteration adds 48 MiB at 3 TB/s, 16777216 ps, and the exponential moves 32,
// 11184811.

// FACTS:     thousand packed: 178 MiB -> 162 MiB
// FACTS:     thousand added cost: 11184811
// FACTS:     thousand recomputed: 1 x math.exp, 16 MiB
// FACTS-NOT: thousand recomputed
// ALL:       thousand minimum: 146 MiB
// ALL:       thousand added cost: 16788400811
// ALL-DAG:   thousand recomputed: 1 x scf.for, 16 MiB
// ALL-DAG:   thousand recomputed: 1 x math.exp, 16 MiB

// CHECK-LABEL: func.func @thousand
// CHECK-COUNT-1: scf.for
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @thousand(%x: !t1, %w: !t16) -> !t1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %loop = scf.for %i = %c0 to %c1000 step %c1 iter_args(%s = %w) -> !t16 {
    %n = arith.addf %s, %w : !t16
    scf.yield %n : !t16
  }
  %exp = math.exp %w : !t16
  %l = "test.use"(%loop, %exp) : (!t16, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t128
  %m = "test.use"(%b) : (!t128) -> !t1
  %d1 = "test.bwd"(%loop, %m) : (!t16, !t1) -> !t1
  %d2 = "test.bwd"(%exp, %d1) : (!t16, !t1) -> !t1
  return %d2 : !t1
}

// One iteration costs as much as ten exponentials with the cost that the latter is given; the trip
// count is an argument, 8 B. Arguments 17 MiB and 8 B, and the rest as above.

// FACTS:     unknown packed: 178 MiB + 64 B -> 162 MiB + 64 B
// FACTS:     unknown added cost: 167772160
// FACTS:     unknown recomputed: 1 x math.exp, 16 MiB
// FACTS-NOT: unknown recomputed

// CHECK-LABEL: func.func @unknown
// CHECK-COUNT-1: scf.for
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @unknown(%x: !t1, %w: !t16, %n: index) -> !t1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %loop = scf.for %i = %c0 to %n step %c1 iter_args(%s = %w) -> !t16 {
    %a = arith.addf %s, %w : !t16
    scf.yield %a : !t16
  }
  %exp = math.exp %w {remat.cost = 167772160 : i64} : !t16
  %l = "test.use"(%loop, %exp) : (!t16, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t128
  %m = "test.use"(%b) : (!t128) -> !t1
  %d1 = "test.bwd"(%loop, %m) : (!t16, !t1) -> !t1
  %d2 = "test.bwd"(%exp, %d1) : (!t16, !t1) -> !t1
  return %d2 : !t1
}
