// A pair that reads and advances state: neither half is executed again, and what is computed from
// the state that was read is computed again from that value, not from one that is read anew.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --peak --uncounted load_store --uncounted variable \
// RUN:   | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t8 = tensor<8x262144xf32>
!t64 = tensor<8x8x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, state 8 (kept for the clone), %l 1, %b 96; without clones the 64 of %y
// in place of the state.

// FACTS:      get_set packed: 162 MiB -> 106 MiB
// FACTS:      get_set live: 162 MiB -> 106 MiB
// FACTS:      get_set minimum: 106 MiB
// FACTS:      get_set recomputed: 1 x stablehlo.broadcast_in_dim, 64 MiB
// FACTS-NOT:  get_set recomputed
// FACTS:      get_set at peak: 8 MiB, test.get, not recomputable: {{.*}}is not described by any model

// CHECK-LABEL: func.func @get_set
// CHECK:       %[[OLD:.+]] = "test.get"()
// CHECK-NEXT:  %[[Y:.+]] = "stablehlo.broadcast_in_dim"(%[[OLD]])
// CHECK:       "test.set"
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[HELD:.+]]:2 = "stablehlo.optimization_barrier"(%[[OLD]], %[[M]])
// CHECK-NEXT:  %[[AGAIN:.+]] = "stablehlo.broadcast_in_dim"(%[[HELD]]#0)
// CHECK-NEXT:  "test.bwd"(%[[AGAIN]], %[[M]])
// CHECK-NOT:   "test.{{get|set}}"
// CHECK:       return
func.func @get_set(%x: !t1) -> !t1 {
  %s = "test.get"() : () -> !t8
  %y = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 1, 2>}> : (!t8) -> !t64
  %n = "stablehlo.add"(%s, %s) : (!t8, !t8) -> !t8
  "test.set"(%n) : (!t8) -> ()
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// What the state was between two sets is lost: the read itself cannot be repeated. Argument 1, %s
// 64, %l 1, %b 96.

// FACTS:     reread minimum: 162 MiB{{$}}
// FACTS-NOT: reread recomputed

// CHECK-LABEL: func.func @reread
// CHECK:       "test.set"
// CHECK-NEXT:  "test.get"
// CHECK-NEXT:  "test.set"
// CHECK-NOT:   "test.{{get|set}}"
// CHECK:       return
func.func @reread(%x: !t1) -> !t1 {
  "test.set"(%x) : (!t1) -> ()
  %s = "test.get"() : () -> !t64
  "test.set"(%x) : (!t1) -> ()
  %l = "test.use"(%s) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%s, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A counter in a buffer. At test.big: arguments 1 MiB and 8 B, %old 8 B (kept for the clone), %l 1,
// %b 96.

// FACTS:     load_store packed: 162 MiB + 64 B -> 98 MiB + 128 B
// FACTS:     load_store recomputed: 1 x tensor.splat, 64 MiB
// FACTS-NOT: load_store recomputed

// CHECK-LABEL: func.func @load_store
// CHECK-SAME:  %[[BUFFER:[a-z0-9]+]]: memref<f64>
// CHECK:       %[[OLD:.+]] = memref.load %[[BUFFER]]
// CHECK:       tensor.splat %[[OLD]]
// CHECK:       memref.store %{{.+}}, %[[BUFFER]]
// CHECK-NOT:   memref.{{load|store}}
// CHECK:       %[[HELD:.+]] = remat.barrier %[[OLD]] after %{{.+}}
// CHECK-NEXT:  tensor.splat %[[HELD]]
// CHECK-NOT:   memref.{{load|store}}
// CHECK:       return
func.func @load_store(%x: !t1, %buffer: memref<f64>) -> !t1 {
  %old = memref.load %buffer[] : memref<f64>
  %y = tensor.splat %old : tensor<32x262144xf64>
  %new = arith.addf %old, %old : f64
  memref.store %new, %buffer[] : memref<f64>
  %l = "test.use"(%y) : (tensor<32x262144xf64>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<32x262144xf64>, !t1) -> !t1
  return %d : !t1
}

// A variable of TOSA: a read in front of a write is not repeated behind it. At test.big: argument
// 1, %old 64, %l 1, %b 96.

// FACTS:     variable minimum: 162 MiB{{$}}
// FACTS-NOT: variable recomputed
// FACTS:     variable at peak: 64 MiB, tosa.variable_read, not recomputable: {{.*}}reads a variable that may change

// CHECK-LABEL: func.func @variable
// CHECK:       tosa.variable_read
// CHECK:       tosa.variable_write
// CHECK-NOT:   tosa.variable
// CHECK:       return
tosa.variable @state = dense<0.0> : tensor<64x262144xf32>
func.func @variable(%x: !t1) -> !t1 {
  %old = tosa.variable_read @state : tensor<64x262144xf32>
  %new = "test.next"(%x) : (!t1) -> tensor<64x262144xf32>
  tosa.variable_write @state, %new : tensor<64x262144xf32>
  %l = "test.use"(%old) : (tensor<64x262144xf32>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%old, %m) : (tensor<64x262144xf32>, !t1) -> !t1
  return %d : !t1
}
