// RUN: remat-opt %s -split-input-file --remat-split-reductions | FileCheck %s
// RUN: remat-opt %s -split-input-file --remat-fit-arena="libraries=gpu" | FileCheck %s --check-prefix=ARENA
// RUN: remat-opt %s -split-input-file --remat-fit-arena | FileCheck %s --check-prefix=WHOLE

// A full sum: 256 parts. The arena has room for their sums besides the result.
// CHECK-LABEL: func.func @all
// CHECK:         %[[X:.+]] = tensor.expand_shape %{{.+}} {{\[\[}}0, 1]] output_shape [256, 8192]
// CHECK:         %[[START:.+]] = arith.constant dense<0.000000e+00> : tensor<256xf32>
// CHECK:         %[[PARTS:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<256x8192xf32>) outs(%[[START]]
// CHECK:           math.exp
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.+}} iterator_types = ["reduction"]} ins(%[[PARTS]] : tensor<256xf32>) outs(%{{.+}} : tensor<f32>)
// CHECK-NOT:       math.exp
// CHECK:           arith.addf %{{.+}}, %{{.+}} : f32
// ARENA-LABEL: func.func @all
// ARENA-SAME:    memref<1088xi8> {remat.arena}
// WHOLE-LABEL: func.func @all
// WHOLE-SAME:    memref<64xi8> {remat.arena}
func.func @all(%x: tensor<2097152xf32>) -> tensor<f32> {
  %init = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                         iterator_types = ["reduction"]}
      ins(%x : tensor<2097152xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// -----

// Columns, with two results and an index. 8192 terms of 768 results are eight parts.
// CHECK-LABEL: func.func @columns
// CHECK:         %[[PARTS:.+]]:2 = linalg.generic {{.+}} iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME:      tensor<8x1024x768xf32>
// CHECK:           %[[INSIDE:.+]] = linalg.index 1
// CHECK:           %[[PART:.+]] = linalg.index 0
// CHECK:           %[[SIZE:.+]] = arith.constant 1024 : index
// CHECK:           %[[FIRST:.+]] = arith.muli %[[PART]], %[[SIZE]]
// CHECK:           arith.addi %[[FIRST]], %[[INSIDE]]
// CHECK:         linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%[[PARTS]]#0, %[[PARTS]]#1 : tensor<8x768xf32>, tensor<8x768xi32>)
// CHECK:           arith.maximumf
// CHECK:           arith.addi
func.func @columns(%x: tensor<8192x768xf32>, %y: tensor<768xf32>, %z: tensor<768xi32>)
    -> (tensor<768xf32>, tensor<768xi32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                          affine_map<(i, j) -> (j)>],
                         iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8192x768xf32>) outs(%y, %z : tensor<768xf32>, tensor<768xi32>) {
  ^bb0(%a: f32, %b: f32, %c: i32):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i32
    %1 = arith.maximumf %b, %a : f32
    %2 = arith.addi %c, %number : i32
    linalg.yield %1, %2 : f32, i32
  } -> (tensor<768xf32>, tensor<768xi32>)
  return %0#0, %0#1 : tensor<768xf32>, tensor<768xi32>
}

// -----

// A whole loop as the parts: neighbours in memory stay together.
// CHECK-LABEL: func.func @several
// CHECK:         linalg.generic {{.+}} ins(%{{.+}} : tensor<7x128x1x2048xf32>) outs(%{{.+}} : tensor<128xf32>)
func.func @several(%x: tensor<7x128x2048xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>,
                                        affine_map<(i, j, k) -> ()>],
                       iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<7x128x2048xf32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// As they are: few terms, many results, a number of terms that has no good divisor, what is
// no sum, and what has attributes of its own.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     tensor.expand_shape
func.func @whole(%x: tensor<524288xf32>, %y: tensor<512x4096xf32>, %z: tensor<2097143xf32>,
                 %w: tensor<2097152xf32>, %init: tensor<f32>, %inits: tensor<512xf32>)
    -> (tensor<f32>, tensor<512xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : tensor<524288xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.addf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<512x4096xf32>) outs(%inits : tensor<512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.addf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<512xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%z : tensor<2097143xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.addf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%w : tensor<2097152xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.subf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%w : tensor<2097152xf32>) outs(%init : tensor<f32>) attrs = {remat.recomputable = false} {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.addf %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<512xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}
