// A custom call with side effects is made once; one without may be made again. Without the
// attribute it has none: that is its default.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --peak | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %y 64, %l 1, %b 96; without %y 98.

// FACTS:     with minimum: 162 MiB{{$}}
// FACTS-NOT: with recomputed
// FACTS:     with at peak: 64 MiB, stablehlo.custom_call, not recomputable: {{.*}}calls a function with side effects

// CHECK-LABEL: func.func @with(
// CHECK-COUNT-1: "stablehlo.custom_call"
// CHECK-NOT:   "stablehlo.custom_call"
// CHECK:       return
func.func @with(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f", has_side_effect = true}> : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// FACTS:     without packed: 162 MiB -> 98 MiB
// FACTS:     without recomputed: 1 x stablehlo.custom_call, 64 MiB

// CHECK-LABEL: func.func @without(
// CHECK-COUNT-2: "stablehlo.custom_call"{{.*}}call_target_name = "f", has_side_effect = false
// CHECK:       return
func.func @without(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f", has_side_effect = false}> : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// FACTS:     default packed: 162 MiB -> 98 MiB
// FACTS:     default recomputed: 1 x stablehlo.custom_call, 64 MiB

// CHECK-LABEL: func.func @default(
// CHECK-COUNT-2: "stablehlo.custom_call"
// CHECK:       return
func.func @default(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// The user's word against the attribute, and for it.

// FACTS:     forbidden minimum: 162 MiB{{$}}
// FACTS-NOT: forbidden recomputed
// FACTS:     forbidden at peak: 64 MiB, stablehlo.custom_call, not recomputable: {{.*}}carries 'remat.recomputable = false'

// CHECK-LABEL: func.func @forbidden(
// CHECK-COUNT-1: "stablehlo.custom_call"
// CHECK-NOT:   "stablehlo.custom_call"
// CHECK:       return
func.func @forbidden(%x: !t1) -> !t1 {
  %y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> {remat.recomputable = false} : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// FACTS:     unknown minimum: 98 MiB{{$}}
// FACTS:     unknown recomputed: 1 x test.pure, 64 MiB

// CHECK-LABEL: func.func @unknown(
// CHECK-COUNT-2: "test.pure"
// CHECK:       return
func.func @unknown(%x: !t1) -> !t1 {
  %y = "test.pure"(%x) {remat.recomputable = true} : (!t1) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}
