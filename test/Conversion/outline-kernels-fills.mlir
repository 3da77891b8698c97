// RUN: remat-opt %s --split-input-file --remat-outline-kernels=fills=true | FileCheck %s
// RUN: remat-opt %s --split-input-file --remat-outline-kernels | FileCheck %s --check-prefix=APART

// Both results of a reduction are filled right before it, apart from a view.
// CHECK-LABEL: func.func @sums
// CHECK:         call @generic_kernel(%arg1, %arg2, %{{.+}})
// CHECK-NOT:     call
// APART-LABEL: func.func @sums
// APART-COUNT-3: call
#rows = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(i, j) -> (i)>
func.func @sums(%x: memref<8x64xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  linalg.fill ins(%one : f32) outs(%z : memref<8xf32>)
  %half = memref.subview %x[0, 0] [8, 32] [1, 1] : memref<8x64xf32> to memref<8x32xf32, strided<[64, 1]>>
  linalg.generic {indexing_maps = [#rows, #sum, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%half : memref<8x32xf32, strided<[64, 1]>>) outs(%y, %z : memref<8xf32>, memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %a, %c : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}

// Two kernels where something comes between, the reduction reads what is filled, or it has no terms.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-7: call
// CHECK-NOT:     call
func.func @apart(%x: memref<8x64xf32>, %y: memref<8xf32>, %empty: memref<8x0xf32>, %square: memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  linalg.exp ins(%x : memref<8x64xf32>) outs(%x : memref<8x64xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<8x64xf32>) outs(%y : memref<8xf32>) dimensions = [1]
  %row = memref.subview %square[0, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1]>>
  linalg.fill ins(%zero : f32) outs(%row : memref<8xf32, strided<[1]>>)
  linalg.reduce { arith.addf } ins(%square : memref<8x8xf32>) outs(%row : memref<8xf32, strided<[1]>>)
      dimensions = [1]
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  linalg.reduce { arith.addf } ins(%empty : memref<8x0xf32>) outs(%y : memref<8xf32>) dimensions = [1]
  return
}
// CHECK:       func.func private @generic_kernel
// CHECK-COUNT-2: linalg.fill
// CHECK:         linalg.generic

// -----

// The last of two fills is what a result begins with.
// CHECK-LABEL: func.func @twice
// CHECK:         call @fill_kernel{{.*}}(%arg1)
// CHECK-NEXT:    call @generic_kernel{{.*}}(%arg1, %arg0)
// CHECK-NEXT:    return
func.func @twice(%x: memref<8x64xf32>, %y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%one : f32) outs(%y : memref<8xf32>)
  linalg.fill ins(%zero : f32) outs(%y : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x64xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}
