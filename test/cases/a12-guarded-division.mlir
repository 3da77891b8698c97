// Free of memory effects is not the same as safe to execute anywhere: a guarded division stays
// inside of its guard, in the original and in the clone, and never goes in front of an assertion.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --uncounted assertion \
// RUN:   | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!i64 = tensor<64x262144xi32>
!t160 = tensor<160x262144xf32>

// At test.big: arguments 1 MiB, 4 B and 1 B, %q 64, %l 1, %b 160. While the branch runs: %q 64,
// inside of it %t 64 and one or two scalars, below that.

// FACTS:     branch packed: 226 MiB + 128 B -> 162 MiB + 128 B
// FACTS:     branch live: 226 MiB + 5 B -> 162 MiB + 5 B
// FACTS:     branch recomputed: 1 x scf.if, 64 MiB
// FACTS-NOT: branch recomputed

// CHECK-LABEL: func.func @branch
// CHECK-NEXT:  scf.if
// CHECK-NEXT:  arith.constant
// CHECK-NEXT:  arith.divsi
// CHECK:       } else {
// CHECK-NOT:   arith.divsi
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK-NEXT:  remat.barrier
// CHECK-NEXT:  %[[AGAIN:.+]] = scf.if
// CHECK-NEXT:  arith.constant
// CHECK-NEXT:  arith.divsi
// CHECK:       } else {
// CHECK-NOT:   arith.divsi
// CHECK:       } {remat.clone_of
// CHECK-NEXT:  "test.bwd"(%[[AGAIN]], %[[M]])
func.func @branch(%x: !t1, %n: i32, %nonzero: i1) -> !t1 {
  %q = scf.if %nonzero -> !t64 {
    %hundred = arith.constant 100 : i32
    %d = arith.divsi %hundred, %n : i32
    %f = arith.sitofp %d : i32 to f32
    %t = tensor.splat %f : !t64
    scf.yield %t : !t64
  } else {
    %u = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
    scf.yield %u : !t64
  }
  %l = "test.use"(%q) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %e = "test.bwd"(%q, %m) : (!t64, !t1) -> !t1
  return %e : !t1
}

// The guard is an assertion: the division may be repeated behind it, but not moved in front of it.

// FACTS:     assertion recomputed: 1 x arith.divsi, 64 MiB

// CHECK-LABEL: func.func @assertion
// CHECK-NOT:   arith.divsi
// CHECK:       cf.assert
// CHECK:       arith.divsi
// CHECK:       arith.divsi
// CHECK:       return
func.func @assertion(%x: !t1, %a: !i64, %n: i32, %nonzero: i1) -> !t1 {
  cf.assert %nonzero, "division by zero"
  %divisor = tensor.splat %n : !i64
  %q = arith.divsi %a, %divisor : !i64
  %l = "test.use"(%q) : (!i64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %e = "test.bwd"(%q, %m) : (!i64, !t1) -> !t1
  return %e : !t1
}
