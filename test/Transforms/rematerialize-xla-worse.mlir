// Where the smallest plan, once it is applied, takes more than the function as it is (6720 bytes, because
// what is computed where it is read must exist for a barrier), the function stays as it is.
//
// RUN: remat-opt %s --allow-unregistered-dialect -o %t.mlir \
// RUN:   --rematerialize="fusion=xla budget=1B on-infeasible=warn report=%t.json" 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: remat-opt %s --allow-unregistered-dialect | diff %t.mlir -

// CHECK: warning: function 'main' does not fit into the budget of 1 bytes: the smallest budget known to be feasible is 5760 bytes;
// REPORT-DAG: "added_cost_ps": 0,
// REPORT-DAG: "baseline_packed_bytes": 5760,
// REPORT-DAG: "minimum_known_bytes": 5760,
// REPORT-DAG: "packed_bytes": 5760,
// REPORT-DAG: "recomputed": [],
// REPORT-DAG: "status": "infeasible",

func.func @main(%arg0: tensor<32x8xf32> {tf.aliasing_output = 2 : i32}, %arg1: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>, tensor<32x8xf32>) {
  %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<32x8xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
  %1 = "stablehlo.tanh"(%0) : (tensor<32x8xf32>) -> tensor<32x8xf32>
  %2 = "stablehlo.reshape"(%1) : (tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %3 = "stablehlo.tanh"(%2) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %4 = "stablehlo.reshape"(%3) : (tensor<2x16x8xf32>) -> tensor<32x8xf32>
  %5 = "stablehlo.rsqrt"(%4) : (tensor<32x8xf32>) -> tensor<32x8xf32>
  %6 = "stablehlo.divide"(%5, %0) : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %7 = "stablehlo.tanh"(%6) : (tensor<32x8xf32>) -> tensor<32x8xf32>
  %8 = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %9 = "stablehlo.reduce"(%7, %8) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %27 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%27) : (tensor<f32>) -> ()
  }) : (tensor<32x8xf32>, tensor<f32>) -> tensor<8xf32>
  %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64: 0>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %27 = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%27) : (tensor<f32>) -> ()
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x8xf32>
  %13 = "stablehlo.subtract"(%12, %7) : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %14 = "stablehlo.subtract"(%13, %0) : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %15 = "stablehlo.exponential"(%4) : (tensor<32x8xf32>) -> tensor<32x8xf32>
  %16 = "stablehlo.multiply"(%14, %15) : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %17 = "stablehlo.reshape"(%16) : (tensor<32x8xf32>) -> tensor<2x16x8xf32>
  %18 = "stablehlo.maximum"(%17, %3) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %19 = "stablehlo.maximum"(%18, %2) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  %20 = "stablehlo.reshape"(%19) : (tensor<2x16x8xf32>) -> tensor<32x8xf32>
  %21 = "stablehlo.maximum"(%20, %1) : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %22 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<32x8xf32>) -> tensor<8x32xf32>
  %23 = "stablehlo.dot_general"(%22, %21) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<8x8xf32>
  %24 = "stablehlo.subtract"(%arg1, %23) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %25 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %26 = "stablehlo.dot_general"(%21, %25) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<32x8xf32>, tensor<8x8xf32>) -> tensor<32x8xf32>
  return %11, %24, %26 : tensor<f32>, tensor<8x8xf32>, tensor<32x8xf32>
}
