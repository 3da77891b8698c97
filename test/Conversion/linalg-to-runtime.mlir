// RUN: remat-opt %s --remat-linalg-to-runtime --split-input-file | FileCheck %s

// A product with a transposed operand: strides say so. Sizes come first.
// CHECK: func.func private @rematMatmulF32(
// CHECK-LABEL: func @transposed(
// CHECK-SAME:    %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<2x8xf32>, %[[C:.*]]: memref<4x2xf32>)
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @transposed(%a: memref<4x8xf32>, %b: memref<2x8xf32>, %c: memref<4x2xf32>) {
  // CHECK-DAG: memref.extract_aligned_pointer_as_index %[[A]]
  // CHECK-DAG: memref.extract_aligned_pointer_as_index %[[B]]
  // CHECK-DAG: memref.extract_aligned_pointer_as_index %[[C]]
  // CHECK: call @rematMatmulF32({{.*}}) : (index, index, index, index, index, index, index,
  // CHECK-NOT: linalg.matmul
  linalg.matmul indexing_maps = [#a, #b, #c]
      ins(%a, %b : memref<4x8xf32>, memref<2x8xf32>) outs(%c : memref<4x2xf32>)
  return
}

// -----

// Batches, parts of buffers, f64.
// CHECK-LABEL: func @batches(
func.func @batches(%a: memref<3x4x8xf64, strided<[64, 8, 1], offset: 16>>, %b: memref<3x8x2xf64>,
                   %c: memref<3x4x2xf64>) {
  // 16 elements of 8 bytes.
  // CHECK: %[[SHIFT:.*]] = arith.constant 128 : index
  // CHECK: arith.addi %{{.*}}, %[[SHIFT]]
  // CHECK: call @rematMatmulF64(
  linalg.batch_matmul ins(%a, %b : memref<3x4x8xf64, strided<[64, 8, 1], offset: 16>>,
                                   memref<3x8x2xf64>) outs(%c : memref<3x4x2xf64>)
  return
}

// -----

// What the library does not compute stays: other types, conversions, unknown places, two
// summed dimensions.
// CHECK-LABEL: func @others(
// CHECK-NOT: call
#two = affine_map<(m, n, k, l) -> (m, k, l)>
#three = affine_map<(m, n, k, l) -> (k, l, n)>
#out = affine_map<(m, n, k, l) -> (m, n)>
func.func @others(%i: memref<4x4xi32>, %h: memref<4x4xf16>, %f: memref<4x4xf32>,
                  %d: memref<4x4xf32, strided<[4, 1], offset: ?>>, %t: memref<4x4x4xf32>) {
  // CHECK: linalg.matmul
  linalg.matmul ins(%i, %i : memref<4x4xi32>, memref<4x4xi32>) outs(%i : memref<4x4xi32>)
  // CHECK: linalg.matmul
  linalg.matmul ins(%h, %h : memref<4x4xf16>, memref<4x4xf16>) outs(%f : memref<4x4xf32>)
  // CHECK: linalg.matmul
  linalg.matmul ins(%d, %f : memref<4x4xf32, strided<[4, 1], offset: ?>>, memref<4x4xf32>)
      outs(%f : memref<4x4xf32>)
  // CHECK: linalg.generic
  linalg.generic {indexing_maps = [#two, #three, #out],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%t, %t : memref<4x4x4xf32>, memref<4x4x4xf32>) outs(%f : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
