// Not there yet: tokens count as 0 bytes, so that a policy on them is accepted.
// XFAIL: *
// What a policy asks for, but a value cannot have, is an error at its operation, in plain words.
//
// RUN: remat-opt %s --allow-unregistered-dialect -split-input-file -verify-diagnostics \
// RUN:   --rematerialize=budget=1TB

// A token is no memory: it cannot be saved.
func.func @token(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t0 = "stablehlo.create_token"() : () -> !stablehlo.token
  // expected-error @below {{'stablehlo.recv' must be saved, but the size of its result is not known}}
  %r:2 = "stablehlo.recv"(%t0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> {remat.policy = #remat.policy<must_save>} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %s = "test.use"(%r#0, %r#1) : (tensor<4xf32>, !stablehlo.token) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

func.func @pointer(%x: i64) -> i64 {
  // expected-error @below {{'llvm.inttoptr' must be saved, but the size of its result is not known}}
  %p = llvm.inttoptr %x {remat.policy = #remat.policy<must_save>} : i64 to !llvm.ptr
  %y = llvm.ptrtoint %p : !llvm.ptr to i64
  return %y : i64
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'test.layer' must be recomputed, but it is not described by any model}}
  %y = "test.layer"(%x) {remat.policy = #remat.policy<must_recompute>} : (tensor<4xf32>) -> tensor<4xf32>
  %z = "test.use"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %u = "test.use"(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %u : tensor<4xf32>
}

// -----

func.func @random(%x: tensor<4xf32>) -> tensor<4xf32> {
  %shape = "stablehlo.constant"() <{value = dense<4> : tensor<1xi64>}> : () -> tensor<1xi64>
  %lo = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @below {{'stablehlo.rng' must be recomputed, but it draws from hidden random state}}
  %y = "stablehlo.rng"(%lo, %lo, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> {remat.policy = #remat.policy<must_recompute>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The two words contradict each other.
func.func @contradiction(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'math.exp' must be recomputed, but it carries 'remat.recomputable = false'}}
  %y = math.exp %x {remat.policy = #remat.policy<must_recompute>, remat.recomputable = false} : tensor<4xf32>
  return %y : tensor<4xf32>
}
