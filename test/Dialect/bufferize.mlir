// RUN: remat-opt %s --pass-pipeline='builtin.module(empty-tensor-to-alloc-tensor,one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map})' | FileCheck %s

// The barrier vanishes without a copy, and with it the protection that is no
// longer needed: what works on memory is not merged.
// CHECK-LABEL: func @vanishes
// CHECK-NOT: remat.barrier
// CHECK-NOT: memref.copy
// CHECK-COUNT-2: memref.alloc
// CHECK-NOT: memref.alloc
func.func @vanishes(%a: tensor<4xf32> {bufferization.writable = false}, %s: index)
    -> (tensor<4xf32>, index) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b:2 = remat.barrier %0, %s after %a : tensor<4xf32>, index after tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %1 = linalg.exp ins(%b#0 : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %1, %b#1 : tensor<4xf32>, index
}

// A write to the result that would be seen through the input is a copy.
// CHECK-LABEL: func @copies_when_it_must
// CHECK: memref.copy
func.func @copies_when_it_must(%a: tensor<4xf32> {bufferization.writable = false}, %x: f32)
    -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %b = remat.barrier %a after %a : tensor<4xf32> after tensor<4xf32>
  %1 = tensor.insert %x into %b[%c0] : tensor<4xf32>
  return %1 : tensor<4xf32>
}
