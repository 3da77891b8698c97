// RUN: remat-opt %s --remat-schedule-kernels --canonicalize --cse --split-input-file | FileCheck %s

// Two dimensions that are as good as one, in parts that threads take. The arguments of the part
// are those of the kernel.
// CHECK-LABEL: func private @big_part(
// CHECK-SAME:    %[[I:.*]]: index, %[[X:.*]]: memref<3145728xf32> {llvm.noalias}, %[[Y:.*]]: memref<3145728xf32> {llvm.noalias})
// CHECK:         memref.subview %[[X]][%[[I]]]
// CHECK:         memref.subview %[[Y]][%[[I]]]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK-LABEL: func private @big(
// CHECK-DAG:     memref.collapse_shape
// CHECK:         scf.parallel (%[[I:.*]]) = (%c0) to (%c3145728)
// CHECK-NEXT:      call @big_part(%[[I]], %{{.*}}, %{{.*}})
func.func private @big(%x: memref<4096x768xf32> {llvm.noalias}, %y: memref<4096x768xf32> {llvm.noalias}) {
  linalg.exp ins(%x : memref<4096x768xf32>) outs(%y : memref<4096x768xf32>)
  return
}

// In place: one view, and one argument, which may alias whatever the caller's does.
// CHECK-LABEL: func private @in_place_part(
// CHECK-SAME:    %{{.*}}: index, %{{.*}}: memref<3145728xf32>)
func.func private @in_place(%x: memref<4096x768xf32>) {
  linalg.exp ins(%x : memref<4096x768xf32>) outs(%x : memref<4096x768xf32>)
  return
}

// -----

// Little work is done at once.
// CHECK-LABEL: func private @small(
// CHECK-NOT:     scf.parallel
// CHECK:         linalg.generic
func.func private @small(%x: memref<16x768xf32>, %y: memref<16x768xf32>) {
  linalg.exp ins(%x : memref<16x768xf32>) outs(%y : memref<16x768xf32>)
  return
}

// -----

// Neighbours inside, and reductions inside parallel loops but for those. The sum of all is not split.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func private @columns(
// CHECK:         linalg.generic {indexing_maps = [#[[ROWS]], #[[COLUMN]]], iterator_types = ["reduction", "parallel"]}
func.func private @columns(%x: memref<64x96xf32>, %y: memref<96xf32>) {
  linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x96xf32>) outs(%y : memref<96xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: func private @all(
// CHECK-NOT:     scf.parallel
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]
func.func private @all(%x: memref<4096x768xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
                  iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<4096x768xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// Long rows of sums stay in the cache.
// CHECK-LABEL: func private @long_columns(
// CHECK:         scf.for %{{.*}} = %c0 to %c8192 step %c4096
// CHECK:           linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
func.func private @long_columns(%x: memref<16x8192xf32>, %y: memref<8192xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<16x8192xf32>) outs(%y : memref<8192xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A loop whose index is needed stays one of its own; loops of one iteration go.
// CHECK-LABEL: func private @index(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK:           linalg.index 0
func.func private @index(%x: memref<8x1x16xf32>, %y: memref<8x1x16xindex>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<8x1x16xf32>) outs(%y : memref<8x1x16xindex>) {
  ^bb0(%in: f32, %out: index):
    %0 = linalg.index 0 : index
    linalg.yield %0 : index
  }
  return
}

// -----

// Tiles are transposed in registers, here two by two; what does not fill them is computed from where it is.
// CHECK-LABEL: func private @transpose(
// CHECK-SAME:    %[[X:.*]]: memref<40x33xf32>, %[[Y:.*]]: memref<33x40xf32>)
// CHECK:         %[[TILE:.*]] = memref.alloca() : memref<16x16xf32>
// CHECK:         scf.for
// CHECK-COUNT-16: vector.load %{{.*}} : memref<16x16xf32, strided<[33, 1], offset: ?>>, vector<16xf32>
// CHECK:         vector.shuffle
// CHECK-COUNT-16: vector.store %{{.*}}, %[[TILE]]
// CHECK:         linalg.generic {{.*}} ins(%[[TILE]] : memref<16x16xf32>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : memref<{{.*}}8
// CHECK-NOT:     vector.shuffle
func.func private @transpose(%x: memref<40x33xf32>, %y: memref<33x40xf32>) {
  linalg.transpose ins(%x : memref<40x33xf32>) outs(%y : memref<33x40xf32>) permutation = [1, 0]
  return
}

// -----

// Nothing, and nothing to order.
// CHECK-LABEL: func private @empty(
// CHECK-NOT:     scf.parallel
// CHECK:         linalg.generic {{.*}} iterator_types = []
func.func private @empty(%x: memref<0x16xf32>, %y: memref<0x16xf32>, %a: memref<f32>) {
  linalg.exp ins(%x : memref<0x16xf32>) outs(%y : memref<0x16xf32>)
  linalg.exp ins(%a : memref<f32>) outs(%a : memref<f32>)
  return
}
