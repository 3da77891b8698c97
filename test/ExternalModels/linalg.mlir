// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

// Structured operations: the domain times the arithmetic of the body; inputs read, outputs written.

// 8 * 4 * 16 products and additions; 512 + 256 of the inputs, the accumulator read and written.
func.func @products(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %c: tensor<8x4xf32>,
                    %h: tensor<8x16xbf16>, %k: tensor<16x4xbf16>) {
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 1024 (f32), bytes = 1024, result 0: reuse of operand 2}}
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  // Conversions inside of a product are free, and its inputs give the rate.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 1024 (bf16), bytes = 640, result 0: reuse of operand 2}}
  %1 = linalg.matmul ins(%h, %k : tensor<8x16xbf16>, tensor<16x4xbf16>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// 3 * 8 * 4 * 16 * 2 flops; 1536 + 768 + 2 * 384 bytes.
func.func @batch(%a: tensor<3x8x16xf32>, %b: tensor<3x16x4xf32>, %c: tensor<3x8x4xf32>,
                 %v: tensor<16xf32>, %w: tensor<16xf32>, %s: tensor<f32>) {
  // expected-remark @+1 {{flops = 3072 (f32), bytes = 3072, result 0: reuse of operand 2}}
  %0 = linalg.batch_matmul ins(%a, %b : tensor<3x8x16xf32>, tensor<3x16x4xf32>) outs(%c : tensor<3x8x4xf32>) -> tensor<3x8x4xf32>
  // expected-remark @+1 {{flops = 32 (f32), bytes = 136, result 0: reuse of operand 2}}
  %1 = linalg.dot ins(%v, %w : tensor<16xf32>, tensor<16xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  return
}

// -----

// A product written as a generic.
#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
func.func @generic_product(%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>, %c: tensor<8x4xf32>) {
  // expected-remark @+1 {{flops = 1024 (bf16), bytes = 640, result 0: reuse of operand 2}}
  %0 = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xbf16>) outs(%c : tensor<8x4xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %1 = arith.extf %x : bf16 to f32
    %2 = arith.extf %y : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<8x4xf32>
  return
}

// -----

#map = affine_map<(i, j) -> (i, j)>
#bias = affine_map<(i, j) -> (j)>
func.func @elementwise(%a: tensor<8x16xf32>, %b: tensor<16xf32>, %o: tensor<8x16xf32>) {
  // expected-remark @+1 {{result 0: none}}
  %e = tensor.empty() : tensor<8x16xf32>
  // exp (8), division (4) and addition (1) for 128 elements; 512 + 64 read, 512 written. The
  // destination is not read.
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 1664 (f32), bytes = 1088, result 0: reuse of operand 2, unread 2}}
  %0 = linalg.generic {indexing_maps = [#map, #bias, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = math.exp %x : f32
    %2 = arith.divf %1, %y : f32
    %3 = arith.addf %2, %x : f32
    linalg.yield %3 : f32
  } -> tensor<8x16xf32>
  // expected-remark @+1 {{result 0: none}}
  %h = tensor.empty() : tensor<8x16xbf16>
  // Two results, each in its own destination; the conversion counts.
  // expected-remark @+1 {{flops = 256 (f32), bytes = 1280, result 0: reuse of operand 1, result 1: reuse of operand 2, unread 1 2}}
  %4:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x16xf32>) outs(%o, %h : tensor<8x16xf32>, tensor<8x16xbf16>) {
  ^bb0(%x: f32, %y: f32, %z: bf16):
    %5 = arith.negf %x : f32
    %6 = arith.truncf %x : f32 to bf16
    linalg.yield %5, %6 : f32, bf16
  } -> (tensor<8x16xf32>, tensor<8x16xbf16>)
  return
}

// -----

// Names for simple bodies.
func.func @named(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>, %r: tensor<8xf32>, %f: f32) {
  // expected-remark @+1 {{flops = 1024 (f32), bytes = 1024, result 0: reuse of operand 1, unread 1}}
  %0 = linalg.exp ins(%a : tensor<8x16xf32>) outs(%a : tensor<8x16xf32>) -> tensor<8x16xf32>
  // expected-remark @+1 {{flops = 0, bytes = 1024, result 0: reuse of operand 1, unread 1}}
  %1 = linalg.transpose ins(%a : tensor<8x16xf32>) outs(%b : tensor<16x8xf32>) permutation = [1, 0]
  // 32 read, 512 written.
  // expected-remark @+1 {{flops = 0, bytes = 544, result 0: reuse of operand 1, unread 1}}
  %2 = linalg.broadcast ins(%r : tensor<8xf32>) outs(%a : tensor<8x16xf32>) dimensions = [1]
  // expected-remark @+1 {{flops = 0, bytes = 1024, result 0: reuse of operand 1, unread 1}}
  %3 = linalg.copy ins(%a : tensor<8x16xf32>) outs(%a : tensor<8x16xf32>) -> tensor<8x16xf32>
  // Only the result moves.
  // expected-remark @+1 {{flops = 0, bytes = 512, result 0: reuse of operand 1, unread 1}}
  %4 = linalg.fill ins(%f : f32) outs(%a : tensor<8x16xf32>) -> tensor<8x16xf32>
  // An addition for each of 128 elements; 512 read, the accumulator read and written.
  // expected-remark @+1 {{flops = 128 (f32), bytes = 576, result 0: reuse of operand 1}}
  %5 = linalg.reduce { arith.addf } ins(%a : tensor<8x16xf32>) outs(%r : tensor<8xf32>) dimensions = [1]
  // expected-remark @+1 {{flops = 128 (f32), bytes = 1024, result 0: reuse of operand 2, unread 2}}
  %6 = linalg.add ins(%a, %a : tensor<8x16xf32>, tensor<8x16xf32>) outs(%a : tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

// Windows: 2 * 6 * 6 * 5 outputs of 3 * 3 * 4 products; 2*8*8*4*4 + 3*3*4*5*4 + 2 * 2*6*6*5*4 bytes.
func.func @windows(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x5xf32>, %o: tensor<2x6x6x5xf32>,
                   %s: tensor<2x2xf32>, %p: tensor<2x7x7x4xf32>) {
  // expected-remark @+1 {{flops = 25920 (f32), bytes = 5648, result 0: reuse of operand 2}}
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x5xf32>) outs(%o : tensor<2x6x6x5xf32>) -> tensor<2x6x6x5xf32>
  // 2*7*7*4 outputs of 4 elements each; the window is a shape and not read.
  // expected-remark @+1 {{flops = 1568 (f32), bytes = 5184, result 0: reuse of operand 2, unread 1}}
  %1 = linalg.pooling_nhwc_max ins(%x, %s : tensor<2x8x8x4xf32>, tensor<2x2xf32>) outs(%p : tensor<2x7x7x4xf32>) -> tensor<2x7x7x4xf32>
  return
}

// -----

// Elements that a body takes from a value outside are read: 12 of them, of 4 bytes, or all of a
// value that is smaller.
#id = affine_map<(i, j) -> (i, j)>
func.func @captured(%table: tensor<100x4xf32>, %small: tensor<2xf32>, %i: index, %o: tensor<3x4xf32>) {
  // expected-remark @+1 {{model: pure, recursive, per element, flops = 12 (f32), bytes = 104, result 0: reuse of operand 0, unread 0}}
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<3x4xf32>) {
  ^bb0(%z: f32):
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<100x4xf32>
    %y = tensor.extract %small[%i] : tensor<2xf32>
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return
}

// -----

// On buffers, everything is ordered.
func.func @buffers(%a: memref<8xf32>, %b: memref<8xf32>, %f: f32) {
  // expected-remark @+1 {{model: ordered, recursive, per element, flops = 64 (f32), bytes = 64, unread 1, it writes to memory}}
  linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  // expected-remark @+1 {{model: ordered, recursive, per element, flops = 0, bytes = 32, unread 1, it writes to memory}}
  linalg.fill ins(%f : f32) outs(%b : memref<8xf32>)
  return
}

// -----

func.func @unstructured(%a: tensor<4x8xf32>, %p: tensor<2x4x2x2xf32>, %f: f32) {
  // max, sub, exp, add, div: 15 for each of 32 elements.
  // expected-remark @+1 {{model: pure, flops = 480 (f32), bytes = 256, result 0: reuse of operand 1, unread 1}}
  %0 = linalg.softmax dimension(1) ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 256, result 0: reuse of operand 1, unread 1}}
  %1 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<4x8xf32> -> tensor<2x4x2x2xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 256, result 0: reuse of operand 1, unread 1}}
  %2 = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %a : tensor<2x4x2x2xf32> -> tensor<4x8xf32>
  return
}

// -----

// F(4, 3): tiles of 6. Filter 2x3x3x5: 10 tiles of 3x3 to 6x6, 2 * (6*3*3 + 6*3*6) each. Input: 3
// tiles of 6x6, 2 * 2 * 216 each. Output: 2 tiles of 6x6 to 4x4, 2 * (4*6*6 + 4*6*4) each.
func.func @winograd(%w: tensor<2x3x3x5xf32>, %wo: tensor<6x6x5x2xf32>, %x: tensor<1x6x6x3xf32>,
                    %xo: tensor<6x6x1x1x1x3xf32>, %v: tensor<6x6x1x1x1x2xf32>, %o: tensor<1x4x4x2xf32>) {
  // expected-remark @+1 {{model: pure, flops = 3240 (f32), bytes = 1800, result 0: reuse of operand 1, unread 1}}
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%w : tensor<2x3x3x5xf32>) outs(%wo : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  // expected-remark @+1 {{model: pure, flops = 2592 (f32), bytes = 864, result 0: reuse of operand 1, unread 1}}
  %1 = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<1x6x6x3xf32>) outs(%xo : tensor<6x6x1x1x1x3xf32>) -> tensor<6x6x1x1x1x3xf32>
  // expected-remark @+1 {{model: pure, flops = 960 (f32), bytes = 416, result 0: reuse of operand 1, unread 1}}
  %2 = linalg.winograd_output_transform fmr(F_4_3) ins(%v : tensor<6x6x1x1x1x2xf32>) outs(%o : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return
}

// -----

#id = affine_map<(i) -> (i)>
func.func @types(%d: tensor<?xf32>, %z: tensor<0xf32>, %c: tensor<4xcomplex<f32>>, %i: tensor<6xi4>) {
  // expected-remark @+1 {{model: pure, recursive, per element, cost unknown, result 0: reuse of operand 1, unread 1}}
  %0 = linalg.exp ins(%d : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
  // expected-remark @+1 {{flops = 0, bytes = 0, result 0: reuse of operand 1, unread 1}}
  %1 = linalg.exp ins(%z : tensor<0xf32>) outs(%z : tensor<0xf32>) -> tensor<0xf32>
  // Six for a complex product; 32 bytes each way.
  // expected-remark @+1 {{flops = 24 (f32), bytes = 64, result 0: reuse of operand 1, unread 1}}
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<4xcomplex<f32>>) outs(%c : tensor<4xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>):
    %s = complex.mul %x, %x : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<4xcomplex<f32>>
  // expected-remark @+1 {{flops = 6 (i4), bytes = 12, result 0: reuse of operand 2, unread 2}}
  %3 = linalg.add ins(%i, %i : tensor<6xi4>, tensor<6xi4>) outs(%i : tensor<6xi4>) -> tensor<6xi4>
  return
}

// -----

// A body with an operation that nobody describes has no cost, and keeps its effects visible.
#id = affine_map<(i) -> (i)>
func.func @unknown_body(%a: tensor<4xf32>) {
  // expected-remark @+1 {{model: pure, recursive, per element, cost unknown, result 0: reuse of operand 1, unread 1}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = builtin.unrealized_conversion_cast %x : f32 to f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return
}
