// A cache that is extended step by step and returned: a clone of an earlier cache extends what the
// original did, not the longer one.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t32 = tensor<32x262144xf32>
!t33 = tensor<33x262144xf32>
!t34 = tensor<34x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: arguments 32 and 1, %kv1 33, %kv2 34, %l2 1, %b 96. With %kv1 dropped, %k1 is kept.

// FACTS:     concat packed: 197 MiB -> 165 MiB
// FACTS:     concat live: 197 MiB -> 165 MiB
// FACTS:     concat minimum: 165 MiB
// FACTS:     concat recomputed: 1 x stablehlo.concatenate, 33 MiB
// FACTS-NOT: concat recomputed

// CHECK-LABEL: func.func @concat
// CHECK-SAME:  %[[KV0:.+]]: tensor<32x262144xf32>,
// CHECK:       %[[K1:.+]] = "test.key"
// CHECK:       %[[KV1:.+]] = "stablehlo.concatenate"(%[[KV0]], %[[K1]])
// CHECK:       %[[KV2:.+]] = "stablehlo.concatenate"(%[[KV1]], %{{.+}})
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK-NEXT:  %[[HELD:.+]]:3 = "stablehlo.optimization_barrier"(%[[KV0]], %[[K1]], %[[M]])
// CHECK-NEXT:  %[[AGAIN:.+]] = "stablehlo.concatenate"(%[[HELD]]#0, %[[HELD]]#1)
// CHECK-NEXT:  "test.bwd"(%[[AGAIN]], %[[M]])
// CHECK-NEXT:  return %{{.+}}, %[[KV2]]
func.func @concat(%kv0: !t32, %x: !t1) -> (!t1, !t34) {
  %k1 = "test.key"(%x) : (!t1) -> !t1
  %kv1 = "stablehlo.concatenate"(%kv0, %k1) <{dimension = 0 : i64}> : (!t32, !t1) -> !t33
  %l1 = "test.use"(%kv1) : (!t33) -> !t1
  %k2 = "test.key"(%l1) : (!t1) -> !t1
  %kv2 = "stablehlo.concatenate"(%kv1, %k2) <{dimension = 0 : i64}> : (!t33, !t1) -> !t34
  %l2 = "test.use"(%kv2) : (!t34) -> !t1
  %b = "test.big"(%l2) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%kv1, %m) : (!t33, !t1) -> !t1
  return %d, %kv2 : !t1, !t34
}

// In place: %kv2 is written over %kv1 once nothing reads that later, and the clone starts from a
// new cache. Unchanged, at test.big: argument 1, %kv1 64, %kv2 64, %l2 1, %b 96; then argument 1,
// %k1 1, %kv2 64, %l2 1, %b 96.

// FACTS:     insert packed: 226 MiB -> 163 MiB
// FACTS:     insert live: 226 MiB -> 163 MiB
// FACTS:     insert minimum: 163 MiB
// FACTS-DAG: insert recomputed: 1 x linalg.fill, 64 MiB
// FACTS-DAG: insert recomputed: 1 x tensor.insert_slice, 64 MiB
// FACTS-NOT: insert recomputed

// CHECK-LABEL: func.func @insert
// CHECK:       %[[K1:.+]] = "test.key"
// CHECK:       %[[KV1:.+]] = tensor.insert_slice %[[K1]] into
// CHECK:       %[[KV2:.+]] = tensor.insert_slice %{{.+}} into %[[KV1]]
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       remat.barrier {{.*}}%[[K1]]{{.*}} after %[[M]]
// CHECK:       %[[NEW:.+]] = linalg.fill
// CHECK:       %[[AGAIN:.+]] = tensor.insert_slice %{{.+}} into %[[NEW]][0, 0]
// CHECK-NEXT:  "test.bwd"(%[[AGAIN]], %[[M]])
// CHECK-NEXT:  return %{{.+}}, %[[KV2]]
func.func @insert(%x: !t1) -> (!t1, !t64) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : !t64
  %kv0 = linalg.fill ins(%zero : f32) outs(%empty : !t64) -> !t64
  %k1 = "test.key"(%x) : (!t1) -> !t1
  %kv1 = tensor.insert_slice %k1 into %kv0[0, 0] [1, 262144] [1, 1] : !t1 into !t64
  %l1 = "test.use"(%kv1) : (!t64) -> !t1
  %k2 = "test.key"(%l1) : (!t1) -> !t1
  %kv2 = tensor.insert_slice %k2 into %kv1[1, 0] [1, 262144] [1, 1] : !t1 into !t64
  %l2 = "test.use"(%kv2) : (!t64) -> !t1
  %b = "test.big"(%l2) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%kv1, %m) : (!t64, !t1) -> !t1
  return %d, %kv2 : !t1, !t64
}

// The cache is an argument: it is read-only, so every step has a storage of its own. Unchanged, at
// test.big: arguments 64 and 1, %kv1 64, %kv2 64, %l2 1, %b 96; then arguments 64 and 1, %k1 1,
// %kv2 64, %l2 1, %b 96.

// FACTS:     argument packed: 290 MiB -> 227 MiB
// FACTS:     argument recomputed: 1 x tensor.insert_slice, 64 MiB
// FACTS-NOT: argument recomputed

// CHECK-LABEL: func.func @argument
// CHECK-SAME:  %[[KV0:.+]]: tensor<64x262144xf32>,
// CHECK:       %[[K1:.+]] = "test.key"
// CHECK:       tensor.insert_slice %[[K1]] into %[[KV0]]
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[HELD:.+]]:2 = remat.barrier %[[K1]], %[[KV0]] after %[[M]]
// CHECK:       tensor.insert_slice %[[HELD]]#0 into %[[HELD]]#1[0, 0]
func.func @argument(%kv0: !t64, %x: !t1) -> (!t1, !t64) {
  %k1 = "test.key"(%x) : (!t1) -> !t1
  %kv1 = tensor.insert_slice %k1 into %kv0[0, 0] [1, 262144] [1, 1] : !t1 into !t64
  %l1 = "test.use"(%kv1) : (!t64) -> !t1
  %k2 = "test.key"(%l1) : (!t1) -> !t1
  %kv2 = tensor.insert_slice %k2 into %kv1[1, 0] [1, 262144] [1, 1] : !t1 into !t64
  %l2 = "test.use"(%kv2) : (!t64) -> !t1
  %b = "test.big"(%l2) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%kv1, %m) : (!t64, !t1) -> !t1
  return %d, %kv2 : !t1, !t64
}
