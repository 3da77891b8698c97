// Writes that may reach a buffer without naming it: another argument, a global behind a call, a
// loop, a copy, a free. What was computed from the buffer is not computed again behind them.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!m64 = memref<64x262144xf32>
!t96 = tensor<96x262144xf32>

// Two arguments may be the same memory. Arguments 1, 64 and 64, %y 64, %l 1, %b 96.

// FACTS:     arguments minimum: 290 MiB
// FACTS-NOT: arguments {{recomputed|moved}}
// CHECK-LABEL: func.func @arguments
// CHECK-COUNT-1: math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
func.func @arguments(%x: !t1, %p: !m64, %q: !m64) -> !t1 {
  %t = bufferization.to_tensor %p : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "test.use"(%y) : (!t64) -> !t1
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%q : !m64)
  %b = "stablehlo.custom_call"(%l) <{call_target_name = "big"}> : (!t1) -> !t96
  %m = "stablehlo.custom_call"(%b) <{call_target_name = "use"}> : (!t96) -> !t1
  %d = "stablehlo.custom_call"(%y, %m) <{call_target_name = "bwd"}> : (!t64, !t1) -> !t1
  return %d : !t1
}

// A call that writes the global. The global's 64 MiB are there throughout: argument 1, 64, %y 64,
// %l 1, %b 96.

// FACTS:     update status: skipped
// FACTS:     behind_call minimum: 226 MiB
// FACTS-NOT: behind_call {{recomputed|moved}}
// CHECK-LABEL: func.func @behind_call
// CHECK-COUNT-1: math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
memref.global "private" @weights : !m64 = dense<1.0>
func.func private @update() attributes {no_inline} {
  %w = memref.get_global @weights : !m64
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%w : !m64)
  return
}
func.func @behind_call(%x: !t1) -> !t1 {
  %w = memref.get_global @weights : !m64
  %t = bufferization.to_tensor %w : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "stablehlo.custom_call"(%y) <{call_target_name = "use"}> : (!t64) -> !t1
  call @update() : () -> ()
  %b = "stablehlo.custom_call"(%l) <{call_target_name = "big"}> : (!t1) -> !t96
  %m = "stablehlo.custom_call"(%b) <{call_target_name = "use"}> : (!t96) -> !t1
  %d = "stablehlo.custom_call"(%y, %m) <{call_target_name = "bwd"}> : (!t64, !t1) -> !t1
  return %d : !t1
}

// A store in a loop. Arguments 1 and 64, %y 64, %l 1, %b 96.

// FACTS:     loop minimum: 226 MiB
// FACTS-NOT: loop {{recomputed|moved}}
// CHECK-LABEL: func.func @loop
// CHECK-COUNT-1: math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
func.func @loop(%x: !t1, %p: !m64) -> !t1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %p : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "stablehlo.custom_call"(%y) <{call_target_name = "use"}> : (!t64) -> !t1
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %zero, %p[%i, %c0] : !m64
  }
  %b = "stablehlo.custom_call"(%l) <{call_target_name = "big"}> : (!t1) -> !t96
  %m = "stablehlo.custom_call"(%b) <{call_target_name = "use"}> : (!t96) -> !t1
  %d = "stablehlo.custom_call"(%y, %m) <{call_target_name = "bwd"}> : (!t64, !t1) -> !t1
  return %d : !t1
}

// A copy into it. Arguments 1, 64 and 64, %y 64, %l 1, %b 96.

// FACTS:     copy minimum: 290 MiB
// FACTS-NOT: copy {{recomputed|moved}}
// CHECK-LABEL: func.func @copy
// CHECK-COUNT-1: math.exp
// CHECK-NOT:   math.exp
// CHECK:       return
func.func @copy(%x: !t1, %p: !m64, %q: !m64) -> !t1 {
  %t = bufferization.to_tensor %p : !m64 to !t64
  %y = math.exp %t : !t64
  %l = "stablehlo.custom_call"(%y) <{call_target_name = "use"}> : (!t64) -> !t1
  memref.copy %q, %p : !m64 to !m64
  %b = "stablehlo.custom_call"(%l) <{call_target_name = "big"}> : (!t1) -> !t96
  %m = "stablehlo.custom_call"(%b) <{call_target_name = "use"}> : (!t96) -> !t1
  %d = "stablehlo.custom_call"(%y, %m) <{call_target_name = "bwd"}> : (!t64, !t1) -> !t1
  return %d : !t1
}

// Its end: the buffer, 8 MiB, is freed when %y has been computed. Argument 1, %y 64, %l 1, %b 96.

// FACTS:     freed minimum: 162 MiB
// FACTS-NOT: freed {{recomputed|moved}}
// CHECK-LABEL: func.func @freed
// CHECK-COUNT-1: "stablehlo.broadcast_in_dim"
// CHECK-NOT:   "stablehlo.broadcast_in_dim"
// CHECK:       return
func.func @freed(%x: !t1) -> !t1 {
  %p = memref.alloc() : memref<8x262144xf32>
  "test.write"(%p) : (memref<8x262144xf32>) -> ()
  %t = bufferization.to_tensor %p : memref<8x262144xf32> to tensor<8x262144xf32>
  %y = "stablehlo.broadcast_in_dim"(%t) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<8x262144xf32>) -> tensor<8x8x262144xf32>
  %l = "stablehlo.custom_call"(%y) <{call_target_name = "use"}> : (tensor<8x8x262144xf32>) -> !t1
  memref.dealloc %p : memref<8x262144xf32>
  %b = "stablehlo.custom_call"(%l) <{call_target_name = "big"}> : (!t1) -> !t96
  %m = "stablehlo.custom_call"(%b) <{call_target_name = "use"}> : (!t96) -> !t1
  %d = "stablehlo.custom_call"(%y, %m) <{call_target_name = "bwd"}> : (tensor<8x8x262144xf32>, !t1) -> !t1
  return %d : !t1
}
