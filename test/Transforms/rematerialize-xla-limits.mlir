// With XLA's fusion, too, a limit of cost and a budget for a given plan are kept or refused: nothing
// that is computed again costs less than the tangent, one vector read and one written.
//
// RUN: not remat-opt %s --allow-unregistered-dialect --rematerialize="max-overhead=0%%" -o %t.none 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIMIT
// RUN: not ls %t.none
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="max-overhead=0%% on-infeasible=warn" 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=WARNED,APPLIED
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="max-overhead=50%% plan-output=%t.plan"
// RUN: FileCheck %s --check-prefix=APPLIED --input-file=%t.mlir
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="plan=%t.plan" | diff %t.mlir -
// RUN: not remat-opt %s --allow-unregistered-dialect --rematerialize="plan=%t.plan budget=20000B" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLAN

// LIMIT: error: function 'step' may add 0 picoseconds, but what must be recomputed adds 2731
// WARNED: warning: function 'step' may add 0 picoseconds, but what must be recomputed adds 2731
// APPLIED: "stablehlo.optimization_barrier"
// Argument, result, 4V and V: seven vectors, the loss, and 60 bytes of alignment.
// PLAN: error: the plan for function 'step' takes 28736 bytes, but the budget is 20000
func.func @step(%x: tensor<1024xf32>) -> (tensor<f32>, tensor<1024xf32>) {
  %a = "stablehlo.tanh"(%x) {remat.policy = #remat.policy<must_recompute>} : (tensor<1024xf32>) -> tensor<1024xf32>
  %l = "stablehlo.custom_call"(%a) <{call_target_name = "loss", has_side_effect = true}> : (tensor<1024xf32>) -> tensor<f32>
  %big = "stablehlo.custom_call"(%l) <{call_target_name = "start", has_side_effect = true}> : (tensor<f32>) -> tensor<4096xf32>
  %g = "stablehlo.custom_call"(%big) <{call_target_name = "shrink", has_side_effect = true}> : (tensor<4096xf32>) -> tensor<1024xf32>
  %r = "stablehlo.custom_call"(%g, %a) <{call_target_name = "backward", has_side_effect = true}> : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %l, %r : tensor<f32>, tensor<1024xf32>
}
