// RUN: remat-opt %s --remat-cpu-pipeline | FileCheck %s

// Private functions become a part of the step before it is planned.
// CHECK-NOT: @layer
// CHECK: llvm.func @step(
// CHECK-NOT: @layer
func.func private @layer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = math.tanh %x : tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = call @layer(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = call @layer(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
