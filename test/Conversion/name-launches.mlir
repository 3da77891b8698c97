// RUN: remat-opt %s -remat-outline-kernels=loops=true -remat-kernels-to-gpu -remat-launch-on-stream -remat-name-launches | FileCheck %s

// CHECK-LABEL: func.func @step(
// CHECK:         %[[FIRST:.*]] = memref.get_global @remat_operation : memref<23xi8>
// CHECK-NEXT:    %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[FIRST]]
// CHECK-NEXT:    call @rematDeviceBeginOperation(%[[ADDRESS]]) : (index) -> ()
// CHECK-NEXT:    gpu.launch_func async [%{{.*}}] @kernels::@exp_kernel
// CHECK:         memref.get_global @remat_operation_0 : memref<14xi8>
// CHECK:         call @rematDeviceBeginOperation(
// CHECK-NEXT:    call @rematDeviceMatmul() : () -> ()
// CHECK:         memref.get_global @remat_operation : memref<23xi8>
// CHECK:         call @rematDeviceBeginOperation(
// CHECK-NEXT:    gpu.launch_func async [%{{.*}}] @kernels::@exp_kernel
// CHECK:         memref.get_global @remat_operation_1
// CHECK:         call @rematDeviceBeginOperation(
// CHECK-NEXT:    call @rematDeviceWait()
func.func @step(%x: memref<8xf32>, %y: memref<8xf32>) {
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>) loc("a name"("model.py":30:4))
  call @rematDeviceMatmul() : () -> () loc("model.py":31:4)
  linalg.exp ins(%y : memref<8xf32>) outs(%x : memref<8xf32>) loc("a name"("model.py":30:4))
  return
}

func.func private @rematDeviceMatmul()

// A text for each location, once.
// CHECK-DAG: memref.global "private" constant @remat_operation : memref<23xi8> = dense<[97, 32, 110, 97, 109, 101, {{.*}}, 0]>
// CHECK-DAG: memref.global "private" constant @remat_operation_0 : memref<14xi8>
// CHECK-DAG: memref.global "private" constant @remat_operation_1
