// h: bf16 -> f = extf h -> n = exp f -> m = truncf n, and all of them are used by the backward
// part. Where one of them can stay, it is h: half the bytes, and the others follow from it.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=121MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=113MiB report=%t.json"
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=FACTS
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir --rematerialize="fusion=none budget=130MiB report=%t.json"
// RUN: %python %S/Inputs/facts.py %t.json %t.mlir | FileCheck %s --check-prefix=TWO

!t1 = tensor<1x262144xf32>
!bf16 = tensor<16x262144xbf16>
!f32 = tensor<16x262144xf32>
!t96 = tensor<96x262144xf32>

// At test.big: argument 1, %h 8, %f 16, %n 16, %m 8, %b 96: 145. With %h alone 113, with %f or %n
// alone 121; h itself takes a millisecond. extf moves 24 MiB, exp 32: 8388608 and 11184811 ps.

// FACTS:     step status: met
// FACTS:     step packed: 145 MiB -> 113 MiB
// FACTS:     step added cost: 19573419
// FACTS:     step recomputed: 1 x arith.extf, 16 MiB
// FACTS:     step recomputed: 1 x math.exp, 16 MiB
// FACTS-NOT: step recomputed

// With room for two (129) the exponential follows from f, or n stays and f is the extension of h
// again, which is cheaper.

// TWO:     step packed: 145 MiB -> 129 MiB
// TWO:     step added cost: 8388608
// TWO:     step recomputed: 1 x arith.extf, 16 MiB
// TWO-NOT: step recomputed

// CHECK-LABEL: func.func @step
// CHECK:       %[[H:.+]] = "stablehlo.custom_call"
// CHECK:       %[[U:.+]] = "test.use"(%{{.+}}) : (tensor<96x262144xf32>)
// CHECK-NEXT:  %[[HELD:.+]] = remat.barrier %[[H]] after %[[U]]
// CHECK-NEXT:  %[[F:.+]] = arith.extf %[[HELD]]
// CHECK-NEXT:  %[[N:.+]] = math.exp %[[F]]
// CHECK-NEXT:  %[[D1:.+]] = "test.bwd"(%[[N]], %[[U]])
// CHECK-NEXT:  %[[D2:.+]] = "test.bwd"(%[[F]], %[[D1]])
// CHECK-NEXT:  "test.bwd"(%[[H]], %[[D2]])
func.func @step(%x: !t1) -> !t1 {
  %h = "stablehlo.custom_call"(%x) <{call_target_name = "layer"}> {remat.cost = 1000000000 : i64} : (!t1) -> !bf16
  %f = arith.extf %h : !bf16 to !f32
  %n = math.exp %f : !f32
  %m = arith.truncf %n : !f32 to !bf16
  %b = "test.big"(%m) : (!bf16) -> !t96
  %u = "test.use"(%b) : (!t96) -> !t1
  %d1 = "test.bwd"(%n, %u) : (!f32, !t1) -> !t1
  %d2 = "test.bwd"(%f, %d1) : (!f32, !t1) -> !t1
  %d3 = "test.bwd"(%h, %d2) : (!bf16, !t1) -> !t1
  return %d3 : !t1
}
