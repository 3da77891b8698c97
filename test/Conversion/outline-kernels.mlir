// RUN: remat-opt %s --remat-outline-kernels --split-input-file | FileCheck %s

// Equal operations share a kernel, with its constants inside.
// CHECK-LABEL: func @equal(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>, %[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>)
#map = affine_map<(i) -> (i)>
func.func @equal(%x: memref<8xf32>, %y: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  %two = arith.constant 2.0 : f32
  // CHECK: call @[[KERNEL:generic_kernel[^(]*]](%[[X]], %[[A]])
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : memref<8xf32>) outs(%a : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %two : f32
    linalg.yield %0 : f32
  }
  // CHECK: call @[[KERNEL]](%[[Y]], %[[B]])
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%y : memref<8xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %two : f32
    linalg.yield %0 : f32
  }
  // Other shapes, other kernels.
  // CHECK: call @[[OTHER:exp_kernel[^(]*]](
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  // CHECK: return
  return
}
// CHECK: func.func private @[[KERNEL]](%{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias})
// CHECK: arith.constant 2.0
// CHECK: linalg.generic
// CHECK: func.func private @[[OTHER]](

// -----

// In place, and parts of one buffer: nothing is known about aliases. Copies are kernels.
// CHECK-LABEL: func @aliases(
func.func @aliases(%x: memref<8xf32>) {
  // CHECK: call @[[EXP:exp_kernel[^(]*]](%{{.*}}) : (memref<8xf32>) -> ()
  linalg.exp ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
  %a = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %b = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  // CHECK: call @[[COPY:[^(]*kernel[^(]*]](%{{.*}}, %{{.*}})
  memref.copy %a, %b : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: 4>>
  return
}
// CHECK: func.func private @[[COPY]](%{{.*}}: memref<4xf32, strided<[1]>>, %{{.*}}: memref<4xf32, strided<[1], offset: 4>>)

// -----

// A view whose place is known at run time only is made inside.
// CHECK-LABEL: func @dynamic(
// CHECK-SAME:    %[[X:.*]]: memref<4x8xf32>, %[[A:.*]]: memref<8xf32>)
func.func @dynamic(%x: memref<4x8xf32>, %a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: scf.for %[[I:.*]] =
  scf.for %i = %c0 to %c4 step %c1 {
    %row = memref.subview %x[%i, 0] [1, 8] [1, 1]
        : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    // CHECK: call @[[ROW:exp_kernel[^(]*]](%[[X]], %[[I]], %[[A]])
    linalg.exp ins(%row : memref<8xf32, strided<[1], offset: ?>>) outs(%a : memref<8xf32>)
  }
  return
}
// CHECK: func.func private @[[ROW]](%[[SOURCE:.*]]: memref<4x8xf32>{{.*}}, %[[AT:.*]]: index, %{{.*}}: memref<8xf32>
// CHECK: memref.subview %[[SOURCE]][%[[AT]], 0] [1, 8] [1, 1]
