// A function that has a budget of its own and is also called: what its callers report is about the
// callee as it is in the end.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=75% report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s

!t1 = tensor<1x262144xf32>
!t8 = tensor<8x262144xf32>
!t64 = tensor<64x262144xf32>
!y64 = tensor<8x8x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %a 64, %l 1, %b 96. 75 % are 121.5 MiB.
// CHECK: callee packed: 162 MiB -> 98 MiB
func.func @callee(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64
  %l = "test.use"(%a) : (!t64) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1
  return %d : !t1
}

// At the call: arguments 1 and 8, %y 64, %l 1, %m 1 and inside of it 161, 236 MiB, of which 75 %
// are 177. With the callee rewritten, 97 are inside: 172 with %y, 108 without it.
// CHECK: caller packed: 236 MiB -> {{172|108}} MiB
func.func @caller(%x: !t1, %w: !t8) -> !t1 {
  %y = "stablehlo.broadcast_in_dim"(%w) <{broadcast_dimensions = array<i64: 1, 2>}> : (!t8) -> !y64
  %l = "test.use"(%y) : (!y64) -> !t1
  %m = call @callee(%l) : (!t1) -> !t1
  %d = "test.bwd"(%y, %m) : (!y64, !t1) -> !t1
  return %d : !t1
}
