// RUN: not remat-opt %s -split-input-file -remat-outline-kernels=loops=true -remat-kernels-to-gpu 2>&1 | FileCheck %s

// CHECK: error: 'linalg.exp' has loops or operands of unknown sizes, which kernels of a GPU do not have
func.func @dynamic(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// CHECK: error: 'linalg.exp' is left to the host, which cannot access the memory of a GPU
func.func @tensors(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
