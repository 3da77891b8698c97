// (a c) x + b y + ((a b) c) z with gradients for x, y and z: at the tightest budget nothing is
// saved.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="budget=144MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: not remat-opt %s --allow-unregistered-dialect -o /dev/null --rematerialize=budget=150994943B 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// REFUSED: the smallest budget known to be feasible is 150994944 bytes

!t1 = tensor<1x262144xf32>
!t16 = tensor<16x262144xf32>

// The six arguments take 96. As written, at %s1: %ac, %t1, %t2, %abc, %t3, %s1: 192. At the
// tightest: %t1, %t2, %s1, after which %ab, %abc and %t3 come (%s1 and two of them); %s2 and %g;
// %ab, %abc and %g; then %ac, %g, two gradients of 1 MiB: 144 is the highest of these. Each of %ac,
// %ab and %abc is computed twice, and what the forward part computes too early for %t3 moves.

// FACTS:     step status: met
// FACTS:     step packed: 192 MiB -> 144 MiB
// FACTS:     step live: 192 MiB -> 144 MiB
// FACTS:     step added cost: 50331648
// FACTS:     step recomputed: 1 x arith.mulf, 16 MiB
// FACTS:     step recomputed: 1 x arith.mulf, 16 MiB
// FACTS:     step recomputed: 1 x arith.mulf, 16 MiB
// FACTS-NOT: step recomputed
// FACTS:     step moved: arith.mulf

// CHECK:       %[[G:.+]] = "test.loss"
// CHECK-NEXT:  remat.barrier %{{.+}}, %{{.+}}, %{{.+}} after %[[G]]
// CHECK-NEXT:  %[[AB:.+]] = arith.mulf
// CHECK-NEXT:  %[[ABC:.+]] = arith.mulf %[[AB]]
// CHECK-NEXT:  "test.bwd"(%[[ABC]], %[[G]])
func.func @step(%a: !t16, %b: !t16, %c: !t16, %x: !t16, %y: !t16, %z: !t16) -> (!t1, !t1, !t1) {
  %ac = arith.mulf %a, %c : !t16
  %t1 = arith.mulf %ac, %x : !t16
  %t2 = arith.mulf %b, %y : !t16
  %ab = arith.mulf %a, %b : !t16
  %abc = arith.mulf %ab, %c : !t16
  %t3 = arith.mulf %abc, %z : !t16
  %s1 = arith.addf %t1, %t2 : !t16
  %s2 = arith.addf %s1, %t3 : !t16
  %g = "test.loss"(%s2) : (!t16) -> !t16
  %dz = "test.bwd"(%abc, %g) : (!t16, !t16) -> !t1
  %dx = "test.bwd"(%ac, %g) : (!t16, !t16) -> !t1
  %dy = "test.bwd"(%b, %g) : (!t16, !t16) -> !t1
  return %dx, %dy, %dz : !t1, !t1, !t1
}
