// RUN: remat-opt %s --remat-set-workspace | FileCheck %s
// RUN: remat-opt %s --remat-set-workspace --remat-print-memory -o %t 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: remat-opt %s --remat-cpu-pipeline -o %t

// Convolutions need some, products of f32 none, and other operations neither.
// CHECK-LABEL: func @step(
func.func @step(%x: tensor<2x10x10x4xf32>, %w: tensor<3x3x4x8xf32>, %y: tensor<2x8x8x8xf32>,
                %m: tensor<8x8xf32>, %h: tensor<8x8xbf16>)
    -> (tensor<2x8x8x8xf32>, tensor<8x8xf32>, tensor<8x8xbf16>, tensor<8x8xf32>) {
  // CHECK: linalg.conv_2d_nhwc_hwcf {{{.*}}remat.workspace = {{[1-9][0-9]*}} : i64{{.*}}}
  %0 = linalg.conv_2d_nhwc_hwcf
      {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x10x10x4xf32>, tensor<3x3x4x8xf32>) outs(%y : tensor<2x8x8x8xf32>)
      -> tensor<2x8x8x8xf32>
  // CHECK-NOT: remat.workspace
  // CHECK: linalg.matmul
  %1 = linalg.matmul ins(%m, %m : tensor<8x8xf32>, tensor<8x8xf32>) outs(%m : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  // All three operands in f32.
  // CHECK: linalg.matmul {remat.workspace = 768 : i64}
  %2 = linalg.matmul ins(%h, %h : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%h : tensor<8x8xbf16>)
      -> tensor<8x8xbf16>
  // CHECK-NOT: remat.workspace
  %3 = linalg.exp ins(%m : tensor<8x8xf32>) outs(%m : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<2x8x8x8xf32>, tensor<8x8xf32>, tensor<8x8xbf16>, tensor<8x8xf32>
}
// MEMORY: live at the peak, 'linalg.conv_2d_nhwc_hwcf'
// MEMORY: {{[1-9][0-9]*}} {{.*}} workspace
