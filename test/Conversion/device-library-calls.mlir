// RUN: remat-opt %s --remat-set-workspace=libraries=gpu | FileCheck %s --check-prefix=WORKSPACE
// RUN: remat-opt %s --remat-fit-arena="libraries=gpu alignment=256B" | FileCheck %s
// RUN: remat-opt %s --remat-fit-arena="libraries=gpu-tf32 alignment=256B" | FileCheck %s --check-prefix=TF32

// What cuBLASLt and cuDNN take is called by other names, with workspace that follows from the
// shape; what they do not take is left to be a kernel.

// WORKSPACE-LABEL: func @step(
// CHECK-LABEL: func @step(
func.func @step(%x: tensor<2x10x10x4xf32>, %w: tensor<3x3x4x8xf32>, %y: tensor<2x8x8x8xf32>,
                %m: tensor<8x8xf32>, %h: tensor<8x8xbf16>,
                %l: tensor<8x512xf32>, %k: tensor<512x8xf32>)
    -> (tensor<2x8x8x8xf32>, tensor<8x8xf32>, tensor<8x8xbf16>, tensor<8x8xf32>) {
  // WORKSPACE: linalg.conv_2d_nhwc_hwcf {{{.*}}remat.workspace = {{[1-9][0-9]*}} : i64{{.*}}}
  // CHECK: remat.library_call "rematDeviceConvolution" [3, 3, 3, 2,
  // TF32: remat.library_call "rematDeviceConvolution" [5, 5, 3, 2,
  %0 = linalg.conv_2d_nhwc_hwcf
      {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x10x10x4xf32>, tensor<3x3x4x8xf32>) outs(%y : tensor<2x8x8x8xf32>)
      -> tensor<2x8x8x8xf32>
  // WORKSPACE: linalg.matmul {remat.workspace = 256 : i64}
  // CHECK: remat.library_call "rematDeviceMatmul" [3, 3, 3,
  // TF32: remat.library_call "rematDeviceMatmul" [5, 5, 3,
  %1 = linalg.matmul ins(%l, %k : tensor<8x512xf32>, tensor<512x8xf32>)
      outs(%m : tensor<8x8xf32>) -> tensor<8x8xf32>
  // Few terms.
  // WORKSPACE: linalg.matmul ins
  // CHECK: remat.library_call "rematDeviceMatmul" [2, 2, 2,
  // TF32: remat.library_call "rematDeviceMatmul" [2, 2, 2,
  %2 = linalg.matmul ins(%h, %h : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%h : tensor<8x8xbf16>)
      -> tensor<8x8xbf16>
  // Operands of two types.
  // WORKSPACE: linalg.matmul ins
  // CHECK: linalg.matmul ins
  // TF32: linalg.matmul ins
  %3 = linalg.matmul ins(%m, %h : tensor<8x8xf32>, tensor<8x8xbf16>) outs(%m : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<2x8x8x8xf32>, tensor<8x8xf32>, tensor<8x8xbf16>, tensor<8x8xf32>
}

// A product with a constant reads a copy, which a kernel makes: the constant is on the host.
// WORKSPACE-LABEL: func @constant(
// WORKSPACE:         %[[COPY:.*]] = linalg.copy ins(%{{.*}} : tensor<3x3xf32>)
// WORKSPACE:         linalg.matmul ins(%{{.*}}, %[[COPY]] : tensor<2x3xf32>, tensor<3x3xf32>)
// CHECK-LABEL: func @constant(
// CHECK:         %[[GLOBAL:.*]] = memref.get_global
// CHECK:         linalg.copy ins(%[[GLOBAL]] : memref<3x3xf32>) outs(%[[COPY:.*]] : memref<3x3xf32>)
// CHECK:         remat.library_call "rematDeviceMatmul"
// CHECK-SAME:      ins(%{{.*}}, %[[COPY]] : memref<2x3xf32>, memref<3x3xf32>)
func.func @constant(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%y : tensor<2x3xf32>)
      -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// What it begins with is written to its buffer anyway.
// WORKSPACE-LABEL: func @start(
// WORKSPACE-NOT:     linalg.copy
// WORKSPACE:         return
func.func @start(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> tensor<2x3xf32> {
  %y = arith.constant dense<0.0> : tensor<2x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%y : tensor<2x3xf32>)
      -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
