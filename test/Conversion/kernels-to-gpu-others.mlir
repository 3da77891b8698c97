// RUN: remat-opt %s -allow-unregistered-dialect -remat-outline-kernels=loops=true -remat-kernels-to-gpu | FileCheck %s

// What is no kernel stays as it is.
// CHECK: call @inner
func.func private @inner(%x: tensor<4xf32>) {
  "test.print"(%x) : (tensor<4xf32>) -> ()
  return
}

func.func @step(%x: tensor<4xf32>) {
  call @inner(%x) : (tensor<4xf32>) -> ()
  return
}
