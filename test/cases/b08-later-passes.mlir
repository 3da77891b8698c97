// On inputs that CSE and canonicalization leave as they are, the peak stays what it is after the
// passes that clean up, and after sorting the block by dependences. Counted anew from the printed
// text.
//
// RUN: %python %S/Inputs/generate.py ladder 40 > %t.raw.mlir
// RUN: remat-opt %t.raw.mlir --canonicalize --cse --canonicalize --cse -o %t.ladder.mlir
// RUN: remat-opt %t.ladder.mlir -o %t.mlir --rematerialize="fusion=none budget=86016B report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=LADDER
// RUN: remat-opt %t.mlir --canonicalize --cse --loop-invariant-code-motion --cse -o %t.cleaned.mlir
// RUN: %recount %t.mlir > %t.before
// RUN: %recount %t.cleaned.mlir > %t.after
// RUN: diff %t.before %t.after
//
// RUN: %python %S/Inputs/generate.py fan-out 20 > %t.raw.mlir
// RUN: remat-opt %t.raw.mlir --canonicalize --cse --canonicalize --cse -o %t.fan.mlir
// RUN: remat-opt %t.fan.mlir -o %t.mlir --rematerialize="fusion=none budget=18816B report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FAN
// RUN: remat-opt %t.mlir --canonicalize --cse --loop-invariant-code-motion --cse -o %t.cleaned.mlir
// RUN: %recount %t.mlir > %t.before
// RUN: %recount %t.cleaned.mlir > %t.after
// RUN: diff %t.before %t.after
//
// Regions without outside inputs: fills, splats of constants and iotas.
// RUN: remat-opt %s --allow-unregistered-dialect --canonicalize --cse --canonicalize --cse -o %t.own.mlir
// RUN: remat-opt %t.own.mlir --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=106MiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %t.mlir --allow-unregistered-dialect -o %t.cleaned.mlir \
// RUN:   --canonicalize --cse --loop-invariant-code-motion --cse
// RUN: FileCheck %s --input-file=%t.cleaned.mlir
// RUN: %recount %t.mlir --function filled > %t.before
// RUN: %recount %t.cleaned.mlir --function filled > %t.after
// RUN: diff %t.before %t.after
// RUN: %recount %t.mlir --function splat > %t.before
// RUN: %recount %t.cleaned.mlir --function splat > %t.after
// RUN: diff %t.before %t.after
// RUN: %recount %t.mlir --function generated > %t.before
// RUN: %recount %t.cleaned.mlir --function generated > %t.after
// RUN: diff %t.before %t.after
// RUN: %recount %t.mlir --function iota > %t.before
// RUN: %recount %t.cleaned.mlir --function iota > %t.after
// RUN: diff %t.before %t.after
// RUN: %recount %t.mlir --function weights > %t.before
// RUN: %recount %t.cleaned.mlir --function weights > %t.after
// RUN: diff %t.before %t.after

// Unchanged 42 * 4096 bytes; half of it.
// LADDER: step status: met
// LADDER: step packed: 172032 B -> {{[0-9]+}} B
// The twenty gradients of 128 B have been given one fill by CSE, which lives on as long as they
// need it: 22912 + 128 bytes (see a06). It is recomputed with the rest.
// FAN: step packed: 23040 B -> 18816 B

!t1 = tensor<1x262144xf32>
!t32 = tensor<32x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>

// At test.big: argument 1, %y 64, %l 1, %b 96; without %y 98. Each of these has one clone in the
// end, behind the large value.

// FACTS: filled packed: 162 MiB -> 98 MiB
// FACTS: filled recomputed: 1 x linalg.fill, 64 MiB

// CHECK-LABEL: func.func @filled
// CHECK:       linalg.fill
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[AGAIN:.+]] = linalg.fill
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
func.func @filled(%x: !t1) -> !t1 {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : !t64
  %y = linalg.fill ins(%one : f32) outs(%e : !t64) -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// A product of 32 MiB with a splat constant: the constant may stand anywhere.

// FACTS: splat packed: 130 MiB -> 98 MiB
// FACTS: splat recomputed: 1 x stablehlo.broadcast_in_dim, 32 MiB
// FACTS: splat recomputed: 1 x arith.mulf, 32 MiB

// CHECK-LABEL: func.func @splat
// CHECK:       "stablehlo.broadcast_in_dim"
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       "stablehlo.broadcast_in_dim"
// CHECK:       %[[AGAIN:.+]] = arith.mulf
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
func.func @splat(%x: !t1) -> !t1 {
  %two = arith.constant dense<2.0> : !t32
  %w = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t32
  %y = arith.mulf %w, %two : !t32
  %l = "test.use"(%y) : (!t32) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t32, !t1) -> !t1
  return %d : !t1
}

// A body that reads nothing: a causal mask.

// FACTS: generated packed: 162 MiB -> 98 MiB
// FACTS: generated recomputed: 1 x linalg.generic, 64 MiB

// CHECK-LABEL: func.func @generated
// CHECK:       linalg.generic
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[AGAIN:.+]] = linalg.generic
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
func.func @generated(%x: !t1) -> !t1 {
  %e = tensor.empty() : !t64
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : !t64) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %below = arith.cmpi sge, %i, %j : index
    %f = arith.uitofp %below : i1 to f32
    linalg.yield %f : f32
  } -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// FACTS: iota packed: 162 MiB -> 98 MiB
// FACTS: iota recomputed: 1 x stablehlo.iota, 64 MiB

// CHECK-LABEL: func.func @iota
// CHECK:       "stablehlo.iota"
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[AGAIN:.+]] = "stablehlo.iota"
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
func.func @iota(%x: !t1) -> !t1 {
  %y = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// From arguments only, 1 and 8: nothing of the clone's operands is new, except for the barrier.

// FACTS: weights packed: 170 MiB -> 106 MiB

// CHECK-LABEL: func.func @weights
// CHECK:       "stablehlo.broadcast_in_dim"
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK:       %[[AGAIN:.+]] = "stablehlo.broadcast_in_dim"
// CHECK:       "test.bwd"(%[[AGAIN]], %[[M]])
func.func @weights(%x: !t1, %w: tensor<8x262144xf32>) -> !t1 {
  %y = "stablehlo.broadcast_in_dim"(%w) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x262144xf32>) -> tensor<8x8x262144xf32>
  %l = "test.use"(%y) : (tensor<8x8x262144xf32>) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%y, %m) : (tensor<8x8x262144xf32>, !t1) -> !t1
  return %d : !t1
}
