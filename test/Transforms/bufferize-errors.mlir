// RUN: remat-opt %s --remat-bufferize --split-input-file --verify-diagnostics

func.func @tosa(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'tosa.tanh' computes with tensors, but has no form on buffers: lower it to linalg first}}
  %r = tosa.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @gather(%x: tensor<8x4xf32>, %i: tensor<3x1xindex>) -> tensor<3x1x4xf32> {
  // expected-error @+1 {{'tensor.gather' computes with tensors, but has no form on buffers}}
  %r = tensor.gather %x[%i] gather_dims([0])
      : (tensor<8x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
  return %r : tensor<3x1x4xf32>
}

// -----

#rows = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
func.func @sparse(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{but tensors with encodings have no buffers}}
  %s = sparse_tensor.convert %x : tensor<8x8xf32> to tensor<8x8xf32, #rows>
  %r = sparse_tensor.convert %s : tensor<8x8xf32, #rows> to tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// What it computes is not known.
func.func private @elsewhere(%x: tensor<3xf32>) -> tensor<3xf32>
func.func @call(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{calls 'elsewhere', which has no body}}
  %a = call @elsewhere(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %a : tensor<3xf32>
}
