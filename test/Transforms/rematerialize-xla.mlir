// Rewriting for XLA: what is recomputed waits behind one barrier for all that it reads from outside,
// arguments included, for a value of the backward part, and for what else has been computed since the
// last barrier, is read later, and is not awaited anyway. What is read later is read behind the barrier:
// XLA drops operands whose results nobody reads. What readers compute is cloned with them.
//
// RUN: remat-opt %s --allow-unregistered-dialect --rematerialize="budget=90%% report=%t.json" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: remat-opt %t.mlir --allow-unregistered-dialect --rematerialize="budget=32836B report=%t.again.json" \
// RUN:   -o /dev/null
// RUN: FileCheck %s --check-prefix=AGAIN --input-file=%t.again.json

// V is a vector of 4096 bytes. The peak is where the gradient of the activation is computed from what
// takes 4V: arguments 2V, the result V, the activation V, 4V and V are 9V, and the loss 4 bytes. Without the
// activation 8V are left; later there are arguments, result, gradients 2V, the activation again
// and V at most, 7V.
// REPORT: "budget_bytes":
// REPORT: "fusion": "xla"
// REPORT: "producer": "stablehlo.tanh"
// REPORT: "status": "met"
// AGAIN: "status": "unchanged"

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1024xf32>, %[[W:[a-z0-9]+]]: tensor<1024xf32>
func.func @step(%x: tensor<1024xf32>, %w: tensor<1024xf32>) -> (tensor<f32>, tensor<1024xf32>) {
  %s = "stablehlo.multiply"(%x, %w) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %a = "stablehlo.tanh"(%s) : (tensor<1024xf32>) -> tensor<1024xf32>
  %l = "stablehlo.custom_call"(%a) <{call_target_name = "loss", has_side_effect = true}> : (tensor<1024xf32>) -> tensor<f32>
  %big = "stablehlo.custom_call"(%l) <{call_target_name = "start", has_side_effect = true}> : (tensor<f32>) -> tensor<4096xf32>
  // CHECK: %[[G:[0-9]+]] = "stablehlo.custom_call"{{.*}}"shrink"
  %g = "stablehlo.custom_call"(%big) <{call_target_name = "shrink", has_side_effect = true}> : (tensor<4096xf32>) -> tensor<1024xf32>
  // CHECK: %[[D:[0-9]+]] = "stablehlo.custom_call"(%[[G]]){{.*}}"gradient"
  %d = "stablehlo.custom_call"(%g) <{call_target_name = "gradient", has_side_effect = true}> : (tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: %[[B:[0-9]+]]:3 = "stablehlo.optimization_barrier"(%[[X]], %[[W]], %[[D]])
  // CHECK: %[[S:[0-9]+]] = "stablehlo.multiply"(%[[B]]#0, %[[B]]#1)
  // CHECK: %[[A:[0-9]+]] = "stablehlo.tanh"(%[[S]])
  // CHECK: %[[R:[0-9]+]] = "stablehlo.custom_call"(%[[G]], %[[A]])
  // CHECK: "stablehlo.custom_call"(%[[R]], %[[B]]#2)
  %r = "stablehlo.custom_call"(%g, %a) <{call_target_name = "backward", has_side_effect = true}> : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %o = "stablehlo.custom_call"(%r, %d) <{call_target_name = "update", has_side_effect = true}> : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %l, %o : tensor<f32>, tensor<1024xf32>
}

// What is beside StableHLO waits behind the barrier of StableHLO.
// CHECK-LABEL: func.func @beside
// CHECK: "stablehlo.optimization_barrier"
// CHECK: "chlo.erf"
// CHECK-NOT: remat.barrier
func.func @beside(%x: tensor<1024xf32>) -> (tensor<f32>, tensor<1024xf32>) {
  %a = "chlo.erf"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %l = "stablehlo.custom_call"(%a) <{call_target_name = "loss", has_side_effect = true}> : (tensor<1024xf32>) -> tensor<f32>
  %big = "stablehlo.custom_call"(%l) <{call_target_name = "start", has_side_effect = true}> : (tensor<f32>) -> tensor<4096xf32>
  %g = "stablehlo.custom_call"(%big) <{call_target_name = "shrink", has_side_effect = true}> : (tensor<4096xf32>) -> tensor<1024xf32>
  %r = "stablehlo.custom_call"(%g, %a) <{call_target_name = "backward", has_side_effect = true}> : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %l, %r : tensor<f32>, tensor<1024xf32>
}
