// An operation with a data result and state results: the data is computed again, the state is
// stored and returned once, by the original.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t160 = tensor<160x262144xf32>
!s = tensor<64xf32>

// Unchanged, at test.big: arguments 1 MiB and twice 256 B, the results 64 MiB and twice 256 B, %l
// 1, %b 160. With %y dropped 162 MiB + 1024 B; while it is computed again, the arguments, the two
// returned statistics, %m 1, %a 64, and 64 MiB and twice 256 B again: 130 MiB + 1536 B.

// FACTS:     batch_norm packed: 226 MiB + 1024 B -> 162 MiB + 1024 B
// FACTS:     batch_norm live: 226 MiB + 1024 B -> 162 MiB + 1024 B
// FACTS:     batch_norm minimum: 162 MiB + 1024 B
// FACTS:     batch_norm recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS:     batch_norm recomputed: 1 x stablehlo.batch_norm_training, 64 MiB + 512 B
// FACTS-NOT: batch_norm recomputed

// CHECK-LABEL: func.func @batch_norm
// CHECK-SAME:  %[[X:.+]]: tensor<1x262144xf32>, %[[SCALE:.+]]: tensor<64xf32>, %[[OFFSET:.+]]: tensor<64xf32>)
// CHECK:       %[[Y:.+]]:3 = "stablehlo.batch_norm_training"
// CHECK:       "test.store"(%[[Y]]#1)
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK-NEXT:  %[[HELD:.+]]:4 = "stablehlo.optimization_barrier"(%[[X]], %[[SCALE]], %[[OFFSET]], %[[M]])
// CHECK-NEXT:  %[[A:.+]] = "stablehlo.broadcast_in_dim"(%[[HELD]]#0)
// CHECK-NEXT:  %[[AGAIN:.+]]:3 = "stablehlo.batch_norm_training"(%[[A]], %[[HELD]]#1, %[[HELD]]#2)
// CHECK-NEXT:  %[[D:.+]] = "test.bwd"(%[[AGAIN]]#0, %[[M]])
// CHECK-NOT:   "test.store"
// CHECK:       return %[[D]], %[[Y]]#1, %[[Y]]#2
func.func @batch_norm(%x: !t1, %scale: !s, %offset: !s) -> (!t1, !s, !s) {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %y, %mean, %variance = "stablehlo.batch_norm_training"(%a, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (!t64, !s, !s) -> (!t64, !s, !s)
  %l = "test.use"(%y) : (!t64) -> !t1
  "test.store"(%mean) : (!s) -> ()
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d, %mean, %variance : !t1, !s, !s
}

// The state goes on to be updated: that happens once. At test.big: the arguments 1 MiB and three
// times 256 B, %l 1, %b 160; the new state, 256 B and a result, is there or comes later.

// FACTS:     running packed: 226 MiB + 1024 B -> 162 MiB + {{768|1024}} B
// FACTS:     running recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS:     running recomputed: 1 x stablehlo.batch_norm_training, 64 MiB + 512 B
// FACTS-NOT: running recomputed

// CHECK-LABEL: func.func @running
// CHECK-SAME:  %[[OLD:[a-z0-9]+]]: tensor<64xf32>)
// CHECK:       %[[NEW:.+]] = "stablehlo.add"(%[[OLD]], %{{.+}}#1)
// CHECK-NOT:   "stablehlo.add"
// CHECK:       return %{{.+}}, %[[NEW]]
func.func @running(%x: !t1, %scale: !s, %offset: !s, %old: !s) -> (!t1, !s) {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %y, %mean, %variance = "stablehlo.batch_norm_training"(%a, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (!t64, !s, !s) -> (!t64, !s, !s)
  %new = "stablehlo.add"(%old, %mean) : (!s, !s) -> !s
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d, %new : !t1, !s
}

// An operation that computes the data and stores the state itself is executed once. Argument 1, %y
// 64, %l 1, %b 160.

// FACTS:     stores minimum: 226 MiB
// FACTS-NOT: stores recomputed

// CHECK-LABEL: func.func @stores
// CHECK:       "stablehlo.custom_call"
// CHECK-NOT:   "stablehlo.custom_call"
// CHECK:       return
func.func @stores(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "batch_norm_and_store", has_side_effect = true}> : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}
