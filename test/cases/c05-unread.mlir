// What nobody reads and has no effects need not be computed: where its bytes are in the way it
// goes, at no cost. Where the function fits as it is, it stays.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=10MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.plain.mlir
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=322MiB"
// RUN: diff %t.plain.mlir %t.mlir

!t1 = tensor<1x262144xf32>
!t160 = tensor<160x262144xf32>

// At the broadcast: argument 1, %l 1 (a result), %u 160; without it 2 MiB.

// FACTS:      one status: met
// FACTS:      one packed: 162 MiB -> 2 MiB
// FACTS:      one minimum: 2 MiB
// FACTS-NOT:  one recomputed

// CHECK-LABEL: func.func @one
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @one(%x: !t1) -> !t1 {
  %l = "test.use"(%x) : (!t1) -> !t1
  %u = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t160
  return %l : !t1
}

// A chain that ends in nothing.

// FACTS:      chain status: met
// FACTS:      chain packed: 322 MiB -> 2 MiB
// FACTS-NOT:  chain recomputed

// CHECK-LABEL: func.func @chain
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @chain(%x: !t1) -> !t1 {
  %l = "test.use"(%x) : (!t1) -> !t1
  %u = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t160
  %v = math.exp %u : !t160
  return %l : !t1
}

// Nor is it called (the result and what the callee holds are 160 each), and what nobody calls any
// more is no function with a budget of its own.

// FACTS:     calls status: met
// FACTS:     calls packed: 322 MiB -> 2 MiB

// CHECK-LABEL: func.func @calls
// CHECK-NOT:   call
// CHECK-NOT:   @callee
func.func @calls(%x: !t1) -> !t1 {
  %l = "test.use"(%x) : (!t1) -> !t1
  %u = call @callee(%x) : (!t1) -> !t160
  return %l : !t1
}
func.func private @callee(%x: !t1) -> !t160 attributes {no_inline} {
  %u = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t160
  return %u : !t160
}
