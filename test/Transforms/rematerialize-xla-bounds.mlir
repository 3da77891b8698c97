// What one operation needs at once is no bound for XLA: once 'saved' is computed for each of its two
// readers, none of them has it in memory. Then half of it is the most that is needed: 131072 bytes, and
// 256 each for the argument, the result and the sum or the loss.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o /dev/null \
// RUN:   --rematerialize="fusion=xla budget=131840B report=%t.met.json"
// RUN: FileCheck %s --check-prefix=MET --input-file=%t.met.json
// RUN: not remat-opt %s --allow-unregistered-dialect -o /dev/null \
// RUN:   --rematerialize="fusion=xla budget=131839B report=%t.refused.json" 2>&1 | \
// RUN:   FileCheck %s --check-prefix=ERROR
// RUN: FileCheck %s --check-prefix=REFUSED --input-file=%t.refused.json

// MET-DAG: "baseline_packed_bytes": 393984,
// MET-DAG: "minimum_known_bytes": 131840,
// MET-DAG: "overhead_lower_bound": 0,
// MET-DAG: "packed_bytes": 131840,
// MET-DAG: "status": "met",
// MET-DAG: "working_set_bytes": 131840

// Smaller plans may be there, which the error must not deny.
// ERROR: error: function 'main' does not fit into the budget of 131839 bytes: the smallest budget known to be feasible is 131840 bytes{{$}}
// REFUSED-DAG: "overhead_lower_bound": 0,
// REFUSED-DAG: "working_set_bytes": 131840

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %wide = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1024x64xf32>
  %saved = "stablehlo.tanh"(%wide) : (tensor<1024x64xf32>) -> tensor<1024x64xf32>
  %sum = "stablehlo.reduce"(%saved, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1024x64xf32>, tensor<f32>) -> tensor<64xf32>
  %half = "stablehlo.broadcast_in_dim"(%sum) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<512x64xf32>
  %loss = "stablehlo.custom_call"(%half) <{call_target_name = "loss", has_side_effect = true}> : (tensor<512x64xf32>) -> tensor<64xf32>
  %gradient = "stablehlo.broadcast_in_dim"(%loss) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1024x64xf32>
  %product = "stablehlo.multiply"(%saved, %gradient) : (tensor<1024x64xf32>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
  %result = "stablehlo.reduce"(%product, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1024x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %result : tensor<64xf32>
}
