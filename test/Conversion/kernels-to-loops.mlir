// RUN: remat-opt %s --remat-kernels-to-loops --canonicalize --cse --split-input-file | FileCheck %s

// Terms of a row go to 16 lanes; 35 = 2 * 16 + 3. Lanes are added to the result in the end.
// CHECK-LABEL: func @sum_of_rows(
// CHECK-SAME:    %[[X:.*]]: memref<4x35xf32>, %[[SUM:.*]]: memref<4xf32>)
#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @sum_of_rows(%x: memref<4x35xf32>, %sum: memref<4xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
  // CHECK-DAG: %[[LANES:.*]] = memref.alloca() : memref<16xf32>
  // CHECK: scf.for %[[I:.*]] = %c0 to %c4
  // CHECK:   scf.for %[[L:.*]] = %c0 to %c16
  // CHECK:     memref.store %[[ZERO]], %[[LANES]][%[[L]]]
  // CHECK:   scf.for %[[FIRST:.*]] = %c0 to %c32 step %c16
  // CHECK:     scf.for %[[L:.*]] = %c0 to %c16
  // CHECK:       %[[J:.*]] = arith.addi %[[FIRST]], %[[L]]
  // CHECK:       %[[TERM:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
  // CHECK:       %[[LANE:.*]] = memref.load %[[LANES]][%[[L]]]
  // CHECK:       %[[ADDED:.*]] = arith.addf %[[LANE]], %[[TERM]]
  // CHECK:       memref.store %[[ADDED]], %[[LANES]][%[[L]]]
  // CHECK:   scf.for %[[L:.*]] = %c0 to %c3
  // CHECK:     %[[J:.*]] = arith.addi %[[L]], %c32
  // CHECK:     memref.load %[[X]][%[[I]], %[[J]]]
  // CHECK:   %[[INIT:.*]] = memref.load %[[SUM]][%[[I]]]
  // CHECK:   %[[RESULT:.*]] = scf.for %[[L:.*]] = %c0 to %c16 step %c1 iter_args(%[[PART:.*]] = %[[INIT]])
  // CHECK:     %[[LANE:.*]] = memref.load %[[LANES]][%[[L]]]
  // CHECK:     arith.addf %[[PART]], %[[LANE]]
  // CHECK:   memref.store %[[RESULT]], %[[SUM]][%[[I]]]
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x35xf32>) outs(%sum : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Indices are those of the term; two results have lanes of their own.
// CHECK-LABEL: func @two_sums(
#in = affine_map<(i) -> (i)>
#out = affine_map<(i) -> ()>
func.func @two_sums(%x: memref<64xf32>, %a: memref<f32>, %b: memref<f32>) {
  // CHECK-COUNT-2: memref.alloca() : memref<16xf32>
  // CHECK: %[[PLACE:.*]] = arith.addi
  // CHECK: arith.index_cast %[[PLACE]] : index to i32
  linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["reduction"]}
      ins(%x : memref<64xf32>) outs(%a, %b : memref<f32>, memref<f32>) {
  ^bb0(%in: f32, %p: f32, %q: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %2, %in : f32
    %4 = arith.addf %p, %3 : f32
    %5 = arith.addf %in, %q : f32
    linalg.yield %4, %5 : f32, f32
  }
  return
}

// -----

// Four rows at a time, in their order.
// CHECK-LABEL: func @sum_of_columns(
// CHECK-SAME:    %[[X:.*]]: memref<8x64xf32>, %[[SUM:.*]]: memref<64xf32>)
#rows = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @sum_of_columns(%x: memref<8x64xf32>, %sum: memref<64xf32>) {
  // CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
  // CHECK:   scf.for %[[J:.*]] = %c0 to %c64
  // CHECK:     memref.load %[[X]][%[[I]], %[[J]]]
  // CHECK:     %[[I1:.*]] = arith.addi %[[I]], %c1
  // CHECK:     memref.load %[[X]][%[[I1]], %[[J]]]
  // CHECK:     %[[I2:.*]] = arith.addi %[[I]], %c2
  // CHECK:     memref.load %[[X]][%[[I2]], %[[J]]]
  // CHECK:     %[[I3:.*]] = arith.addi %[[I]], %c3
  // CHECK:     memref.load %[[X]][%[[I3]], %[[J]]]
  linalg.generic {indexing_maps = [#rows, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8x64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// No lanes: few terms, other types, an order that does not matter, and no sum at all.
// CHECK-LABEL: func @plain(
// CHECK-NOT: memref.alloca
// CHECK: return
#in = affine_map<(i) -> (i)>
#out = affine_map<(i) -> ()>
func.func @plain(%x: memref<31xf32>, %y: memref<64xi32>, %z: memref<64xf32>, %a: memref<f32>, %b: memref<i32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%x : memref<31xf32>) outs(%a : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%y : memref<64xi32>) outs(%b : memref<i32>) {
  ^bb0(%in: i32, %out: i32):
    %0 = arith.addi %out, %in : i32
    linalg.yield %0 : i32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%z : memref<64xf32>) outs(%a : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
      ins(%z : memref<64xf32>) outs(%a : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    %1 = math.sqrt %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Nothing is added.
// CHECK-LABEL: func @empty(
func.func @empty(%x: memref<0x4xf32>, %y: memref<4xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<0x4xf32>) outs(%y : memref<4xf32>) dimensions = [0]
  return
}
