// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

func.func @constants() {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %0 = "tosa.const"() <{values = dense<1.0> : tensor<4x6xf32>}> : () -> tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: constant}}
  %1 = "tosa.const"() <{values = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none}}
  %2 = tosa.const_shape {values = dense<[4, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: none, unread 0 1}}
  %3 = tosa.add_shape %2, %2 : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  return
}

// -----

// 24 elements, 96 bytes each.
func.func @elementwise(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>, %s: tensor<1xi8>, %z: tensor<1xf32>) {
  // expected-remark @+1 {{model: pure, flops = 24 (f32), bytes = 288}}
  %0 = tosa.add %a, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // The shift is a tensor of one byte.
  // expected-remark @+1 {{model: pure, flops = 24 (f32), bytes = 289}}
  %1 = tosa.mul %a, %b, %s : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<1xi8>) -> tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 192 (f32), bytes = 192}}
  %2 = tosa.exp %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 96 (f32), bytes = 192}}
  %3 = tosa.rsqrt %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 384 (f32), bytes = 288}}
  %4 = tosa.pow %a, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 48 (f32), bytes = 192}}
  %5 = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 24 (f32), bytes = 144}}
  %6 = tosa.cast %a : (tensor<4x6xf32>) -> tensor<4x6xbf16>
  // expected-remark @+1 {{model: pure, flops = 24 (f32), bytes = 216}}
  %7 = tosa.greater %a, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
  // expected-remark @+1 {{model: pure, flops = 24 (f32), bytes = 196}}
  %8 = tosa.negate %a, %z, %z : (tensor<4x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @products(%a: tensor<2x3x5xf32>, %b: tensor<2x5x4xf32>, %z: tensor<1xf32>,
                    %x: tensor<1x8x8x4xf32>, %w: tensor<6x3x3x4xf32>, %bias: tensor<6xf32>,
                    %d: tensor<3x3x4x2xf32>, %c: tensor<8xf32>) {
  // 2 * 3 * 4 outputs of 5 products and additions; 120 + 160 + 4 read, 96 written.
  // expected-remark @+1 {{model: pure, flops = 240 (f32), bytes = 380}}
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<2x3x5xf32>, tensor<2x5x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x4xf32>
  // 6 * 6 * 6 outputs of 2 * 3 * 3 * 4 and the bias; 1024 + 864 + 24 + 4 read, 864 written.
  // expected-remark @+1 {{model: pure, flops = 15768 (f32), bytes = 2780}}
  %1 = tosa.conv2d %x, %w, %bias, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<6x3x3x4xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x6xf32>
  // 6 * 6 * 8 outputs of 2 * 3 * 3 and the bias; 1024 + 288 + 32 + 4 read, 1152 written.
  // expected-remark @+1 {{model: pure, flops = 5472 (f32), bytes = 2500}}
  %2 = tosa.depthwise_conv2d %x, %d, %c, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x8xf32>
  // 8 * 8 * 4 inputs into 2 * 6 * 3 * 3 each, 10 * 10 * 6 outputs with a bias; 2400 written.
  // expected-remark @+1 {{model: pure, flops = 28248 (f32), bytes = 4316}}
  %3 = tosa.transpose_conv2d %x, %w, %bias, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<6x3x3x4xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x10x6xf32>
  return
}

// -----

func.func @reductions(%a: tensor<4x6xf32>, %x: tensor<1x8x8x4xf32>, %z: tensor<1xf32>,
                      %f: tensor<2x4x8xf32>) {
  // expected-remark @+1 {{model: pure, flops = 24 (f32), bytes = 120}}
  %0 = tosa.reduce_sum %a {axis = 0 : i32} : (tensor<4x6xf32>) -> tensor<1x6xf32>
  // expected-remark @+1 {{model: pure, flops = 24 (f32), bytes = 112}}
  %1 = tosa.argmax %a {axis = 1 : i32} : (tensor<4x6xf32>) -> tensor<4xi32>
  // 4 * 4 * 4 outputs of 4 elements.
  // expected-remark @+1 {{model: pure, flops = 256 (f32), bytes = 1280}}
  %2 = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  // expected-remark @+1 {{model: pure, flops = 256 (f32), bytes = 1284}}
  %3 = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32>
  // 5 * 32 * 5 for 32 points, twice; half for a real input.
  // expected-remark @+1 {{model: pure, flops = 1600 (f32), bytes = 768}}
  %4, %5 = tosa.fft2d %f, %f {inverse = false} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>)
  // expected-remark @+1 {{model: pure, flops = 800 (f32), bytes = 576}}
  %6, %7 = tosa.rfft2d %f : (tensor<2x4x8xf32>) -> (tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @movement(%a: tensor<4x6xf32>, %v: tensor<1x4x6xf32>, %i: tensor<1x2xi32>,
                    %x: tensor<1x4x4x1xf32>) {
  // expected-remark @+1 {{result 0: none}}
  %n = tosa.const_shape {values = dense<[6, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-remark @+1 {{result 0: none}}
  %o = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-remark @+1 {{result 0: none}}
  %r = tosa.const_shape {values = dense<[2, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-remark @+1 {{result 0: none}}
  %c = tosa.const_shape {values = dense<[4, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-remark @+1 {{result 0: none}}
  %q = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  // expected-remark @+1 {{result 0: none}}
  %t = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %0 = tosa.reshape %a, %n : (tensor<4x6xf32>, !tosa.shape<2>) -> tensor<6x4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %1 = tosa.identity %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 192}}
  %2 = tosa.transpose %a {perms = array<i32: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // Rows are in one piece, columns are not.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %3 = tosa.slice %a, %o, %r : (tensor<4x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x6xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 96}}
  %4 = tosa.slice %a, %o, %c : (tensor<4x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<4x3xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 288}}
  %5 = tosa.concat %a, %a {axis = 0 : i32} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  // 8 bytes of indices, two rows read and written.
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 104}}
  %6 = tosa.gather %v, %i : (tensor<1x4x6xf32>, tensor<1x2xi32>) -> tensor<1x2x6xf32>
  // 64 read, 256 written; seven flops for each of 64 elements.
  // expected-remark @+1 {{model: pure, flops = 448 (f32), bytes = 320}}
  %7 = tosa.resize %x, %q, %o, %t {mode = BILINEAR} : (tensor<1x4x4x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x8x1xf32>
  return
}

// -----

func.func @control(%p: tensor<i1>, %a: tensor<4xf32>) {
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  %0 = "tosa.cond_if"(%p, %a) ({
  ^bb0(%x: tensor<4xf32>):
    tosa.yield %x : tensor<4xf32>
  }, {
  ^bb0(%x: tensor<4xf32>):
    tosa.yield %x : tensor<4xf32>
  }) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips unknown}}
  %1 = tosa.while_loop (%x = %a) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-remark @+1 {{result 0: none}}
    %2 = "tosa.const"() <{values = dense<true> : tensor<i1>}> : () -> tensor<i1>
    tosa.yield %2 : tensor<i1>
  } do {
  ^bb0(%x: tensor<4xf32>):
    tosa.yield %x : tensor<4xf32>
  }
  // expected-remark @+1 {{model: ordered, overridable, cost unknown, it is a custom operation with unknown side effects}}
  %3 = tosa.custom %a {domain_name = "d", operator_name = "o", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, it defines a symbol}}
tosa.variable @state = dense<1.0> : tensor<4xf32>

func.func @variables(%a: tensor<4xf32>) {
  // expected-remark @+1 {{model: reads, flops = 0, bytes = 32, it reads a variable that may change}}
  %0 = tosa.variable_read @state : tensor<4xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 32, it writes a variable}}
  tosa.variable_write @state, %a : tensor<4xf32>
  return
}

// -----

func.func @types(%d: tensor<?x6xf32>, %z: tensor<1xf32>, %i: tensor<5xi4>) {
  // expected-remark @+1 {{model: pure, cost unknown}}
  %0 = tosa.exp %d : (tensor<?x6xf32>) -> tensor<?x6xf32>
  // expected-remark @+1 {{model: pure, cost unknown}}
  %1 = tosa.reduce_sum %d {axis = 0 : i32} : (tensor<?x6xf32>) -> tensor<1x6xf32>
  // expected-remark @+1 {{model: pure, flops = 5 (i8), bytes = 10}}
  %2 = tosa.cast %i : (tensor<5xi4>) -> tensor<5xi8>
  return
}
