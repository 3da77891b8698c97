// A function that is called twelve times counts with what its body needs while it runs; a clone of
// a call needs a callee without effects.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=none budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --peak | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t8 = tensor<8x262144xf32>
!t64 = tensor<64x262144xf32>
!t160 = tensor<160x262144xf32>

// The body of @block needs 64 for %a and 8 for %y. At every call: argument 8, the operand 8, the
// result 8, the inside 72: 96; the results of earlier calls are gone. The result counts once as the
// callee's and once as the caller's.

// FACTS: block status: skipped
// FACTS: twelve packed: 96 MiB -> 96 MiB

// CHECK-LABEL: func.func @twelve
// CHECK-COUNT-12: call @block
// CHECK-NOT:   call @block
// CHECK:       return
func.func private @block(%x: !t8) -> !t8 attributes {no_inline} {
  %a = "stablehlo.custom_call"(%x) <{call_target_name = "wide"}> : (!t8) -> !t64
  %y = "stablehlo.custom_call"(%a) <{call_target_name = "narrow"}> : (!t64) -> !t8
  return %y : !t8
}
func.func @twelve(%x: !t8) -> !t8 {
  %1 = call @block(%x) : (!t8) -> !t8
  %2 = call @block(%1) : (!t8) -> !t8
  %3 = call @block(%2) : (!t8) -> !t8
  %4 = call @block(%3) : (!t8) -> !t8
  %5 = call @block(%4) : (!t8) -> !t8
  %6 = call @block(%5) : (!t8) -> !t8
  %7 = call @block(%6) : (!t8) -> !t8
  %8 = call @block(%7) : (!t8) -> !t8
  %9 = call @block(%8) : (!t8) -> !t8
  %10 = call @block(%9) : (!t8) -> !t8
  %11 = call @block(%10) : (!t8) -> !t8
  %12 = call @block(%11) : (!t8) -> !t8
  return %12 : !t8
}

// A call may be repeated where its callee has no effects. At test.big: arguments 1 and 8, %y 8, %l
// 1, %b 160; then 170. While the call is repeated: 9, %m 1, the result 8, inside 72.

// FACTS:     pure packed: 178 MiB -> 170 MiB
// FACTS:     pure recomputed: 1 x func.call, 8 MiB

// CHECK-LABEL: func.func @pure
// CHECK-COUNT-2: call @block
// CHECK:       return
func.func @pure(%x: !t1, %w: !t8) -> !t1 {
  %y = call @block(%w) : (!t8) -> !t8
  %l = "test.use"(%y) : (!t8) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t8, !t1) -> !t1
  return %d : !t1
}

// FACTS:     impure minimum: 178 MiB
// FACTS-NOT: impure recomputed
// FACTS:     impure at peak: 8 MiB, func.call, not recomputable: {{.*}}calls 'noisy', which contains 'test.print'

// CHECK-LABEL: func.func @impure
// CHECK-COUNT-1: call @noisy
// CHECK-NOT:   call @noisy
// CHECK:       return
func.func private @noisy(%x: !t8) -> !t8 attributes {no_inline} {
  "test.print"(%x) : (!t8) -> ()
  return %x : !t8
}
func.func @impure(%x: !t1, %w: !t8) -> !t1 {
  %y = call @noisy(%w) : (!t8) -> !t8
  %l = "test.use"(%y) : (!t8) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t8, !t1) -> !t1
  return %d : !t1
}

// Program data of a callee: 32 bytes, once, although it is called twice. At the second call: the
// argument, the data, the operand, the result, and inside of it the sum, 32 B each.

// FACTS: data packed: 320 B -> 320 B
// FACTS: data live: 160 B -> 160 B
// FACTS: data constants: 32 B
func.func private @bias(%x: tensor<8xf32>) -> tensor<8xf32> attributes {no_inline} {
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %y = arith.addf %x, %k : tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @data(%x: tensor<8xf32>) -> tensor<8xf32> {
  %1 = call @bias(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @bias(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
