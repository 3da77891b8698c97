// Barriers in the input, such as those of JAX's own rematerialization, are identities for sizes and
// aliases; nothing is cloned through them.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --peak | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// The barrier's result is %a's storage: argument 1, %a 64, %l 1, %b 96 at test.big. Only %a itself
// could be computed again, and it is read through the barrier.

// FACTS:     alias packed: 162 MiB -> 162 MiB
// FACTS:     alias minimum: 162 MiB
// FACTS-NOT: alias recomputed
// FACTS:     alias at peak: 64 MiB, stablehlo.broadcast_in_dim, {{.*}}barrier

// CHECK-LABEL: func.func @alias
// CHECK-COUNT-1: "stablehlo.optimization_barrier"
// CHECK-NOT:   "stablehlo.{{.*}}"
// CHECK:       return
func.func @alias(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %h:2 = "stablehlo.optimization_barrier"(%a, %x) : (!t64, !t1) -> (!t64, !t1)
  %l = "test.use"(%h#0) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%h#0, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Behind the barrier: what was computed from its result is computed again from its result.
// Arguments 1 and 64, %y 64, %l 1, %b 96; without %y 162.

// FACTS:     behind packed: 226 MiB -> 162 MiB
// FACTS:     behind recomputed: 1 x stablehlo.exponential, 64 MiB
// FACTS-NOT: behind recomputed

// CHECK-LABEL: func.func @behind
// CHECK:       %[[H:.+]]:2 = "stablehlo.optimization_barrier"
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[HELD:.+]]:2 = "stablehlo.optimization_barrier"(%[[H]]#0, %[[M]])
// CHECK:       "stablehlo.exponential"(%[[HELD]]#0)
func.func @behind(%x: !t1, %p: !t64) -> !t1 {
  %h:2 = "stablehlo.optimization_barrier"(%p, %x) : (!t64, !t1) -> (!t64, !t1)
  %y = "stablehlo.exponential"(%h#0) : (!t64) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// What the user recomputes is not recomputed a second time: argument 1, %l 1, %b 96.

// FACTS:     by_hand packed: 98 MiB -> 98 MiB
// FACTS-NOT: by_hand recomputed

// CHECK-LABEL: func.func @by_hand
// CHECK-COUNT-2: "stablehlo.broadcast_in_dim"
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @by_hand(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %h:2 = "stablehlo.optimization_barrier"(%x, %m) : (!t1, !t1) -> (!t1, !t1)
  %again = "stablehlo.broadcast_in_dim"(%h#0) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %d = "test.bwd"(%again, %h#1) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A barrier over a value that is dropped elsewhere: in front of the barrier %a is computed again
// (the barrier itself is not), and its view ends there. Argument 1, %l 1, %b 96 at test.big; at the
// barrier %a again and %m; then the same storage through %h.

// FACTS:     late packed: 162 MiB -> 98 MiB
// FACTS:     late recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS-NOT: late recomputed

// CHECK-LABEL: func.func @late
// CHECK:       "test.big"
// CHECK:       %[[AGAIN:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  %[[H:.+]]:2 = "stablehlo.optimization_barrier"(%[[AGAIN]], %{{.+}})
// CHECK-NEXT:  "test.bwd"(%[[H]]#0, %[[H]]#1)
func.func @late(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %h:2 = "stablehlo.optimization_barrier"(%a, %m) : (!t64, !t1) -> (!t64, !t1)
  %d = "test.bwd"(%h#0, %h#1) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The dialect's own barrier, with a value that it only waits for, and clones of an earlier run.

// FACTS:     own packed: 226 MiB -> 162 MiB
// FACTS:     own recomputed: 1 x math.exp, 64 MiB

// CHECK-LABEL: func.func @own
// CHECK:       remat.barrier
// CHECK:       math.exp
// CHECK:       remat.barrier
// CHECK-NEXT:  math.exp
// CHECK:       return
func.func @own(%x: !t1, %p: !t64) -> !t1 {
  %h = remat.barrier %p after %x : !t64 after !t1
  %y = math.exp %h {remat.clone_of = 12 : i64} : !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}
