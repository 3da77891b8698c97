// RUN: remat-opt %s --remat-gpu-pipeline="chip=sm_90 format=isa" | FileCheck %s

// What a kernel loads and stores at once is one instruction of PTX: 16 bytes of f32, and of bf16.
// CHECK:     ld.global{{[.a-z]*}}.v4.b32
// CHECK-NOT: ld.global{{[.a-z]*}}.b32
// CHECK:     st.global.v4.b32
// CHECK:     ld.global{{[.a-z]*}}.v4.b32
// CHECK-NOT: ld.global{{[.a-z]*}}.b16
// CHECK:     st.global.v4.b32
func.func @step(%x: tensor<1024xf32>, %y: tensor<1024xbf16>) -> (tensor<1024xf32>, tensor<1024xbf16>) {
  %0 = tensor.empty() : tensor<1024xf32>
  %1 = linalg.abs ins(%x : tensor<1024xf32>) outs(%0 : tensor<1024xf32>) -> tensor<1024xf32>
  %2 = tensor.empty() : tensor<1024xbf16>
  %3 = linalg.negf ins(%y : tensor<1024xbf16>) outs(%2 : tensor<1024xbf16>) -> tensor<1024xbf16>
  return %1, %3 : tensor<1024xf32>, tensor<1024xbf16>
}
