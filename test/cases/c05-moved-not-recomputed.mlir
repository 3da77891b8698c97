// An operation that only the backward part uses, but that stands in the forward part, is moved.
// That is no recomputation: no cost, no clone, no barrier.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=98MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not=barrier --implicit-check-not=clone_of
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=98MiB report=-" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TABLE

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %a 64, %l 1, %b 96; without %a 98.

// FACTS:      one status: met
// FACTS:      one packed: 162 MiB -> 98 MiB
// FACTS:      one added cost: 0
// FACTS-NOT:  one recomputed
// FACTS:      one moved: stablehlo.broadcast_in_dim from 0 to 4
// FACTS-NOT:  one moved

// TABLE:      function 'one'
// TABLE-NOT:  recomputed:
// TABLE:      moved to where they are needed: 1 operations

// CHECK-LABEL: func.func @one
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK-NEXT:  %[[A:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  "test.bwd"(%[[A]], %[[M]])
func.func @one(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%x) : (!t1) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A chain of two, 32 MiB each, one behind the other: at the peak only the second would be live, and
// moving it alone would keep the first.

// FACTS:      two packed: 130 MiB -> 98 MiB
// FACTS:      two added cost: 0
// FACTS-NOT:  two recomputed
// FACTS-DAG:  two moved: stablehlo.broadcast_in_dim from 0 to 5
// FACTS-DAG:  two moved: math.exp from 1 to 5

// CHECK-LABEL: func.func @two
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK-NEXT:  %[[A:.+]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:  %[[E:.+]] = math.exp %[[A]]
// CHECK-NEXT:  "test.bwd"(%[[E]], %[[M]])
func.func @two(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> tensor<32x262144xf32>
  %e = math.exp %a : tensor<32x262144xf32>
  %l = "test.use"(%x) : (!t1) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%e, %m) : (tensor<32x262144xf32>, !t1) -> !t1
  return %d : !t1
}
