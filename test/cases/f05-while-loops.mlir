// A while loop in a recompute chain is cloned whole, condition and body, or not at all.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="budget=1B on-infeasible=warn report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir --warn --peak --uncounted effect \
// RUN:   | FileCheck %s --check-prefix=FACTS

!t1 = tensor<1x262144xf32>
!t16 = tensor<16x262144xf32>
!t160 = tensor<160x262144xf32>

// At test.big: arguments 1, 16 and 4 B, the exponential of the loop's result 16, %l 1, %b 160;
// without it 178.

// FACTS:     whole packed: 194 MiB + 64 B -> 178 MiB + 64 B
// FACTS-DAG: whole recomputed: 1 x scf.while, 16 MiB
// FACTS-DAG: whole recomputed: 1 x math.exp, 16 MiB

// CHECK-LABEL: func.func @whole
// CHECK:       scf.while
// CHECK:       scf.condition
// CHECK:       arith.addf
// CHECK:       %[[M:.+]] = "test.use"(%{{.+}}) : (tensor<160x262144xf32>)
// CHECK:       remat.barrier
// CHECK:       %[[LOOP:.+]] = scf.while
// CHECK:       scf.condition
// CHECK:       arith.addf
// CHECK:       scf.yield
// CHECK:       %[[EXP:.+]] = math.exp %[[LOOP]]
// CHECK:       "test.bwd"(%[[EXP]], %[[M]])
func.func @whole(%x: !t1, %w: !t16, %limit: f32) -> !t1 {
  %c0 = arith.constant 0 : index
  %loop = scf.while (%s = %w) : (!t16) -> !t16 {
    %e = tensor.extract %s[%c0, %c0] : !t16
    %go = arith.cmpf olt, %e, %limit : f32
    scf.condition(%go) %s : !t16
  } do {
  ^bb0(%s: !t16):
    %n = arith.addf %s, %w : !t16
    scf.yield %n : !t16
  }
  %y = math.exp %loop : !t16
  %l = "test.use"(%y) : (!t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t16, !t1) -> !t1
  return %d : !t1
}

// With an effect in its condition it is executed once; what comes from it would keep its result,
// 16, for the 16 of the exponential.

// FACTS:     effect minimum: 194 MiB + 64 B
// FACTS-NOT: effect recomputed
// FACTS:     effect at peak: 16 MiB, math.exp, recomputing it would keep operands of 16777216 bytes alive

// CHECK-LABEL: func.func @effect
// CHECK-COUNT-1: scf.while
// CHECK-NOT:   scf.while
// CHECK:       return
func.func @effect(%x: !t1, %w: !t16, %limit: memref<f32>) -> !t1 {
  %c0 = arith.constant 0 : index
  %loop = scf.while (%s = %w) : (!t16) -> !t16 {
    %e = tensor.extract %s[%c0, %c0] : !t16
    %now = memref.load %limit[] : memref<f32>
    %go = arith.cmpf olt, %e, %now : f32
    scf.condition(%go) %s : !t16
  } do {
  ^bb0(%s: !t16):
    %n = arith.addf %s, %w : !t16
    scf.yield %n : !t16
  }
  %y = math.exp %loop : !t16
  %l = "test.use"(%y) : (!t16) -> !t1
  %b = "test.big"(%l) : (!t1) -> !t160
  %m = "test.use"(%b) : (!t160) -> !t1
  %d = "test.bwd"(%y, %m) : (!t16, !t1) -> !t1
  return %d : !t1
}
