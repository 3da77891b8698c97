// RUN: remat-opt %s -remat-outline-kernels=loops=true -remat-kernels-to-gpu -remat-launch-on-stream | FileCheck %s

// All launches of a function are on one stream, those in loops too, and public functions wait.

// CHECK-LABEL: func.func @step(
// CHECK-NEXT:    %[[STREAM:.*]] = gpu.wait async
// CHECK:         gpu.launch_func async [%[[STREAM]]] @kernels::@exp_kernel
// CHECK:         scf.for
// CHECK:           gpu.launch_func async [%[[STREAM]]] @kernels::@exp_kernel
// CHECK:         call @part(
// CHECK-NEXT:    call @rematDeviceWait() : () -> ()
// CHECK-NEXT:    return
func.func @step(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) {
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%y : memref<8xf32>) outs(%x : memref<8xf32>)
  }
  call @part(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @part(
// CHECK-NEXT:    %[[STREAM:.*]] = gpu.wait async
// CHECK:         gpu.launch_func async [%[[STREAM]]] @kernels::@tanh_kernel
// CHECK-NEXT:    return
func.func private @part(%x: memref<8xf32>, %y: memref<8xf32>) {
  linalg.tanh ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    call @rematDeviceWait() : () -> ()
// CHECK-NEXT:    return
func.func @nothing() {
  return
}

// CHECK: func.func private @rematDeviceWait()
