// RUN: remat-opt %s --remat-library-calls-to-runtime --split-input-file | FileCheck %s

// Equal calls have one shape. The function takes its address, those of the inputs, of the output
// and of the workspace, and the bytes of the workspace.
// CHECK-LABEL: func @equal(
// CHECK-SAME:    %[[A:.*]]: memref<2x2xf32>, %[[B:.*]]: memref<2x2xf32>, %[[C:.*]]: memref<2x2xf32>, %[[W:.*]]: memref<64xi8>)
func.func @equal(%a: memref<2x2xf32>, %b: memref<2x2xf32>, %c: memref<2x2xf32>,
                 %w: memref<64xi8>) {
  // CHECK: %[[GLOBAL:.*]] = memref.get_global @[[SHAPE:.*]] : memref<3xi64>
  // CHECK: %[[NUMBERS:.*]] = memref.extract_aligned_pointer_as_index %[[GLOBAL]]
  // CHECK: %[[LEFT:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
  // CHECK: %[[RIGHT:.*]] = memref.extract_aligned_pointer_as_index %[[B]]
  // CHECK: %[[OUT:.*]] = memref.extract_aligned_pointer_as_index %[[C]]
  // CHECK: %[[BYTES:.*]] = arith.constant 64 : index
  // CHECK: %[[SCRATCH:.*]] = memref.extract_aligned_pointer_as_index %[[W]]
  // CHECK: call @rematMatmul(%[[NUMBERS]], %[[LEFT]], %[[RIGHT]], %[[OUT]], %[[SCRATCH]], %[[BYTES]])
  remat.library_call "rematMatmul" [1, 2, 3] ins(%a, %b : memref<2x2xf32>, memref<2x2xf32>)
      outs(%c : memref<2x2xf32>) workspace(%w : memref<64xi8>)
  // CHECK: memref.get_global @[[SHAPE]] : memref<3xi64>
  // CHECK: %[[NONE:.*]] = arith.constant 0 : index
  // CHECK: call @rematMatmul({{.*}}, %[[NONE]], %[[NONE]])
  remat.library_call "rematMatmul" [1, 2, 3] ins(%a, %b : memref<2x2xf32>, memref<2x2xf32>)
      outs(%c : memref<2x2xf32>)
  // CHECK: memref.get_global @[[OTHER:.*]] : memref<2xi64>
  remat.library_call "rematMatmul" [4, 5] ins(%a, %b : memref<2x2xf32>, memref<2x2xf32>)
      outs(%c : memref<2x2xf32>)
  return
}
// CHECK-DAG: memref.global "private" constant @[[SHAPE]] : memref<3xi64> = dense<[1, 2, 3]>
// CHECK-DAG: memref.global "private" constant @[[OTHER]] : memref<2xi64> = dense<[4, 5]>
// CHECK-DAG: func.func private @rematMatmul(index, index, index, index, index, index)

// -----

// Parts of buffers: addresses are shifted, also by what is known at run time only.
// CHECK-LABEL: func @parts(
// CHECK-SAME:    %[[A:.*]]: memref<2x2xf64, strided<[2, 1], offset: 6>>, %[[B:.*]]: memref<2x2xbf16, strided<[2, 1], offset: ?>>
func.func @parts(%a: memref<2x2xf64, strided<[2, 1], offset: 6>>,
                 %b: memref<2x2xbf16, strided<[2, 1], offset: ?>>, %c: memref<2x2xf32>) {
  // CHECK: %[[BEGIN:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
  // CHECK: %[[SIX:.*]] = arith.constant 6 : index
  // CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
  // CHECK: %[[SHIFT:.*]] = arith.muli %[[SIX]], %[[EIGHT]]
  // CHECK: arith.addi %[[BEGIN]], %[[SHIFT]]
  // CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[B]]
  // CHECK: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK: arith.muli %[[OFFSET]], %[[TWO]]
  remat.library_call "rematMatmul" [0]
      ins(%a, %b : memref<2x2xf64, strided<[2, 1], offset: 6>>,
                   memref<2x2xbf16, strided<[2, 1], offset: ?>>)
      outs(%c : memref<2x2xf32>)
  return
}
