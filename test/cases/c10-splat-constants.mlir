// Splat constants have no storage and are shared by originals and clones for free; other constants
// are program data, counted once. Neither is expanded in the text.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn | FileCheck %s --check-prefix=FACTS
// RUN: %python -c "import os; size = os.path.getsize('%t.mlir'); print(size); assert size < 20000"

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: arguments 1 and 64, %y 64, %l 1, %b 96; without %y 162.

// FACTS: splat packed: 226 MiB -> 162 MiB
// FACTS: splat constants: 0 B
// FACTS: splat recomputed: 1 x arith.mulf, 64 MiB

// CHECK-LABEL: func.func @splat
// CHECK-COUNT-1: arith.constant dense<2.000000e+00>
// CHECK-NOT:   arith.constant
// CHECK:       return
func.func @splat(%x: !t1, %w: !t64) -> !t1 {
  %two = arith.constant dense<2.0> : !t64
  %y = arith.mulf %w, %two : !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// FACTS: foreign packed: 226 MiB -> 162 MiB
// FACTS: foreign constants: 0 B
// FACTS: foreign recomputed: 1 x stablehlo.multiply, 64 MiB

// CHECK-LABEL: func.func @foreign
// CHECK:       "stablehlo.constant"() <{value = dense<2.000000e+00>
// CHECK:       return
func.func @foreign(%x: !t1, %w: !t64) -> !t1 {
  %two = "stablehlo.constant"() <{value = dense<2.0> : !t64}> : () -> !t64
  %y = "stablehlo.multiply"(%w, %two) : (!t64, !t64) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The splat alone is used late: it takes nothing, wherever it stands, and is never a clone.
// Argument 1, %l 1, %b 96.

// FACTS: late packed: 98 MiB -> 98 MiB
// FACTS-NOT: late {{recomputed|moved}}
func.func @late(%x: !t1) -> !t1 {
  %two = arith.constant dense<2.0> : !t64
  %l = "test.use"(%x, %two) : (!t1, !t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%two, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Three constants with data, two of them equal: 16 and 12 bytes, 128 with alignment, throughout.
// They are read, never recomputed. At test.big beside them: argument 1, %l 1, %b 96.

// FACTS: data packed: 98 MiB + 128 B -> 98 MiB + 128 B
// FACTS: data live: 98 MiB + 28 B -> 98 MiB + 28 B
// FACTS: data constants: 28 B
// FACTS-NOT: data {{recomputed|moved}}
func.func @data(%x: !t1) -> !t1 {
  %k1 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %k2 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %k3 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %l = "test.use"(%x, %k1, %k3) : (!t1, tensor<4xi32>, tensor<3xi32>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b, %k2) : (!t96, tensor<4xi32>) -> !t1
  return %m : !t1
}
