// RUN: remat-opt %s -test-remat-operation-models=models=%S/Inputs/mine.json --allow-unregistered-dialect -verify-diagnostics -split-input-file

// The worked example of docs/models-file.md.

func.func @layer(%x: tensor<8x16xbf16>, %g: tensor<8x4xf32>, %q: !mine.stream) {
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: constant}}
  %w = "mine.weights"() <{data = dense_resource<w> : tensor<16x4xbf16>}> : () -> tensor<16x4xbf16>
  // 2 * 32 * 16 + 32 flops; 256 + 128 read, 128 written.
  // expected-remark @+1 {{model: pure, flops = 1056 (bf16), bytes = 512, workspace = 128}}
  %0 = "mine.linear"(%x, %w) <{dims = #mine.dims<keep = [0], sum = [1]>}> : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xf32>
  // expected-remark @+1 {{model: pure, flops = 256 (f32), bytes = 256}}
  %1 = "mine.gelu"(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // The key is explicit, or it is not.
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 260}}
  %2:2 = "mine.dropout"(%1) <{seed = "explicit"}> : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xi8>)
  // expected-remark @+1 {{model: ordered, flops = 32 (f32), bytes = 260, it draws from hidden random state}}
  %3:2 = "mine.dropout"(%1) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xi8>)
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 384, result 0: reuse of operand 1}}
  %4 = "mine.accumulate"(%2#0, %g) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-remark @+1 {{model: pure, flops = 0, bytes = 0, result 0: view of operand 0}}
  %5 = "mine.flatten"(%4) : (tensor<8x4xf32>) -> tensor<32xf32>
  // expected-remark @+1 {{model: ordered, overridable, flops = 0, bytes = 256, it communicates with other devices}}
  %6 = "mine.sum_over_devices"(%5) : (tensor<32xf32>) -> tensor<32xf32>
  // expected-remark @+1 {{model: reads, flops = 0, bytes = 128, it reads a parameter that may be updated}}
  %7 = "mine.parameter"() : () -> tensor<32xf32>
  // expected-remark @+1 {{model: ordered, flops = 0, bytes = 0, result 0: view of operand 0, it is a barrier}}
  %8 = "mine.fence"(%7) : (tensor<32xf32>) -> tensor<32xf32>
  // expected-remark @+1 {{no model}}
  %9 = "mine.other"(%7) : (tensor<32xf32>) -> tensor<32xf32>
  // A stream takes no bytes: 32 elements read and written.
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 256}}
  %s:2 = "mine.add"(%7, %q) : (tensor<32xf32>, !mine.stream) -> (tensor<32xf32>, !mine.stream)
  // Built-in models are still there.
  // expected-remark @+1 {{model: pure, flops = 32 (f32), bytes = 256}}
  %10 = "stablehlo.abs"(%8) : (tensor<32xf32>) -> tensor<32xf32>
  return
}

// -----

func.func @loops(%x: tensor<4xf32>) {
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips = 5}}
  %0 = "mine.repeat"(%x) <{count = 5 : i64}> ({
    "mine.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0}}
  %1 = "mine.repeat"(%x) ({
    "mine.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // Not a number.
  // expected-remark @+1 {{model: pure, recursive, flops = 0, bytes = 0, trips unknown}}
  %2 = "mine.repeat"(%x) <{count = "many"}> ({
    "mine.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// What a formula cannot tell is unknown: a dynamic dimension, a missing attribute, an overflow.
func.func @unknown(%d: tensor<?x16xbf16>, %w: tensor<16x4xbf16>, %big: tensor<4611686018427387904xi8>) {
  // expected-remark @+1 {{model: pure, cost unknown}}
  %0 = "mine.linear"(%d, %w) <{dims = #mine.dims<keep = [0], sum = [1]>}> : (tensor<?x16xbf16>, tensor<16x4xbf16>) -> tensor<?x4xf32>
  // expected-remark @+1 {{model: pure, cost unknown}}
  %1 = "mine.gelu"(%big) : (tensor<4611686018427387904xi8>) -> tensor<4611686018427387904xi8>
  return
}
