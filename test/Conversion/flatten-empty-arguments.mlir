// RUN: remat-opt %s -remat-flatten-empty-arguments | FileCheck %s
// RUN: remat-opt %s -remat-flatten-empty-arguments -remat-flatten-empty-arguments | FileCheck %s

// CHECK-LABEL: func @step(
// CHECK-SAME:    %[[X:.+]]: memref<0xf32>, %[[Y:.+]]: memref<0xf32>, %[[Z:.+]]: memref<3x4xf32>)
// CHECK-NEXT:    %[[S:.+]] = memref.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [3, 0] : memref<0xf32> into memref<3x0xf32>
// CHECK-NEXT:    linalg.exp ins(%[[S]] : memref<3x0xf32>)
func.func @step(%x: memref<3x0xf32>, %y: memref<0xf32>, %z: memref<3x4xf32>) {
  linalg.exp ins(%x : memref<3x0xf32>) outs(%x : memref<3x0xf32>)
  return
}

// What is called stays as its callers expect it.
// CHECK-LABEL: func private @called(%{{.*}}: memref<3x0xf32>)
func.func private @called(%x: memref<3x0xf32>) {
  return
}
func.func @caller(%x: memref<0xf32>) {
  %0 = memref.expand_shape %x [[0, 1]] output_shape [3, 0] : memref<0xf32> into memref<3x0xf32>
  call @called(%0) : (memref<3x0xf32>) -> ()
  return
}
