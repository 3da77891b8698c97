// RUN: not remat-opt %s --allow-unregistered-dialect --remat-cpu-pipeline 2>&1 | FileCheck %s
// RUN: remat-opt %s --allow-unregistered-dialect --remat-inline | FileCheck %s --check-prefix=INLINED

// A call beside an operation with a region of which nothing is known.
// CHECK: error: 'test.add' computes with tensors, but has no form on buffers: lower it to linalg first
// INLINED:      func.func @step
// INLINED-NEXT:   math.exp
// INLINED-NEXT:   "test.reduce"
// INLINED-NOT:  @part
func.func @step(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %y = call @part(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "test.reduce"(%y, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "test.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "test.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

func.func private @part(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
