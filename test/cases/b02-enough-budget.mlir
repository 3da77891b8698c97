// With a budget at or above the peak the output is what the tool prints with no pass at all.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.plain.mlir
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=169869312B" -o %t.exact.mlir
// RUN: diff %t.plain.mlir %t.exact.mlir
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=100%" -o %t.all.mlir
// RUN: diff %t.plain.mlir %t.all.mlir
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=9000000TB report=%t.json" -o %t.much.mlir
// RUN: diff %t.plain.mlir %t.much.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.much.mlir | FileCheck %s --check-prefix=FACTS
//
// The same with locations and in generic form:
// RUN: remat-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-op-generic -o %t.plain.mlir
// RUN: remat-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-op-generic \
// RUN:   --rematerialize="fusion=none budget=162MiB" -o %t.exact.mlir
// RUN: diff %t.plain.mlir %t.exact.mlir
//
// One byte less is another matter:
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=169869311B" | FileCheck %s

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %a 64, %l 1, %b 96. What nobody uses stays, too.

// FACTS:     step status: unchanged
// FACTS:     step packed: 162 MiB -> 162 MiB
// FACTS:     step minimum: 98 MiB
// FACTS:     step added cost: 0
// FACTS-NOT: step {{recomputed|moved}}

// CHECK: "stablehlo.optimization_barrier"
// CHECK: "stablehlo.broadcast_in_dim"{{.*}}remat.clone_of
func.func @step(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %unused = arith.constant dense<1.0> : !t64
  %l = "test.use"(%a) {app.name = "kept"} : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %v = "stablehlo.reshape"(%m) : (!t1) -> tensor<262144xf32>
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// Already as small as it can be, with barriers: unchanged at any budget that it meets.

// FACTS:     small status: unchanged
// FACTS:     small packed: 98 MiB -> 98 MiB
func.func @small(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %held:2 = "stablehlo.optimization_barrier"(%x, %m) : (!t1, !t1) -> (!t1, !t1)
  %again = "stablehlo.broadcast_in_dim"(%held#0) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %d = "test.bwd"(%again, %held#1) : (!t64, !t1) -> !t1
  return %d : !t1
}
