// A discrete decision that determines shapes is saved, never computed again.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=260MiB on-infeasible=warn report=%t.json" 2> %t.err
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t16 = tensor<16x262144xf32>
!t64 = tensor<64x262144xf32>
!i64 = tensor<64x262144xi1>
!t160 = tensor<160x262144xf32>

// At test.big: arguments 1, 16 and 64, the mask 16, %e 16, %l 1, %b 160: 274 MiB; with one of the
// two dropped 258 MiB. (%n is dead there.) The comparison moves 80 MiB, 27962027 ps, which would be
// cheaper than the exponential with the cost that it is given.

// FACTS:     other_way status: met
// FACTS:     other_way packed: 274 MiB -> 258 MiB
// FACTS:     other_way added cost: 100000000
// FACTS:     other_way recomputed: 1 x math.exp, 16 MiB
// FACTS-NOT: other_way recomputed

// CHECK-LABEL: func.func @other_way
// CHECK-COUNT-1: arith.cmpf
// CHECK-NOT:   arith.cmpf
// CHECK:       return
func.func @other_way(%x: !t1, %q: !t16, %p: !t64) -> !t1 {
  %zero = arith.constant dense<0.0> : !t64
  %mask = arith.cmpf ogt, %p, %zero : !t64
  %count = "stablehlo.custom_call"(%mask) <{call_target_name = "count"}> : (!i64) -> tensor<i32>
  %c = tensor.extract %count[] : tensor<i32>
  %n = arith.index_cast %c : i32 to index
  %empty = tensor.empty(%n) : tensor<?xf32>
  %picked = "test.pick"(%p, %mask, %empty) : (!t64, !i64, tensor<?xf32>) -> !t1
  %e = math.exp %q {remat.cost = 100000000 : i64} : !t16
  %l = "test.use"(%picked, %mask, %e) : (!t1, !i64, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%mask, %m) : (!i64, !t1) -> !t1
  %r = "test.bwd"(%e, %d) : (!t16, !t1) -> !t1
  return %r : !t1
}

// Without the exponential: arguments 1, 16 and 64, the mask 16, %l 1, %b 160 and a state that is
// kept, %s 16. Only the mask could go, and it stays.

// FACTS:     no_other_way status: infeasible
// FACTS:     no_other_way minimum: 274 MiB
// FACTS-NOT: no_other_way recomputed

// CHECK-LABEL: func.func @no_other_way
// CHECK-COUNT-1: arith.cmpf
// CHECK-NOT:   arith.cmpf
// CHECK:       return
func.func @no_other_way(%x: !t1, %q: !t16, %p: !t64) -> !t1 {
  %zero = arith.constant dense<0.0> : !t64
  %mask = arith.cmpf ogt, %p, %zero : !t64
  %count = "stablehlo.custom_call"(%mask) <{call_target_name = "count"}> : (!i64) -> tensor<i32>
  %c = tensor.extract %count[] : tensor<i32>
  %n = arith.index_cast %c : i32 to index
  %empty = tensor.empty(%n) : tensor<?xf32>
  %picked = "test.pick"(%p, %mask, %empty) : (!t64, !i64, tensor<?xf32>) -> !t1
  %s = "test.state"(%q) : (!t16) -> !t16
  %l = "test.use"(%picked, %mask, %s) : (!t1, !i64, !t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%mask, %m) : (!i64, !t1) -> !t1
  %r = "test.bwd"(%s, %d) : (!t16, !t1) -> !t1
  return %r : !t1
}
