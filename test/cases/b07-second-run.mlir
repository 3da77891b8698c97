// Running the pass again with the same absolute budget changes nothing.
//
// RUN: %python %S/Inputs/generate.py ladder 40 > %t.ladder.mlir
// RUN: remat-opt %t.ladder.mlir --rematerialize="fusion=none budget=86016B" -o %t.once.mlir
// RUN: remat-opt %t.once.mlir --rematerialize="fusion=none budget=86016B" -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
// RUN: FileCheck %s --input-file=%t.once.mlir
//
// RUN: %python %S/Inputs/generate.py fan-out 20 > %t.fan.mlir
// RUN: remat-opt %t.fan.mlir --rematerialize="fusion=none budget=18816B" -o %t.once.mlir
// RUN: remat-opt %t.once.mlir --rematerialize="fusion=none budget=18816B" -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
//
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=98MiB" -o %t.once.mlir
// RUN: remat-opt %t.once.mlir --allow-unregistered-dialect --rematerialize="fusion=none budget=98MiB" -o %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
//
// In one pipeline, too, and with what comes between in practice:
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="fusion=none budget=98MiB" --canonicalize --cse \
// RUN:   --rematerialize="fusion=none budget=98MiB" -o %t.pipeline.mlir
// RUN: remat-opt %t.once.mlir --allow-unregistered-dialect --canonicalize --cse -o %t.cleaned.mlir
// RUN: diff %t.cleaned.mlir %t.pipeline.mlir
//
// And a tighter budget goes on from there: the clone is one more use.
// RUN: remat-opt %t.ladder.mlir --rematerialize="fusion=none budget=120000B" -o %t.wide.mlir
// RUN: remat-opt %t.wide.mlir --rematerialize="fusion=none budget=86016B report=%t.json" -o %t.narrow.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.narrow.mlir | FileCheck %s --check-prefix=FACTS

// The ladder has 42 * 4096 = 172032 bytes at its highest; the budget is half of that.
// CHECK: remat.clone_of
// FACTS: step status: met

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

func.func @step(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}
