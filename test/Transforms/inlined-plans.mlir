// In StableHLO, calls of private functions are inlined before a plan is made.
//
// What is within its budget stays as it is.
// RUN: remat-opt %s -o %t.unchanged
// RUN: remat-opt %s -rematerialize="fusion=none budget=100%%" | diff %t.unchanged -
// RUN: not remat-opt %s -rematerialize="fusion=none budget=1MB" 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: inlined-plans.mlir:[[#@LINE+37]]:8: error: function 'step' does not fit into the budget of 1000000 bytes
//
// Otherwise the bodies come out. What an operation that is not registered refers to stays.
// RUN: remat-opt %s -rematerialize="fusion=none budget=100MiB report=%t.json" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// CHECK:       func.func private @combine
// CHECK-NOT:   func.func private @expand
// CHECK-LABEL: func.func @step
// CHECK-NOT:     call @
// CHECK:         "stablehlo.broadcast_in_dim"
// CHECK:         "stablehlo.optimization_barrier"
// CHECK-NEXT:    "stablehlo.broadcast_in_dim"
// REPORT-NOT: "name": "expand"
// REPORT:     "name": "combine"
// REPORT:     "reason": "it is private and counts inside its callers"
// REPORT:     "name": "step"
//
// All passes count the same: arguments 1 MiB, @step's first broadcast 64, and 97 at the second
// call; 98 MiB without the former.
// RUN: remat-opt %s -remat-verify="fusion=none budget=162MiB" -o /dev/null
// RUN: not remat-opt %s -remat-verify="fusion=none budget=161MiB" -o /dev/null 2>&1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: function 'step' exceeds the budget of 168820736 bytes: its packed peak is 169869312 bytes
// RUN: remat-opt %s -remat-print-memory="fusion=none function=step" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: memory of function 'step' (6 operations
// PRINT: packed peak {{ *}}169869312 B
// RUN: remat-opt %s -remat-export-problem=function=step -o /dev/null | FileCheck %s --check-prefix=EXPORT
// EXPORT-NOT: func.call
// EXPORT: stablehlo.broadcast_in_dim
// EXPORT-NOT: func.call
// RUN: remat-opt %t.mlir -remat-verify="fusion=none budget=100MiB" -o /dev/null

!t1 = tensor<262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

func.func private @big(%x: !t1) -> !t96 {
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "big", called_computations = [@combine], has_side_effect = true}> : (!t1) -> !t96
  return %0 : !t96
}
func.func private @expand(%x: !t1) -> !t64 {
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1>}> : (!t1) -> !t64
  return %0 : !t64
}
func.func private @combine(%x: !t1) -> !t1 {
  return %x : !t1
}
func.func @step(%x: !t1) -> !t1 {
  %a = call @expand(%x) : (!t1) -> !t64
  %l = "stablehlo.custom_call"(%a) <{call_target_name = "use", has_side_effect = true}> : (!t64) -> !t1
  %b = call @big(%l) : (!t1) -> !t96
  %m = "stablehlo.custom_call"(%b) <{call_target_name = "use", has_side_effect = true}> : (!t96) -> !t1
  %d = "stablehlo.custom_call"(%a, %m) <{call_target_name = "backward", has_side_effect = true}> : (!t64, !t1) -> !t1
  return %d : !t1
}
