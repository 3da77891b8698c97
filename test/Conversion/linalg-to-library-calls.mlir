// RUN: remat-opt %s --remat-linalg-to-library-calls --split-input-file | FileCheck %s

// A product with a transposed operand: strides say so. First the types, then outer sizes, rows,
// columns and the size that is summed over.
// CHECK-LABEL: func @transposed(
// CHECK-SAME:    %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<2x8xf32>, %[[C:.*]]: memref<4x2xf32>)
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @transposed(%a: memref<4x8xf32>, %b: memref<2x8xf32>, %c: memref<4x2xf32>) {
  // CHECK-NEXT: remat.library_call "rematMatmul" [3, 3, 3, 1, 1, 1, 1, 4, 2, 8,
  // CHECK-SAME:   0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0, 2, 1]
  // CHECK-SAME:   ins(%[[A]], %[[B]] : memref<4x8xf32>, memref<2x8xf32>)
  // CHECK-SAME:   outs(%[[C]] : memref<4x2xf32>)
  // CHECK-NEXT: return
  linalg.matmul indexing_maps = [#a, #b, #c]
      ins(%a, %b : memref<4x8xf32>, memref<2x8xf32>) outs(%c : memref<4x2xf32>)
  return
}

// -----

// Batches, parts of buffers, offsets that are not known.
// CHECK-LABEL: func @batches(
func.func @batches(%a: memref<3x4x8xf64, strided<[64, 8, 1], offset: ?>>, %b: memref<3x8x2xf64>,
                   %c: memref<3x4x2xf64>) {
  // CHECK: "rematMatmul" [4, 4, 4, 3, 1, 1, 1, 4, 2, 8, 64, 0, 0, 0, 8, 1, 16, 0, 0, 0, 2, 1, 8,
  linalg.batch_matmul ins(%a, %b : memref<3x4x8xf64, strided<[64, 8, 1], offset: ?>>,
                                   memref<3x8x2xf64>) outs(%c : memref<3x4x2xf64>)
  return
}

// -----

// Two dimensions that are one after the other in both operands are one. Those of rows are not one
// in the result: the larger one has the rows, and there is a product for each index of the other.
// CHECK-LABEL: func @contraction(
#two = affine_map<(l, m, n, k, j) -> (l, m, k, j)>
#three = affine_map<(l, m, n, k, j) -> (k, j, n)>
#out = affine_map<(l, m, n, k, j) -> (m, n, l)>
func.func @contraction(%a: memref<2x3x4x5xf32>, %b: memref<4x5x6xf32>, %c: memref<3x6x2xf32>) {
  // CHECK: "rematMatmul" [3, 3, 3, 2, 1, 1, 1, 3, 6, 20, 60, 0, 0, 0, 20, 1, 0, 0, 0, 0, 6, 1,
  // CHECK-SAME: 1, 0, 0, 0, 12, 2]
  // Neither rows nor columns of the result are contiguous: a tile of it is in the workspace.
  // CHECK-SAME: workspace(%{{.*}} : memref<128xi8>)
  linalg.generic {indexing_maps = [#two, #three, #out],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<2x3x4x5xf32>, memref<4x5x6xf32>) outs(%c : memref<3x6x2xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Half precision, with sums in f32 or in a type that is less precise; truth values. What has to be
// converted is in the workspace: 4 * 8, 8 * 2 or 4 * 2 elements of f32, in multiples of 64 bytes.
// CHECK-LABEL: func @types(
func.func @types(%f16: memref<4x8xf16>, %bf16: memref<8x2xbf16>, %i1: memref<8x2xi1>,
                 %f32: memref<4x2xf32>, %out: memref<4x2xbf16>, %left: memref<4x8xbf16>) {
  // CHECK: memref.alloc() : memref<192xi8>
  // CHECK: "rematMatmul" [1, 2, 3, {{.*}} workspace(%{{.*}} : memref<192xi8>)
  linalg.matmul ins(%f16, %bf16 : memref<4x8xf16>, memref<8x2xbf16>) outs(%f32 : memref<4x2xf32>)
  // CHECK: "rematMatmul" [2, 2, 2, {{.*}} workspace(%{{.*}} : memref<256xi8>)
  linalg.matmul ins(%left, %bf16 : memref<4x8xbf16>, memref<8x2xbf16>) outs(%out : memref<4x2xbf16>)
  // CHECK: "rematMatmul" [1, 0, 3, {{.*}} workspace(%{{.*}} : memref<192xi8>)
  linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
      ins(%f16, %i1 : memref<4x8xf16>, memref<8x2xi1>) outs(%f32 : memref<4x2xf32>)
  return
}

// -----

// Nothing to add, nowhere to add it to.
// CHECK-LABEL: func @empty(
func.func @empty(%a: memref<4x0xf32>, %b: memref<0x2xf32>, %c: memref<4x2xf32>,
                 %d: memref<2x0xf32>, %e: memref<4x0xf32>) {
  // CHECK: "rematMatmul" [3, 3, 3, 1, 1, 1, 1, 4, 2, 0,
  linalg.matmul ins(%a, %b : memref<4x0xf32>, memref<0x2xf32>) outs(%c : memref<4x2xf32>)
  // CHECK: "rematMatmul" [3, 3, 3, 1, 1, 1, 1, 4, 0, 2,
  linalg.matmul ins(%c, %d : memref<4x2xf32>, memref<2x0xf32>) outs(%e : memref<4x0xf32>)
  return
}

// -----

// A convolution with channels last. First the types; then the number of spatial dimensions, batch,
// groups, channels of the input and of the output; then sizes of input, window and output; then
// strides and dilations of the window.
// CHECK-LABEL: func @channels_last(
func.func @channels_last(%x: memref<2x9x11x4xf32>, %w: memref<3x3x4x8xf32>,
                         %y: memref<2x4x7x8xf32>) {
  // CHECK: %[[WORKSPACE:.*]] = memref.alloc() : memref<[[BYTES:.*]]xi8>
  // CHECK: remat.library_call "rematConvolution" [3, 3, 3, 2, 2, 1, 4, 8,
  // CHECK-SAME: 9, 11, 1, 3, 3, 1, 4, 7, 1, 2, 1, 1, 1, 2, 1,
  // CHECK-SAME: 396, 1, 44, 4, 0, 0, 1, 8, 96, 32, 0, 224, 1, 56, 8, 0]
  // CHECK-SAME: workspace(%[[WORKSPACE]] : memref<[[BYTES]]xi8>)
  linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 2]> : tensor<2xi64>,
                            strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%x, %w : memref<2x9x11x4xf32>, memref<3x3x4x8xf32>) outs(%y : memref<2x4x7x8xf32>)
  return
}

// -----

// Channels first; a window for each channel; groups; one dimension; three of them.
// CHECK-LABEL: func @kinds(
func.func @kinds(%x: memref<2x4x8x8xf32>, %w: memref<6x4x3x3xf32>, %y: memref<2x6x6x6xf32>,
                 %dx: memref<2x8x8x4xf32>, %dw: memref<3x3x4xf32>, %dy: memref<2x6x6x4xf32>,
                 %gx: memref<2x2x4x8x8xf32>, %gw: memref<2x6x4x3x3xf32>, %gy: memref<2x2x6x6x6xf32>,
                 %lx: memref<8xf32>, %lw: memref<3xf32>, %ly: memref<6xf32>,
                 %vx: memref<1x4x4x4x2xf32>, %vw: memref<3x3x3x2x5xf32>, %vy: memref<1x2x2x2x5xf32>) {
  // CHECK: "rematConvolution" [3, 3, 3, 2, 2, 1, 4, 6, {{.*}} 256, 64, 8, 1, 0, 0, 36, 9, 3, 1, 0, 216, 36, 6, 1, 0]
  linalg.conv_2d_nchw_fchw ins(%x, %w : memref<2x4x8x8xf32>, memref<6x4x3x3xf32>)
      outs(%y : memref<2x6x6x6xf32>)
  // CHECK: "rematConvolution" [3, 3, 3, 2, 2, 4, 1, 1, {{.*}} 256, 1, 32, 4, 0, 1, 0, 0, 12, 4, 0, 144, 1, 24, 4, 0]
  linalg.depthwise_conv_2d_nhwc_hwc ins(%dx, %dw : memref<2x8x8x4xf32>, memref<3x3x4xf32>)
      outs(%dy : memref<2x6x6x4xf32>)
  // CHECK: "rematConvolution" [3, 3, 3, 2, 2, 2, 4, 6, {{.*}} 512, 64, 8, 1, 0, 216, 36, 9, 3, 1, 0, 432, 36, 6, 1, 0]
  linalg.conv_2d_ngchw_gfchw ins(%gx, %gw : memref<2x2x4x8x8xf32>, memref<2x6x4x3x3xf32>)
      outs(%gy : memref<2x2x6x6x6xf32>)
  // CHECK: "rematConvolution" [3, 3, 3, 1, 1, 1, 1, 1, 8, 1, 1, 3, 1, 1, 6, 1, 1,
  linalg.conv_1d ins(%lx, %lw : memref<8xf32>, memref<3xf32>) outs(%ly : memref<6xf32>)
  // CHECK: "rematConvolution" [3, 3, 3, 3, 1, 1, 2, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2,
  linalg.conv_3d_ndhwc_dhwcf ins(%vx, %vw : memref<1x4x4x4x2xf32>, memref<3x3x3x2x5xf32>)
      outs(%vy : memref<1x2x2x2x5xf32>)
  return
}

// -----

// In general form, with the dimensions of the window the other way round.
// CHECK-LABEL: func @general(
#x = affine_map<(n, h, w, f, kw, kh, c) -> (n, h * 2 + kh, w + kw * 3, c)>
#w = affine_map<(n, h, w, f, kw, kh, c) -> (f, kw, kh, c)>
#y = affine_map<(n, h, w, f, kw, kh, c) -> (n, f, h, w)>
func.func @general(%x: memref<1x8x8x4xf32>, %w: memref<5x2x4x4xf32>, %y: memref<1x5x3x5xf32>) {
  // CHECK: "rematConvolution" [3, 3, 3, 2, 1, 1, 4, 5, 8, 8, 1, 4, 2, 1, 3, 5, 1, 2, 1, 1, 1, 3, 1,
  // CHECK-SAME: 0, 1, 32, 4, 0, 0, 32, 1, 4, 16, 0, 0, 15, 5, 1, 0]
  linalg.generic {indexing_maps = [#x, #w, #y],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction",
                                    "reduction", "reduction"]}
      ins(%x, %w : memref<1x8x8x4xf32>, memref<5x2x4x4xf32>) outs(%y : memref<1x5x3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What the library does not compute stays: integers, mixed sums, strides that are not known, a
// result that is an input, other bodies, a convolution of f64, a pooling.
// CHECK-LABEL: func @others(
// CHECK-NOT: library_call
func.func @others(%i: memref<4x4xi32>, %f: memref<4x4xf32>, %g: memref<4x4xf32>, %e: memref<4x4xf64>,
                  %d: memref<4x4xf32, strided<[?, 1]>>, %x: memref<1x4x4x1xf64>,
                  %w: memref<2x2x1x1xf64>, %y: memref<1x3x3x1xf64>, %window: memref<2x2xf64>) {
  linalg.matmul ins(%i, %i : memref<4x4xi32>, memref<4x4xi32>) outs(%i : memref<4x4xi32>)
  linalg.matmul ins(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%e : memref<4x4xf64>)
  linalg.matmul ins(%d, %f : memref<4x4xf32, strided<[?, 1]>>, memref<4x4xf32>)
      outs(%g : memref<4x4xf32>)
  linalg.matmul ins(%f, %g : memref<4x4xf32>, memref<4x4xf32>) outs(%g : memref<4x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%f, %f : memref<4x4xf32>, memref<4x4xf32>) outs(%g : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.subf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.conv_2d_nhwc_hwcf ins(%x, %w : memref<1x4x4x1xf64>, memref<2x2x1x1xf64>)
      outs(%y : memref<1x3x3x1xf64>)
  linalg.pooling_nhwc_sum ins(%x, %window : memref<1x4x4x1xf64>, memref<2x2xf64>)
      outs(%y : memref<1x3x3x1xf64>)
  // CHECK: return
  return
}

// -----

// What is like a convolution, but for the place of one dimension, is none: a stride of a loop
// that is no window's, a constant, a diagonal, and loops that an operand does not depend on.
// CHECK-LABEL: func @almost
// CHECK-NOT:     remat.library_call
// CHECK:         return
func.func @almost(%x: memref<2x7x6xf32>, %y: memref<2x3xf32>, %v: memref<3xf32>,
                  %z: memref<7x3xf32>, %u: memref<2x2x6xf32>, %r: memref<2x3x4xf32>, %s: memref<4xf32>, %t: memref<3x4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(c, o, p, k) -> (c, o * 3, p + k)>,
                                   affine_map<(c, o, p, k) -> (c, k)>,
                                   affine_map<(c, o, p, k) -> (c, o, p)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<2x7x6xf32>, memref<2x3xf32>) outs(%r : memref<2x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(p, k, c) -> (1, c, p + k)>,
                                   affine_map<(p, k, c) -> (c, k)>, affine_map<(p, k, c) -> (p)>],
                  iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x, %z : memref<2x7x6xf32>, memref<7x3xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(p, k, c) -> (c, c, p + k)>,
                                   affine_map<(p, k, c) -> (k)>, affine_map<(p, k, c) -> (p)>],
                  iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%u, %v : memref<2x2x6xf32>, memref<3xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(n, p, k, c, d) -> (c, d, p + k)>,
                                   affine_map<(n, p, k, c, d) -> (c, k)>,
                                   affine_map<(n, p, k, c, d) -> (n, p)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %y : memref<2x7x6xf32>, memref<2x3xf32>) outs(%t : memref<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
