// Originals keep their locations; a clone has that of its original, marked; so has the barrier.
//
// RUN: remat-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   --rematerialize="fusion=none budget=98MiB" | FileCheck %s

!t1 = tensor<1x262144xf32>
!t64 = tensor<64x262144xf32>
!t96 = tensor<96x262144xf32>

// CHECK-LABEL: func.func @step
// CHECK:       "stablehlo.broadcast_in_dim"({{.*}} loc("model.py":12:4)
// CHECK:       "test.use"({{.*}} loc("model.py":13:4)
// CHECK:       "test.big"
// CHECK:       "stablehlo.optimization_barrier"({{.*}} loc(fused<"rematerialized">["model.py":12:4])
// CHECK:       "stablehlo.broadcast_in_dim"({{.*}}remat.clone_of = 0 : i64{{.*}} loc(fused<"rematerialized">["model.py":12:4])
// CHECK:       "test.bwd"({{.*}} loc(callsite("dot"("model.py":20:4) at "train.py":3:1))
func.func @step(%x: !t1) -> !t1 {
  %a = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (!t1) -> !t64 loc("model.py":12:4)
  %l = "test.use"(%a) : (!t64) -> !t1 loc("model.py":13:4)
  %b = "test.big"(%l) : (!t1) -> !t96
  %m = "test.use"(%b) : (!t96) -> !t1
  %d = "test.bwd"(%a, %m) : (!t64, !t1) -> !t1 loc(callsite("dot"("model.py":20:4) at "train.py":3:1))
  return %d : !t1
}
