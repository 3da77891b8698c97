// RUN: remat-opt %s -split-input-file -remat-outline-kernels=loops=true -remat-kernels-to-gpu | FileCheck %s

// A block loads a tile of 32 rows along them, and stores along what were columns. There are 3 x 2 x 2 tiles,
// some of which stick out: all threads come to the barrier.
// CHECK-LABEL: func.func @transposed
// CHECK:         arith.constant 12 : index
// CHECK:         gpu.launch_func
// CHECK-LABEL: gpu.func @generic_kernel
// CHECK-SAME:    (%[[X:.+]]: memref<3x40x64xf32> {{.*}}, %[[SCALE:.+]]: memref<64xf32> {{.*}}, %[[Y:.+]]: memref<3x64x40xf32> {{.*}}) workgroup(%[[TILE:.+]] : memref<32x33xf32, #gpu.address_space<workgroup>>)
// CHECK:         %[[LANE:.+]] = arith.remui
// CHECK:         %[[WARP:.+]] = arith.divui
// CHECK:         scf.for %[[STEP:.+]] =
// CHECK:           %[[OFFSET:.+]] = arith.muli %[[STEP]]
// CHECK:           %[[ROW:.+]] = arith.addi %[[WARP]], %[[OFFSET]]
// CHECK:           %[[COLUMN:.+]] = arith.addi %{{.+}}, %[[LANE]]
// CHECK:           %[[PLACE:.+]] = arith.addi %{{.+}}, %[[ROW]]
// CHECK:           %[[INSIDE:.+]] = arith.cmpi ult, %[[PLACE]], %c40
// CHECK:           scf.if %[[INSIDE]] {
// CHECK:             %[[LOADED:.+]] = memref.load %[[X]][%{{.+}}, %[[PLACE]], %[[COLUMN]]]
// CHECK:             memref.store %[[LOADED]], %[[TILE]][%[[ROW]], %[[LANE]]]
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:           %[[ROW:.+]] = arith.addi %[[WARP]]
// CHECK:           scf.if
// CHECK-DAG:         memref.load %[[TILE]][%[[LANE]], %[[ROW]]]
// CHECK-DAG:         memref.load %[[SCALE]]
// CHECK:             memref.store {{.+}}, %[[Y]]
// CHECK-NOT:     gpu.barrier
func.func @transposed(%x: memref<3x40x64xf32>, %scale: memref<64xf32>, %y: memref<3x64x40xf32>) {
  linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, j, i)>, affine_map<(b, i, j) -> (i)>,
                                   affine_map<(b, i, j) -> (b, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %scale : memref<3x40x64xf32>, memref<64xf32>) outs(%y : memref<3x64x40xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The same where most operands are in the order of the transposed ones: results decide. Two operands share
// the tile; one that is not transposed is read as it is.
// CHECK-LABEL: gpu.func @generic_kernel
// CHECK-SAME:    memref<32x33xf32, #gpu.address_space<workgroup>>, %{{.+}} : memref<32x33xbf16, #gpu.address_space<workgroup>>)
// CHECK:         memref.load
// CHECK:         memref.store
// CHECK:         memref.load
// CHECK:         memref.store
// CHECK:         gpu.barrier
func.func @several(%x: memref<64x64xf32>, %y: memref<64x64xbf16>, %z: memref<64x64xf32>,
                   %result: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j, i)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %z : memref<64x64xf32>, memref<64x64xbf16>, memref<64x64xf32>)
      outs(%result : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: bf16, %c: f32, %out: f32):
    %0 = arith.extf %b : bf16 to f32
    %1 = arith.addf %a, %0 : f32
    %2 = arith.addf %1, %c : f32
    linalg.yield %2 : f32
  }
  return
}

// -----

// Short loops, and elements that are not far apart, need no tiles.
// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT:     workgroup
func.func @short(%x: memref<64x15xf32>, %y: memref<15x64xf32>, %z: memref<64x16xf32>,
                 %w: memref<16x64xf32>) {
  linalg.transpose ins(%x : memref<64x15xf32>) outs(%y : memref<15x64xf32>) permutation = [1, 0]
  linalg.transpose ins(%z : memref<64x16xf32>) outs(%w : memref<16x64xf32>) permutation = [1, 0]
  return
}
