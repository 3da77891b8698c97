// The backward part asks for a dimension of a large value only: the value need not be there, and is
// not cloned either.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.plain.mlir
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=98MiB report=%t.json" 2> %t.err
// RUN: FileCheck %s --input-file=%t.err --check-prefix=WARN
// RUN: diff %t.plain.mlir %t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --uncounted dynamic | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// %a is gone behind its use: argument 1, %l 1, %b 96 at test.big. (At the use: 1, 64, 1.)

// FACTS: dim status: unchanged
// FACTS: dim packed: 98 MiB -> 98 MiB
// FACTS: dim minimum: 98 MiB

// CHECK-LABEL: func.func @dim
// CHECK-COUNT-1: "stablehlo.broadcast_in_dim"
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @dim(%x: !t1) -> !t1 {
  %c0 = arith.constant 0 : index
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %n = tensor.dim %a, %c0 : !t64
  %d = "test.bwd"(%n, %m) : (index, !t1) -> !t1
  return %d : !t1
}

// FACTS: size status: unchanged
// FACTS: size packed: 98 MiB -> 98 MiB

// CHECK-LABEL: func.func @size
// CHECK-COUNT-1: "stablehlo.broadcast_in_dim"
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @size(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %n = "stablehlo.get_dimension_size"(%a) <{dimension = 0 : i64}> : (!t64) -> tensor<i32>
  %d = "test.bwd"(%n, %m) : (tensor<i32>, !t1) -> !t1
  return %d : !t1
}

// A dynamic shape: the size is not known, said once, and the value is no candidate.

// FACTS: dynamic status: unchanged

// CHECK-LABEL: func.func @dynamic
// CHECK-COUNT-1: math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
// WARN: warning: the size of 'tensor<?x262144xf32>' is not known; 2 such values count as 0 bytes and are not recomputed
// WARN-NOT: warning
func.func @dynamic(%x: !t1, %p: tensor<?x262144xf32>) -> !t1 {
  %c0 = arith.constant 0 : index
  %a = math.exp %p : tensor<?x262144xf32>
  %l = "test.use"(%a) : (tensor<?x262144xf32>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %n = tensor.dim %a, %c0 : tensor<?x262144xf32>
  %d = "test.bwd"(%n, %m) : (index, !t1) -> !t1
  return %d : !t1
}
