// RUN: remat-opt %s -test-remat-operation-models -verify-diagnostics -split-input-file

// Weights per element: 1 simple, 2 fused, 4 roots, 8 transcendental, 16 powers. Each reads and
// writes 64 elements of 4 bytes.

func.func @weights(%a: tensor<64xf32>, %b: tensor<64xf32>, %i: tensor<64xi32>) {
  // expected-remark @+1 {{model: pure, flops = 64 (f32), bytes = 512}}
  %0 = math.absf %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 64 (f32), bytes = 512}}
  %1 = math.floor %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 64 (i32), bytes = 512}}
  %2 = math.ctpop %i : tensor<64xi32>
  // expected-remark @+1 {{model: pure, flops = 128 (f32), bytes = 768}}
  %3 = math.fma %a, %b, %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 256 (f32), bytes = 512}}
  %4 = math.rsqrt %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 512 (f32), bytes = 512}}
  %5 = math.exp %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 512 (f32), bytes = 512}}
  %6 = math.tanh %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 512 (f32), bytes = 512}}
  %7 = math.log1p %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 512 (f32), bytes = 512}}
  %8 = math.erf %a : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 1024 (f32), bytes = 768}}
  %9 = math.powf %a, %b : tensor<64xf32>
  // expected-remark @+1 {{model: pure, flops = 1024 (f32), bytes = 768}}
  %10 = math.fpowi %a, %i : tensor<64xf32>, tensor<64xi32>
  // 64 bytes of i1.
  // expected-remark @+1 {{model: pure, flops = 64 (f32), bytes = 320}}
  %11 = math.isnan %a : tensor<64xf32>
  return
}

// -----

func.func @types(%h: tensor<4xbf16>, %s: f64, %d: tensor<?xf32>) {
  // expected-remark @+1 {{model: pure, flops = 32 (bf16), bytes = 16}}
  %0 = math.exp %h : tensor<4xbf16>
  // expected-remark @+1 {{model: pure, flops = 8 (f64), bytes = 0}}
  %1 = math.exp %s : f64
  // expected-remark @+1 {{model: pure, cost unknown}}
  %2 = math.exp %d : tensor<?xf32>
  // expected-remark @+1 {{model: pure, flops = 16 (f64), bytes = 0}}
  %3, %4 = math.sincos %s : f64
  return
}
