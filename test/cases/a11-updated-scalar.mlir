// A scale that is read from a buffer and updated there: the clone uses the value that was read, also
// where a body captures it.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s --check-prefix=FACTS

!row = tensor<262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>
#row = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// At test.big: arguments 1 MiB and 4 B, %y 64, %l 1, %b 96; then the scalar %s, 4 B, in place of %y.

// FACTS:     scale packed: 162 MiB + 64 B -> 98 MiB + 128 B
// FACTS:     scale live: 162 MiB + 4 B -> 98 MiB + 8 B
// FACTS:     scale recomputed: 1 x linalg.generic, 64 MiB
// FACTS-NOT: scale recomputed

// CHECK-LABEL: func.func @scale
// CHECK-SAME:  %[[BUFFER:[a-z0-9]+]]: memref<f32>
// CHECK:       %[[S:.+]] = memref.load %[[BUFFER]]
// CHECK:       arith.mulf %{{.+}}, %[[S]] : f32
// CHECK:       memref.store %{{.+}}, %[[BUFFER]]
// CHECK-NOT:   memref.load
// CHECK:       %[[HELD:.+]]:2 = remat.barrier %{{.+}}, %[[S]] after
// CHECK:       linalg.generic
// CHECK:       arith.mulf %{{.+}}, %[[HELD]]#1 : f32
// CHECK-NOT:   memref.load
// CHECK:       return
func.func @scale(%x: !row, %buffer: memref<f32>) -> !row {
  %s = memref.load %buffer[] : memref<f32>
  %e = tensor.empty() : !t64
  %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%x : !row) outs(%e : !t64) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %s : f32
    linalg.yield %p : f32
  } -> !t64
  %l = "test.use"(%y) : (!t64) -> !row
  %two = arith.constant 2.0 : f32
  memref.store %two, %buffer[] : memref<f32>
  %b = "test.big"(%l) : (!row) -> !t96
  %m = "test.use"(%b) : (!t96) -> !row
  %d = "test.bwd"(%y, %m) : (!t64, !row) -> !row
  return %d : !row
}

// Two reads around an update: each value has its own clone.

// FACTS:     twice recomputed: 1 x tensor.splat, 64 MiB
// FACTS:     twice recomputed: 1 x tensor.splat, 32 MiB
// FACTS-NOT: twice recomputed

// CHECK-LABEL: func.func @twice
// CHECK:       %[[OLD:.+]] = memref.load
// CHECK:       memref.store
// CHECK:       %[[NEW:.+]] = memref.load
// CHECK:       memref.store
// CHECK-NOT:   memref.load
// CHECK:       %[[HELDOLD:.+]] = remat.barrier %[[OLD]] after
// CHECK-NEXT:  %[[Y1:.+]] = tensor.splat %[[HELDOLD]]
// CHECK-NEXT:  %[[D:.+]] = "test.bwd"(%[[Y1]]
// CHECK-NEXT:  %[[HELDNEW:.+]] = remat.barrier %[[NEW]] after
// CHECK-NEXT:  %[[Y2:.+]] = tensor.splat %[[HELDNEW]]
// CHECK-NEXT:  "test.bwd"(%[[Y2]], %[[D]])
func.func @twice(%x: !row, %buffer: memref<f32>) -> !row {
  %two = arith.constant 2.0 : f32
  %s1 = memref.load %buffer[] : memref<f32>
  %y1 = tensor.splat %s1 : !t64
  %l1 = "test.use"(%y1, %x) : (!t64, !row) -> !row
  memref.store %two, %buffer[] : memref<f32>
  %s2 = memref.load %buffer[] : memref<f32>
  %y2 = tensor.splat %s2 : tensor<32x262144xf32>
  %l2 = "test.use"(%y2, %l1) : (tensor<32x262144xf32>, !row) -> !row
  memref.store %two, %buffer[] : memref<f32>
  %b = "test.big"(%l2) : (!row) -> !t96
  %m = "test.use"(%b) : (!t96) -> !row
  %d1 = "test.bwd"(%y1, %m) : (!t64, !row) -> !row
  %d2 = "test.bwd"(%y2, %d1) : (tensor<32x262144xf32>, !row) -> !row
  return %d2 : !row
}
